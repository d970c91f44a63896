//! Faults, limits, and what was asked.

use crate::{FakeGitHub, FaultRule, RequestRecord};
use chrono::TimeDelta;

impl FakeGitHub {
    /// Makes some requests go wrong.
    pub fn fail(&self, rule: FaultRule) {
        self.with(|world| world.faults.add(rule));
    }

    /// Nothing goes wrong any more.
    pub fn clear_faults(&self) {
        self.with(|world| world.faults.clear());
    }

    /// Everything asked since the start or [`clear_requests`](Self::clear_requests), in order.
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.with(|world| world.requests.clone())
    }

    /// How often an operation was asked, such as `GET /repos/{owner}/{repo}/pulls/{pull_number}`.
    pub fn count(&self, operation: &str) -> usize {
        self.with(|world| {
            world
                .requests
                .iter()
                .filter(|record| record.operation() == operation)
                .count()
        })
    }

    /// How many requests were not GET and did something.
    pub fn writes(&self) -> usize {
        let is_write = |record: &&RequestRecord| {
            record.method != "GET" && !record.route.ends_with("/access_tokens")
        };
        self.with(|world| world.requests.iter().filter(is_write).count())
    }

    /// Forgets the log.
    pub fn clear_requests(&self) {
        self.with(|world| world.requests.clear());
    }

    /// Breaches of the contract so far: by requests, and by our own answers.
    pub fn violations(&self) -> Vec<String> {
        self.with(|world| world.violations().to_vec())
    }

    /// Fails the test with every breach.
    ///
    /// # Panics
    /// When there is one.
    #[track_caller]
    pub fn assert_no_violations(&self) {
        let found = self.violations();
        assert!(
            found.is_empty(),
            "GitHub's contract was broken:\n{}",
            found.join("\n")
        );
    }

    /// How many requests an installation has left in this hour.
    pub fn set_rate_remaining(&self, installation: u64, remaining: u64) {
        self.with(|world| {
            let now = world.now();
            world.limits.set_remaining(installation, remaining, now);
        });
    }

    /// Every token is refused from now on (401) until a new one is made.
    pub fn expire_tokens(&self) {
        self.with(|world| world.doors.expire_tokens());
    }

    /// How long new tokens live.
    pub fn set_token_life(&self, life: TimeDelta) {
        self.with(|world| world.doors.set_token_life(life));
    }

    /// How many tokens were made.
    pub fn tokens_minted(&self) -> u64 {
        self.with(|world| world.doors.minted)
    }
}
