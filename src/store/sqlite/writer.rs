//! The one writer: jobs that wait together are committed together, and what was committed together is synced together.
//!
//! The connection commits without a sync of its own; the log is synced on a thread beside it, while the next jobs are
//! already carried out. INVARIANT: a job is answered only after the commit of its batch and, unless it is a
//! [`Durability::Later`] one, after a sync of the log that began after that commit; a job that failed leaves nothing behind
//! and does not spoil the others of its batch: then the batch is undone and done again, each job with a way back of its own.

use super::sync::Syncer;
use super::{Doing, Opener, StoreError};
use crate::store::sql::Durability;
use sqlx::{AnyConnection, Connection};
use std::fs::File;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

/// Most jobs in one commit: bounds the wait of the first one.
const BATCH: usize = 64;
/// A batch that is smaller than this waits a moment for more while the disk is busy anyhow: each commit writes whole pages,
/// most of which the next one writes again.
const SMALL: usize = 16;
/// That moment.
const MOMENT: Duration = Duration::from_micros(1500);
/// Jobs that may wait for the writer; more callers wait for a place.
const WAITING: usize = 1024;

/// The way to the writing thread.
pub(super) struct Writer {
    jobs: mpsc::Sender<Message>,
}

enum Message {
    Job(Box<dyn Job>),
    Close(oneshot::Sender<()>),
}

impl Writer {
    /// Starts the thread. It owns the lock, so that nobody else opens the file while it may still write.
    ///
    /// A thread and not a task: it waits for the connection's thread at every statement, and to wake a thread costs a
    /// fraction of what it costs to wake a runtime.
    pub(super) fn start(
        opener: Opener,
        conn: AnyConnection,
        lock: File,
    ) -> Result<Self, StoreError> {
        let (jobs, waiting) = mpsc::channel(WAITING);
        let syncer = Syncer::start(&opener.path)?;
        let runtime = Handle::current();
        let task = Task {
            opener,
            conn: Some(conn),
            syncer,
        };
        std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || {
                let closed = runtime.block_on(task.run(waiting));
                drop(lock);
                if let Some(closed) = closed {
                    // Nobody may wait any more.
                    let _ = closed.send(());
                }
            })
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { jobs })
    }

    pub(super) async fn write<T, F>(&self, durability: Durability, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Clone + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Pending {
            work,
            result: None,
            durability,
            reply,
        };
        let stopped = || StoreError::Unavailable("it is closed".into());
        self.jobs
            .send(Message::Job(Box::new(job)))
            .await
            .map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    /// Waits until everything handed in before is written and the file is let go.
    pub(super) async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.jobs.send(Message::Close(done)).await.is_ok() {
            let _ = closed.await;
        }
    }
}

/// Work with a place for its result until the commit.
pub(super) trait Job: Send {
    /// Does the work, perhaps once more after it was undone; says whether it succeeded.
    fn run<'c>(
        &'c mut self,
        conn: &'c mut AnyConnection,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'c>>;

    /// Must it be on the disk before it is answered? What failed changed nothing.
    fn waits_for_sync(&self) -> bool;

    /// Answers the caller: with the work's own result, or with why the batch was not kept.
    fn settle(self: Box<Self>, kept: Result<(), &str>);
}

struct Pending<T, F> {
    work: F,
    result: Option<Result<T, StoreError>>,
    durability: Durability,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Job for Pending<T, F>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Clone + Send + 'static,
{
    fn run<'c>(
        &'c mut self,
        conn: &'c mut AnyConnection,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'c>> {
        Box::pin(async move {
            self.result = Some(self.work.clone()(conn).await);
            matches!(self.result, Some(Ok(_)))
        })
    }

    fn waits_for_sync(&self) -> bool {
        match self.durability {
            Durability::Now => matches!(self.result, Some(Ok(_))),
            Durability::Later => false,
        }
    }

    fn settle(self: Box<Self>, kept: Result<(), &str>) {
        let not_done = |why: &str| Err(StoreError::Unavailable(why.to_owned()));
        let answer = match (kept, self.result) {
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => not_done("the work was not begun"),
            // What the work itself complained about says more than the batch.
            (Err(_), Some(Err(error))) => Err(error),
            (Err(why), Some(Ok(_)) | None) => not_done(why),
        };
        // A caller that went away (a request that timed out) needs no answer.
        let _ = self.reply.send(answer);
    }
}

struct Task {
    opener: Opener,
    conn: Option<AnyConnection>,
    syncer: Syncer,
}

impl Task {
    /// Ends when it is told to, or when nobody can hand in work any more.
    async fn run(mut self, mut waiting: mpsc::Receiver<Message>) -> Option<oneshot::Sender<()>> {
        let mut messages = Vec::with_capacity(BATCH);
        let mut closing = None;
        while closing.is_none() && waiting.recv_many(&mut messages, BATCH).await > 0 {
            self.gather(&mut waiting, &mut messages);
            let mut batch = Vec::with_capacity(messages.len());
            for message in messages.drain(..) {
                match message {
                    Message::Job(job) => batch.push(job),
                    Message::Close(done) => closing = Some(done),
                }
            }
            self.commit(batch).await;
        }
        self.syncer.end();
        if let Some(conn) = self.conn.take()
            && let Err(error) = conn.close().await
        {
            tracing::warn!(%error, "store did not close cleanly; nothing acknowledged is lost");
        }
        closing
    }

    /// Waits a moment for more jobs if there is something to be gained by it. This thread has nothing else to do.
    fn gather(&self, waiting: &mut mpsc::Receiver<Message>, messages: &mut Vec<Message>) {
        if messages.len() >= SMALL || !self.syncer.is_busy() {
            return;
        }
        std::thread::sleep(MOMENT);
        while messages.len() < BATCH {
            match waiting.try_recv() {
                Ok(message) => messages.push(message),
                Err(_) => return,
            }
        }
    }

    async fn commit(&mut self, mut batch: Vec<Box<dyn Job>>) {
        let outcome = self.transaction(&mut batch).await;
        if let Err(error) = &outcome {
            tracing::error!(%error, jobs = batch.len(), "store could not commit");
            // Its state is not known any more: the next batch begins on a fresh one.
            self.conn = None;
        }
        let why = outcome.as_ref().err().map(ToString::to_string);
        let mut to_sync = Vec::new();
        for job in batch {
            if why.is_none() && job.waits_for_sync() {
                to_sync.push(job);
            } else {
                job.settle(why.as_deref().map_or(Ok(()), Err));
            }
        }
        self.syncer.sync(to_sync);
    }

    async fn transaction(&mut self, batch: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        let conn = match self.conn.take() {
            Some(conn) => self.conn.insert(conn),
            None => self.conn.insert(self.opener.open().await?),
        };
        if self.syncer.has_failed() {
            // What the system says of a file after a failed sync is not to be relied on: everything goes from the log into
            // the database, which is synced, and the log begins anew.
            checkpoint(conn).await?;
            self.syncer.forget_failure();
        }
        // IMMEDIATE: the write lock now, not at the first write, where it could fail half way.
        run(conn, "BEGIN IMMEDIATE").await?;
        if !all(conn, batch).await {
            run(conn, "ROLLBACK; BEGIN IMMEDIATE").await?;
            one_by_one(conn, batch).await?;
        }
        run(conn, "COMMIT").await
    }
}

/// Does all jobs, up to the first that fails; says whether all succeeded.
async fn all(conn: &mut AnyConnection, batch: &mut [Box<dyn Job>]) -> bool {
    for job in batch {
        if !job.run(conn).await {
            return false;
        }
    }
    true
}

/// Does each job so that it can be undone alone. That costs a way to the connection's thread for each, which is why
/// it is not done at once: a job hardly ever fails.
async fn one_by_one(
    conn: &mut AnyConnection,
    batch: &mut [Box<dyn Job>],
) -> Result<(), StoreError> {
    for job in batch {
        run(conn, "SAVEPOINT job").await?;
        if !job.run(conn).await {
            run(conn, "ROLLBACK TO job").await?;
        }
        run(conn, "RELEASE job").await?;
    }
    Ok(())
}

async fn run(conn: &mut AnyConnection, text: &'static str) -> Result<(), StoreError> {
    // Prepared once and kept: these run for every write.
    sqlx::query(text).execute(&mut *conn).await?;
    Ok(())
}

async fn checkpoint(conn: &mut AnyConnection) -> Result<(), StoreError> {
    let (busy,): (i64,) = sqlx::query_as("PRAGMA wal_checkpoint(TRUNCATE)")
        .fetch_one(&mut *conn)
        .await?;
    if busy == 0 {
        Ok(())
    } else {
        Err(StoreError::Unavailable(
            "its log could not be synced, and is being read: it will be tried again".into(),
        ))
    }
}
