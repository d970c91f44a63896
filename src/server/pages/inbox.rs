//! What waits for an owner: every pending decision with its age, oldest first, and where to answer it.

use super::Desk;
use super::error::PageError;
use super::layout::{self, Nav};
use super::parts;
use super::record::Entry;
use super::viewer::Viewer;
use super::words;
use crate::audit;
use crate::domain::{Choice, IssueKind, PullState, Quadrant, Timestamp};
use crate::store::{Store, StoreError};
use axum::extract::State;
use maud::{Markup, html};
use std::sync::Arc;

/// Decisions on one page; the rest is counted.
const LISTED: usize = 100;

/// One decision that waits.
pub(super) struct Pending {
    pub(super) state: PullState,
    /// Since when.
    pub(super) since: Timestamp,
}

/// All that waits and that this person may see, oldest first: questions that stand in an Issue, and those for which none
/// could be opened.
pub(super) async fn pending(
    store: &dyn Store,
    viewer: &Viewer,
) -> Result<Vec<Pending>, StoreError> {
    let asked = store.open_issues().await?.into_iter().filter(|state| {
        let issue = state.issue.as_ref();
        issue.is_some_and(|issue| issue.kind == IssueKind::PendingOwner)
    });
    let unasked = store.refused_issues().await?.into_iter().filter(|state| {
        let approved = state
            .answered
            .as_ref()
            .is_some_and(|answered| answered.choice.approves());
        state.quadrant == Some(Quadrant::D) && !approved
    });
    let mut all: Vec<Pending> = asked
        .chain(unasked)
        .filter(|state| !state.closed && viewer.sees(Some(state.repo.id)))
        .map(|state| Pending {
            since: state
                .issue
                .as_ref()
                .map_or(state.head_since, |issue| issue.opened_at),
            state,
        })
        .collect();
    all.sort_by_key(|one| (one.since, one.state.number));
    Ok(all)
}

/// `GET /inbox`
pub(super) async fn page(
    State(desk): State<Arc<Desk>>,
    viewer: Viewer,
) -> Result<Markup, PageError> {
    let now = (desk.now)();
    let all = pending(&*desk.store, &viewer).await?;
    let places: Vec<u64> = all
        .iter()
        .take(LISTED)
        .map(|one| one.state.witness.as_ref().map_or(0, |witness| witness.seq))
        .collect();
    let entries = desk
        .log
        .read(move |dir, _| {
            places
                .iter()
                .map(|seq| Ok(audit::entry_at(dir, *seq)?.and_then(|line| Entry::read(&line))))
                .collect::<std::io::Result<Vec<_>>>()
        })
        .await?;
    let count = u64::try_from(all.len()).unwrap_or(u64::MAX);
    let body = html! {
        h1 { "Inbox" }
        p.lead {
            @match all.first() {
                None => "Nothing waits for an owner.",
                Some(oldest) => {
                    (words::count(count, "decision waits", "decisions wait")) " for an owner, the oldest for "
                    (words::span(now.since(oldest.since))) ". Answer on the Issue, or with the buttons of the check-run."
                }
            }
        }
        @if !all.is_empty() {
            section aria-labelledby="pending" {
                h2 #pending { "Pending decisions" }
                ol.entries {
                    @for (one, entry) in all.iter().zip(&entries) { (row(one, entry.as_ref(), &desk.web_base, now)) }
                }
                @if all.len() > LISTED {
                    p.dim { "The oldest " (LISTED) " are listed. The Issues labelled " code { "decision:pending-owner" } " show all." }
                }
            }
        }
    };
    Ok(layout::page(
        "Inbox",
        Some(&viewer),
        Some(Nav::Inbox),
        &body,
    ))
}

fn row(one: &Pending, entry: Option<&Entry>, web_base: &str, now: Timestamp) -> Markup {
    let state = &one.state;
    let pr = format!("{}#{}", state.repo.name, state.number);
    let deferred = state
        .answered
        .as_ref()
        .is_some_and(|answered| answered.choice == Choice::Defer);
    html! {
        li {
            div.line {
                (parts::badge(Quadrant::D))
                strong { a href=(parts::pull_href(state.repo.name.as_str(), state.number.0)) { (pr) } }
                @if let Some(title) = &state.title { span { (words::shown(title)) } }
                span.when { "for " (parts::ago(one.since, now)) }
            }
            @if let Some(reasoning) = entry.and_then(|entry| entry.reasoning.as_deref()) {
                p.says { (words::shown(reasoning)) }
            }
            p.says {
                @match (&state.issue, &state.issue_refused) {
                    (Some(issue), _) => (parts::github_link(web_base, "issues", &format!("{}#{}", issue.repo.name, issue.number))),
                    (None, Some(reason)) => strong { "No Issue could be opened: " (words::shown(reason)) },
                    (None, None) => "The Issue is being opened",
                }
                @if deferred { " · deferred by an owner" }
                @if state.inbox.closed_by_hand { " · the Issue was closed without an answer; the question stays" }
            }
        }
    }
}
