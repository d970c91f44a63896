//! One audit entry: every member as written, whether its hash is right, and the way to its neighbours.

use super::Desk;
use super::error::PageError;
use super::layout::{self, Nav};
use super::parts;
use super::record::Entry;
use super::viewer::{Sees, Viewer};
use super::words;
use crate::audit;
use axum::extract::{Path, State};
use maud::{Markup, html};
use std::io;
use std::sync::Arc;

/// What stands at a place of the log.
struct Found {
    entry: Entry,
    line: Vec<u8>,
    before: bool,
    after: bool,
}

/// `GET /audit/{seq}`
pub(super) async fn page(
    State(desk): State<Arc<Desk>>,
    viewer: Viewer,
    Path(seq): Path<String>,
) -> Result<Markup, PageError> {
    show(&desk, &viewer, &seq, None).await
}

/// `GET /audit/{seq}/{hash}`
pub(super) async fn permalink(
    State(desk): State<Arc<Desk>>,
    viewer: Viewer,
    Path((seq, hash)): Path<(String, String)>,
) -> Result<Markup, PageError> {
    show(&desk, &viewer, &seq, Some(&hash)).await
}

async fn show(
    desk: &Desk,
    viewer: &Viewer,
    seq: &str,
    hash: Option<&str>,
) -> Result<Markup, PageError> {
    let seq: u64 = seq.parse().map_err(|_| PageError::NotFound)?;
    let eyes = viewer.eyes();
    let found = desk
        .log
        .read(move |dir, _| find(dir, seq, &eyes))
        .await?
        .ok_or(PageError::NotFound)?;
    let entry = &found.entry;
    let title = format!("Entry {}", words::grouped(entry.seq));
    let sound = audit::is_sound(&found.line);
    let body = html! {
        h1 { (title) }
        p.lead {
            (words::kind(&entry.kind)) " · " (parts::when(entry.ts))
            @if let Some(pr) = &entry.pr { " · " (parts::pull_link(pr)) }
        }
        @if let Some(hash) = hash && !is_named(entry, hash) {
            p.info.bad role="alert" {
                "The log has another entry at this place than the link names. Run " code { "quadgate audit verify" } "."
            }
        }
        section aria-labelledby="says" {
            h2 #says { "What it says" }
            @let says = entry.says();
            @if !says.is_empty() { p { @if let Some(quadrant) = entry.quadrant { (parts::badge(quadrant)) " " } (says) } }
            @for warning in &entry.warnings { p { "Warning: " (words::shown(warning)) } }
            (parts::facts(&[
                ("Pull request", entry.pr.as_deref().map(parts::pull_link)),
                ("Head", entry.head_sha.as_deref().map(|sha| html! { code { (words::shown(sha)) } })),
                ("Actor", entry.actor.as_deref().map(|who| html! { (words::shown(who)) })),
                ("Author", entry.author.as_deref().map(|who| html! { (words::shown(who)) })),
                ("Signal", entry.signal.as_deref().map(|signal| html! { code { (words::shown(signal)) } })),
                ("Answered", entry.answered_at.map(parts::when)),
                ("Issue", entry.issue.as_deref().map(|issue| parts::github_link(&desk.web_base, "issues", issue))),
                ("Base branch", entry.base_ref.as_deref().map(|name| html! { code { (words::shown(name)) } })),
                ("Policy", entry.policy.as_deref().map(|policy| html! { code { (words::shown(policy)) } })),
                ("Delivery", entry.delivery.as_deref().map(|id| html! { code { (words::shown(id)) } })),
                ("Decision", entry.decision.as_deref().map(|id| html! { code { (words::shown(id)) } })),
                ("Program", entry.version.as_deref().map(|version| html! { (words::shown(version)) })),
                ("Hash", entry.hash.as_deref().map(|hash| html! {
                    code { (words::shown(hash)) }
                    @if sound { " is the hash of what is written" } @else { strong { " is not the hash of what is written" } }
                })),
            ]))
        }
        section aria-labelledby="whole" {
            h2 #whole { "As written" }
            pre { code { (pretty(&found.line)) } }
        }
        p.pager {
            @if found.before { a href=(format!("/audit/{}", seq.saturating_sub(1))) { "← Entry " (words::grouped(seq.saturating_sub(1))) } }
            @if found.after { a href=(format!("/audit/{}", seq.saturating_add(1))) { "Entry " (words::grouped(seq.saturating_add(1))) " →" } }
            a href=(parts::entry_href(entry)) { "Permalink" }
        }
    };
    Ok(layout::page(&title, Some(viewer), Some(Nav::Audit), &body))
}

fn find(dir: &std::path::Path, seq: u64, eyes: &Sees) -> io::Result<Option<Found>> {
    let visible = |seq: u64| -> io::Result<Option<(Entry, Vec<u8>)>> {
        let line = audit::entry_at(dir, seq)?;
        Ok(line.and_then(|line| {
            let entry = Entry::read(&line)?;
            eyes.repo(entry.repo_id).then_some((entry, line))
        }))
    };
    let Some((entry, line)) = visible(seq)? else {
        return Ok(None);
    };
    Ok(Some(Found {
        before: visible(seq.saturating_sub(1))?.is_some(),
        after: visible(seq.saturating_add(1))?.is_some(),
        entry,
        line,
    }))
}

/// Does the link mean this entry? It may name only the first digits.
fn is_named(entry: &Entry, wanted: &str) -> bool {
    let wanted = wanted
        .strip_prefix("sha256:")
        .unwrap_or(wanted)
        .to_ascii_lowercase();
    let hash = entry
        .hash
        .as_deref()
        .and_then(|hash| hash.strip_prefix("sha256:"));
    wanted.len() >= 8 && hash.is_some_and(|hash| hash.starts_with(&wanted))
}

/// The line over several lines; otherwise as it was written, escapes included.
fn pretty(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut out = String::with_capacity(text.len() * 2);
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let mut before = ' ';
    for c in text.chars() {
        if quoted {
            out.push(c);
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        let closes = matches!(c, '}' | ']');
        depth = if closes {
            depth.saturating_sub(1)
        } else {
            depth
        };
        if (closes && !matches!(before, '{' | '['))
            || (!closes && matches!(before, '{' | '[' | ','))
        {
            out.push('\n');
            out.push_str(&"  ".repeat(depth));
        }
        out.push(c);
        match c {
            '"' => quoted = true,
            '{' | '[' => depth += 1,
            ':' => out.push(' '),
            _ => {}
        }
        before = c;
    }
    words::shown(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn a_line_keeps_its_order_and_its_escapes() {
        let line = br#"{"b":[],"a":[{"x":"{,:\"\\"}],"c":{},"d":"\u202e"}"#;
        let wanted = "{\n  \"b\": [],\n  \"a\": [\n    {\n      \"x\": \"{,:\\\"\\\\\"\n    }\n  ],\n  \"c\": {},\n  \"d\": \"\\u202e\"\n}";
        assert_eq!(pretty(line), wanted);
    }
}
