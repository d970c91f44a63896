//! What only a webhook tells about answers: pressed buttons, and who edited a comment.

use super::{from_json, parsed, signed, to_json, unsigned};
use crate::domain::{
    Account, CommentEdit, CommentId, DeliveryId, IssueNumber, Press, RepoId, Timestamp,
};
use crate::store::StoreError;
use sqlx::AnyConnection;

const ACCOUNT: &str = "an account";

/// Keeps a press; a redelivery of it changes nothing.
pub(super) async fn pressed(conn: &mut AnyConnection, press: &Press) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO press (delivery_id, external_id, identifier, account, at)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (delivery_id) DO NOTHING",
    )
    .bind(press.delivery.as_str())
    .bind(press.external_id.as_str())
    .bind(press.identifier.as_str())
    .bind(to_json(ACCOUNT, &press.by)?)
    .bind(press.at.millis())
    .execute(&mut *conn)
    .await?;
    Ok(())
}

pub(super) async fn presses(
    conn: &mut AnyConnection,
    external_id: &str,
) -> Result<Vec<Press>, StoreError> {
    let rows: Vec<(String, String, String, i64)> = sqlx::query_as(
        "SELECT delivery_id, identifier, account, at FROM press WHERE external_id = $1
         ORDER BY at, delivery_id",
    )
    .bind(external_id)
    .fetch_all(&mut *conn)
    .await?;
    rows.into_iter()
        .map(|(delivery, identifier, account, at)| {
            Ok(Press {
                delivery: parsed::<DeliveryId>("a delivery id", &delivery)?,
                external_id: external_id.to_owned(),
                identifier,
                by: from_json(ACCOUNT, &account)?,
                at: Timestamp::from_millis(at),
            })
        })
        .collect()
}

/// Keeps an edit of a comment on an Issue of ours; others are nobody's business.
pub(super) async fn edited(
    conn: &mut AnyConnection,
    repo: RepoId,
    issue: IssueNumber,
    edit: &CommentEdit,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO comment_edit (repo_id, issue, comment_id, updated_at, account_id, account)
         SELECT $1, $2, $3, $4, $5, $6 FROM issue_pull
         WHERE issue_repo_id = $1 AND issue_number = $2
         ON CONFLICT (repo_id, issue, comment_id, updated_at, account_id) DO NOTHING",
    )
    .bind(signed(repo.0))
    .bind(signed(issue.0))
    .bind(signed(edit.comment.0))
    .bind(edit.updated_at.millis())
    .bind(signed(edit.by.id.0))
    .bind(to_json(ACCOUNT, &edit.by)?)
    .execute(&mut *conn)
    .await?;
    Ok(())
}

pub(super) async fn edits(
    conn: &mut AnyConnection,
    repo: RepoId,
    issue: IssueNumber,
) -> Result<Vec<CommentEdit>, StoreError> {
    let rows: Vec<(i64, i64, String)> = sqlx::query_as(
        "SELECT comment_id, updated_at, account FROM comment_edit
         WHERE repo_id = $1 AND issue = $2 ORDER BY comment_id, updated_at, account_id",
    )
    .bind(signed(repo.0))
    .bind(signed(issue.0))
    .fetch_all(&mut *conn)
    .await?;
    rows.into_iter()
        .map(|(comment, updated_at, account)| {
            let by: Account = from_json(ACCOUNT, &account)?;
            Ok(CommentEdit {
                comment: CommentId(unsigned(comment)),
                updated_at: Timestamp::from_millis(updated_at),
                by,
            })
        })
        .collect()
}
