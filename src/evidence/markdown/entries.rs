//! Entries out of nodes: tables, nested lists, sub-headings, flat labels, or the arrow chain
//! `claim -> observed fact -> artifact -> method -> limitation -> status`.
//!
//! INVARIANT: a label that an entry has already begins the next entry; a value is never overwritten.

use super::blocks::{Kind as NodeKind, Node, as_code};
use super::label::{self, COLONS, Labelled};
use super::literal::{decode, is_literal};
use crate::evidence::entry::{Entry, Field, Kind};
use crate::evidence::ledger::Other;
use crate::evidence::text::{Place, Text, fold, is_none_word};

/// What an entry section holds.
pub(super) struct Entries<T> {
    /// The entries in order.
    pub entries: Vec<T>,
    /// Prose beside them.
    pub remarks: Vec<Text>,
}

/// Reads the entries of a section.
pub(super) fn read<T: Entry>(kind: Kind, nodes: &[Node]) -> Entries<T> {
    let mut reading = Reading {
        kind,
        open: None,
        last: Last::Nothing,
        read: Entries {
            entries: Vec::new(),
            remarks: Vec::new(),
        },
    };
    for node in nodes {
        reading.node(node);
    }
    reading.close();
    reading.read
}

/// Would a remark be read as something else?
pub(super) fn misreads_remark(kind: Kind, text: &str) -> bool {
    let labelled = label::split(text).is_some_and(|found| kind.field(found.label).is_some());
    labelled || is_none_word(text) || chain(kind, text).is_some()
}

/// Would the value of a field make its line something else?
pub(super) fn misreads_value(kind: Kind, text: &str) -> bool {
    chain(kind, &format!(": {text}")).is_some()
}

/// Would a field without a name here be read as something else?
pub(super) fn misreads_other(kind: Kind, other: &Other, line: &str) -> bool {
    let same = |found: &Labelled<'_>| {
        found.label == other.label.as_str()
            && found.value == other.text.as_str()
            && kind.field(found.label).is_none()
            && label::plausible(found)
    };
    chain(kind, line).is_some() || !label::split(line).as_ref().is_some_and(same)
}

enum Slot {
    Named(Field),
    Other(Text),
}

struct Open {
    title: String,
    slots: Vec<(Slot, String, Place)>,
    at: Place,
    /// 0: begun by a heading.
    depth: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Remark,
    Title,
    Slot,
}

struct Reading<T> {
    kind: Kind,
    open: Option<Open>,
    last: Last,
    read: Entries<T>,
}

impl<T: Entry> Reading<T> {
    fn node(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::Heading(_) => {
                self.begin(0, node.at);
                self.title(&node.text);
            }
            NodeKind::Row {
                head,
                header,
                cells,
            } => self.row(*head, header, cells, node.at),
            NodeKind::Code => self.code(&node.text),
            NodeKind::Item(depth) => self.line(node, *depth, true, true),
            NodeKind::Line { depth, opens } => self.line(node, *depth, false, *opens),
        }
    }

    fn line(&mut self, node: &Node, depth: u8, item: bool, opens: bool) {
        let text = node.text.as_str();
        if let Some(found) = label::split(text)
            && is_literal(found.value)
            && let Some(field) = self.kind.field(found.label)
        {
            return self.field(field, &found, depth, node.at);
        }
        let below = self.open.as_ref().is_some_and(|open| depth > open.depth);
        if let (true, true, Some((label, value))) =
            (item && below, is_literal(text), text.split_once(COLONS))
        {
            return self.slot(Slot::Other(decode(label)), value.trim(), node.at);
        }
        if let Some(parts) = chain(self.kind, text) {
            return self.chain(&parts, depth, node.at);
        }
        if let Some(found) = label::split(text) {
            if let Some(field) = self.kind.field(found.label) {
                return self.field(field, &found, depth, node.at);
            }
            if self.takes_other(&found, depth, item) {
                return self.slot(Slot::Other(Text::new(found.label)), found.value, node.at);
            }
        }
        self.plain(text, node.at, depth, item, opens);
    }

    /// An unknown label belongs to the open entry when it stands below it, is dressed, or follows a heading.
    fn takes_other(&self, found: &Labelled<'_>, depth: u8, item: bool) -> bool {
        let Some(open) = &self.open else { return false };
        let below = depth > open.depth || (depth == open.depth && !item && depth > 0);
        label::plausible(found) && (below || found.strong || open.depth == 0)
    }

    fn plain(&mut self, text: &str, at: Place, depth: u8, item: bool, opens: bool) {
        if is_none_word(text) && self.open.is_none() {
            return;
        }
        let heading_open = self.open.as_ref().is_some_and(|open| open.depth == 0);
        if item && depth <= 1 && !heading_open {
            self.begin(depth, at);
            return self.title(text);
        }
        if item {
            return self.more(text, "; ");
        }
        let bare_heading = heading_open && self.last == Last::Title;
        if opens && depth == 0 && !bare_heading {
            self.last = Last::Remark;
            return self.read.remarks.push(decode(text));
        }
        self.more(text, if bare_heading && opens { ": " } else { " " });
    }

    /// Adds to what was read last.
    fn more(&mut self, text: &str, glue: &str) {
        let add = |value: &mut String| {
            if !value.is_empty() {
                value.push_str(glue);
            }
            value.push_str(text);
        };
        match (self.last, &mut self.open) {
            (Last::Title, Some(open)) => add(&mut open.title),
            (Last::Slot, Some(open)) => {
                if let Some((_, value, _)) = open.slots.last_mut() {
                    add(value);
                }
            }
            (Last::Remark, _) => {
                if let Some(remark) = self.read.remarks.last_mut() {
                    *remark = Text::new(&format!("{remark} {text}"));
                }
            }
            (Last::Nothing | Last::Title | Last::Slot, _) => {
                self.last = Last::Remark;
                self.read.remarks.push(decode(text));
            }
        }
    }

    fn field(&mut self, field: Field, found: &Labelled<'_>, depth: u8, at: Place) {
        let has = |open: &Open| {
            open.slots
                .iter()
                .any(|(slot, ..)| matches!(slot, Slot::Named(named) if *named == field))
        };
        if self.open.as_ref().is_none_or(has) {
            self.begin(depth.max(1), at);
        }
        self.slot(Slot::Named(field), found.value, at);
    }

    fn slot(&mut self, slot: Slot, value: &str, at: Place) {
        if let Some(open) = &mut self.open {
            open.slots.push((slot, value.to_owned(), at));
            self.last = Last::Slot;
        }
    }

    fn title(&mut self, text: &str) {
        if let Some(open) = &mut self.open {
            text.clone_into(&mut open.title);
            self.last = Last::Title;
        }
    }

    fn begin(&mut self, depth: u8, at: Place) {
        self.close();
        self.open = Some(Open {
            title: String::new(),
            slots: Vec::new(),
            at,
            depth,
        });
    }

    /// A code block is a value: one line of code.
    fn code(&mut self, code: &str) {
        self.more(&as_code(code), " ");
    }

    fn row(&mut self, head: bool, header: &[String], cells: &[String], at: Place) {
        let vertical =
            header.len() == 2 && header.first().is_some_and(|first| is_field_word(first));
        if head {
            if vertical {
                self.begin(1, at);
            }
            return;
        }
        if vertical {
            if let [label, value] = cells {
                let found = Labelled {
                    label,
                    value,
                    strong: true,
                    clear: true,
                };
                match self.kind.field(label) {
                    Some(field) => self.field(field, &found, 1, at),
                    None => self.slot(Slot::Other(Text::new(label)), value, at),
                }
            }
            return;
        }
        if cells
            .iter()
            .all(|cell| cell.is_empty() || is_none_word(cell))
        {
            return;
        }
        self.begin(1, at);
        for (label, value) in header
            .iter()
            .zip(cells)
            .filter(|(_, value)| !value.is_empty())
        {
            let taken = self.kind.field(label).filter(|field| {
                let same = |(slot, ..): &(Slot, String, Place)| matches!(slot, Slot::Named(named) if named == field);
                !self.open.as_ref().is_some_and(|open| open.slots.iter().any(same))
            });
            let slot = taken.map_or_else(|| Slot::Other(Text::new(label)), Slot::Named);
            self.slot(slot, value, at);
        }
        self.close();
    }

    fn chain(&mut self, parts: &[&str], depth: u8, at: Place) {
        const CHAIN: [Field; 6] = [
            Field::Subject,
            Field::Observed,
            Field::Artifact,
            Field::Method,
            Field::Limitation,
            Field::Status,
        ];
        self.begin(depth.max(1), at);
        for (field, value) in CHAIN.into_iter().zip(parts) {
            self.slot(Slot::Named(field), value, at);
        }
    }

    fn close(&mut self) {
        self.last = Last::Nothing;
        let Some(open) = self.open.take() else { return };
        if open.title.is_empty() && open.slots.is_empty() {
            return;
        }
        let mut entry = T::default();
        entry.place(open.at);
        let has = |field: Field| {
            open.slots
                .iter()
                .any(|(slot, ..)| matches!(slot, Slot::Named(named) if *named == field))
        };
        let title = decode(&open.title);
        if !title.is_empty() {
            match (
                has(Field::Subject),
                has(Field::Id) || !self.kind.fields().contains(&Field::Id),
            ) {
                (false, _) => entry.set(Field::Subject, title, open.at),
                (true, false) => entry.set(Field::Id, title, open.at),
                (true, true) => entry.other_mut().push(Other {
                    label: Text::new("Title"),
                    text: title,
                }),
            }
        }
        for (slot, value, at) in open.slots {
            let text = decode(&value);
            match slot {
                Slot::Named(field) => entry.set(field, text, at),
                Slot::Other(label) => entry.other_mut().push(Other { label, text }),
            }
        }
        self.read.entries.push(entry);
    }
}

fn is_field_word(cell: &str) -> bool {
    matches!(
        fold(cell).as_str(),
        "field" | "key" | "item" | "property" | "항목" | "필드" | "속성"
    )
}

/// The arrow chain of the protocol: five parts, or six with a status.
fn chain(kind: Kind, text: &str) -> Option<Vec<&str>> {
    match kind {
        Kind::Evidence | Kind::Verification => {}
        Kind::Assumption | Kind::Claim => return None,
    }
    if is_literal(text) {
        return None;
    }
    let arrow = if text.contains(" → ") {
        " → "
    } else {
        " -> "
    };
    let parts: Vec<_> = text.split(arrow).map(str::trim).collect();
    matches!(parts.len(), 5 | 6).then_some(parts)
}
