//! The files of one log: `classifier_audit.jsonl` is written to, full ones are renamed to
//! `classifier_audit.000001.jsonl` and so on. The chain runs through them in the order of their numbers.

use std::io;
use std::path::{Path, PathBuf};

/// The file that is written to.
pub const ACTIVE_FILE: &str = "classifier_audit.jsonl";
const STEM: &str = "classifier_audit.";
const ENDING: &str = ".jsonl";

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

/// All files of the log in a directory, in the order of the chain; empty when there is no log.
///
/// # Errors
/// The directory cannot be listed.
pub fn log_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = full_files(dir)?.into_iter().map(|(_, path)| path).collect();
    let active = dir.join(ACTIVE_FILE);
    if active.exists() {
        files.push(active);
    }
    Ok(files)
}
