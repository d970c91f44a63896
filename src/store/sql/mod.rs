//! The store over SQL: one text for SQLite and PostgreSQL.
//!
//! Each function below does its reads and writes on the connection it is given and neither begins nor ends a
//! transaction: a [`Backend`] wraps every piece of work in one. Only TEXT, BIGINT and BYTEA cross the border.

mod chain;
mod decisions;
mod intake;
mod lease;
mod plans;
mod pulls;
mod registry;
mod report;
mod signals;
mod store;

use super::StoreError;
use crate::domain::Witness;
use serde::{Serialize, de::DeserializeOwned};
use sqlx::{AnyConnection, Database};
use std::{future::Future, pin::Pin};
use tokio::sync::watch;

/// One piece of work on a connection, under way.
pub(in crate::store) type Doing<'c, T> =
    Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'c>>;

/// Where one text does not do for both; SQLite also takes several statements in one, PostgreSQL does not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    fn of(conn: &AnyConnection) -> Self {
        if conn.backend_name() == sqlx::Postgres::NAME {
            Self::Postgres
        } else {
            Self::Sqlite
        }
    }
}

/// When what was committed must be on the disk. A crash of the process loses neither; a loss of power may lose the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Durability {
    /// Before it is answered.
    Now,
    /// With the next write for which it must: nobody outside is told of it, and without it the same is found out again.
    Later,
}

/// Where the SQL runs.
pub(in crate::store) trait Backend: Send + Sync + 'static {
    /// Runs the work in a transaction, committed and synced when this returns `Ok`; undone on `Err`. Work that another
    /// transaction was in the way of may be done again from its beginning, which is why it can be cloned.
    fn write<T, F>(&self, work: F) -> impl Future<Output = Result<T, StoreError>> + Send
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Clone + Send + 'static;

    /// The same for work that may be undone by a loss of power, together with all that came after it: see
    /// [`Durability::Later`].
    fn write_lightly<T, F>(&self, work: F) -> impl Future<Output = Result<T, StoreError>> + Send
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Clone + Send + 'static,
    {
        self.write(work)
    }

    /// Runs the work, which is one statement that reads, on committed data.
    fn look<T, F>(&self, work: F) -> impl Future<Output = Result<T, StoreError>> + Send
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Send + 'static,
    {
        self.read(work)
    }

    /// Runs the work, which only reads, on committed data.
    fn read<T, F>(&self, work: F) -> impl Future<Output = Result<T, StoreError>> + Send
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Send + 'static;

    /// Finishes what was handed in and lets go.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// A [`super::Store`] over some backend.
pub struct SqlStore<B> {
    pub(in crate::store) backend: B,
    wake: watch::Sender<u64>,
}

impl<B> SqlStore<B> {
    pub(in crate::store) fn over(backend: B) -> Self {
        Self::woken_by(backend, watch::Sender::new(0))
    }

    /// Somebody else can tell the workers too.
    pub(in crate::store) fn woken_by(backend: B, wake: watch::Sender<u64>) -> Self {
        Self { backend, wake }
    }

    /// Tells every worker that there may be work.
    fn work_came_in(&self) {
        self.wake.send_modify(|n| *n = n.wrapping_add(1));
    }
}

/// GitHub's unsigned ids as the same 64 bits; [`unsigned`] is the way back.
fn signed(id: u64) -> i64 {
    id.cast_signed()
}

fn unsigned(id: i64) -> u64 {
    id.cast_unsigned()
}

/// The place of an audit entry, from its row.
fn witness((seq, hash): (i64, String)) -> Witness {
    Witness {
        seq: unsigned(seq),
        hash,
    }
}

fn to_json<T: Serialize>(what: &'static str, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::unreadable(what, error))
}

fn from_json<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::unreadable(what, error))
}

/// Words of others, for a TEXT column: PostgreSQL takes no NUL.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Reads an id or SHA back.
fn parsed<T: std::str::FromStr>(what: &'static str, text: &str) -> Result<T, StoreError>
where
    T::Err: std::fmt::Display,
{
    text.parse()
        .map_err(|error| StoreError::unreadable(what, error))
}
