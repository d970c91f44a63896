//! The primary rate limit: so many requests an hour and installation, on the virtual clock.

use crate::model::Time;
use chrono::TimeDelta;
use serde_json::{Value, json};
use std::collections::HashMap;

pub(crate) struct Limits {
    limit: u64,
    spent: HashMap<u64, (u64, Time)>,
}

impl Limits {
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            limit,
            spent: HashMap::new(),
        }
    }

    fn window(&mut self, installation: u64, now: Time) -> &mut (u64, Time) {
        let window = self
            .spent
            .entry(installation)
            .or_insert((0, now + TimeDelta::hours(1)));
        if window.1 <= now {
            *window = (0, now + TimeDelta::hours(1));
        }
        window
    }

    /// Counts one request; `false` when nothing is left.
    pub(crate) fn spend(&mut self, installation: u64, now: Time) -> bool {
        let limit = self.limit;
        let window = self.window(installation, now);
        if window.0 >= limit {
            return false;
        }
        window.0 += 1;
        true
    }

    /// A 304 is free.
    pub(crate) fn give_back(&mut self, installation: u64, now: Time) {
        let window = self.window(installation, now);
        window.0 = window.0.saturating_sub(1);
    }

    pub(crate) fn set_remaining(&mut self, installation: u64, remaining: u64, now: Time) {
        let limit = self.limit;
        self.window(installation, now).0 = limit.saturating_sub(remaining);
    }

    fn state(&self, installation: u64, now: Time) -> (u64, Time) {
        let fresh = (0, now + TimeDelta::hours(1));
        self.spent
            .get(&installation)
            .copied()
            .filter(|(_, reset)| *reset > now)
            .unwrap_or(fresh)
    }

    pub(crate) fn json(&self, installation: u64, now: Time) -> Value {
        let (used, reset) = self.state(installation, now);
        json!({"limit": self.limit, "remaining": self.limit.saturating_sub(used), "reset": reset.timestamp(), "used": used})
    }

    pub(crate) fn headers(&self, installation: u64, now: Time) -> Vec<(String, String)> {
        let (used, reset) = self.state(installation, now);
        let remaining = self.limit.saturating_sub(used);
        [
            ("limit", self.limit.to_string()),
            ("remaining", remaining.to_string()),
            ("used", used.to_string()),
            ("reset", reset.timestamp().to_string()),
            ("resource", "core".into()),
        ]
        .map(|(name, value)| (format!("x-ratelimit-{name}"), value))
        .into()
    }
}
