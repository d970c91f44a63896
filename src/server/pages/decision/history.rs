//! What the log says of one pull request, newest first, as far back as one page may look.

use crate::audit::{Back, Place, entry_at, seq_of};
use crate::domain::{PullNumber, RepoId, RepoName};
use crate::server::pages::log::Budget;
use crate::server::pages::record::Entry;
use crate::server::pages::viewer::Sees;
use std::io;
use std::path::Path;

/// Entries that one page shows.
const MOST: usize = 200;

/// Whose entries are read, and for whom.
pub(super) struct About {
    /// The id that survives renames; `None` when the store never heard of the name.
    pub(super) id: Option<RepoId>,
    pub(super) name: RepoName,
    pub(super) number: PullNumber,
    pub(super) eyes: Sees,
}

impl About {
    fn is_of(&self, entry: &Entry) -> bool {
        let pull = entry.pull();
        let named = pull.is_some_and(|(repo, _)| repo.eq_ignore_ascii_case(self.name.as_str()));
        let same_repo = match (self.id, entry.repo_id) {
            (Some(id), Some(of)) => id == of,
            (None, _) | (_, None) => named,
        };
        same_repo
            && pull.is_some_and(|(_, number)| number == self.number.0)
            && self.eyes.repo(entry.repo_id)
    }
}

/// The entries of one pull request.
#[derive(Default)]
pub(super) struct History {
    /// Newest first.
    pub(super) entries: Vec<Entry>,
    /// Where the page stopped looking; `None`: it looked to the beginning of the log.
    pub(super) stopped_at: Option<u64>,
}

impl History {
    pub(super) fn newest_verdict(&self) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.is_verdict())
    }

    pub(super) fn newest_of(&self, kind: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.kind == kind)
    }
}

/// Reads backwards from the end of the log.
pub(super) fn read(dir: &Path, about: &About, mut budget: Budget) -> io::Result<History> {
    // Entries are written in one way: a line without these bytes is about another pull request.
    let needle = format!("#{}\"", about.number);
    let finder = memchr::memmem::Finder::new(needle.as_bytes());
    let mut history = History::default();
    let mut walk = Back::from(dir, Place::End)?;
    while let Some(line) = walk.next_line()? {
        if finder.find(line).is_some()
            && let Some(entry) = Entry::read(line).filter(|entry| about.is_of(entry))
        {
            history.entries.push(entry);
        }
        if history.entries.len() >= MOST || !budget.pays(line) {
            history.stopped_at = seq_of(line);
            return Ok(history);
        }
    }
    Ok(history)
}

/// The verdict with this number, if it is one on this pull request.
pub(super) fn verdict_at(dir: &Path, about: &About, seq: u64) -> io::Result<Option<Entry>> {
    let line = entry_at(dir, seq)?;
    let entry = line.and_then(|line| Entry::read(&line));
    Ok(entry.filter(|entry| entry.is_verdict() && about.is_of(entry)))
}
