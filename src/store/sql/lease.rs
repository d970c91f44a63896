//! Work under a lease: claim, renew, finish, retry, bury, release.
//!
//! INVARIANT: every write goes through [`Fence`], whose token is given out once for each claim of a subject:
//! with a lost lease nothing changes.

use super::{
    Dialect, from_json, intake::delivery_ids, parsed, plans, pulls, storable, to_json, unsigned,
};
use crate::domain::{PullState, Sha, Subject, Timestamp};
use crate::store::{Claim, Finish, StoreError};
use sqlx::AnyConnection;
use std::time::Duration;

/// A row that does not read back is set aside for this long, so that it does not block the others.
const SET_ASIDE: Duration = Duration::from_hours(1);

/// What a claim is fenced by.
#[derive(Clone)]
pub(super) struct Fence {
    pub(super) key: String,
    pub(super) generation: i64,
    pub(super) lease: String,
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

    /// Fails unless a row was found under the lease.
    pub(super) fn held(&self, rows: u64) -> Result<(), StoreError> {
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
type ClaimedRow = (String, String, i64, i64, i64, i64, String, i64);

pub(super) async fn claim(
    conn: &mut AnyConnection,
    worker: &str,
    now: Timestamp,
    lease: Duration,
) -> Result<Option<Claim>, StoreError> {
    Ok(claim_several(conn, worker, now, lease, 1).await?.pop())
}

/// As many as are due, up to `most`, in one transaction, in the order in which they came.
pub(super) async fn claim_several(
    conn: &mut AnyConnection,
    worker: &str,
    now: Timestamp,
    lease: Duration,
    most: usize,
) -> Result<Vec<Claim>, StoreError> {
    let mut claims = Vec::new();
    while claims.len() < most {
        let rows = take(conn, worker, now, lease, most - claims.len()).await?;
        if rows.is_empty() {
            break;
        }
        for row in rows {
            let key = row.0.clone();
            match load(conn, row).await {
                Ok(claim) => claims.push(claim),
                Err(error @ StoreError::Unreadable { .. }) => {
                    tracing::error!(subject = key, %error, "subject set aside");
                    set_aside(conn, &key, now.plus(SET_ASIDE), &error.to_string()).await?;
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(claims)
}

/// The claim's text, with what follows the choice of the rows.
macro_rules! take {
    ($choice:literal) => {
        concat!(
            "UPDATE subject SET
                 claims = claims + 1,
                 lease = $1 || '#' || CAST(claims + 1 AS TEXT),
                 lease_until = $2,
                 claimed = wanted,
                 attempts = attempts + 1
             WHERE key IN (
                 SELECT key FROM subject AS s
                 WHERE wanted > done AND next_attempt <= $3 AND (lease IS NULL OR lease_until <= $3)
                   AND (s.key LIKE 'installation/%'
                        OR NOT EXISTS (SELECT 1 FROM installation AS i
                                       WHERE i.id = s.installation AND i.status <> 'active'))
                 ORDER BY queued_at, key LIMIT ",
            $choice,
            ") RETURNING key, body, wanted, done, deep_at, attempts, lease, queued_at"
        )
    };
}

/// Takes leases. An installation itself is worked on whatever its state: its end is put into the log.
///
/// One row a subject (its primary key) is the first guard against two workers, the condition on the lease the second.
/// SQLite has one writer; with PostgreSQL the row is locked as it is chosen, its condition read again on its newest
/// version, and rows that others are choosing are passed over. There one is taken at a time, since a choice of several
/// may be made more than once; with SQLite as many as are due up to `most`, so that what is being worked on, which
/// stands first, is passed over once for all.
async fn take(
    conn: &mut AnyConnection,
    worker: &str,
    now: Timestamp,
    lease: Duration,
    most: usize,
) -> Result<Vec<ClaimedRow>, StoreError> {
    let dialect = Dialect::of(conn);
    let mut taken = sqlx::query_as(match dialect {
        Dialect::Sqlite => take!("$4"),
        Dialect::Postgres => take!("1 FOR UPDATE OF s SKIP LOCKED"),
    })
    .bind(worker)
    .bind(now.plus(lease).millis())
    .bind(now.millis());
    if dialect == Dialect::Sqlite {
        taken = taken.bind(i64::try_from(most).unwrap_or(i64::MAX));
    }
    let mut rows: Vec<ClaimedRow> = taken.fetch_all(&mut *conn).await?;
    // They come back in no order.
    rows.sort_by(|a, b| (a.7, &a.0).cmp(&(b.7, &b.0)));
    Ok(rows)
}

async fn load(conn: &mut AnyConnection, row: ClaimedRow) -> Result<Claim, StoreError> {
    let (key, body, wanted, done, deep_at, attempts, lease, _) = row;
    let subject: Subject = from_json("a subject", &body)?;
    let kept = Kept::read(conn, &key, &subject).await?;
    Ok(Claim {
        announced: kept.announced,
        deliveries: delivery_ids(&kept.deliveries)?,
        state: kept.state,
        plan: if kept.has_plan {
            plans::load(conn, &key).await?
        } else {
            None
        },
        subject,
        generation: unsigned(wanted),
        lease,
        attempts: u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX),
        deep: deep_at > done,
    })
}

/// What is kept of a subject in other tables, read at once: each statement costs a way to the database and back.
#[derive(Default)]
struct Kept {
    announced: Vec<(Sha, Timestamp)>,
    deliveries: Vec<(String,)>,
    state: Option<PullState>,
    has_plan: bool,
}

impl Kept {
    async fn read(
        conn: &mut AnyConnection,
        key: &str,
        subject: &Subject,
    ) -> Result<Self, StoreError> {
        let (repo, number) = match subject {
            Subject::Pull { repo, number } => (repo.id.0, number.0),
            // Nothing has these numbers.
            Subject::Head { .. }
            | Subject::Issue { .. }
            | Subject::Repo { .. }
            | Subject::Installation { .. }
            | Subject::MergeGroup { .. }
            | Subject::Commit { .. } => (0, 0),
        };
        // `status <> 'done'` says nothing new; it is the condition of the index, which SQLite does not see otherwise.
        let rows: Vec<(String, String, i64)> = sqlx::query_as(
            "SELECT 'announced', head, at FROM
                 (SELECT head, at, generation FROM announcement WHERE subject_key = $1
                  ORDER BY generation DESC LIMIT 100) AS a
             UNION ALL SELECT 'delivery', delivery_id, generation FROM
                 (SELECT delivery_id, generation FROM delivery_subject
                  WHERE subject_key = $1 AND status = 'waiting' AND status <> 'done'
                  ORDER BY generation DESC LIMIT 100) AS d
             UNION ALL SELECT 'state', state, 0 FROM pull_state WHERE repo_id = $2 AND number = $3
             UNION ALL SELECT 'plan', subject_key, 0 FROM plan WHERE subject_key = $1",
        )
        .bind(key)
        .bind(super::signed(repo))
        .bind(super::signed(number))
        .fetch_all(&mut *conn)
        .await?;
        let mut kept = Self::default();
        for (kind, text, number) in rows {
            match kind.as_str() {
                "announced" => {
                    let at = Timestamp::from_millis(number);
                    kept.announced.push((parsed("a head SHA", &text)?, at));
                }
                "delivery" => kept.deliveries.push((text,)),
                "state" => kept.state = Some(from_json("a pull request's state", &text)?),
                _ => kept.has_plan = true,
            }
        }
        // They came newest first.
        kept.announced.reverse();
        Ok(kept)
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

/// Ends the work on a generation, under the lease.
macro_rules! end {
    () => {
        "UPDATE subject SET done = $3, claimed = 0, attempts = 0, next_attempt = 0, error = NULL,
                            lease = NULL, lease_until = 0, queued_at = again_at
         WHERE key = $1 AND lease = $2 RETURNING wanted"
    };
}

/// Returns whether the subject has newer wishes.
pub(super) async fn finish(
    conn: &mut AnyConnection,
    fence: &Fence,
    finish: &Finish,
) -> Result<bool, StoreError> {
    if Dialect::of(conn) == Dialect::Sqlite {
        return finish_at_once(conn, fence, finish).await;
    }
    let wanted: Option<(i64,)> = sqlx::query_as(end!())
        .bind(fence.key.as_str())
        .bind(fence.lease.as_str())
        .bind(fence.generation)
        .fetch_optional(&mut *conn)
        .await?;
    fence.held(u64::from(wanted.is_some()))?;
    keep(conn, finish).await?;
    clear(conn, fence).await?;
    Ok(wanted.is_some_and(|(wanted,)| wanted > fence.generation))
}

/// The same in one text: one way to the connection's thread and back. With a lost lease all of it is undone by whoever
/// began the transaction.
async fn finish_at_once(
    conn: &mut AnyConnection,
    fence: &Fence,
    finish: &Finish,
) -> Result<bool, StoreError> {
    let state = finish.state.as_ref().map(pulls::row).transpose()?;
    // All rows: after the first one the rest of the text would not be carried out.
    let wanted: Vec<(i64,)> = sqlx::query_as(concat!(
        end!(),
        "; UPDATE delivery_subject SET status = 'done'
         WHERE subject_key = $1 AND generation <= $3 AND status <> 'done';
         DELETE FROM announcement WHERE subject_key = $1 AND generation <= $3;
         DELETE FROM dead_letter WHERE subject_key = $1;
         DELETE FROM plan_effect WHERE subject_key = $1;
         DELETE FROM plan WHERE subject_key = $1;
         INSERT INTO pull_state (repo_id, number, head_sha, issue_open, state)
         SELECT $4, $5, $6, $7, $8 WHERE $8 IS NOT NULL
         ON CONFLICT (repo_id, number) DO UPDATE SET
             head_sha = excluded.head_sha, issue_open = excluded.issue_open, state = excluded.state;
         INSERT INTO counter (name, value) SELECT value, 1 FROM json_each($9) WHERE value IS NOT NULL
         ON CONFLICT (name) DO UPDATE SET value = counter.value + 1"
    ))
    .bind(fence.key.as_str())
    .bind(fence.lease.as_str())
    .bind(fence.generation)
    .bind(state.as_ref().map(|row| row.repo))
    .bind(state.as_ref().map(|row| row.number))
    .bind(state.as_ref().map(|row| row.head.as_str()))
    .bind(state.as_ref().map(|row| row.issue_open))
    .bind(state.as_ref().map(|row| row.state.as_str()))
    .bind(to_json("counters", &finish.count)?)
    .fetch_all(&mut *conn)
    .await?;
    fence.held(wanted.len() as u64)?;
    if let Some(state) = &finish.state {
        pulls::save_links(conn, state).await?;
    }
    Ok(wanted.iter().any(|(wanted,)| *wanted > fence.generation))
}

/// Nothing waits for this generation any more.
async fn clear(conn: &mut AnyConnection, fence: &Fence) -> Result<(), StoreError> {
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
    plans::remove(conn, &fence.key).await
}

async fn keep(conn: &mut AnyConnection, done: &Finish) -> Result<(), StoreError> {
    if let Some(state) = &done.state {
        pulls::save(conn, state).await?;
    }
    // In the order of their names: two that raise the same counters lock them one after the other.
    let mut names: Vec<_> = done.count.iter().collect();
    names.sort();
    for name in names {
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
    .bind(storable(error))
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
    let reason = storable(reason);
    sqlx::query(
        "INSERT INTO dead_letter (subject_key, body, reason, attempts, at)
         SELECT key, body, $2, attempts, $3 FROM subject WHERE key = $1
         ON CONFLICT (subject_key) DO UPDATE SET
             body = excluded.body, reason = excluded.reason, attempts = excluded.attempts, at = excluded.at",
    )
    .bind(fence.key.as_str())
    .bind(reason.as_str())
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
    .bind(reason.as_str())
    .fetch_one(&mut *conn)
    .await?;
    settle_deliveries(conn, fence, "dead").await?;
    Ok(wanted > fence.generation)
}
