//! How things stand, in words: one line a thing, what belongs to it indented below.

use super::{Status, pr};
use crate::cli::audit::line;
use crate::cli::terminal::{Style, plain};
use std::time::Duration;

/// Things of one kind that are listed one by one.
const LISTED: usize = 20;

pub(super) fn lines(status: &Status, style: Style) -> Vec<String> {
    let mut out = vec![
        head(style, "queue", &queue(status)),
        head(
            style,
            "last tick",
            &status.last_tick.map_or("never".to_owned(), |at| {
                format!("{at} ({} ago)", span(status.now.since(at)))
            }),
        ),
    ];
    let mut list = |name: &str, what: String, items: Vec<String>| {
        out.push(head(style, name, &what));
        let more = items.len().saturating_sub(LISTED);
        out.extend(
            items
                .into_iter()
                .take(LISTED)
                .map(|item| format!("  {}", plain(&item))),
        );
        if more > 0 {
            out.push(style.faint(&format!("  and {more} more")));
        }
    };
    list("dead letters", status.dead.len().to_string(), dead(status));
    list(
        "pending",
        count(status.pending.len(), "decision"),
        pending(status),
    );
    list(
        "after merge",
        count(status.merged.len(), "watched commit"),
        merged(status),
    );
    list(
        "installations",
        status.installations.len().to_string(),
        installations(status),
    );
    list("L4 burn-in", burn_in(status), clocks(status));
    list(
        "audit log",
        tail(status),
        status.newest.iter().map(line).collect(),
    );
    out
}

fn head(style: Style, name: &str, what: &str) -> String {
    format!("{} {}", style.heading(&format!("{name:<14}")), plain(what))
}

fn queue(status: &Status) -> String {
    if status.queue_depth == 0 {
        return "empty".to_owned();
    }
    let oldest = span(status.oldest_waiting);
    format!("{} waiting, the oldest for {oldest}", status.queue_depth)
}

fn dead(status: &Status) -> Vec<String> {
    let letters = status.dead.iter();
    letters
        .map(|letter| {
            let (id, tries) = (&letter.id, letter.attempts);
            format!(
                "{id}  after {tries} tries at {}: {}",
                letter.at, letter.reason
            )
        })
        .collect()
}

fn pending(status: &Status) -> Vec<String> {
    let asked = status.pending.iter();
    asked
        .filter_map(|state| {
            let issue = state.issue.as_ref()?;
            let since = span(status.now.since(issue.opened_at));
            let place = format!("{}#{}", issue.repo.name, issue.number);
            Some(format!("{}  asked in {place} for {since}", pr(state)))
        })
        .collect()
}

fn merged(status: &Status) -> Vec<String> {
    let watched = status.merged.iter();
    watched
        .filter_map(|state| {
            let watch = state.after_merge.as_ref()?;
            let (commit, left) = (watch.commit.short(), span(watch.until.since(status.now)));
            Some(format!(
                "{}  {commit} on {}, watched for {left} more",
                pr(state),
                watch.base_ref
            ))
        })
        .collect()
}

fn installations(status: &Status) -> Vec<String> {
    let rows = status.installations.iter();
    rows.map(|row| {
        let repositories = usize::try_from(row.repositories).unwrap_or(usize::MAX);
        let what = if repositories == 1 {
            "repository"
        } else {
            "repositories"
        };
        format!("{}  {}, {repositories} {what}", row.id, row.status.as_str())
    })
    .collect()
}

fn burn_in(status: &Status) -> String {
    let identities = status.clocks.clocks().count();
    let word = if identities == 1 {
        "identity"
    } else {
        "identities"
    };
    match status.burn_in_days {
        0 => format!("{identities} {word}, never promoted by itself"),
        days => format!("{identities} {word}, promoted after {days} days"),
    }
}

fn clocks(status: &Status) -> Vec<String> {
    let clocks = status.clocks.clocks();
    clocks
        .map(|(agent, clock)| {
            let standing = match (
                clock.promoted_at,
                clock.days_left(status.burn_in_days, status.now),
            ) {
                (Some(at), _) => format!("blocks since {at} unless it is registered"),
                (None, Some(left)) => format!("advisory, {} left", count_u64(left, "day")),
                (None, None) => "advisory".to_owned(),
            };
            let rejected = clock
                .last_rejection_at
                .map_or(String::new(), |at| format!(", rejected at {at}"));
            format!("{agent}  {standing} (since {}{rejected})", clock.started_at)
        })
        .collect()
}

fn tail(status: &Status) -> String {
    status
        .tail
        .as_ref()
        .map_or("no entry yet".to_owned(), |tail| {
            format!("entry {} {}", tail.seq, tail.hash)
        })
}

fn count(number: usize, what: &str) -> String {
    count_u64(number as u64, what)
}

fn count_u64(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// A span in its largest whole unit.
pub(super) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..60 => count_u64(seconds, "second"),
        60..3_600 => count_u64(seconds / 60, "minute"),
        3_600..172_800 => count_u64(seconds / 3_600, "hour"),
        _ => count_u64(seconds / 86_400, "day"),
    }
}
