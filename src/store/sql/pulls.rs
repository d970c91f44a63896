//! The states of pull requests, and how to find one by its head or by our Issue.

use super::{from_json, signed, to_json};
use crate::domain::{IssueNumber, PullNumber, PullState, RepoId, Sha, Timestamp};
use crate::store::StoreError;
use sqlx::AnyConnection;

const STATE: &str = "a pull request's state";

/// A state as its row.
pub(super) struct StateRow {
    pub(super) repo: i64,
    pub(super) number: i64,
    pub(super) head: String,
    pub(super) issue_open: i64,
    pub(super) state: String,
}

pub(super) fn row(state: &PullState) -> Result<StateRow, StoreError> {
    Ok(StateRow {
        repo: signed(state.repo.id.0),
        number: signed(state.number.0),
        head: state.head_sha.as_str().to_owned(),
        issue_open: i64::from(state.issue.is_some() || state.inbox.ballot.is_some()),
        state: to_json(STATE, state)?,
    })
}

pub(super) async fn save(conn: &mut AnyConnection, state: &PullState) -> Result<(), StoreError> {
    let row = row(state)?;
    sqlx::query(
        "INSERT INTO pull_state (repo_id, number, head_sha, issue_open, state)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (repo_id, number) DO UPDATE SET
             head_sha = excluded.head_sha, issue_open = excluded.issue_open, state = excluded.state",
    )
    .bind(row.repo)
    .bind(row.number)
    .bind(row.head)
    .bind(row.issue_open)
    .bind(row.state)
    .execute(&mut *conn)
    .await?;
    save_links(conn, state).await
}

/// By what else a pull request is found: its Issue, the commit that its merge made.
pub(super) async fn save_links(
    conn: &mut AnyConnection,
    state: &PullState,
) -> Result<(), StoreError> {
    if let Some(issue) = &state.issue {
        sqlx::query(
            "INSERT INTO issue_pull (issue_repo_id, issue_number, pull_repo_id, pull_number)
             VALUES ($1, $2, $3, $4)
             ON CONFLICT (issue_repo_id, issue_number) DO UPDATE SET
                 pull_repo_id = excluded.pull_repo_id, pull_number = excluded.pull_number",
        )
        .bind(signed(issue.repo.id.0))
        .bind(signed(issue.number.0))
        .bind(signed(state.repo.id.0))
        .bind(signed(state.number.0))
        .execute(&mut *conn)
        .await?;
    }
    if let Some(watch) = &state.after_merge {
        sqlx::query(
            "INSERT INTO merged_commit (repo_id, sha, number, until, open) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (repo_id, sha) DO UPDATE SET
                 number = excluded.number, until = excluded.until, open = excluded.open",
        )
        .bind(signed(state.repo.id.0))
        .bind(watch.commit.as_str())
        .bind(signed(state.number.0))
        .bind(watch.until.millis())
        .bind(i64::from(!watch.settled))
        .execute(&mut *conn)
        .await?;
    }
    Ok(())
}

pub(super) async fn state(
    conn: &mut AnyConnection,
    repo: RepoId,
    number: PullNumber,
) -> Result<Option<PullState>, StoreError> {
    let row: Option<(String,)> =
        sqlx::query_as("SELECT state FROM pull_state WHERE repo_id = $1 AND number = $2")
            .bind(signed(repo.0))
            .bind(signed(number.0))
            .fetch_optional(&mut *conn)
            .await?;
    row.map(|(text,)| from_json(STATE, &text)).transpose()
}

pub(super) async fn with_head(
    conn: &mut AnyConnection,
    repo: RepoId,
    head: &Sha,
) -> Result<Vec<PullState>, StoreError> {
    let rows: Vec<(String,)> = sqlx::query_as(
        "SELECT state FROM pull_state WHERE repo_id = $1 AND head_sha = $2 ORDER BY number",
    )
    .bind(signed(repo.0))
    .bind(head.as_str())
    .fetch_all(&mut *conn)
    .await?;
    all(&rows)
}

pub(super) async fn for_issue(
    conn: &mut AnyConnection,
    repo: RepoId,
    number: IssueNumber,
) -> Result<Option<PullState>, StoreError> {
    let row: Option<(String,)> = sqlx::query_as(
        "SELECT p.state FROM issue_pull AS i
         JOIN pull_state AS p ON p.repo_id = i.pull_repo_id AND p.number = i.pull_number
         WHERE i.issue_repo_id = $1 AND i.issue_number = $2",
    )
    .bind(signed(repo.0))
    .bind(signed(number.0))
    .fetch_optional(&mut *conn)
    .await?;
    row.map(|(text,)| from_json(STATE, &text)).transpose()
}

pub(super) async fn merged_as(
    conn: &mut AnyConnection,
    repo: RepoId,
    sha: &Sha,
) -> Result<Option<PullState>, StoreError> {
    let row: Option<(String,)> = sqlx::query_as(
        "SELECT p.state FROM merged_commit AS m
         JOIN pull_state AS p ON p.repo_id = m.repo_id AND p.number = m.number
         WHERE m.repo_id = $1 AND m.sha = $2",
    )
    .bind(signed(repo.0))
    .bind(sha.as_str())
    .fetch_optional(&mut *conn)
    .await?;
    row.map(|(text,)| from_json(STATE, &text)).transpose()
}

pub(super) async fn watched(
    conn: &mut AnyConnection,
    now: Timestamp,
) -> Result<Vec<PullState>, StoreError> {
    let rows: Vec<(String,)> = sqlx::query_as(
        "SELECT p.state FROM merged_commit AS m
         JOIN pull_state AS p ON p.repo_id = m.repo_id AND p.number = m.number
         WHERE m.open = 1 AND m.until > $1 ORDER BY m.until",
    )
    .bind(now.millis())
    .fetch_all(&mut *conn)
    .await?;
    all(&rows)
}

pub(super) async fn with_open_issue(
    conn: &mut AnyConnection,
) -> Result<Vec<PullState>, StoreError> {
    let rows: Vec<(String,)> = sqlx::query_as(
        "SELECT state FROM pull_state WHERE issue_open = 1 ORDER BY repo_id, number",
    )
    .fetch_all(&mut *conn)
    .await?;
    all(&rows)
}

/// The state is JSON, so that the database only narrows the search.
pub(super) async fn with_refused_issue(
    conn: &mut AnyConnection,
) -> Result<Vec<PullState>, StoreError> {
    let rows: Vec<(String,)> = sqlx::query_as(
        r#"SELECT state FROM pull_state WHERE issue_open = 0 AND state LIKE '%"issue_refused":"%'
           ORDER BY repo_id, number"#,
    )
    .fetch_all(&mut *conn)
    .await?;
    let mut states = all(&rows)?;
    states.retain(|state| state.issue_refused.is_some() && !state.closed);
    Ok(states)
}

fn all(rows: &[(String,)]) -> Result<Vec<PullState>, StoreError> {
    rows.iter().map(|(text,)| from_json(STATE, text)).collect()
}
