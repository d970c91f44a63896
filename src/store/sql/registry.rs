//! Installations, names, pinned owners, counters, labels, the audit tail and other small things.

use super::{parsed, signed, unsigned, witness};
use crate::domain::{AccountId, InstallationId, RepoId, RepoName, RepoRef, Witness};
use crate::store::{InstallationRow, InstallationStatus, StoreError};
use sqlx::AnyConnection;
use std::collections::{BTreeMap, BTreeSet};

pub(super) async fn set_installation(
    conn: &mut AnyConnection,
    id: InstallationId,
    status: InstallationStatus,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO installation (id, status) VALUES ($1, $2)
         ON CONFLICT (id) DO UPDATE SET status = excluded.status",
    )
    .bind(signed(id.0))
    .bind(status.as_str())
    .execute(&mut *conn)
    .await?;
    Ok(())
}

pub(super) async fn installation(
    conn: &mut AnyConnection,
    id: InstallationId,
) -> Result<InstallationStatus, StoreError> {
    let row: Option<(String,)> = sqlx::query_as("SELECT status FROM installation WHERE id = $1")
        .bind(signed(id.0))
        .fetch_optional(&mut *conn)
        .await?;
    status(row.as_ref().map(|(status,)| status.as_str()))
}

/// Active when never heard of.
fn status(word: Option<&str>) -> Result<InstallationStatus, StoreError> {
    match word {
        None | Some("active") => Ok(InstallationStatus::Active),
        Some("suspended") => Ok(InstallationStatus::Suspended),
        Some("removed") => Ok(InstallationStatus::Removed),
        Some(other) => Err(StoreError::unreadable("an installation's status", other)),
    }
}

pub(super) async fn installations(
    conn: &mut AnyConnection,
) -> Result<Vec<InstallationRow>, StoreError> {
    let rows: Vec<(i64, Option<String>, i64)> = sqlx::query_as(
        "SELECT k.id, i.status, (SELECT COUNT(*) FROM repo AS r WHERE r.installation = k.id)
         FROM (SELECT id FROM installation UNION SELECT installation FROM repo) AS k
         LEFT JOIN installation AS i ON i.id = k.id ORDER BY k.id",
    )
    .fetch_all(&mut *conn)
    .await?;
    rows.into_iter()
        .map(|(id, word, repositories)| {
            Ok(InstallationRow {
                id: InstallationId(unsigned(id)),
                status: status(word.as_deref())?,
                repositories: unsigned(repositories),
            })
        })
        .collect()
}

/// Every delivery says so: a row that says it already is not touched, and so not locked.
pub(super) async fn repo_seen(conn: &mut AnyConnection, repo: &RepoRef) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO repo (id, name, installation)
         SELECT $1, $2, $3 WHERE NOT EXISTS (
             SELECT 1 FROM repo AS r WHERE r.id = $1 AND r.name = $2 AND r.installation = $3)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, installation = excluded.installation",
    )
    .bind(signed(repo.id.0))
    .bind(repo.name.as_str())
    .bind(signed(repo.installation.0))
    .execute(&mut *conn)
    .await?;
    Ok(())
}

pub(super) async fn repo_by_id(
    conn: &mut AnyConnection,
    id: RepoId,
) -> Result<Option<RepoRef>, StoreError> {
    let row: Option<(String, i64)> =
        sqlx::query_as("SELECT name, installation FROM repo WHERE id = $1")
            .bind(signed(id.0))
            .fetch_optional(&mut *conn)
            .await?;
    row.map(|(name, installation)| {
        Ok(RepoRef {
            id,
            name: parsed("a repository name", &name)?,
            installation: InstallationId(unsigned(installation)),
        })
    })
    .transpose()
}

pub(super) async fn repo_by_name(
    conn: &mut AnyConnection,
    name: &RepoName,
) -> Result<Option<RepoRef>, StoreError> {
    let row: Option<(i64, String, i64)> = sqlx::query_as(
        "SELECT id, name, installation FROM repo WHERE LOWER(name) = $1 ORDER BY id DESC LIMIT 1",
    )
    .bind(name.as_str().to_ascii_lowercase())
    .fetch_optional(&mut *conn)
    .await?;
    row.map(|(id, name, installation)| {
        Ok(RepoRef {
            id: RepoId(unsigned(id)),
            name: parsed("a repository name", &name)?,
            installation: InstallationId(unsigned(installation)),
        })
    })
    .transpose()
}

/// The first pin holds: a login that is registered anew by somebody else does not become an owner.
pub(super) async fn pin_owner(
    conn: &mut AnyConnection,
    login: &str,
    id: AccountId,
) -> Result<AccountId, StoreError> {
    let login = login.to_ascii_lowercase();
    sqlx::query(
        "INSERT INTO owner (login, account_id) VALUES ($1, $2) ON CONFLICT (login) DO NOTHING",
    )
    .bind(login.as_str())
    .bind(signed(id.0))
    .execute(&mut *conn)
    .await?;
    let (pinned,): (i64,) = sqlx::query_as("SELECT account_id FROM owner WHERE login = $1")
        .bind(login.as_str())
        .fetch_one(&mut *conn)
        .await?;
    Ok(AccountId(unsigned(pinned)))
}

pub(super) async fn pinned_owners(
    conn: &mut AnyConnection,
) -> Result<BTreeMap<String, AccountId>, StoreError> {
    let rows: Vec<(String, i64)> = sqlx::query_as("SELECT login, account_id FROM owner")
        .fetch_all(&mut *conn)
        .await?;
    Ok(rows
        .into_iter()
        .map(|(login, id)| (login, AccountId(unsigned(id))))
        .collect())
}

pub(super) async fn bump(conn: &mut AnyConnection, name: &str, by: u64) -> Result<u64, StoreError> {
    let (value,): (i64,) = sqlx::query_as(
        "INSERT INTO counter (name, value) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = counter.value + excluded.value RETURNING value",
    )
    .bind(name)
    .bind(signed(by))
    .fetch_one(&mut *conn)
    .await?;
    Ok(unsigned(value))
}

pub(super) async fn counters(
    conn: &mut AnyConnection,
) -> Result<BTreeMap<String, u64>, StoreError> {
    let rows: Vec<(String, i64)> = sqlx::query_as("SELECT name, value FROM counter")
        .fetch_all(&mut *conn)
        .await?;
    Ok(rows
        .into_iter()
        .map(|(name, value)| (name, unsigned(value)))
        .collect())
}

pub(super) async fn label_ensured(
    conn: &mut AnyConnection,
    repo: RepoId,
    name: &str,
) -> Result<bool, StoreError> {
    let row: Option<(i64,)> =
        sqlx::query_as("SELECT repo_id FROM label_ensured WHERE repo_id = $1 AND name = $2")
            .bind(signed(repo.0))
            .bind(name)
            .fetch_optional(&mut *conn)
            .await?;
    Ok(row.is_some())
}

pub(super) async fn labels_ensured(
    conn: &mut AnyConnection,
    repo: RepoId,
) -> Result<BTreeSet<String>, StoreError> {
    let rows: Vec<(String,)> = sqlx::query_as("SELECT name FROM label_ensured WHERE repo_id = $1")
        .bind(signed(repo.0))
        .fetch_all(&mut *conn)
        .await?;
    Ok(rows.into_iter().map(|(name,)| name).collect())
}

pub(super) async fn set_label_ensured(
    conn: &mut AnyConnection,
    repo: RepoId,
    name: &str,
    exists: bool,
) -> Result<(), StoreError> {
    let text = if exists {
        "INSERT INTO label_ensured (repo_id, name) VALUES ($1, $2) ON CONFLICT (repo_id, name) DO NOTHING"
    } else {
        "DELETE FROM label_ensured WHERE repo_id = $1 AND name = $2"
    };
    sqlx::query(text)
        .bind(signed(repo.0))
        .bind(name)
        .execute(&mut *conn)
        .await?;
    Ok(())
}

pub(super) async fn meta(
    conn: &mut AnyConnection,
    key: &str,
) -> Result<Option<String>, StoreError> {
    let row: Option<(String,)> = sqlx::query_as("SELECT value FROM meta WHERE key = $1")
        .bind(key)
        .fetch_optional(&mut *conn)
        .await?;
    Ok(row.map(|(value,)| value))
}

pub(super) async fn set_meta(
    conn: &mut AnyConnection,
    key: &str,
    value: &str,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO meta (key, value) VALUES ($1, $2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    )
    .bind(key)
    .bind(value)
    .execute(&mut *conn)
    .await?;
    Ok(())
}

/// Two replicas that change a value at once do not both write over what they read.
pub(super) async fn swap_meta(
    conn: &mut AnyConnection,
    key: &str,
    was: Option<&str>,
    value: &str,
) -> Result<bool, StoreError> {
    let text = match was {
        Some(_) => "UPDATE meta SET value = $2 WHERE key = $1 AND value = $3",
        // Nothing equals NULL; it is bound so that both texts take the same values.
        None => {
            "INSERT INTO meta (key, value) SELECT $1, $2 WHERE $3 IS NULL ON CONFLICT (key) DO NOTHING"
        }
    };
    let swapped = sqlx::query(text)
        .bind(key)
        .bind(value)
        .bind(was)
        .execute(&mut *conn)
        .await?;
    Ok(swapped.rows_affected() == 1)
}

pub(super) async fn audit_tail(conn: &mut AnyConnection) -> Result<Option<Witness>, StoreError> {
    let row: Option<(i64, String)> =
        sqlx::query_as("SELECT seq, hash FROM audit_tail WHERE seq > 0")
            .fetch_optional(&mut *conn)
            .await?;
    Ok(row.map(witness))
}

/// Backwards too.
pub(super) async fn reset_audit_tail(
    conn: &mut AnyConnection,
    witness: Option<&Witness>,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM audit_tail")
        .execute(&mut *conn)
        .await?;
    match witness {
        Some(witness) => set_audit_tail(conn, witness).await,
        None => Ok(()),
    }
}

/// Only forward: two workers may report their entries in the other order. A tail that is there already is not locked.
pub(super) async fn set_audit_tail(
    conn: &mut AnyConnection,
    witness: &Witness,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO audit_tail (one, seq, hash)
         SELECT 1, $1, $2 WHERE NOT EXISTS (SELECT 1 FROM audit_tail AS t WHERE t.seq >= $1)
         ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, hash = excluded.hash
         WHERE excluded.seq > audit_tail.seq",
    )
    .bind(signed(witness.seq))
    .bind(witness.hash.as_str())
    .execute(&mut *conn)
    .await?;
    Ok(())
}
