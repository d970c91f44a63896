//! What is said on a ballot beside the answer: the exact answers to an unclear one, why one does not count.
//!
//! INVARIANT: each thing is said once; what was said is remembered by its key.

use super::{Decision, effects::ensure};
use crate::domain::{CommentEffect, CommentMode, Effect, IssueKind, IssueRef};
use crate::inbox::{Resolved, Unhonoured};
use crate::plan::labels::{self, Label};
use crate::plan::render;

/// One comment, with the label that goes with it.
struct Remark {
    key: String,
    body: String,
    label: Option<Label>,
}

/// The effects of what is to be said now.
pub(super) fn effects(decision: &Decision<'_>, effects: &mut Vec<Effect>) {
    let Some(issue) = ballot(decision) else {
        return;
    };
    for remark in fresh(decision, issue) {
        if let Some(label) = remark.label {
            ensure(decision, &issue.repo, label, effects);
            effects.push(Effect::AddLabels {
                repo: issue.repo.clone(),
                number: issue.number,
                labels: vec![label.name.to_owned()],
            });
        }
        effects.push(Effect::Comment(CommentEffect {
            repo: issue.repo.clone(),
            number: issue.number,
            key: remark.key,
            body: remark.body,
            mode: CommentMode::Once,
        }));
    }
}

/// The keys of what is to be said now.
pub(super) fn keys(decision: &Decision<'_>) -> Vec<String> {
    ballot(decision).map_or_else(Vec::new, |issue| {
        fresh(decision, issue)
            .into_iter()
            .map(|remark| remark.key)
            .collect()
    })
}

fn ballot<'a>(decision: &'a Decision<'_>) -> Option<&'a IssueRef> {
    decision
        .ballot()
        .filter(|issue| issue.kind == IssueKind::PendingOwner)
}

fn fresh(decision: &Decision<'_>, issue: &IssueRef) -> Vec<Remark> {
    let input = decision.input;
    let said = input.prior.map(|prior| &prior.inbox.said);
    let mut remarks = all(decision, issue);
    remarks.retain(|remark| said.is_none_or(|said| !said.contains(&remark.key)));
    remarks
}

fn all(decision: &Decision<'_>, issue: &IssueRef) -> Vec<Remark> {
    let input = decision.input;
    let Some(heard) = input.heard else {
        return Vec::new();
    };
    let mut remarks: Vec<Remark> = heard
        .clarify
        .iter()
        .map(|unclear| {
            let key = format!("{}/clarify/{}", issue.key, unclear.comment);
            Remark {
                body: render::clarification(unclear.why, &key, input.language),
                key,
                label: None,
            }
        })
        .collect();
    match &heard.outcome {
        Resolved::Refused {
            why: Unhonoured::Integrity(_),
            ..
        } => {
            let key = format!("{}/integrity", issue.key);
            remarks.push(Remark {
                body: render::integrity_failed(&key, input.language),
                key,
                label: Some(labels::INTEGRITY_FAILED),
            });
        }
        Resolved::Refused {
            why: Unhonoured::Stale { asked },
            ..
        } => {
            // One comment a ballot, however many stale answers it gets.
            let key = format!("{}/stale", issue.key);
            remarks.push(Remark {
                body: render::stale_approval(asked, &input.facts.head_sha, &key, input.language),
                key,
                label: Some(labels::STALE_APPROVAL),
            });
        }
        Resolved::Refused {
            why: Unhonoured::NoBallot,
            ..
        }
        | Resolved::Nothing
        | Resolved::Answer(_) => {}
    }
    remarks
}
