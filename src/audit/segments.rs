//! The files of one log: `classifier_audit.jsonl` is written to, full ones are renamed to
//! `classifier_audit.000001.jsonl` and so on. The chain runs through them in the order of their numbers.

use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

/// The file that is written to.
pub const ACTIVE_FILE: &str = "classifier_audit.jsonl";
const STEM: &str = "classifier_audit.";
const ENDING: &str = ".jsonl";
/// How often the directory is listed again because a file was put aside meanwhile.
const LISTINGS: usize = 10;

/// One file of a log. The one that is written to is open already, so that it is still this one when it is put aside
/// while the files before it are read.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    open: Option<File>,
}

impl LogFile {
    /// Its name when it was listed.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// For reading from its start.
    pub(super) fn open(&self) -> io::Result<File> {
        match &self.open {
            Some(file) => {
                let mut file = file.try_clone()?;
                file.rewind()?;
                Ok(file)
            }
            None => File::open(&self.path),
        }
    }

    /// Bytes, as far as that is known.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let metadata = match &self.open {
            Some(file) => file.metadata(),
            None => std::fs::metadata(&self.path),
        };
        metadata.map_or(0, |metadata| metadata.len())
    }
}

impl From<PathBuf> for LogFile {
    fn from(path: PathBuf) -> Self {
        Self { path, open: None }
    }
}

/// The name of a full file.
pub(super) fn full_file(number: u32) -> String {
    format!("{STEM}{number:06}{ENDING}")
}

/// The full files of a directory by number, oldest first.
pub(super) fn full_files(dir: &Path) -> io::Result<Vec<(u32, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix(STEM)?.strip_suffix(ENDING))
            .filter(|digits| digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok());
        if let Some(number) = number {
            found.push((number, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

/// All files of the log in a directory, in the order of the chain; empty when there is no log. Fits together also
/// while the server puts a file aside.
///
/// # Errors
/// The directory cannot be listed.
pub fn log_files(dir: &Path) -> io::Result<Vec<LogFile>> {
    let mut full = full_files(dir)?;
    for _ in 0..LISTINGS {
        let path = dir.join(ACTIVE_FILE);
        let active = match File::open(&path) {
            Ok(file) => Some(LogFile {
                path,
                open: Some(file),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // Named when it is read.
            Err(_) => Some(LogFile::from(path)),
        };
        let again = full_files(dir)?;
        if again == full {
            let full = full.into_iter().map(|(_, path)| LogFile::from(path));
            return Ok(full.chain(active).collect());
        }
        full = again;
    }
    Err(io::Error::other(
        "files are put aside faster than they can be listed",
    ))
}
