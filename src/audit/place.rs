//! Any place in a log by number or time, without reading what lies between, and walks from there, both ways.
//!
//! For readers that show one screen of a log of any size. Raw lines come out; `verify` says whether they are sound.
//! INVARIANT: memory is one block and one line. A last line without its end is being written and is left out.

use super::lines::MAX_LINE;
use super::segments::{LogFile, log_files};
use crate::domain::Timestamp;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Bytes read at once, and the span from which on a search goes line by line.
const BLOCK: u64 = 64 * 1024;

/// A place between two entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before the first entry.
    Start,
    /// Behind the last one.
    End,
    /// Before the entry with this number.
    Before(u64),
    /// Before the first entry of this moment. Entries of one moment may stand in the log a little out of order.
    At(Timestamp),
}

impl Place {
    /// Does this line stand before the place? `None` when it is no entry.
    fn lies_behind(self, line: &[u8]) -> Option<bool> {
        match self {
            Self::Start => Some(false),
            Self::End => Some(true),
            Self::Before(seq) => Some(seq_of(line)? < seq),
            Self::At(moment) => Some(time_of(line)? < moment),
        }
    }
}

/// The number at the head of a line.
#[must_use]
pub fn seq_of(line: &[u8]) -> Option<u64> {
    let rest = line.strip_prefix(b"{\"seq\":")?;
    let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(rest.get(..end)?).ok()?.parse().ok()
}

fn time_of(line: &[u8]) -> Option<Timestamp> {
    let rest = line.strip_prefix(b"{\"seq\":")?;
    let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    let rest = rest.get(end..)?.strip_prefix(b",\"ts\":\"")?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(rest.get(..end)?).ok()?.parse().ok()
}

/// The line of one entry without its end; `None` when the log does not hold it.
///
/// # Errors
/// The log cannot be read.
pub fn entry_at(dir: &Path, seq: u64) -> io::Result<Option<Vec<u8>>> {
    let mut onward = Onward::from(dir, Place::Before(seq))?;
    let line = onward.next_line()?.filter(|line| seq_of(line) == Some(seq));
    Ok(line.map(<[u8]>::to_vec))
}

/// The files of a log and the place in them: the index of a file and an offset at which a line begins.
fn find(dir: &Path, place: Place) -> io::Result<(Vec<LogFile>, usize, u64)> {
    let files = log_files(dir)?;
    // The last file that begins before the place holds it, or ends at it.
    let mut chosen = 0;
    let searched = match place {
        Place::Start => 0..0,
        Place::End => files.len().saturating_sub(1)..files.len(),
        Place::Before(_) | Place::At(_) => 0..files.len(),
    };
    for index in searched.rev() {
        let Some(file) = files.get(index) else { break };
        chosen = index;
        let mut line = Vec::new();
        let mut reader = BufReader::new(file.open()?);
        if whole_line(&mut reader, &mut line)? && place.lies_behind(&line) == Some(true) {
            break;
        }
    }
    let offset = match files.get(chosen) {
        Some(file) => offset_in(file, place)?,
        None => 0,
    };
    Ok((files, chosen, offset))
}

/// Where the first line that does not stand before the place begins.
fn offset_in(file: &LogFile, place: Place) -> io::Result<u64> {
    let mut reader = BufReader::new(file.open()?);
    let len = reader.get_ref().metadata()?.len();
    match place {
        Place::Start => return Ok(0),
        Place::End => return Ok(len),
        Place::Before(_) | Place::At(_) => {}
    }
    let mut line = Vec::new();
    // INVARIANT: a line begins at `low`, and every line before it stands before the place.
    let (mut low, mut high) = (0, len);
    while high.saturating_sub(low) > BLOCK {
        let middle = low + (high - low) / 2;
        reader.seek(SeekFrom::Start(middle))?;
        let skipped = reader
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut Vec::new())?;
        let start = middle.saturating_add(as_offset(skipped));
        if start >= high || !whole_line(&mut reader, &mut line)? {
            break;
        }
        match place.lies_behind(&line) {
            Some(true) => {
                low = start
                    .saturating_add(as_offset(line.len()))
                    .saturating_add(1);
            }
            Some(false) => high = start,
            None => break,
        }
    }
    reader.seek(SeekFrom::Start(low))?;
    while whole_line(&mut reader, &mut line)? && place.lies_behind(&line) != Some(false) {
        low = low.saturating_add(as_offset(line.len())).saturating_add(1);
    }
    Ok(low)
}

/// Reads one line without its end; `false` at the end of the file and for a line that has no end yet.
fn whole_line(reader: &mut BufReader<File>, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    reader.by_ref().take(MAX_LINE).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(true);
    }
    Ok(false)
}

fn as_offset(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// Entries from a place on, oldest first.
pub struct Onward {
    files: std::vec::IntoIter<LogFile>,
    open: Option<BufReader<File>>,
    line: Vec<u8>,
}

impl Onward {
    /// From a place on.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn from(dir: &Path, place: Place) -> io::Result<Self> {
        let (mut files, index, offset) = find(dir, place)?;
        let mut files = files.split_off(index.min(files.len())).into_iter();
        let open = match files.next() {
            Some(file) => {
                let mut reader = BufReader::with_capacity(1 << 16, file.open()?);
                reader.seek(SeekFrom::Start(offset))?;
                Some(reader)
            }
            None => None,
        };
        Ok(Self {
            files,
            open,
            line: Vec::new(),
        })
    }

    /// The next line without its end; `None` at the end of the log.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        while let Some(reader) = &mut self.open {
            if whole_line(reader, &mut self.line)? {
                return Ok(Some(&self.line));
            }
            self.open = match self.files.next() {
                Some(file) => Some(BufReader::with_capacity(1 << 16, file.open()?)),
                None => None,
            };
        }
        Ok(None)
    }
}

/// Entries before a place, newest first.
pub struct Back {
    /// The files that are not read yet, oldest first.
    files: Vec<LogFile>,
    open: Option<Tail>,
}

impl Back {
    /// From a place backwards.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn from(dir: &Path, place: Place) -> io::Result<Self> {
        let (mut files, index, offset) = find(dir, place)?;
        files.truncate(index.saturating_add(1));
        let open = match files.pop() {
            Some(file) => Some(Tail::open(&file, Some(offset))?),
            None => None,
        };
        Ok(Self { files, open })
    }

    /// The line before the last one given, without its end; `None` when there is no earlier one.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        loop {
            let Some(tail) = &mut self.open else {
                return Ok(None);
            };
            if let Some(range) = tail.step()? {
                let tail = self.open.as_ref();
                return Ok(tail.and_then(|tail| tail.bytes.get(range)));
            }
            self.open = match self.files.pop() {
                Some(file) => Some(Tail::open(&file, None)?),
                None => None,
            };
        }
    }
}

/// The end of a file, read backwards in blocks.
struct Tail {
    file: File,
    /// Bytes of the file before this offset are not read yet.
    from: u64,
    /// What was read from there on.
    bytes: Vec<u8>,
    /// So much of it is not given out yet; it ends with a line end.
    left: usize,
}

impl Tail {
    fn open(file: &LogFile, end: Option<u64>) -> io::Result<Self> {
        let file = file.open()?;
        let len = file.metadata()?.len();
        let mut tail = Self {
            file,
            from: end.map_or(len, |end| end.min(len)),
            bytes: Vec::new(),
            left: 0,
        };
        // What follows the last line end is being written.
        while tail.left == 0 && tail.from > 0 {
            tail.load()?;
            tail.left = memchr::memrchr(b'\n', &tail.bytes).map_or(0, |at| at + 1);
            if tail.left == 0 && as_offset(tail.bytes.len()) > MAX_LINE {
                return Err(too_long());
            }
        }
        Ok(tail)
    }

    /// Puts the block before what is there in front of it.
    fn load(&mut self) -> io::Result<()> {
        let size = BLOCK.max(as_offset(self.left)).min(self.from);
        self.from -= size;
        self.file.seek(SeekFrom::Start(self.from))?;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
        self.file.read_exact(&mut bytes)?;
        self.bytes.truncate(if self.left == 0 {
            self.bytes.len()
        } else {
            self.left
        });
        let read = bytes.len();
        bytes.append(&mut self.bytes);
        self.bytes = bytes;
        if self.left > 0 {
            self.left += read;
        }
        Ok(())
    }

    /// Where the last line that is left stands in `bytes`.
    fn step(&mut self) -> io::Result<Option<Range<usize>>> {
        loop {
            let Some(end) = self.left.checked_sub(1) else {
                return Ok(None);
            };
            let before = self.bytes.get(..end).unwrap_or_default();
            let start = memchr::memrchr(b'\n', before).map(|at| at + 1);
            match start {
                Some(start) => {
                    self.left = start;
                    return Ok(Some(start..end));
                }
                None if self.from == 0 => {
                    self.left = 0;
                    return Ok(Some(0..end));
                }
                None if as_offset(end) > MAX_LINE => return Err(too_long()),
                None => self.load()?,
            }
        }
    }
}

fn too_long() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "a line is longer than any entry",
    )
}

#[cfg(test)]
mod tests;
