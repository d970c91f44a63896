//! Plans and how far their effects got. All under the lease of their subject.

use super::{Dialect, decisions, from_json, lease::Fence, registry, signed, to_json, unsigned};
use crate::domain::{Effect, IssueNumber, Outcome, RepoId, Witness};
use crate::store::{EffectStatus, NewPlan, PlannedEffect, StoreError, StoredPlan};
use sqlx::AnyConnection;

pub(super) async fn save(
    conn: &mut AnyConnection,
    fence: &Fence,
    plan: &NewPlan,
) -> Result<(), StoreError> {
    let effects = plan
        .effects
        .iter()
        .map(|effect| to_json("an effect", effect));
    let effects: Vec<String> = effects.collect::<Result<_, _>>()?;
    replace(conn, fence, plan, &effects).await?;
    if let Some(decision) = &plan.decision {
        decisions::save(conn, decision).await?;
    }
    Ok(())
}

/// Puts the plan and its effects in place of an earlier one, under the lease.
async fn replace(
    conn: &mut AnyConnection,
    fence: &Fence,
    plan: &NewPlan,
    effects: &[String],
) -> Result<(), StoreError> {
    let entries = to_json("audit entries", &plan.entries)?;
    let state_after = to_json("a pull request's state", &plan.state_after)?;
    if Dialect::of(conn) == Dialect::Sqlite {
        // One text: each way to the connection's thread costs more than what is done there. With a lost lease all of it is
        // undone by whoever began the transaction.
        let held: Vec<(i64,)> = sqlx::query_as(
            "SELECT 1 FROM subject WHERE key = $1 AND lease = $6;
             DELETE FROM plan_effect WHERE subject_key = $1;
             DELETE FROM plan WHERE subject_key = $1;
             INSERT INTO plan (subject_key, generation, decision_id, entries, state_after)
             VALUES ($1, $2, $3, $4, $5);
             INSERT INTO plan_effect (subject_key, idx, effect, status)
             SELECT $1, key, value, 'planned' FROM json_each($7)",
        )
        .bind(fence.key.as_str())
        .bind(fence.generation)
        .bind(plan.decision_id.as_str())
        .bind(entries)
        .bind(state_after)
        .bind(fence.lease.as_str())
        .bind(to_json("effects", &effects)?)
        .fetch_all(&mut *conn)
        .await?;
        return fence.held(held.len() as u64);
    }
    fence.hold(conn).await?;
    remove(conn, &fence.key).await?;
    sqlx::query(
        "INSERT INTO plan (subject_key, generation, decision_id, entries, state_after)
         VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(fence.key.as_str())
    .bind(fence.generation)
    .bind(plan.decision_id.as_str())
    .bind(entries)
    .bind(state_after)
    .execute(&mut *conn)
    .await?;
    for (index, effect) in (0_i64..).zip(effects) {
        sqlx::query(
            "INSERT INTO plan_effect (subject_key, idx, effect, status) VALUES ($1, $2, $3, 'planned')",
        )
        .bind(fence.key.as_str())
        .bind(index)
        .bind(effect.as_str())
        .execute(&mut *conn)
        .await?;
    }
    Ok(())
}

pub(super) async fn remove(conn: &mut AnyConnection, key: &str) -> Result<(), StoreError> {
    let texts: &[&'static str] = if Dialect::of(conn) == Dialect::Sqlite {
        &["DELETE FROM plan_effect WHERE subject_key = $1; DELETE FROM plan WHERE subject_key = $1"]
    } else {
        &[
            "DELETE FROM plan_effect WHERE subject_key = $1",
            "DELETE FROM plan WHERE subject_key = $1",
        ]
    };
    for text in texts.iter().copied() {
        sqlx::query(text).bind(key).execute(&mut *conn).await?;
    }
    Ok(())
}

/// A plan's row without its effects.
type PlanRow = (i64, String, String, String, Option<i64>, Option<String>);

pub(super) async fn load(
    conn: &mut AnyConnection,
    key: &str,
) -> Result<Option<StoredPlan>, StoreError> {
    let row: Option<PlanRow> = sqlx::query_as(
        "SELECT generation, decision_id, entries, state_after, witness_seq, witness_hash
         FROM plan WHERE subject_key = $1",
    )
    .bind(key)
    .fetch_optional(&mut *conn)
    .await?;
    let Some((generation, decision_id, entries, state_after, seq, hash)) = row else {
        return Ok(None);
    };
    Ok(Some(StoredPlan {
        generation: unsigned(generation),
        decision_id,
        entries: from_json("audit entries", &entries)?,
        effects: effects(conn, key).await?,
        state_after: from_json("a pull request's state", &state_after)?,
        witness: seq.zip(hash).map(|(seq, hash)| Witness {
            seq: unsigned(seq),
            hash,
        }),
    }))
}

async fn effects(conn: &mut AnyConnection, key: &str) -> Result<Vec<PlannedEffect>, StoreError> {
    let rows: Vec<(String, String, Option<String>)> = sqlx::query_as(
        "SELECT effect, status, outcome FROM plan_effect WHERE subject_key = $1 ORDER BY idx",
    )
    .bind(key)
    .fetch_all(&mut *conn)
    .await?;
    rows.iter()
        .map(|(effect, status, outcome)| {
            Ok(PlannedEffect {
                effect: from_json("an effect", effect)?,
                status: match (status.as_str(), outcome) {
                    ("planned", _) => EffectStatus::Planned,
                    ("started", _) => EffectStatus::Started,
                    ("done", Some(outcome)) => {
                        EffectStatus::Done(from_json("an outcome", outcome)?)
                    }
                    (other, _) => return Err(StoreError::unreadable("an effect's status", other)),
                },
            })
        })
        .collect()
}

/// The Issues that plans in hand open in a repository; `None` for one whose number is not known yet.
pub(super) async fn issues_in_hand(
    conn: &mut AnyConnection,
    repo: RepoId,
) -> Result<Vec<Option<IssueNumber>>, StoreError> {
    // Other effects need not be read; what is read is told apart by its kind below.
    let rows: Vec<(String, Option<String>)> = sqlx::query_as(
        r#"SELECT effect, outcome FROM plan_effect WHERE effect LIKE '%"open_issue"%'"#,
    )
    .fetch_all(&mut *conn)
    .await?;
    let mut found = Vec::new();
    for (effect, outcome) in rows {
        if let Effect::OpenIssue(issue) = from_json("an effect", &effect)?
            && issue.repo.id == repo
        {
            let outcome: Option<Outcome> = outcome
                .map(|outcome| from_json("an outcome", &outcome))
                .transpose()?;
            match outcome {
                None => found.push(None),
                Some(Outcome::Issue { number, .. }) => found.push(Some(number)),
                Some(_refused) => {}
            }
        }
    }
    Ok(found)
}

pub(super) async fn audited(
    conn: &mut AnyConnection,
    fence: &Fence,
    witness: &Witness,
    decision: Option<&Witness>,
) -> Result<(), StoreError> {
    if Dialect::of(conn) == Dialect::Sqlite {
        return audited_at_once(conn, fence, witness, decision).await;
    }
    fence.hold(conn).await?;
    let marked =
        sqlx::query("UPDATE plan SET witness_seq = $2, witness_hash = $3 WHERE subject_key = $1")
            .bind(fence.key.as_str())
            .bind(signed(witness.seq))
            .bind(witness.hash.as_str())
            .execute(&mut *conn)
            .await?;
    if marked.rows_affected() == 0 {
        return Err(StoreError::Missing {
            what: format!("plan of `{}`", fence.key),
        });
    }
    if let Some(entry) = decision {
        decisions::logged(conn, &fence.key, entry).await?;
    }
    registry::set_audit_tail(conn, witness).await
}

/// The same in one text.
async fn audited_at_once(
    conn: &mut AnyConnection,
    fence: &Fence,
    witness: &Witness,
    decision: Option<&Witness>,
) -> Result<(), StoreError> {
    let counts: Vec<(i64,)> = sqlx::query_as(
        "SELECT COUNT(*) FROM subject WHERE key = $1 AND lease = $2;
         SELECT COUNT(*) FROM plan WHERE subject_key = $1;
         UPDATE plan SET witness_seq = $3, witness_hash = $4 WHERE subject_key = $1;
         UPDATE decision SET entry_seq = $5, entry_hash = $6
         WHERE $5 IS NOT NULL AND id = (SELECT decision_id FROM plan WHERE subject_key = $1);
         INSERT INTO audit_tail (one, seq, hash) VALUES (1, $3, $4)
         ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, hash = excluded.hash
         WHERE excluded.seq > audit_tail.seq",
    )
    .bind(fence.key.as_str())
    .bind(fence.lease.as_str())
    .bind(signed(witness.seq))
    .bind(witness.hash.as_str())
    .bind(decision.map(|entry| signed(entry.seq)))
    .bind(decision.map(|entry| entry.hash.as_str()))
    .fetch_all(&mut *conn)
    .await?;
    let mut counts = counts.iter().map(|(count,)| unsigned(*count));
    fence.held(counts.next().unwrap_or(0))?;
    match counts.next() {
        Some(1) => Ok(()),
        Some(_) | None => Err(StoreError::Missing {
            what: format!("plan of `{}`", fence.key),
        }),
    }
}

pub(super) async fn effect_started(
    conn: &mut AnyConnection,
    fence: &Fence,
    index: usize,
) -> Result<(), StoreError> {
    hold_if_shared(conn, fence).await?;
    let marked = sqlx::query(
        "UPDATE plan_effect SET status = CASE WHEN status = 'done' THEN 'done' ELSE 'started' END
         WHERE subject_key = $1 AND idx = $2
           AND EXISTS (SELECT 1 FROM subject WHERE key = $1 AND lease = $3)",
    )
    .bind(fence.key.as_str())
    .bind(i64::try_from(index).unwrap_or(i64::MAX))
    .bind(fence.lease.as_str())
    .execute(&mut *conn)
    .await?;
    found(conn, marked.rows_affected(), fence, index).await
}

pub(super) async fn effect_done(
    conn: &mut AnyConnection,
    fence: &Fence,
    index: usize,
    outcome: &Outcome,
) -> Result<(), StoreError> {
    hold_if_shared(conn, fence).await?;
    let marked = sqlx::query(
        "UPDATE plan_effect SET status = 'done', outcome = $4
         WHERE subject_key = $1 AND idx = $2
           AND EXISTS (SELECT 1 FROM subject WHERE key = $1 AND lease = $3)",
    )
    .bind(fence.key.as_str())
    .bind(i64::try_from(index).unwrap_or(i64::MAX))
    .bind(fence.lease.as_str())
    .bind(to_json("an outcome", outcome)?)
    .execute(&mut *conn)
    .await?;
    found(conn, marked.rows_affected(), fence, index).await
}

/// Where others write at the same time the subject's row is locked first. SQLite has one writer: the condition on the
/// lease that stands in the statement itself is enough.
async fn hold_if_shared(conn: &mut AnyConnection, fence: &Fence) -> Result<(), StoreError> {
    match Dialect::of(conn) {
        Dialect::Postgres => fence.hold(conn).await,
        Dialect::Sqlite => Ok(()),
    }
}

/// When nothing was marked, the lease is lost or there is no such effect.
async fn found(
    conn: &mut AnyConnection,
    rows: u64,
    fence: &Fence,
    index: usize,
) -> Result<(), StoreError> {
    if rows == 1 {
        return Ok(());
    }
    fence.hold(conn).await?;
    Err(StoreError::Missing {
        what: format!("effect {index} in the plan of `{}`", fence.key),
    })
}
