//! What can go wrong with the store, sorted by what the caller can do about it.
//!
//! `Unavailable` is worth another try (the webhook answers 503), `LeaseLost` means another worker has the
//! subject now, the rest wants a person.

use std::path::PathBuf;

/// Why the store did not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Disk full, file gone, connection lost, stopping: nothing was changed, try again later.
    #[error("store is not available: {0}")]
    Unavailable(String),
    /// Another transaction was in the way, again and again: nothing was changed, try again.
    #[error("store is not available: other writers are in the way: {0}")]
    Contended(String),
    /// The lease is no longer the caller's; nothing was changed.
    #[error("lease on `{subject}` was lost to another worker")]
    LeaseLost {
        /// Key of the subject.
        subject: String,
    },
    /// There is no such dead letter, plan or effect.
    #[error("there is no {what}")]
    Missing {
        /// What was looked for.
        what: String,
    },
    /// A row does not read back as what it was written as.
    #[error("store holds {what} that this program cannot read: {why}")]
    Unreadable {
        /// What it was to be.
        what: &'static str,
        /// Why it is not.
        why: String,
    },
    /// The data is from a newer program.
    #[error(
        "store has schema {found}, this program knows up to {known}: run the newer program, or restore a backup from before the upgrade"
    )]
    NewerSchema {
        /// The version found.
        found: i64,
        /// The newest version known.
        known: i64,
    },
    /// The data is from an older program, and may not be changed now.
    #[error(
        "store has schema {found}, this program reads {known}: start this version's server once, which brings it up to date"
    )]
    OlderSchema {
        /// The version found.
        found: i64,
        /// The version known.
        known: i64,
    },
    /// Another process has the file.
    #[error("`{path}` is in use by another process: only one quadgate may own a SQLite store")]
    InUse {
        /// The lock file.
        path: PathBuf,
    },
    /// The data directory or a file in it cannot be used.
    #[error("data directory `{path}` cannot be used: {why}")]
    Directory {
        /// The directory or file.
        path: PathBuf,
        /// What the operating system or the database says, and the way out.
        why: String,
    },
}

impl StoreError {
    /// A value that does not read back.
    pub(in crate::store) fn unreadable(what: &'static str, why: impl std::fmt::Display) -> Self {
        Self::Unreadable {
            what,
            why: why.to_string(),
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::ColumnDecode { index, source } => Self::Unreadable {
                what: "a column",
                why: format!("`{index}`: {source}"),
            },
            sqlx::Error::Database(error)
                if error.code().is_some_and(|code| is_contention(&code)) =>
            {
                Self::Contended(error.to_string())
            }
            other => Self::Unavailable(other.to_string()),
        }
    }
}

/// SQLSTATE of a serialization failure, a deadlock, a lock that was not to be had in time, a key that somebody else put
/// in at the same moment. SQLite's codes are numbers of other lengths.
fn is_contention(code: &str) -> bool {
    matches!(code, "40001" | "40P01" | "55P03" | "23505")
}
