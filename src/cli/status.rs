//! `quadgate status`: what waits, what was given up, what owners are asked, and whether the server ticks.
//!
//! Looks only, also while a server runs on the same directory. INVARIANT: nothing in the data directory is changed; the
//! exit code says whether a person has to look.

mod text;

use super::input::ConfigArgument;
use super::terminal::{Style, plain};
use super::{Exit, Io};
use crate::audit::{self, Record};
use crate::clock::{Clock, SystemClock};
use crate::domain::{IssueKind, PullState, Timestamp, Witness};
use crate::gate::burn_in::BurnIn;
use crate::settings::{self, Loaded};
use crate::store::{DeadLetter, InstallationRow, Store, StoreError};
use crate::{tick, worker};
use clap::Args;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Work that waits longer than this needs a look.
const LATE: Duration = Duration::from_mins(10);
/// A server that has not ticked for so many ticks (and five minutes) is not running.
const MISSED_TICKS: u32 = 3;
/// More entries than these in the database and not in the files need a look.
const MOST_UNWRITTEN: u64 = 1000;
/// The newest entries of the log that are shown.
const ENTRIES: usize = 5;

/// Arguments of `status`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing to look after, 1 something needs a look (said on standard error), 2 unusable."
)]
pub(super) struct Arguments {
    #[command(flatten)]
    config: ConfigArgument,

    /// Print everything as a JSON document
    #[arg(long)]
    json: bool,
}

/// How things stand.
#[derive(Debug, Clone)]
struct Status {
    now: Timestamp,
    queue_depth: u64,
    oldest_waiting: Duration,
    dead: Vec<DeadLetter>,
    /// Pull requests that wait for an owner.
    pending: Vec<PullState>,
    /// Pull requests whose merged commit is watched.
    merged: Vec<PullState>,
    installations: Vec<InstallationRow>,
    last_tick: Option<Timestamp>,
    tick: Duration,
    tail: Option<Witness>,
    /// The last entry that the log's files must hold.
    on_disk: Option<Witness>,
    /// Is the store a database, whose log may be written on another machine?
    database: bool,
    newest: Vec<Record>,
    clocks: BurnIn,
    burn_in_days: u64,
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Exit {
    let loaded = match settings::load(&arguments.config.directory_or_default()) {
        Ok(loaded) => loaded,
        Err(problems) => {
            for problem in &problems {
                io.say(plain(&problem.to_string()));
            }
            return Exit::Unusable;
        }
    };
    let status = match look(&loaded, SystemClock.now()) {
        Ok(status) => status,
        Err(problem) => {
            io.say(plain(&problem));
            return Exit::Unusable;
        }
    };
    if arguments.json {
        io.print_json(&document(&status));
    } else {
        for line in text::lines(&status, Style::new(io.colour)) {
            io.print(line);
        }
    }
    let findings = findings(&status);
    for finding in &findings {
        io.say(plain(finding));
    }
    if findings.is_empty() {
        Exit::Ok
    } else {
        Exit::Findings
    }
}

fn look(loaded: &Loaded, now: Timestamp) -> Result<Status, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime does not start: {error}"))?;
    let newest = audit::newest(&loaded.server.audit_dir, ENTRIES)
        .map_err(|error| format!("the audit log cannot be read: {error}"))?;
    let database = super::store::database(&loaded.server)?.is_some();
    runtime.block_on(async {
        let store = super::store::look(&loaded.server).await?;
        gather(&*store, loaded, newest, now, database)
            .await
            .map_err(|error| error.to_string())
    })
}

async fn gather(
    store: &dyn Store,
    loaded: &Loaded,
    newest: Vec<Record>,
    now: Timestamp,
    database: bool,
) -> Result<Status, StoreError> {
    let kept = store.meta(worker::BURN_IN).await?.unwrap_or_default();
    let kept: Value = serde_json::from_str(&kept).unwrap_or_default();
    let waits = |state: &PullState| {
        let issue = state.issue.as_ref();
        issue.is_some_and(|issue| issue.kind == IssueKind::PendingOwner) && !state.closed
    };
    let mut pending = store.open_issues().await?;
    pending.retain(waits);
    Ok(Status {
        now,
        queue_depth: store.queue_depth().await?,
        oldest_waiting: store.oldest_waiting(now).await?,
        dead: store.dead_letters().await?,
        pending,
        merged: store.watched_merges(now).await?,
        installations: store.installations().await?,
        last_tick: store
            .meta(tick::LAST)
            .await?
            .and_then(|text| text.parse().ok()),
        tick: loaded.policy.tick,
        tail: store.audit_tail().await?,
        on_disk: super::store::end_on_disk(store).await?,
        database,
        newest,
        clocks: BurnIn::read(&kept, now).0,
        burn_in_days: loaded.policy.l4_burn_in_days,
    })
}

/// What a person has to look after, one line each.
fn findings(status: &Status) -> Vec<String> {
    let mut findings = Vec::new();
    if !status.dead.is_empty() {
        findings.push(format!(
            "{} dead letters: work that was given up",
            status.dead.len()
        ));
    }
    if status.oldest_waiting > LATE {
        findings.push(format!(
            "work has been waiting for {}",
            text::span(status.oldest_waiting)
        ));
    }
    let patience = status
        .tick
        .saturating_mul(MISSED_TICKS)
        .max(Duration::from_mins(5));
    match status.last_tick {
        Some(at) if status.now.since(at) <= patience => {}
        Some(at) => findings.push(format!(
            "no tick for {}: is the server running?",
            text::span(status.now.since(at))
        )),
        None => findings.push("the server has never ticked on this store".to_owned()),
    }
    let logged = status.newest.last().map_or(0, |record| record.seq);
    let unwritten = status.tail.as_ref().map_or(0, |tail| {
        let written = status.on_disk.as_ref().map_or(0, |end| end.seq);
        tail.seq.saturating_sub(written)
    });
    if unwritten > MOST_UNWRITTEN {
        findings.push(format!(
            "{unwritten} entries of the audit log wait in the database: no replica writes its files"
        ));
    }
    if let Some(tail) = &status.on_disk
        && tail.seq > logged
        && !(status.database && logged == 0)
    {
        findings.push(format!(
            "the audit log ends at entry {logged}, but entry {} was written",
            tail.seq
        ));
    }
    findings
}

/// The document of `--json`.
fn document(status: &Status) -> Value {
    let dead: Vec<Value> = status
        .dead
        .iter()
        .map(|letter| {
            json!({
                "id": letter.id, "reason": letter.reason, "attempts": letter.attempts, "at": letter.at,
                "deliveries": letter.deliveries,
            })
        })
        .collect();
    let pending: Vec<Value> = status
        .pending
        .iter()
        .map(|state| {
            let issue = state.issue.as_ref();
            json!({
                "pr": pr(state), "head_sha": state.head_sha,
                "issue": issue.map(|issue| format!("{}#{}", issue.repo.name, issue.number)),
                "asked_at": issue.map(|issue| issue.opened_at),
            })
        })
        .collect();
    let merged: Vec<Value> = status
        .merged
        .iter()
        .filter_map(|state| {
            let watch = state.after_merge.as_ref()?;
            Some(json!({"pr": pr(state), "commit": watch.commit, "base_ref": watch.base_ref, "until": watch.until}))
        })
        .collect();
    let installations: Vec<Value> = status
        .installations
        .iter()
        .map(|row| {
            json!({"id": row.id, "status": row.status.as_str(), "repositories": row.repositories})
        })
        .collect();
    json!({
        "kind": "status",
        "at": status.now,
        "queue": {"depth": status.queue_depth, "oldest_waiting_seconds": status.oldest_waiting.as_secs()},
        "dead_letters": dead,
        "pending_decisions": pending,
        "watched_merges": merged,
        "installations": installations,
        "last_tick": status.last_tick,
        "audit_tail": status.tail,
        "tick_metrics": {"l4_burn_in": clocks(status)},
        "findings": findings(status),
        "version": env!("CARGO_PKG_VERSION"),
    })
}

/// Every clock with the days that are left until its promotion.
fn clocks(status: &Status) -> Value {
    let all: Map<String, Value> = status
        .clocks
        .clocks()
        .map(|(agent, clock)| {
            let mut shown = json!(clock);
            if let Some(members) = shown.as_object_mut() {
                let left = clock.days_left(status.burn_in_days, status.now);
                members.insert("days_left".to_owned(), json!(left));
            }
            (agent.to_owned(), shown)
        })
        .collect();
    Value::Object(all)
}

fn pr(state: &PullState) -> String {
    format!("{}#{}", state.repo.name, state.number)
}

#[cfg(test)]
mod tests;
