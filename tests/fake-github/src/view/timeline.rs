//! The history of an Issue or pull request as JSON: events alone, or with comments and commits.

use crate::model::{Time, World, issue::Event, stamp};
use serde_json::{Value, json};

impl World {
    fn event_json(&self, repo: u64, event: &Event) -> Value {
        let Ok(held) = self.repo(repo) else {
            return Value::Null;
        };
        let merged = event
            .detail
            .as_ref()
            .filter(|_| event.kind == "merged" || event.kind == "head_ref_force_pushed");
        let mut seen = json!({
            "id": event.id, "node_id": format!("EV_{}", event.id),
            "url": format!("{}/issues/events/{}", self.repo_url(held), event.id), "actor": self.account_json(event.actor),
            "event": event.kind, "commit_id": merged,
            "commit_url": merged.map(|sha| format!("{}/commits/{sha}", self.repo_url(held))),
            "created_at": stamp(event.at), "performed_via_github_app": self.via_app_json(event.actor),
        });
        if let (true, Some(members)) = (event.kind.ends_with("labeled"), seen.as_object_mut()) {
            let name = event.detail.clone().unwrap_or_default();
            let color = held
                .label(&name)
                .map_or_else(|| "ededed".to_owned(), |label| label.color.clone());
            members.insert("label".into(), json!({"name": name, "color": color}));
        }
        if let (true, Some(members)) = (event.kind.ends_with("locked"), seen.as_object_mut()) {
            members.insert("lock_reason".into(), Value::Null);
        }
        seen
    }

    /// `GET …/issues/{number}/events`: no comments, no commits.
    pub(crate) fn events_json(&self, repo: u64, number: u64) -> Vec<Value> {
        let Ok(issue) = self.issue(repo, number) else {
            return Vec::new();
        };
        issue
            .events
            .iter()
            .filter(|event| event.kind != "committed")
            .map(|event| self.event_json(repo, event))
            .collect()
    }

    /// `GET …/issues/{number}/timeline`, oldest first.
    pub(crate) fn timeline_json(&self, repo: u64, number: u64) -> Vec<Value> {
        let Ok(issue) = self.issue(repo, number) else {
            return Vec::new();
        };
        let mut rows: Vec<(Time, Value)> = issue
            .events
            .iter()
            .filter(|event| event.kind != "committed")
            .map(|event| (event.at, self.event_json(repo, event)))
            .collect();
        rows.extend(issue.comments.iter().map(|comment| {
            let mut seen = self.comment_json(repo, number, comment);
            crate::model::issue::merge(
                &mut seen,
                json!({"event": "commented", "actor": self.account_json(comment.author)}),
            );
            (comment.created_at, seen)
        }));
        let commits = issue.pull.iter().flat_map(|pull| &pull.head.commits);
        rows.extend(commits.filter_map(|sha| {
            let at = self.repo(repo).ok()?.commits.get(sha)?.at;
            let full = self.commit_json(repo, sha);
            let inner = full.get("commit")?;
            let seen = json!({
                "event": "committed", "sha": sha, "node_id": full.get("node_id"), "url": inner.get("url"),
                "html_url": full.get("html_url"), "author": inner.get("author"), "committer": inner.get("committer"),
                "message": inner.get("message"), "tree": inner.get("tree"), "parents": full.get("parents"),
                "verification": inner.get("verification"),
            });
            Some((at, seen))
        }));
        rows.sort_by_key(|(at, _)| *at);
        rows.into_iter().map(|(_, row)| row).collect()
    }
}
