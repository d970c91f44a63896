//! B and C Issues close by themselves after some hours, unless an owner has spoken there.

use super::render::{self, Language};
use crate::domain::{CommentEffect, CommentMode, Effect, IssueKind, IssueRef, Known, Timestamp};
use crate::inbox::{Comment, Reading, read};
use crate::policy::Owners;
use std::time::Duration;

/// What is known of an open Issue.
#[derive(Debug, Clone, Copy)]
pub struct PassiveInput<'a> {
    /// The Issue.
    pub issue: &'a IssueRef,
    /// Its comments; unknown is never "none".
    pub comments: &'a Known<Vec<Comment>>,
    /// Whose word keeps it open.
    pub owners: &'a Owners,
    /// Hours it stays open; `None` is for good.
    pub hours: Option<u64>,
    /// The present moment.
    pub now: Timestamp,
    /// The language of the inbox.
    pub language: Language,
}

/// Closes the Issue when its time has come; `None`: it stays, for now or for good. A D Issue never closes by time.
#[must_use]
pub fn passive_close(input: PassiveInput<'_>) -> Option<Effect> {
    match input.issue.kind {
        IssueKind::PendingOwner | IssueKind::PostMerge => return None,
        IssueKind::AuditB | IssueKind::AuditC => {}
    }
    let hours = input.hours?;
    let open_for = Duration::from_secs(hours.saturating_mul(3_600));
    if input.now.since(input.issue.opened_at) < open_for {
        return None;
    }
    let an_owner_spoke = input
        .comments
        .known()?
        .iter()
        .any(|comment| read(comment, input.owners).reading == Reading::OwnerCommented);
    (!an_owner_spoke).then(|| close(input.issue, hours, input.language))
}

fn close(issue: &IssueRef, hours: u64, language: Language) -> Effect {
    let key = format!("{}/passive", issue.key);
    Effect::CloseIssue {
        repo: issue.repo.clone(),
        number: issue.number,
        comment: Some(CommentEffect {
            repo: issue.repo.clone(),
            number: issue.number,
            body: render::passively_closed(hours, &key, language),
            key,
            mode: CommentMode::Once,
        }),
        not_planned: false,
    }
}
