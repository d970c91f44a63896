//! What an effect's outcome adds to the state.

use super::evidence::EVIDENCE_CHECK_NAME;
use super::key;
use crate::domain::{
    Effect, Incident, IssueKind, IssueRef, OpenIssueEffect, Outcome, PullState, Reverting,
};

/// Notes the outcome of one effect. Refused is remembered where it is to be tried again.
pub fn settle(state: &mut PullState, effect: &Effect, outcome: &Outcome) {
    match (effect, outcome) {
        (Effect::OpenIssue(issue), outcome) if issue.kind == IssueKind::PostMerge => {
            incident(state, issue, outcome);
        }
        (Effect::OpenRevert(_), outcome) => revert(state, outcome),
        (
            Effect::OpenIssue(issue),
            Outcome::Issue {
                number, opened_at, ..
            },
        ) => {
            state.issue_refused = None;
            state.issue = Some(IssueRef {
                repo: issue.repo.clone(),
                number: *number,
                kind: issue.kind,
                key: issue.key.clone(),
                head_sha: issue.head_sha.clone(),
                nonce: issue.nonce.clone(),
                opened_at: *opened_at,
            });
        }
        (Effect::OpenIssue(_), Outcome::Refused { reason }) => {
            state.issue_refused = Some(reason.clone());
        }
        (Effect::CheckRun(check), _) if check.name == EVIDENCE_CHECK_NAME => {
            if let Some(evidence) = &mut state.evidence
                && evidence.head_sha == check.head_sha
            {
                match outcome {
                    Outcome::CheckRun { id } => evidence.check_run = Some(*id),
                    Outcome::Refused { .. } => evidence.check_digest = None,
                    Outcome::Done
                    | Outcome::Issue { .. }
                    | Outcome::Pull { .. }
                    | Outcome::Comment { .. }
                    | Outcome::Stale { .. } => {}
                }
            }
        }
        (Effect::CheckRun(check), Outcome::CheckRun { id }) if check.head_sha == state.head_sha => {
            state.check_run = Some(*id);
        }
        // What is not there must be said again.
        (Effect::CheckRun(_), Outcome::Refused { .. }) => state.check_digest = None,
        (
            Effect::Merge(_)
            | Effect::UpdateBranch { .. }
            | Effect::EnableAutoMerge(_)
            | Effect::DisableAutoMerge { .. }
            | Effect::Enqueue { .. },
            outcome,
        ) => match outcome {
            Outcome::Stale { reason } => state.gate.fail(reason, true),
            Outcome::Refused { reason } => state.gate.fail(reason, false),
            Outcome::Done
            | Outcome::CheckRun { .. }
            | Outcome::Issue { .. }
            | Outcome::Pull { .. }
            | Outcome::Comment { .. } => state.gate.succeed(),
        },
        // What is not there must be said again.
        (Effect::Comment(comment), Outcome::Refused { .. })
            if comment.key == key::gate(state.repo.id, state.number) =>
        {
            state.gate.said = None;
        }
        (
            Effect::OpenIssue(_)
            | Effect::CheckRun(_)
            | Effect::EnsureLabel { .. }
            | Effect::CloseIssue { .. }
            | Effect::AddLabels { .. }
            | Effect::RemoveLabel { .. }
            | Effect::Comment(_)
            | Effect::ClosePull { .. },
            Outcome::Done
            | Outcome::CheckRun { .. }
            | Outcome::Issue { .. }
            | Outcome::Comment { .. }
            | Outcome::Pull { .. }
            | Outcome::Stale { .. }
            | Outcome::Refused { .. },
        ) => {}
    }
}

/// The Issue about a merged commit. One that was refused is tried again by the sweep.
fn incident(state: &mut PullState, issue: &OpenIssueEffect, outcome: &Outcome) {
    let Some(watch) = &mut state.after_merge else {
        return;
    };
    match outcome {
        Outcome::Issue { number, .. } => {
            watch.incident = Some(Incident {
                repo: issue.repo.clone(),
                number: *number,
                told: false,
            });
        }
        Outcome::Done
        | Outcome::CheckRun { .. }
        | Outcome::Comment { .. }
        | Outcome::Pull { .. }
        | Outcome::Stale { .. }
        | Outcome::Refused { .. } => watch.settled = false,
    }
}

fn revert(state: &mut PullState, outcome: &Outcome) {
    let Some(watch) = &mut state.after_merge else {
        return;
    };
    watch.revert = match outcome {
        Outcome::Pull { number } => Some(Reverting::Opened { number: *number }),
        Outcome::Refused { reason } | Outcome::Stale { reason } => Some(Reverting::Refused {
            reason: reason.clone(),
        }),
        Outcome::Done
        | Outcome::CheckRun { .. }
        | Outcome::Issue { .. }
        | Outcome::Comment { .. } => None,
    };
}
