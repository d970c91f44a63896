//! The content of one section, from its nodes: scalars, lists, entries, the risk.
//!
//! A section whose nodes say nothing stays absent; "none" is an empty list.

use super::blocks::{Kind, Node, as_code};
use super::literal::{decode, is_literal};
use super::read::{bare, section_label};
use super::{checkpoint, entries, label};
use crate::evidence::entry::{Entry, Kind as EntryKind};
use crate::evidence::ledger::{Ledger, Remark, RiskSection};
use crate::evidence::sections::Section;
use crate::evidence::text::{Item, Place, Text, fold, is_none_word};
use crate::evidence::words::{Risk, Stated, Vocabulary};

/// Puts the content of a section into the ledger.
pub(super) fn fill(ledger: &mut Ledger, section: Section, nodes: &[Node]) {
    if let Some(list) = ledger.list_mut(section) {
        *list = list_of(nodes).map(|items| items.iter().map(decoded).collect());
        return;
    }
    match section {
        Section::ChangeId => {
            ledger.change_id = scalar(ledger, section, nodes).map(|item| Item {
                text: change_id(item.text.as_str()),
                at: item.at,
            });
        }
        Section::Phase => ledger.phase = scalar(ledger, section, nodes).map(|item| stated(&item)),
        Section::Disposition => {
            ledger.disposition = scalar(ledger, section, nodes).map(|item| stated(&item));
        }
        Section::FinalDisposition => {
            ledger.final_disposition = scalar(ledger, section, nodes).map(|item| stated(&item));
        }
        Section::Risk => ledger.risk = risk(nodes),
        Section::Checkpoint => {
            let (read, remarks) = checkpoint::read(nodes);
            ledger.checkpoint = (!nodes.is_empty()).then_some(read);
            remark(ledger, section, remarks);
        }
        Section::Assumptions => {
            ledger.assumptions = entry_list(ledger, section, EntryKind::Assumption, nodes);
        }
        Section::Contract => ledger.contract = entry_list(ledger, section, EntryKind::Claim, nodes),
        Section::Records => {
            ledger.records = entry_list(ledger, section, EntryKind::Evidence, nodes);
        }
        Section::Baseline => {
            ledger.baseline = entry_list(ledger, section, EntryKind::Verification, nodes);
        }
        Section::Verifications => {
            ledger.verifications = entry_list(ledger, section, EntryKind::Verification, nodes);
        }
        Section::RequestedAction
        | Section::AuthorizedScope
        | Section::OutOfScope
        | Section::ScopeLimits
        | Section::Log
        | Section::Limitations
        | Section::Missing
        | Section::Conflicting
        | Section::Unresolved => {}
    }
}

fn stated<T: Vocabulary>(item: &Item) -> Stated<T> {
    Stated::read(decode(item.text.as_str()).as_str(), item.at)
}

fn decoded(item: &Item) -> Item {
    Item {
        text: decode(item.text.as_str()),
        at: item.at,
    }
}

/// People dress an id.
fn change_id(source: &str) -> Text {
    if is_literal(source) {
        decode(source)
    } else {
        Text::new(bare(source))
    }
}

/// Would the only item of a list be read as something else?
pub(super) fn misreads_only_item(text: &str) -> bool {
    is_none_word(text)
}

/// Would the value of a section be read as something else?
pub(super) fn misreads_scalar(section: Section, text: &str) -> bool {
    let stripped =
        section_label(text).is_some_and(|(label, value)| label == section && !value.is_empty());
    let dressed = section == Section::ChangeId && bare(text) != text;
    stripped || dressed || is_none_word(text)
}

/// Would the level of a risk be read as something else?
pub(super) fn misreads_level(text: &str) -> bool {
    level_and_reason(text).is_some_and(|(word, _)| word != text)
}

fn remark(ledger: &mut Ledger, section: Section, remarks: Vec<Text>) {
    ledger.remarks.extend(
        remarks
            .into_iter()
            .filter(|text| !text.is_empty())
            .map(|text| Remark { section, text }),
    );
}

fn entry_list<T: Entry>(
    ledger: &mut Ledger,
    section: Section,
    kind: EntryKind,
    nodes: &[Node],
) -> Option<Vec<T>> {
    let read = entries::read(kind, nodes);
    remark(ledger, section, read.remarks);
    (!nodes.is_empty()).then_some(read.entries)
}

/// The first line is the value, the rest is prose.
fn scalar(ledger: &mut Ledger, section: Section, nodes: &[Node]) -> Option<Item> {
    let mut lines = list_of(nodes)?.into_iter();
    let first = lines.next()?;
    let value = match section_label(first.text.as_str()) {
        Some((label, value)) if label == section && !value.is_empty() => Item {
            text: Text::new(value),
            at: first.at,
        },
        Some(_) | None => first,
    };
    remark(
        ledger,
        section,
        lines.map(|item| decode(item.text.as_str())).collect(),
    );
    (!is_none_word(value.text.as_str())).then_some(value)
}

/// A plain list, still as source: items, paragraphs, rows, lines of code. `None` when nothing is said, empty for "none".
fn list_of(nodes: &[Node]) -> Option<Vec<Item>> {
    if nodes.is_empty() {
        return None;
    }
    let mut items: Vec<Item> = Vec::new();
    for node in nodes {
        match &node.kind {
            Kind::Heading(_) | Kind::Item(_) | Kind::Line { opens: true, .. } => {
                items.push(item(&node.text, node.at));
            }
            Kind::Line { opens: false, .. } => match items.last_mut() {
                Some(last) => last.text = Text::new(&format!("{} {}", last.text, node.text)),
                None => items.push(item(&node.text, node.at)),
            },
            Kind::Row { head, cells, .. } => {
                let filled: Vec<_> = cells
                    .iter()
                    .map(String::as_str)
                    .filter(|cell| !cell.is_empty())
                    .collect();
                if !head {
                    items.push(item(&filled.join(" — "), node.at));
                }
            }
            Kind::Code => {
                let lines = node.text.lines().map(as_code);
                items.extend(lines.map(|line| item(&line, node.at)));
            }
        }
    }
    items.retain(|item| !item.text.is_empty());
    match items.as_slice() {
        [] => None,
        [only] if is_none_word(only.text.as_str()) => Some(Vec::new()),
        _ => Some(items),
    }
}

fn item(text: &str, at: Place) -> Item {
    Item {
        text: Text::new(text),
        at,
    }
}

#[derive(PartialEq, Eq)]
enum RiskLabel {
    Level,
    Reason,
}

/// Is the sub-heading a part of the risk section?
pub(super) fn is_risk_reason(heading: &str) -> bool {
    matches!(risk_label(heading), Some(RiskLabel::Reason))
}

fn risk_label(label: &str) -> Option<RiskLabel> {
    match fold(label).as_str() {
        "level"
        | "risk"
        | "risk level"
        | "risk classification"
        | "classification"
        | "등급"
        | "위험"
        | "위험도"
        | "위험 등급"
        | "위험 수준"
        | "위험 분류"
        | "분류" => Some(RiskLabel::Level),
        "reason" | "reasons" | "because" | "rationale" | "why" | "이유" | "근거" | "사유" => {
            Some(RiskLabel::Reason)
        }
        _ => None,
    }
}

fn risk(nodes: &[Node]) -> Option<RiskSection> {
    if nodes.is_empty() {
        return None;
    }
    let mut section = RiskSection::default();
    for line in list_of(nodes)? {
        risk_line(&mut section, &line);
    }
    Some(section)
}

fn risk_line(section: &mut RiskSection, line: &Item) {
    let text = line.text.as_str();
    let label = label::split(text).and_then(|found| Some((risk_label(found.label)?, found.value)));
    let unset = section.level.is_none();
    match label {
        Some((RiskLabel::Level, value)) if unset => {
            let (word, reason) = level_and_reason(value).unwrap_or((value, ""));
            if !word.is_empty() {
                section.level = Some(Stated::read(decode(word).as_str(), line.at));
            }
            push_reason(section, reason, line.at);
        }
        Some((RiskLabel::Reason, value)) => push_reason(section, value, line.at),
        Some((RiskLabel::Level, _)) | None => match level_and_reason(text) {
            Some((word, reason)) if unset => {
                section.level = Some(Stated::read(word, line.at));
                push_reason(section, reason, line.at);
            }
            Some(_) | None => push_reason(section, text, line.at),
        },
    }
}

fn push_reason(section: &mut RiskSection, reason: &str, at: Place) {
    if !reason.is_empty() {
        let text = decode(reason);
        section.reasons.push(Item { text, at });
    }
}

/// `HIGH`, or `HIGH — because …` split at the first sign.
fn level_and_reason(text: &str) -> Option<(&str, &str)> {
    if is_literal(text) {
        return None;
    }
    if Risk::read(text).is_some() {
        return Some((text, ""));
    }
    let signs = [" — ", " – ", " - ", ": ", " (", ", ", ". ", "; "];
    let (at, sign) = signs
        .iter()
        .filter_map(|sign| Some((text.find(sign)?, sign)))
        .min()?;
    let word = text.get(..at)?;
    let rest = text.get(at + sign.len()..)?.trim();
    let reason = if *sign == " (" {
        rest.strip_suffix(')').unwrap_or(rest)
    } else {
        rest
    };
    Risk::read(word).map(|_| (word, reason))
}
