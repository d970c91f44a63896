//! A pull request that was closed or merged: its pending Issue has nothing left to ask.

use super::render::{self, Language};
use super::{Plan, key};
use crate::domain::{CommentEffect, CommentMode, Effect, IssueKind, IssueRef, PullState, RepoRef};

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
    if pending.is_some() {
        state_after.issue = None;
    }
    Plan {
        decision_id: format!(
            "x-{}",
            key::digest(&[
                &input.repo.id.to_string(),
                &prior.number.to_string(),
                "closed"
            ])
        ),
        entries: Vec::new(),
        effects: pending
            .map(|issue| close(issue, input))
            .into_iter()
            .collect(),
        state_after,
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
