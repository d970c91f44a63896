//! The schema, embedded, brought up to date at start. One text for every database.
//!
//! INVARIANT: a schema that is newer than this program is not touched, and is worked with only if every newer version
//! says that programs of this one may. So replicas of two releases stand beside each other while they are replaced.

use super::StoreError;
use sqlx::AnyConnection;

/// One step of the schema.
struct Migration {
    text: &'static str,
    /// The oldest version whose programs go on working beside this one: the one before for a step that only adds, this
    /// one itself for a step that takes away or changes.
    compatible_from: i64,
}

/// In order; version `n` is the one at place `n - 1`. Never change a published one: add the next.
const MIGRATIONS: &[Migration] = &[
    Migration {
        text: include_str!("migrations/0001_first.sql"),
        compatible_from: 1,
    },
    Migration {
        text: include_str!("migrations/0002_answers.sql"),
        compatible_from: 2,
    },
    Migration {
        text: include_str!("migrations/0003_after_merge.sql"),
        compatible_from: 3,
    },
    Migration {
        text: include_str!("migrations/0004_decisions.sql"),
        compatible_from: 4,
    },
    Migration {
        text: include_str!("migrations/0005_replicas.sql"),
        compatible_from: FIRST_COMPATIBLE,
    },
];

/// From this version on a version says which programs may go on beside it.
const FIRST_COMPATIBLE: i64 = 5;

/// Brings the schema to the newest version. The caller holds whatever keeps other programs out.
pub(in crate::store) async fn migrate(conn: &mut AnyConnection) -> Result<(), StoreError> {
    sqlx::raw_sql("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)")
        .execute(&mut *conn)
        .await?;
    let found = found(conn).await?;
    if found > known() {
        return tolerated(conn, found).await;
    }
    for (version, migration) in (1..)
        .zip(MIGRATIONS)
        .filter(|(version, _)| *version > found)
    {
        apply(conn, version, migration).await?;
    }
    Ok(())
}

/// Is the schema one that this program can work with? Changes nothing.
pub(in crate::store) async fn check(conn: &mut AnyConnection) -> Result<(), StoreError> {
    let (found, known) = (found(conn).await?, known());
    if found < known {
        return Err(StoreError::OlderSchema { found, known });
    }
    if found > known {
        return tolerated(conn, found).await;
    }
    Ok(())
}

/// What a database without any table of ours is.
pub(in crate::store) fn nothing_there() -> StoreError {
    StoreError::OlderSchema {
        found: 0,
        known: known(),
    }
}

fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

async fn found(conn: &mut AnyConnection) -> Result<i64, StoreError> {
    let (found,): (Option<i64>,) = sqlx::query_as("SELECT MAX(version) FROM schema_version")
        .fetch_one(&mut *conn)
        .await?;
    Ok(found.unwrap_or(0))
}

/// A newer schema, of which every version that is not known here says that this program may go on.
async fn tolerated(conn: &mut AnyConnection, found: i64) -> Result<(), StoreError> {
    let known = known();
    let (refusing,): (i64,) = sqlx::query_as(
        "SELECT COUNT(*) FROM schema_version
         WHERE version > $1 AND (compatible_from IS NULL OR compatible_from > $1)",
    )
    .bind(known)
    .fetch_one(&mut *conn)
    .await?;
    if refusing > 0 {
        return Err(StoreError::NewerSchema { found, known });
    }
    tracing::warn!(
        found,
        known,
        "the store's schema is newer than this program, which may go on beside it: bring this one up to date too"
    );
    Ok(())
}

async fn apply(
    conn: &mut AnyConnection,
    version: i64,
    migration: &Migration,
) -> Result<(), StoreError> {
    sqlx::raw_sql("BEGIN").execute(&mut *conn).await?;
    let applied = async {
        sqlx::raw_sql(migration.text).execute(&mut *conn).await?;
        if version < FIRST_COMPATIBLE {
            sqlx::query("INSERT INTO schema_version (version) VALUES ($1)")
                .bind(version)
                .execute(&mut *conn)
                .await?;
        } else {
            sqlx::query("INSERT INTO schema_version (version, compatible_from) VALUES ($1, $2)")
                .bind(version)
                .bind(migration.compatible_from)
                .execute(&mut *conn)
                .await?;
        }
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
