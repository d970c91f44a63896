//! Pull requests as JSON. One shape serves the single answer, the list and the payload.

use crate::model::{
    World,
    pull::{Head, HeadRepo, Pull},
    repo::Repo,
    stamp,
};
use serde_json::{Value, json};

impl World {
    /// What the API shows now.
    pub(crate) fn pull_json(&self, repo: u64, number: u64) -> Value {
        match self.pull(repo, number) {
            Ok(pull) => self.pull_with_head(repo, number, pull, &pull.head),
            Err(_) => Value::Null,
        }
    }

    /// The same, showing another head (a read that lags).
    pub(crate) fn pull_with_head(&self, repo: u64, number: u64, pull: &Pull, head: &Head) -> Value {
        let (Ok(held), Ok(issue)) = (self.repo(repo), self.issue(repo, number)) else {
            return Value::Null;
        };
        let url = format!("{}/pulls/{number}", self.repo_url(held));
        let page = format!("{}/pull/{number}", self.repo_page(held));
        let on_issue = format!("{}/issues/{number}", self.repo_url(held));
        let statuses = format!("{}/statuses/{}", self.repo_url(held), head.sha);
        let state = match (pull.draft, pull.mergeable) {
            (_, None) => "unknown",
            (_, Some(false)) => "dirty",
            (true, Some(true)) => "draft",
            (false, Some(true)) => "clean",
        };
        let lines = |count: fn(&crate::FileSpec) -> u64| head.files.iter().map(count).sum::<u64>();
        json!({
            "url": url, "id": issue.id, "node_id": format!("PR_{}", issue.id), "html_url": page,
            "diff_url": format!("{page}.diff"), "patch_url": format!("{page}.patch"), "issue_url": on_issue,
            "commits_url": format!("{url}/commits"), "review_comments_url": format!("{url}/comments"),
            "review_comment_url": format!("{}/pulls/comments{{/number}}", self.repo_url(held)),
            "comments_url": format!("{on_issue}/comments"), "statuses_url": statuses, "number": number,
            "state": if issue.open { "open" } else { "closed" }, "locked": issue.locked, "active_lock_reason": null, "title": issue.title,
            "user": self.account_json(issue.author), "body": issue.body, "labels": self.labels_json(held, &issue.labels),
            "milestone": null, "created_at": stamp(issue.created_at), "updated_at": stamp(issue.updated_at),
            "closed_at": issue.closed_at.map(stamp), "merged_at": pull.merged_at.map(stamp),
            "merge_commit_sha": pull.merge_commit, "assignee": null, "assignees": [], "requested_reviewers": [],
            "requested_teams": [], "head": self.head_side(held, issue.author, pull, head),
            "base": self.side(held, &pull.base_ref, &pull.base_sha),
            "_links": {
                "self": {"href": url}, "html": {"href": page}, "issue": {"href": on_issue},
                "comments": {"href": format!("{on_issue}/comments")}, "review_comments": {"href": format!("{url}/comments")},
                "review_comment": {"href": format!("{}/pulls/comments{{/number}}", self.repo_url(held))},
                "commits": {"href": format!("{url}/commits")}, "statuses": {"href": statuses},
            },
            "author_association": self.association(repo, issue.author), "auto_merge": pull.auto_merge.as_ref().map(|(by, method)| json!({"enabled_by": self.account_json(*by),
                "merge_method": method, "commit_title": "", "commit_message": ""})), "draft": pull.draft,
            "merged": pull.merged_at.is_some(), "mergeable": pull.mergeable, "rebaseable": pull.mergeable,
            "mergeable_state": state, "merged_by": pull.merged_by.map(|id| self.account_json(id)),
            "comments": issue.comments.len(), "review_comments": 0, "maintainer_can_modify": false,
            "commits": pull.commit_count.unwrap_or(head.commits.len() as u64),
            "additions": lines(|file| file.additions), "deletions": lines(|file| file.deletions),
            "changed_files": pull.changed_files.unwrap_or(head.files.len() as u64),
        })
    }

    fn side(&self, repo: &Repo, branch: &str, sha: &str) -> Value {
        json!({
            "label": format!("{}:{branch}", self.login(repo.owner)), "ref": branch, "sha": sha,
            "user": self.account_json(repo.owner), "repo": self.repo_json(repo),
        })
    }

    fn head_side(&self, repo: &Repo, author: u64, pull: &Pull, head: &Head) -> Value {
        match pull.head_repo {
            HeadRepo::Same => self.side(repo, &pull.head_ref, &head.sha),
            HeadRepo::Fork(fork) => match self.repo(fork) {
                Ok(fork) => self.side(fork, &pull.head_ref, &head.sha),
                Err(_) => Value::Null,
            },
            HeadRepo::Deleted => json!({
                "label": format!("{}:{}", self.login(author), pull.head_ref), "ref": pull.head_ref, "sha": head.sha,
                "user": self.account_json(author), "repo": null,
            }),
        }
    }
}
