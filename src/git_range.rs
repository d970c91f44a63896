//! Facts from a range of a local git repository, so that a change can be judged before a pull request exists.
//!
//! Reads objects alone: no working tree, no hooks, no external diff, no network, no replaced objects. What is
//! too large or not text is left out, which the rules read as "in doubt". Labels and check-runs do not exist
//! yet and are empty; who the author is stays unknown.

mod command;
mod raw;

use crate::domain::{CommitFact, Facts, FileChange, FileStatus, Known, PullNumber, RepoName, Sha};
use command::Git;
use raw::{Change, Mode};
use std::collections::HashMap;
use std::path::Path;

/// The most bytes of one file's text or patch that are taken in.
const MAX_TEXT: usize = 1024 * 1024;
/// The most bytes of all texts together.
const MAX_TEXTS: usize = 64 * 1024 * 1024;
/// The most bytes of one command's output.
const MAX_OUTPUT: usize = 256 * 1024 * 1024;

/// The range cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no `git`, or it cannot be started.
    #[error("`git` cannot be run: {0}; is it installed?")]
    Run(std::io::Error),
    /// `git` said no.
    #[error("`git {command}` failed: {message}")]
    Failed {
        /// The subcommand.
        command: String,
        /// The first line of what it said.
        message: String,
    },
    /// No such commit.
    #[error("`{0}` names no commit in this repository")]
    NoCommit(String),
    /// Nothing in common.
    #[error(
        "`{base}` and `{head}` have no common ancestor; in a shallow clone, fetch more history"
    )]
    Unrelated {
        /// The base as given.
        base: String,
        /// The head as given.
        head: String,
    },
    /// More than this program takes in.
    #[error("`git {0}` gave more than {MAX_OUTPUT} bytes")]
    TooLarge(String),
    /// Not the format that was asked for.
    #[error("the answer of `git {0}` cannot be read")]
    Unreadable(&'static str),
}

/// Which range to read.
#[derive(Debug, Clone)]
pub struct Range<'a> {
    /// The repository's directory.
    pub directory: &'a Path,
    /// The revision that the change is to be merged into.
    pub base: &'a str,
    /// The revision that is to be merged.
    pub head: &'a str,
    /// `owner/name` on GitHub; `None`: taken from the remote `origin`, else `local/<directory>`.
    pub repository: Option<RepoName>,
}

/// Reads the facts of a range: what a pull request from `head` into `base` would change.
///
/// # Errors
/// See [`GitError`]. A patch or text that is too large or not UTF-8 is no error but left out.
pub fn read(range: &Range<'_>) -> Result<Facts, GitError> {
    let git = Git::new(range.directory);
    let base_sha = commit(&git, range.base)?;
    let head_sha = commit(&git, range.head)?;
    let fork = git.text(&["merge-base", base_sha.as_str(), head_sha.as_str()]);
    let fork: Sha = fork
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .ok_or_else(|| GitError::Unrelated {
            base: range.base.to_owned(),
            head: range.head.to_owned(),
        })?;
    let changes = changes(&git, &fork, &head_sha)?;
    let patches = patches(&git, &fork, &head_sha, &changes)?;
    let texts = texts(&git, &changes)?;
    let files: Vec<FileChange> = changes
        .iter()
        .zip(patches)
        .map(|(change, patch)| file(change, patch, &texts))
        .collect();
    let commits = commits(&git, &base_sha, &head_sha)?;
    let repo = match &range.repository {
        Some(name) => name.clone(),
        None => repository(&git, range.directory)?,
    };
    Ok(Facts {
        repo,
        repo_id: None,
        number: PullNumber(0),
        author: None,
        draft: false,
        base_ref: range.base.to_owned(),
        base_sha,
        head_sha,
        head_since: None,
        head_moved_to: None,
        changed_files: u64::try_from(files.len()).unwrap_or(u64::MAX),
        commit_count: u64::try_from(commits.len()).unwrap_or(u64::MAX),
        labels: Vec::new(),
        label_events: Known::Known(Vec::new()),
        files: Known::Known(files),
        commits: Known::Known(commits),
        check_runs: Known::Known(Vec::new()),
    })
}

fn commit(git: &Git<'_>, revision: &str) -> Result<Sha, GitError> {
    let wanted = format!("{revision}^{{commit}}");
    let arguments = [
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        &wanted,
    ];
    let no_commit = || GitError::NoCommit(revision.to_owned());
    match git.text(&arguments) {
        Ok(text) => text.trim().parse().map_err(|_| no_commit()),
        // Quiet and failed: the revision is unknown. Anything it says is about the repository itself.
        Err(GitError::Failed { message, .. }) if message.is_empty() => Err(no_commit()),
        Err(error) => Err(error),
    }
}

/// What both listings are asked for, so that they agree. `diff-tree` heeds few of a user's diff settings, and
/// the rest is said here; `.gitmodules` must not hide a moved submodule.
const DIFF: [&str; 10] = [
    "diff-tree",
    "-r",
    "-M",
    "-l3000",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--ignore-submodules=none",
    "--full-index",
];
/// What patches look like: GitHub's context of three lines. (`-U` switches patches on.)
const PATCH: [&str; 5] = [
    "--patch",
    "-U3",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--submodule=short",
];

fn changes(git: &Git<'_>, fork: &Sha, head: &Sha) -> Result<Vec<Change>, GitError> {
    let mut arguments = DIFF.to_vec();
    arguments.extend(["--raw", "-z", "--no-abbrev", fork.as_str(), head.as_str()]);
    let output = git.bytes(&arguments, None)?;
    raw::parse(&output).ok_or(GitError::Unreadable("diff-tree --raw"))
}

/// One patch a change, from its first hunk on.
fn patches(
    git: &Git<'_>,
    fork: &Sha,
    head: &Sha,
    changes: &[Change],
) -> Result<Vec<Option<String>>, GitError> {
    let mut arguments = DIFF.to_vec();
    arguments.extend(PATCH);
    arguments.extend([fork.as_str(), head.as_str()]);
    let output = git.bytes(&arguments, None)?;
    let mut sections = raw::sections(&output).into_iter();
    let mut patches = Vec::new();
    for change in changes {
        let first = sections.next();
        // A change of type is written as a removal and an addition; neither alone is its patch.
        let second = change.is_type_change().then(|| sections.next()).flatten();
        let missing = first.is_none() || (change.is_type_change() && second.is_none());
        if missing {
            return Err(GitError::Unreadable("diff-tree --patch"));
        }
        let patch = first
            .filter(|_| second.is_none())
            .and_then(raw::hunks)
            .filter(|hunks| hunks.len() <= MAX_TEXT)
            .and_then(|hunks| String::from_utf8(hunks.to_vec()).ok());
        patches.push(patch);
    }
    if sections.next().is_some() {
        return Err(GitError::Unreadable("diff-tree --patch"));
    }
    Ok(patches)
}

/// The texts on both sides of every edited regular file, by blob id.
fn texts(git: &Git<'_>, changes: &[Change]) -> Result<HashMap<String, String>, GitError> {
    let mut wanted: Vec<&str> = changes
        .iter()
        .filter(|change| change.is_edit())
        .flat_map(|change| [change.old_id.as_str(), change.new_id.as_str()])
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let sizes = git.bytes(&["cat-file", "--batch-check"], Some(&lines(&wanted)))?;
    let mut total = 0_usize;
    let small: Vec<&str> = String::from_utf8_lossy(&sizes)
        .lines()
        .zip(&wanted)
        .filter_map(|(line, id)| {
            let size = line.strip_prefix(id)?.strip_prefix(" blob ")?;
            let size: usize = size.parse().ok()?;
            let fits = size <= MAX_TEXT && total + size <= MAX_TEXTS;
            if fits {
                total += size;
            }
            fits.then_some(*id)
        })
        .collect();
    if small.is_empty() {
        return Ok(HashMap::new());
    }
    let blobs = git.bytes(&["cat-file", "--batch"], Some(&lines(&small)))?;
    raw::blobs(&blobs).ok_or(GitError::Unreadable("cat-file"))
}

fn lines(ids: &[&str]) -> Vec<u8> {
    let mut all = ids.join("\n").into_bytes();
    all.push(b'\n');
    all
}

fn file(change: &Change, patch: Option<String>, texts: &HashMap<String, String>) -> FileChange {
    let count = |sign: char| {
        let lines = patch.iter().flat_map(|patch| patch.split('\n'));
        u64::try_from(lines.filter(|line| line.starts_with(sign)).count()).unwrap_or(u64::MAX)
    };
    let text = |id: &str| change.is_edit().then(|| texts.get(id).cloned()).flatten();
    FileChange {
        path: change.path.clone(),
        previous_path: change.previous_path.clone(),
        status: status(change),
        additions: count('+'),
        deletions: count('-'),
        base_content: text(&change.old_id),
        head_content: text(&change.new_id),
        patch,
    }
}

/// The words GitHub uses.
fn status(change: &Change) -> FileStatus {
    let same_content = change.old_id == change.new_id;
    match change.letter {
        'A' => FileStatus::Added,
        'D' => FileStatus::Removed,
        'M' if same_content || change.old_mode.kind() != change.new_mode.kind() => {
            FileStatus::Changed
        }
        'M' => FileStatus::Modified,
        'R' => FileStatus::Renamed,
        'C' => FileStatus::Copied,
        'T' => FileStatus::Changed,
        other => FileStatus::Other(other.to_string()),
    }
}

fn commits(git: &Git<'_>, base: &Sha, head: &Sha) -> Result<Vec<CommitFact>, GitError> {
    let range = format!("{base}..{head}");
    let output = git.bytes(
        &[
            "log",
            "-z",
            "--reverse",
            "--no-show-signature",
            "--no-notes",
            "--no-color",
            "--encoding=UTF-8",
            "--format=tformat:%H%x00%P%x00%B",
            &range,
        ],
        None,
    )?;
    let text = String::from_utf8_lossy(&output);
    let mut fields = text.strip_suffix('\0').unwrap_or(&text).split('\0');
    let mut commits = Vec::new();
    while let Some(sha) = fields.next().filter(|sha| !sha.is_empty()) {
        let unreadable = || GitError::Unreadable("log");
        let parents = fields.next().ok_or_else(unreadable)?;
        let message = fields.next().ok_or_else(unreadable)?;
        let parents: Result<Vec<Sha>, _> = parents.split_whitespace().map(str::parse).collect();
        commits.push(CommitFact {
            sha: sha.parse().map_err(|_| unreadable())?,
            message: message.to_owned(),
            parents: parents.map_err(|_| unreadable())?,
        });
    }
    Ok(commits)
}

/// The repository's name by its remote `origin`, else by its directory.
fn repository(git: &Git<'_>, directory: &Path) -> Result<RepoName, GitError> {
    let remote = git.text(&["config", "--get", "remote.origin.url"]);
    let from_remote = remote.ok().and_then(|url| {
        let url = url
            .trim()
            .trim_end_matches('/')
            .trim_end_matches(".git")
            .to_owned();
        let mut parts = url.rsplit(['/', ':']);
        let (name, owner) = (parts.next()?, parts.next()?);
        let has_host = parts.any(|part| part.contains('.'));
        has_host.then(|| format!("{owner}/{name}").parse().ok())?
    });
    if let Some(name) = from_remote {
        return Ok(name);
    }
    let directory = std::path::absolute(directory).map_err(GitError::Run)?;
    let name = directory
        .file_name()
        .map(|n| n.to_string_lossy().into_owned());
    let plain: String = name
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let name = format!(
        "local/{}",
        if plain.is_empty() {
            "repository"
        } else {
            &plain
        }
    );
    name.parse().map_err(|_| GitError::Unreadable("config"))
}

impl Change {
    /// Both sides are regular files and the content differs.
    fn is_edit(&self) -> bool {
        matches!(self.letter, 'M' | 'R' | 'C')
            && self.old_mode.kind() == Mode::FILE
            && self.new_mode.kind() == Mode::FILE
    }

    /// Written by git as two patches.
    fn is_type_change(&self) -> bool {
        self.letter == 'T'
    }
}
