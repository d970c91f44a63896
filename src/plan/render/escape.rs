//! Text of a pull request made harmless. It stands in code spans or in a fenced block, where GitHub neither
//! mentions nor links nor closes anything.
//!
//! INVARIANT: what comes out of here is one line, shows every unseen character, and cannot begin a marker.

use crate::domain::is_unseen;
use std::fmt::Write as _;

/// One line in which nothing is hidden, of about `max` bytes at most: what is longer is cut between characters and
/// counted.
pub(crate) fn shown(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max) + 16);
    for (at, c) in text.char_indices() {
        if out.len() + c.len_utf8() > max {
            // Writing to a String cannot fail, here and below.
            let _ = write!(out, "… (+{} bytes)", text.len() - at);
            break;
        }
        match c {
            '\n' => out.push('⏎'),
            '\t' => out.push(' '),
            '\r' => {}
            // A marker begins with `<!`; nothing of a pull request may.
            '!' if out.ends_with('<') => out.push_str("\\!"),
            c if is_unseen(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// A code span of at most about `max` bytes.
pub(crate) fn code(text: &str, max: usize) -> String {
    let text = shown(text, max);
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

/// One line in which names stand in backticks, as the conditions of the gate write them: prose stays prose where it is
/// plain beyond doubt, and all of it becomes a code span where it is not.
pub(crate) fn sentence(text: &str, max: usize) -> String {
    let shown = shown(text, max);
    let parts: Vec<&str> = shown.split('`').collect();
    let is_plain = |part: &str| {
        !part.contains("//")
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || " .,:;()+-'/…".contains(c))
    };
    let balanced = parts.len() % 2 == 1;
    if !balanced || !parts.iter().step_by(2).all(|part| is_plain(part)) {
        return code(&shown, max.saturating_add(64));
    }
    parts
        .iter()
        .enumerate()
        .map(|(at, part)| match at % 2 {
            0 => (*part).to_owned(),
            _ => code(part, max),
        })
        .collect()
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
