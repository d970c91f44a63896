//! Check-runs and suites as JSON.

use crate::model::{
    World,
    check::{CheckRun, CheckSuite},
    stamp,
};
use serde_json::{Value, json};

impl World {
    /// `in_payload` adds the nested suite and the buttons, which only webhooks show.
    pub(crate) fn run_json(&self, repo: u64, run: &CheckRun, in_payload: bool) -> Value {
        let Ok(held) = self.repo(repo) else {
            return Value::Null;
        };
        let url = format!("{}/check-runs/{}", self.repo_url(held), run.id);
        let page = format!("{}/runs/{}", self.repo_page(held), run.id);
        let app = self
            .apps
            .get(&run.app)
            .map_or(Value::Null, |app| self.app_json(app));
        let mut suite = json!({"id": run.suite});
        let mut seen = json!({
            "id": run.id, "head_sha": run.head_sha, "node_id": format!("CR_{}", run.id), "external_id": run.external_id.clone().unwrap_or_default(),
            "url": url, "html_url": page, "details_url": run.details_url.clone().unwrap_or_else(|| page.clone()),
            "status": run.status, "conclusion": run.conclusion, "started_at": stamp(run.started_at),
            "completed_at": run.completed_at.map(stamp),
            "output": {
                "title": run.title, "summary": run.summary, "text": run.text,
                "annotations_count": run.annotations.len(), "annotations_url": format!("{url}/annotations"),
            },
            "name": run.name, "app": app, "pull_requests": self.pulls_of_sha(repo, &run.head_sha),
        });
        if in_payload && let Ok(held) = self.check_suite(repo, run.suite) {
            suite = self.suite_json(repo, held);
        }
        if let Some(members) = seen.as_object_mut() {
            members.insert("check_suite".into(), suite);
            if in_payload {
                members.insert("actions".into(), json!(run.actions));
            }
        }
        seen
    }

    pub(crate) fn suite_json(&self, repo: u64, suite: &CheckSuite) -> Value {
        let Ok(held) = self.repo(repo) else {
            return Value::Null;
        };
        let runs: Vec<&CheckRun> = held
            .runs
            .values()
            .filter(|run| run.suite == suite.id)
            .collect();
        let done = !runs.is_empty() && runs.iter().all(|run| run.status == "completed");
        let bad = runs.iter().find(|run| {
            !matches!(
                run.conclusion.as_deref(),
                Some("success" | "neutral" | "skipped")
            )
        });
        let conclusion = done.then(|| {
            bad.and_then(|run| run.conclusion.clone())
                .unwrap_or_else(|| "success".into())
        });
        let url = format!("{}/check-suites/{}", self.repo_url(held), suite.id);
        json!({
            "id": suite.id, "node_id": format!("CS_{}", suite.id), "head_branch": suite.branch, "head_sha": suite.head_sha,
            "status": if done { "completed" } else { "queued" }, "conclusion": conclusion, "url": url,
            "before": null, "after": suite.head_sha, "pull_requests": self.pulls_of_sha(repo, &suite.head_sha),
            "app": self.apps.get(&suite.app).map(|app| self.app_json(app)), "repository": self.repo_json(held),
            "created_at": stamp(suite.at), "updated_at": stamp(suite.at),
            "head_commit": self.push_commit_json(repo, &suite.head_sha),
            "latest_check_runs_count": runs.len(), "check_runs_url": format!("{url}/check-runs"),
            "rerequestable": true, "runs_rerequestable": true,
        })
    }

    /// Open pull requests of the repository itself on this head; forks are left out, as on GitHub.
    fn pulls_of_sha(&self, repo: u64, sha: &str) -> Vec<Value> {
        let Ok(held) = self.repo(repo) else {
            return Vec::new();
        };
        let side = json!({"id": held.id, "url": self.repo_url(held), "name": held.name});
        let pulls = held
            .issues
            .values()
            .filter(|issue| issue.open)
            .filter_map(|issue| Some((issue, issue.pull.as_ref()?)));
        let same = pulls.filter(|(_, pull)| {
            pull.head.sha == sha && pull.head_repo == crate::model::pull::HeadRepo::Same
        });
        same.map(|(issue, pull)| json!({
            "id": issue.id, "number": issue.number, "url": format!("{}/pulls/{}", self.repo_url(held), issue.number),
            "head": {"ref": pull.head_ref, "sha": pull.head.sha, "repo": side},
            "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": side},
        })).collect()
    }
}
