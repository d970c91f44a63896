//! Markdown as a flat list of headings, items, lines, table rows and code blocks with their places.
//!
//! The parser decides what is a heading, a list or code; the text of each node is the source as written, so that
//! nothing a person typed is re-rendered. HTML blocks and comments are dropped.

use crate::evidence::text::{Place, Text};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;
use std::rc::Rc;

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A heading outside lists and quotes.
    Heading(u8),
    /// The first line of a list item; lists nest from 1.
    Item(u8),
    /// Another line, inside so many lists. `opens`: the first line of a paragraph.
    Line {
        /// How many lists it stands in.
        depth: u8,
        /// Does it begin a paragraph?
        opens: bool,
    },
    /// A row of a table.
    Row {
        /// Is it the head?
        head: bool,
        /// The head's cells.
        header: Rc<Vec<String>>,
        /// Its cells.
        cells: Vec<String>,
    },
    /// A code block; the text keeps its line breaks.
    Code,
}

/// One node.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// What it is.
    pub kind: Kind,
    /// The source of its line, or the content of a code block; empty for rows.
    pub text: String,
    /// Where it begins.
    pub at: Place,
    /// Its bytes (headings: the whole heading).
    pub bytes: Range<usize>,
}

/// Line starts, to turn offsets into places.
pub(super) struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(source: &'a str) -> Self {
        let breaks = source.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            source,
            starts: std::iter::once(0).chain(breaks).collect(),
        }
    }

    pub(super) fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self
            .starts
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or(0);
        let before = self.source.get(start..offset).unwrap_or_default();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Place {
            line: count(line),
            column: count(before.chars().count() + 1),
        }
    }
}

/// Reads the nodes of `source` from byte `from` on.
pub(super) fn nodes(source: &str, from: usize, lines: &Lines<'_>) -> Vec<Node> {
    let body = source.get(from..).unwrap_or_default();
    let mut walk = Walk {
        source,
        lines,
        nodes: Vec::new(),
        run: None,
        lists: 0,
        quotes: 0,
        item_open: false,
        paragraph_open: false,
        heading: None,
        table: None,
        code: None,
        html: false,
    };
    for (event, range) in Parser::new_ext(body, Options::ENABLE_TABLES).into_offset_iter() {
        walk.event(event, range.start + from..range.end + from);
    }
    walk.flush();
    walk.nodes
}

struct Table {
    header: Rc<Vec<String>>,
    head: bool,
    cells: Vec<String>,
}

struct Walk<'a> {
    source: &'a str,
    lines: &'a Lines<'a>,
    nodes: Vec<Node>,
    run: Option<Range<usize>>,
    lists: u8,
    quotes: u8,
    item_open: bool,
    paragraph_open: bool,
    heading: Option<(u8, Range<usize>)>,
    table: Option<Table>,
    code: Option<(String, usize)>,
    html: bool,
}

impl Walk<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(&tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) if self.code.is_some() => {
                if let Some((code, _)) = &mut self.code {
                    code.push_str(&text);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if self.heading.is_none() {
                    self.flush();
                }
            }
            Event::Html(_) | Event::Rule => {}
            Event::Text(_)
            | Event::Code(_)
            | Event::InlineHtml(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => self.touch(range),
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. } => return self.touch(range),
            _ => self.flush(),
        }
        match tag {
            Tag::Heading { level, .. } if self.lists == 0 && self.quotes == 0 => {
                self.heading = Some((*level as u8, range));
            }
            Tag::List(_) => self.lists = self.lists.saturating_add(1),
            Tag::Item => self.item_open = true,
            Tag::Paragraph => self.paragraph_open = true,
            Tag::BlockQuote(_) => self.quotes = self.quotes.saturating_add(1),
            Tag::CodeBlock(_) => self.code = Some((String::new(), range.start)),
            Tag::HtmlBlock => self.html = true,
            Tag::Table(_) => {
                self.table = Some(Table {
                    header: Rc::default(),
                    head: false,
                    cells: Vec::new(),
                });
            }
            Tag::TableHead => self.row(true),
            Tag::TableRow => self.row(false),
            _ => {}
        }
    }

    fn row(&mut self, head: bool) {
        if let Some(table) = &mut self.table {
            table.head = head;
            table.cells = Vec::new();
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image => return,
            TagEnd::TableCell => return self.cell(),
            _ => self.flush(),
        }
        match tag {
            TagEnd::Heading(_) => {
                // An empty heading has no run; it is a heading all the same.
                if let Some((level, bytes)) = self.heading.take() {
                    self.push(Kind::Heading(level), String::new(), bytes);
                }
            }
            TagEnd::List(_) => {
                self.lists = self.lists.saturating_sub(1);
                self.item_open = false;
            }
            TagEnd::Item => self.item_open = false,
            TagEnd::Paragraph => self.paragraph_open = false,
            TagEnd::BlockQuote(_) => self.quotes = self.quotes.saturating_sub(1),
            TagEnd::CodeBlock => {
                if let Some((code, start)) = self.code.take() {
                    self.item_open = false;
                    self.push(Kind::Code, code, start..range.end);
                }
            }
            TagEnd::HtmlBlock => self.html = false,
            TagEnd::Table => self.table = None,
            TagEnd::TableHead | TagEnd::TableRow => self.end_row(range),
            _ => {}
        }
    }

    fn end_row(&mut self, range: Range<usize>) {
        let Some(table) = &mut self.table else { return };
        let cells = std::mem::take(&mut table.cells);
        let head = table.head;
        if head {
            table.header = Rc::new(cells.clone());
        }
        let header = Rc::clone(&table.header);
        self.push(
            Kind::Row {
                head,
                header,
                cells,
            },
            String::new(),
            range,
        );
    }

    fn cell(&mut self) {
        let raw = self
            .run
            .take()
            .map(|run| self.slice(run))
            .unwrap_or_default();
        if let Some(table) = &mut self.table {
            table
                .cells
                .push(Text::new(&raw.replace("\\|", "|")).as_str().to_owned());
        }
    }

    /// Makes an inline event part of the line that is being read.
    fn touch(&mut self, range: Range<usize>) {
        if self.html {
            return;
        }
        if let Some(run) = &mut self.run {
            run.end = run.end.max(range.end);
        } else {
            // An escaped first character is reported without its backslash.
            let escaped =
                range.start > 0 && self.source.as_bytes().get(range.start - 1) == Some(&b'\\');
            let start = if escaped {
                range.start - 1
            } else {
                range.start
            };
            self.run = Some(start..range.end);
        }
    }

    fn flush(&mut self) {
        let Some(run) = self.run.take() else { return };
        let text = Text::new(&self.slice(run.clone()));
        if let Some((level, bytes)) = self.heading.take() {
            let text = text.as_str().trim_end_matches(['#', ' ']).to_owned();
            return self.push(Kind::Heading(level), text, bytes);
        }
        let text = unescape_first(text.as_str());
        let kind = if self.item_open {
            Kind::Item(self.lists)
        } else {
            Kind::Line {
                depth: self.lists,
                opens: self.paragraph_open,
            }
        };
        self.item_open = false;
        self.paragraph_open = false;
        self.push(kind, text, run);
    }

    fn slice(&self, run: Range<usize>) -> String {
        self.source.get(run).unwrap_or_default().to_owned()
    }

    fn push(&mut self, kind: Kind, text: String, bytes: Range<usize>) {
        let at = self.lines.place(bytes.start);
        self.nodes.push(Node {
            kind,
            text,
            at,
            bytes,
        });
    }
}

/// Code as one line of text: a code span whose fence no part of it can close.
pub(super) fn as_code(code: &str) -> String {
    let line = Text::new(code);
    let longest = line.as_str().split(|c| c != '`').map(str::len).max();
    match longest.unwrap_or(0) {
        _ if line.is_empty() => String::new(),
        0 => format!("`{line}`"),
        longest => {
            let fence = "`".repeat(longest + 1);
            format!("{fence} {line} {fence}")
        }
    }
}

/// Takes away the backslash that [`escape_first`] put in.
fn unescape_first(line: &str) -> String {
    if let Some(rest) = line.strip_prefix('\\')
        && rest.starts_with(|c: char| c.is_ascii_punctuation())
    {
        return rest.to_owned();
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=9).contains(&digits)
        && let (Some(number), Some(rest)) = (line.get(..digits), line.get(digits..))
        && let Some(rest) = rest.strip_prefix('\\')
        && rest.starts_with(['.', ')', '\\'])
    {
        return format!("{number}{rest}");
    }
    line.to_owned()
}

/// Writes a line so that it begins no block but a paragraph, whatever its first characters are.
pub(super) fn escape_first(line: &str) -> String {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=9).contains(&digits) {
        if let (Some(number), Some(rest)) = (line.get(..digits), line.get(digits..))
            && rest.starts_with(['.', ')', '\\'])
        {
            return format!("{number}\\{rest}");
        }
        return line.to_owned();
    }
    if begins_block(line) {
        format!("\\{line}")
    } else {
        line.to_owned()
    }
}

fn begins_block(line: &str) -> bool {
    let mut chars = line.chars();
    let first = chars.next().unwrap_or(' ');
    let second = chars.next();
    let bullet = matches!(second, None | Some(' '));
    let rule = line
        .chars()
        .all(|c| matches!(c, '-' | '*' | '_' | '=' | '+' | ' '));
    match first {
        '#' | '>' | '<' | '|' => true,
        '-' | '+' | '*' => bullet || rule,
        '_' | '=' => rule,
        '[' => line.contains("]:"),
        '~' => line.starts_with("~~~"),
        '`' => line.starts_with("```"),
        '\\' => second.is_some_and(|c| c.is_ascii_punctuation()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Vec<(Kind, String, u32)> {
        let lines = Lines::of(source);
        nodes(source, 0, &lines)
            .into_iter()
            .map(|node| (node.kind, node.text, node.at.line))
            .collect()
    }

    #[test]
    fn escapes_come_back() {
        for line in [
            "# a", "- a", "1. a", "1\\. a", "\\# a", "<b>", "***", "```x", "> q", "[a]: b", "+",
            "9) x", "\\", "_ _ _", "| a |",
        ] {
            let nodes = read(&format!("- {}\n", escape_first(line)));
            assert_eq!(nodes, [(Kind::Item(1), line.to_owned(), 1)], "{line}");
        }
    }

    #[test]
    fn lines_keep_their_source() {
        let nodes = read("> a **b**\n> c `d`\n\n- x\n  y\n  - z\n");
        let expected = [
            (
                Kind::Line {
                    depth: 0,
                    opens: true,
                },
                "a **b**".to_owned(),
                1,
            ),
            (
                Kind::Line {
                    depth: 0,
                    opens: false,
                },
                "c `d`".to_owned(),
                2,
            ),
            (Kind::Item(1), "x".to_owned(), 4),
            (
                Kind::Line {
                    depth: 1,
                    opens: false,
                },
                "y".to_owned(),
                5,
            ),
            (Kind::Item(2), "z".to_owned(), 6),
        ];
        assert_eq!(nodes, expected);
    }
}
