//! The unified diff of one file, as GitHub gives it: hunks without file headers.
//!
//! INVARIANT: a [`Patch`] shows every changed line of its file. A diff that was left out or cut is an error,
//! never a shorter patch.

use crate::domain::FileChange;

/// One line of a hunk, without its marker and its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// Unchanged.
    Context(&'a str),
    /// Only in the new text.
    Added(&'a str),
    /// Only in the old text.
    Removed(&'a str),
}

impl<'a> Line<'a> {
    /// The text of the line.
    #[must_use]
    pub fn text(self) -> &'a str {
        match self {
            Self::Context(text) | Self::Added(text) | Self::Removed(text) => text,
        }
    }

    /// Is it added or removed?
    #[must_use]
    pub fn is_change(self) -> bool {
        match self {
            Self::Context(_) => false,
            Self::Added(_) | Self::Removed(_) => true,
        }
    }
}

/// A whole patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch<'a> {
    lines: Vec<Line<'a>>,
    /// Where each hunk ends in `lines`.
    ends: Vec<usize>,
}

/// Why the changed lines are not all known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.as_str())]
pub enum PatchError {
    /// GitHub gave none: binary, too large, or nothing to show.
    Missing,
    /// Its hunks do not hold the lines they announce, or not as many as GitHub counted.
    Incomplete,
    /// It is not a unified diff.
    Malformed,
}

/// Lines a hunk header announces and those that came, and the changed ones of all hunks.
#[derive(Default)]
struct Tally {
    old_left: i64,
    new_left: i64,
    adds_up: bool,
    added: u64,
    removed: u64,
}

impl PatchError {
    /// The words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "diff not given",
            Self::Incomplete => "diff incomplete",
            Self::Malformed => "diff not readable",
        }
    }
}

impl<'a> Patch<'a> {
    /// Reads the patch of a file.
    ///
    /// GitHub cuts large patches without saying so. The count of added and removed lines beside the patch is
    /// the witness: when it agrees every change was seen. Without that count the hunk headers must add up.
    ///
    /// # Errors
    /// The patch is absent, cut or not a diff.
    pub fn of(file: &'a FileChange) -> Result<Self, PatchError> {
        let text = file.patch.as_deref().filter(|text| !text.is_empty());
        let (patch, tally) = Self::parse(text.ok_or(PatchError::Missing)?)?;
        let counted = file.additions != 0 || file.deletions != 0;
        let complete = if counted {
            (tally.added, tally.removed) == (file.additions, file.deletions)
        } else {
            tally.adds_up
        };
        if complete {
            Ok(patch)
        } else {
            Err(PatchError::Incomplete)
        }
    }

    fn parse(text: &'a str) -> Result<(Self, Tally), PatchError> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let mut lines: Vec<Line<'a>> = Vec::with_capacity(text.len() / 32 + 8);
        let mut starts: Vec<usize> = Vec::new();
        let mut tally = Tally {
            adds_up: true,
            ..Tally::default()
        };
        for line in lines_of(text) {
            if let Some(header) = line.strip_prefix("@@ ") {
                let counts = header_counts(header).ok_or(PatchError::Malformed)?;
                tally.close();
                (tally.old_left, tally.new_left) = counts;
                starts.push(lines.len());
                continue;
            }
            if starts.is_empty() {
                return Err(PatchError::Malformed);
            }
            let rest = || line.get(1..).unwrap_or_default();
            let line = match line.as_bytes().first() {
                Some(b'+') => Line::Added(rest()),
                Some(b'-') => Line::Removed(rest()),
                Some(b' ') => Line::Context(rest()),
                None | Some(b'\r') => Line::Context(""), // a blank context line whose marker was trimmed away
                Some(b'\\') => continue,                 // "\ No newline at end of file"
                Some(_) => return Err(PatchError::Malformed),
            };
            tally.count(line);
            lines.push(line);
        }
        tally.close();
        let ends = starts.into_iter().skip(1).chain([lines.len()]).collect();
        Ok((Self { lines, ends }, tally))
    }

    /// The lines of each hunk in order.
    pub fn hunks(&self) -> impl Iterator<Item = &[Line<'a>]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, end)| self.lines.get(start..*end).unwrap_or_default())
    }

    /// All lines in order.
    pub fn lines(&self) -> impl Iterator<Item = Line<'a>> + '_ {
        self.lines.iter().copied()
    }

    /// Appends the added lines, one a line.
    pub fn push_added(&self, out: &mut String) {
        for line in self.lines() {
            if let Line::Added(text) = line {
                out.push_str(text);
                out.push('\n');
            }
        }
    }

    /// Appends the added and removed lines, one a line.
    pub fn push_changed(&self, out: &mut String) {
        for line in self.lines().filter(|line| line.is_change()) {
            out.push_str(line.text());
            out.push('\n');
        }
    }

    /// Is it the pin of a submodule, whose own diff nobody shows?
    #[must_use]
    pub fn is_submodule_pin(&self) -> bool {
        let mut changed = self.lines().filter(|line| line.is_change()).peekable();
        changed.peek().is_some()
            && changed.all(|line| {
                line.text()
                    .strip_prefix("Subproject commit ")
                    .is_some_and(|rest| {
                        let sha = rest.trim_end().trim_end_matches("-dirty");
                        matches!(sha.len(), 40 | 64) && sha.bytes().all(|b| b.is_ascii_hexdigit())
                    })
            })
    }
}

impl Tally {
    fn count(&mut self, line: Line<'_>) {
        match line {
            Line::Added(_) => {
                self.added += 1;
                self.new_left -= 1;
            }
            Line::Removed(_) => {
                self.removed += 1;
                self.old_left -= 1;
            }
            Line::Context(_) => {
                self.new_left -= 1;
                self.old_left -= 1;
            }
        }
    }

    fn close(&mut self) {
        self.adds_up &= self.old_left == 0 && self.new_left == 0;
    }
}

/// What `split('\n')` gives; diffs are the bulk of what is read, and `memchr` finds their line ends several times faster.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    ends.map(move |end| {
        // A line feed is never inside a character: the range is always one of `text`.
        let line = text.get(start..end).unwrap_or_default();
        start = end + 1;
        line
    })
}

/// `-1,2 +3,4 @@ …` to (2, 4); a count left out is 1.
fn header_counts(header: &str) -> Option<(i64, i64)> {
    let (ranges, _) = header.split_once(" @@")?;
    let (old, new) = ranges.split_once(' ')?;
    Some((
        range_count(old.strip_prefix('-')?)?,
        range_count(new.strip_prefix('+')?)?,
    ))
}

fn range_count(range: &str) -> Option<i64> {
    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
    start.parse::<u32>().ok()?;
    count.parse::<u32>().ok().map(i64::from)
}
