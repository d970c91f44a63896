//! Did only comments and white space change? Both versions are parsed with a real grammar, comments are
//! dropped and what remains is compared: the shape of the tree and the text of every token.
//!
//! INVARIANT: yes is a proof. A parse error, a directive, an odd line end, a size beyond the limits: no.

use super::directives::{is_directive, is_rust_doc};
use super::{Language, Patch};
use crate::domain::{FileChange, FileStatus};
use std::ops::ControlFlow;
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree, TreeCursor};

/// Largest text of one version, in bytes.
const MAX_BYTES: usize = 512 * 1024;
/// How often the parser may report progress before it is stopped (it reports every hundred steps).
const MAX_PROGRESS: usize = 200_000;
/// Comment blocks beyond this many bytes are not searched for directives: they count as code.
const MAX_COMMENT: usize = 64 * 1024;

/// What is left to spend on parsing for one pull request, in bytes.
#[derive(Debug, Clone)]
pub struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(8 * 1024 * 1024)
    }
}

impl Budget {
    /// So many bytes and no more.
    #[must_use]
    pub fn of_bytes(bytes: usize) -> Self {
        Self(bytes)
    }

    fn spend(&mut self, bytes: usize) -> bool {
        match self.0.checked_sub(bytes) {
            Some(left) => {
                self.0 = left;
                true
            }
            None => false,
        }
    }
}

/// The language by whose grammar only comments changed; `None` when something else changed or it cannot be
/// told.
#[must_use]
pub fn comment_only(file: &FileChange, budget: &mut Budget) -> Option<Language> {
    if file.status != FileStatus::Modified || file.previous_path.is_some() {
        return None;
    }
    let language = Language::of_path(&file.path)?;
    let (base, head) = (file.base_content.as_deref()?, file.head_content.as_deref()?);
    if base == head || Patch::of(file).is_err() {
        return None; // a change that is not in the text (a mode), or a diff nobody saw
    }
    if base.len().max(head.len()) > MAX_BYTES || !budget.spend(base.len() + head.len()) {
        return None;
    }
    if !is_plain(base) || !is_plain(head) {
        return None;
    }
    let same = language.grammars(&file.path).iter().all(|grammar| {
        let skeleton = |text| Skeleton::of(language, grammar, text);
        matches!((skeleton(base), skeleton(head)), (Some(a), Some(b)) if a == b)
    });
    same.then_some(language)
}

/// Only line ends and characters on which all readers of the language agree: a lone carriage return or U+2028
/// ends a comment for some of them, direction marks show other code than runs.
fn is_plain(text: &str) -> bool {
    let lone_return = text.replace("\r\n", "\n").contains('\r');
    !lone_return
        && !text.chars().any(|c| {
            matches!(c,
                '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
                | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
        })
}

/// One step of the walk through a tree without its comments.
#[derive(Debug, PartialEq, Eq)]
enum Step<'a> {
    /// A node with children begins.
    Open(u16),
    /// It ends.
    Close,
    /// A token, its text, and whether it begins a line where that matters.
    Token {
        kind: u16,
        text: &'a str,
        begins_line: bool,
    },
    /// Text that no token covers and that is not blank.
    Gap(&'a str),
    /// Comments that count as code: their lines without indentation, and how they stand to their neighbours.
    Directive {
        lines: Vec<&'a str>,
        rows_before: usize,
        rows_after: usize,
    },
}

/// A source text without comments and white space.
#[derive(Debug, PartialEq, Eq)]
struct Skeleton<'a>(Vec<Step<'a>>);

impl<'a> Skeleton<'a> {
    fn of(language: Language, grammar: &tree_sitter::Language, text: &'a str) -> Option<Self> {
        let tree = parse(grammar, text)?;
        let root = tree.root_node();
        if root.has_error() {
            return None;
        }
        let mut walk = Walk {
            language,
            text,
            steps: Vec::new(),
            end: 0,
            row: None,
            comments: Vec::new(),
            cgo: false,
        };
        walk.run(&mut tree.walk())?;
        walk.flush_comments(text.len(), root.end_position().row)?;
        (!walk.cgo).then_some(Self(walk.steps))
    }
}

fn parse(grammar: &tree_sitter::Language, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(grammar).ok()?;
    let mut ticks = 0_usize;
    let mut progress = |state: &ParseState| {
        ticks += 1;
        // An error ends the question; recovering from it is the slow part of parsing.
        if state.has_error() || ticks > MAX_PROGRESS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = text.as_bytes();
    parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        None,
        Some(options),
    )
}

struct Walk<'a> {
    language: Language,
    text: &'a str,
    steps: Vec<Step<'a>>,
    /// Where the last token or comment ended.
    end: usize,
    /// The row on which the last token ended; `None` before the first, which begins a line in any case.
    row: Option<usize>,
    /// The run of comments since the last token: first byte, last byte, first row, last row.
    comments: Vec<Comment>,
    /// Go: comments above `import "C"` are C code.
    cgo: bool,
}

#[derive(Clone, Copy)]
struct Comment {
    start: usize,
    end: usize,
    start_row: usize,
    end_row: usize,
    /// The row on which the token before the run ended.
    row_before: usize,
    /// Inside the arguments of a Rust macro, where a doc comment is a token.
    in_macro: bool,
}

impl Walk<'_> {
    /// Visits every node in order without recursion: depth is the author's to choose.
    fn run(&mut self, cursor: &mut TreeCursor<'_>) -> Option<()> {
        let mut macro_depth = 0_usize;
        loop {
            let node = cursor.node();
            let descend = if is_comment(node) {
                self.comment(node, macro_depth > 0)?;
                false
            } else if node.child_count() == 0 || is_atom(node) {
                self.token(node)?;
                false
            } else {
                self.open(node, &mut macro_depth);
                true
            };
            if descend && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Some(());
                }
                if cursor.node().kind() == "token_tree" {
                    macro_depth = macro_depth.saturating_sub(1);
                }
                self.steps.push(Step::Close);
            }
        }
    }

    fn open(&mut self, node: Node<'_>, macro_depth: &mut usize) {
        if node.kind() == "token_tree" {
            *macro_depth += 1;
        }
        self.steps.push(Step::Open(node.kind_id()));
    }

    fn comment(&mut self, node: Node<'_>, in_macro: bool) -> Option<()> {
        let comment = Comment {
            start: node.start_byte(),
            end: node.end_byte(),
            start_row: node.start_position().row,
            end_row: node.end_position().row,
            row_before: self.row.unwrap_or(0),
            in_macro,
        };
        self.gap(comment.start)?;
        self.comments.push(comment);
        self.end = self.end.max(comment.end);
        Some(())
    }

    fn token(&mut self, node: Node<'_>) -> Option<()> {
        let (start, end) = (node.start_byte(), node.end_byte());
        if start == end && node.is_extra() {
            return Some(());
        }
        let row = node.start_position().row;
        self.flush_comments(start, row)?;
        let text = self.text.get(start..end)?;
        if self.language == Language::Go && matches!(text, "\"C\"" | "`C`") {
            self.cgo = true;
        }
        self.steps.push(Step::Token {
            kind: node.kind_id(),
            text: if text.trim().is_empty() && !is_atom(node) {
                ""
            } else {
                text
            },
            begins_line: self.language.line_ends_matter()
                && start != end
                && self.row.is_none_or(|last| row > last),
        });
        self.end = self.end.max(end);
        self.row = self.row.max(Some(node.end_position().row));
        Some(())
    }

    /// Text before `start` that belongs to no token and no comment.
    fn gap(&mut self, start: usize) -> Option<()> {
        if start > self.end {
            let gap = self.text.get(self.end..start)?.trim();
            // A backslash before a line end joins lines: layout, not code.
            if !gap.is_empty() {
                self.steps.push(Step::Gap(gap));
            }
            self.end = start;
        }
        Some(())
    }

    /// Ends the run of comments before the token at `start` on `row`.
    fn flush_comments(&mut self, start: usize, row: usize) -> Option<()> {
        let run = std::mem::take(&mut self.comments);
        if let (Some(first), Some(last)) = (run.first(), run.last()) {
            let block = self.text.get(first.start..last.end)?;
            if self.counts_as_code(block, &run) {
                self.steps.push(Step::Directive {
                    lines: block.lines().map(str::trim).collect(),
                    rows_before: first.start_row.saturating_sub(first.row_before),
                    rows_after: row.saturating_sub(last.end_row),
                });
            }
        }
        self.gap(start)
    }

    fn counts_as_code(&self, block: &str, run: &[Comment]) -> bool {
        block.len() > MAX_COMMENT
            || is_directive(self.language, block)
            || (self.language == Language::Rust
                && run.iter().any(|comment| comment.in_macro)
                && is_rust_doc(block))
    }
}

fn is_comment(node: Node<'_>) -> bool {
    matches!(node.kind(), "comment" | "line_comment" | "block_comment")
}

/// Nodes compared by their whole text: white space inside them is meant, and not every grammar gives their
/// content tokens of its own.
fn is_atom(node: Node<'_>) -> bool {
    let kind = node.kind();
    [
        "string",
        "heredoc",
        "template",
        "regex",
        "char_literal",
        "preproc_arg",
        "text",
        "uninterpreted",
        "symbol",
        "subshell_cmd",
    ]
    .iter()
    .any(|atom| kind.contains(atom))
        && !matches!(
            kind,
            "template_declaration"
                | "template_parameter_list"
                | "template_argument_list"
                | "template_type"
                | "template_function"
                | "template_method"
                | "template_instantiation"
                | "template_template_parameter_declaration"
                | "template"
        )
}
