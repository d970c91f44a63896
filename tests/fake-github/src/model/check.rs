//! Check suites and check-runs, of our App and of others, with GitHub's limits on what they may say.

use super::{Time, World};
use crate::refusal::Refusal;
use chrono::DateTime;
use serde_json::{Value, json};

/// GitHub counts bytes although its description says characters.
const MAX_OUTPUT: usize = 65_535;

#[derive(Debug, Clone)]
pub(crate) struct CheckSuite {
    pub(crate) id: u64,
    pub(crate) app: u64,
    pub(crate) head_sha: String,
    pub(crate) branch: Option<String>,
    pub(crate) at: Time,
}

#[derive(Debug, Clone)]
pub(crate) struct CheckRun {
    pub(crate) id: u64,
    pub(crate) app: u64,
    pub(crate) suite: u64,
    pub(crate) name: String,
    pub(crate) head_sha: String,
    pub(crate) status: String,
    pub(crate) conclusion: Option<String>,
    pub(crate) external_id: Option<String>,
    pub(crate) details_url: Option<String>,
    pub(crate) started_at: Time,
    pub(crate) completed_at: Option<Time>,
    pub(crate) title: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) annotations: Vec<Value>,
    pub(crate) actions: Vec<Value>,
}

fn text<'a>(body: &'a Value, name: &str) -> Option<&'a str> {
    body.get(name).and_then(Value::as_str)
}

fn time(body: &Value, name: &str) -> Option<Time> {
    text(body, name)
        .and_then(|value| DateTime::parse_from_rfc3339(value).ok())
        .map(|value| value.to_utc())
}

/// Lengths that GitHub refuses, whoever asks.
fn check_limits(body: &Value) -> Result<(), Refusal> {
    let output = body.get("output").unwrap_or(&Value::Null);
    for field in ["title", "summary", "text"] {
        if text(output, field).is_some_and(|value| value.len() > MAX_OUTPUT) {
            return Err(Refusal::invalid(format!(
                "Invalid request.\n\nOnly {MAX_OUTPUT} characters are allowed in `{field}`."
            )));
        }
    }
    if output
        .get("annotations")
        .and_then(Value::as_array)
        .is_some_and(|list| list.len() > 50)
    {
        return Err(Refusal::invalid(
            "Invalid request.\n\nNo more than 50 items are allowed in `annotations`.",
        ));
    }
    let actions = body
        .get("actions")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    if actions.len() > 3 {
        return Err(Refusal::invalid(
            "Invalid request.\n\nNo more than 3 items are allowed in `actions`.",
        ));
    }
    for action in actions {
        for (field, most) in [("label", 20), ("description", 40), ("identifier", 20)] {
            if text(action, field).is_some_and(|value| value.chars().count() > most) {
                return Err(Refusal::invalid(format!(
                    "Invalid request.\n\nOnly {most} characters are allowed in `{field}`."
                )));
            }
        }
    }
    Ok(())
}

impl CheckRun {
    /// Takes over what a create or update request says.
    fn apply(&mut self, body: &Value, now: Time) -> Result<(), Refusal> {
        check_limits(body)?;
        if let Some(name) = text(body, "name") {
            self.name = name.into();
        }
        for (field, slot) in [
            ("external_id", &mut self.external_id),
            ("details_url", &mut self.details_url),
        ] {
            if let Some(value) = text(body, field) {
                *slot = Some(value.into());
            }
        }
        if let Some(at) = time(body, "started_at") {
            self.started_at = at;
        }
        if let Some(conclusion) = text(body, "conclusion") {
            // A conclusion alone completes the run.
            self.conclusion = Some(conclusion.into());
            self.status = "completed".into();
        } else if let Some(status) = text(body, "status") {
            self.status = status.into();
            if status != "completed" {
                self.conclusion = None;
                self.completed_at = None;
            }
        }
        if self.status == "completed" {
            if self.conclusion.is_none() {
                return Err(Refusal::invalid(
                    "Invalid request.\n\n\"conclusion\" wasn't supplied.",
                ));
            }
            self.completed_at = Some(time(body, "completed_at").unwrap_or(now));
        }
        if let Some(output) = body.get("output") {
            for (field, slot) in [
                ("title", &mut self.title),
                ("summary", &mut self.summary),
                ("text", &mut self.text),
            ] {
                if let Some(value) = text(output, field) {
                    *slot = Some(value.into());
                }
            }
            // Annotations add up over the updates.
            self.annotations.extend(
                output
                    .get("annotations")
                    .and_then(Value::as_array)
                    .cloned()
                    .unwrap_or_default(),
            );
        }
        if let Some(actions) = body.get("actions").and_then(Value::as_array) {
            self.actions.clone_from(actions);
        }
        Ok(())
    }
}

impl World {
    pub(crate) fn check_run(&self, repo: u64, id: u64) -> Result<&CheckRun, Refusal> {
        self.repo(repo)?
            .runs
            .get(&id)
            .ok_or_else(Refusal::not_found)
    }

    pub(crate) fn check_suite(&self, repo: u64, id: u64) -> Result<&CheckSuite, Refusal> {
        self.repo(repo)?
            .suites
            .get(&id)
            .ok_or_else(Refusal::not_found)
    }

    /// The App's suite for a commit, made when there is none.
    fn suite_for(
        &mut self,
        repo: u64,
        app: u64,
        sha: &str,
        branch: Option<&str>,
    ) -> Result<(u64, bool), Refusal> {
        let standing = self
            .repo(repo)?
            .suites
            .values()
            .find(|suite| suite.app == app && suite.head_sha == sha);
        if let Some(suite) = standing {
            return Ok((suite.id, false));
        }
        let (id, at) = (self.ids.check_suite(), self.now());
        let suite = CheckSuite {
            id,
            app,
            head_sha: sha.into(),
            branch: branch.map(Into::into),
            at,
        };
        self.repo_mut(repo)?.suites.insert(id, suite);
        Ok((id, true))
    }

    /// A push makes a suite for our App and asks it to fill it.
    pub(crate) fn suite_on_push(
        &mut self,
        repo: u64,
        sha: &str,
        branch: Option<&str>,
        actor: u64,
    ) -> Result<(), Refusal> {
        if self.installation_of_repo(repo).is_none() {
            return Ok(());
        }
        let (id, new) = self.suite_for(repo, self.own_app, sha, branch)?;
        if new {
            self.announce_suite(repo, id, "requested", actor)
        } else {
            Ok(())
        }
    }

    pub(crate) fn create_run(&mut self, repo: u64, app: u64, body: &Value) -> Result<u64, Refusal> {
        self.writable(repo)?;
        let sha = text(body, "head_sha").unwrap_or_default().to_owned();
        if !self.repo(repo)?.commits.contains_key(&sha) {
            return Err(Refusal::invalid(format!("No commit found for SHA: {sha}")));
        }
        let now = self.now();
        let mut run = CheckRun {
            id: 0,
            app,
            suite: 0,
            name: String::new(),
            head_sha: sha.clone(),
            status: "queued".into(),
            conclusion: None,
            external_id: None,
            details_url: None,
            started_at: now,
            completed_at: None,
            title: None,
            summary: None,
            text: None,
            annotations: Vec::new(),
            actions: Vec::new(),
        };
        run.apply(body, now)?;
        (run.suite, _) = self.suite_for(repo, app, &sha, None)?;
        run.id = self.ids.check_run();
        let (id, done) = (run.id, run.status == "completed");
        self.repo_mut(repo)?.runs.insert(id, run);
        self.announce_run(repo, id, "created", None, None)?;
        if done {
            self.run_completed(repo, id)?;
        }
        Ok(id)
    }

    pub(crate) fn update_run(
        &mut self,
        repo: u64,
        id: u64,
        app: u64,
        body: &Value,
    ) -> Result<(), Refusal> {
        self.writable(repo)?;
        let now = self.now();
        let mut run = self.check_run(repo, id)?.clone();
        if run.app != app {
            return Err(Refusal::new(
                403,
                format!(
                    "Invalid app_id `{app}` - check run can only be modified by the GitHub App that created it."
                ),
            ));
        }
        let before = run.conclusion.clone();
        run.apply(body, now)?;
        let done = run.status == "completed" && run.conclusion != before;
        self.repo_mut(repo)?.runs.insert(id, run);
        if done {
            self.run_completed(repo, id)
        } else {
            Ok(())
        }
    }

    fn run_completed(&mut self, repo: u64, id: u64) -> Result<(), Refusal> {
        self.announce_run(repo, id, "completed", None, None)?;
        let suite = self.check_run(repo, id)?.suite;
        let open = self
            .repo(repo)?
            .runs
            .values()
            .any(|run| run.suite == suite && run.status != "completed");
        let actor = self.app(self.check_suite(repo, suite)?.app)?.bot;
        if open {
            Ok(())
        } else {
            self.announce_suite(repo, suite, "completed", actor)
        }
    }

    /// A user presses one of the run's buttons.
    pub(crate) fn press_button(
        &mut self,
        repo: u64,
        id: u64,
        identifier: &str,
        actor: u64,
    ) -> Result<(), Refusal> {
        let run = self.check_run(repo, id)?;
        if !run
            .actions
            .iter()
            .any(|action| text(action, "identifier") == Some(identifier))
        {
            return Err(Refusal::not_found());
        }
        self.announce_run(repo, id, "requested_action", Some(actor), Some(identifier))
    }

    pub(crate) fn rerequest_run(&mut self, repo: u64, id: u64, actor: u64) -> Result<(), Refusal> {
        self.announce_run(repo, id, "rerequested", Some(actor), None)
    }

    pub(crate) fn rerequest_suite(
        &mut self,
        repo: u64,
        id: u64,
        actor: u64,
    ) -> Result<(), Refusal> {
        self.announce_suite(repo, id, "rerequested", actor)
    }

    fn announce_run(
        &mut self,
        repo: u64,
        id: u64,
        action: &str,
        actor: Option<u64>,
        pressed: Option<&str>,
    ) -> Result<(), Refusal> {
        let run = self.check_run(repo, id)?;
        // Buttons and re-runs go to the App that made the run only.
        if matches!(action, "requested_action" | "rerequested") && run.app != self.own_app {
            return Ok(());
        }
        let actor = actor.map_or_else(|| self.app(run.app).map(|app| app.bot), Ok)?;
        let mut body = json!({"check_run": self.run_json(repo, run, true)});
        if let Some(identifier) = pressed {
            super::issue::merge(
                &mut body,
                json!({"requested_action": {"identifier": identifier}}),
            );
        }
        self.announce(repo, "check_run", Some(action), actor, body);
        Ok(())
    }

    fn announce_suite(
        &mut self,
        repo: u64,
        id: u64,
        action: &str,
        actor: u64,
    ) -> Result<(), Refusal> {
        let suite = self.check_suite(repo, id)?;
        if action != "completed" && suite.app != self.own_app {
            return Ok(());
        }
        let body = json!({"check_suite": self.suite_json(repo, suite)});
        self.announce(repo, "check_suite", Some(action), actor, body);
        Ok(())
    }

    /// Runs on a commit; `latest` keeps the newest of each name and App.
    pub(crate) fn runs_on(
        &self,
        repo: u64,
        sha: &str,
        latest: bool,
    ) -> Result<Vec<&CheckRun>, Refusal> {
        let mut found: Vec<&CheckRun> = Vec::new();
        for run in self
            .repo(repo)?
            .runs
            .values()
            .rev()
            .filter(|run| run.head_sha == sha)
        {
            if !latest
                || !found
                    .iter()
                    .any(|seen| seen.name == run.name && seen.suite == run.suite)
            {
                found.push(run);
            }
        }
        Ok(found)
    }
}
