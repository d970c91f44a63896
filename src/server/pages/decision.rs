//! The decision on one pull request: the grid, who voted, what was asked and answered, what became of it. Each statement
//! leads to its audit entry.

mod files;
mod history;
mod view;

use super::Desk;
use super::asked::Asked;
use super::error::PageError;
use super::layout;
use super::record::Entry;
use super::viewer::Viewer;
use crate::domain::{PullNumber, PullState, RepoId, RepoName};
use axum::extract::{Path, State};
use files::Files;
use history::History;
use maud::Markup;
use serde::Deserialize;
use std::sync::Arc;

/// Which decision is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Which {
    /// The number of its entry; the newest without it.
    entry: Option<u64>,
}

/// Everything that a page shows.
struct Decision<'a> {
    repo: RepoName,
    number: PullNumber,
    /// What the server remembers; `None` when that was forgotten.
    state: Option<PullState>,
    history: History,
    /// The entry that is shown.
    verdict: Option<Entry>,
    files: Files,
    web_base: &'a str,
}

/// `GET /pulls/{owner}/{name}/{number}`
pub(super) async fn page(
    State(desk): State<Arc<Desk>>,
    viewer: Viewer,
    Path((owner, name, number)): Path<(String, String, String)>,
    Asked(which): Asked<Which>,
) -> Result<Markup, PageError> {
    let repo: RepoName = format!("{owner}/{name}")
        .parse()
        .map_err(|_| PageError::NotFound)?;
    let number = PullNumber(number.parse().map_err(|_| PageError::NotFound)?);
    let known = desk.store.repo_by_name(&repo).await?;
    let id = known.as_ref().map(|known| known.id);
    if id.is_some() && !viewer.sees(id) {
        return Err(PageError::NotFound);
    }
    let state = match id {
        Some(id) => desk.store.pull_state(id, number).await?,
        None => None,
    };
    let wanted = which.entry;
    let (history, verdict) = read(&desk, &viewer, id, &repo, number, wanted).await?;
    if state.is_none() && history.entries.is_empty() {
        return Err(PageError::NotFound);
    }
    if wanted.is_some() && verdict.is_none() {
        return Err(PageError::NotFound);
    }
    let kept = verdict.as_ref().and_then(|entry| entry.decision.as_deref());
    let of = verdict.as_ref().and_then(|entry| entry.repo_id);
    let files = files::read(&*desk.store, of, kept).await?;
    let decision = Decision {
        files,
        repo: known.map_or(repo, |known| known.name),
        number,
        state,
        history,
        verdict,
        web_base: &desk.web_base,
    };
    let title = format!("{}#{number}", decision.repo);
    let body = view::body(&decision, (desk.now)());
    Ok(layout::page(&title, Some(&viewer), None, &body))
}

/// The entries of the pull request, and the verdict that is wanted.
async fn read(
    desk: &Desk,
    viewer: &Viewer,
    id: Option<RepoId>,
    repo: &RepoName,
    number: PullNumber,
    wanted: Option<u64>,
) -> Result<(History, Option<Entry>), PageError> {
    let about = history::About {
        id,
        name: repo.clone(),
        number,
        eyes: viewer.eyes(),
    };
    desk.log
        .read(move |dir, budget| {
            let history = history::read(dir, &about, budget)?;
            let verdict = match wanted {
                Some(seq) => history::verdict_at(dir, &about, seq)?,
                None => history.newest_verdict().cloned(),
            };
            Ok((history, verdict))
        })
        .await
}
