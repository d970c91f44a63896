//! The one writer: jobs that wait together are committed together, with one sync.
//!
//! INVARIANT: a job is answered only after the commit of its batch; a job that failed leaves nothing behind
//! and does not spoil the others of its batch.

use super::{Doing, Opener, StoreError};
use sqlx::{AnyConnection, Connection};
use std::{fs::File, future::Future, pin::Pin};
use tokio::sync::{mpsc, oneshot};

/// Most jobs in one commit: bounds the wait of the first one.
const BATCH: usize = 64;
/// Jobs that may wait for the writer; more callers wait for a place.
const WAITING: usize = 1024;

/// The way to the writing task.
pub(super) struct Writer {
    jobs: mpsc::Sender<Message>,
}

enum Message {
    Job(Box<dyn Job>),
    Close(oneshot::Sender<()>),
}

impl Writer {
    /// Starts the task. It owns the lock, so that nobody else opens the file while it may still write.
    pub(super) fn start(opener: Opener, conn: AnyConnection, lock: File) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            let conn = Task {
                opener,
                conn: Some(conn),
            }
            .run(waiting)
            .await;
            drop(lock);
            if let Some(closed) = conn {
                // Nobody may wait any more.
                let _ = closed.send(());
            }
        });
        Self { jobs }
    }

    pub(super) async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Pending {
            work: Some(work),
            result: None,
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
trait Job: Send {
    /// Does the work; says whether it succeeded.
    fn run<'c>(
        &'c mut self,
        conn: &'c mut AnyConnection,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'c>>;

    /// Answers the caller: with the work's own result, or with why the batch was not committed.
    fn settle(self: Box<Self>, committed: Result<(), &str>);
}

struct Pending<T, F> {
    work: Option<F>,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Job for Pending<T, F>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Send + 'static,
{
    fn run<'c>(
        &'c mut self,
        conn: &'c mut AnyConnection,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'c>> {
        Box::pin(async move {
            if let Some(work) = self.work.take() {
                self.result = Some(work(conn).await);
            }
            matches!(self.result, Some(Ok(_)))
        })
    }

    fn settle(self: Box<Self>, committed: Result<(), &str>) {
        let not_done = |why: &str| Err(StoreError::Unavailable(why.to_owned()));
        let answer = match (committed, self.result) {
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
}

impl Task {
    /// Ends when it is told to, or when nobody can hand in work any more.
    async fn run(mut self, mut waiting: mpsc::Receiver<Message>) -> Option<oneshot::Sender<()>> {
        let mut messages = Vec::with_capacity(BATCH);
        let mut closing = None;
        while closing.is_none() && waiting.recv_many(&mut messages, BATCH).await > 0 {
            let mut batch = Vec::with_capacity(messages.len());
            for message in messages.drain(..) {
                match message {
                    Message::Job(job) => batch.push(job),
                    Message::Close(done) => closing = Some(done),
                }
            }
            self.commit(batch).await;
        }
        if let Some(conn) = self.conn.take()
            && let Err(error) = conn.close().await
        {
            tracing::warn!(%error, "store did not close cleanly; nothing acknowledged is lost");
        }
        closing
    }

    async fn commit(&mut self, mut batch: Vec<Box<dyn Job>>) {
        let outcome = self.transaction(&mut batch).await;
        if let Err(error) = &outcome {
            tracing::error!(%error, jobs = batch.len(), "store could not commit");
            // Its state is not known any more: the next batch begins on a fresh one.
            self.conn = None;
        }
        let why = outcome.as_ref().err().map(ToString::to_string);
        for job in batch {
            job.settle(why.as_deref().map_or(Ok(()), Err));
        }
    }

    async fn transaction(&mut self, batch: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        let conn = match self.conn.take() {
            Some(conn) => self.conn.insert(conn),
            None => self.conn.insert(self.opener.open().await?),
        };
        // IMMEDIATE: the write lock now, not at the first write, where it could fail half way.
        run(conn, "BEGIN IMMEDIATE").await?;
        for job in batch {
            run(conn, "SAVEPOINT job").await?;
            if !job.run(conn).await {
                run(conn, "ROLLBACK TO job").await?;
            }
            run(conn, "RELEASE job").await?;
        }
        run(conn, "COMMIT").await
    }
}

async fn run(conn: &mut AnyConnection, text: &'static str) -> Result<(), StoreError> {
    // Prepared once and kept: these five run for every write.
    sqlx::query(text).execute(&mut *conn).await?;
    Ok(())
}
