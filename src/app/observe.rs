//! The client's calls, counted.

use crate::domain::InstallationId;
use crate::github::{CallOutcome, Observer, RateLeft};
use crate::server::Metrics;
use std::sync::Arc;
use std::time::Duration;

/// Passes the client's reports on to the metrics.
pub(super) struct Counting(pub(super) Arc<Metrics>);

impl Observer for Counting {
    fn call(&self, endpoint: &'static str, outcome: CallOutcome, took: Duration) {
        let word = match outcome {
            CallOutcome::Status(200..=299) => "success",
            CallOutcome::Status(304) => "not-modified",
            CallOutcome::Status(401) => "unauthorized",
            CallOutcome::Status(403) => "forbidden",
            CallOutcome::Status(404 | 410) => "gone",
            CallOutcome::Status(409) => "conflict",
            CallOutcome::Status(422) => "unprocessable",
            CallOutcome::Status(429) => "limited",
            CallOutcome::Status(500..) => "server-error",
            CallOutcome::Status(_) => "other",
            CallOutcome::TimedOut => "timeout",
            CallOutcome::Broken => "broken",
        };
        tracing::debug!(
            endpoint,
            outcome = word,
            took_ms = took.as_millis(),
            "called GitHub"
        );
        self.0.api_call(endpoint, word);
    }

    fn rate(&self, installation: Option<InstallationId>, resource: &str, left: RateLeft) {
        if let Some(installation) = installation
            && resource == "core"
        {
            self.0.rate_left(installation, left.remaining);
        }
    }
}
