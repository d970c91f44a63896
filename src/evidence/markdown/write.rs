//! From the ledger to Markdown: one form, in English or Korean.
//!
//! INVARIANT: `read(write(ledger)) == ledger` for every ledger that was read and every ledger that JSON let in.

use super::blocks::escape_first;
use crate::evidence::entry::{Entry, Field, Kind};
use crate::evidence::ledger::{Approval, Checkpoint, Ledger, RiskSection};
use crate::evidence::record::CheckpointRecord;
use crate::evidence::sections::{Language, Section};
use crate::evidence::text::Item;
use std::fmt::Write as _;

/// Writes the whole ledger.
#[must_use]
pub fn write(ledger: &Ledger, language: Language) -> String {
    let mut parts = Vec::new();
    if !ledger.title.is_empty() {
        parts.push(format!("# {}\n", ledger.title));
    }
    parts.extend(
        ledger
            .preamble
            .iter()
            .map(|line| format!("{}\n", escape_first(line.as_str()))),
    );
    parts.extend(
        Section::ALL
            .into_iter()
            .filter_map(|one| section(ledger, one, language)),
    );
    for extra in &ledger.extras {
        let heading = format!("## {}", extra.heading);
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
    if !ledger.says(section) {
        return None;
    }
    let mut remarks = String::new();
    for remark in ledger
        .remarks
        .iter()
        .filter(|remark| remark.section == section)
    {
        let _ = writeln!(remarks, "{}\n", escape_first(remark.text.as_str()));
    }
    let body = body(ledger, section, language)?;
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
    let line = |text: &str| format!("{}\n", escape_first(text));
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
    let lines = items
        .iter()
        .map(|item| format!("- {}\n", escape_first(item.text.as_str())));
    Some(lines.collect())
}

fn labelled(label: &str, value: &str) -> String {
    escape_first(format!("{label}: {value}").trim_end())
}

fn risk(section: &RiskSection, language: Language) -> String {
    let (level, reason) = match language {
        Language::En => ("Level", "Reason"),
        Language::Ko => ("등급", "이유"),
    };
    let mut text = String::new();
    if let Some(word) = &section.level {
        let _ = writeln!(text, "- {}", labelled(level, word.as_str()));
    }
    for item in &section.reasons {
        let _ = writeln!(text, "- {}", labelled(reason, item.text.as_str()));
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
    let mut text = format!(
        "- {}\n",
        labelled(kind.label(Field::Subject, language), subject)
    );
    for field in kind
        .fields()
        .iter()
        .filter(|field| **field != Field::Subject)
    {
        if let Some(value) = entry.get(*field) {
            let _ = writeln!(
                text,
                "  - {}",
                labelled(kind.label(*field, language), value)
            );
        }
    }
    for other in entry.other() {
        let _ = writeln!(
            text,
            "  - {}",
            labelled(other.label.as_str(), other.text.as_str())
        );
    }
    text
}

fn checkpoint(section: &Checkpoint, language: Language) -> String {
    let status = match language {
        Language::En => "Status",
        Language::Ko => "상태",
    };
    let mut text = String::new();
    if let Some(word) = &section.status {
        let _ = writeln!(text, "- {}", labelled(status, word.as_str()));
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
            let _ = writeln!(text, "- {}", labelled(label, value.as_str()));
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
