//! Readers over the log: entries one by one, from the first or from the newest, filtered. One line in memory at a time.
//!
//! It does not check the chain (`verify` does).

use super::filter::{Filter, Sieve};
use super::lines::{Lines, LinesBack};
use super::record::Record;
use super::segments::{ACTIVE_FILE, LogFile};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// Bytes from the end of the log that are looked through for its newest entries.
const TAIL: u64 = 256 * 1024;

/// The newest entries of the file that is written to, oldest of them first; at most `count`, and fewer when they are
/// very long. What is no entry is left out: `verify` is for that.
///
/// # Errors
/// The file is there and cannot be read.
pub fn newest(dir: &Path, count: usize) -> io::Result<Vec<Record>> {
    let mut file = match File::open(dir.join(ACTIVE_FILE)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let from = file.metadata()?.len().saturating_sub(TAIL);
    file.seek(io::SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    let mut records: Vec<Record> = bytes
        .split(|byte| *byte == b'\n')
        .rev()
        .filter_map(|line| serde_json::from_slice(line).ok())
        .take(count)
        .collect();
    records.reverse();
    Ok(records)
}

/// A line cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file.
    #[error("audit file `{}` cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The line.
    #[error("{}:{place}: not an audit entry: {source}; run `quadgate audit verify`", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its line, from 1, or the byte it begins at when the file is read from its end.
        place: String,
        /// What is wrong.
        source: serde_json::Error,
    },
}

/// The entries of some files, read as they are asked for: as [`Record`], or as lines ([`Records::lines`]).
pub struct Records<T = Record> {
    files: Box<dyn Iterator<Item = LogFile> + Send>,
    open: Option<(PathBuf, Direction)>,
    backwards: bool,
    sieve: Sieve,
    shape: Shape<T>,
}

/// What is made of a line that is looked for.
type Shape<T> = fn(&[u8]) -> serde_json::Result<T>;

enum Direction {
    Forwards(Lines<BufReader<File>>),
    Backwards(LinesBack<File>),
}

impl Records {
    /// A reader over files in the order of the chain, oldest entry first.
    #[must_use]
    pub fn new(files: Vec<LogFile>) -> Self {
        Self {
            files: Box::new(files.into_iter()),
            open: None,
            backwards: false,
            sieve: Sieve::new(Filter::default()),
            shape: Record::of_line,
        }
    }

    /// A reader over files in the order of the chain, newest entry first.
    #[must_use]
    pub fn newest_first(files: Vec<LogFile>) -> Self {
        Self {
            files: Box::new(files.into_iter().rev()),
            backwards: true,
            ..Self::new(Vec::new())
        }
    }

    /// Only the entries that match; lines that cannot be read are passed on.
    #[must_use]
    pub fn matching(mut self, filter: Filter) -> Self {
        self.sieve = Sieve::new(filter);
        self
    }

    /// The entries as the lines of the log.
    #[must_use]
    pub fn lines(self) -> Records<String> {
        Records {
            files: self.files,
            open: self.open,
            backwards: self.backwards,
            sieve: self.sieve,
            shape: |line| Ok(String::from_utf8_lossy(line).into_owned()),
        }
    }
}

impl<T> Records<T> {
    fn open(&self, file: &LogFile) -> io::Result<Direction> {
        let open = file.open()?;
        Ok(if self.backwards {
            Direction::Backwards(LinesBack::new(open)?)
        } else {
            Direction::Forwards(Lines::new(BufReader::with_capacity(1 << 16, open)))
        })
    }
}

/// What a line came to: `None` where it is not looked for; where it is no entry, its place.
type Looked<T> = Result<Option<T>, (String, serde_json::Error)>;

impl Direction {
    /// Looks at the next line; also says whether it has its line end. `None` at the end of the file.
    fn look<T>(
        &mut self,
        sieve: &mut Sieve,
        shape: Shape<T>,
    ) -> io::Result<Option<(Looked<T>, bool)>> {
        let mut look = |line: &[u8]| match sieve.admits(line) {
            Ok(true) => shape(line).map(Some),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        Ok(match self {
            Self::Forwards(lines) => lines.next()?.map(|line| {
                let looked = look(line.bytes).map_err(|error| (line.number.to_string(), error));
                (looked, line.terminated)
            }),
            Self::Backwards(lines) => lines.next()?.map(|line| {
                let looked =
                    look(&line.bytes).map_err(|error| (format!("byte {}", line.start), error));
                (looked, line.terminated)
            }),
        })
    }

    /// The next entry that is looked for; `None` at the end of the file.
    fn next<T>(
        &mut self,
        path: &Path,
        sieve: &mut Sieve,
        shape: Shape<T>,
    ) -> Result<Option<T>, ReadError> {
        let unreadable = |source| ReadError::File {
            path: path.to_owned(),
            source,
        };
        while let Some((looked, terminated)) = self.look(sieve, shape).map_err(unreadable)? {
            match looked {
                Ok(Some(found)) => return Ok(Some(found)),
                // What is no entry and has no line end is being written, or was torn off; `verify` tells which.
                Ok(None) => {}
                Err(_) if !terminated => {}
                Err((place, source)) => {
                    return Err(ReadError::Line {
                        path: path.to_owned(),
                        place,
                        source,
                    });
                }
            }
        }
        Ok(None)
    }
}

impl<T> Iterator for Records<T> {
    type Item = Result<T, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((path, direction)) = &mut self.open {
                match direction.next(path, &mut self.sieve, self.shape) {
                    Ok(Some(found)) => return Some(Ok(found)),
                    Ok(None) => self.open = None,
                    // After a line that is no entry comes the next line, after a file that cannot be read the next file.
                    Err(error) => {
                        if matches!(error, ReadError::File { .. }) {
                            self.open = None;
                        }
                        return Some(Err(error));
                    }
                }
            } else {
                let file = self.files.next()?;
                let path = file.path().to_owned();
                match self.open(&file) {
                    Ok(direction) => self.open = Some((path, direction)),
                    Err(source) => return Some(Err(ReadError::File { path, source })),
                }
            }
        }
    }
}
