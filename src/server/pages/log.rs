//! Reading the audit log for a page: off the async threads, few at once, with an end.

use super::error::PageError;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Readers at once; more wait.
const READERS: usize = 3;
/// How long one waits to begin.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long one page may read.
const TIME: Duration = Duration::from_millis(1_500);
/// How much one page may read.
const BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// The audit log as the pages read it.
pub(super) struct Log {
    dir: Arc<Path>,
    readers: Arc<Semaphore>,
}

impl Log {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self {
            dir: dir.into(),
            readers: Arc::new(Semaphore::new(READERS)),
        }
    }

    /// Reads with the log's directory and a fresh budget.
    pub(super) async fn read<T, F>(&self, work: F) -> Result<T, PageError>
    where
        T: Send + 'static,
        F: FnOnce(&Path, Budget) -> io::Result<T> + Send + 'static,
    {
        let waiting = Arc::clone(&self.readers).acquire_owned();
        let Ok(Ok(permit)) = tokio::time::timeout(PATIENCE, waiting).await else {
            return Err(PageError::Busy);
        };
        let dir = Arc::clone(&self.dir);
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&dir, Budget::fresh())
        });
        match done.await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(PageError::unavailable("the audit log", &error)),
            Err(error) => Err(PageError::unavailable("the audit log", &error)),
        }
    }
}

/// What one page may spend.
pub(super) struct Budget {
    until: Instant,
    bytes: u64,
    lines: u64,
}

impl Budget {
    pub(super) fn fresh() -> Self {
        Self {
            until: Instant::now() + TIME,
            bytes: BYTES,
            lines: 0,
        }
    }

    /// Pays for a line; `false` when nothing is left. The clock is looked at now and then.
    pub(super) fn pays(&mut self, line: &[u8]) -> bool {
        self.lines += 1;
        let cost = u64::try_from(line.len()).unwrap_or(u64::MAX);
        self.bytes = self.bytes.saturating_sub(cost);
        self.bytes > 0 && (!self.lines.is_multiple_of(128) || Instant::now() < self.until)
    }
}
