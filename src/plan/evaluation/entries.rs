//! The audit entries of a decision: what was decided, what was answered, which Issues begin and end.
//!
//! INVARIANT: an entry's id is made of the decision's id alone, so that after a crash it is found instead of written
//! again.

use super::{Decision, Issues};
use crate::audit::{About, Body, Closing, EntryDraft};
use crate::domain::{IssueKind, IssueRef};
use crate::plan::evidence::Evidence;
use crate::plan::key;

pub(super) fn entries(decision: &Decision<'_>) -> Vec<EntryDraft> {
    [
        classification(decision),
        answer(decision),
        withdrawn(decision),
        ended(decision),
        opened(decision),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn draft(decision: &Decision<'_>, id: String, body: Body) -> EntryDraft {
    let input = decision.input;
    EntryDraft {
        ts: input.now,
        decision: id,
        about: Some(About {
            repo_id: input.repo.id,
            repo: input.repo.name.clone(),
            number: input.facts.number,
            head_sha: input.facts.head_sha.clone(),
        }),
        body,
        policy: input.policy.to_owned(),
        delivery: input.delivery.cloned(),
        version: input.version.to_owned(),
    }
}

fn classification(decision: &Decision<'_>) -> Option<EntryDraft> {
    let input = decision.input;
    let body = decision.is_new.then(|| Body::Classification {
        rules_fired: input.verdict.rules_fired().to_vec(),
        quadrant: input.verdict.quadrant(),
        reasoning: input.verdict.reasoning().to_owned(),
        base_ref: input.facts.base_ref.clone(),
        author: input.facts.author.clone(),
        evidence: input.evidence.and_then(Evidence::entry),
    })?;
    Some(draft(decision, decision.id.clone(), body))
}

fn answer(decision: &Decision<'_>) -> Option<EntryDraft> {
    let answer = decision.honoured?;
    let body = Body::OwnerAnswer {
        answer: answer.choice(),
        actor: answer.by().login.clone(),
        actor_id: answer.by().id,
        signal: answer.from().to_string(),
        answered_at: answer.at(),
        nonce: answer.nonce().map(str::to_owned),
        quadrant: decision.input.verdict.quadrant(),
    };
    let id = format!("{}/{}", decision.id, answer.key());
    Some(draft(decision, id, body))
}

fn withdrawn(decision: &Decision<'_>) -> Option<EntryDraft> {
    let answered = decision.withdrawn?;
    let signal = answered
        .signal
        .rsplit_once('/')
        .map_or(answered.signal.as_str(), |(signal, _)| signal);
    let body = Body::AnswerWithdrawn {
        answer: answered.choice,
        signal: signal.to_owned(),
    };
    Some(draft(decision, format!("{}/withdrawn", decision.id), body))
}

/// The Issue that ends: answered, or another decision took its place.
fn ended(decision: &Decision<'_>) -> Option<EntryDraft> {
    let input = decision.input;
    let issue = decision.open_issue()?;
    if decision.kept().is_some() {
        return None;
    }
    let body = if decision.honoured.is_some() {
        Body::IssueClosed {
            issue_kind: issue.kind,
            issue: name(issue),
            issue_key: issue.key.clone(),
            because: Closing::Answered,
        }
    } else {
        Body::Superseded {
            issue_kind: issue.kind,
            issue: name(issue),
            issue_key: issue.key.clone(),
            old_head_sha: issue.head_sha.clone(),
            quadrant: input.verdict.quadrant(),
        }
    };
    let id = format!("{}/ends/{}", decision.id, issue.key);
    Some(draft(decision, id, body))
}

fn opened(decision: &Decision<'_>) -> Option<EntryDraft> {
    let input = decision.input;
    let kind = decision.opens()?;
    let Issues::In(inbox) = input.issues else {
        return None;
    };
    let issue_key = decision.issue_key(kind);
    let body = Body::IssueOpened {
        issue_kind: kind,
        inbox: inbox.name.clone(),
        issue_key: issue_key.clone(),
        nonce: (kind == IssueKind::PendingOwner).then(|| input.nonce.to_owned()),
    };
    let id = format!("{}/opens/{issue_key}", decision.id);
    Some(draft(decision, id, body))
}

/// `owner/inbox#12`.
pub(in crate::plan) fn name(issue: &IssueRef) -> String {
    format!("{}#{}", issue.repo.name, issue.number)
}

impl Decision<'_> {
    /// The key of the Issue that this decision opens.
    pub(super) fn issue_key(&self, kind: IssueKind) -> String {
        key::issue(
            self.input.repo.id,
            self.input.facts.number,
            kind,
            &self.covers,
            self.id.trim_start_matches("d-"),
        )
    }
}
