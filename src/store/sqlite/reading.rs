//! The store's file opened for looking only, beside a server that may be running.
//!
//! INVARIANT: nothing is written: no lock is taken, no schema is changed, every write is refused.

use super::by_file;
use crate::store::StoreError;
use crate::store::sql::{Backend, Doing, SqlStore};
use sqlx::AnyConnection;
use std::path::Path;
use tokio::sync::Mutex;

const SETTINGS: &str = "PRAGMA busy_timeout = 5000; PRAGMA query_only = ON;";

/// The store in a SQLite file, for looking only.
pub type SqliteReader = SqlStore<ReadOnly>;

/// The backend of [`SqliteReader`].
pub struct ReadOnly {
    conn: Mutex<AnyConnection>,
}

impl SqlStore<ReadOnly> {
    /// Opens `quadgate.sqlite3` in the data directory for looking.
    ///
    /// # Errors
    /// [`StoreError::Directory`] when there is none; [`StoreError::NewerSchema`] and [`StoreError::OlderSchema`] when
    /// another version of the program made it.
    pub async fn look(directory: &Path) -> Result<Self, StoreError> {
        let conn = by_file::open(directory, "ro", SETTINGS).await?;
        Ok(Self::over(ReadOnly { conn }))
    }
}

impl Backend for ReadOnly {
    async fn write<T, F>(&self, _: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Clone + Send + 'static,
    {
        Err(StoreError::Unavailable(
            "it was opened for looking only".into(),
        ))
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
