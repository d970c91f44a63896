//! Checks a chain, streaming, and names the first line that is not as it was written.

use super::chain::{self, GENESIS, Link};
use super::lines::Lines;
use crate::domain::Witness;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// A log whose every line is as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intact {
    /// How many entries.
    pub entries: u64,
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

/// Checks files in the order of the chain, from its first entry. `tail` is a witness kept elsewhere (the store, a check-run):
/// without one, lines cut off the end cannot be noticed. `progress` is told the number of entries so far.
///
/// # Errors
/// [`VerifyError::Broken`] names the first bad line; [`VerifyError::Unreadable`] a file.
pub fn verify(
    paths: &[PathBuf],
    tail: Option<&Witness>,
    mut progress: impl FnMut(u64),
) -> Result<Intact, VerifyError> {
    let mut intact = Intact {
        entries: 0,
        last: None,
    };
    let mut place = (PathBuf::new(), 1);
    for path in paths {
        let lines = check_file(path, tail, &mut intact, &mut progress)?;
        place = (path.clone(), lines + 1);
    }
    let found = intact.last.as_ref().map_or(0, |last| last.seq);
    match tail {
        Some(tail) if tail.seq > found => Err(VerifyError::Broken(Finding {
            file: place.0,
            line: place.1,
            fault: Fault::Truncated {
                found,
                known: tail.seq,
            },
        })),
        Some(_) | None => Ok(intact),
    }
}

fn check_file(
    path: &Path,
    tail: Option<&Witness>,
    intact: &mut Intact,
    progress: &mut impl FnMut(u64),
) -> Result<u64, VerifyError> {
    let unreadable = |source| VerifyError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(unreadable)?;
    let mut lines = Lines::new(BufReader::with_capacity(1 << 16, file));
    let mut number = 0;
    while let Some(line) = lines.next().map_err(unreadable)? {
        number = line.number;
        let checked = chain::link(line.bytes)
            .map_err(|error| Fault::NotAnEntry(error.to_string()))
            .and_then(|link| check(link, line.terminated, intact.last.as_ref(), tail));
        match checked {
            Ok(at) => intact.last = Some(at),
            Err(fault) => {
                return Err(VerifyError::Broken(Finding {
                    file: path.to_owned(),
                    line: number,
                    fault,
                }));
            }
        }
        intact.entries += 1;
        progress(intact.entries);
    }
    Ok(number)
}

fn check(
    link: Link,
    terminated: bool,
    before: Option<&Witness>,
    tail: Option<&Witness>,
) -> Result<Witness, Fault> {
    let seq = link.at.seq;
    let (expected, prev) = match before {
        Some(before) => (before.seq.saturating_add(1), before.hash.as_str()),
        None => (1, GENESIS),
    };
    if !link.sound {
        return Err(Fault::Edited(seq));
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
    if tail.is_some_and(|tail| tail.seq == seq && tail.hash != link.at.hash) {
        return Err(Fault::Rewritten(seq));
    }
    Ok(link.at)
}
