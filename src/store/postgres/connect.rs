//! Connections: where to, with what set on each.
//!
//! INVARIANT: the URL may hold a password and is in no message.

use crate::store::StoreError;
use secrecy::{ExposeSecret, SecretString};
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AnyConnection, AnyPool, Connection, Executor};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Set on every connection of the pool. A row lock is waited for 5 s; whoever hangs in the middle of a transaction (a
/// machine that fell asleep) loses it, and so its locks. A commit waits for the disk whatever the server's setting.
const SETTINGS: &str = "SET lock_timeout = '5s'; SET statement_timeout = '60s';
     SET idle_in_transaction_session_timeout = '30s';
     SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
     SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;";

/// A host that is gone is noticed by the server within half a minute, so that its locks are let go.
const KEEPALIVE: [(&str, &str); 3] = [
    ("tcp_keepalives_idle", "10"),
    ("tcp_keepalives_interval", "5"),
    ("tcp_keepalives_count", "3"),
];

/// SQLSTATE of a server that is starting up or shutting down.
const NOT_NOW: &str = "57P03";

/// Where the database is.
pub(super) struct Address {
    any: AnyConnectOptions,
}

impl Address {
    pub(super) fn of(url: &SecretString) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        // Read once by its own driver, whose complaints name no part of it.
        seat_options(url)?;
        let any = AnyConnectOptions::from_str(url.expose_secret()).map_err(|_| unusable())?;
        Ok(Self { any })
    }

    /// A connection without the pool's settings; a server that is not there yet is waited for.
    pub(super) async fn first(&self, patience: Duration) -> Result<AnyConnection, StoreError> {
        let began = Instant::now();
        loop {
            match AnyConnection::connect_with(&self.any).await {
                Ok(conn) => return Ok(conn),
                Err(error) if is_not_there_yet(&error) && began.elapsed() < patience => {
                    tracing::warn!(%error, "the database does not answer yet");
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(super) fn pool(&self, connections: u32) -> AnyPool {
        AnyPoolOptions::new()
            .max_connections(connections.max(1))
            .acquire_timeout(Duration::from_secs(5))
            .after_connect(|conn, _| {
                Box::pin(async move { conn.execute(SETTINGS).await.map(|_| ()) })
            })
            .connect_lazy_with(self.any.clone())
    }
}

/// The same for a connection that holds a lock.
pub(super) fn seat_options(url: &SecretString) -> Result<PgConnectOptions, StoreError> {
    let options = PgConnectOptions::from_str(url.expose_secret()).map_err(|_| unusable())?;
    Ok(options.application_name("quadgate"))
}

pub(super) async fn seated(options: &PgConnectOptions) -> Result<PgConnection, StoreError> {
    let mut conn = PgConnection::connect_with(options).await?;
    for (name, value) in KEEPALIVE {
        sqlx::query("SELECT set_config($1, $2, false)")
            .bind(name)
            .bind(value)
            .execute(&mut conn)
            .await?;
    }
    Ok(conn)
}

fn unusable() -> StoreError {
    StoreError::Unavailable(
        "`database_url` is no PostgreSQL URL, such as `postgres://user@host/name`".into(),
    )
}

fn is_not_there_yet(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| code == NOT_NOW),
        _ => false,
    }
}
