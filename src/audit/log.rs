//! The writer: one process, append only, whole line and fsync before the witness is given.
//!
//! Blocking file calls only; the app calls it off the async threads. Entries that come together are written with one
//! sync ([`Batch`]). INVARIANT: what is on disk up to the known length is whole lines; what a crash or a full disk left behind it is cut off or moved aside first.

use super::chain::{GENESIS, Link, link};
use super::entry::EntryDraft;
use super::segments::{ACTIVE_FILE, full_file, full_files};
use crate::domain::Witness;
use std::collections::{HashMap, VecDeque};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

mod tail;

const LOCK_FILE: &str = "classifier_audit.lock";

/// How the log behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// A file that would grow beyond this many bytes is rotated first.
    pub max_bytes: u64,
    /// Decisions from this sequence number on can be found again; older ones need not be.
    pub index_from: u64,
    /// At most this many decisions are kept for finding.
    pub index_limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_bytes: 64 * 1024 * 1024,
            index_from: u64::MAX,
            index_limit: 16_384,
        }
    }
}

/// The log cannot be opened or written.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The directory cannot be made or written to.
    #[error(
        "audit directory `{}` cannot be used: {source}; make it writable or set another data directory",
        path.display()
    )]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process writes to this log.
    #[error("audit log `{}` is being written by another process; stop it first", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// A file of the log cannot be read or written.
    #[error("audit file `{}` cannot be used: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An entry that has its place already does not follow the last one here.
    #[error(
        "entry {seq} of the database does not follow the last entry of `{}`: the two logs are not the same one",
        dir.display()
    )]
    Unchained {
        /// The log's directory.
        dir: PathBuf,
        /// The entry.
        seq: u64,
    },
    /// The entry is not on disk, so what it justifies must not be published.
    #[error("audit entry not written to `{}`: {source}; nothing is published until it is", path.display())]
    Append {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Something that was put right at opening and that people should hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// A line that was not whole was moved to the `.torn` file.
    TornMovedAside {
        /// The file it stood in.
        file: PathBuf,
        /// Where its bytes are now.
        torn: PathBuf,
        /// How many bytes.
        bytes: u64,
    },
    /// The last entry lacked only its line end, which it got.
    LineEndAdded {
        /// The file.
        file: PathBuf,
        /// The entry.
        seq: u64,
    },
    /// The last entry is not what its hash says; it is kept, and `audit verify` will name it.
    LastEntryUnsound {
        /// The file.
        file: PathBuf,
        /// The entry.
        seq: u64,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TornMovedAside { file, torn, bytes } => write!(
                f,
                "{bytes} bytes at the end of `{}` were no whole entry and are now in `{}`",
                file.display(),
                torn.display()
            ),
            Self::LineEndAdded { file, seq } => write!(
                f,
                "entry {seq} in `{}` lacked only its line end, which was added",
                file.display()
            ),
            Self::LastEntryUnsound { file, seq } => write!(
                f,
                "entry {seq} in `{}` is not what its hash says; run `quadgate audit verify`",
                file.display()
            ),
        }
    }
}

/// The file as the log uses it; tests put a failing one in its place.
trait Medium: Send {
    fn write_whole(&mut self, bytes: &[u8]) -> io::Result<()>;
    fn sync(&mut self) -> io::Result<()>;
    fn cut(&mut self, len: u64) -> io::Result<()>;
}

impl Medium for File {
    fn write_whole(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)?;
        self.sync_all()
    }
}

/// The open log.
pub struct AuditLog {
    dir: PathBuf,
    options: Options,
    active: Box<dyn Medium>,
    len: u64,
    /// A failed append may have left bytes behind `len`.
    dirty: bool,
    last: Option<Witness>,
    recent: Recent,
    _lock: File,
}

impl AuditLog {
    /// Opens the log in a directory, which is made if missing, and puts right what a crash left behind.
    ///
    /// # Errors
    /// The directory or a file cannot be used, or another process has the log open.
    pub fn open(dir: &Path, options: Options) -> Result<(Self, Vec<Warning>), AuditError> {
        let unusable = |source| AuditError::Directory {
            path: dir.to_owned(),
            source,
        };
        std::fs::create_dir_all(dir).map_err(unusable)?;
        let lock = lock(dir)?;
        let path = dir.join(ACTIVE_FILE);
        let active = open_active(&path).map_err(|source| AuditError::File {
            path: path.clone(),
            source,
        })?;
        sync_dir(dir).map_err(unusable)?;

        let mut recent = Recent::new(options.index_limit);
        let mut warnings = Vec::new();
        let full = full_files(dir).map_err(unusable)?;
        let mut read = |file: &Path| {
            tail::read_and_repair(file, &mut warnings).map_err(|source| AuditError::File {
                path: file.to_owned(),
                source,
            })
        };
        let newest = read(&path)?;
        let len = newest.len;
        let mut last = newest.last.clone();
        let mut first_seq = newest.first_seq;
        recent.add_older(newest.decisions);
        for (_, file) in full.iter().rev() {
            let indexed = first_seq.is_some_and(|seq| seq <= options.index_from);
            if last.is_some() && (indexed || recent.is_full()) {
                break;
            }
            let older = read(file)?;
            last = last.or(older.last);
            first_seq = older.first_seq.or(first_seq);
            recent.add_older(older.decisions);
        }
        let log = Self {
            dir: dir.to_owned(),
            options,
            active: Box::new(active),
            len,
            dirty: false,
            last,
            recent,
            _lock: lock,
        };
        Ok((log, warnings))
    }

    /// The last entry, or `None` while the log is empty.
    #[must_use]
    pub fn last(&self) -> Option<&Witness> {
        self.last.as_ref()
    }

    /// The entry of a decision, if it is among the recent ones.
    #[must_use]
    pub fn find_decision(&self, decision: &str) -> Option<&Witness> {
        self.recent.by_decision.get(decision)
    }

    /// Writes one entry whole and to the disk, and says where it stands.
    ///
    /// # Errors
    /// It is not on disk (disk full, a broken disk): nothing that it justifies may be published. The log stays
    /// usable: the next append first removes what this one may have left.
    pub fn append(&mut self, draft: &EntryDraft) -> Result<Witness, AuditError> {
        let mut batch = self.batch();
        let witness = batch.add(draft)?;
        batch.write()?;
        Ok(witness)
    }

    /// Begins to gather entries that are written with one sync.
    pub fn batch(&mut self) -> Batch<'_> {
        Batch {
            last: self.last.clone(),
            log: self,
            lines: Vec::new(),
            added: Vec::new(),
        }
    }

    fn failed(&self, source: io::Error) -> AuditError {
        AuditError::Append {
            path: self.dir.join(ACTIVE_FILE),
            source,
        }
    }

    /// Writes whole lines and syncs them; what they are is remembered only then.
    fn write_lines(&mut self, lines: &[u8], added: Vec<(String, Witness)>) -> io::Result<()> {
        self.clean()?;
        self.write_synced(lines)?;
        for (decision, witness) in added {
            self.last = Some(witness.clone());
            self.recent.add(decision, witness);
        }
        Ok(())
    }

    /// Writes lines (each with its end) that have their places already, in as few syncs as the files allow.
    ///
    /// # Errors
    /// A line does not follow the one before it, or is not on disk. Those before it may be: [`Self::last`] says.
    pub fn append_chained(&mut self, lines: &[String]) -> Result<(), AuditError> {
        let mut rest = lines;
        while !rest.is_empty() {
            let written = self.append_some(rest)?;
            rest = rest.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    /// Writes as many lines as the file takes, at least one; says how many.
    fn append_some(&mut self, lines: &[String]) -> Result<usize, AuditError> {
        let mut text = String::new();
        let mut last = self.last.clone();
        let mut count = 0;
        for line in lines {
            let len = self.len.saturating_add(bytes(&text));
            if len > 0 && len.saturating_add(bytes(line)) > self.options.max_bytes && count > 0 {
                break;
            }
            last = Some(self.follows(last.as_ref(), line)?);
            text.push_str(line);
            count += 1;
        }
        let written = self.clean().and_then(|()| {
            if self.len > 0 && self.len.saturating_add(bytes(&text)) > self.options.max_bytes {
                self.rotate()?;
            }
            self.write_synced(text.as_bytes())
        });
        written.map_err(|source| self.failed(source))?;
        self.last = last;
        Ok(count)
    }

    /// The place of a line that follows this one.
    fn follows(&self, last: Option<&Witness>, line: &str) -> Result<Witness, AuditError> {
        let (seq, prev) = last.map_or((0, GENESIS), |last| (last.seq, last.hash.as_str()));
        let unchained = || AuditError::Unchained {
            dir: self.dir.clone(),
            seq: seq.saturating_add(1),
        };
        let bare = line.strip_suffix('\n').ok_or_else(unchained)?;
        match link(bare.as_bytes()) {
            Ok(read) if read.sound && read.at.seq == seq.saturating_add(1) && read.prev == prev => {
                Ok(read.at)
            }
            Ok(_) | Err(_) => Err(unchained()),
        }
    }

    /// Whole and on the disk, or not there.
    fn write_synced(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self
            .active
            .write_whole(bytes)
            .and_then(|()| self.active.sync());
        if let Err(error) = written {
            self.dirty = true;
            // Tried at once so that readers see no torn line; when it fails, the next append tries again.
            let _ = self.clean();
            return Err(error);
        }
        self.len += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Ok(())
    }

    fn clean(&mut self) -> io::Result<()> {
        if self.dirty {
            self.active.cut(self.len)?;
            self.dirty = false;
        }
        Ok(())
    }

    fn rotate(&mut self) -> io::Result<()> {
        let number = full_files(&self.dir)?
            .last()
            .map_or(1, |(number, _)| number.saturating_add(1));
        let active = self.dir.join(ACTIVE_FILE);
        let full = self.dir.join(full_file(number));
        std::fs::rename(&active, &full)?;
        match open_active(&active).and_then(|file| sync_dir(&self.dir).map(|()| file)) {
            Ok(file) => {
                self.active = Box::new(file);
                self.len = 0;
                Ok(())
            }
            Err(error) => {
                // The open handle still writes to the old file: give it its name back.
                std::fs::rename(&full, &active)?;
                Err(error)
            }
        }
    }
}

/// Entries that are written together, with one sync. Dropped without [`Batch::write`], they are not written.
///
/// INVARIANT: their places are the log's only after `write` has succeeded. When it fails, none that it was to write counts.
pub struct Batch<'a> {
    log: &'a mut AuditLog,
    /// The end of the log as it will be.
    last: Option<Witness>,
    lines: Vec<u8>,
    added: Vec<(String, Witness)>,
}

impl Batch<'_> {
    /// Adds an entry and says where it will stand.
    ///
    /// # Errors
    /// It cannot be written as a line, or the file is full and what was gathered before could not be written to it.
    pub fn add(&mut self, draft: &EntryDraft) -> Result<Witness, AuditError> {
        self.try_add(draft)
            .map_err(|source| self.log.failed(source))
    }

    /// The entry of a decision, if it is gathered here or among the recent ones.
    #[must_use]
    pub fn find(&self, decision: &str) -> Option<&Witness> {
        let added = self.added.iter().find(|(id, _)| id == decision);
        added
            .map(|(_, witness)| witness)
            .or_else(|| self.log.find_decision(decision))
    }

    /// Writes what was gathered to the disk.
    ///
    /// # Errors
    /// As for [`AuditLog::append`], for all of them.
    pub fn write(mut self) -> Result<(), AuditError> {
        self.flush().map_err(|source| self.log.failed(source))
    }

    fn try_add(&mut self, draft: &EntryDraft) -> io::Result<Witness> {
        let (seq, prev) = match &self.last {
            Some(last) => (last.seq.saturating_add(1), last.hash.as_str()),
            None => (1, GENESIS),
        };
        let (line, witness) = draft.encode(seq, prev)?;
        let bytes = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
        let before = self.log.len.saturating_add(bytes(self.lines.len()));
        if before > 0 && before.saturating_add(bytes(line.len())) > self.log.options.max_bytes {
            self.flush()?;
            self.log.clean()?;
            self.log.rotate()?;
        }
        self.lines.extend_from_slice(&line);
        self.added.push((draft.decision.clone(), witness.clone()));
        self.last = Some(witness.clone());
        Ok(witness)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let lines = std::mem::take(&mut self.lines);
        let added = std::mem::take(&mut self.added);
        self.log.write_lines(&lines, added)
    }
}

impl std::fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditLog")
            .field("dir", &self.dir)
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

fn bytes(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// So often, so long apart, a lock that is taken is tried before another server is suspected.
const LOCK_LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

fn lock(dir: &Path) -> Result<File, AuditError> {
    let path = dir.join(LOCK_FILE);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|source| AuditError::Directory {
            path: dir.to_owned(),
            source,
        })?;
    // A child that was just being started can hold the file for a moment after its parent let go.
    for _ in 0..LOCK_LOOKS {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_LOOKS),
            Err(TryLockError::Error(source)) => return Err(AuditError::File { path, source }),
        }
    }
    Err(AuditError::Locked { path })
}

fn open_active(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// A new or renamed file is only durable once its directory is.
fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Decisions that can be found again, newest kept.
struct Recent {
    limit: usize,
    order: VecDeque<String>,
    by_decision: HashMap<String, Witness>,
}

impl Recent {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            order: VecDeque::new(),
            by_decision: HashMap::new(),
        }
    }

    fn is_full(&self) -> bool {
        self.order.len() >= self.limit
    }

    fn add(&mut self, decision: String, at: Witness) {
        if self.by_decision.insert(decision.clone(), at).is_none() {
            self.order.push_back(decision);
        }
        while self.order.len() > self.limit {
            if let Some(oldest) = self.order.pop_front() {
                self.by_decision.remove(&oldest);
            }
        }
    }

    /// Entries of a file before those that are known, oldest first.
    fn add_older(&mut self, links: Vec<Link>) {
        for link in links.into_iter().rev() {
            if self.is_full() {
                return;
            }
            if let Some(decision) = link.decision
                && !self.by_decision.contains_key(&decision)
            {
                self.order.push_front(decision.clone());
                self.by_decision.insert(decision, link.at);
            }
        }
    }
}

#[cfg(test)]
mod tests;
