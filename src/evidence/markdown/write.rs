//! From the ledger to Markdown: one form, in English or Korean.
//!
//! A text that the reader would take for something else is written as a literal one; each reading module says which.
//! INVARIANT: `read(write(ledger)) == ledger` for every ledger that was read and every ledger that JSON let in.

use super::blocks::escape_first;
use super::label::COLONS;
use super::literal::{encode, is_literal};
use super::read::{heading_name, id_in_title, section_label};
use super::{checkpoint as checkpoints, content, entries as fields};
use crate::evidence::entry::{Entry, Field, Kind};
use crate::evidence::ledger::{Approval, Checkpoint, Ledger, Other, RiskSection};
use crate::evidence::record::CheckpointRecord;
use crate::evidence::sections::{Language, Section};
use crate::evidence::text::Item;
use std::fmt::Write as _;

/// Writes the whole ledger.
#[must_use]
pub fn write(ledger: &Ledger, language: Language) -> String {
    let mut parts = Vec::new();
    if !ledger.title.is_empty() {
        let title = ledger.title.as_str();
        let misread = ledger.change_id.is_none() && id_in_title(title).is_some();
        parts.push(format!("# {}\n", heading(title, misread)));
    }
    parts.extend(
        ledger
            .preamble
            .iter()
            .map(|text| line(text.as_str(), section_label(text.as_str()).is_some())),
    );
    parts.extend(
        Section::ALL
            .into_iter()
            .filter_map(|one| section(ledger, one, language)),
    );
    for extra in &ledger.extras {
        let heading = format!("## {}", heading(extra.heading.as_str(), false));
        let blank = if extra.body.is_empty() { "" } else { "\n" };
        let end = if extra.body.is_empty() { "" } else { "\n" };
        parts.push(format!(
            "{}\n{blank}{}{end}",
            heading.trim_end(),
            extra.body
        ));
    }
    parts.join("\n")
}

/// Writes one section with its heading; `None` when the ledger says nothing in it.
#[must_use]
pub fn section(ledger: &Ledger, section: Section, language: Language) -> Option<String> {
    let mut remarks = String::new();
    for remark in ledger
        .remarks
        .iter()
        .filter(|remark| remark.section == section)
    {
        let text = remark.text.as_str();
        let _ = writeln!(remarks, "{}", line(text, misreads_remark(section, text)));
    }
    let body = match body(ledger, section, language) {
        Some(body) => body,
        // Prose under a value that is not there.
        None if is_scalar(section) && !remarks.is_empty() => none(language),
        None => return None,
    };
    let text = if is_scalar(section) {
        // The value is the first line, the prose follows.
        format!("{body}\n{remarks}")
    } else {
        format!("{remarks}{body}")
    };
    Some(format!(
        "## {}\n\n{}\n",
        section.heading(language),
        text.trim_end()
    ))
}

fn is_scalar(section: Section) -> bool {
    matches!(
        section,
        Section::ChangeId | Section::Phase | Section::Disposition | Section::FinalDisposition
    )
}

fn body(ledger: &Ledger, section: Section, language: Language) -> Option<String> {
    let line = |text: &str| {
        let misread = text.is_empty() || content::misreads_scalar(section, text);
        line(text, misread)
    };
    match section {
        Section::ChangeId => ledger
            .change_id
            .as_ref()
            .map(|item| line(item.text.as_str())),
        Section::Phase => ledger.phase.as_ref().map(|word| line(word.as_str())),
        Section::Disposition => ledger.disposition.as_ref().map(|word| line(word.as_str())),
        Section::FinalDisposition => ledger
            .final_disposition
            .as_ref()
            .map(|word| line(word.as_str())),
        Section::RequestedAction => list(ledger.requested_action.as_deref(), language),
        Section::AuthorizedScope => list(ledger.authorized_scope.as_deref(), language),
        Section::OutOfScope => list(ledger.out_of_scope.as_deref(), language),
        Section::ScopeLimits => list(ledger.scope_limits.as_deref(), language),
        Section::Log => list(ledger.execution_log.as_deref(), language),
        Section::Limitations => list(ledger.limitations.as_deref(), language),
        Section::Missing => list(ledger.missing.as_deref(), language),
        Section::Conflicting => list(ledger.conflicting.as_deref(), language),
        Section::Unresolved => list(ledger.unresolved.as_deref(), language),
        Section::Risk => ledger.risk.as_ref().map(|section| risk(section, language)),
        Section::Checkpoint => ledger
            .checkpoint
            .as_ref()
            .map(|section| checkpoint(section, language)),
        Section::Assumptions => entries(ledger.assumptions.as_deref(), Kind::Assumption, language),
        Section::Contract => entries(ledger.contract.as_deref(), Kind::Claim, language),
        Section::Records => entries(ledger.records.as_deref(), Kind::Evidence, language),
        Section::Baseline => entries(ledger.baseline.as_deref(), Kind::Verification, language),
        Section::Verifications => entries(
            ledger.verifications.as_deref(),
            Kind::Verification,
            language,
        ),
    }
}

fn none(language: Language) -> String {
    match language {
        Language::En => "- none\n".to_owned(),
        Language::Ko => "- 없음\n".to_owned(),
    }
}

fn list(items: Option<&[Item]>, language: Language) -> Option<String> {
    let items = items?;
    if items.is_empty() {
        return Some(none(language));
    }
    let lines = items.iter().map(|item| {
        let text = item.text.as_str();
        let only = items.len() == 1 && content::misreads_only_item(text);
        format!("- {}", line(text, text.is_empty() || only))
    });
    Some(lines.collect())
}

/// The text as it is, or as a literal one when it would be misread.
fn source(text: &str, misread: bool) -> String {
    if misread || is_literal(text) {
        encode(text, |_| false)
    } else {
        text.to_owned()
    }
}

fn line(text: &str, misread: bool) -> String {
    format!("{}\n", escape_first(&source(text, misread)))
}

fn heading(text: &str, misread: bool) -> String {
    if text.ends_with('#') {
        // It would be taken for the closing mark.
        encode(text, |c| c == '#')
    } else {
        source(text, misread || heading_name(text).is_some())
    }
}

fn labelled(label: &str, value: &str, misread: bool) -> String {
    let line = format!("{label}: {}", source(value, misread));
    line.trim_end().to_owned()
}

fn misreads_remark(section: Section, text: &str) -> bool {
    match section {
        Section::Checkpoint => checkpoints::misreads_remark(text),
        Section::Assumptions => fields::misreads_remark(Kind::Assumption, text),
        Section::Contract => fields::misreads_remark(Kind::Claim, text),
        Section::Records => fields::misreads_remark(Kind::Evidence, text),
        Section::Baseline | Section::Verifications => {
            fields::misreads_remark(Kind::Verification, text)
        }
        Section::ChangeId
        | Section::Phase
        | Section::Disposition
        | Section::RequestedAction
        | Section::AuthorizedScope
        | Section::OutOfScope
        | Section::ScopeLimits
        | Section::Risk
        | Section::Log
        | Section::Limitations
        | Section::Missing
        | Section::Conflicting
        | Section::Unresolved
        | Section::FinalDisposition => false,
    }
}

fn risk(section: &RiskSection, language: Language) -> String {
    let (level, reason) = match language {
        Language::En => ("Level", "Reason"),
        Language::Ko => ("등급", "이유"),
    };
    let mut text = String::new();
    if let Some(word) = &section.level {
        let _ = writeln!(
            text,
            "- {}",
            labelled(
                level,
                word.as_str(),
                word.as_str().is_empty() || content::misreads_level(word.as_str())
            )
        );
    }
    for item in &section.reasons {
        let _ = writeln!(
            text,
            "- {}",
            labelled(reason, item.text.as_str(), item.text.is_empty())
        );
    }
    if text.is_empty() {
        none(language)
    } else {
        text
    }
}

fn entries<T: Entry>(entries: Option<&[T]>, kind: Kind, language: Language) -> Option<String> {
    let entries = entries?;
    if entries.is_empty() {
        return Some(none(language));
    }
    Some(
        entries
            .iter()
            .map(|entry| one(entry, kind, language))
            .collect(),
    )
}

fn one<T: Entry>(entry: &T, kind: Kind, language: Language) -> String {
    let subject = entry.get(Field::Subject).unwrap_or_default();
    let field = |field: Field, value: &str| {
        let misread = fields::misreads_value(kind, value);
        labelled(kind.label(field, language), value, misread)
    };
    let mut text = format!("- {}\n", field(Field::Subject, subject));
    for one in kind.fields().iter().filter(|one| **one != Field::Subject) {
        if let Some(value) = entry.get(*one) {
            let _ = writeln!(text, "  - {}", field(*one, value));
        }
    }
    for other in entry.other() {
        let _ = writeln!(text, "  - {}", unnamed(other, kind));
    }
    text
}

/// A field without a name here; its label may be anything that stood at the head of a table.
fn unnamed(other: &Other, kind: Kind) -> String {
    let (label, value) = (other.label.as_str(), other.text.as_str());
    let line = labelled(label, value, false);
    if fields::misreads_other(kind, other, &line) {
        labelled(&encode(label, |c| COLONS.contains(&c)), value, false)
    } else {
        escape_first(&line)
    }
}

fn checkpoint(section: &Checkpoint, language: Language) -> String {
    let status = match language {
        Language::En => "Status",
        Language::Ko => "상태",
    };
    let mut text = String::new();
    if let Some(word) = &section.status {
        let _ = writeln!(
            text,
            "- {}",
            labelled(status, word.as_str(), word.as_str().is_empty())
        );
    }
    if let Some(record) = &section.record {
        let _ = write!(text, "\n{}", fenced(record));
    }
    if let Some(approval) = &section.approval {
        text.push_str(&self::approval(approval, language));
    }
    if text.is_empty() {
        none(language)
    } else {
        text
    }
}

fn approval(approval: &Approval, language: Language) -> String {
    let (heading, labels) = match language {
        Language::En => ("Approval record", ["Reply", "By", "When"]),
        Language::Ko => ("승인 기록", ["회신", "승인자", "시각"]),
    };
    let mut text = format!("\n### {heading}\n\n");
    for (label, value) in labels
        .into_iter()
        .zip([&approval.reply, &approval.by, &approval.when])
    {
        if !value.is_empty() {
            let _ = writeln!(text, "- {}", labelled(label, value.as_str(), false));
        }
    }
    if let Some(record) = &approval.record {
        let _ = write!(text, "\n{}", fenced(record));
    }
    text
}

/// The record in a code block whose fence no line of it can close.
fn fenced(record: &CheckpointRecord) -> String {
    let text = record.to_text();
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{text}{fence}\n")
}
