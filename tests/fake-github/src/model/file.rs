//! One changed file of a pull request as a test describes it and as the files API lists it.

use std::sync::Arc;

/// GitHub leaves the patch out above these sizes.
const MAX_PATCH_BYTES: usize = 1024 * 1024;
const MAX_PATCH_LINES: usize = 20_000;
/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// A changed file. Build it with one of the constructors, then adjust; every member can be made to lie.
#[derive(Debug, Clone, Default)]
pub struct FileSpec {
    /// The path after the change.
    pub path: String,
    /// The path before a rename or copy.
    pub previous_path: Option<String>,
    /// GitHub's word: `added`, `modified`, `removed`, `renamed`, `copied`, `changed`, `unchanged`.
    pub status: String,
    /// Lines added.
    pub additions: u64,
    /// Lines removed.
    pub deletions: u64,
    /// The unified diff without file headers.
    pub patch: Option<String>,
    /// The bytes before the change.
    pub base: Option<Arc<[u8]>>,
    /// The bytes after the change.
    pub head: Option<Arc<[u8]>>,
}

impl FileSpec {
    /// A new file.
    pub fn added(path: &str, text: &str) -> Self {
        Self::between(path, "added", None, Some(text))
    }

    /// A file whose text changed.
    pub fn modified(path: &str, before: &str, after: &str) -> Self {
        Self::between(path, "modified", Some(before), Some(after))
    }

    /// A file that is gone.
    pub fn removed(path: &str, before: &str) -> Self {
        Self::between(path, "removed", Some(before), None)
    }

    /// A file with another path and the same text.
    pub fn renamed(from: &str, to: &str, text: &str) -> Self {
        let mut file = Self::between(to, "renamed", Some(text), Some(text));
        file.previous_path = Some(from.into());
        file
    }

    /// A binary file: no patch, no line counts.
    pub fn binary(path: &str, status: &str, bytes: &[u8]) -> Self {
        Self {
            path: path.into(),
            status: status.into(),
            head: Some(bytes.into()),
            ..Self::default()
        }
    }

    /// Only what the files API says, without contents.
    pub fn listed(
        path: &str,
        status: &str,
        additions: u64,
        deletions: u64,
        patch: Option<&str>,
    ) -> Self {
        Self {
            path: path.into(),
            status: status.into(),
            additions,
            deletions,
            patch: patch.map(Into::into),
            ..Self::default()
        }
    }

    /// The same without a patch, as for a diff that is too large.
    #[must_use]
    pub fn without_patch(mut self) -> Self {
        self.patch = None;
        self
    }

    /// The same with another status word.
    #[must_use]
    pub fn status(mut self, status: &str) -> Self {
        self.status = status.into();
        self
    }

    /// The same with a previous path.
    #[must_use]
    pub fn from_path(mut self, previous: &str) -> Self {
        self.previous_path = Some(previous.into());
        self
    }

    fn between(path: &str, status: &str, before: Option<&str>, after: Option<&str>) -> Self {
        let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
        let hunk = Hunk::between(old, new);
        Self {
            path: path.into(),
            previous_path: None,
            status: status.into(),
            additions: hunk.added.len() as u64,
            deletions: hunk.removed.len() as u64,
            patch: hunk.patch(),
            base: before.map(|text| text.as_bytes().into()),
            head: after.map(|text| text.as_bytes().into()),
        }
    }

    /// The patch as GitHub would list it: none for binary contents or a very large diff.
    pub(crate) fn listed_patch(&self) -> Option<&str> {
        let binary = [&self.base, &self.head]
            .into_iter()
            .flatten()
            .any(|bytes| bytes.contains(&0));
        let patch = self.patch.as_deref()?;
        let large = patch.len() > MAX_PATCH_BYTES || patch.lines().count() > MAX_PATCH_LINES;
        (!binary && !large).then_some(patch)
    }
}

/// One hunk that turns a text into another: everything between the common start and the common end.
struct Hunk<'a> {
    lead: Vec<&'a str>,
    removed: Vec<&'a str>,
    added: Vec<&'a str>,
    trail: Vec<&'a str>,
    start: usize,
}

impl<'a> Hunk<'a> {
    fn between(old: &'a str, new: &'a str) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let same_start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let shorter = old.len().min(new.len()) - same_start;
        let same_end = old
            .iter()
            .rev()
            .zip(new.iter().rev())
            .take(shorter)
            .take_while(|(a, b)| a == b)
            .count();
        let middle = |lines: &[&'a str]| -> Vec<&'a str> {
            lines
                .iter()
                .copied()
                .take(lines.len() - same_end)
                .skip(same_start)
                .collect()
        };
        let start = same_start.saturating_sub(CONTEXT);
        Self {
            lead: old.iter().copied().take(same_start).skip(start).collect(),
            removed: middle(&old),
            added: middle(&new),
            trail: old
                .iter()
                .copied()
                .skip(old.len() - same_end)
                .take(CONTEXT)
                .collect(),
            start,
        }
    }

    fn patch(&self) -> Option<String> {
        if self.removed.is_empty() && self.added.is_empty() {
            return None;
        }
        let around = self.lead.len() + self.trail.len();
        let range = |count: usize| {
            let first = if count == 0 {
                self.start
            } else {
                self.start + 1
            };
            format!("{first},{count}")
        };
        let head = format!(
            "@@ -{} +{} @@",
            range(around + self.removed.len()),
            range(around + self.added.len())
        );
        let marked = |mark: char, lines: &[&str]| {
            lines
                .iter()
                .map(|line| format!("{mark}{line}"))
                .collect::<Vec<_>>()
        };
        let lines = [
            vec![head],
            marked(' ', &self.lead),
            marked('-', &self.removed),
            marked('+', &self.added),
            marked(' ', &self.trail),
        ];
        Some(lines.concat().join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_in_the_middle_is_one_hunk_with_context() {
        let file = FileSpec::modified(
            "a",
            "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
            "1\n2\n3\n4\nV\n6\n7\n8\n9\n",
        );
        assert_eq!(
            file.patch.as_deref(),
            Some("@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+V\n 6\n 7\n 8")
        );
        assert_eq!((file.additions, file.deletions), (1, 1));
    }

    #[test]
    fn new_and_removed_files_start_at_line_zero_on_the_empty_side() {
        assert_eq!(
            FileSpec::added("a", "x\ny\n").patch.as_deref(),
            Some("@@ -0,0 +1,2 @@\n+x\n+y")
        );
        assert_eq!(
            FileSpec::removed("a", "x\n").patch.as_deref(),
            Some("@@ -1,1 +0,0 @@\n-x")
        );
        assert_eq!(FileSpec::renamed("a", "b", "x\n").patch, None);
    }

    #[test]
    fn binary_and_very_large_diffs_have_no_patch() {
        assert_eq!(FileSpec::modified("a", "\0", "\0\0").listed_patch(), None);
        let large = "line\n".repeat(MAX_PATCH_LINES + 1);
        assert_eq!(FileSpec::added("a", &large).listed_patch(), None);
    }
}
