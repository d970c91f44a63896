//! Connections that read beside the writer.
//!
//! No pool of sqlx's: that one asks a connection whether it lives before and after each use, which for a file costs more
//! than the use. INVARIANT: only a connection that has ended its work well is lent again.

use super::{Opener, StoreError};
use sqlx::{AnyConnection, Connection};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// So long a caller waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// A bounded number of connections, each made when it is first needed.
pub(super) struct Readers {
    opener: Opener,
    turns: Semaphore,
    idle: Mutex<Vec<AnyConnection>>,
}

/// A connection on loan.
pub(super) struct Lent<'a> {
    pub(super) conn: AnyConnection,
    _turn: SemaphorePermit<'a>,
}

impl Readers {
    pub(super) fn new(opener: Opener, count: u32) -> Self {
        Self {
            opener,
            turns: Semaphore::new(usize::try_from(count.max(1)).unwrap_or(1)),
            idle: Mutex::default(),
        }
    }

    /// Lends a connection, whose turn ends when it is dropped.
    pub(super) async fn lend(&self) -> Result<Lent<'_>, StoreError> {
        let turn = tokio::time::timeout(PATIENCE, self.turns.acquire())
            .await
            .map_err(|_| StoreError::Unavailable("too much is read at once".into()))?
            .map_err(|_| StoreError::Unavailable("it is closed".into()))?;
        let idle = self.idle().pop();
        let conn = match idle {
            Some(conn) => conn,
            None => self.opener.open_reader().await?,
        };
        Ok(Lent { conn, _turn: turn })
    }

    /// Takes one back whose work went well.
    pub(super) fn take_back(&self, lent: Lent<'_>) {
        if !self.turns.is_closed() {
            self.idle().push(lent.conn);
        }
    }

    /// Lends no more and lets go of what lies here.
    pub(super) async fn close(&self) {
        self.turns.close();
        let idle = std::mem::take(&mut *self.idle());
        for conn in idle {
            if let Err(error) = conn.close().await {
                tracing::debug!(%error, "a reading connection did not close cleanly");
            }
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<AnyConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
