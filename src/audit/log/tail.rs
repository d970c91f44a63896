//! What stands at the end of a file after a crash, and putting it right.
//!
//! INVARIANT: a readable entry is never removed. What is moved aside is kept, byte for byte, in the `.torn` file.

use super::Warning;
use crate::audit::chain::{self, GENESIS, Link};
use crate::audit::lines::Lines;
use crate::domain::Witness;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What one file holds.
pub(super) struct Contents {
    /// Bytes of whole lines.
    pub len: u64,
    /// Number of the first readable entry.
    pub first_seq: Option<u64>,
    /// The last readable entry.
    pub last: Option<Witness>,
    /// All readable entries, oldest first.
    pub decisions: Vec<Link>,
}

/// The end of a file.
enum End {
    /// A line end.
    Clean,
    /// A whole entry without its line end.
    Unterminated(u64),
    /// Bytes from this offset on are no entry.
    Torn(u64),
}

/// Reads a file and repairs its end.
pub(super) fn read_and_repair(path: &Path, warnings: &mut Vec<Warning>) -> io::Result<Contents> {
    let (mut contents, end) = read(path)?;
    match end {
        End::Clean => {}
        End::Unterminated(seq) => {
            let mut file = OpenOptions::new().append(true).open(path)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            contents.len += 1;
            warnings.push(Warning::LineEndAdded {
                file: path.to_owned(),
                seq,
            });
        }
        End::Torn(from) => {
            let (torn, bytes) = move_aside(path, from)?;
            contents.len = from;
            warnings.push(Warning::TornMovedAside {
                file: path.to_owned(),
                torn,
                bytes,
            });
        }
    }
    if let Some(last) = contents.decisions.last()
        && !last.sound
    {
        warnings.push(Warning::LastEntryUnsound {
            file: path.to_owned(),
            seq: last.at.seq,
        });
    }
    Ok(contents)
}

fn read(path: &Path) -> io::Result<(Contents, End)> {
    let mut lines = Lines::new(BufReader::with_capacity(1 << 16, File::open(path)?));
    let mut decisions: Vec<Link> = Vec::new();
    let mut readable_to = 0;
    let mut len = 0;
    let mut end = End::Clean;
    while let Some(line) = lines.next()? {
        len = line.end;
        let Ok(link) = chain::link(line.bytes) else {
            continue;
        };
        if !line.terminated {
            // Only an entry that continues the chain is known to be whole; anything else may be torn.
            if !(link.sound && continues(decisions.last(), &link)) {
                continue;
            }
            end = End::Unterminated(link.at.seq);
        }
        readable_to = line.end;
        decisions.push(link);
    }
    if readable_to < len {
        end = End::Torn(readable_to);
    }
    let contents = Contents {
        len,
        first_seq: decisions.first().map(|link| link.at.seq),
        last: decisions.last().map(|link| link.at.clone()),
        decisions,
    };
    Ok((contents, end))
}

/// The first entry of a file may continue another file.
fn continues(before: Option<&Link>, link: &Link) -> bool {
    match before {
        Some(before) => {
            link.prev == before.at.hash && link.at.seq == before.at.seq.saturating_add(1)
        }
        None => link.at.seq > 1 || link.prev == GENESIS,
    }
}

fn move_aside(path: &Path, from: u64) -> io::Result<(PathBuf, u64)> {
    let mut name = path.as_os_str().to_owned();
    name.push(".torn");
    let torn = PathBuf::from(name);
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let mut aside = OpenOptions::new().create(true).append(true).open(&torn)?;
    aside.write_all(&bytes)?;
    aside.write_all(b"\n")?;
    aside.sync_all()?;
    if let Some(dir) = path.parent() {
        super::sync_dir(dir)?;
    }
    file.set_len(from)?;
    file.sync_all()?;
    Ok((torn, u64::try_from(bytes.len()).unwrap_or(u64::MAX)))
}
