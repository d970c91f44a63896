//! The store's file opened for an operator's command beside a server that may be running.
//!
//! INVARIANT: each write is one immediate transaction on a schema that this program knows, checked inside it; no lock is
//! taken, nothing is migrated, and no lease is ended: the server's claims stay what they are.

use super::{SETTINGS, by_file};
use crate::store::StoreError;
use crate::store::migrate;
use crate::store::sql::{Backend, Doing, SqlStore};
use sqlx::{AnyConnection, Executor};
use std::path::Path;
use tokio::sync::Mutex;

/// The store in a SQLite file, beside its server.
pub type SqliteBeside = SqlStore<Beside>;

/// The backend of [`SqliteBeside`].
pub struct Beside {
    conn: Mutex<AnyConnection>,
}

impl SqlStore<Beside> {
    /// Opens `quadgate.sqlite3` in the data directory.
    ///
    /// # Errors
    /// [`StoreError::Directory`] when there is none; [`StoreError::NewerSchema`] and [`StoreError::OlderSchema`] when
    /// another version of the program made it.
    pub async fn beside(directory: &Path) -> Result<Self, StoreError> {
        let conn = by_file::open(directory, "rw", SETTINGS).await?;
        Ok(Self::over(Beside { conn }))
    }
}

impl Backend for Beside {
    async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Clone + Send + 'static,
    {
        let mut conn = self.conn.lock().await;
        conn.execute("BEGIN IMMEDIATE").await?;
        // Another version of the server may have started since this was opened.
        let done = match migrate::check(&mut conn).await {
            Ok(()) => work(&mut conn).await,
            Err(error) => Err(error),
        };
        let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
        conn.execute(end).await?;
        done
    }

    async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Send + 'static,
    {
        by_file::read(&self.conn, work).await
    }

    async fn close(&self) {}
}
