//! Check-runs and statuses: seen, and posted by other Apps and services.

use super::account;
use crate::{FakeGitHub, model::check::CheckRun};
use serde_json::{Value, json};

/// A check-run as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRunSeen {
    /// Its id.
    pub id: u64,
    /// The App that made it.
    pub app_id: u64,
    /// Its name.
    pub name: String,
    /// The commit.
    pub head_sha: String,
    /// `queued`, `in_progress`, `completed`.
    pub status: String,
    /// How it ended.
    pub conclusion: Option<String>,
    /// Its maker's key.
    pub external_id: Option<String>,
    /// Where "Details" leads.
    pub details_url: Option<String>,
    /// The output's title.
    pub title: String,
    /// The output's summary.
    pub summary: String,
    /// The output's text.
    pub text: String,
    /// Its annotations.
    pub annotations: Vec<Value>,
    /// Its buttons.
    pub actions: Vec<Value>,
}

fn seen(run: &CheckRun) -> CheckRunSeen {
    CheckRunSeen {
        id: run.id,
        app_id: run.app,
        name: run.name.clone(),
        head_sha: run.head_sha.clone(),
        status: run.status.clone(),
        conclusion: run.conclusion.clone(),
        external_id: run.external_id.clone(),
        details_url: run.details_url.clone(),
        title: run.title.clone().unwrap_or_default(),
        summary: run.summary.clone().unwrap_or_default(),
        text: run.text.clone().unwrap_or_default(),
        annotations: run.annotations.clone(),
        actions: run.actions.clone(),
    }
}

impl FakeGitHub {
    /// Every run on a commit, of every App, oldest first, none hidden.
    #[track_caller]
    pub fn check_runs(&self, repo: &str, sha: &str) -> Vec<CheckRunSeen> {
        self.in_repo(repo, |world, id| {
            let mut runs: Vec<_> = world
                .runs_on(id, sha, false)?
                .into_iter()
                .map(seen)
                .collect();
            runs.reverse();
            Ok(runs)
        })
    }

    /// The newest run of a name on a commit.
    #[track_caller]
    pub fn check_run(&self, repo: &str, sha: &str, name: &str) -> Option<CheckRunSeen> {
        self.check_runs(repo, sha)
            .into_iter()
            .rfind(|run| run.name == name)
    }

    /// Another App (see [`add_app`](Self::add_app)) posts a run; `conclusion: None` leaves it in progress.
    #[track_caller]
    pub fn post_check_run(
        &self,
        repo: &str,
        app: u64,
        sha: &str,
        name: &str,
        conclusion: Option<&str>,
        output: Option<Value>,
    ) -> u64 {
        let mut body = json!({"name": name, "head_sha": sha, "status": "in_progress"});
        if let Some(members) = body.as_object_mut() {
            members.extend(conclusion.map(|word| ("conclusion".into(), json!(word))));
            members.extend(output.map(|output| ("output".into(), output)));
        }
        self.in_repo(repo, |world, id| world.create_run(id, app, &body))
    }

    /// The same App ends a run.
    #[track_caller]
    pub fn finish_check_run(&self, repo: &str, run: u64, conclusion: &str) {
        self.in_repo(repo, |world, id| {
            let app = world.check_run(id, run)?.app;
            world.update_run(id, run, app, &json!({"conclusion": conclusion}))
        });
    }

    /// A service sets a commit status.
    #[track_caller]
    pub fn post_status(&self, repo: &str, sha: &str, context: &str, state: &str, login: &str) {
        self.in_repo(repo, |world, id| {
            let creator = account(world, login);
            world
                .add_status(id, sha, context, state, (None, None), creator)
                .map(|_| ())
        });
    }
}
