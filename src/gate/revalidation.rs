//! After the merge (L2): does the base branch still pass its required checks with the merged commit?
//!
//! INVARIANT: only a failure that CI itself can explain away (`cancelled`, `skipped`, zero duration) is called one of
//! the infrastructure; every other word that is not a success, known or not, is a failure.

use super::identity::quoted;
use crate::domain::{CheckRunFact, Known, Sha, StatusFact, Timestamp};
use crate::policy::Ci;
use crate::rules::clipped;

/// The label of the Issue that a real failure opens.
pub const LABEL: &str = "decision:post-merge-revalidation";

/// A check-run on a commit of the base branch, with its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseRun {
    /// The run, newest of its name in its check suite.
    pub run: CheckRunFact,
    /// When it began; `None` is unknown.
    pub started_at: Option<Timestamp>,
    /// When it ended; `None` is unknown, or it still runs.
    pub completed_at: Option<Timestamp>,
}

/// What is known of a merged commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedCommit {
    /// The commit on the base branch.
    pub sha: Sha,
    /// Its check-runs.
    pub check_runs: Known<Vec<BaseRun>>,
    /// The newest status of each context.
    pub statuses: Known<Vec<StatusFact>>,
}

/// What the required checks say about the merged commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revalidation {
    /// No check is named for the repository: nothing can be watched.
    NotWatched,
    /// All of them are green.
    Green,
    /// Some have not answered; none has failed.
    Pending(Vec<String>),
    /// Some ended without an answer about the commit: run them again. None has failed.
    Infrastructure(Vec<String>),
    /// Some failed for real: open the Issue.
    Failed(Vec<String>),
    /// It cannot be said; nothing that was read has failed.
    Unknown(String),
}

/// What one answer says.
enum Said {
    Green,
    Pending,
    Infrastructure(String),
    Failed(String),
}

/// Judges a merged commit. Each name in a list stands with its cause, such as "`build` concluded `failure`".
#[must_use]
pub fn judge(commit: &MergedCommit, ci: &Ci) -> Revalidation {
    if ci.required_checks.is_empty() {
        return Revalidation::NotWatched;
    }
    let (mut failed, mut infrastructure, mut pending) = (Vec::new(), Vec::new(), Vec::new());
    for name in &ci.required_checks {
        let answers = answers(name, commit, ci);
        if answers.is_empty() {
            pending.push(format!("{} has not run", quoted(name)));
        }
        for answer in answers {
            match answer {
                Said::Green => {}
                Said::Pending => pending.push(format!("{} has not finished", quoted(name))),
                Said::Infrastructure(cause) => infrastructure.push(cause),
                Said::Failed(cause) => failed.push(cause),
            }
        }
    }
    let unknown = [
        ("check-runs", commit.check_runs.cause()),
        ("commit statuses", commit.statuses.cause()),
    ]
    .into_iter()
    .find_map(|(what, cause)| Some(format!("{what} are unknown: {}", clipped(cause?, 200))));
    // What was read and failed, failed, whatever could not be read beside it.
    match unknown {
        _ if !failed.is_empty() => Revalidation::Failed(failed),
        Some(cause) => Revalidation::Unknown(cause),
        None if !pending.is_empty() => Revalidation::Pending(pending),
        None if !infrastructure.is_empty() => Revalidation::Infrastructure(infrastructure),
        None => Revalidation::Green,
    }
}

fn answers(name: &str, commit: &MergedCommit, ci: &Ci) -> Vec<Said> {
    let by_publisher =
        |run: &&BaseRun| run.run.app_slug.as_deref() == Some(ci.expected_check_publisher.as_str());
    let runs = commit
        .check_runs
        .items()
        .iter()
        .filter(|run| run.run.name == name)
        .filter(by_publisher)
        .map(of_run);
    let statuses = commit
        .statuses
        .items()
        .iter()
        .filter(|status| status.context == name)
        .map(of_status);
    runs.chain(statuses).collect()
}

fn of_run(base: &BaseRun) -> Said {
    let run = &base.run;
    if run.status != "completed" {
        return Said::Pending;
    }
    let name = quoted(&run.name);
    let Some(conclusion) = run.conclusion.as_deref() else {
        return Said::Failed(format!("{name} has no conclusion"));
    };
    let took_no_time = base.started_at.is_some() && base.started_at == base.completed_at;
    let concluded = format!("{name} concluded {}", quoted(conclusion));
    match conclusion {
        "success" | "neutral" => Said::Green,
        "cancelled" | "skipped" => Said::Infrastructure(concluded),
        _ if took_no_time => Said::Infrastructure(format!("{concluded} after no time at all")),
        _ => Said::Failed(concluded),
    }
}

fn of_status(status: &StatusFact) -> Said {
    match status.state.as_str() {
        "success" => Said::Green,
        "pending" => Said::Pending,
        state => Said::Failed(format!(
            "{} has the status {}",
            quoted(&status.context),
            quoted(state)
        )),
    }
}
