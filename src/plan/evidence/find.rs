//! Which ledgers of a head are read: those among its changed files, and those its commits name.
//!
//! INVARIANT: what is named and not read (odd path, one too many) is a problem, never nothing.

use crate::domain::{Facts, FileStatus, Known};
use crate::evidence::is_ledger_path;
use crate::rules::{clipped, trailers};

/// The trailer by which a commit names a ledger.
pub const TRAILER: &str = "Evidence-Ledger";
/// Ledgers that are read of one head.
pub const MOST_LEDGERS: usize = 10;
/// Bytes of a ledger that is read. A ledger is a page of text.
pub const LONGEST_LEDGER: usize = 64 * 1024;
/// Problems that are told one by one.
const MOST_PROBLEMS: usize = 20;
/// Longer paths are not looked up.
const LONGEST_PATH: usize = 400;

/// What is to be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Paths at the head, each once: changed ledgers, then those that commits name.
    pub paths: Vec<String>,
    /// Ledgers that are named and cannot be read.
    pub problems: Vec<String>,
}

impl Wanted {
    /// The ledgers of these facts.
    #[must_use]
    pub fn of(facts: &Facts) -> Self {
        let mut wanted = Self::default();
        let files = facts.files.items().iter();
        for file in files.filter(|file| file.status != FileStatus::Removed) {
            if is_ledger_path(&file.path) {
                wanted.add(&file.path);
            }
        }
        for commit in facts.commits.items() {
            for trailer in trailers::parse(&commit.message) {
                if trailer.is(TRAILER) {
                    wanted.named(&trailer.value);
                }
            }
        }
        if wanted.paths.len() > MOST_LEDGERS {
            let more = wanted.paths.len() - MOST_LEDGERS;
            wanted.paths.truncate(MOST_LEDGERS);
            wanted.problems.push(format!(
                "{more} more ledgers were not read; a head may have {MOST_LEDGERS}"
            ));
        }
        wanted
    }

    fn add(&mut self, path: &str) {
        if !self.paths.iter().any(|known| known == path) {
            self.paths.push(path.to_owned());
        }
    }

    fn named(&mut self, value: &str) {
        let path = value.trim_matches('`').trim();
        let path = path.strip_prefix("./").unwrap_or(path);
        let odd = path.len() > LONGEST_PATH
            || path.contains('\\')
            || path.chars().any(char::is_control)
            || path.split('/').any(|part| matches!(part, "" | "." | ".."));
        if odd {
            let shown = clipped(value, 100);
            self.problem(format!("`{TRAILER}: {shown}` names no path"));
        } else if !matches!(ending(path), "md" | "json") {
            let shown = clipped(path, 100);
            self.problem(format!(
                "`{shown}`, named by `{TRAILER}`, is neither Markdown nor JSON"
            ));
        } else {
            self.add(path);
        }
    }

    /// Whatever commits hold, there are few enough to be told; one is as good as many.
    fn problem(&mut self, problem: String) {
        if self.problems.len() < MOST_PROBLEMS && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}

/// What follows the last dot of a path.
pub(super) fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// The changed paths but for ledgers, both of a rename; each once, in the order of the list.
pub(super) fn changed(facts: &Facts, ledgers: &[&str]) -> Vec<String> {
    let mut changed: Vec<String> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for file in facts.files.items() {
        // The source of a copy stays as it was.
        let before = file
            .previous_path
            .as_ref()
            .filter(|_| file.status != FileStatus::Copied);
        for path in before.into_iter().chain([&file.path]) {
            let is_ledger = is_ledger_path(path) || ledgers.contains(&path.as_str());
            if !is_ledger && known.insert(path.clone()) {
                changed.push(path.clone());
            }
        }
    }
    changed
}

/// Why files or commits could not be read this time.
pub(super) fn unknown(facts: &Facts) -> Option<String> {
    let causes: Vec<String> = [
        ("files", facts.files.cause()),
        ("commits", facts.commits.cause()),
    ]
    .into_iter()
    .filter_map(|(what, cause)| Some(format!("{what} unknown: {}", clipped(cause?, 200))))
    .collect();
    (!causes.is_empty()).then(|| causes.join("; "))
}

/// Lists that are shorter than the pull request says: GitHub cuts them off, for good.
pub(super) fn cut_off(facts: &Facts) -> Vec<String> {
    let lists = [
        ("files", listed(&facts.files), facts.changed_files),
        ("commits", listed(&facts.commits), facts.commit_count),
    ];
    let cut = lists.into_iter().filter_map(|(what, listed, all)| {
        let listed = listed.filter(|listed| *listed != all)?;
        Some(format!(
            "{listed} of {all} {what} are listed; what the others hold is not known"
        ))
    });
    cut.collect()
}

fn listed<T>(list: &Known<Vec<T>>) -> Option<u64> {
    list.known().and_then(|list| u64::try_from(list.len()).ok())
}
