//! What an effect's outcome adds to the state.

use super::evidence::EVIDENCE_CHECK_NAME;
use super::key;
use crate::domain::{Effect, IssueRef, Outcome, PullState};

/// Notes the outcome of one effect. Refused is remembered where it is to be tried again.
pub fn settle(state: &mut PullState, effect: &Effect, outcome: &Outcome) {
    match (effect, outcome) {
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
            | Outcome::Stale { .. }
            | Outcome::Refused { .. },
        ) => {}
    }
}
