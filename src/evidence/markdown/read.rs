//! From Markdown to the ledger: which lines belong to which section.

use super::blocks::{Kind, Lines, Node, as_code, nodes};
use super::literal::{decode, is_literal};
use super::{checkpoint, content, label};
use crate::evidence::ledger::{Extra, Ledger, Span};
use crate::evidence::sections::{Named, Section, named};
use crate::evidence::text::{Item, Place, Text, fold, is_none_word};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Reads a ledger. Whatever the text is, there is a ledger; what it lacks is for the judgement to say.
#[must_use]
pub fn read(source: &str) -> Ledger {
    let source = normalized(source);
    let lines = Lines::of(&source);
    let (front, body_from) = front_matter(&source, &lines);
    let mut split = Split::default();
    split.nodes(front);
    split.nodes(nodes(&source, body_from, &lines));
    split.finish(&source)
}

/// Without a byte order mark, every line end a line feed. Spans count in this text.
pub(super) fn normalized(source: &str) -> Cow<'_, str> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    if source.contains('\r') {
        source.replace("\r\n", "\n").replace('\r', "\n").into()
    } else {
        source.into()
    }
}

/// The lines of a YAML front matter, as lines of the preamble, and where the body begins.
fn front_matter(source: &str, lines: &Lines<'_>) -> (Vec<Node>, usize) {
    let Some(rest) = source.strip_prefix("---\n") else {
        return (Vec::new(), 0);
    };
    let Some(length) = rest
        .find("\n---\n")
        .or_else(|| rest.strip_suffix("\n---").map(str::len))
    else {
        return (Vec::new(), 0);
    };
    let mut found = Vec::new();
    let mut offset = "---\n".len();
    for line in rest.get(..length).unwrap_or_default().split('\n') {
        if !line.trim().is_empty() {
            found.push(Node {
                kind: Kind::Line {
                    depth: 0,
                    opens: true,
                },
                text: Text::new(line).as_str().to_owned(),
                at: lines.place(offset),
                bytes: offset..offset + line.len(),
            });
        }
        offset += line.len() + 1;
    }
    (found, (offset + "---\n".len()).min(source.len()))
}

/// Where the lines that come next belong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Preamble,
    Known(Section),
    Header,
    Gaps,
    Extra,
}

struct Split {
    ledger: Ledger,
    target: Target,
    level: u8,
    sections: BTreeMap<Section, Vec<Node>>,
    /// The labelled line of a header that may go on below it.
    open: Option<(Section, u8)>,
    /// The span whose end is not known yet.
    open_span: Option<usize>,
    /// Heading and start of the body of the extra that is open, and its end once known.
    extras: Vec<(Text, usize, Option<usize>)>,
    /// May the title stand for the change id?
    title_names_change: bool,
}

impl Default for Split {
    fn default() -> Self {
        Self {
            ledger: Ledger::default(),
            target: Target::Preamble,
            level: 0,
            sections: BTreeMap::new(),
            open: None,
            open_span: None,
            extras: Vec::new(),
            title_names_change: false,
        }
    }
}

impl Split {
    fn nodes(&mut self, nodes: Vec<Node>) {
        for node in nodes {
            match node.kind {
                Kind::Heading(level) => self.heading(level, node),
                Kind::Item(_) | Kind::Line { .. } | Kind::Row { .. } | Kind::Code => {
                    self.body(node);
                }
            }
        }
    }

    fn heading(&mut self, level: u8, node: Node) {
        let (name, value) = match heading_name(&node.text) {
            Some((name, value)) => (Some(name), value),
            None => (None, ""),
        };
        if let Target::Known(section) = self.target {
            if level > self.level && (owns(section, &node.text) || name.is_none()) {
                return self.sections.entry(section).or_default().push(node);
            }
            if level > self.level && name == Some(Named::One(section)) {
                return;
            }
        }
        match name {
            Some(name) => self.begin_known(name, value, level, &node),
            None => self.begin_unknown(level, &node),
        }
    }

    fn begin_known(&mut self, name: Named, value: &str, level: u8, node: &Node) {
        self.end_span(node.bytes.start);
        self.level = level;
        self.open = None;
        self.target = match name {
            Named::One(section) => {
                self.span(section, node.at, Some(node.bytes.start));
                if !value.is_empty() {
                    self.line(section, value, node);
                }
                Target::Known(section)
            }
            Named::Header => Target::Header,
            Named::Gaps => Target::Gaps,
        };
    }

    fn begin_unknown(&mut self, level: u8, node: &Node) {
        let untitled = self.ledger.title.is_empty() && self.sections.is_empty();
        if self.target == Target::Preamble && level == 1 && untitled {
            self.ledger.title = decode(&node.text);
            self.title_names_change = !is_literal(&node.text);
            return;
        }
        if self.target == Target::Extra && level > self.level.max(2) {
            return; // part of the extra's body
        }
        self.end_span(node.bytes.start);
        self.level = level;
        self.target = Target::Extra;
        self.extras.push((decode(&node.text), node.bytes.end, None));
    }

    fn body(&mut self, node: Node) {
        match self.target {
            Target::Known(section) => self.sections.entry(section).or_default().push(node),
            Target::Extra => {}
            Target::Preamble | Target::Header | Target::Gaps => self.labelled(node),
        }
    }

    /// A line of the preamble, the header or the gaps: routed by its label.
    fn labelled(&mut self, node: Node) {
        match &node.kind {
            Kind::Row {
                head,
                header,
                cells,
            } => {
                let (head, header, cells) = (*head, header.clone(), cells.clone());
                self.labelled_row(head, &header, &cells, &node);
            }
            Kind::Item(depth) | Kind::Line { depth, .. } => {
                let depth = *depth;
                let new_block = matches!(node.kind, Kind::Line { opens: true, .. });
                if let Some((section, value)) = section_label(&node.text) {
                    self.span(section, node.at, None);
                    if !value.is_empty() {
                        self.line(section, value, &node);
                    }
                    self.open = Some((section, depth));
                    return;
                }
                match self.open {
                    Some((section, above))
                        if !new_block
                            && (depth > above || matches!(node.kind, Kind::Line { .. })) =>
                    {
                        self.sections.entry(section).or_default().push(node);
                    }
                    Some(_) | None => self.unlabelled(node),
                }
            }
            Kind::Code => match self.open {
                Some((section, _)) => self.sections.entry(section).or_default().push(node),
                None => self.ledger.preamble.push(Text::new(&as_code(&node.text))),
            },
            Kind::Heading(_) => {}
        }
    }

    fn unlabelled(&mut self, node: Node) {
        self.open = None;
        if self.target == Target::Gaps {
            if is_none_word(&node.text) {
                for section in [
                    Section::Limitations,
                    Section::Missing,
                    Section::Conflicting,
                    Section::Unresolved,
                ] {
                    self.line(section, &node.text, &node);
                }
            } else {
                self.sections
                    .entry(Section::Limitations)
                    .or_default()
                    .push(node);
            }
        } else if !node.text.is_empty() {
            self.ledger.preamble.push(decode(&node.text));
        }
    }

    fn labelled_row(&mut self, head: bool, header: &[String], cells: &[String], node: &Node) {
        let across = header.iter().filter(|cell| named(cell).is_some()).count() >= 2;
        if across {
            for (label, value) in header.iter().zip(cells).filter(|_| !head) {
                if let (Some(Named::One(section)), false) = (named(label), value.is_empty()) {
                    self.span(section, node.at, None);
                    self.line(section, value, node);
                }
            }
            return;
        }
        if let [label, value] = cells
            && let Some(Named::One(section)) = named(label)
        {
            self.span(section, node.at, None);
            return self.line(section, value, node);
        }
        if !head {
            // Any other row is a line like any other: what it says must not depend on its bars.
            self.open = None;
            let filled: Vec<_> = cells
                .iter()
                .map(String::as_str)
                .filter(|cell| !cell.is_empty())
                .collect();
            self.labelled(Node {
                kind: Kind::Line {
                    depth: 0,
                    opens: true,
                },
                text: filled.join(" — "),
                at: node.at,
                bytes: node.bytes.clone(),
            });
        }
    }

    /// Makes `text` a line of a section.
    fn line(&mut self, section: Section, text: &str, node: &Node) {
        self.sections.entry(section).or_default().push(Node {
            kind: Kind::Item(1),
            text: text.to_owned(),
            at: node.at,
            bytes: node.bytes.clone(),
        });
    }

    fn span(&mut self, section: Section, at: Place, start: Option<usize>) {
        // The end is known when the next section begins.
        let bytes = start.map(|start| start..start);
        if bytes.is_some() {
            self.open_span = Some(self.ledger.spans.0.len());
        }
        self.ledger.spans.0.push(Span { section, at, bytes });
    }

    fn end_span(&mut self, end: usize) {
        let open = self
            .open_span
            .take()
            .and_then(|index| self.ledger.spans.0.get_mut(index));
        if let Some(bytes) = open.and_then(|span| span.bytes.as_mut()) {
            bytes.end = end;
        }
        if let Some((_, _, open @ None)) = self.extras.last_mut() {
            *open = Some(end);
        }
    }

    fn finish(mut self, source: &str) -> Ledger {
        self.end_span(source.len());
        for (heading, start, end) in std::mem::take(&mut self.extras) {
            let body = source
                .get(start..end.unwrap_or(source.len()))
                .unwrap_or_default();
            let body = trim_blank_lines(body).to_owned();
            self.ledger.extras.push(Extra { heading, body });
        }
        for (section, nodes) in std::mem::take(&mut self.sections) {
            content::fill(&mut self.ledger, section, &nodes);
        }
        self.ledger.preamble.retain(|line| !line.is_empty());
        if self.ledger.change_id.is_none() && self.title_names_change {
            self.ledger.change_id = id_in_title(self.ledger.title.as_str()).map(Item::from);
        }
        self.ledger
    }
}

/// Does the sub-heading name a field of the section it stands in?
fn owns(section: Section, text: &str) -> bool {
    if section == Section::Checkpoint {
        return checkpoint::owns_heading(text);
    }
    section == Section::Risk && content::is_risk_reason(text)
}

/// What a heading names, and a value that stands behind the name.
pub(super) fn heading_name(text: &str) -> Option<(Named, &str)> {
    if is_literal(text) {
        return None;
    }
    if let Some(name) = named(text) {
        return Some((name, ""));
    }
    let found = label::split(text).filter(|found| found.clear)?;
    Some((named(found.label)?, found.value))
}

/// A labelled line that names a section.
pub(super) fn section_label(line: &str) -> Option<(Section, &str)> {
    let found = label::split(line)?;
    match named(found.label)? {
        Named::One(section) => Some((section, found.value)),
        Named::Header | Named::Gaps => None,
    }
}

fn trim_blank_lines(body: &str) -> &str {
    let mut rest = body.trim_end();
    while let Some((first, after)) = rest.split_once('\n') {
        if !first.trim().is_empty() {
            break;
        }
        rest = after;
    }
    rest
}

/// `# Evidence ledger: add-login` names the change where nothing else does.
pub(super) fn id_in_title(title: &str) -> Option<&str> {
    let (before, after) = [": ", "：", " — ", " – "]
        .into_iter()
        .find_map(|sign| title.split_once(sign))?;
    let before = fold(before);
    let ledger = before.ends_with("ledger") || before.ends_with("원장");
    Some(bare(after)).filter(|id| ledger && !id.is_empty())
}

/// Without code marks and emphasis.
pub(super) fn bare(text: &str) -> &str {
    text.trim().trim_matches(['`', '*']).trim()
}
