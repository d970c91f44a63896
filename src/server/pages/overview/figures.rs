//! Figures of the last ninety days, kept by repository and read on from where the last page stopped.
//!
//! INVARIANT: every figure belongs to a repository, so that what a person may not see is not counted for them either.
//! Memory grows with days and repositories, not with the log.

use crate::audit::{Onward, Place, seq_of};
use crate::domain::{Quadrant, RepoId, Timestamp};
use crate::server::pages::log::Budget;
use crate::server::pages::record::Entry;
use crate::server::pages::viewer::Sees;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::path::Path;
use std::time::Duration;

/// The longest period that is shown.
pub(super) const LONGEST_DAYS: i64 = 90;
/// An approval within this time of the question hints at a D that need not have been asked.
pub(super) const QUICK: Duration = Duration::from_secs(30);
/// Quick approvals that are kept to be looked at.
const KEPT: usize = 200;
const DAY_MILLIS: i64 = 86_400_000;

/// What is kept.
#[derive(Default)]
pub(in crate::server::pages) struct Figures {
    /// The last entry that was counted.
    pub(super) seen: u64,
    repos: BTreeMap<RepoId, Repo>,
    asked: HashMap<(RepoId, u64), Asked>,
    quick: VecDeque<Quick>,
}

#[derive(Default)]
struct Repo {
    name: String,
    days: BTreeMap<i64, Day>,
}

#[derive(Default)]
struct Day {
    /// Verdicts in the order of [`place`].
    verdicts: [u64; 4],
    /// Seconds from question to answer.
    answers: Vec<u32>,
    quick: u64,
}

/// A question that waits for its answer.
#[derive(Default)]
struct Asked {
    nonce: Option<String>,
    at: Option<Timestamp>,
    reasoning: String,
    day: i64,
}

/// A D that was approved at once.
#[derive(Debug, Clone)]
pub(super) struct Quick {
    pub(super) repo: RepoId,
    pub(super) entry: Entry,
    pub(super) after: Duration,
    pub(super) reasoning: String,
}

/// Where a quadrant stands in a row of four: as people read the grid.
pub(super) fn place(quadrant: Quadrant) -> usize {
    match quadrant {
        Quadrant::A => 0,
        Quadrant::B => 1,
        Quadrant::C => 2,
        Quadrant::D => 3,
    }
}

/// The quadrants in the order of [`place`].
pub(super) const QUADRANTS: [Quadrant; 4] = [Quadrant::A, Quadrant::B, Quadrant::C, Quadrant::D];

/// The day of a moment, counted from 1970.
pub(super) fn day_of(at: Timestamp) -> i64 {
    at.millis().div_euclid(DAY_MILLIS)
}

/// The beginning of a day.
pub(super) fn start_of(day: i64) -> Timestamp {
    Timestamp::from_millis(day.saturating_mul(DAY_MILLIS))
}

impl Figures {
    /// Counts what came since the last time; `false` when the budget ended before the log did.
    pub(super) fn read_on(
        &mut self,
        dir: &Path,
        now: Timestamp,
        mut budget: Budget,
    ) -> io::Result<bool> {
        let first_day = day_of(now) - LONGEST_DAYS + 1;
        self.forget(first_day);
        let from = if self.seen == 0 {
            Place::At(start_of(first_day))
        } else {
            Place::Before(self.seen + 1)
        };
        let mut walk = Onward::from(dir, from)?;
        let mut jumped = false;
        loop {
            let Some(line) = walk.next_line()? else {
                return Ok(true);
            };
            let Some(seq) = seq_of(line) else { continue };
            // The file was put aside while it was opened: what is missing stands in the one that was put aside.
            if self.seen > 0 && seq > self.seen + 1 && !jumped {
                jumped = true;
                walk = Onward::from(dir, Place::Before(self.seen + 1))?;
                continue;
            }
            if seq <= self.seen {
                continue;
            }
            if counts(line)
                && let Some(entry) = Entry::read(line)
            {
                self.count(entry);
            }
            self.seen = seq;
            if !budget.pays(line) {
                return Ok(false);
            }
        }
    }

    fn forget(&mut self, first_day: i64) {
        for repo in self.repos.values_mut() {
            repo.days = repo.days.split_off(&first_day);
        }
        self.repos.retain(|_, repo| !repo.days.is_empty());
        self.asked.retain(|_, asked| asked.day >= first_day);
        self.quick
            .retain(|quick| day_of(quick.entry.ts) >= first_day);
    }

    fn count(&mut self, entry: Entry) {
        let (Some(repo), Some((name, number))) = (entry.repo_id, entry.pull()) else {
            return;
        };
        let key = (repo, number);
        let name = name.to_owned();
        match entry.kind.as_str() {
            "classification" => {
                let Some(quadrant) = entry.quadrant else {
                    return;
                };
                if let Some(count) = self
                    .day(repo, name, entry.ts)
                    .verdicts
                    .get_mut(place(quadrant))
                {
                    *count += 1;
                }
                if quadrant == Quadrant::D {
                    let asked = self.asked.entry(key).or_default();
                    asked.reasoning = entry
                        .reasoning
                        .unwrap_or_default()
                        .chars()
                        .take(400)
                        .collect();
                    asked.day = day_of(entry.ts);
                } else {
                    self.asked.remove(&key);
                }
            }
            "issue_opened" if entry.issue_kind.as_deref() == Some("pending_owner") => {
                if let Some(asked) = self.asked.get_mut(&key) {
                    asked.nonce = entry.nonce;
                    asked.at = Some(entry.ts);
                }
            }
            "owner_answer" => self.answered(repo, name, key, entry),
            _ => {}
        }
    }

    /// A deferral leaves the question open; anything else ends it.
    fn answered(&mut self, repo: RepoId, name: String, key: (RepoId, u64), entry: Entry) {
        let approves = matches!(entry.answer.as_deref(), Some("approve_a" | "approve_b"));
        if !approves && entry.answer.as_deref() != Some("reject") {
            return;
        }
        let Some(asked) = self
            .asked
            .get(&key)
            .filter(|asked| asked.nonce == entry.nonce)
        else {
            return;
        };
        let Some(at) = asked.at else { return };
        let reasoning = asked.reasoning.clone();
        self.asked.remove(&key);
        let after = entry.answered_at.unwrap_or(entry.ts).since(at);
        let quick = approves && after <= QUICK;
        let day = self.day(repo, name, entry.ts);
        day.answers
            .push(u32::try_from(after.as_secs()).unwrap_or(u32::MAX));
        if quick {
            day.quick += 1;
            self.quick.push_back(Quick {
                repo,
                entry,
                after,
                reasoning,
            });
            if self.quick.len() > KEPT {
                self.quick.pop_front();
            }
        }
    }

    fn day(&mut self, repo: RepoId, name: String, at: Timestamp) -> &mut Day {
        let repo = self.repos.entry(repo).or_default();
        repo.name = name;
        repo.days.entry(day_of(at)).or_default()
    }

    /// The figures of the days from `first` on, of what may be seen.
    pub(super) fn summary(&self, eyes: &Sees, first: i64) -> Summary {
        let mut summary = Summary::default();
        let mut seconds = Vec::new();
        for (_, repo) in self.repos.iter().filter(|(id, _)| eyes.repo(Some(**id))) {
            let mut row = Row {
                name: repo.name.clone(),
                ..Row::default()
            };
            for (day, figures) in repo.days.range(first..) {
                add(summary.days.entry(*day).or_default(), &figures.verdicts);
                add(&mut row.verdicts, &figures.verdicts);
                row.quick += figures.quick;
                row.answers += u64::try_from(figures.answers.len()).unwrap_or(0);
                seconds.extend_from_slice(&figures.answers);
            }
            add(&mut summary.verdicts, &row.verdicts);
            summary.quick_count += row.quick;
            if row.verdicts.iter().any(|count| *count > 0) || row.answers > 0 {
                summary.repos.push(row);
            }
        }
        seconds.sort_unstable();
        summary.answers = u64::try_from(seconds.len()).unwrap_or(0);
        summary.median = quantile(&seconds, 50);
        summary.p90 = quantile(&seconds, 90);
        let quick = self.quick.iter().rev();
        summary.quick = quick
            .filter(|quick| eyes.repo(Some(quick.repo)) && day_of(quick.entry.ts) >= first)
            .take(20)
            .cloned()
            .collect();
        summary
    }
}

/// Lines of other kinds need no reading.
fn counts(line: &[u8]) -> bool {
    let head = line.get(..160).unwrap_or(line);
    [
        "\"kind\":\"classification\"",
        "\"kind\":\"issue_opened\"",
        "\"kind\":\"owner_answer\"",
    ]
    .iter()
    .any(|kind| memchr::memmem::find(head, kind.as_bytes()).is_some())
}

fn add(into: &mut [u64; 4], more: &[u64; 4]) {
    for (into, more) in into.iter_mut().zip(more) {
        *into += more;
    }
}

/// The smallest value that so many per cent do not exceed.
fn quantile(sorted: &[u32], percent: usize) -> Option<Duration> {
    let rank = (sorted.len() * percent).div_ceil(100);
    let value = sorted.get(rank.checked_sub(1)?)?;
    Some(Duration::from_secs(u64::from(*value)))
}

/// The figures of a period.
#[derive(Default)]
pub(super) struct Summary {
    pub(super) verdicts: [u64; 4],
    pub(super) days: BTreeMap<i64, [u64; 4]>,
    pub(super) repos: Vec<Row>,
    pub(super) answers: u64,
    pub(super) median: Option<Duration>,
    pub(super) p90: Option<Duration>,
    pub(super) quick_count: u64,
    /// The newest of them.
    pub(super) quick: Vec<Quick>,
}

/// One repository.
#[derive(Default)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) verdicts: [u64; 4],
    pub(super) answers: u64,
    pub(super) quick: u64,
}

#[cfg(test)]
mod tests;
