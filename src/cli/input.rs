//! What `classify` and `explain` are asked about: facts from a file or a git range, and the policy to judge by.

use super::Io;
use super::terminal::plain;
use crate::domain::{Facts, FactsError, RepoName};
use crate::git_range::{self, Range};
use crate::policy::{Policy, nearest::nearest};
use crate::rules::{self, Verdict};
use crate::settings::{self, Loaded};
use clap::Args;
use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The most bytes of a document of facts.
const MAX_FACTS: u64 = 256 * 1024 * 1024;
/// The directory that is looked for when none is named.
const DEFAULT_CONFIG: &str = "config";

/// Where the policy comes from.
#[derive(Debug, Clone, Args)]
pub(super) struct ConfigArgument {
    /// Configuration directory [default: `config`, if it holds one]
    #[arg(long = "config", value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl ConfigArgument {
    /// The directory named, or the default one if it looks like ours: a project may have a `config` of its own.
    pub fn directory(&self) -> Option<PathBuf> {
        if self.directory.is_some() {
            return self.directory.clone();
        }
        let default = Path::new(DEFAULT_CONFIG);
        let ours = ["owner.yml", "projects.yml", "env.yml"];
        let found = ours.iter().any(|name| default.join(name).exists());
        found.then(|| default.to_path_buf())
    }

    /// The directory named, or the default one whether it is there or not.
    pub fn directory_or_default(&self) -> PathBuf {
        self.directory
            .clone()
            .unwrap_or_else(|| PathBuf::from(DEFAULT_CONFIG))
    }
}

/// What is to be judged.
#[derive(Debug, Args)]
pub(super) struct Input {
    /// Facts as a JSON document; `-` reads standard input
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "repo",
        conflicts_with = "repo"
    )]
    facts: Option<PathBuf>,

    /// A local git repository; with `--base` and `--head`
    #[arg(long, value_name = "DIR", requires = "base", requires = "head")]
    repo: Option<PathBuf>,

    /// The revision that the change is to be merged into
    #[arg(long, value_name = "REV", requires = "repo")]
    base: Option<String>,

    /// The revision that is to be merged
    #[arg(long, value_name = "REV", requires = "repo")]
    head: Option<String>,

    /// The repository's name on GitHub [default: by its remote `origin`]
    #[arg(long, value_name = "OWNER/NAME", requires = "repo")]
    name: Option<RepoName>,

    #[command(flatten)]
    config: ConfigArgument,
}

/// A change and what is decided about it.
pub(super) struct Judged {
    pub facts: Facts,
    pub policy: Policy,
    pub verdict: Verdict,
}

impl Input {
    /// Reads and judges. `None`: the input is unusable, and standard error says why.
    pub fn judge(&self, io: &mut Io<'_>) -> Option<Judged> {
        let facts = self.read_facts().map_err(|why| io.say(why)).ok();
        let policy = self.read_policy(io);
        let (facts, policy) = (facts?, policy?);
        let verdict = rules::evaluate(&facts, &policy);
        Some(Judged {
            facts,
            policy,
            verdict,
        })
    }

    fn read_facts(&self) -> Result<Facts, String> {
        if let (Some(directory), Some(base), Some(head)) = (&self.repo, &self.base, &self.head) {
            let range = Range {
                directory,
                base,
                head,
                repository: self.name.clone(),
            };
            return git_range::read(&range)
                .map_err(|error| format!("quadgate: {}", plain(&error.to_string())));
        }
        let path = self.facts.as_deref().unwrap_or_else(|| Path::new("-"));
        let stdin = path == Path::new("-");
        let shown = if stdin {
            "standard input".into()
        } else {
            plain(&path.to_string_lossy())
        };
        let read = if stdin {
            read_bounded(std::io::stdin().lock())
        } else {
            File::open(path).and_then(read_bounded)
        };
        let text = read.map_err(|error| format!("quadgate: `{shown}` cannot be read: {error}"))?;
        Facts::from_json(&text).map_err(|error| facts_problem(&shown, &error))
    }

    fn read_policy(&self, io: &mut Io<'_>) -> Option<Policy> {
        let Some(directory) = self.config.directory() else {
            io.say("quadgate: no configuration directory: judging by the built-in rules, without owners or a repository of the bot's own (see --config)");
            let policy = Policy::built_in().map_err(|error| io.say(error.to_string()));
            return policy.ok();
        };
        load(&directory, io).map(|loaded| loaded.policy)
    }
}

/// Loads a configuration directory. `None`: standard error names every problem.
pub(super) fn load(directory: &Path, io: &mut Io<'_>) -> Option<Loaded> {
    match settings::load(directory) {
        Ok(loaded) => Some(loaded),
        Err(problems) => {
            for problem in problems {
                io.say(plain(&problem.to_string()));
            }
            None
        }
    }
}

/// Reads a whole source; more than the bound is an error.
pub(super) fn read_bounded(source: impl Read) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    source.take(MAX_FACTS + 1).read_to_end(&mut text)?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > MAX_FACTS {
        return Err(std::io::Error::other(format!(
            "more than {MAX_FACTS} bytes"
        )));
    }
    Ok(text)
}

/// `FILE:LINE:COLUMN: what`, with the nearest known member where one is unknown.
fn facts_problem(shown: &str, error: &FactsError) -> String {
    let source = error
        .source()
        .and_then(|e| e.downcast_ref::<serde_json::Error>());
    let Some(source) = source else {
        return format!("quadgate: {shown}: {error}");
    };
    let (line, column) = (source.line(), source.column());
    let text = source.to_string();
    let what = text
        .strip_suffix(&format!(" at line {line} column {column}"))
        .unwrap_or(&text);
    let mut message = plain(what);
    if let Some((unknown, known)) = unknown_member(what) {
        message = match nearest(unknown, known) {
            Some(near) => format!(
                "unknown member `{}`; did you mean `{near}`?",
                plain(unknown)
            ),
            None => plain(&what.replacen("unknown field", "unknown member", 1)),
        };
    }
    format!("{shown}:{line}:{column}: {message}")
}

/// The unknown member and the known ones, out of serde's words.
fn unknown_member(what: &str) -> Option<(&str, Vec<&str>)> {
    let rest = what.strip_prefix("unknown field `")?;
    let (unknown, rest) = rest.split_once("`, expected ")?;
    let known = rest.split('`').skip(1).step_by(2).collect();
    Some((unknown, known))
}
