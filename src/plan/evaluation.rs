//! A verdict, and an answer if there is one, to entries, effects and the state after them.
//!
//! INVARIANT: a D is a success only with an approval of exactly this question (head, base branch, what decided). At
//! most one Issue of a pull request is left open. Planning again from the state after gives an empty plan.

mod effects;
mod entries;
mod remarks;

use super::evidence::Evidence;
use super::render::{self, Language};
use super::{Plan, key};
use crate::domain::{
    Answered, Asked, Choice, DeliveryId, EvidenceState, Facts, InboxMemory, IssueKind, IssueRef,
    PullState, Quadrant, RepoRef, Timestamp,
};
use crate::inbox::{Answer, ReceiptKey, Resolution, Resolved};
use crate::rules::Verdict;

/// Everything a plan is made of.
#[derive(Clone, Copy)]
pub struct EvaluationInput<'a> {
    /// The state as it was left; `None` at the first evaluation.
    pub prior: Option<&'a PullState>,
    /// The base repository.
    pub repo: &'a RepoRef,
    /// What was read.
    pub facts: &'a Facts,
    /// What was decided.
    pub verdict: &'a Verdict,
    /// Title of the pull request.
    pub title: &'a str,
    /// Its page.
    pub url: &'a str,
    /// Digest of what the pull request showed, for the state.
    pub fingerprint: Option<&'a str>,
    /// What the owners' signals on the ballot say now; `None`: they were not read, what was answered stays.
    pub heard: Option<&'a Resolution>,
    /// Digest of what the ballot showed when they were read.
    pub shown: Option<&'a str>,
    /// Is the Issue we remember as open gone (deleted, moved away)? Then it is asked again.
    pub issue_lost: bool,
    /// Check-runs that must be green before a merge (`required_checks`).
    pub required_checks: &'a [String],
    /// Mandatory verifications of the evidence ledger.
    pub verifications: &'a [String],
    /// The evidence of the head; `None`: its gate is off.
    pub evidence: Option<&'a Evidence>,
    /// Where Issues go, or why they cannot.
    pub issues: Issues<'a>,
    /// Should an Issue that was refused be tried again?
    pub retry_refused: bool,
    /// Was our open Issue closed by a person, without an answer?
    pub closed_by_hand: bool,
    /// Is this label of this repository known to exist?
    pub has_label: &'a dyn Fn(&RepoRef, &str) -> bool,
    /// The language of the inbox.
    pub language: Language,
    /// Hours after which B and C Issues close by themselves; `None` is never.
    pub passive_close_hours: Option<u64>,
    /// `sha256:` and the digest of the policy.
    pub policy: &'a str,
    /// The present moment.
    pub now: Timestamp,
    /// Random letters and digits, used if a ballot is opened.
    pub nonce: &'a str,
    /// Seals the ballot.
    pub key: &'a ReceiptKey,
    /// Base of our own pages, without a slash at its end, if people can reach them.
    pub details_base: Option<&'a str>,
    /// Base of GitHub's pages, such as `https://github.com`.
    pub web_base: &'a str,
    /// The delivery that led here.
    pub delivery: Option<&'a DeliveryId>,
    /// Version of this program.
    pub version: &'a str,
}

/// Where Issues go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Issues<'a> {
    /// Into this repository.
    In(&'a RepoRef),
    /// Nowhere, for this reason.
    Unavailable(&'a str),
}

/// What follows from the input, before it becomes effects.
struct Decision<'a> {
    input: &'a EvaluationInput<'a>,
    /// Digest of head, base, votes and policy.
    digest: String,
    id: String,
    /// Is it another one than the last?
    is_new: bool,
    /// Digest of what an approval would cover.
    covers: String,
    /// The answer in force.
    answered: Option<Answered>,
    /// The answer, if it is honoured now for the first time.
    honoured: Option<&'a Answer>,
    /// An approval that was in force and no longer stands.
    withdrawn: Option<&'a Answered>,
    /// The Issue that should be open.
    wanted: Option<IssueKind>,
}

impl Decision<'_> {
    fn choice(&self) -> Option<Choice> {
        self.answered.as_ref().map(|answered| answered.choice)
    }

    /// What is remembered, if it is of the same head.
    fn same_head(&self) -> Option<&PullState> {
        let head = &self.input.facts.head_sha;
        self.input.prior.filter(|prior| prior.head_sha == *head)
    }

    /// What is remembered of the evidence of the same head.
    fn evidence_before(&self) -> Option<&EvidenceState> {
        let head = &self.input.facts.head_sha;
        let evidence = self.input.prior?.evidence.as_ref()?;
        (evidence.head_sha == *head).then_some(evidence)
    }

    /// The Issue we remember as open and that can still be found.
    fn open_issue(&self) -> Option<&IssueRef> {
        let issue = self.input.prior?.issue.as_ref()?;
        (!self.input.issue_lost).then_some(issue)
    }

    /// The Issue that the signals were read on.
    fn ballot(&self) -> Option<&IssueRef> {
        let memory = &self.input.prior?.inbox;
        self.open_issue().or(memory.ballot.as_ref())
    }

    /// The open Issue, if it is to stay.
    fn kept(&self) -> Option<&IssueRef> {
        let issue = self.open_issue()?;
        let asks_this = match issue.kind {
            IssueKind::PendingOwner => !self.is_new || key::asks(&issue.key, &self.covers),
            // A trail speaks of the pull request: one is enough, however many heads follow.
            IssueKind::AuditB | IssueKind::AuditC | IssueKind::PostMerge => true,
        };
        (Some(issue.kind) == self.wanted && asks_this).then_some(issue)
    }

    /// Is an Issue to be opened? One that a person or time has closed is not opened again.
    fn opens(&self) -> Option<IssueKind> {
        let prior = self.input.prior;
        let refused = prior.is_some_and(|prior| prior.issue_refused.is_some());
        // The ballot had ended with an approval that no longer holds: the question is put again.
        let open_again = self.wanted == Some(IssueKind::PendingOwner)
            && prior.is_some_and(|prior| prior.inbox.ballot.is_some());
        let due = self.is_new
            || self.input.issue_lost
            || open_again
            || (refused && self.input.retry_refused);
        self.wanted.filter(|_| due && self.kept().is_none())
    }
}

/// Plans one evaluation.
#[must_use]
pub fn evaluation(input: &EvaluationInput<'_>) -> Plan {
    let decision = decide(input);
    let (effects, says) = effects::effects(&decision);
    let entries = entries::entries(&decision);
    let state_after = state_after(&decision, says);
    Plan {
        decision_id: decision.id,
        entries,
        effects,
        state_after,
    }
}

fn decide<'a>(input: &'a EvaluationInput<'a>) -> Decision<'a> {
    let facts = input.facts;
    let number = facts.number.to_string();
    // Serialising plain data cannot fail; were it to, the digest would still change with head and quadrant.
    let votes = serde_json::to_string(input.verdict).unwrap_or_default();
    let repo_id = input.repo.id.to_string();
    let mut decided = vec![
        repo_id.as_str(),
        &number,
        facts.head_sha.as_str(),
        &facts.base_ref,
        input.verdict.quadrant().letter(),
        &votes,
        input.policy,
    ];
    // Evidence that speaks is part of the decision: another state of it needs another entry.
    let evidence = input.evidence.and_then(Evidence::entry);
    let evidence = evidence.map(|entry| serde_json::to_string(&entry).unwrap_or_default());
    decided.extend(evidence.as_deref());
    let digest = key::digest(&decided);
    let prior = input.prior;
    let is_new = prior.is_none_or(|prior| prior.closed || prior.decision.as_ref() != Some(&digest));
    let before = prior
        .and_then(|prior| prior.witness.as_ref())
        .map_or("", |witness| witness.hash.as_str());
    // The entry before makes the id of a decision that is taken a second time another one.
    let id = format!("d-{}", key::digest(&[&digest, before]));
    let covers = covers(input);
    let (answered, honoured) = answer(input, &covers, is_new);
    let withdrawn = withdrawn(input, &covers, answered.as_ref());
    let wanted = match (
        input.verdict.quadrant(),
        answered.as_ref().map(|a| a.choice),
    ) {
        (Quadrant::B, _) => Some(IssueKind::AuditB),
        (Quadrant::C, _) => Some(IssueKind::AuditC),
        (Quadrant::D, None | Some(Choice::Defer)) => Some(IssueKind::PendingOwner),
        (Quadrant::A, _)
        | (Quadrant::D, Some(Choice::ApproveA | Choice::ApproveB | Choice::Reject)) => None,
    };
    Decision {
        input,
        digest,
        id,
        is_new,
        covers,
        answered,
        honoured,
        withdrawn,
        wanted,
    }
}

/// The question, whatever the language it is asked in.
fn covers(input: &EvaluationInput<'_>) -> String {
    key::digest(&[
        &input.repo.id.to_string(),
        input.facts.base_ref.as_str(),
        &render::record(
            input.facts,
            input.verdict,
            input.required_checks,
            input.verifications,
            Language::En,
        ),
    ])
}

/// The last answer, as far as it is about this question. A pull request that was closed and opened again is asked
/// about again.
fn before<'a>(input: &EvaluationInput<'a>, covers: &str) -> Option<&'a Answered> {
    let prior = input.prior.filter(|prior| !prior.closed)?;
    let answered = prior.answered.as_ref()?;
    (answered.covers == covers).then_some(answered)
}

/// The answer in force, and whether it is honoured now. An answer to a question that has changed meanwhile does not
/// count: neither one from before nor one that arrives together with the change.
///
/// INVARIANT: an approval is in force only as long as the signals, whenever they are read, say so.
fn answer<'a>(
    input: &EvaluationInput<'a>,
    covers: &str,
    is_new: bool,
) -> (Option<Answered>, Option<&'a Answer>) {
    if input.verdict.quadrant() != Quadrant::D {
        return (None, None);
    }
    let before = before(input, covers);
    let Some(heard) = input.heard else {
        return (before.cloned(), None);
    };
    let answer = match &heard.outcome {
        Resolved::Answer(answer) => answer,
        Resolved::Nothing | Resolved::Refused { .. } => {
            return (before.filter(|b| !b.choice.approves()).cloned(), None);
        }
    };
    let ballot = input.prior.and_then(|prior| {
        let open = prior.issue.as_ref().filter(|_| !input.issue_lost);
        open.or(prior.inbox.ballot.as_ref())
    });
    let asked_this = match ballot {
        Some(issue) => key::asks(&issue.key, covers),
        None => !is_new,
    };
    if !asked_this || *answer.head() != input.facts.head_sha {
        return (None, None);
    }
    let answered = Answered {
        choice: answer.choice(),
        signal: answer.key(),
        covers: covers.to_owned(),
    };
    let known = before.is_some_and(|before| before.signal == answered.signal);
    (Some(answered), (!known).then_some(answer))
}

/// The approval that was in force until now, when nothing stands in its place.
fn withdrawn<'a>(
    input: &EvaluationInput<'a>,
    covers: &str,
    answered: Option<&Answered>,
) -> Option<&'a Answered> {
    let before = before(input, covers).filter(|before| before.choice.approves())?;
    (input.verdict.quadrant() == Quadrant::D && answered.is_none()).then_some(before)
}

fn state_after(decision: &Decision<'_>, says: effects::Says) -> PullState {
    let input = decision.input;
    let facts = input.facts;
    let same_head = decision.same_head();
    let issue = decision.kept().cloned().map(|issue| match issue.kind {
        IssueKind::PendingOwner => issue,
        IssueKind::AuditB | IssueKind::AuditC | IssueKind::PostMerge => IssueRef {
            head_sha: facts.head_sha.clone(),
            ..issue
        },
    });
    let issue_refused = match (decision.opens(), input.issues) {
        (Some(_), Issues::Unavailable(reason)) => Some(reason.to_owned()),
        (None, _) if decision.wanted.is_some() && issue.is_none() => {
            input.prior.and_then(|prior| prior.issue_refused.clone())
        }
        (Some(_), Issues::In(_)) | (None, _) => None,
    };
    PullState {
        repo: input.repo.clone(),
        number: facts.number,
        title: Some(input.title.to_owned()),
        head_sha: facts.head_sha.clone(),
        head_since: same_head
            .map(|prior| prior.head_since)
            .or(facts.head_since)
            .unwrap_or(input.now),
        fingerprint: input.fingerprint.map(str::to_owned),
        quadrant: Some(input.verdict.quadrant()),
        decision: Some(decision.digest.clone()),
        witness: input.prior.and_then(|prior| prior.witness.clone()),
        check_run: same_head.and_then(|prior| prior.check_run),
        check_digest: Some(says.verdict),
        issue,
        issue_refused,
        answered: decision.answered.clone(),
        inbox: memory(decision),
        evidence: input.evidence.map(|evidence| {
            let known = decision.evidence_before().and_then(|one| one.check_run);
            evidence.state(facts, known, says.evidence)
        }),
        gate: input
            .prior
            .map(|prior| prior.gate.clone())
            .unwrap_or_default(),
        closed: false,
        after_merge: None,
    }
}

/// What is remembered of the inbox: a ballot that ended with an approval, and what was said on the one that stays.
fn memory(decision: &Decision<'_>) -> InboxMemory {
    let input = decision.input;
    let approved = decision.choice().is_some_and(Choice::approves);
    let ballot = decision
        .ballot()
        .filter(|issue| approved && key::asks(&issue.key, &decision.covers))
        .cloned();
    let stays_with = decision.kept().or(ballot.as_ref());
    let before = input.prior.map(|prior| &prior.inbox);
    let mut said: std::collections::BTreeSet<String> =
        before.map(|before| before.said.clone()).unwrap_or_default();
    said.extend(remarks::keys(decision));
    said.retain(|key| stays_with.is_some_and(|issue| key.starts_with(&issue.key)));
    let asked = (input.verdict.quadrant() == Quadrant::D).then(|| {
        before
            .filter(|_| input.prior.is_some_and(|prior| !prior.closed))
            .and_then(|before| before.asked.clone())
            .filter(|asked| asked.covers == decision.covers)
            .unwrap_or_else(|| Asked {
                covers: decision.covers.clone(),
                at: None,
            })
    });
    InboxMemory {
        asked,
        shown: stays_with.and_then(|_| {
            let fresh = input.shown.map(str::to_owned);
            fresh.or_else(|| before.and_then(|before| before.shown.clone()))
        }),
        said,
        ignored: stays_with.and(input.heard).map_or(0, |heard| heard.ignored),
        closed_by_hand: input.closed_by_hand && decision.kept().is_some(),
        stays: decision.kept().is_some() && before.is_some_and(|before| before.stays),
        ballot,
    }
}
