//! Checks a chain, streaming, and names the first line that is not as it was written.

use super::chain::{self, GENESIS, Link};
use super::lines::Lines;
use super::segments::LogFile;
use crate::domain::Witness;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// A log whose every line is as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intact {
    /// How many entries.
    pub entries: u64,
    /// The first one; `None` when there is none.
    pub first: Option<Witness>,
    /// The last one; `None` when there is none.
    pub last: Option<Witness>,
}

/// The first thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: {fault}", file.display())]
pub struct Finding {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; for a truncation the line that should be the next one.
    pub line: u64,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What can be wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Not an entry at all.
    #[error("the line {0}")]
    NotAnEntry(String),
    /// The text is not what its hash was made of.
    #[error("entry {0} was edited: its text does not have the hash it states")]
    Edited(u64),
    /// Entries are missing before this one.
    #[error("entry {found} stands where entry {expected} should: {} missing", missing(*expected, *found))]
    Gap {
        /// The number that should stand here.
        expected: u64,
        /// The number that does.
        found: u64,
    },
    /// An earlier number stands here.
    #[error("entry {found} stands where entry {expected} should: lines were reordered or repeated")]
    Order {
        /// The number that should stand here.
        expected: u64,
        /// The number that does.
        found: u64,
    },
    /// The number is right, the chain is not.
    #[error("entry {0} does not follow from the line before it: the line before it was replaced")]
    Chain(u64),
    /// The line end is missing.
    #[error("entry {0} has no line end: the file was cut")]
    NoLineEnd(u64),
    /// The log ends before the entry that a witness knows.
    #[error(
        "the log ends at entry {found}, a witness knows entry {known}: lines were cut off the end"
    )]
    Truncated {
        /// The last entry of the log, 0 if none.
        found: u64,
        /// The entry of the witness.
        known: u64,
    },
    /// The log has another entry at the place that a witness knows.
    #[error("entry {0} is not the one a witness knows: the log was rewritten")]
    Rewritten(u64),
    /// The log goes on after the entry that an export ends with.
    #[error("entry {found} follows, but the export ends with entry {last}")]
    Beyond {
        /// The last entry by the manifest.
        last: u64,
        /// The entry that follows.
        found: u64,
    },
}

impl Fault {
    /// A word for machines; never changes.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAnEntry(_) => "not_an_entry",
            Self::Edited(_) => "edited",
            Self::Gap { .. } => "gap",
            Self::Order { .. } => "order",
            Self::Chain(_) => "chain",
            Self::NoLineEnd(_) => "no_line_end",
            Self::Truncated { .. } => "truncated",
            Self::Rewritten(_) => "rewritten",
            Self::Beyond { .. } => "beyond",
        }
    }
}

fn missing(expected: u64, found: u64) -> String {
    match found.saturating_sub(expected) {
        1 => format!("entry {expected} is"),
        _ => format!("entries {expected} to {} are", found.saturating_sub(1)),
    }
}

/// Why there is no answer, or the answer no.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The log is not intact.
    #[error(transparent)]
    Broken(#[from] Finding),
    /// A file cannot be read.
    #[error("audit file `{}` cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What is known of a chain from elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// The entry before the first one; `None`: the chain begins with entry 1.
    pub before: Option<Witness>,
    /// Entries that must be there as they are known (from the store, a check-run): without one, lines cut off the end
    /// cannot be noticed.
    pub witnesses: Vec<Witness>,
    /// The entry after which nothing may follow, if there is such a one.
    pub ends_with: Option<u64>,
}

/// How far a check has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Entries that were checked.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Checks files in the order of the chain, from its first entry. `tail` is a witness kept elsewhere; `progress` is told
/// the number of entries so far.
///
/// # Errors
/// [`VerifyError::Broken`] names the first bad line; [`VerifyError::Unreadable`] a file.
pub fn verify(
    files: &[LogFile],
    tail: Option<&Witness>,
    mut progress: impl FnMut(u64),
) -> Result<Intact, VerifyError> {
    let expected = Expected {
        witnesses: tail.cloned().into_iter().collect(),
        ..Expected::default()
    };
    verify_chain(files, &expected, |now| progress(now.entries))
}

/// Checks files in the order of the chain against what is known of it.
///
/// # Errors
/// [`VerifyError::Broken`] names the first bad line; [`VerifyError::Unreadable`] a file.
pub fn verify_chain(
    files: &[LogFile],
    expected: &Expected,
    mut progress: impl FnMut(Progress),
) -> Result<Intact, VerifyError> {
    walk(files, expected, |_, now| {
        progress(now);
        Ok(())
    })
}

/// A line that was checked.
pub(super) struct Checked<'a> {
    /// Its place.
    pub at: &'a Witness,
    /// The stated hash of the entry before it.
    pub prev: &'a str,
    /// Its bytes without the line end.
    pub line: &'a [u8],
}

/// Checks every line and hands it on.
pub(super) fn walk<E: From<VerifyError>>(
    files: &[LogFile],
    expected: &Expected,
    mut each: impl FnMut(Checked<'_>, Progress) -> Result<(), E>,
) -> Result<Intact, E> {
    let mut now = Progress::default();
    let (mut first, mut last) = (None, expected.before.clone());
    let mut place = (PathBuf::new(), 1);
    for file in files {
        let path = file.path();
        let unreadable = |source| VerifyError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let open = file.open().map_err(unreadable)?;
        let mut lines = Lines::new(BufReader::with_capacity(1 << 16, open));
        place = (path.to_owned(), 1);
        while let Some(line) = lines.next().map_err(unreadable)? {
            let link = chain::link(line.bytes)
                .map_err(|error| Fault::NotAnEntry(error.to_string()))
                .and_then(|link| check(link, line.terminated, last.as_ref(), expected))
                .map_err(|fault| broken(path, line.number, fault))?;
            now.entries += 1;
            now.bytes += u64::try_from(line.bytes.len()).unwrap_or(0) + 1;
            let checked = Checked {
                at: &link.at,
                prev: &link.prev,
                line: line.bytes,
            };
            each(checked, now)?;
            place.1 = line.number + 1;
            first.get_or_insert_with(|| link.at.clone());
            last = Some(link.at);
        }
    }
    let found = last.as_ref().map_or(0, |last| last.seq);
    let known = expected.witnesses.iter().map(|one| one.seq).max();
    match known {
        Some(known) if known > found => {
            Err(broken(&place.0, place.1, Fault::Truncated { found, known }).into())
        }
        Some(_) | None => Ok(Intact {
            entries: now.entries,
            last: first.as_ref().and(last),
            first,
        }),
    }
}

fn broken(file: &Path, line: u64, fault: Fault) -> VerifyError {
    VerifyError::Broken(Finding {
        file: file.to_owned(),
        line,
        fault,
    })
}

fn check(
    link: Link,
    terminated: bool,
    before: Option<&Witness>,
    known: &Expected,
) -> Result<Link, Fault> {
    let seq = link.at.seq;
    let (expected, prev) = match before {
        Some(before) => (before.seq.saturating_add(1), before.hash.as_str()),
        None => (1, GENESIS),
    };
    if !link.sound {
        return Err(Fault::Edited(seq));
    }
    if let Some(last) = known.ends_with
        && expected > last
    {
        return Err(Fault::Beyond { last, found: seq });
    }
    if seq > expected {
        return Err(Fault::Gap {
            expected,
            found: seq,
        });
    }
    if seq < expected {
        return Err(Fault::Order {
            expected,
            found: seq,
        });
    }
    if link.prev != prev {
        return Err(Fault::Chain(seq));
    }
    if !terminated {
        return Err(Fault::NoLineEnd(seq));
    }
    let rewritten = |one: &Witness| one.seq == seq && one.hash != link.at.hash;
    if known.witnesses.iter().any(rewritten) {
        return Err(Fault::Rewritten(seq));
    }
    Ok(link)
}
