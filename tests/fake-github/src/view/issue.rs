//! Issues, comments and reactions as JSON.

use crate::model::{World, comment::Comment, reaction::Reaction, stamp};
use serde_json::{Value, json};

fn rollup(reactions: &[Reaction], url: &str) -> Value {
    let count = |content: &str| {
        reactions
            .iter()
            .filter(|reaction| reaction.content == content)
            .count()
    };
    json!({
        "url": format!("{url}/reactions"), "total_count": reactions.len(), "+1": count("+1"), "-1": count("-1"),
        "laugh": count("laugh"), "confused": count("confused"), "heart": count("heart"), "hooray": count("hooray"),
        "eyes": count("eyes"), "rocket": count("rocket"),
    })
}

impl World {
    pub(crate) fn issue_json(&self, repo: u64, number: u64) -> Value {
        let (Ok(held), Ok(issue)) = (self.repo(repo), self.issue(repo, number)) else {
            return Value::Null;
        };
        let url = format!("{}/issues/{number}", self.repo_url(held));
        let kind = if issue.pull.is_some() {
            "pull"
        } else {
            "issues"
        };
        let page = format!("{}/{kind}/{number}", self.repo_page(held));
        let mut seen = json!({
            "id": issue.id, "node_id": format!("I_{}", issue.id), "url": url, "repository_url": self.repo_url(held),
            "labels_url": format!("{url}/labels{{/name}}"), "comments_url": format!("{url}/comments"),
            "events_url": format!("{url}/events"), "html_url": page, "number": number,
            "state": if issue.open { "open" } else { "closed" }, "state_reason": issue.state_reason, "title": issue.title,
            "body": issue.body, "user": self.account_json(issue.author), "labels": self.labels_json(held, &issue.labels),
            "assignee": null, "assignees": [], "milestone": null, "locked": issue.locked, "active_lock_reason": null,
            "comments": issue.comments.len(), "closed_at": issue.closed_at.map(stamp), "created_at": stamp(issue.created_at),
            "updated_at": stamp(issue.updated_at), "closed_by": issue.closed_by.map(|id| self.account_json(id)),
            "author_association": self.association(repo, issue.author), "reactions": rollup(&issue.reactions, &url),
            "performed_via_github_app": self.via_app_json(issue.author),
        });
        if let (Some(pull), Some(members)) = (&issue.pull, seen.as_object_mut()) {
            let link = json!({
                "url": format!("{}/pulls/{number}", self.repo_url(held)), "html_url": page,
                "diff_url": format!("{page}.diff"), "patch_url": format!("{page}.patch"), "merged_at": pull.merged_at.map(stamp),
            });
            members.insert("pull_request".into(), link);
            members.insert("draft".into(), json!(pull.draft));
        }
        seen
    }

    pub(crate) fn comment_json(&self, repo: u64, number: u64, comment: &Comment) -> Value {
        let Ok(held) = self.repo(repo) else {
            return Value::Null;
        };
        let url = format!("{}/issues/comments/{}", self.repo_url(held), comment.id);
        json!({
            "id": comment.id, "node_id": format!("IC_{}", comment.id), "url": url,
            "html_url": format!("{}/issues/{number}#issuecomment-{}", self.repo_page(held), comment.id),
            "body": comment.body, "user": self.account_json(comment.author), "created_at": stamp(comment.created_at),
            "updated_at": stamp(comment.updated_at), "issue_url": format!("{}/issues/{number}", self.repo_url(held)),
            "author_association": self.association(repo, comment.author),
            "performed_via_github_app": self.via_app_json(comment.author), "reactions": rollup(&comment.reactions, &url),
        })
    }

    pub(crate) fn reaction_json(&self, reaction: &Reaction) -> Value {
        json!({
            "id": reaction.id, "node_id": format!("REA_{}", reaction.id), "user": self.account_json(reaction.user),
            "content": reaction.content, "created_at": stamp(reaction.at),
        })
    }
}
