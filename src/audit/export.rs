//! A part of the chain for somebody else: the lines as they are, and a manifest that says where they begin and end.
//!
//! INVARIANT: every line is checked before it is written, the whole log is checked before the export gets its name, and
//! an export holds entries without a gap: with its manifest it verifies by itself.

use super::segments::{LogFile, full_file};
use super::verify::{Checked, Expected, Progress, VerifyError, walk};
use crate::domain::{Timestamp, Witness};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The manifest of an export that is a directory; that of a file is the file's name and `.` before this.
pub const MANIFEST: &str = "manifest.json";
const KIND: &str = "audit_export";
/// Bytes of one file of an export that is a directory.
const FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Which entries: a run of the chain, both ends included. What is `None` does not bound it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Range {
    /// From this number on.
    pub from: Option<u64>,
    /// Up to this number.
    pub to: Option<u64>,
    /// From the first entry of this moment or later on.
    pub since: Option<Timestamp>,
    /// Up to the entry before the first one of this moment or later.
    pub until: Option<Timestamp>,
}

/// What an export is: written beside it, and enough to verify it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always `audit_export`.
    pub kind: String,
    /// Version of the program that made it.
    pub version: String,
    /// When.
    pub exported_at: Timestamp,
    /// How many entries.
    pub entries: u64,
    /// The entry before the first one; `None`: the export begins with the log.
    pub before: Option<Witness>,
    /// The first one.
    pub first: Witness,
    /// The last one.
    pub last: Witness,
    /// Its files in the order of the chain.
    pub files: Vec<ExportedFile>,
}

/// One file of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedFile {
    /// Its name, beside the manifest.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its first entry.
    pub first: Witness,
    /// Its last entry.
    pub last: Witness,
}

impl Manifest {
    /// The manifest of an export, by its directory or file; `None` when there is none: then it is a log.
    ///
    /// # Errors
    /// It is there and cannot be used.
    pub fn of(export: &Path) -> Result<Option<Self>, ExportError> {
        let path = manifest_of(export, export.is_dir());
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ExportError::File { path, source }),
        };
        let unusable = |why: String| ExportError::Manifest {
            path: path.clone(),
            why,
        };
        let manifest: Self =
            serde_json::from_slice(&text).map_err(|error| unusable(error.to_string()))?;
        if manifest.kind != KIND {
            return Err(unusable(format!("its kind is not `{KIND}`")));
        }
        let plain =
            |file: &ExportedFile| Path::new(&file.name).file_name() == Some(file.name.as_ref());
        if !manifest.files.iter().all(plain) {
            return Err(unusable("a file in it is no plain name".to_owned()));
        }
        Ok(Some(manifest))
    }

    /// Its files, which stand in this directory.
    #[must_use]
    pub fn files(&self, dir: &Path) -> Vec<LogFile> {
        let paths = self.files.iter().map(|file| dir.join(&file.name));
        paths.map(LogFile::from).collect()
    }

    /// What must hold of its entries.
    #[must_use]
    pub fn expected(&self) -> Expected {
        Expected {
            before: self.before.clone(),
            witnesses: vec![self.first.clone(), self.last.clone()],
            ends_with: Some(self.last.seq),
        }
    }
}

/// Nothing was exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The log is not intact, or cannot be read.
    #[error(transparent)]
    Log(#[from] VerifyError),
    /// A file of the export cannot be written or read.
    #[error("`{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is something already.
    #[error("`{}` is there already; name another one", path.display())]
    Taken {
        /// What.
        path: PathBuf,
    },
    /// The log has no such entry.
    #[error("the log has no entry in that range")]
    Nothing,
    /// The manifest cannot be used.
    #[error("manifest `{}` cannot be used: {why}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// Writes a range of a log to `out`: a file when its name ends with `.jsonl`, else a directory with files of the sizes
/// of a log. `expected` is what is known of the log.
///
/// # Errors
/// The log is not intact, `out` is there or cannot be written, or the range is empty: then nothing is left behind.
pub fn export(
    log: &[LogFile],
    expected: &Expected,
    range: Range,
    out: &Path,
    (version, now): (&str, Timestamp),
    mut progress: impl FnMut(Progress),
) -> Result<Manifest, ExportError> {
    let one_file = out.extension().is_some_and(|ending| ending == "jsonl");
    for taken in [out.to_owned(), manifest_of(out, !one_file)] {
        if taken.symlink_metadata().is_ok() {
            return Err(ExportError::Taken { path: taken });
        }
    }
    let mut writer = Writer::begin(out, one_file)?;
    let mut part = Part::Before;
    let written = walk(log, expected, |checked: Checked<'_>, now| {
        progress(now);
        part = part.then(range, &checked);
        match part {
            Part::In => writer.write(&checked),
            Part::Before | Part::Behind => Ok(()),
        }
    });
    let written = written.and_then(|_| writer.end(version, now));
    if written.is_err() {
        writer.remove();
    }
    written
}

/// Where a line stands to the range.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Before,
    In,
    Behind,
}

/// What a range by time asks of a line.
#[derive(Deserialize)]
struct At {
    ts: Timestamp,
}

impl Part {
    fn then(self, range: Range, checked: &Checked<'_>) -> Self {
        let seq = checked.at.seq;
        let timed = range.since.is_some() || range.until.is_some();
        let at = if timed && self != Self::Behind {
            // A line that was checked is JSON; one without a time belongs to no time.
            serde_json::from_slice::<At>(checked.line).ok()
        } else {
            None
        };
        let reached = |bound: Option<Timestamp>| {
            bound.is_some_and(|bound| at.as_ref().is_some_and(|at| at.ts >= bound))
        };
        let begun = self == Self::In
            || (range.from.is_none_or(|from| seq >= from)
                && (range.since.is_none() || reached(range.since)));
        let over = range.to.is_some_and(|to| seq > to) || reached(range.until);
        match (self, begun, over) {
            (Self::Behind, _, _) | (Self::In, _, true) | (Self::Before, true, true) => Self::Behind,
            (Self::In | Self::Before, true, false) => Self::In,
            (Self::In | Self::Before, false, _) => Self::Before,
        }
    }
}

/// Writes under another name until all is there.
struct Writer {
    out: PathBuf,
    partial: PathBuf,
    one_file: bool,
    open: Option<BufWriter<File>>,
    before: Option<Witness>,
    files: Vec<ExportedFile>,
    entries: u64,
}

impl Writer {
    fn begin(out: &Path, one_file: bool) -> Result<Self, ExportError> {
        let partial = beside(out, ".partial");
        let writer = Self {
            out: out.to_owned(),
            partial,
            one_file,
            open: None,
            before: None,
            files: Vec::new(),
            entries: 0,
        };
        // Left behind by an export that was killed.
        writer.remove();
        if !one_file {
            fs::create_dir_all(&writer.partial).map_err(|source| ExportError::File {
                path: writer.partial.clone(),
                source,
            })?;
        }
        Ok(writer)
    }

    fn write(&mut self, checked: &Checked<'_>) -> Result<(), ExportError> {
        let size = u64::try_from(checked.line.len()).unwrap_or(u64::MAX) + 1;
        let full = |file: &ExportedFile| !self.one_file && file.bytes + size > FILE_BYTES;
        if self.files.last().is_none_or(full) {
            self.next_file(checked)?;
        }
        let path = self.partial.clone();
        let wrote = self.open.as_mut().map_or(Ok(()), |open| {
            open.write_all(checked.line)
                .and_then(|()| open.write_all(b"\n"))
        });
        wrote.map_err(|source| ExportError::File { path, source })?;
        if let Some(file) = self.files.last_mut() {
            file.bytes += size;
            file.last = checked.at.clone();
        }
        self.entries += 1;
        Ok(())
    }

    fn next_file(&mut self, checked: &Checked<'_>) -> Result<(), ExportError> {
        self.close()?;
        if self.files.is_empty() && checked.at.seq > 1 {
            self.before = Some(Witness {
                seq: checked.at.seq - 1,
                hash: checked.prev.to_owned(),
            });
        }
        let (name, path) = if self.one_file {
            let name = self.out.file_name().unwrap_or_default();
            (name.to_string_lossy().into_owned(), self.partial.clone())
        } else {
            let number = u32::try_from(self.files.len() + 1).unwrap_or(u32::MAX);
            let name = full_file(number);
            let path = self.partial.join(&name);
            (name, path)
        };
        let file = File::create_new(&path).map_err(|source| ExportError::File { path, source })?;
        self.open = Some(BufWriter::with_capacity(1 << 16, file));
        self.files.push(ExportedFile {
            name,
            bytes: 0,
            first: checked.at.clone(),
            last: checked.at.clone(),
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), ExportError> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        let synced = open.flush().and_then(|()| open.get_ref().sync_all());
        synced.map_err(|source| ExportError::File {
            path: self.partial.clone(),
            source,
        })
    }

    fn end(&mut self, version: &str, now: Timestamp) -> Result<Manifest, ExportError> {
        self.close()?;
        let (Some(first), Some(last)) = (self.files.first(), self.files.last()) else {
            return Err(ExportError::Nothing);
        };
        let manifest = Manifest {
            kind: KIND.to_owned(),
            version: version.to_owned(),
            exported_at: now,
            entries: self.entries,
            before: self.before.clone(),
            first: first.first.clone(),
            last: last.last.clone(),
            files: self.files.clone(),
        };
        let path = if self.one_file {
            manifest_of(&self.out, false)
        } else {
            self.partial.join(MANIFEST)
        };
        let written = serde_json::to_string_pretty(&manifest)
            .map_err(io::Error::from)
            .and_then(|text| fs::write(&path, text + "\n"));
        written.map_err(|source| ExportError::File {
            path: path.clone(),
            source,
        })?;
        fs::rename(&self.partial, &self.out).map_err(|source| ExportError::File {
            path: self.out.clone(),
            source,
        })?;
        Ok(manifest)
    }

    /// What is not whole goes; whether that succeeds changes nothing for the caller.
    fn remove(&self) {
        let _ = fs::remove_file(&self.partial);
        let _ = fs::remove_dir_all(&self.partial);
        if self.one_file {
            let _ = fs::remove_file(manifest_of(&self.out, false));
        }
    }
}

fn manifest_of(export: &Path, directory: bool) -> PathBuf {
    if directory {
        export.join(MANIFEST)
    } else {
        beside(export, &format!(".{MANIFEST}"))
    }
}

/// The same path with more at the end of its name.
fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    PathBuf::from(name)
}
