//! The checkpoint: its record in the exact shape, and an approval that follows it line for line.
//!
//! INVARIANT: approved is only: a record in shape, the same record under the answer, and the answer `APPROVE`.

use super::Weighed;
use super::finding::{Code, Finding};
use crate::evidence::assent::{general_phrase, is_approve};
use crate::evidence::ledger::{Approval, Checkpoint, Ledger};
use crate::evidence::sections::Section;
use crate::evidence::words::{CheckpointStatus, Disposition, Risk, known};

/// How the approval stands.
pub(super) enum Approved<'a> {
    /// No record is presented and nothing is answered.
    NotAsked,
    /// A record is presented, nobody answered.
    Waiting,
    /// Approved.
    Yes,
    /// Answered, or called approved, in a way that approves nothing.
    No(Refusal<'a>),
}

/// Why an answer approves nothing.
pub(super) enum Refusal<'a> {
    /// A phrase of general assent.
    Phrase(&'static str),
    /// Called approved without an answer.
    NoReply,
    /// Another answer than the word.
    OtherReply(&'a str),
    /// The word, and no record under it.
    NoCopy,
    /// The word, and nothing that was presented.
    NothingPresented,
    /// The word under another record: number of the line, presented, answered.
    Differs(usize, &'a str, &'a str),
    /// The record is not in shape.
    Shape,
}

pub(super) fn approved(ledger: &Ledger) -> Approved<'_> {
    let Some(checkpoint) = &ledger.checkpoint else {
        return Approved::NotAsked;
    };
    let called = known(checkpoint.status.as_ref()) == Some(CheckpointStatus::Approved);
    match &checkpoint.approval {
        Some(approval) if !approval.reply.is_empty() => answered(checkpoint, approval),
        Some(_) | None if called => Approved::No(Refusal::NoReply),
        Some(_) | None if checkpoint.record.is_some() => Approved::Waiting,
        Some(_) | None => Approved::NotAsked,
    }
}

fn answered<'a>(checkpoint: &'a Checkpoint, approval: &'a Approval) -> Approved<'a> {
    let reply = approval.reply.as_str();
    if !is_approve(reply) {
        return Approved::No(
            general_phrase(reply).map_or(Refusal::OtherReply(reply), Refusal::Phrase),
        );
    }
    let Some(presented) = &checkpoint.record else {
        return Approved::No(Refusal::NothingPresented);
    };
    let Some(copy) = &approval.record else {
        return Approved::No(Refusal::NoCopy);
    };
    if let Some((line, presented, answered)) = presented.first_difference(copy) {
        return Approved::No(Refusal::Differs(line, presented, answered));
    }
    match presented.parts() {
        Ok(_) => Approved::Yes,
        Err(_) => Approved::No(Refusal::Shape),
    }
}

pub(super) fn check(weighed: &Weighed<'_>, findings: &mut Vec<Finding>) {
    shape(weighed.ledger, findings);
    absent(weighed, findings);
    if let Approved::No(refusal) = &weighed.approved {
        refused(weighed.ledger, refusal, findings);
    }
}

fn shape(ledger: &Ledger, findings: &mut Vec<Finding>) {
    let record = ledger
        .checkpoint
        .as_ref()
        .and_then(|checkpoint| checkpoint.record.as_ref());
    let Some((record, Err(problems))) = record.map(|record| (record, record.parts())) else {
        return;
    };
    let told = problems
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ");
    findings.push(Finding::new(
        Code::CheckpointShape,
        record.at,
        format!("the checkpoint record is not in the exact shape: {told}"),
        "write it as `docs/evidence.md` shows, or let `quadgate evidence approve` render it",
    ));
}

/// High risk needs the record as soon as more than blocking is declared or the work is under way.
fn absent(weighed: &Weighed<'_>, findings: &mut Vec<Finding>) {
    let ledger = weighed.ledger;
    let permits =
        known(ledger.disposition.as_ref()).is_some_and(|one: Disposition| one.permits() > 0);
    let record = ledger
        .checkpoint
        .as_ref()
        .and_then(|checkpoint| checkpoint.record.as_ref());
    if weighed.risk == Risk::High && record.is_none() && (permits || weighed.under_way()) {
        findings.push(Finding::new(
            Code::HighRiskWithoutCheckpoint,
            ledger.spans.place(Section::Checkpoint),
            "the risk is `HIGH` and no checkpoint record is presented",
            "present the record with `quadgate evidence approve` and wait for `APPROVE`",
        ));
    }
}

fn refused(ledger: &Ledger, refusal: &Refusal<'_>, findings: &mut Vec<Finding>) {
    let approval = ledger
        .checkpoint
        .as_ref()
        .and_then(|checkpoint| checkpoint.approval.as_ref());
    let at = approval.map_or_else(
        || ledger.spans.place(Section::Checkpoint),
        |approval| approval.at,
    );
    let (code, message) = match refusal {
        Refusal::Phrase(phrase) => (
            Code::GeneralAssent,
            format!("the answer is general assent (`{phrase}`) and authorizes nothing"),
        ),
        Refusal::NoReply => (
            Code::ApprovalNotTheRecord,
            "the checkpoint is called approved and no exact reply is recorded".to_owned(),
        ),
        Refusal::OtherReply(reply) => (
            Code::ApprovalNotTheRecord,
            format!("the answer is `{reply}`, not `APPROVE` alone"),
        ),
        Refusal::NoCopy => (
            Code::ApprovalNotTheRecord,
            "`APPROVE` stands without the record that it answers".to_owned(),
        ),
        Refusal::NothingPresented => (
            Code::ApprovalNotTheRecord,
            "`APPROVE` answers no record".to_owned(),
        ),
        Refusal::Differs(line, presented, answered) => (
            Code::ApprovalNotTheRecord,
            format!(
                "line {line} of the record is `{presented}`, what was approved says `{answered}`"
            ),
        ),
        // Told by `checkpoint-shape`.
        Refusal::Shape => return,
    };
    findings.push(Finding::new(
        code,
        at,
        message,
        "present the record again and record the exact reply; until then the change is `BLOCKED_CLARIFICATION`",
    ));
}
