//! The end of a B or C Issue by time, looked at when nothing else is to be done for its pull request.

use super::{Bench, Done, WorkError};
use crate::audit::{About, Body, Closing, EntryDraft};
use crate::domain::{IssueKind, IssueRef, Known, PullState, Timestamp};
use crate::github::{self, ApiError, Seen};
use crate::inbox::{self, Edit, Place};
use crate::plan::{self, PassiveInput, Plan};
use crate::policy::Policy;
use crate::store::Claim;
use std::time::Duration;

/// The hours after which B and C Issues close by themselves; `None` is never.
pub(crate) fn hours(policy: &Policy) -> Option<u64> {
    (policy.inbox.passive_close_days > 0).then_some(policy.inbox.passive_close_days * 24)
}

/// The open B or C Issue whose time has come, unless an owner is known to have spoken there.
pub(crate) fn due<'a>(
    state: &'a PullState,
    policy: &Policy,
    now: Timestamp,
) -> Option<&'a IssueRef> {
    let issue = state.issue.as_ref().filter(|_| !state.inbox.stays)?;
    match issue.kind {
        IssueKind::PendingOwner | IssueKind::PostMerge => return None,
        IssueKind::AuditB | IssueKind::AuditC => {}
    }
    let open_for = Duration::from_secs(hours(policy)?.saturating_mul(3_600));
    (now.since(issue.opened_at) >= open_for).then_some(issue)
}

impl Bench {
    /// The end of a look that found nothing to do: what is left is the Issue whose time may have come. No call unless
    /// it has.
    pub(super) async fn nothing_to_do(
        &self,
        claim: &Claim,
        state: PullState,
        policy: &Policy,
    ) -> Result<Done, WorkError> {
        let now = self.clock.now();
        let Some(issue) = due(&state, policy, now).cloned() else {
            return Ok(Done::remember(state));
        };
        let comments = match self.github.issue(&issue.repo, issue.number).await {
            Ok(view) if view.open && view.comments == 0 => Vec::new(),
            Ok(view) if view.open => self.github.comments(&issue.repo, issue.number).await?,
            // Somebody was faster.
            Ok(_) | Err(ApiError::Gone { .. }) => {
                return Ok(Done::remember(PullState {
                    issue: None,
                    ..state
                }));
            }
            Err(error) => return Err(error.into()),
        };
        let close = plan::passive_close(PassiveInput {
            issue: &issue,
            comments: &Known::Known(comments.into_iter().map(as_comment).collect()),
            owners: &policy.owners,
            hours: hours(policy),
            now,
            language: policy.inbox.language,
        });
        let Some(close) = close else {
            let mut state = state;
            state.inbox.stays = true;
            return Ok(Done::remember(state));
        };
        let plan = Plan {
            decision_id: format!("p-{}", issue.key),
            entries: vec![entry(claim, &state, &issue, policy, now)],
            effects: vec![close],
            state_after: PullState {
                issue: None,
                ..state
            },
        };
        self.save_and_carry_out(claim, plan, &Seen::nothing()).await
    }
}

fn as_comment(comment: github::Comment) -> inbox::Comment {
    inbox::Comment {
        body: Some(comment.body),
        author: comment.author.map(Into::into),
        edit: Edit::Never,
        on: Place::AuditIssue,
    }
}

fn entry(
    claim: &Claim,
    state: &PullState,
    issue: &IssueRef,
    policy: &Policy,
    now: Timestamp,
) -> EntryDraft {
    EntryDraft {
        ts: now,
        decision: format!("p-{}/ends", issue.key),
        about: Some(About {
            repo_id: state.repo.id,
            repo: state.repo.name.clone(),
            number: state.number,
            head_sha: state.head_sha.clone(),
        }),
        body: Body::IssueClosed {
            issue_kind: issue.kind,
            issue: format!("{}#{}", issue.repo.name, issue.number),
            issue_key: issue.key.clone(),
            because: Closing::Passive,
        },
        policy: policy.digest.clone(),
        delivery: claim.deliveries.first().cloned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
