//! The judgement of a ledger: findings, and the disposition that its content carries.
//!
//! INVARIANT: the declared disposition is never an input of the effective one, but for one thing: to declare
//! `COMPLETE` asks for more, and what is not earned is blocked. In doubt the answer permits less.

mod approval;
mod boundary;
mod evidence;
mod finding;
mod form;
mod support;
mod verification;

pub use boundary::duplicates;
pub use finding::{Code, Finding, Severity};
pub use support::Standing;

use super::ledger::Ledger;
use super::text::Text;
use super::words::{CheckpointStatus, Disposition, Phase, Risk, Status, known};
use crate::domain::Quadrant;
use approval::Approved;
use serde::Serialize;
use support::{WeighedClaim, WeighedVerification};

/// What is known about the change besides its ledger.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The quadrant of the change: the floor of its risk.
    pub quadrant: Option<Quadrant>,
    /// High-risk domains the change touches, by name; any raises the risk to high.
    pub high_risk_domains: &'a [&'a str],
    /// The changed files, if they are known; for a rename both paths.
    pub changed_files: Option<&'a [&'a str]>,
    /// Where the ledger stands in the repository, if it is committed.
    pub committed_path: Option<&'a str>,
}

/// What a ledger carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// What was found, by place.
    pub findings: Vec<Finding>,
    /// The disposition that the content carries.
    pub effective: Disposition,
    /// The final disposition that would be earned if the work ended now: one of the three final ones.
    pub conclusion: Disposition,
    /// The risk: the ledger's, raised by quadrant and domains.
    pub risk: Risk,
    /// The verifications that must hold before completion, in the words of the ledger.
    pub mandatory_verifications: Vec<Text>,
    /// Changed or executed files outside the authorized scope.
    pub outside_scope: Vec<String>,
}

/// Judges a ledger.
#[must_use]
pub fn judge(ledger: &Ledger, context: &Context<'_>) -> Judgement {
    let weighed = Weighed::of(ledger, context);
    let mut findings = Vec::new();
    form::check(ledger, context, &mut findings);
    boundary::check(&weighed, context, &mut findings);
    evidence::check(&weighed, &mut findings);
    verification::check(&weighed, &mut findings);
    approval::check(&weighed, &mut findings);
    let effective = weighed.effective();
    declared(&weighed, effective, &mut findings);
    findings.sort_by_key(|finding| (finding.line, finding.column, finding.code));
    Judgement {
        findings,
        effective,
        conclusion: weighed.conclusion(),
        risk: weighed.risk,
        mandatory_verifications: weighed
            .verifications
            .iter()
            .map(|one| one.name.clone())
            .collect(),
        outside_scope: weighed
            .outside
            .iter()
            .map(|(path, _)| path.clone())
            .collect(),
    }
}

/// Everything the rules look at, weighed once.
struct Weighed<'a> {
    ledger: &'a Ledger,
    risk: Risk,
    claims: Vec<WeighedClaim<'a>>,
    verifications: Vec<WeighedVerification<'a>>,
    approved: Approved<'a>,
    outside: Vec<(String, boundary::How)>,
}

impl<'a> Weighed<'a> {
    fn of(ledger: &'a Ledger, context: &Context<'_>) -> Self {
        Self {
            ledger,
            risk: boundary::risk(ledger, context),
            claims: support::claims(ledger),
            verifications: support::verifications(ledger),
            approved: approval::approved(ledger),
            outside: boundary::outside(ledger, context),
        }
    }

    /// Does the ledger say that the work is complete?
    fn claims_completion(&self) -> bool {
        let complete =
            |word: &Option<_>| known(Option::as_ref(word)) == Some(Disposition::Complete);
        complete(&self.ledger.disposition) || complete(&self.ledger.final_disposition)
    }

    fn phase(&self) -> Option<Phase> {
        known(self.ledger.phase.as_ref())
    }

    fn under_way(&self) -> bool {
        matches!(self.phase(), Some(Phase::Executing | Phase::Verifying))
            || self.claims_completion()
    }

    fn effective(&self) -> Disposition {
        if self.claims_completion() {
            return self.conclusion();
        }
        match self.blocked() {
            Some(blocked) => blocked,
            None if self.verifications.iter().any(|one| {
                one.standing == Standing::Fails || one.standing == Standing::Conflicting
            }) =>
            {
                Disposition::BlockedEvidence
            }
            None => self.permitted(),
        }
    }

    /// What may be done before completion, when nothing blocks.
    fn permitted(&self) -> Disposition {
        match (self.risk, &self.approved) {
            (Risk::Low, _) => Disposition::Allow,
            // Without a named verification there is nothing to allow the work with.
            (Risk::Medium, _) if self.verifications.is_empty() => Disposition::BlockedEvidence,
            (Risk::Medium, _) | (Risk::High, Approved::Yes) => Disposition::AllowWithVerification,
            (Risk::High, Approved::NotAsked | Approved::Waiting | Approved::No(_)) => {
                Disposition::Checkpoint
            }
        }
    }

    /// What blocks the work before it begins: authority first, then evidence.
    fn blocked(&self) -> Option<Disposition> {
        if self.lacks_authority() {
            return Some(Disposition::BlockedClarification);
        }
        self.lacks_evidence()
            .then_some(Disposition::BlockedEvidence)
    }

    fn lacks_authority(&self) -> bool {
        let asked = self
            .ledger
            .requested_action
            .as_ref()
            .is_some_and(|items| items.iter().any(|item| item.text.names_something()));
        let rejected = self.ledger.checkpoint.as_ref().is_some_and(|checkpoint| {
            known(checkpoint.status.as_ref()) == Some(CheckpointStatus::Rejected)
        });
        !asked || rejected || matches!(self.approved, Approved::No(_)) || !self.outside.is_empty()
    }

    fn lacks_evidence(&self) -> bool {
        let listed = |items: &Option<Vec<super::text::Item>>| {
            items.as_ref().is_some_and(|items| !items.is_empty())
        };
        let unsupported = |one: &WeighedClaim<'_>| {
            let contradicted = matches!(one.standing, Standing::Fails | Standing::Conflicting);
            one.mandatory()
                && (contradicted || (one.before_change() && one.standing != Standing::Holds))
        };
        let assumptions = self.ledger.assumptions.as_deref().unwrap_or_default();
        self.claims.is_empty()
            || self.claims.iter().any(unsupported)
            || assumptions
                .iter()
                .any(|one| known(one.status.as_ref()) == Some(Status::Fail))
            || listed(&self.ledger.missing)
            || listed(&self.ledger.conflicting)
    }

    /// The final disposition that is earned now.
    fn conclusion(&self) -> Disposition {
        if let Some(blocked) = self.blocked() {
            return blocked;
        }
        if !self.completion_gaps().is_empty() {
            return Disposition::BlockedEvidence;
        }
        match (self.risk, &self.approved) {
            (Risk::High, Approved::NotAsked | Approved::Waiting | Approved::No(_)) => {
                Disposition::BlockedClarification
            }
            (Risk::Low | Risk::Medium, _) | (Risk::High, Approved::Yes) => Disposition::Complete,
        }
    }

    /// Why the evidence does not carry completion, in words.
    fn completion_gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        for one in self
            .claims
            .iter()
            .filter(|one| one.mandatory() && one.standing != Standing::Holds)
        {
            gaps.push(format!(
                "claim `{}` is {}",
                one.claim.subject,
                one.standing.word()
            ));
        }
        for one in self
            .verifications
            .iter()
            .filter(|one| one.standing != Standing::Holds)
        {
            gaps.push(format!(
                "verification `{}` is {}",
                one.name,
                one.standing.word()
            ));
        }
        if self.claims.is_empty() {
            gaps.push("the evidence contract has no claim".to_owned());
        }
        if self.verifications.is_empty() && self.risk > Risk::Low {
            gaps.push("no mandatory verification is recorded".to_owned());
        }
        let lists = [
            ("missing", &self.ledger.missing),
            ("conflicting", &self.ledger.conflicting),
            ("unresolved", &self.ledger.unresolved),
        ];
        for (name, list) in lists {
            for item in list.iter().flatten() {
                gaps.push(format!("{name}: {}", item.text));
            }
        }
        gaps
    }
}

/// Compares what is declared with what is carried.
fn declared(weighed: &Weighed<'_>, effective: Disposition, findings: &mut Vec<Finding>) {
    let ledger = weighed.ledger;
    if weighed.claims_completion() {
        if effective != Disposition::Complete {
            let is_complete = |word: &&super::words::Stated<Disposition>| {
                word.known() == Some(Disposition::Complete)
            };
            let words = [
                ledger.final_disposition.as_ref(),
                ledger.disposition.as_ref(),
            ];
            let at = words
                .into_iter()
                .flatten()
                .find(is_complete)
                .map(|word| word.at)
                .unwrap_or_default();
            let gaps = weighed.completion_gaps();
            let why = if gaps.is_empty() {
                "the approval is not there".to_owned()
            } else {
                gaps.join("; ")
            };
            findings.push(Finding::new(
                Code::CompleteNotEarned,
                at,
                format!("`COMPLETE` is not earned, the content carries `{effective}`: {why}"),
                format!("record what is missing, or declare `{effective}`"),
            ));
        }
        return;
    }
    let Some(word) = &ledger.disposition else {
        return;
    };
    let Some(disposition) = word.known() else {
        return;
    };
    if disposition.permits() > effective.permits() {
        findings.push(Finding::new(
            Code::DispositionOverclaimed,
            word.at,
            format!(
                "`{disposition}` is declared, the content carries `{effective}` at risk `{}`",
                weighed.risk
            ),
            format!("declare `{effective}`, or record what would carry more"),
        ));
    }
    let executing = weighed.phase() == Some(Phase::Executing);
    if executing && effective.permits() < Disposition::AllowWithVerification.permits() {
        let at = ledger
            .phase
            .as_ref()
            .map(|phase| phase.at)
            .unwrap_or_default();
        findings.push(Finding::new(
            Code::WorkWithoutAuthority,
            at,
            format!("the phase is `EXECUTING`, the content carries `{effective}`, which permits no change"),
            "stop, go back to the state before the change, and resolve what blocks it",
        ));
    }
}
