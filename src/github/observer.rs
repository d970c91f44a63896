//! What the server learns about the client's calls: counts, durations, the rate that is left.
//!
//! The client itself keeps no metrics. An observer must be quick and must not block.

use crate::domain::{InstallationId, Timestamp};
use std::time::Duration;

/// How one HTTP exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallOutcome {
    /// An answer with this status.
    Status(u16),
    /// No answer within the time allowed.
    TimedOut,
    /// No connection, or it broke.
    Broken,
}

/// The budget of one installation (or of the App itself) for one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLeft {
    /// Calls left until `reset`.
    pub remaining: u64,
    /// Calls allowed in a period, where GitHub says so.
    pub limit: Option<u64>,
    /// When the budget is whole again, by GitHub's clock.
    pub reset: Timestamp,
}

/// Receives one report a call.
pub trait Observer: Send + Sync + 'static {
    /// One HTTP exchange is over. `endpoint` is one of a fixed set of names such as `GET pull`.
    fn call(&self, endpoint: &'static str, outcome: CallOutcome, took: Duration);

    /// GitHub said how much is left. `installation` is `None` for calls as the App itself.
    fn rate(&self, installation: Option<InstallationId>, resource: &str, left: RateLeft);
}

/// Listens to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn call(&self, _endpoint: &'static str, _outcome: CallOutcome, _took: Duration) {}

    fn rate(&self, _installation: Option<InstallationId>, _resource: &str, _left: RateLeft) {}
}
