//! Decisions with their facts and explanations, and the place of each in the audit log.

use super::{parsed, signed, unsigned};
use crate::domain::{PullNumber, Quadrant, RepoId, Timestamp, Witness};
use crate::store::{Decision, DecisionRow, Document, StoreError};
use sqlx::{AnyConnection, Row, any::AnyRow};

/// All columns but the documents, in the order in which [`row`] reads them by name.
macro_rules! rows {
    ($more:literal) => {
        concat!(
            "SELECT id, repo_id, repo, number, head_sha, at, quadrant, policy, version, entry_seq, entry_hash",
            $more
        )
    };
}

/// The same decision planned again (a crash before its plan was kept) takes its own place.
pub(super) async fn save(conn: &mut AnyConnection, decision: &Decision) -> Result<(), StoreError> {
    let row = &decision.row;
    sqlx::query(
        "INSERT INTO decision (id, repo_id, repo, number, head_sha, at, quadrant, policy, version, facts, explanation)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         ON CONFLICT (id) DO UPDATE SET
             repo = excluded.repo, at = excluded.at, facts = excluded.facts, explanation = excluded.explanation",
    )
    .bind(row.id.as_str())
    .bind(signed(row.repo.0))
    .bind(row.name.as_str())
    .bind(signed(row.number.0))
    .bind(row.head_sha.as_str())
    .bind(row.at.millis())
    .bind(row.quadrant.letter())
    .bind(row.policy.as_str())
    .bind(row.version.as_str())
    .bind(decision.facts.bytes().map(<[u8]>::to_vec))
    .bind(decision.explanation.bytes().map(<[u8]>::to_vec))
    .execute(&mut *conn)
    .await?;
    Ok(())
}

/// The entry of the decision that the subject's plan is about is on disk.
pub(super) async fn logged(
    conn: &mut AnyConnection,
    subject: &str,
    entry: &Witness,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE decision SET entry_seq = $2, entry_hash = $3
         WHERE id = (SELECT decision_id FROM plan WHERE subject_key = $1)",
    )
    .bind(subject)
    .bind(signed(entry.seq))
    .bind(entry.hash.as_str())
    .execute(&mut *conn)
    .await?;
    Ok(())
}

pub(super) async fn of_pull(
    conn: &mut AnyConnection,
    repo: RepoId,
    number: PullNumber,
    limit: u32,
) -> Result<Vec<DecisionRow>, StoreError> {
    let found = sqlx::query(rows!(
        " FROM decision WHERE repo_id = $1 AND number = $2 ORDER BY at DESC, entry_seq DESC LIMIT $3"
    ))
    .bind(signed(repo.0))
    .bind(signed(number.0))
    .bind(i64::from(limit))
    .fetch_all(&mut *conn)
    .await?;
    found.iter().map(row).collect()
}

pub(super) async fn one(
    conn: &mut AnyConnection,
    id: &str,
) -> Result<Option<Decision>, StoreError> {
    let found = sqlx::query(rows!(", facts, explanation FROM decision WHERE id = $1"))
        .bind(id)
        .fetch_optional(&mut *conn)
        .await?;
    found
        .map(|found| {
            Ok(Decision {
                row: row(&found)?,
                facts: Document::kept(found.try_get("facts")?),
                explanation: Document::kept(found.try_get("explanation")?),
            })
        })
        .transpose()
}

/// What an open Issue of ours is about stays as long as the Issue.
pub(super) async fn prune(conn: &mut AnyConnection, before: Timestamp) -> Result<u64, StoreError> {
    let gone = sqlx::query(
        "DELETE FROM decision WHERE at < $1 AND NOT EXISTS (
             SELECT 1 FROM pull_state AS p
             WHERE p.repo_id = decision.repo_id AND p.number = decision.number
               AND p.head_sha = decision.head_sha AND p.issue_open = 1)",
    )
    .bind(before.millis())
    .execute(&mut *conn)
    .await?;
    Ok(gone.rows_affected())
}

fn row(row: &AnyRow) -> Result<DecisionRow, StoreError> {
    let text = |name: &str| row.try_get::<String, _>(name);
    let seq: Option<i64> = row.try_get("entry_seq")?;
    let hash: Option<String> = row.try_get("entry_hash")?;
    Ok(DecisionRow {
        id: text("id")?,
        repo: RepoId(unsigned(row.try_get("repo_id")?)),
        name: parsed("a repository's name", &text("repo")?)?,
        number: PullNumber(unsigned(row.try_get("number")?)),
        head_sha: parsed("a head SHA", &text("head_sha")?)?,
        at: Timestamp::from_millis(row.try_get("at")?),
        quadrant: quadrant(&text("quadrant")?)?,
        policy: text("policy")?,
        version: text("version")?,
        entry: seq.zip(hash).map(|(seq, hash)| Witness {
            seq: unsigned(seq),
            hash,
        }),
    })
}

fn quadrant(text: &str) -> Result<Quadrant, StoreError> {
    let mut letters = text.chars();
    match (
        letters.next().and_then(Quadrant::from_letter),
        letters.next(),
    ) {
        (Some(quadrant), None) => Ok(quadrant),
        (Some(_) | None, _) => Err(StoreError::unreadable("a quadrant", text)),
    }
}
