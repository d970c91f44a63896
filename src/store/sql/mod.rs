//! The store over SQL: one text for SQLite and PostgreSQL.
//!
//! Each function below does its reads and writes on the connection it is given and neither begins nor ends a
//! transaction: a [`Backend`] wraps every piece of work in one. Only TEXT and BIGINT cross the border.

mod intake;
mod lease;
mod plans;
mod pulls;
mod registry;
mod report;
mod signals;
mod store;

use super::StoreError;
use serde::{Serialize, de::DeserializeOwned};
use sqlx::AnyConnection;
use std::{future::Future, pin::Pin};
use tokio::sync::watch;

/// One piece of work on a connection, under way.
pub(in crate::store) type Doing<'c, T> =
    Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'c>>;

/// Where the SQL runs.
pub(in crate::store) trait Backend: Send + Sync + 'static {
    /// Runs the work in a transaction, committed and synced when this returns `Ok`; undone on `Err`.
    fn write<T, F>(&self, work: F) -> impl Future<Output = Result<T, StoreError>> + Send
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Send + 'static;

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
        Self {
            backend,
            wake: watch::Sender::new(0),
        }
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

fn to_json<T: Serialize>(what: &'static str, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::unreadable(what, error))
}

fn from_json<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::unreadable(what, error))
}

/// Reads an id or SHA back.
fn parsed<T: std::str::FromStr>(what: &'static str, text: &str) -> Result<T, StoreError>
where
    T::Err: std::fmt::Display,
{
    text.parse()
        .map_err(|error| StoreError::unreadable(what, error))
}
