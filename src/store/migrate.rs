//! The schema, embedded, brought up to date at start. One text for every database.
//!
//! INVARIANT: a schema that is newer than this program is not touched.

use super::StoreError;
use sqlx::AnyConnection;

/// In order; version `n` is the one at place `n - 1`. Never change a published one: add the next.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_first.sql"),
    include_str!("migrations/0002_answers.sql"),
    include_str!("migrations/0003_after_merge.sql"),
];

/// Brings the schema to the newest version. The caller holds whatever keeps other programs out.
pub(in crate::store) async fn migrate(conn: &mut AnyConnection) -> Result<(), StoreError> {
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    sqlx::raw_sql("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)")
        .execute(&mut *conn)
        .await?;
    let (found,): (Option<i64>,) = sqlx::query_as("SELECT MAX(version) FROM schema_version")
        .fetch_one(&mut *conn)
        .await?;
    let found = found.unwrap_or(0);
    if found > known {
        return Err(StoreError::NewerSchema { found, known });
    }
    for (version, text) in (1..)
        .zip(MIGRATIONS)
        .filter(|(version, _)| *version > found)
    {
        apply(conn, version, text).await?;
    }
    Ok(())
}

/// Is the schema the one this program knows? Changes nothing.
pub(in crate::store) async fn check(conn: &mut AnyConnection) -> Result<(), StoreError> {
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let (found,): (Option<i64>,) = sqlx::query_as("SELECT MAX(version) FROM schema_version")
        .fetch_one(&mut *conn)
        .await?;
    match found.unwrap_or(0) {
        found if found > known => Err(StoreError::NewerSchema { found, known }),
        found if found < known => Err(StoreError::OlderSchema { found, known }),
        _ => Ok(()),
    }
}

async fn apply(
    conn: &mut AnyConnection,
    version: i64,
    text: &'static str,
) -> Result<(), StoreError> {
    sqlx::raw_sql("BEGIN").execute(&mut *conn).await?;
    let applied = async {
        sqlx::raw_sql(text).execute(&mut *conn).await?;
        sqlx::query("INSERT INTO schema_version (version) VALUES ($1)")
            .bind(version)
            .execute(&mut *conn)
            .await?;
        sqlx::raw_sql("COMMIT").execute(&mut *conn).await
    }
    .await;
    if let Err(error) = applied {
        // The first error is the one to tell; an unfinished transaction also dies with the connection.
        let _ = sqlx::raw_sql("ROLLBACK").execute(&mut *conn).await;
        return Err(error.into());
    }
    tracing::info!(version, "store schema brought up to date");
    Ok(())
}
