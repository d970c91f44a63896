//! Readers over the log: entries one by one, filtered, as text, JSON or CSV.
//!
//! Lenient on purpose: entries of a later version are shown with the members this program knows. It does not check
//! the chain (`verify` does).

use super::lines::Lines;
use super::segments::ACTIVE_FILE;
use crate::domain::{Quadrant, RepoName, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// One entry as read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Record {
    /// Its number.
    pub seq: u64,
    /// When.
    pub ts: Timestamp,
    /// What kind.
    pub kind: String,
    /// `owner/repo#number`.
    #[serde(default)]
    pub pr: Option<String>,
    /// The head that was judged.
    #[serde(default)]
    pub head_sha: Option<String>,
    /// Every rule's report, as written.
    #[serde(default)]
    pub rules_fired: Vec<Value>,
    /// The quadrant.
    #[serde(default)]
    pub quadrant: Option<Quadrant>,
    /// What decided.
    #[serde(default)]
    pub reasoning: Option<String>,
    /// What the evidence gate says, as written.
    #[serde(default)]
    pub evidence: Option<Value>,
    /// The author of the pull request.
    #[serde(default)]
    pub author: Option<String>,
    /// Who acted.
    #[serde(default)]
    pub actor: Option<String>,
    /// An owner's answer.
    #[serde(default)]
    pub answer: Option<String>,
    /// The signal of the answer.
    #[serde(default)]
    pub signal: Option<String>,
    /// Who carries a merge out.
    #[serde(default)]
    pub merge_mode: Option<String>,
    /// How it merges.
    #[serde(default)]
    pub merge_method: Option<String>,
    /// The base branch.
    #[serde(default)]
    pub base_ref: Option<String>,
    /// Why it was not merged.
    #[serde(default)]
    pub refused_because: Vec<String>,
    /// Digest of the policy.
    #[serde(default)]
    pub policy: Option<String>,
    /// The delivery.
    #[serde(default)]
    pub delivery: Option<String>,
    /// Version of the program.
    #[serde(default)]
    pub version: Option<String>,
    /// Its hash.
    #[serde(default)]
    pub hash: Option<String>,
    /// The line as it stands in the file.
    #[serde(skip)]
    pub line: String,
}

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

impl Record {
    /// Did this rule vote or raise?
    #[must_use]
    pub fn fired(&self, rule: &str) -> bool {
        self.rules_fired.iter().any(|report| {
            report.get("rule").and_then(Value::as_str) == Some(rule)
                && report.get("quadrant").is_some_and(|vote| !vote.is_null())
        })
    }

    /// What the entry says in one line; `None` when that is not known to this program.
    #[must_use]
    pub fn says(&self) -> Option<String> {
        let merge = || {
            let method = self.merge_method.as_deref().unwrap_or("as the queue does");
            let base = self.base_ref.as_deref().unwrap_or("?");
            let mode = self.merge_mode.as_deref()?;
            Some(format!("{method} into {base} ({mode})"))
        };
        let refused =
            || (!self.refused_because.is_empty()).then(|| self.refused_because.join("; "));
        let said = self.answer.clone().or_else(|| self.reasoning.clone());
        said.or_else(merge).or_else(refused)
    }

    /// The repository part of `pr`.
    #[must_use]
    pub fn repo(&self) -> Option<RepoName> {
        self.pr.as_ref()?.rsplit_once('#')?.0.parse().ok()
    }
}

/// What to look for; a member that is `None` does not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// `owner/repo#number`, compared without case.
    pub pr: Option<String>,
    /// The repository, compared without case.
    pub repo: Option<RepoName>,
    /// The quadrant.
    pub quadrant: Option<Quadrant>,
    /// A rule that voted.
    pub rule: Option<String>,
    /// A login, as actor or author, compared without case.
    pub actor: Option<String>,
    /// The kind.
    pub kind: Option<String>,
    /// At this moment or later.
    pub since: Option<Timestamp>,
    /// Before this moment.
    pub until: Option<Timestamp>,
}

impl Filter {
    /// Is the entry looked for?
    #[must_use]
    pub fn matches(&self, record: &Record) -> bool {
        let login = |wanted: &String| {
            let is = |login: &Option<String>| {
                login
                    .as_ref()
                    .is_some_and(|login| login.eq_ignore_ascii_case(wanted))
            };
            is(&record.actor) || is(&record.author)
        };
        let pr = |wanted: &String| {
            let shown = record.pr.as_ref();
            shown.is_some_and(|pr| pr.eq_ignore_ascii_case(wanted))
        };
        self.pr.as_ref().is_none_or(pr)
            && (self.repo.is_none() || record.repo() == self.repo)
            && (self.quadrant.is_none() || record.quadrant == self.quadrant)
            && self.rule.as_ref().is_none_or(|rule| record.fired(rule))
            && self.actor.as_ref().is_none_or(login)
            && self.kind.as_ref().is_none_or(|kind| record.kind == *kind)
            && self.since.is_none_or(|since| record.ts >= since)
            && self.until.is_none_or(|until| record.ts < until)
    }
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
    #[error("{}:{line}: not an audit entry: {source}; run `quadgate audit verify`", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: u64,
        /// What is wrong.
        source: serde_json::Error,
    },
}

/// The entries of some files, in order, read as they are asked for.
pub struct Records {
    paths: std::vec::IntoIter<PathBuf>,
    open: Option<(PathBuf, Lines<BufReader<File>>)>,
}

impl Records {
    /// A reader over files in the order of the chain.
    #[must_use]
    pub fn new(paths: Vec<PathBuf>) -> Self {
        Self {
            paths: paths.into_iter(),
            open: None,
        }
    }

    /// Only the entries that match; lines that cannot be read are passed on.
    pub fn matching(self, filter: Filter) -> impl Iterator<Item = Result<Record, ReadError>> {
        self.filter(move |record| {
            record
                .as_ref()
                .map_or(true, |record| filter.matches(record))
        })
    }
}

impl Iterator for Records {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((path, lines)) = &mut self.open {
                match lines.next() {
                    Ok(Some(line)) => return Some(record(path, line.number, line.bytes)),
                    Ok(None) => self.open = None,
                    Err(source) => {
                        let path = path.clone();
                        self.open = None;
                        return Some(Err(ReadError::File { path, source }));
                    }
                }
            } else {
                let path = self.paths.next()?;
                match File::open(&path) {
                    Ok(file) => self.open = Some((path, Lines::new(BufReader::new(file)))),
                    Err(source) => return Some(Err(ReadError::File { path, source })),
                }
            }
        }
    }
}

fn record(path: &Path, line: u64, bytes: &[u8]) -> Result<Record, ReadError> {
    let mut record: Record = serde_json::from_slice(bytes).map_err(|source| ReadError::Line {
        path: path.to_owned(),
        line,
        source,
    })?;
    record.line = String::from_utf8_lossy(bytes).into_owned();
    Ok(record)
}

/// The columns of the CSV form.
pub struct Columns;

impl Columns {
    /// The first line.
    pub const HEAD: &'static str =
        "seq,ts,kind,pr,head_sha,quadrant,actor,answer,reasoning,policy,hash";

    /// One entry as a line of CSV (RFC 4180), without a line end. Text that a spreadsheet would run as a formula gets a
    /// leading apostrophe.
    #[must_use]
    pub fn line(record: &Record) -> String {
        let actor = record.actor.as_ref().or(record.author.as_ref());
        let fields = [
            Some(record.seq.to_string()),
            Some(record.ts.to_string()),
            Some(record.kind.clone()),
            record.pr.clone(),
            record.head_sha.clone(),
            record.quadrant.map(|quadrant| quadrant.to_string()),
            actor.cloned(),
            record.answer.clone(),
            record.reasoning.clone(),
            record.policy.clone(),
            record.hash.clone(),
        ];
        fields
            .map(|field| csv(&field.unwrap_or_default()))
            .join(",")
    }
}

fn csv(field: &str) -> String {
    let risky = field.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let field = if risky {
        format!("'{field}")
    } else {
        field.to_owned()
    };
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field
    }
}
