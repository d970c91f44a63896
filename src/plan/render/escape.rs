//! Text of a pull request made harmless. It stands in code spans or in a fenced block, where GitHub neither
//! mentions nor links nor closes anything.
//!
//! INVARIANT: what comes out of here is one line, shows every unseen character, and cannot begin a marker.

use crate::domain::is_unseen;
use std::fmt::Write as _;

/// One line in which nothing is hidden.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push('⏎'),
            '\t' => out.push(' '),
            '\r' => {}
            c if is_unseen(c) => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.replace("<!", "<\\!")
}

/// At most so many bytes, cut between characters, with the number of bytes left out.
pub(crate) fn clip(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let kept = text
        .get(..text.floor_char_boundary(max))
        .unwrap_or_default();
    format!("{kept}… (+{} bytes)", text.len() - kept.len())
}

/// A code span of at most about `max` bytes.
pub(crate) fn code(text: &str, max: usize) -> String {
    let text = clip(&visible(text), max);
    if text.trim().is_empty() {
        return format!("`{}`", "·".repeat(text.chars().count().max(1)));
    }
    let ticks = "`".repeat(longest_run(&text, '`') + 1);
    // A blank on each side is dropped by Markdown, and keeps backticks at the ends apart.
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// A code span for a table cell.
pub(crate) fn cell(text: &str, max: usize) -> String {
    // A backslash before a bar would escape our own escape.
    code(&text.replace("\\|", "\\ |"), max).replace('|', "\\|")
}

/// Lines as a fenced block that they cannot end.
pub(crate) fn fenced(lines: &str) -> String {
    let fence = "`".repeat(longest_run(lines, '`').max(2) + 1);
    format!("{fence}text\n{}\n{fence}", lines.trim_end())
}

/// `owner/name` in prose: its characters are few, only `_` means something to Markdown.
pub(crate) fn plain_name(name: &str) -> String {
    name.replace('_', "\\_")
}

fn longest_run(text: &str, wanted: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
