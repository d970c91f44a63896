//! A verdict, and an answer if there is one, to entries, effects and the state after them.
//!
//! INVARIANT: a D is a success only with an approval of exactly this question (head, base branch, what decided). At
//! most one Issue of a pull request is left open. Planning again from the state after gives an empty plan.

mod effects;

use super::render::{self, Language};
use super::{Plan, key};
use crate::audit::{About, Body, EntryDraft};
use crate::domain::{
    Answered, Choice, DeliveryId, Facts, IssueKind, IssueRef, PullState, Quadrant, RepoRef,
    Timestamp,
};
use crate::inbox::{Answer, ReceiptKey};
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
    /// An owner's answer, if one is to be honoured now.
    pub answer: Option<&'a Answer>,
    /// Check-runs that must be green before a merge (`required_checks`).
    pub required_checks: &'a [String],
    /// Mandatory verifications of the evidence ledger.
    pub verifications: &'a [String],
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
    /// The Issue that should be open.
    wanted: Option<IssueKind>,
}

impl Decision<'_> {
    fn choice(&self) -> Option<Choice> {
        self.answered.as_ref().map(|answered| answered.choice)
    }

    /// The open Issue, if it is to stay.
    fn kept(&self) -> Option<&IssueRef> {
        let issue = self.input.prior?.issue.as_ref()?;
        let asks_this = match issue.kind {
            IssueKind::PendingOwner => !self.is_new || key::asks(&issue.key, &self.covers),
            // A trail speaks of the pull request: one is enough, however many heads follow.
            IssueKind::AuditB | IssueKind::AuditC => true,
        };
        (Some(issue.kind) == self.wanted && asks_this).then_some(issue)
    }

    /// Is an Issue to be opened? One that a person or time has closed is not opened again.
    fn opens(&self) -> Option<IssueKind> {
        let refused = self
            .input
            .prior
            .is_some_and(|prior| prior.issue_refused.is_some());
        let due = self.is_new || (refused && self.input.retry_refused);
        self.wanted.filter(|_| due && self.kept().is_none())
    }
}

/// Plans one evaluation.
#[must_use]
pub fn evaluation(input: &EvaluationInput<'_>) -> Plan {
    let decision = decide(input);
    let (effects, check_digest) = effects::effects(&decision);
    let entries = entries(&decision);
    let state_after = state_after(&decision, check_digest);
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
    let digest = key::digest(&[
        &input.repo.id.to_string(),
        &number,
        facts.head_sha.as_str(),
        &facts.base_ref,
        input.verdict.quadrant().letter(),
        &votes,
        input.policy,
    ]);
    let prior = input.prior;
    let is_new = prior.is_none_or(|prior| prior.closed || prior.decision.as_ref() != Some(&digest));
    let before = prior
        .and_then(|prior| prior.witness.as_ref())
        .map_or("", |witness| witness.hash.as_str());
    // The entry before makes the id of a decision that is taken a second time another one.
    let id = format!("d-{}", key::digest(&[&digest, before]));
    let covers = covers(input);
    let (answered, honoured) = answer(input, &covers, is_new);
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

/// The answer in force, and whether it is honoured now. An answer to a question that has changed meanwhile does not
/// count: neither one from before nor one that arrives together with the change.
fn answer<'a>(
    input: &EvaluationInput<'a>,
    covers: &str,
    is_new: bool,
) -> (Option<Answered>, Option<&'a Answer>) {
    if input.verdict.quadrant() != Quadrant::D {
        return (None, None);
    }
    // A pull request that was closed and opened again is asked about again.
    let before = input
        .prior
        .filter(|prior| !prior.closed)
        .and_then(|prior| prior.answered.clone())
        .filter(|answered| answered.covers == covers);
    let issue = input.prior.and_then(|prior| prior.issue.as_ref());
    let asked_this = match issue {
        Some(issue) => key::asks(&issue.key, covers),
        None => !is_new,
    };
    let fresh = input.answer.filter(|answer| {
        asked_this
            && *answer.head() == input.facts.head_sha
            && before
                .as_ref()
                .is_none_or(|before| before.signal != answer.key())
    });
    match fresh {
        Some(answer) => {
            let answered = Answered {
                choice: answer.choice(),
                signal: answer.key(),
                covers: covers.to_owned(),
            };
            (Some(answered), Some(answer))
        }
        None => (before, None),
    }
}

fn entries(decision: &Decision<'_>) -> Vec<EntryDraft> {
    let input = decision.input;
    let draft = |id: String, body| EntryDraft {
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
    };
    let classification = decision.is_new.then(|| {
        draft(
            decision.id.clone(),
            Body::Classification {
                rules_fired: input.verdict.rules_fired().to_vec(),
                quadrant: input.verdict.quadrant(),
                reasoning: input.verdict.reasoning().to_owned(),
                base_ref: input.facts.base_ref.clone(),
                author: input.facts.author.clone(),
            },
        )
    });
    let answer = decision.honoured.map(|answer| {
        draft(
            format!("{}/{}", decision.id, answer.key()),
            Body::OwnerAnswer {
                answer: answer.choice(),
                actor: answer.by().login.clone(),
                actor_id: answer.by().id,
                signal: answer.from().to_string(),
                answered_at: answer.at(),
                nonce: answer.nonce().map(str::to_owned),
                quadrant: input.verdict.quadrant(),
            },
        )
    });
    classification.into_iter().chain(answer).collect()
}

fn state_after(decision: &Decision<'_>, check_digest: String) -> PullState {
    let input = decision.input;
    let facts = input.facts;
    let same_head = input.prior.filter(|prior| prior.head_sha == facts.head_sha);
    let issue = decision.kept().cloned().map(|issue| match issue.kind {
        IssueKind::PendingOwner => issue,
        IssueKind::AuditB | IssueKind::AuditC => IssueRef {
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
        check_digest: Some(check_digest),
        issue,
        issue_refused,
        answered: decision.answered.clone(),
        closed: false,
    }
}
