//! What waits, what was given up, what came in: for people, metrics and the worker's sleep.

use super::{from_json, intake::delivery_ids, parsed, unsigned};
use crate::domain::Timestamp;
use crate::store::{DeadLetter, DeliveryRow, DeliveryStatus, StoreError};
use sqlx::AnyConnection;
use std::time::Duration;

/// Work of suspended and removed installations waits without being late.
macro_rules! waiting {
    ($what:literal) => {
        concat!(
            "SELECT ",
            $what,
            " FROM subject AS s WHERE wanted > done AND NOT EXISTS (SELECT 1 FROM installation AS i \
             WHERE i.id = s.installation AND i.status <> 'active')"
        )
    };
}

pub(super) async fn queue_depth(conn: &mut AnyConnection) -> Result<u64, StoreError> {
    let (count,): (i64,) = sqlx::query_as(waiting!("COUNT(*)"))
        .fetch_one(&mut *conn)
        .await?;
    Ok(unsigned(count))
}

pub(super) async fn oldest_waiting(
    conn: &mut AnyConnection,
    now: Timestamp,
) -> Result<Duration, StoreError> {
    let (oldest,): (Option<i64>,) = sqlx::query_as(waiting!("MIN(queued_at)"))
        .fetch_one(&mut *conn)
        .await?;
    Ok(oldest.map_or(Duration::ZERO, |at| now.since(Timestamp::from_millis(at))))
}

pub(super) async fn next_due(conn: &mut AnyConnection) -> Result<Option<Timestamp>, StoreError> {
    let (due,): (Option<i64>,) = sqlx::query_as(waiting!(
        "MIN(CASE WHEN lease IS NOT NULL AND lease_until > next_attempt THEN lease_until ELSE next_attempt END)"
    ))
    .fetch_one(&mut *conn)
    .await?;
    Ok(due.map(Timestamp::from_millis))
}

pub(super) async fn dead_letters(conn: &mut AnyConnection) -> Result<Vec<DeadLetter>, StoreError> {
    let rows: Vec<(String, String, String, i64, i64)> = sqlx::query_as(
        "SELECT subject_key, body, reason, attempts, at FROM dead_letter ORDER BY at DESC, subject_key",
    )
    .fetch_all(&mut *conn)
    .await?;
    let mut letters = Vec::with_capacity(rows.len());
    for (id, body, reason, attempts, at) in rows {
        let deliveries: Vec<(String,)> = sqlx::query_as(
            "SELECT delivery_id FROM delivery_subject WHERE subject_key = $1 AND status = 'dead' AND status <> 'done'
             ORDER BY generation DESC LIMIT 100",
        )
        .bind(id.as_str())
        .fetch_all(&mut *conn)
        .await?;
        letters.push(DeadLetter {
            subject: from_json("a subject", &body)?,
            id,
            reason,
            attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
            at: Timestamp::from_millis(at),
            deliveries: delivery_ids(&deliveries)?,
        });
    }
    Ok(letters)
}

/// A delivery's row with the rank of its worst subject.
type RankedRow = (String, String, Option<String>, i64, i64);

pub(super) async fn recent_deliveries(
    conn: &mut AnyConnection,
    limit: u32,
) -> Result<Vec<DeliveryRow>, StoreError> {
    let rows: Vec<RankedRow> = sqlx::query_as(
        "SELECT d.id, d.event, d.action, d.received_at,
                (SELECT COALESCE(MAX(CASE status WHEN 'dead' THEN 2 WHEN 'waiting' THEN 1 ELSE 0 END), 0)
                 FROM delivery_subject WHERE delivery_id = d.id)
         FROM delivery AS d ORDER BY d.received_at DESC, d.id LIMIT $1",
    )
    .bind(i64::from(limit))
    .fetch_all(&mut *conn)
    .await?;
    rows.into_iter()
        .map(|(id, event, action, received_at, rank)| {
            Ok(DeliveryRow {
                id: parsed("a delivery id", &id)?,
                event,
                action,
                received_at: Timestamp::from_millis(received_at),
                status: match rank {
                    0 => DeliveryStatus::Done,
                    1 => DeliveryStatus::Waiting,
                    _ => DeliveryStatus::Dead,
                },
            })
        })
        .collect()
}

/// Also forgets idle subjects: a row that comes back starts anew, which no live lease can notice.
pub(super) async fn prune(conn: &mut AnyConnection, before: Timestamp) -> Result<u64, StoreError> {
    let gone = sqlx::query(
        "DELETE FROM delivery WHERE received_at < $1 AND NOT EXISTS (
             SELECT 1 FROM delivery_subject AS w WHERE w.delivery_id = delivery.id AND w.status <> 'done')",
    )
    .bind(before.millis())
    .execute(&mut *conn)
    .await?;
    sqlx::query(
        "DELETE FROM subject WHERE wanted <= done AND lease IS NULL AND queued_at < $1 AND NOT EXISTS (
             SELECT 1 FROM dead_letter AS l WHERE l.subject_key = subject.key)",
    )
    .bind(before.millis())
    .execute(&mut *conn)
    .await?;
    sqlx::query(
        "DELETE FROM announcement WHERE NOT EXISTS (
             SELECT 1 FROM subject AS s WHERE s.key = announcement.subject_key)",
    )
    .execute(&mut *conn)
    .await?;
    // A button counts for the head that is the head; an edit, for an Issue that is open or whose approval is in force.
    sqlx::query(
        "DELETE FROM press WHERE at < $1 AND NOT EXISTS (
             SELECT 1 FROM pull_state AS p WHERE press.external_id LIKE '%' || p.head_sha)",
    )
    .bind(before.millis())
    .execute(&mut *conn)
    .await?;
    sqlx::query(
        "DELETE FROM comment_edit WHERE updated_at < $1 AND NOT EXISTS (
             SELECT 1 FROM issue_pull AS i
             JOIN pull_state AS p ON p.repo_id = i.pull_repo_id AND p.number = i.pull_number
             WHERE i.issue_repo_id = comment_edit.repo_id AND i.issue_number = comment_edit.issue
               AND p.issue_open = 1)",
    )
    .bind(before.millis())
    .execute(&mut *conn)
    .await?;
    Ok(gone.rows_affected())
}
