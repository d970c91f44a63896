//! What can be told from a diff: the changed lines, and whether only comments or only typos changed.
//!
//! Pure functions over text; nothing is fetched here. INVARIANT: whatever cannot be read for certain (a diff
//! that is cut, a grammar that stumbles, a size beyond the limits) is neither comment-only nor typo-only.

mod comment_only;
mod directives;
mod language;
mod patch;
mod typo_only;

pub use comment_only::{Budget, comment_only};
pub use language::Language;
pub use patch::{Line, Patch, PatchError};
pub use typo_only::typo_only;

use crate::domain::{FileChange, FileStatus};

/// Would [`comment_only`] need both contents of this file?
///
/// A cheap look at the patch, so that contents are fetched only where the answer can be yes: a modified
/// source file with a known grammar whose changed lines may all be comments or blank.
#[must_use]
pub fn wants_contents(file: &FileChange) -> bool {
    if file.status != FileStatus::Modified || file.previous_path.is_some() {
        return false;
    }
    let Some(language) = Language::of_path(&file.path) else {
        return false;
    };
    let Ok(patch) = Patch::of(file) else {
        return false;
    };
    patch.hunks().all(|hunk| may_be_comments(language, hunk))
}

/// Can all changed lines of the hunk be comments, blank, or code that only got or lost a comment at its end?
fn may_be_comments(language: Language, lines: &[Line<'_>]) -> bool {
    if lines.iter().any(|line| language.block_marker(line.text())) {
        return true;
    }
    let commented: Vec<&str> = lines
        .iter()
        .filter(|line| line.is_change() && language.may_be_comment(line.text()))
        .map(|line| line.text().trim())
        .collect();
    lines
        .iter()
        .filter(|line| line.is_change() && !language.may_be_comment(line.text()))
        .all(|line| {
            commented
                .iter()
                .any(|other| other.starts_with(line.text().trim()))
        })
}

#[cfg(test)]
mod tests;
