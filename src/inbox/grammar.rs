//! Where commands stand in a comment's Markdown. A real parser decides what is a paragraph, code, a quote or a
//! comment; nothing here knows who wrote it.
//!
//! INVARIANT: a command is a whole line of the source and a whole line of what readers see, both the same.

use crate::domain::Choice;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// GitHub takes 65,536 characters; four bytes each at most.
const MAX_BYTES: usize = 4 * 65_536;

/// What a comment holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// Every command, in order.
    pub commands: Vec<Choice>,
    /// A line that begins like a command and is none.
    pub near: bool,
    /// Lines that are `APPROVE` and nothing else.
    pub approve_lines: usize,
    /// The whole comment is `APPROVE`.
    pub approve_alone: bool,
    /// What a reader sees, where it is nothing but words (quotes and invisible parts left out).
    pub said_only: Option<String>,
}

/// Reads a comment; `None` when it is longer than any comment on GitHub.
pub(super) fn words(source: &str) -> Option<Words> {
    if source.len() > MAX_BYTES {
        return None;
    }
    let mut scan = Scan::new(source);
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        scan.event(event, range.start);
    }
    Some(scan.finish())
}

/// What GitHub's Markdown has beyond the common one, as far as it changes what is a paragraph.
fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM
        | Options::ENABLE_MATH
}

/// One line of a paragraph, as readers see it.
#[derive(Default)]
struct Line {
    text: String,
    /// Where its first text stands in the source.
    at: Option<usize>,
    /// It begins with code, HTML or struck text.
    opaque: bool,
    /// It has anything but plain text.
    dressed: bool,
}

struct Scan<'a> {
    source: &'a str,
    found: Words,
    /// Blocks around the present place, and HTML elements left open by HTML blocks.
    depth: usize,
    html_depth: usize,
    in_html: bool,
    in_paragraph: bool,
    inline_depth: usize,
    line: Line,
    seen: String,
    only_words: bool,
}

impl<'a> Scan<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            source,
            found: Words::default(),
            depth: 0,
            html_depth: 0,
            in_html: false,
            in_paragraph: false,
            inline_depth: 0,
            line: Line::default(),
            seen: String::new(),
            only_words: true,
        }
    }

    fn event(&mut self, event: Event<'_>, at: usize) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Html(html) if self.in_html => {
                if self.depth == 0 {
                    self.html_depth = open_elements(&html, self.html_depth);
                }
            }
            Event::Text(text) if self.in_paragraph => self.text(&text, at),
            Event::SoftBreak | Event::HardBreak if self.in_paragraph => self.flush(),
            Event::InlineHtml(_) if self.in_paragraph => self.opaque(false),
            Event::Code(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::Html(_)
            | Event::InlineHtml(_)
                if self.in_paragraph =>
            {
                self.opaque(true);
            }
            Event::Rule => self.only_words = false,
            Event::Text(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::Code(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::Html(_)
            | Event::InlineHtml(_) => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        if self.in_paragraph {
            self.inline_depth += 1;
            self.line.dressed = true;
            if matches!(tag, Tag::Strikethrough) {
                self.opaque(true);
            }
            return;
        }
        match tag {
            Tag::Paragraph if self.depth == 0 && self.html_depth == 0 => self.in_paragraph = true,
            Tag::HtmlBlock => self.in_html = true,
            Tag::BlockQuote(_) => self.depth += 1,
            // Every other block, now and in later versions of the parser, is no top-level paragraph.
            _ => {
                self.only_words &= self.depth > 0;
                self.depth += 1;
            }
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph if self.in_paragraph => {
                self.flush();
                self.in_paragraph = false;
                self.inline_depth = 0;
            }
            TagEnd::HtmlBlock => self.in_html = false,
            _ if self.in_paragraph => self.inline_depth = self.inline_depth.saturating_sub(1),
            _ => self.depth = self.depth.saturating_sub(1),
        }
    }

    fn text(&mut self, text: &str, at: usize) {
        self.line.at.get_or_insert(at);
        self.line.dressed |= self.inline_depth > 0;
        self.line.text.push_str(text);
    }

    fn opaque(&mut self, seen: bool) {
        self.line.opaque |= self.line.text.trim().is_empty();
        self.line.dressed = true;
        self.only_words &= !seen;
    }

    /// Judges the line that ends here.
    fn flush(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.line.dressed = self.inline_depth > 0;
        self.seen.push_str(&line.text);
        self.seen.push('\n');
        let Some(at) = line.at else { return };
        if line.opaque {
            return;
        }
        let text = line.text.trim_matches(BLANKS);
        let raw = physical_line(self.source, at).trim_matches(BLANKS);
        let same = !line.dressed && text == raw;
        match command(text) {
            Some(choice) if same => self.found.commands.push(choice),
            Some(_) => self.found.near = true,
            None if like_a_command(text) => self.found.near = true,
            None if same && text == "APPROVE" => self.found.approve_lines += 1,
            None => {}
        }
    }

    fn finish(mut self) -> Words {
        let whole = self.source.trim_matches([' ', '\t', '\r', '\n']);
        self.found.approve_alone = whole == "APPROVE" && self.found.approve_lines == 1;
        self.found.said_only = self.only_words.then_some(self.seen);
        self.found
    }
}

const BLANKS: [char; 2] = [' ', '\t'];

fn command(line: &str) -> Option<Choice> {
    let mut words = line.split(BLANKS).filter(|word| !word.is_empty());
    let verb = words.next()?;
    let letter = words.next();
    if words.next().is_some() {
        return None;
    }
    match letter {
        None if verb.eq_ignore_ascii_case("/reject") => Some(Choice::Reject),
        Some(letter) if verb.eq_ignore_ascii_case("/approve") => match letter {
            "A" | "a" => Some(Choice::ApproveA),
            "B" | "b" => Some(Choice::ApproveB),
            "C" | "c" => Some(Choice::Defer),
            _ => None,
        },
        _ => None,
    }
}

fn like_a_command(line: &str) -> bool {
    ["/approve", "/reject"].iter().any(|verb| {
        line.get(..verb.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(verb))
    })
}

/// The source line around a byte offset, without its line end.
fn physical_line(source: &str, at: usize) -> &str {
    let (before, after) = source.split_at_checked(at).unwrap_or((source, ""));
    let head = before.rsplit(['\n', '\r']).next().unwrap_or_default();
    let tail = after.split(['\n', '\r']).next().unwrap_or_default();
    let start = at.saturating_sub(head.len());
    source.get(start..at + tail.len()).unwrap_or_default()
}

/// Elements that are open after this piece of an HTML block. Those whose end may be left out do not count.
fn open_elements(html: &str, before: usize) -> usize {
    const ENDLESS: [&str; 15] = [
        "br", "hr", "img", "input", "wbr", "source", "col", "area", "p", "li", "td", "tr", "th",
        "dt", "dd",
    ];
    let mut depth = before;
    let mut rest = html;
    while let Some((_, tail)) = rest.split_once('<') {
        if let Some(comment) = tail.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let (closing, tail) = match tail.strip_prefix('/') {
            Some(tail) => (true, tail),
            None => (false, tail),
        };
        let name: String = tail
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .take(16)
            .collect::<String>()
            .to_ascii_lowercase();
        if !name.is_empty() && !ENDLESS.contains(&name.as_str()) {
            depth = if closing {
                depth.saturating_sub(1)
            } else {
                depth + 1
            };
        }
        rest = tail;
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_comment_is_read_in_bounded_time() {
        for unit in [
            "> ",
            "- ",
            "[",
            "*a ",
            "`",
            "<!--",
            "/approve A\n",
            "[a](",
            "<b>",
            "|a",
            "$$",
            "~~",
        ] {
            let body = unit.repeat(65_536 / unit.len());
            assert!(words(&body).is_some(), "{unit}");
        }
        assert!(words(&"x".repeat(MAX_BYTES + 1)).is_none());
    }

    #[test]
    fn the_source_line_is_found_whatever_the_line_end() {
        assert_eq!(physical_line("a\r\nbc\r\nd", 4), "bc");
        assert_eq!(physical_line("a\rbc\rd", 2), "bc");
        assert_eq!(physical_line("bc", 0), "bc");
    }
}
