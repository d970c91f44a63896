//! Work comes in: deliveries, triggers, dead letters brought back.
//!
//! INVARIANT: a trigger that is kept raises `wanted` of its subject's row in the same transaction.

use super::{Dialect, from_json, parsed, registry, signals, to_json};
use crate::domain::{CommentEdit, DeliveryId, Press, Sha, Subject, Timestamp, Trigger};
use crate::store::{Accepted, NewDelivery, Note, StoreError};
use sqlx::AnyConnection;

/// How a subject is put to work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Urgency {
    /// In its turn; a backoff or a wait for a rate limit goes on.
    InTurn,
    /// At once: a person or GitHub's redelivery asked again.
    AtOnce,
}

pub(super) async fn accept(
    conn: &mut AnyConnection,
    delivery: &NewDelivery,
) -> Result<Accepted, StoreError> {
    let accepted = register(conn, delivery).await?;
    let urgency = match accepted {
        Accepted::New => Urgency::InTurn,
        Accepted::Requeued => Urgency::AtOnce,
        Accepted::Duplicate | Accepted::Conflict => return Ok(accepted),
    };
    for note in &delivery.notes {
        match note {
            Note::Installation(id, status) => {
                registry::set_installation(conn, *id, *status).await?;
            }
            Note::RepoSeen(repo) => registry::repo_seen(conn, repo).await?,
            Note::Pressed {
                external_id,
                identifier,
                by,
            } => {
                let press = Press {
                    delivery: delivery.id.clone(),
                    external_id: external_id.clone(),
                    identifier: identifier.clone(),
                    by: by.clone(),
                    at: delivery.received_at,
                };
                signals::pressed(conn, &press).await?;
            }
            Note::CommentEdited {
                repo,
                issue,
                comment,
                updated_at,
                by,
            } => {
                let edit = CommentEdit {
                    comment: *comment,
                    updated_at: *updated_at,
                    by: by.clone(),
                };
                signals::edited(conn, *repo, *issue, &edit).await?;
            }
        }
    }
    // In the order of their keys: two deliveries that name the same subjects lock them one after the other.
    let mut triggers: Vec<_> = delivery.triggers.iter().collect();
    triggers.sort_by_cached_key(|trigger| trigger.subject.key());
    for trigger in triggers {
        let of = Some(&delivery.id);
        bump(conn, trigger, delivery.received_at, urgency, of).await?;
    }
    Ok(accepted)
}

/// Keeps the delivery unless its GUID is known, and says what it is.
async fn register(
    conn: &mut AnyConnection,
    delivery: &NewDelivery,
) -> Result<Accepted, StoreError> {
    let digest = hex::encode(delivery.body_sha256);
    let inserted = sqlx::query(
        "INSERT INTO delivery (id, event, action, body_sha256, received_at)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING",
    )
    .bind(delivery.id.as_str())
    .bind(delivery.event.as_str())
    .bind(delivery.action.as_deref())
    .bind(digest.as_str())
    .bind(delivery.received_at.millis())
    .execute(&mut *conn)
    .await?;
    if inserted.rows_affected() == 1 {
        return Ok(Accepted::New);
    }
    let (known, unfinished): (String, i64) = sqlx::query_as(
        "SELECT body_sha256, (SELECT COUNT(*) FROM delivery_subject
                              WHERE delivery_id = delivery.id AND status <> 'done')
         FROM delivery WHERE id = $1",
    )
    .bind(delivery.id.as_str())
    .fetch_one(&mut *conn)
    .await?;
    Ok(if known != digest {
        Accepted::Conflict
    } else if unfinished > 0 {
        Accepted::Requeued
    } else {
        Accepted::Duplicate
    })
}

pub(super) async fn enqueue(
    conn: &mut AnyConnection,
    trigger: &Trigger,
    now: Timestamp,
) -> Result<(), StoreError> {
    bump(conn, trigger, now, Urgency::InTurn, None).await?;
    Ok(())
}

/// The first step of [`bump`].
macro_rules! raise {
    () => {
        "INSERT INTO subject (key, body, installation, wanted, done, deep_at, queued_at, again_at,
                              claimed, claims, attempts, next_attempt, lease_until)
         VALUES ($1, $2, $3, 1, 0, $4, $5, $5, 0, 0, 0, 0, 0)
         ON CONFLICT (key) DO UPDATE SET
             body = excluded.body,
             installation = excluded.installation,
             wanted = subject.wanted + 1,
             deep_at = CASE WHEN $4 = 1 THEN subject.wanted + 1 ELSE subject.deep_at END,
             queued_at = CASE WHEN subject.wanted <= subject.done THEN $5 ELSE subject.queued_at END,
             again_at = CASE WHEN subject.claimed = subject.wanted THEN $5 ELSE subject.again_at END,
             attempts = CASE WHEN $6 = 1 THEN 0 ELSE subject.attempts END,
             next_attempt = CASE WHEN $6 = 1 THEN 0 ELSE subject.next_attempt END
         RETURNING wanted"
    };
}

/// Raises the subject's wanted generation and returns it. With a delivery it is noted that this one waits for it.
async fn bump(
    conn: &mut AnyConnection,
    trigger: &Trigger,
    now: Timestamp,
    urgency: Urgency,
    delivery: Option<&DeliveryId>,
) -> Result<i64, StoreError> {
    let key = trigger.subject.key();
    let dialect = Dialect::of(conn);
    let head = trigger.announces_head.as_ref().map(Sha::as_str);
    let delivery = delivery.map(DeliveryId::as_str);
    let mut raised = sqlx::query_as(match dialect {
        // With what follows in the same text: one way to the connection's thread and back.
        Dialect::Sqlite => concat!(
            raise!(),
            "; INSERT INTO announcement (subject_key, generation, head, at)
             SELECT key, wanted, $7, $5 FROM subject WHERE key = $1 AND $7 IS NOT NULL;
             INSERT INTO delivery_subject (delivery_id, subject_key, generation, status)
             SELECT $8, key, wanted, 'waiting' FROM subject WHERE key = $1 AND $8 IS NOT NULL
             ON CONFLICT (delivery_id, subject_key)
             DO UPDATE SET generation = excluded.generation, status = 'waiting'"
        ),
        Dialect::Postgres => raise!(),
    })
    .bind(key.as_str())
    .bind(to_json("a subject", &trigger.subject)?)
    .bind(super::signed(trigger.subject.installation().0))
    .bind(i64::from(trigger.deep))
    .bind(now.millis())
    .bind(i64::from(urgency == Urgency::AtOnce));
    if dialect == Dialect::Sqlite {
        raised = raised.bind(head).bind(delivery);
    }
    // All rows: after the first one the rest of the text would not be carried out.
    let rows: Vec<(i64,)> = raised.fetch_all(&mut *conn).await?;
    let Some((generation,)) = rows.first().copied() else {
        return Err(StoreError::unreadable(
            "a subject's row",
            "nothing came back",
        ));
    };
    if dialect == Dialect::Postgres {
        note_who_waits(conn, &key, generation, now, head, delivery).await?;
    }
    Ok(generation)
}

/// The head that was announced with a generation, and the delivery that waits for it.
async fn note_who_waits(
    conn: &mut AnyConnection,
    key: &str,
    generation: i64,
    now: Timestamp,
    head: Option<&str>,
    delivery: Option<&str>,
) -> Result<(), StoreError> {
    if let Some(head) = head {
        sqlx::query(
            "INSERT INTO announcement (subject_key, generation, head, at) VALUES ($1, $2, $3, $4)",
        )
        .bind(key)
        .bind(generation)
        .bind(head)
        .bind(now.millis())
        .execute(&mut *conn)
        .await?;
    }
    if let Some(delivery) = delivery {
        sqlx::query(
            "INSERT INTO delivery_subject (delivery_id, subject_key, generation, status)
             VALUES ($1, $2, $3, 'waiting')
             ON CONFLICT (delivery_id, subject_key)
             DO UPDATE SET generation = excluded.generation, status = 'waiting'",
        )
        .bind(delivery)
        .bind(key)
        .bind(generation)
        .execute(&mut *conn)
        .await?;
    }
    Ok(())
}

pub(super) async fn revive(
    conn: &mut AnyConnection,
    id: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let body: Option<(String,)> =
        sqlx::query_as("DELETE FROM dead_letter WHERE subject_key = $1 RETURNING body")
            .bind(id)
            .fetch_optional(&mut *conn)
            .await?;
    let Some((body,)) = body else {
        return Err(no_letter(id));
    };
    let subject: Subject = from_json("a subject", &body)?;
    again(conn, subject, now).await?;
    Ok(())
}

/// Puts a subject to work in full, at once; deliveries whose work was given up wait for it again.
async fn again(
    conn: &mut AnyConnection,
    subject: Subject,
    now: Timestamp,
) -> Result<i64, StoreError> {
    let key = subject.key();
    let trigger = Trigger {
        subject,
        deep: true,
        announces_head: None,
    };
    let generation = bump(conn, &trigger, now, Urgency::AtOnce, None).await?;
    sqlx::query(
        "UPDATE delivery_subject SET status = 'waiting', generation = $2
         WHERE subject_key = $1 AND status = 'dead' AND status <> 'done'",
    )
    .bind(key.as_str())
    .bind(generation)
    .execute(&mut *conn)
    .await?;
    Ok(generation)
}

/// Puts everything that a delivery asked for back to work; says what that is.
pub(super) async fn put_back(
    conn: &mut AnyConnection,
    id: &DeliveryId,
    now: Timestamp,
) -> Result<Vec<Subject>, StoreError> {
    let missing = |what: String| StoreError::Missing { what };
    let known: Option<(String,)> = sqlx::query_as("SELECT id FROM delivery WHERE id = $1")
        .bind(id.as_str())
        .fetch_optional(&mut *conn)
        .await?;
    if known.is_none() {
        return Err(missing(format!("delivery `{}`", id.as_str())));
    }
    let rows: Vec<(String, Option<String>)> = sqlx::query_as(
        "SELECT w.subject_key, COALESCE(s.body, l.body) FROM delivery_subject AS w
         LEFT JOIN subject AS s ON s.key = w.subject_key
         LEFT JOIN dead_letter AS l ON l.subject_key = w.subject_key
         WHERE w.delivery_id = $1 ORDER BY w.subject_key",
    )
    .bind(id.as_str())
    .fetch_all(&mut *conn)
    .await?;
    let mut subjects = Vec::with_capacity(rows.len());
    for (key, body) in rows {
        let body = body.ok_or_else(|| missing(format!("record of `{key}` any more")))?;
        let subject: Subject = from_json("a subject", &body)?;
        sqlx::query("DELETE FROM dead_letter WHERE subject_key = $1")
            .bind(key.as_str())
            .execute(&mut *conn)
            .await?;
        let generation = again(conn, subject.clone(), now).await?;
        sqlx::query(
            "UPDATE delivery_subject SET status = 'waiting', generation = $3
             WHERE delivery_id = $1 AND subject_key = $2",
        )
        .bind(id.as_str())
        .bind(key.as_str())
        .bind(generation)
        .execute(&mut *conn)
        .await?;
        subjects.push(subject);
    }
    Ok(subjects)
}

pub(super) async fn drop_dead(conn: &mut AnyConnection, id: &str) -> Result<(), StoreError> {
    let gone = sqlx::query("DELETE FROM dead_letter WHERE subject_key = $1")
        .bind(id)
        .execute(&mut *conn)
        .await?;
    if gone.rows_affected() == 0 {
        return Err(no_letter(id));
    }
    sqlx::query(
        "UPDATE delivery_subject SET status = 'done' WHERE subject_key = $1 AND status = 'dead' AND status <> 'done'",
    )
    .bind(id)
    .execute(&mut *conn)
    .await?;
    Ok(())
}

fn no_letter(id: &str) -> StoreError {
    StoreError::Missing {
        what: format!("dead letter `{id}`"),
    }
}

/// Ids of deliveries, as they stand in a row of their own.
pub(super) fn delivery_ids(rows: &[(String,)]) -> Result<Vec<DeliveryId>, StoreError> {
    rows.iter()
        .map(|(id,)| parsed("a delivery id", id))
        .collect()
}
