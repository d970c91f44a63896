//! The clocks of agent identities (L4): advisory for a while, then blocking.
//!
//! Kept in the store and shown in `tick_metrics.l4_burn_in`. INVARIANT: state that cannot be read never blocks: its
//! clock starts again. A promotion is never taken back by a rejection, for that would make the gate milder.

use crate::domain::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

const DAY: Duration = Duration::from_hours(24);
/// Clocks that are kept. Identities come from commit messages, which anybody can write.
const MOST: usize = 5_000;

/// The clock of one identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// When it began to run, or began again.
    pub started_at: Timestamp,
    /// When an owner last rejected a D pull request of this identity.
    #[serde(default)]
    pub last_rejection_at: Option<Timestamp>,
    /// Since when the identity blocks.
    #[serde(default)]
    pub promoted_at: Option<Timestamp>,
}

impl Clock {
    fn started(now: Timestamp) -> Self {
        Self {
            started_at: now,
            last_rejection_at: None,
            promoted_at: None,
        }
    }

    /// Whole or begun days until the promotion; `None` when there will be none by itself, or was one.
    #[must_use]
    pub fn days_left(&self, days: u64, now: Timestamp) -> Option<u64> {
        if days == 0 || self.promoted_at.is_some() {
            return None;
        }
        let left = window(days).saturating_sub(now.since(self.started_at));
        Some(left.as_secs().div_ceil(DAY.as_secs()))
    }

    /// No moment of it may lie in the future: such a clock would never run out, or block from the start.
    fn is_plausible(&self, now: Timestamp) -> bool {
        [
            Some(self.started_at),
            self.last_rejection_at,
            self.promoted_at,
        ]
        .into_iter()
        .flatten()
        .all(|at| at <= now)
    }
}

/// All clocks, by [`super::Agent::id`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct BurnIn {
    clocks: BTreeMap<String, Clock>,
}

impl BurnIn {
    /// Reads what was kept. What cannot be read, or lies in the future, starts again at `now`; the ids of those
    /// clocks come second, so that the log can tell. A value that is no map at all is an empty one.
    #[must_use]
    pub fn read(kept: &Value, now: Timestamp) -> (Self, Vec<String>) {
        let mut restarted = Vec::new();
        let mut clocks = BTreeMap::new();
        for (id, value) in kept.as_object().into_iter().flatten() {
            let clock = Clock::deserialize(value)
                .ok()
                .filter(|clock| clock.is_plausible(now))
                .unwrap_or_else(|| {
                    restarted.push(id.clone());
                    Clock::started(now)
                });
            clocks.insert(id.clone(), clock);
        }
        (Self { clocks }, restarted)
    }

    /// The clock of an identity; `None` when it was never seen.
    #[must_use]
    pub fn clock(&self, id: &str) -> Option<&Clock> {
        self.clocks.get(id)
    }

    /// All clocks, by id.
    pub fn clocks(&self) -> impl Iterator<Item = (&str, &Clock)> {
        self.clocks.iter().map(|(id, clock)| (id.as_str(), clock))
    }

    /// The identity was met: its clock starts if it does not run yet. Did it start? Not beyond 5,000 clocks.
    pub fn seen(&mut self, id: &str, now: Timestamp) -> bool {
        if self.clocks.contains_key(id) || self.clocks.len() >= MOST {
            return false;
        }
        self.clocks.insert(id.to_owned(), Clock::started(now));
        true
    }

    /// An owner rejected a D pull request of this identity: the clock starts again. A promoted identity stays so.
    pub fn rejected(&mut self, id: &str, now: Timestamp) {
        self.seen(id, now);
        let Some(clock) = self.clocks.get_mut(id) else {
            return;
        };
        clock.last_rejection_at = Some(now);
        if clock.promoted_at.is_none() {
            clock.started_at = now;
        }
    }

    /// Promotes what has run for `days` without a rejection; the ids that were promoted now. `0` promotes nobody.
    pub fn advance(&mut self, days: u64, now: Timestamp) -> Vec<String> {
        if days == 0 {
            return Vec::new();
        }
        let mut promoted = Vec::new();
        for (id, clock) in &mut self.clocks {
            if clock.promoted_at.is_none() && now.since(clock.started_at) >= window(days) {
                clock.promoted_at = Some(now);
                promoted.push(id.clone());
            }
        }
        promoted
    }
}

fn window(days: u64) -> Duration {
    Duration::from_secs(days.saturating_mul(DAY.as_secs()))
}
