//! The store's file opened for looking only, beside a server that may be running.
//!
//! INVARIANT: nothing is written: no lock is taken, no schema is changed, every write is refused.

use super::files;
use crate::store::StoreError;
use crate::store::migrate;
use crate::store::sql::{Backend, Doing, SqlStore};
use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, Connection, Executor};
use std::path::Path;
use std::str::FromStr;
use tokio::sync::Mutex;

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
        sqlx::any::install_default_drivers();
        let file = files::there(directory)?;
        let options = AnyConnectOptions::from_str(&files::url(&file, "ro")?)?;
        let mut conn = AnyConnection::connect_with(&options).await?;
        conn.execute("PRAGMA busy_timeout = 5000; PRAGMA query_only = ON;")
            .await?;
        migrate::check(&mut conn).await?;
        Ok(Self::over(ReadOnly {
            conn: Mutex::new(conn),
        }))
    }
}

impl Backend for ReadOnly {
    async fn write<T, F>(&self, _: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Send + 'static,
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
        let mut conn = self.conn.lock().await;
        let mut tx = conn.begin().await?;
        let result = work(&mut tx).await;
        tx.rollback().await?;
        result
    }

    async fn close(&self) {}
}
