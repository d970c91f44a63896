//! The checkpoint section: its status, the record as presented, and the answer with the record it answers.
//!
//! The record may stand in a code block, a quote or plain lines. While a record is open, every line belongs to it:
//! a line that was slipped in is a difference to be seen, not a remark to be put aside.

use super::blocks::{Kind, Node};
use super::label;
use super::literal::decode;
use crate::evidence::ledger::{Approval, Checkpoint};
use crate::evidence::record::{CheckpointRecord, WORDINGS};
use crate::evidence::text::{Place, Text, fold, is_none_word};
use crate::evidence::words::{CheckpointStatus, Stated, Vocabulary};

/// Labels of the section's own fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Status,
    Approval,
    Reply,
    By,
    When,
}

fn field(label: &str) -> Option<Label> {
    let found = match fold(label).as_str() {
        "status" | "state" | "checkpoint status" | "상태" | "체크포인트 상태" => {
            Label::Status
        }
        "approval record" | "approval" | "승인 기록" | "승인" => Label::Approval,
        "reply" | "exact reply" | "answer" | "response" | "회신" | "답변" | "정확한 회신" => {
            Label::Reply
        }
        "by" | "approved by" | "approver" | "who" | "승인자" | "회신자" => Label::By,
        "when" | "at" | "date" | "time" | "approved at" | "시각" | "일시" | "날짜"
        | "승인 시각" => Label::When,
        _ => return None,
    };
    Some(found)
}

/// Does a sub-heading belong to this section rather than begin another?
pub(super) fn owns_heading(text: &str) -> bool {
    field(text).is_some() || begins_record(text)
}

/// Is it the headline or a label of the record, whatever its dress?
fn begins_record(text: &str) -> bool {
    let folded = fold(text);
    let same = |fixed: &str| fold(fixed) == folded;
    WORDINGS
        .iter()
        .any(|wording| same(wording.headline) || wording.labels.iter().any(|label| same(label)))
}

fn ends_record(text: &str) -> bool {
    WORDINGS.iter().any(|wording| text == wording.closing)
}

/// Would a remark be read as something else?
pub(super) fn misreads_remark(text: &str) -> bool {
    let labelled = label::split(text).is_some_and(|found| field(found.label).is_some());
    labelled || begins_record(text) || is_none_word(text) || CheckpointStatus::read(text).is_some()
}

/// Reads the section.
pub(super) fn read(nodes: &[Node]) -> (Checkpoint, Vec<Text>) {
    let mut reading = Reading::default();
    for node in nodes {
        reading.node(node);
    }
    (reading.checkpoint, reading.remarks)
}

#[derive(Default)]
struct Reading {
    checkpoint: Checkpoint,
    remarks: Vec<Text>,
    in_approval: bool,
    in_record: bool,
}

impl Reading {
    fn node(&mut self, node: &Node) {
        match &node.kind {
            Kind::Heading(_) if field(&node.text) == Some(Label::Approval) => {
                self.in_record = false;
                self.approval(node.at);
            }
            Kind::Heading(_) if begins_record(&node.text) || self.in_record => {
                self.record_line(&node.text, node.at);
            }
            Kind::Heading(_) => self.text(node, false),
            Kind::Code => self.code(&node.text, node.at),
            Kind::Item(_) => self.text(node, true),
            Kind::Line { depth, opens } => {
                if self.in_record && *depth > 0 && !*opens {
                    self.continue_line(&node.text);
                } else {
                    self.text(node, false);
                }
            }
            Kind::Row { head, cells, .. } => self.row(*head, cells, node),
        }
    }

    fn row(&mut self, head: bool, cells: &[String], node: &Node) {
        if let [label, value] = cells
            && let Some(found) = field(label)
        {
            return self.field(found, value, node.at);
        }
        if !head {
            let filled: Vec<_> = cells
                .iter()
                .map(String::as_str)
                .filter(|cell| !cell.is_empty())
                .collect();
            self.words(&filled.join(" — "), node.at, false);
        }
    }

    fn text(&mut self, node: &Node, item: bool) {
        self.words(&node.text, node.at, item);
    }

    fn words(&mut self, text: &str, at: Place, item: bool) {
        let found = label::split(text).and_then(|found| Some((field(found.label)?, found.value)));
        let leaves = matches!(found, Some((Label::Reply | Label::Approval, _)));
        if self.in_record && !leaves {
            let line = if item {
                format!("- {text}")
            } else {
                text.to_owned()
            };
            return self.record_line(&line, at);
        }
        if let Some((label, value)) = found {
            return self.field(label, value, at);
        }
        if begins_record(text) {
            return self.record_line(text, at);
        }
        self.loose(text, at);
    }

    /// A line outside the record and without a label.
    fn loose(&mut self, text: &str, at: Place) {
        if is_none_word(text) {
            return;
        }
        if let (true, Some(approval)) = (self.in_approval, &mut self.checkpoint.approval)
            && approval.reply.is_empty()
        {
            approval.reply = decode(text);
            return;
        }
        if self.checkpoint.status.is_none() && CheckpointStatus::read(text).is_some() {
            self.checkpoint.status = Some(Stated::read(text, at));
            return;
        }
        self.remarks.push(decode(text));
    }

    fn field(&mut self, label: Label, value: &str, at: Place) {
        self.in_record = false;
        let text = decode(value);
        match label {
            Label::Status => {
                if !value.is_empty() && self.checkpoint.status.is_none() {
                    self.checkpoint.status = Some(Stated::read(text.as_str(), at));
                }
            }
            Label::Approval => {
                let approval = self.approval(at);
                if !is_none_word(value) && approval.reply.is_empty() {
                    approval.reply = text;
                }
            }
            Label::Reply => self.approval(at).reply = text,
            Label::By => self.approval(at).by = text,
            Label::When => self.approval(at).when = text,
        }
    }

    fn approval(&mut self, at: Place) -> &mut Approval {
        self.in_approval = true;
        self.checkpoint.approval.get_or_insert_with(|| Approval {
            at,
            ..Approval::default()
        })
    }

    fn code(&mut self, code: &str, at: Place) {
        self.in_record = false;
        for line in code.lines().map(Text::new) {
            self.push_line(line, at);
        }
    }

    fn record_line(&mut self, line: &str, at: Place) {
        self.in_record = !ends_record(line);
        self.push_line(Text::new(line), at);
    }

    fn continue_line(&mut self, text: &str) {
        if let Some(last) = self.record_mut(Place::default()).lines.last_mut() {
            *last = Text::new(&format!("{last} {text}"));
        }
    }

    /// Blank lines carry nothing.
    fn push_line(&mut self, line: Text, at: Place) {
        if !line.is_empty() {
            self.record_mut(at).lines.push(line);
        }
    }

    fn record_mut(&mut self, at: Place) -> &mut CheckpointRecord {
        let record = match (self.in_approval, &mut self.checkpoint.approval) {
            (true, Some(approval)) => &mut approval.record,
            (true | false, _) => &mut self.checkpoint.record,
        };
        record.get_or_insert_with(|| CheckpointRecord {
            lines: Vec::new(),
            at,
        })
    }
}
