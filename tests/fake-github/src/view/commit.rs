//! Commits, files and statuses as JSON.

use crate::model::{World, commit::Commit, file::FileSpec, hex, repo::Repo, stamp, status::Status};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The SHA of a blob; not git's, but as stable.
pub(crate) fn blob_sha(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)).chars().take(40).collect()
}

impl World {
    fn commit_person(&self, commit: &Commit) -> Value {
        let login = self.login(commit.author);
        json!({"name": login, "email": format!("{}@users.invalid", login.replace(['[', ']'], "")), "date": stamp(commit.at)})
    }

    pub(crate) fn commit_json(&self, repo: u64, sha: &str) -> Value {
        let Ok(held) = self.repo(repo) else {
            return Value::Null;
        };
        let Some(commit) = held.commits.get(sha) else {
            return Value::Null;
        };
        let (url, page) = (self.repo_url(held), self.repo_page(held));
        let parents: Vec<_> = commit.parents.iter().map(|parent| json!({
            "sha": parent, "url": format!("{url}/commits/{parent}"), "html_url": format!("{page}/commit/{parent}"),
        })).collect();
        json!({
            "sha": sha, "node_id": format!("C_{sha}"), "url": format!("{url}/commits/{sha}"),
            "html_url": format!("{page}/commit/{sha}"), "comments_url": format!("{url}/commits/{sha}/comments"),
            "commit": {
                "url": format!("{url}/git/commits/{sha}"), "author": self.commit_person(commit),
                "committer": self.commit_person(commit), "message": commit.message, "comment_count": 0,
                "tree": {"sha": sha, "url": format!("{url}/git/trees/{sha}")},
                "verification": {"verified": false, "reason": "unsigned", "signature": null, "payload": null, "verified_at": null},
            },
            "author": self.account_json(commit.author), "committer": self.account_json(commit.author), "parents": parents,
        })
    }

    /// A commit as `push` payloads show it.
    pub(crate) fn push_commit_json(&self, repo: u64, sha: &str) -> Value {
        let Ok(held) = self.repo(repo) else {
            return Value::Null;
        };
        let Some(commit) = held.commits.get(sha) else {
            return Value::Null;
        };
        let (present, gone): (Vec<_>, Vec<_>) = commit
            .changes
            .iter()
            .partition(|(_, change)| change.is_some());
        let names = |list: &[(&String, _)]| {
            list.iter()
                .map(|(path, _)| (*path).clone())
                .collect::<Vec<_>>()
        };
        json!({
            "id": sha, "tree_id": sha, "distinct": true, "message": commit.message, "timestamp": stamp(commit.at),
            "url": format!("{}/commit/{sha}", self.repo_page(held)),
            "author": self.commit_person(commit), "committer": self.commit_person(commit),
            "added": [], "modified": names(&present), "removed": names(&gone),
        })
    }

    pub(crate) fn file_json(&self, repo: &Repo, head: &str, file: &FileSpec) -> Value {
        let path = percent_encoding::utf8_percent_encode(&file.path, PATH);
        let (url, page) = (self.repo_url(repo), self.repo_page(repo));
        let sha = file
            .head
            .as_ref()
            .or(file.base.as_ref())
            .map_or_else(|| blob_sha(file.path.as_bytes()), |bytes| blob_sha(bytes));
        let mut seen = json!({
            "sha": sha, "filename": file.path, "status": file.status, "additions": file.additions,
            "deletions": file.deletions, "changes": file.additions + file.deletions,
            "blob_url": format!("{page}/blob/{head}/{path}"), "raw_url": format!("{page}/raw/{head}/{path}"),
            "contents_url": format!("{url}/contents/{path}?ref={head}"),
        });
        if let Some(members) = seen.as_object_mut() {
            if let Some(patch) = file.listed_patch() {
                members.insert("patch".into(), json!(patch));
            }
            if let Some(previous) = &file.previous_path {
                members.insert("previous_filename".into(), json!(previous));
            }
        }
        seen
    }

    pub(crate) fn status_json(&self, repo: &Repo, status: &Status) -> Value {
        json!({
            "url": format!("{}/statuses/{}", self.repo_url(repo), status.sha), "id": status.id,
            "node_id": format!("SC_{}", status.id), "avatar_url": null, "state": status.state, "context": status.context,
            "description": status.description, "target_url": status.target_url, "creator": self.account_json(status.creator),
            "created_at": stamp(status.at), "updated_at": stamp(status.at),
        })
    }
}

/// What stays unescaped in a path.
pub(crate) const PATH: &percent_encoding::AsciiSet = &percent_encoding::NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'.')
    .remove(b'-')
    .remove(b'_')
    .remove(b'~');
