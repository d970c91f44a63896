//! PostgreSQL by its URL: several replicas on one database, several connections each.
//!
//! INVARIANT: nothing here belongs to one replica but its [`Seat`]s: opening ends nobody's lease, and what is committed is
//! seen by all. Every commit is synced; work that another transaction was in the way of is done again, a bounded number of
//! times; a lost connection is `Unavailable`, and the next call has another one.

mod beside;
mod connect;
mod seat;

pub use beside::PostgresBeside;
pub use seat::{Role, Seat};

use super::sql::{Backend, Doing, SqlStore};
use super::{StoreError, migrate::migrate};
use connect::Address;
use secrecy::SecretString;
use sqlx::{AnyConnection, AnyPool, Connection};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Times that work is begun before its caller hears that others are in the way.
const ATTEMPTS: u32 = 6;
/// One transaction may take this long, the wait for a connection included; then its connection is given up.
const LONGEST: Duration = Duration::from_mins(1);

/// The store in a PostgreSQL database.
pub type PostgresStore = SqlStore<Postgres>;

/// How the database is used.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// Where it is; may hold a password.
    pub url: SecretString,
    /// Connections of this replica, beside one for each [`Seat`] it asks for.
    pub connections: u32,
    /// Work that another replica took in is looked for this often.
    pub look: Duration,
    /// A database that is only just starting is waited for this long.
    pub patience: Duration,
}

impl PostgresOptions {
    /// Sixteen connections, a look every 200 ms, 30 s of patience.
    #[must_use]
    pub fn new(url: SecretString) -> Self {
        Self {
            url,
            connections: 16,
            look: Duration::from_millis(200),
            patience: Duration::from_secs(30),
        }
    }
}

/// The PostgreSQL backend of [`PostgresStore`].
pub struct Postgres {
    pool: AnyPool,
    looking: JoinHandle<()>,
}

impl SqlStore<Postgres> {
    /// Opens the database and brings its schema up to date, one replica at a time. Other replicas' leases stay.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::NewerSchema`].
    pub async fn open(options: &PostgresOptions) -> Result<Self, StoreError> {
        let address = Address::of(&options.url)?;
        let mut conn = address.first(options.patience).await?;
        // Ends with the connection, whatever happens in between.
        sqlx::query("SELECT pg_advisory_lock($1)")
            .bind(seat::SCHEMA)
            .execute(&mut conn)
            .await?;
        migrate(&mut conn).await?;
        conn.close().await?;
        let pool = address.pool(options.connections);
        let wake = watch::Sender::new(0);
        let looking = tokio::spawn(look(pool.clone(), wake.clone(), options.look));
        Ok(Self::woken_by(Postgres { pool, looking }, wake))
    }
}

/// Wakes the workers when work waits that nobody has, whoever took it in.
async fn look(pool: AnyPool, wake: watch::Sender<u64>, pause: Duration) {
    loop {
        tokio::time::sleep(pause).await;
        let waiting: Result<(i64,), _> = sqlx::query_as(
            "SELECT COUNT(*) FROM (
                 SELECT 1 FROM subject WHERE wanted > done AND lease IS NULL LIMIT 1) AS waiting",
        )
        .fetch_one(&pool)
        .await;
        match waiting {
            Ok((0,)) => {}
            Ok(_) => wake.send_modify(|n| *n = n.wrapping_add(1)),
            Err(sqlx::Error::PoolClosed) => return,
            // The workers find out by themselves, and say so.
            Err(_) => {}
        }
    }
}

impl Backend for Postgres {
    async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Clone + Send + 'static,
    {
        // A task of its own: a caller that goes away leaves no half transaction behind.
        let done = tokio::spawn(persist(self.pool.clone(), work));
        done.await
            .map_err(|_| StoreError::Unavailable("the work was broken off".into()))?
    }

    async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Send + 'static,
    {
        let read = async {
            // One snapshot: what several statements see fits together.
            let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
            let mut tx = self.pool.begin_with(begin).await?;
            let result = work(&mut tx).await;
            tx.rollback().await?;
            result
        };
        in_time(read).await
    }

    async fn close(&self) {
        self.looking.abort();
        self.pool.close().await;
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.looking.abort();
    }
}

/// One transaction; begun again when others were in the way.
async fn persist<T, F>(pool: AnyPool, work: F) -> Result<T, StoreError>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Clone + Send + 'static,
{
    let mut attempt = 1;
    loop {
        match in_time(once(&pool, work.clone())).await {
            Err(StoreError::Contended(why)) if attempt < ATTEMPTS => {
                tracing::debug!(%why, attempt, "a transaction is begun again");
                tokio::time::sleep(pause(attempt)).await;
                attempt += 1;
            }
            result => return result,
        }
    }
}

async fn once<T, F>(pool: &AnyPool, work: F) -> Result<T, StoreError>
where
    F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T>,
{
    let mut tx = pool.begin().await?;
    let done = work(&mut tx).await;
    match done {
        Ok(value) => {
            tx.commit().await?;
            Ok(value)
        }
        Err(error) => {
            // What the work complained about says more.
            let _ = tx.rollback().await;
            Err(error)
        }
    }
}

/// A server that does not answer any more is not waited for.
async fn in_time<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    match tokio::time::timeout(LONGEST, work).await {
        Ok(result) => result,
        Err(_) => Err(StoreError::Unavailable(format!(
            "the database did not answer within {} s",
            LONGEST.as_secs()
        ))),
    }
}

/// Longer each time, and not the same for two that are in each other's way.
fn pause(attempt: u32) -> Duration {
    let mut byte = [0_u8; 1];
    // Without randomness there is no spread, and the attempts are still bounded.
    let _ = getrandom::fill(&mut byte);
    Duration::from_millis(u64::from(5 * attempt) + u64::from(u8::from_le_bytes(byte)) / 8)
}
