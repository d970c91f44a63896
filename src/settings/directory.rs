//! The configuration directory as texts. What cannot be read is a problem, never an absent file.

use crate::policy::{MAX_BYTES, Place, Problem, SourceFile, is_yaml};
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The most files that are looked at.
const MAX_FILES: usize = 500;
const MAX_DEPTH: usize = 4;

/// Reads the YAML files of a configuration directory and everything under `skills/`, in the order of names.
///
/// # Errors
/// Each file that cannot be read, is too large or is not UTF-8; the directory itself if it cannot be listed.
pub fn read_directory(directory: &Path) -> Result<Vec<SourceFile>, Vec<Problem>> {
    let shown = directory.to_string_lossy();
    let mut names = Vec::new();
    let mut problems = Vec::new();
    list(directory, &PathBuf::new(), 0, &mut names, &mut problems);
    names.sort();
    let mut files = Vec::new();
    for name in names {
        match read_text(&directory.join(&name)) {
            Ok(text) => files.push(SourceFile::new(&shown, &name, &text)),
            Err((place, message)) => {
                let file = SourceFile::new(&shown, &name, "").shown;
                problems.push(Problem::new(&file, place, message));
            }
        }
    }
    if problems.is_empty() {
        Ok(files)
    } else {
        Err(problems)
    }
}

fn list(
    root: &Path,
    below: &Path,
    depth: usize,
    names: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) {
    let here = root.join(below);
    let refuse = |message: String| Problem::new(&here.to_string_lossy(), Place::START, message);
    let entries = match fs::read_dir(&here) {
        Ok(entries) => entries,
        Err(error) => {
            let problem = refuse(format!("the directory cannot be read: {error}"));
            problems.push(problem.hint("name one with `--config DIR`"));
            return;
        }
    };
    for entry in entries {
        let Ok(entry) = entry else {
            problems.push(refuse("the directory cannot be read to its end".to_owned()));
            return;
        };
        if names.len() >= MAX_FILES || depth > MAX_DEPTH {
            problems.push(refuse("too many files or levels".to_owned()));
            return;
        }
        let path = below.join(entry.file_name());
        let name = path.to_string_lossy().replace('\\', "/");
        // `metadata` follows links: mounted configuration (Kubernetes) consists of links.
        let is_directory = fs::metadata(root.join(&path)).is_ok_and(|data| data.is_dir());
        let in_skills = name == "skills" || name.starts_with("skills/");
        if is_directory && in_skills {
            list(root, &path, depth + 1, names, problems);
        } else if !is_directory && (in_skills || (is_yaml(&name) && !name.starts_with('.'))) {
            names.push(name);
        }
    }
}

fn read_text(path: &Path) -> Result<String, (Place, String)> {
    let start = |message: String| (Place::START, message);
    let file = File::open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => start("the file is a link to nothing".to_owned()),
        _ => start(format!("the file cannot be read: {error}")),
    })?;
    // One byte more than allowed, so that the parser sees that it is too large; a huge file is not taken in.
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX) + 4;
    let mut bytes = Vec::new();
    file.take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| start(format!("the file cannot be read: {error}")))?;
    if bytes.len() > MAX_BYTES + 3 {
        return Err(start(format!("the file has more than {MAX_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let before = String::from_utf8_lossy(bytes.get(..good).unwrap_or_default());
        let place = Place {
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().unwrap_or("").chars().count() + 1,
        };
        (place, "not UTF-8 text".to_owned())
    })
}
