//! The evidence contract and its records: what a claim is called, and what its records carry.

use super::Weighed;
use super::finding::{Code, Finding};
use super::support::{Standing, WeighedClaim, is_assertion, lacks};
use crate::evidence::ledger::Record;
use crate::evidence::words::{Disposition, Status, known};

pub(super) fn check(weighed: &Weighed<'_>, findings: &mut Vec<Finding>) {
    let ledger = weighed.ledger;
    for record in ledger
        .records
        .iter()
        .chain(&ledger.verifications)
        .chain(&ledger.baseline)
        .flatten()
    {
        passing(record, findings);
    }
    for one in &weighed.claims {
        unrecorded(weighed, one, findings);
        wrong_type(one, findings);
        beyond(one, findings);
    }
}

/// A `PASS` is a recorded observation or it is none.
fn passing(record: &Record, findings: &mut Vec<Finding>) {
    if known(record.status.as_ref()) != Some(Status::Pass) {
        return;
    }
    let at = record.status.as_ref().map_or(record.at, |status| status.at);
    let lacking = lacks(record);
    if !lacking.is_empty() {
        findings.push(Finding::new(
            Code::PassWithoutObservation,
            at,
            format!(
                "`{}` is `PASS` without {}; it counts as `UNVERIFIED`",
                record.subject,
                lacking.join(", ")
            ),
            "record what was seen, where, how, and what it does not show; or write `UNVERIFIED`",
        ));
    } else if is_assertion(record) {
        findings.push(Finding::new(
            Code::AssertionAsEvidence,
            at,
            format!("`{}` is `PASS` on an assertion or assumption; it counts as `UNVERIFIED`", record.subject),
            "observe it in the repository or at run time; what somebody says is no evidence of fact",
        ));
    }
}

/// Due before the work is permitted, or when the claim is called supported.
fn unrecorded(weighed: &Weighed<'_>, one: &WeighedClaim<'_>, findings: &mut Vec<Finding>) {
    let declared = known(weighed.ledger.disposition.as_ref());
    let permits = declared.is_some_and(|disposition| disposition.permits() > 0);
    let called = known(one.claim.status.as_ref()) == Some(Status::Pass);
    let due = called
        || weighed.claims_completion()
        || (permits && one.before_change() && declared != Some(Disposition::Complete));
    if one.mandatory() && one.standing == Standing::Missing && due {
        findings.push(Finding::new(
            Code::ClaimWithoutRecord,
            one.claim.at,
            format!("claim `{}` has no evidence record", one.claim.subject),
            "add a record that names the claim or its id, or declare `BLOCKED_EVIDENCE`",
        ));
    }
}

fn wrong_type(one: &WeighedClaim<'_>, findings: &mut Vec<Finding>) {
    if one.static_only {
        let at = one.records.first().map_or(one.claim.at, |record| record.at);
        findings.push(Finding::new(
            Code::RuntimeClaimStaticEvidence,
            at,
            format!("claim `{}` is about behaviour and is backed by static evidence alone", one.claim.subject),
            "run it and record the observation; reading source shows what is written, not what happens",
        ));
    }
}

fn beyond(one: &WeighedClaim<'_>, findings: &mut Vec<Finding>) {
    let called = known(one.claim.status.as_ref()) == Some(Status::Pass);
    // Missing records and a wrong type have findings of their own.
    let told = one.standing == Standing::Missing || one.static_only;
    if called && !told && one.standing != Standing::Holds {
        let at = one
            .claim
            .status
            .as_ref()
            .map_or(one.claim.at, |status| status.at);
        findings.push(Finding::new(
            Code::ClaimBeyondRecord,
            at,
            format!(
                "claim `{}` is called `PASS`, its records say {}",
                one.claim.subject,
                one.standing.word()
            ),
            "give the claim the status its records carry",
        ));
    }
}
