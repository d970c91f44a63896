//! SQLite in the data directory: nothing to install, one process, one writer.
//!
//! INVARIANT: the advisory lock is held for as long as anything may give out work, and what a commit left in the
//! write-ahead log is synced before it is acknowledged (by [`sync`], not by the commit itself, so that the next jobs need
//! not wait). Operators' commands write beside the server ([`SqliteBeside`]): whole transactions that touch no lease.

mod beside;
mod by_file;
mod files;
mod readers;
mod reading;
mod sync;
mod writer;

pub use beside::SqliteBeside;
pub use reading::SqliteReader;

use super::sql::{Backend, Doing, Durability, SqlStore};
use super::{StoreError, migrate::migrate};
use readers::Readers;
use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, ConnectOptions, Connection, Executor};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use writer::Writer;

/// The store in a SQLite file.
pub type SqliteStore = SqlStore<Sqlite>;

/// The SQLite backend of [`SqliteStore`].
pub struct Sqlite {
    writer: Writer,
    readers: Readers,
}

/// How the file is opened.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// The data directory; must exist and be writable.
    pub directory: PathBuf,
    /// Connections that read beside the writer.
    pub readers: u32,
    /// A ceiling for the size of the file, in bytes: past it the store is unavailable, as with a full disk.
    pub max_bytes: Option<u64>,
}

impl SqliteOptions {
    /// Four readers, no ceiling.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            readers: 4,
            max_bytes: None,
        }
    }
}

impl SqlStore<Sqlite> {
    /// Opens `quadgate.sqlite3` in the data directory, made with mode 0600 if it is not there, and brings its
    /// schema up to date. Leases of a process that died are over.
    ///
    /// # Errors
    /// [`StoreError::Directory`], [`StoreError::InUse`], [`StoreError::NewerSchema`].
    pub async fn open(options: &SqliteOptions) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        let lock = files::lock(&options.directory)?;
        let file = files::create(&options.directory)?;
        let opener = Opener::new(&file, options.max_bytes)?;
        let mut conn = opener.open_first().await?;
        migrate(&mut conn).await.map_err(|error| match error {
            StoreError::Unavailable(why) => StoreError::Directory {
                path: file.clone(),
                why,
            },
            other => other,
        })?;
        // Only one process owns the file, so every lease in it belongs to one that is gone.
        conn.execute(
            "UPDATE subject SET lease = NULL, lease_until = 0, claimed = 0 WHERE lease IS NOT NULL",
        )
        .await?;
        let readers = Readers::new(opener.clone(), options.readers);
        Ok(Self::over(Sqlite {
            writer: Writer::start(opener, conn, lock)?,
            readers,
        }))
    }
}

/// How connections to the file are made.
#[derive(Clone)]
struct Opener {
    options: AnyConnectOptions,
    path: PathBuf,
    max_pages: Option<u64>,
}

/// `page_size` is SQLite's default of 4096 bytes.
const PAGE: u64 = 4096;

/// Set on every connection. WAL stays in the file; FULL syncs the log at each commit.
const SETTINGS: &str =
    "PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;";
/// Set on the server's writing connection. NORMAL still syncs the log before it is copied into the database and when it
/// begins anew; after a commit [`sync`] does it.
///
/// The log is copied when it has 16 MiB: nothing is written while that goes on.
const WRITER_SETTINGS: &str = "PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON;
     PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4096;";

impl Opener {
    fn new(file: &Path, max_bytes: Option<u64>) -> Result<Self, StoreError> {
        let url = files::url(file, "rw")?;
        let options = AnyConnectOptions::from_str(&url)
            .map_err(|error| StoreError::Directory {
                path: file.to_owned(),
                why: error.to_string(),
            })?
            .disable_statement_logging();
        Ok(Self {
            options,
            path: file.to_owned(),
            max_pages: max_bytes.map(|bytes| bytes / PAGE),
        })
    }

    /// The first connection also switches the file to WAL, which some network file systems refuse.
    async fn open_first(&self) -> Result<AnyConnection, StoreError> {
        let refused = |why: String| StoreError::Directory {
            path: self.path.clone(),
            why,
        };
        let mut conn = self
            .open()
            .await
            .map_err(|error| refused(error.to_string()))?;
        let (mode,): (String,) = sqlx::query_as("PRAGMA journal_mode = WAL")
            .fetch_one(&mut conn)
            .await
            .map_err(|error| refused(error.to_string()))?;
        if mode == "wal" {
            Ok(conn)
        } else {
            Err(refused(format!(
                "SQLite cannot keep a write-ahead log there (journal mode is `{mode}`): use a local disk"
            )))
        }
    }

    async fn open(&self) -> Result<AnyConnection, StoreError> {
        let mut conn = AnyConnection::connect_with(&self.options).await?;
        conn.execute(WRITER_SETTINGS).await?;
        if let Some(pages) = self.max_pages {
            let text = format!("PRAGMA max_page_count = {pages}");
            sqlx::raw_sql(sqlx::AssertSqlSafe(text))
                .execute(&mut conn)
                .await?;
        }
        Ok(conn)
    }

    async fn open_reader(&self) -> Result<AnyConnection, StoreError> {
        let mut conn = AnyConnection::connect_with(&self.options).await?;
        conn.execute(SETTINGS).await?;
        conn.execute("PRAGMA query_only = ON").await?;
        Ok(conn)
    }
}

impl Backend for Sqlite {
    async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Clone + Send + 'static,
    {
        self.writer.write(Durability::Now, work).await
    }

    async fn write_lightly<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Clone + Send + 'static,
    {
        self.writer.write(Durability::Later, work).await
    }

    async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Send + 'static,
    {
        let mut lent = self.readers.lend().await?;
        // One reading transaction: what several statements see fits together.
        let mut tx = lent.conn.begin().await?;
        let result = work(&mut tx).await;
        tx.rollback().await?;
        self.readers.take_back(lent);
        result
    }

    async fn look<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Send + 'static,
    {
        let mut lent = self.readers.lend().await?;
        let result = work(&mut lent.conn).await?;
        self.readers.take_back(lent);
        Ok(result)
    }

    async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}
