//! GitHub's limits, in bytes, as GitHub counts them whatever its documentation says.

use super::texts::{Texts, fill};

/// One text field of a check-run.
pub(crate) const CHECK_FIELD: usize = 65_535;
/// An Issue or comment body.
pub(crate) const ISSUE_BODY: usize = 65_536;
/// Kept free in a check-run's summary for what is known only after planning: the Issue, the witness.
pub(crate) const LATE_FILL: usize = 2_048;

/// Cuts at a line end, closes an open fence, and says how much is missing and where all of it is.
pub(crate) fn cut(text: &str, max: usize, whole: &str, texts: &Texts) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let total = text.lines().count();
    let note = |kept: usize| {
        let lines = total.saturating_sub(kept).to_string();
        fill(texts.cut, &[("lines", &lines), ("link", whole)])
    };
    // The note with the largest count, a fence to close and the line ends around them.
    let room = max.saturating_sub(note(0).len() + 64);
    let mut kept = String::new();
    let mut lines = 0;
    let mut fence: Option<String> = None;
    for line in text.lines() {
        if kept.len() + line.len() + 1 > room {
            break;
        }
        fence = next_fence(fence, line);
        kept.push_str(line);
        kept.push('\n');
        lines += 1;
    }
    if lines == 0 {
        // One line longer than the whole field: cut between characters.
        let first = text.lines().next().unwrap_or_default();
        kept.push_str(
            first
                .get(..first.floor_char_boundary(room))
                .unwrap_or_default(),
        );
        kept.push('\n');
    }
    if let Some(fence) = fence {
        kept.push_str(&fence);
        kept.push('\n');
    }
    kept.push('\n');
    kept.push_str(&note(lines));
    kept
}

/// The fence that is open after this line.
fn next_fence(open: Option<String>, line: &str) -> Option<String> {
    let run: String = line
        .chars()
        .take_while(|c| *c == '`' || *c == '~')
        .take(60)
        .collect();
    match open {
        None if run.len() >= 3 => Some(run),
        Some(fence)
            if run.len() >= fence.len() && run.starts_with(&fence) && line.trim_end() == run =>
        {
            None
        }
        open => open,
    }
}
