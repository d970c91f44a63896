//! The audit chain in the database: entries in order, and how far they are written out as files.
//!
//! INVARIANT: an entry is put at the end under the lock of the row of `audit_tail`, in the transaction that moves it: no
//! two entries get one place, and none is seen before those in front of it.

use super::{registry, signed, unsigned, witness};
use crate::domain::Witness;
use crate::store::{ChainLine, Chained, StoreError};
use sqlx::AnyConnection;
use std::sync::Arc;

/// Puts entries at the end, in order, save those whose decision is there already; says where each stands.
pub(super) async fn append(
    conn: &mut AnyConnection,
    entries: &[Arc<dyn Chained>],
) -> Result<Vec<Witness>, StoreError> {
    let mut end = lock_tail(conn).await?.ok_or_else(|| {
        StoreError::Unavailable("the audit chain is not opened by any replica yet".into())
    })?;
    let before = end.seq;
    let mut places = Vec::with_capacity(entries.len());
    for entry in entries {
        if let Some(place) = of_decision(conn, entry.decision()).await? {
            places.push(place);
            continue;
        }
        let seq = end.seq.saturating_add(1);
        let (line, place) = entry
            .line(seq, &end.hash)
            .map_err(|error| StoreError::unreadable("an audit entry", error))?;
        sqlx::query("INSERT INTO audit_entry (seq, hash, decision, line) VALUES ($1, $2, $3, $4)")
            .bind(signed(place.seq))
            .bind(place.hash.as_str())
            .bind(entry.decision())
            .bind(line)
            .execute(&mut *conn)
            .await?;
        end = place.clone();
        places.push(place);
    }
    if end.seq > before {
        move_tail(conn, &end).await?;
    }
    Ok(places)
}

/// The end of the chain, whose row is locked until the transaction ends.
async fn lock_tail(conn: &mut AnyConnection) -> Result<Option<Witness>, StoreError> {
    let row: Option<(i64, String)> =
        sqlx::query_as("UPDATE audit_tail SET seq = seq RETURNING seq, hash")
            .fetch_optional(&mut *conn)
            .await?;
    Ok(row.map(witness))
}

async fn move_tail(conn: &mut AnyConnection, to: &Witness) -> Result<(), StoreError> {
    sqlx::query("UPDATE audit_tail SET seq = $1, hash = $2")
        .bind(signed(to.seq))
        .bind(to.hash.as_str())
        .execute(&mut *conn)
        .await?;
    Ok(())
}

async fn of_decision(
    conn: &mut AnyConnection,
    decision: &str,
) -> Result<Option<Witness>, StoreError> {
    let row: Option<(i64, String)> = sqlx::query_as(
        "SELECT seq, hash FROM audit_entry WHERE decision = $1 ORDER BY seq DESC LIMIT 1",
    )
    .bind(decision)
    .fetch_optional(&mut *conn)
    .await?;
    Ok(row.map(witness))
}

/// Begins the chain where a log on disk ends (`start` is what stands before the first entry of all), unless it has begun
/// there or later; returns its end.
pub(super) async fn open(
    conn: &mut AnyConnection,
    on_disk: Option<&Witness>,
    start: &str,
) -> Result<Witness, StoreError> {
    sqlx::query(
        "INSERT INTO audit_tail (one, seq, hash) VALUES (1, 0, $1) ON CONFLICT (one) DO NOTHING",
    )
    .bind(start)
    .execute(&mut *conn)
    .await?;
    if let Some(witness) = on_disk {
        registry::set_audit_tail(conn, witness).await?;
    }
    let end = lock_tail(conn).await?;
    end.ok_or_else(|| StoreError::unreadable("the audit tail", "it is not there"))
}

/// The entries behind a place, oldest first.
pub(super) async fn behind(
    conn: &mut AnyConnection,
    seq: u64,
    limit: u32,
) -> Result<Vec<ChainLine>, StoreError> {
    let rows: Vec<(i64, String, String)> = sqlx::query_as(
        "SELECT seq, hash, line FROM audit_entry WHERE seq > $1 ORDER BY seq LIMIT $2",
    )
    .bind(signed(seq))
    .bind(i64::from(limit))
    .fetch_all(&mut *conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|(seq, hash, line)| ChainLine {
            at: witness((seq, hash)),
            line,
        })
        .collect())
}

/// The hash of one entry that is kept.
pub(super) async fn hash_of(
    conn: &mut AnyConnection,
    seq: u64,
) -> Result<Option<String>, StoreError> {
    let row: Option<(String,)> = sqlx::query_as(
        "SELECT hash FROM audit_entry WHERE seq = $1
         UNION SELECT hash FROM audit_tail WHERE seq = $1",
    )
    .bind(signed(seq))
    .fetch_optional(&mut *conn)
    .await?;
    Ok(row.map(|(hash,)| hash))
}

/// Up to here the entries are in files, on disk.
pub(super) async fn written(conn: &mut AnyConnection) -> Result<u64, StoreError> {
    let row: Option<(i64,)> = sqlx::query_as("SELECT seq FROM audit_written")
        .fetch_optional(&mut *conn)
        .await?;
    Ok(row.map_or(0, |(seq,)| unsigned(seq)))
}

/// Notes how far the files reach and forgets all but the newest `keep` of the entries in them.
pub(super) async fn set_written(
    conn: &mut AnyConnection,
    seq: u64,
    keep: u64,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO audit_written (one, seq) VALUES (1, $1)
         ON CONFLICT (one) DO UPDATE SET seq = excluded.seq",
    )
    .bind(signed(seq))
    .execute(&mut *conn)
    .await?;
    sqlx::query("DELETE FROM audit_entry WHERE seq <= $1")
        .bind(signed(seq.saturating_sub(keep)))
        .execute(&mut *conn)
        .await?;
    Ok(())
}

/// Goes on where a log on disk ends, without the entries behind it: the operator has accepted that some are lost.
pub(super) async fn cut(
    conn: &mut AnyConnection,
    on_disk: Option<&Witness>,
    start: &str,
) -> Result<(), StoreError> {
    let beginning = Witness {
        seq: 0,
        hash: start.to_owned(),
    };
    let end = on_disk.unwrap_or(&beginning);
    lock_tail(conn).await?;
    sqlx::query("DELETE FROM audit_entry WHERE seq > $1")
        .bind(signed(end.seq))
        .execute(&mut *conn)
        .await?;
    move_tail(conn, end).await
}
