//! A cap on writes an hour and pull request: whatever goes wrong in a loop with somebody else's bot, it ends here.

use crate::domain::{PullNumber, RepoId, Timestamp};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const HOUR: Duration = Duration::from_hours(1);

/// The writes of the last hour, by pull request.
pub struct WriteBudget {
    cap: usize,
    recent: Mutex<HashMap<(RepoId, PullNumber), VecDeque<Timestamp>>>,
}

impl WriteBudget {
    /// At most `cap` writes an hour and pull request.
    #[must_use]
    pub fn new(cap: u64) -> Self {
        Self {
            cap: usize::try_from(cap).unwrap_or(usize::MAX),
            recent: Mutex::default(),
        }
    }

    /// How many are allowed.
    #[must_use]
    pub fn cap(&self) -> u64 {
        self.cap as u64
    }

    /// Takes one write, or says how long to wait for the next.
    pub(super) fn take(
        &self,
        repo: RepoId,
        number: PullNumber,
        now: Timestamp,
    ) -> Result<(), Duration> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.len() > 10_000 {
            recent.retain(|_, times| times.back().is_some_and(|last| now.since(*last) < HOUR));
        }
        let times = recent.entry((repo, number)).or_default();
        while times.front().is_some_and(|first| now.since(*first) >= HOUR) {
            times.pop_front();
        }
        match times.front() {
            Some(first) if times.len() >= self.cap => Err(HOUR.saturating_sub(now.since(*first))),
            Some(_) | None => {
                times.push_back(now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pull_request_is_capped_and_others_are_not() {
        let budget = WriteBudget::new(2);
        let at = |minute: i64| Timestamp::from_millis(minute * 60_000);
        let (repo, one, two) = (RepoId(1), PullNumber(1), PullNumber(2));
        assert!(budget.take(repo, one, at(0)).is_ok());
        assert!(budget.take(repo, one, at(10)).is_ok());
        assert_eq!(budget.take(repo, one, at(20)), Err(Duration::from_mins(40)));
        assert!(budget.take(repo, two, at(20)).is_ok());
        assert!(budget.take(repo, one, at(60)).is_ok());
    }
}
