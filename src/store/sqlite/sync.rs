//! Syncs the write-ahead log on a thread of its own: one sync for all that was committed before it began.
//!
//! INVARIANT: after a sync that failed no job is answered with success until everything was written into the database
//! anew ([`Syncer::has_failed`]).

use super::writer::Job;
use crate::store::StoreError;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

/// Jobs that were committed and wait for the disk.
type Committed = Vec<Box<dyn Job>>;

/// The way to the syncing thread.
pub(super) struct Syncer {
    committed: Option<mpsc::Sender<Committed>>,
    failed: Arc<AtomicBool>,
    busy: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Syncer {
    /// Starts the thread for the log beside a database.
    pub(super) fn start(database: &Path) -> Result<Self, StoreError> {
        let (committed, waiting) = mpsc::channel();
        let failed = Arc::new(AtomicBool::new(false));
        let busy = Arc::new(AtomicBool::new(false));
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        let task = Task {
            log: log.into(),
            failed: Arc::clone(&failed),
            busy: Arc::clone(&busy),
        };
        let thread = std::thread::Builder::new()
            .name("store-sync".to_owned())
            .spawn(move || task.run(&waiting))
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self {
            committed: Some(committed),
            failed,
            busy,
            thread: Some(thread),
        })
    }

    /// Answers jobs that are committed once they are on the disk.
    pub(super) fn sync(&self, jobs: Committed) {
        if jobs.is_empty() {
            return;
        }
        let left = match &self.committed {
            Some(committed) => committed.send(jobs).err().map(|unsent| unsent.0),
            None => Some(jobs),
        };
        for job in left.into_iter().flatten() {
            job.settle(Err("its log is not synced any more"));
        }
    }

    /// Is a sync going on?
    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    /// Did a sync fail? Then the log is not to be relied on.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// The log was begun anew.
    pub(super) fn forget_failure(&self) {
        self.failed.store(false, Ordering::Release);
    }

    /// Syncs and answers what is left, then ends.
    pub(super) fn end(&mut self) {
        self.committed = None;
        if let Some(thread) = self.thread.take() {
            // A panic there dropped the answers, which their callers saw.
            let _ = thread.join();
        }
    }
}

struct Task {
    log: PathBuf,
    failed: Arc<AtomicBool>,
    busy: Arc<AtomicBool>,
}

impl Task {
    fn run(&self, waiting: &mpsc::Receiver<Committed>) {
        while let Ok(mut jobs) = waiting.recv() {
            while let Ok(more) = waiting.try_recv() {
                jobs.extend(more);
            }
            self.busy.store(true, Ordering::Relaxed);
            let synced = self.sync();
            self.busy.store(false, Ordering::Relaxed);
            for job in jobs {
                job.settle(match &synced {
                    Ok(()) => Ok(()),
                    Err(why) => Err(why),
                });
            }
        }
    }

    fn sync(&self) -> Result<(), String> {
        if self.failed.load(Ordering::Acquire) {
            return Err("its log could not be synced".to_owned());
        }
        // By name each time: a connection that was opened anew may have begun another file.
        let synced = File::open(&self.log).and_then(|log| log.sync_data());
        synced.map_err(|error| {
            self.failed.store(true, Ordering::Release);
            tracing::error!(%error, "the store's log could not be synced");
            format!("its log could not be synced: {error}")
        })
    }
}
