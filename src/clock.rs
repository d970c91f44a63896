//! "Now" and waiting, as a value that is passed in: the server gets the system's clock, tests their own.

use crate::domain::Timestamp;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// A clock.
pub trait Clock: Send + Sync + 'static {
    /// The present moment.
    fn now(&self) -> Timestamp;

    /// Returns after `duration` by this clock.
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// Returns when this clock shows `moment`: at once when that is past, also when it passed since somebody looked.
    fn sleep_until(&self, moment: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.sleep(moment.since(self.now()))
    }
}

/// The clock of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::from(chrono::Utc::now())
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(duration))
    }
}
