//! Verifications: captured before, run after, not exchanged for others, and failures called what they are.

use super::Weighed;
use super::finding::{Code, Finding};
use super::support::{
    PreexistingProblem, Standing, WeighedVerification, hides_failure, preexisting_problem,
    record_standing, required_by_checkpoint,
};
use crate::evidence::ledger::Record;
use crate::evidence::text::fold;
use crate::evidence::words::{Phase, Status, known};

pub(super) fn check(weighed: &Weighed<'_>, findings: &mut Vec<Finding>) {
    for one in &weighed.verifications {
        for record in &one.records {
            preexisting(one, record, findings);
        }
        if weighed.under_way() {
            baseline(one, findings);
        }
    }
    if weighed.claims_completion() || weighed.phase() == Some(Phase::Verifying) {
        exchanged(weighed, findings);
    }
}

fn preexisting(one: &WeighedVerification<'_>, record: &Record, findings: &mut Vec<Finding>) {
    let at = record.status.as_ref().map_or(record.at, |status| status.at);
    let name = &record.subject;
    if record_standing(record) == Standing::Holds && hides_failure(record, one.baseline) {
        findings.push(Finding::new(
            Code::PreexistingAsPass,
            at,
            format!("`{name}` is `PASS` and shows the failure from before the change"),
            "write `PREEXISTING_FAILURE`: it may be left out of scope, it may not be shown as passing",
        ));
    }
    if known(record.status.as_ref()) != Some(Status::PreexistingFailure) {
        return;
    }
    match preexisting_problem(record, one.baseline) {
        None => {}
        Some(PreexistingProblem::NoBaseline) => findings.push(Finding::new(
            Code::PreexistingWithoutBaseline,
            at,
            format!("`{name}` is called a pre-existing failure and has no captured baseline"),
            "capture the baseline on the state before the change, or write `FAIL`",
        )),
        Some(PreexistingProblem::BaselinePassed) => findings.push(Finding::new(
            Code::PreexistingDiffers,
            at,
            format!("`{name}` is called a pre-existing failure and its baseline did not fail"),
            "write `FAIL`: the change brought it",
        )),
        Some(PreexistingProblem::Differs(before)) => findings.push(Finding::new(
            Code::PreexistingDiffers,
            at,
            format!(
                "`{name}` fails with `{}`, its baseline with `{before}`",
                record.observed
            ),
            "write `FAIL`, or record the same observation on both sides",
        )),
    }
}

fn baseline(one: &WeighedVerification<'_>, findings: &mut Vec<Finding>) {
    let captured = one
        .baseline
        .is_some_and(|baseline| baseline.observed.names_something());
    let already_told = one
        .records
        .iter()
        .any(|record| known(record.status.as_ref()) == Some(Status::PreexistingFailure));
    if !captured && !already_told {
        findings.push(Finding::new(
            Code::BaselineNotCaptured,
            one.at,
            format!("`{}` has no baseline from before the change", one.name),
            "run it on the state before the change and record what it says",
        ));
    }
}

/// A required verification is answered by itself, not by another.
fn exchanged(weighed: &Weighed<'_>, findings: &mut Vec<Finding>) {
    let records = weighed.ledger.verifications.as_deref().unwrap_or_default();
    let anything_required = !required_by_checkpoint(weighed.ledger).is_empty()
        || weighed.ledger.baseline.iter().flatten().next().is_some();
    let mut strangers = records.iter().filter(|record| {
        anything_required
            && !weighed.verifications.iter().any(|one| {
                one.required && one.records.iter().any(|mine| std::ptr::eq(*mine, *record))
            })
    });
    for one in weighed
        .verifications
        .iter()
        .filter(|one| one.required && one.records.is_empty())
    {
        match strangers.next() {
            Some(stranger) => findings.push(replaced(one.name.as_str(), stranger)),
            None if weighed.claims_completion() => findings.push(Finding::new(
                Code::VerificationMissing,
                one.at,
                format!("the required verification `{}` has no record", one.name),
                "run it and record it; what cannot be run is `UNVERIFIED` and keeps the change blocked",
            )),
            None => {}
        }
    }
    for record in records {
        let replaces = record.other.iter().find(|other| {
            matches!(
                fold(other.label.as_str()).as_str(),
                "replaces" | "instead of" | "in place of" | "대체" | "대신"
            )
        });
        if let Some(other) = replaces {
            findings.push(replaced(other.text.as_str(), record));
        }
    }
}

fn replaced(required: &str, by: &Record) -> Finding {
    Finding::new(
        Code::VerificationReplaced,
        by.at,
        format!(
            "the required verification `{required}` was replaced by `{}`",
            by.subject
        ),
        "run the one that is required, or have the changed verification plan approved",
    )
}
