//! The audit log's files behind a database: one replica at a time writes them out.
//!
//! INVARIANT: only lines that follow the last one on disk are written, under the seat and under the files' own lock; what
//! the database forgets was on disk before. Whoever takes the seat over goes on where the files end.

use super::StartError;
use super::opened::open_log;
use crate::audit::{AuditLog, GENESIS, Options};
use crate::store::Store;
use crate::store::postgres::Seat;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// Entries are written out this long after they were committed, at the latest.
const PAUSE: Duration = Duration::from_millis(200);
/// Files that cannot be used are tried again this much later, by whoever is first.
const BROKEN: Duration = Duration::from_secs(10);
/// Entries that are read from the database at once.
const BATCH: u32 = 256;
/// Entries that the database keeps after they were written out, so that decisions are found again after a crash and a
/// directory that is a little behind can be filled.
const KEPT: u64 = 100_000;

/// The task.
pub(super) struct Scribe {
    task: JoinHandle<()>,
    stop: watch::Sender<bool>,
}

impl Scribe {
    pub(super) fn start(duty: Duty) -> Self {
        let (stop, stopped) = watch::channel(false);
        Self {
            task: tokio::spawn(duty.run(stopped)),
            stop,
        }
    }

    /// Writes out what is committed, then gives the seat up.
    pub(super) async fn stop(self) {
        self.stop.send_replace(true);
        // A panic in it was reported when it happened.
        let _ = self.task.await;
    }

    /// Ends as a crash does.
    pub(super) async fn abandon(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

/// What the task does.
pub(super) struct Duty {
    store: Arc<dyn Store>,
    seat: Seat,
    dir: PathBuf,
    options: Options,
    /// Open while the seat is ours.
    log: Option<AuditLog>,
    /// This replica has appended.
    appended: Arc<Notify>,
}

impl Duty {
    pub(super) fn new(store: Arc<dyn Store>, seat: Seat, dir: PathBuf, options: Options) -> Self {
        Self {
            store,
            seat,
            dir,
            options,
            log: None,
            appended: Arc::default(),
        }
    }

    /// To be told of what this replica appends: it need not wait for the next look.
    pub(super) fn appended(&self) -> Arc<Notify> {
        Arc::clone(&self.appended)
    }

    /// At start: when the seat is free, the files are opened and what is missing in them is written.
    ///
    /// # Errors
    /// The files cannot be used or are not those of the database.
    pub(super) async fn first(&mut self, accept_loss: bool) -> Result<(), StartError> {
        if self.seat.hold().await {
            self.open(accept_loss).await?;
            self.write_out().await?;
        }
        Ok(())
    }

    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut told = false;
        loop {
            let stopping = *stop.borrow();
            let pause = match self.turn().await {
                Ok(()) => {
                    told = false;
                    PAUSE
                }
                Err(error) => {
                    if !told {
                        tracing::error!(%error, "the audit log's files are not written; the entries are in the database");
                    }
                    told = true;
                    self.log = None;
                    self.seat.rise();
                    BROKEN
                }
            };
            if stopping {
                // The files are let go of before the seat.
                self.log = None;
                self.seat.leave().await;
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.appended.notified(), if pause == PAUSE => {}
                _ = stop.wait_for(|stop| *stop) => {}
            }
        }
    }

    async fn turn(&mut self) -> Result<(), StartError> {
        if !self.seat.hold().await {
            self.log = None;
            return Ok(());
        }
        if self.log.is_none() {
            self.open(false).await?;
            tracing::info!("this replica writes the audit log's files now");
        }
        self.write_out().await
    }

    /// Opens the files and makes sure that the chain goes on where they end.
    async fn open(&mut self, accept_loss: bool) -> Result<(), StartError> {
        let log = open_log(&self.dir, self.options).await?;
        let dir = || self.dir.display().to_string();
        let on_disk = log.last();
        let found = on_disk.map_or(0, |last| last.seq);
        let known = self.store.audit_tail().await?;
        if let Some(known) = known.filter(|known| known.seq < found) {
            tracing::warn!(
                known = known.seq,
                found,
                "the audit log's files reach further than the database, which goes on where they end"
            );
        }
        let end = self.store.open_chain(on_disk, GENESIS).await?;
        if let Some(last) = on_disk
            && let Some(hash) = self.store.chain_hash(last.seq).await?
            && hash != last.hash
        {
            return Err(StartError::AuditStrange {
                dir: dir(),
                seq: last.seq,
            });
        }
        let next = self.store.chain_behind(found, 1).await?;
        let follows = next
            .first()
            .is_some_and(|line| line.at.seq == found.saturating_add(1));
        if found < end.seq && !follows {
            if !accept_loss {
                return Err(StartError::AuditLoss {
                    dir: dir(),
                    found,
                    known: end.seq,
                });
            }
            tracing::error!(
                found,
                known = end.seq,
                "the audit log lost entries; going on as told"
            );
            self.store.cut_chain(on_disk, GENESIS).await?;
        }
        self.log = Some(log);
        Ok(())
    }

    async fn write_out(&mut self) -> Result<(), StartError> {
        while let Some(mut log) = self.log.take() {
            let seq = log.last().map_or(0, |last| last.seq);
            let lines = self.store.chain_behind(seq, BATCH).await?;
            // Asked once more: reading may have taken long.
            if lines.is_empty() || !self.seat.hold().await {
                self.log = Some(log);
                return Ok(());
            }
            let lines: Vec<String> = lines.into_iter().map(|line| line.line).collect();
            let written = tokio::task::spawn_blocking(move || {
                log.append_chained(&lines)?;
                Ok::<_, crate::audit::AuditError>(log)
            });
            let log = written
                .await
                .map_err(|error| StartError::Metrics(error.to_string()))??;
            let seq = log.last().map_or(0, |last| last.seq);
            self.log = Some(log);
            self.store.set_chain_written(seq, KEPT).await?;
        }
        Ok(())
    }
}
