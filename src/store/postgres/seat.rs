//! What one replica does for all: held by an advisory lock on a connection of its own.
//!
//! INVARIANT: the seat is free as soon as its connection is gone, however the replica ended. Whoever sits there asks again
//! and again whether it still does.

use super::connect::{seat_options, seated};
use crate::store::StoreError;
use secrecy::SecretString;
use sqlx::Connection;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use std::time::Duration;

/// Keys of the locks: the letters `quadgate`, changed at the end.
const BASE: i64 = 0x7175_6164_6761_7400;
/// Held while the schema is brought up to date.
pub(super) const SCHEMA: i64 = BASE + 1;
/// A server that does not answer for so long has given the lock away, for all we know.
const ANSWER: Duration = Duration::from_secs(5);

/// What there is one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Sweeping beside the webhooks.
    Tick,
    /// Writing the audit log's files.
    Audit,
}

/// A place that one replica at a time has.
#[derive(Debug)]
pub struct Seat {
    options: PgConnectOptions,
    key: i64,
    conn: Option<PgConnection>,
    ours: bool,
}

impl Seat {
    /// Not taken yet.
    ///
    /// # Errors
    /// The URL is none.
    pub fn new(url: &SecretString, role: Role) -> Result<Self, StoreError> {
        Ok(Self {
            options: seat_options(url)?,
            key: match role {
                Role::Tick => BASE + 2,
                Role::Audit => BASE + 3,
            },
            conn: None,
            ours: false,
        })
    }

    /// Takes the seat if it is free; says whether it is ours now. Asks the server each time.
    pub async fn hold(&mut self) -> bool {
        let held = match tokio::time::timeout(ANSWER, self.ask()).await {
            Ok(Ok(held)) => held,
            Ok(Err(error)) => {
                tracing::debug!(%error, "the lock cannot be asked for");
                self.conn = None;
                false
            }
            Err(_) => {
                self.conn = None;
                false
            }
        };
        self.ours = held;
        held
    }

    async fn ask(&mut self) -> Result<bool, StoreError> {
        let conn = if let Some(conn) = self.conn.take() {
            self.conn.insert(conn)
        } else {
            self.ours = false;
            self.conn.insert(seated(&self.options).await?)
        };
        if self.ours {
            conn.ping().await?;
            return Ok(true);
        }
        let (taken,): (bool,) = sqlx::query_as("SELECT pg_try_advisory_lock($1)")
            .bind(self.key)
            .fetch_one(conn)
            .await?;
        Ok(taken)
    }

    /// Lets another one try; [`Self::hold`] asks for it again.
    pub fn rise(&mut self) {
        self.conn = None;
        self.ours = false;
    }

    /// Gives it up.
    pub async fn leave(mut self) {
        if let Some(conn) = self.conn.take() {
            // The lock goes with the connection either way.
            let _ = tokio::time::timeout(ANSWER, conn.close()).await;
        }
    }
}
