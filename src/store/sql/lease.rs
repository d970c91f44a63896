//! Work under a lease: claim, renew, finish, retry, bury, release.
//!
//! INVARIANT: every write goes through [`Fence`], whose token is given out once for each claim of a subject:
//! with a lost lease nothing changes.

use super::{from_json, intake::delivery_ids, parsed, plans, pulls, unsigned};
use crate::domain::{PullState, Sha, Subject, Timestamp};
use crate::store::{Claim, Finish, StoreError};
use sqlx::AnyConnection;
use std::time::Duration;

/// A row that does not read back is set aside for this long, so that it does not block the others.
const SET_ASIDE: Duration = Duration::from_hours(1);

/// What a claim is fenced by.
pub(super) struct Fence {
    pub(super) key: String,
    pub(super) generation: i64,
    lease: String,
}

impl Fence {
    pub(super) fn of(claim: &Claim) -> Self {
        Self {
            key: claim.subject.key(),
            generation: super::signed(claim.generation),
            lease: claim.lease.clone(),
        }
    }

    /// Locks the subject's row and fails unless the lease still holds.
    pub(super) async fn hold(&self, conn: &mut AnyConnection) -> Result<(), StoreError> {
        let held = sqlx::query("UPDATE subject SET lease = lease WHERE key = $1 AND lease = $2")
            .bind(self.key.as_str())
            .bind(self.lease.as_str())
            .execute(&mut *conn)
            .await?;
        self.held(held.rows_affected())
    }

    fn held(&self, rows: u64) -> Result<(), StoreError> {
        if rows == 1 {
            Ok(())
        } else {
            Err(StoreError::LeaseLost {
                subject: self.key.clone(),
            })
        }
    }
}

/// A subject's row as claimed.
type ClaimedRow = (String, String, i64, i64, i64, i64, String);

pub(super) async fn claim(
    conn: &mut AnyConnection,
    worker: &str,
    now: Timestamp,
    lease: Duration,
) -> Result<Option<Claim>, StoreError> {
    while let Some(row) = take(conn, worker, now, lease).await? {
        let key = row.0.clone();
        match load(conn, row).await {
            Ok(claim) => return Ok(Some(claim)),
            Err(error @ StoreError::Unreadable { .. }) => {
                tracing::error!(subject = key, %error, "subject set aside");
                set_aside(conn, &key, now.plus(SET_ASIDE), &error.to_string()).await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Takes the lease. An installation itself is worked on whatever its state: its end is put into the log. SQLite has one writer; PostgreSQL needs `FOR UPDATE SKIP LOCKED` in the inner SELECT.
async fn take(
    conn: &mut AnyConnection,
    worker: &str,
    now: Timestamp,
    lease: Duration,
) -> Result<Option<ClaimedRow>, StoreError> {
    Ok(sqlx::query_as(
        "UPDATE subject SET
             claims = claims + 1,
             lease = $1 || '#' || CAST(claims + 1 AS TEXT),
             lease_until = $2,
             claimed = wanted,
             attempts = attempts + 1
         WHERE key = (
             SELECT key FROM subject AS s
             WHERE wanted > done AND next_attempt <= $3 AND (lease IS NULL OR lease_until <= $3)
               AND (s.key LIKE 'installation/%'
                    OR NOT EXISTS (SELECT 1 FROM installation AS i
                                   WHERE i.id = s.installation AND i.status <> 'active'))
             ORDER BY queued_at, key LIMIT 1)
         RETURNING key, body, wanted, done, deep_at, attempts, lease",
    )
    .bind(worker)
    .bind(now.plus(lease).millis())
    .bind(now.millis())
    .fetch_optional(&mut *conn)
    .await?)
}

async fn load(conn: &mut AnyConnection, row: ClaimedRow) -> Result<Claim, StoreError> {
    let (key, body, wanted, done, deep_at, attempts, lease) = row;
    let subject: Subject = from_json("a subject", &body)?;
    Ok(Claim {
        announced: announced(conn, &key).await?,
        deliveries: waiting_deliveries(conn, &key).await?,
        state: state_of(conn, &subject).await?,
        plan: plans::load(conn, &key).await?,
        subject,
        generation: unsigned(wanted),
        lease,
        attempts: u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX),
        deep: deep_at > done,
    })
}

async fn announced(
    conn: &mut AnyConnection,
    key: &str,
) -> Result<Vec<(Sha, Timestamp)>, StoreError> {
    let rows: Vec<(String, i64)> = sqlx::query_as(
        "SELECT head, at FROM announcement WHERE subject_key = $1
         ORDER BY generation DESC LIMIT 100",
    )
    .bind(key)
    .fetch_all(&mut *conn)
    .await?;
    rows.iter()
        .rev()
        .map(|(head, at)| Ok((parsed("a head SHA", head)?, Timestamp::from_millis(*at))))
        .collect()
}

async fn waiting_deliveries(
    conn: &mut AnyConnection,
    key: &str,
) -> Result<Vec<crate::domain::DeliveryId>, StoreError> {
    let rows: Vec<(String,)> = sqlx::query_as(
        "SELECT delivery_id FROM delivery_subject WHERE subject_key = $1 AND status = 'waiting'
         ORDER BY generation DESC LIMIT 100",
    )
    .bind(key)
    .fetch_all(&mut *conn)
    .await?;
    delivery_ids(&rows)
}

async fn state_of(
    conn: &mut AnyConnection,
    subject: &Subject,
) -> Result<Option<PullState>, StoreError> {
    match subject {
        Subject::Pull { repo, number } => pulls::state(conn, repo.id, *number).await,
        Subject::Head { .. }
        | Subject::Issue { .. }
        | Subject::Repo { .. }
        | Subject::Installation { .. }
        | Subject::MergeGroup { .. } => Ok(None),
    }
}

async fn set_aside(
    conn: &mut AnyConnection,
    key: &str,
    until: Timestamp,
    error: &str,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE subject SET lease = NULL, lease_until = 0, claimed = 0, next_attempt = $2, error = $3
         WHERE key = $1",
    )
    .bind(key)
    .bind(until.millis())
    .bind(error)
    .execute(&mut *conn)
    .await?;
    Ok(())
}

pub(super) async fn renew(
    conn: &mut AnyConnection,
    fence: &Fence,
    until: Timestamp,
) -> Result<(), StoreError> {
    let renewed = sqlx::query("UPDATE subject SET lease_until = $3 WHERE key = $1 AND lease = $2")
        .bind(fence.key.as_str())
        .bind(fence.lease.as_str())
        .bind(until.millis())
        .execute(&mut *conn)
        .await?;
    fence.held(renewed.rows_affected())
}

/// Returns whether the subject has newer wishes.
pub(super) async fn finish(
    conn: &mut AnyConnection,
    fence: &Fence,
    finish: &Finish,
) -> Result<bool, StoreError> {
    let wanted: Option<(i64,)> = sqlx::query_as(
        "UPDATE subject SET done = $3, claimed = 0, attempts = 0, next_attempt = 0, error = NULL,
                            lease = NULL, lease_until = 0, queued_at = again_at
         WHERE key = $1 AND lease = $2 RETURNING wanted",
    )
    .bind(fence.key.as_str())
    .bind(fence.lease.as_str())
    .bind(fence.generation)
    .fetch_optional(&mut *conn)
    .await?;
    fence.held(u64::from(wanted.is_some()))?;
    keep(conn, finish).await?;
    settle_deliveries(conn, fence, "done").await?;
    sqlx::query("DELETE FROM announcement WHERE subject_key = $1 AND generation <= $2")
        .bind(fence.key.as_str())
        .bind(fence.generation)
        .execute(&mut *conn)
        .await?;
    sqlx::query("DELETE FROM dead_letter WHERE subject_key = $1")
        .bind(fence.key.as_str())
        .execute(&mut *conn)
        .await?;
    plans::remove(conn, &fence.key).await?;
    Ok(wanted.is_some_and(|(wanted,)| wanted > fence.generation))
}

async fn keep(conn: &mut AnyConnection, done: &Finish) -> Result<(), StoreError> {
    if let Some(state) = &done.state {
        pulls::save(conn, state).await?;
    }
    for name in &done.count {
        super::registry::bump(conn, name, 1).await?;
    }
    Ok(())
}

pub(super) async fn remember(
    conn: &mut AnyConnection,
    fence: &Fence,
    done: &Finish,
) -> Result<(), StoreError> {
    fence.hold(conn).await?;
    keep(conn, done).await?;
    plans::remove(conn, &fence.key).await
}

/// The deliveries that the claim covers are `done` or `dead`.
async fn settle_deliveries(
    conn: &mut AnyConnection,
    fence: &Fence,
    status: &'static str,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE delivery_subject SET status = $3
         WHERE subject_key = $1 AND generation <= $2 AND status <> 'done'",
    )
    .bind(fence.key.as_str())
    .bind(fence.generation)
    .bind(status)
    .execute(&mut *conn)
    .await?;
    Ok(())
}

pub(super) async fn retry(
    conn: &mut AnyConnection,
    fence: &Fence,
    next_attempt: Timestamp,
    error: &str,
) -> Result<(), StoreError> {
    let put_back = sqlx::query(
        "UPDATE subject SET claimed = 0, next_attempt = $3, error = $4, lease = NULL, lease_until = 0
         WHERE key = $1 AND lease = $2",
    )
    .bind(fence.key.as_str())
    .bind(fence.lease.as_str())
    .bind(next_attempt.millis())
    .bind(error)
    .execute(&mut *conn)
    .await?;
    fence.held(put_back.rows_affected())
}

pub(super) async fn release(conn: &mut AnyConnection, fence: &Fence) -> Result<(), StoreError> {
    let released = sqlx::query(
        "UPDATE subject SET claimed = 0, attempts = attempts - 1, lease = NULL, lease_until = 0
         WHERE key = $1 AND lease = $2",
    )
    .bind(fence.key.as_str())
    .bind(fence.lease.as_str())
    .execute(&mut *conn)
    .await?;
    fence.held(released.rows_affected())
}

/// A full reading that was owed stays owed to the next trigger; announcements stay for it too.
pub(super) async fn bury(
    conn: &mut AnyConnection,
    fence: &Fence,
    reason: &str,
    now: Timestamp,
) -> Result<bool, StoreError> {
    fence.hold(conn).await?;
    sqlx::query(
        "INSERT INTO dead_letter (subject_key, body, reason, attempts, at)
         SELECT key, body, $2, attempts, $3 FROM subject WHERE key = $1
         ON CONFLICT (subject_key) DO UPDATE SET
             body = excluded.body, reason = excluded.reason, attempts = excluded.attempts, at = excluded.at",
    )
    .bind(fence.key.as_str())
    .bind(reason)
    .bind(now.millis())
    .execute(&mut *conn)
    .await?;
    let (wanted,): (i64,) = sqlx::query_as(
        "UPDATE subject SET done = $2, claimed = 0, attempts = 0, next_attempt = 0, error = $3,
                            lease = NULL, lease_until = 0, queued_at = again_at,
                            deep_at = CASE WHEN deep_at > done AND deep_at <= $2 THEN $2 + 1
                                           ELSE deep_at END
         WHERE key = $1 RETURNING wanted",
    )
    .bind(fence.key.as_str())
    .bind(fence.generation)
    .bind(reason)
    .fetch_one(&mut *conn)
    .await?;
    settle_deliveries(conn, fence, "dead").await?;
    Ok(wanted > fence.generation)
}
