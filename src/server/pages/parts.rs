//! Pieces of markup that several pages show alike.

use super::record::Entry;
use super::words;
use crate::domain::{Quadrant, Timestamp};
use maud::{Markup, html};

/// The letter of a quadrant in its colour.
pub(super) fn badge(quadrant: Quadrant) -> Markup {
    html! { span class=(format!("badge {}", class(quadrant))) { (quadrant.letter()) } }
}

/// The class that colours a quadrant.
pub(super) fn class(quadrant: Quadrant) -> &'static str {
    match quadrant {
        Quadrant::A => "qa",
        Quadrant::B => "qb",
        Quadrant::C => "qc",
        Quadrant::D => "qd",
    }
}

/// A moment, to the minute; to the millisecond for machines.
pub(super) fn when(at: Timestamp) -> Markup {
    let whole = at.to_string();
    let (day, time) = whole.split_once('T').unwrap_or((&whole, ""));
    let minute = time.get(..5).unwrap_or(time);
    html! { time datetime=(whole) { (day) " " (minute) } }
}

/// How long ago, with the moment itself for who wants it.
pub(super) fn ago(at: Timestamp, now: Timestamp) -> Markup {
    html! { time datetime=(at) title=(at) { (words::span(now.since(at))) } }
}

/// The address of a decision page.
pub(super) fn pull_href(repo: &str, number: u64) -> String {
    format!("/pulls/{repo}/{number}")
}

/// `owner/repo#1` as a link to its decision page.
pub(super) fn pull_link(pr: &str) -> Markup {
    let parts = pr.rsplit_once('#').and_then(|(repo, number)| {
        let repo: crate::domain::RepoName = repo.parse().ok()?;
        Some((repo, number.parse().ok()?))
    });
    html! {
        @match parts {
            Some((repo, number)) => a href=(pull_href(repo.as_str(), number)) { (pr) },
            None => (words::shown(pr)),
        }
    }
}

/// `owner/repo#1` as a link to GitHub.
pub(super) fn github_link(web_base: &str, page: &str, place: &str) -> Markup {
    let parts = place.rsplit_once('#').and_then(|(repo, number)| {
        let repo: crate::domain::RepoName = repo.parse().ok()?;
        Some((repo, number.parse::<u64>().ok()?))
    });
    html! {
        @match parts {
            Some((repo, number)) => a href=(format!("{web_base}/{repo}/{page}/{number}")) rel="noreferrer" { (place) " on GitHub" },
            None => (words::shown(place)),
        }
    }
}

/// The permalink of an entry.
pub(super) fn entry_link(entry: &Entry) -> Markup {
    html! { a.seq href=(entry_href(entry)) { "#" (entry.seq) } }
}

/// Number and hash: the link names exactly this entry.
pub(super) fn entry_href(entry: &Entry) -> String {
    match entry
        .hash
        .as_deref()
        .and_then(|hash| hash.strip_prefix("sha256:"))
    {
        Some(digits) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => {
            format!("/audit/{}/{digits}", entry.seq)
        }
        _ => format!("/audit/{}", entry.seq),
    }
}

/// Entries, one under the other.
pub(super) fn entries<'a>(entries: impl Iterator<Item = &'a Entry>, with_pull: bool) -> Markup {
    html! {
        ol.entries {
            @for entry in entries {
                li {
                    div.line {
                        (entry_link(entry))
                        @if let Some(quadrant) = entry.quadrant { (badge(quadrant)) }
                        strong { (words::kind(&entry.kind)) }
                        @if with_pull && let Some(pr) = &entry.pr { span.pull { (pull_link(pr)) } }
                        @if let Some(who) = entry.who() { span.who { (words::shown(who)) } }
                        span.when { (when(entry.ts)) }
                    }
                    @let says = entry.says();
                    @if !says.is_empty() { p.says { (says) } }
                }
            }
        }
    }
}

/// A list of names and values.
pub(super) fn facts(rows: &[(&str, Option<Markup>)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in rows {
                @if let Some(value) = value { div { dt { (name) } dd { (value) } } }
            }
        }
    }
}

/// What a page says when there is nothing.
pub(super) fn nothing(text: &str) -> Markup {
    html! { p.nothing { (text) } }
}
