//! Repositories and labels as JSON: one shape that has the members of all of GitHub's.

use crate::model::{World, label::Label, repo::Repo, stamp};
use serde_json::{Value, json};

/// `x_url` members that end in a template or path below the repository.
const URLS: [(&str, &str); 37] = [
    ("archive_url", "{archive_format}{/ref}"),
    ("assignees_url", "assignees{/user}"),
    ("blobs_url", "git/blobs{/sha}"),
    ("branches_url", "branches{/branch}"),
    ("collaborators_url", "collaborators{/collaborator}"),
    ("comments_url", "comments{/number}"),
    ("commits_url", "commits{/sha}"),
    ("compare_url", "compare/{base}...{head}"),
    ("contents_url", "contents/{+path}"),
    ("contributors_url", "contributors"),
    ("deployments_url", "deployments"),
    ("downloads_url", "downloads"),
    ("events_url", "events"),
    ("forks_url", "forks"),
    ("git_commits_url", "git/commits{/sha}"),
    ("git_refs_url", "git/refs{/sha}"),
    ("git_tags_url", "git/tags{/sha}"),
    ("hooks_url", "hooks"),
    ("issue_comment_url", "issues/comments{/number}"),
    ("issue_events_url", "issues/events{/number}"),
    ("issues_url", "issues{/number}"),
    ("keys_url", "keys{/key_id}"),
    ("labels_url", "labels{/name}"),
    ("languages_url", "languages"),
    ("merges_url", "merges"),
    ("milestones_url", "milestones{/number}"),
    (
        "notifications_url",
        "notifications{?since,all,participating}",
    ),
    ("pulls_url", "pulls{/number}"),
    ("releases_url", "releases{/id}"),
    ("stargazers_url", "stargazers"),
    ("statuses_url", "statuses/{sha}"),
    ("subscribers_url", "subscribers"),
    ("subscription_url", "subscription"),
    ("svn_url", "svn"),
    ("tags_url", "tags"),
    ("teams_url", "teams"),
    ("trees_url", "git/trees{/sha}"),
];

impl World {
    /// The API address of a repository.
    pub(crate) fn repo_url(&self, repo: &Repo) -> String {
        format!("{}/repos/{}", self.base, self.full_name(repo))
    }

    /// The page of a repository.
    pub(crate) fn repo_page(&self, repo: &Repo) -> String {
        format!("{}/{}", self.base, self.full_name(repo))
    }

    pub(crate) fn repo_json(&self, repo: &Repo) -> Value {
        let (url, page) = (self.repo_url(repo), self.repo_page(repo));
        let open = repo.issues.values().filter(|issue| issue.open).count();
        let mut seen = json!({
            "id": repo.id, "node_id": format!("R_{}", repo.id), "name": repo.name, "full_name": self.full_name(repo),
            "owner": self.account_json(repo.owner), "private": repo.private, "html_url": page, "description": null,
            "fork": false, "url": url, "git_url": format!("{page}.git"), "ssh_url": format!("{page}.git"),
            "clone_url": format!("{page}.git"), "mirror_url": null, "homepage": null, "language": null, "license": null,
            "forks_count": 0, "stargazers_count": 0, "watchers_count": 0, "size": 1, "default_branch": repo.default_branch,
            "open_issues_count": open, "forks": 0, "open_issues": open, "watchers": 0,
            "has_issues": repo.has_issues, "has_projects": false, "has_wiki": false, "has_pages": false,
            "has_discussions": false, "has_downloads": false, "archived": repo.archived, "disabled": false,
            "visibility": if repo.private { "private" } else { "public" }, "is_template": false, "topics": [],
            "allow_forking": true, "web_commit_signoff_required": false,
            "pushed_at": stamp(repo.pushed_at), "created_at": stamp(repo.created_at), "updated_at": stamp(repo.pushed_at),
        });
        if let Some(members) = seen.as_object_mut() {
            members.extend(
                URLS.iter()
                    .map(|(name, path)| ((*name).to_owned(), json!(format!("{url}/{path}")))),
            );
        }
        seen
    }

    /// With what only `GET /repos/{owner}/{repo}` tells.
    pub(crate) fn full_repo_json(&self, repo: &Repo) -> Value {
        let mut seen = self.repo_json(repo);
        let more = json!({
            "subscribers_count": 0, "network_count": 0, "allow_merge_commit": repo.methods.merge,
            "allow_squash_merge": repo.methods.squash, "allow_rebase_merge": repo.methods.rebase,
            "allow_auto_merge": false, "delete_branch_on_merge": false, "allow_update_branch": true,
        });
        crate::model::issue::merge(&mut seen, more);
        seen
    }

    pub(crate) fn label_json(&self, repo: &Repo, label: &Label) -> Value {
        let name =
            percent_encoding::utf8_percent_encode(&label.name, percent_encoding::NON_ALPHANUMERIC);
        json!({
            "id": label.id, "node_id": format!("LA_{}", label.id), "url": format!("{}/labels/{name}", self.repo_url(repo)),
            "name": label.name, "color": label.color, "default": false, "description": label.description,
        })
    }

    /// Labels of an Issue, in full.
    pub(crate) fn labels_json(&self, repo: &Repo, names: &[String]) -> Value {
        names
            .iter()
            .filter_map(|name| repo.label(name))
            .map(|label| self.label_json(repo, label))
            .collect()
    }
}
