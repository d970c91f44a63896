//! How things stand: what waits, what was given up, the figures of a period, and the Ds that need not have been asked.

mod figures;
mod plot;

pub(super) use figures::Figures;

use super::Desk;
use super::asked::Asked;
use super::error::PageError;
use super::inbox::{self, Pending};
use super::layout::{self, Nav};
use super::parts;
use super::viewer::Viewer;
use super::words;
use crate::domain::{Quadrant, RepoId, Subject, Timestamp};
use crate::store::DeadLetter;
use axum::extract::State;
use figures::{QUADRANTS, QUICK, Summary, day_of};
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// The periods that can be shown, in days.
const PERIODS: [i64; 3] = [7, 30, 90];
/// Dead letters that are listed.
const LISTED: usize = 20;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Period {
    days: Option<i64>,
}

/// Everything on the page.
struct Overview {
    now: Timestamp,
    days: i64,
    first: i64,
    summary: Summary,
    /// The entry up to which it was counted, when there was no time for all.
    counted_to: Option<u64>,
    pending: Vec<Pending>,
    dead: Vec<DeadLetter>,
    /// Work that waits for the server, and for how long; of all repositories, so not for everybody.
    queue: Option<(u64, Duration)>,
}

/// `GET /`
pub(super) async fn page(
    State(desk): State<Arc<Desk>>,
    viewer: Viewer,
    Asked(period): Asked<Period>,
) -> Result<Markup, PageError> {
    let now = (desk.now)();
    let days = period
        .days
        .filter(|days| PERIODS.contains(days))
        .unwrap_or(30);
    let first = day_of(now) - days + 1;
    let (summary, counted_to) = count(&desk, &viewer, now, first).await?;
    let mut dead = desk.store.dead_letters().await?;
    dead.retain(|letter| viewer.sees(repo_of(&letter.subject)));
    let queue = if viewer.sees_everything() {
        Some((
            desk.store.queue_depth().await?,
            desk.store.oldest_waiting(now).await?,
        ))
    } else {
        None
    };
    let overview = Overview {
        now,
        days,
        first,
        summary,
        counted_to,
        pending: inbox::pending(&*desk.store, &viewer).await?,
        dead,
        queue,
    };
    Ok(layout::page(
        "Overview",
        Some(&viewer),
        Some(Nav::Overview),
        &body(&overview),
    ))
}

async fn count(
    desk: &Desk,
    viewer: &Viewer,
    now: Timestamp,
    first: i64,
) -> Result<(Summary, Option<u64>), PageError> {
    let figures = Arc::clone(&desk.figures);
    let eyes = viewer.eyes();
    desk.log
        .read(move |dir, budget| {
            let mut figures = figures.lock().unwrap_or_else(PoisonError::into_inner);
            let whole = figures.read_on(dir, now, budget)?;
            let counted_to = (!whole).then_some(figures.seen);
            Ok((figures.summary(&eyes, first), counted_to))
        })
        .await
}

fn repo_of(subject: &Subject) -> Option<RepoId> {
    subject.repo().map(|repo| repo.id)
}

/// What work is about.
fn subject(subject: &Subject) -> String {
    match subject {
        Subject::Pull { repo, number } => format!("{}#{number}", repo.name),
        Subject::Issue { repo, number } => format!("Issue {}#{number}", repo.name),
        Subject::Head { repo, sha } | Subject::Commit { repo, sha } => {
            format!("{} at {}", repo.name, sha.short())
        }
        Subject::Repo { repo } => repo.name.to_string(),
        Subject::MergeGroup { repo, head_sha, .. } => {
            format!("merge group {} of {}", head_sha.short(), repo.name)
        }
        Subject::Installation { installation } => format!("installation {installation}"),
    }
}

fn body(overview: &Overview) -> Markup {
    html! {
        h1 { "Overview" }
        p.lead { (lead(overview)) }
        @if let Some(seq) = overview.counted_to {
            p.info { "The log is long: it was counted up to entry " (words::grouped(seq)) " so far. Reload to count on." }
        }
        (standing(overview))
        ul.period aria-label="Period" {
            @for days in PERIODS {
                li { a href=(format!("/?days={days}")) aria-current=[(days == overview.days).then_some("true")] { (days) " days" } }
            }
        }
        (decisions(overview))
        (quick(overview))
        (repositories(&overview.summary))
        (dead(overview))
    }
}

fn lead(overview: &Overview) -> String {
    let count = u64::try_from(overview.pending.len()).unwrap_or(u64::MAX);
    match overview.pending.first() {
        None => "Nothing waits for an owner.".to_owned(),
        Some(oldest) => format!(
            "{} for an owner, the oldest for {}.",
            words::count(count, "decision waits", "decisions wait"),
            words::span(overview.now.since(oldest.since))
        ),
    }
}

fn standing(overview: &Overview) -> Markup {
    let pending = u64::try_from(overview.pending.len()).unwrap_or(u64::MAX);
    let dead = u64::try_from(overview.dead.len()).unwrap_or(u64::MAX);
    let summary = &overview.summary;
    let median = summary.median.map_or_else(|| "–".to_owned(), words::span);
    let period = format!("last {} days", overview.days);
    let oldest = overview
        .pending
        .first()
        .map(|oldest| words::span(overview.now.since(oldest.since)));
    let note = |text: Option<String>| html! { @if let Some(text) = text { div.note { (text) } } };
    html! {
        ul.figures {
            li {
                div.name { a href="/inbox" { "Waiting for an owner" } }
                div.value { (words::grouped(pending)) }
                (note(oldest.map(|oldest| format!("oldest {oldest}"))))
            }
            li {
                div.name { "Time to answer" }
                div.value { (median) }
                (note(Some(match summary.p90 {
                    Some(p90) => format!("median; 90% within {}", words::span(p90)),
                    None => format!("no answer in the {period}"),
                })))
            }
            li {
                div.name { "Approved at once" }
                div.value { (words::grouped(summary.quick_count)) }
                (note(Some(format!("of {} within {} s", words::count(summary.answers, "answer", "answers"), QUICK.as_secs()))))
            }
            @if let Some((depth, oldest)) = overview.queue {
                li {
                    div.name { "Work in the queue" }
                    div.value { (words::grouped(depth)) }
                    (note((depth > 0).then(|| format!("oldest {}", words::span(oldest)))))
                }
            }
            li class=[(dead > 0).then_some("look")] {
                div.name { @if dead > 0 { a href="#dead" { "Dead letters" } } @else { "Dead letters" } }
                div.value { (words::grouped(dead)) }
                (note((dead > 0).then(|| "work that was given up".to_owned())))
            }
        }
    }
}

fn decisions(overview: &Overview) -> Markup {
    let summary = &overview.summary;
    let all: u64 = summary.verdicts.iter().sum();
    html! {
        section aria-labelledby="decisions" {
            h2 #decisions { (words::count(all, "decision", "decisions")) " in " (overview.days) " days" }
            ul.quads {
                @for (quadrant, count) in QUADRANTS.iter().zip(&summary.verdicts) {
                    li {
                        (parts::badge(*quadrant)) " " b { (words::grouped(*count)) }
                        @if let Some(share) = words::percent(*count, all) { span.dim { " · " (share) "%" } }
                    }
                }
            }
            @if all == 0 {
                (parts::nothing("No decision in this period. Each verdict on a head of a pull request is one."))
            } @else {
                (plot::plot(&summary.days, overview.first, day_of(overview.now)))
            }
        }
    }
}

/// The Ds that were approved at once, newest first: what they have in common may deserve a lower axis.
fn quick(overview: &Overview) -> Markup {
    let summary = &overview.summary;
    html! {
        section aria-labelledby="quick" {
            h2 #quick { "Approved at once" }
            p.dim {
                "An approval within " (QUICK.as_secs()) " seconds of the question hints at a D that need not have been asked. "
                "If they are alike, tune the path rule."
            }
            @if summary.quick.is_empty() {
                (parts::nothing("None in this period."))
            } @else {
                ol.entries {
                    @for quick in &summary.quick {
                        li {
                            div.line {
                                (parts::badge(Quadrant::D))
                                @if let Some(pr) = &quick.entry.pr { strong { (parts::pull_link(pr)) } }
                                span { "after " (words::span(quick.after)) }
                                @if let Some(who) = quick.entry.who() { span.who { "by " (words::shown(who)) } }
                                (parts::entry_link(&quick.entry))
                                span.when { (parts::when(quick.entry.ts)) }
                            }
                            p.says { (words::shown(&quick.reasoning)) }
                        }
                    }
                }
            }
        }
    }
}

fn repositories(summary: &Summary) -> Markup {
    html! {
        @if !summary.repos.is_empty() {
            section aria-labelledby="repositories" {
                h2 #repositories { "By repository" }
                div.scroll role="region" aria-label="Decisions by repository" tabindex="0" {
                    table {
                        caption { "Decisions and answers." }
                        thead {
                            tr {
                                th scope="col" { "Repository" }
                                @for quadrant in QUADRANTS { th.number scope="col" { (quadrant.letter()) } }
                                th.number scope="col" { "Answers" }
                                th.number scope="col" { "At once" }
                            }
                        }
                        tbody {
                            @for row in &summary.repos {
                                tr {
                                    th scope="row" { a href=(format!("/audit?repo={}", row.name.replace('/', "%2F"))) { (row.name) } }
                                    @for count in &row.verdicts { td.number { (words::grouped(*count)) } }
                                    td.number { (words::grouped(row.answers)) }
                                    td.number { (words::grouped(row.quick)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn dead(overview: &Overview) -> Markup {
    html! {
        @if !overview.dead.is_empty() {
            section aria-labelledby="dead" {
                h2 #dead { "Dead letters" }
                p.dim { "Work that was given up. Mend the cause, then put it back with " code { "quadgate deadletter retry" } "." }
                ol.entries {
                    @for letter in overview.dead.iter().take(LISTED) {
                        li {
                            div.line {
                                strong { (words::shown(&subject(&letter.subject))) }
                                span.dim { "after " (words::count(u64::from(letter.attempts), "try", "tries")) }
                                span.when { (parts::when(letter.at)) }
                            }
                            p.says { (words::shown(&letter.reason)) }
                        }
                    }
                }
                @if overview.dead.len() > LISTED { p.dim { "The newest " (LISTED) " of " (overview.dead.len()) " are listed." } }
            }
        }
    }
}
