//! A pull request that was closed or merged: its pending Issue has nothing left to ask.

use super::render::{self, Language};
use super::{Plan, gate, key};
use crate::audit::{About, Body, Closing, EntryDraft};
use crate::domain::{
    CommentEffect, CommentMode, DeliveryId, Effect, GateMemory, InboxMemory, IssueKind, IssueRef,
    PullState, RepoRef, Timestamp,
};

/// What is known of a closed pull request.
#[derive(Debug, Clone, Copy)]
pub struct ClosedInput<'a> {
    /// The state as it was left.
    pub prior: &'a PullState,
    /// The base repository as it is called now.
    pub repo: &'a RepoRef,
    /// Was it merged?
    pub merged: bool,
    /// The language of the inbox.
    pub language: Language,
    /// The present moment.
    pub now: Timestamp,
    /// `sha256:` and the digest of the policy.
    pub policy: &'a str,
    /// The delivery that led here.
    pub delivery: Option<&'a DeliveryId>,
    /// Version of this program.
    pub version: &'a str,
}

/// Closes the pending Issue; the trail of a B or C decision stays open for its time.
#[must_use]
pub fn closed(input: ClosedInput<'_>) -> Plan {
    let prior = input.prior;
    let pending = prior
        .issue
        .as_ref()
        .filter(|issue| issue.kind == IssueKind::PendingOwner);
    let mut state_after = PullState {
        repo: input.repo.clone(),
        closed: true,
        issue_refused: None,
        ..prior.clone()
    };
    state_after.inbox = InboxMemory {
        stays: prior.inbox.stays,
        ..InboxMemory::default()
    };
    if pending.is_some() {
        state_after.issue = None;
    }
    let decision_id = format!(
        "x-{}",
        key::digest(&[
            &input.repo.id.to_string(),
            &prior.number.to_string(),
            "closed"
        ])
    );
    let owed = gate::at_close(
        &gate::Log {
            repo: input.repo,
            number: prior.number,
            policy: input.policy,
            now: input.now,
            delivery: input.delivery,
            version: input.version,
        },
        prior,
        input.merged,
    );
    state_after.gate = GateMemory {
        said: prior.gate.said.clone(),
        ended: prior.gate.ended.saturating_add(1),
        ..GateMemory::default()
    };
    Plan {
        entries: owed
            .into_iter()
            .chain(pending.map(|issue| entry(issue, input, &decision_id)))
            .collect(),
        decision_id,
        effects: pending
            .map(|issue| close(issue, input))
            .into_iter()
            .collect(),
        state_after,
    }
}

fn entry(issue: &IssueRef, input: ClosedInput<'_>, decision_id: &str) -> EntryDraft {
    EntryDraft {
        ts: input.now,
        decision: format!("{decision_id}/ends/{}", issue.key),
        about: Some(About {
            repo_id: input.repo.id,
            repo: input.repo.name.clone(),
            number: input.prior.number,
            head_sha: input.prior.head_sha.clone(),
        }),
        body: Body::IssueClosed {
            issue_kind: issue.kind,
            issue: format!("{}#{}", issue.repo.name, issue.number),
            issue_key: issue.key.clone(),
            because: if input.merged {
                Closing::PullMerged
            } else {
                Closing::PullClosed
            },
        },
        policy: input.policy.to_owned(),
        delivery: input.delivery.cloned(),
        version: input.version.to_owned(),
    }
}

fn close(issue: &IssueRef, input: ClosedInput<'_>) -> Effect {
    let comment_key = format!("{}/closed", issue.key);
    let body = render::closed(
        &input.repo.name,
        input.prior.number,
        input.merged,
        &comment_key,
        input.language,
    );
    Effect::CloseIssue {
        repo: issue.repo.clone(),
        number: issue.number,
        comment: Some(CommentEffect {
            repo: issue.repo.clone(),
            number: issue.number,
            key: comment_key,
            body,
            mode: CommentMode::Once,
        }),
        not_planned: !input.merged,
    }
}
