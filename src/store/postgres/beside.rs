//! The database for an operator's command, beside the replicas that run.
//!
//! INVARIANT: nothing is migrated and no lease is ended; each write is one transaction on a schema that this program
//! knows; opened for looking only, every write is refused.

use super::connect::Address;
use super::{in_time, once};
use crate::store::sql::{Backend, Doing, SqlStore};
use crate::store::{StoreError, migrate};
use secrecy::SecretString;
use sqlx::{AnyConnection, AnyPool};

/// The store in a PostgreSQL database, beside its servers.
pub type PostgresBeside = SqlStore<Beside>;

/// The backend of [`PostgresBeside`].
pub struct Beside {
    pool: AnyPool,
    looking_only: bool,
}

impl SqlStore<Beside> {
    /// For commands that change something.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; [`StoreError::NewerSchema`] and [`StoreError::OlderSchema`] when another version of the
    /// program made it.
    pub async fn beside(url: &SecretString) -> Result<Self, StoreError> {
        open(url, false).await
    }

    /// For commands that only look.
    ///
    /// # Errors
    /// As [`Self::beside`].
    pub async fn look(url: &SecretString) -> Result<Self, StoreError> {
        open(url, true).await
    }
}

async fn open(url: &SecretString, looking_only: bool) -> Result<PostgresBeside, StoreError> {
    let pool = Address::of(url)?.pool(1);
    let mut conn = pool.acquire().await?;
    let (tables,): (i64,) = sqlx::query_as(
        "SELECT COUNT(*) FROM pg_catalog.pg_class WHERE oid = to_regclass('schema_version')",
    )
    .fetch_one(&mut *conn)
    .await?;
    if tables == 0 {
        return Err(migrate::nothing_there());
    }
    migrate::check(&mut conn).await?;
    drop(conn);
    Ok(SqlStore::over(Beside { pool, looking_only }))
}

impl Backend for Beside {
    async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Clone + Send + 'static,
    {
        if self.looking_only {
            return Err(StoreError::Unavailable(
                "it was opened for looking only".into(),
            ));
        }
        super::persist(self.pool.clone(), move |conn: &mut AnyConnection| {
            let doing: Doing<'_, T> = Box::pin(async move {
                // Another version of the server may have started since this was opened.
                migrate::check(conn).await?;
                work(conn).await
            });
            doing
        })
        .await
    }

    async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Send + 'static,
    {
        in_time(once(&self.pool, work)).await
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}
