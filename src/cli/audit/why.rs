//! `quadgate audit why`: the last verdict on a pull request in full, what became of it, and its history, on one screen.

use super::Stop;
use super::place::LogArgument;
use super::shown::{line, pull, shown};
use crate::audit::{Filter, Record, Records};
use crate::cli::{Exit, Io};
use clap::Args;
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt::Write as _;

/// How many entries of a pull request fit on one screen.
const SCREEN: usize = 8;
/// How much of what the evidence gate holds against a head fits on one screen.
const HELD: usize = 4;

/// Arguments of `audit why`.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 found, 1 nothing in the log, 2 unusable.")]
pub(super) struct Arguments {
    /// The pull request, as `owner/repo#123`
    #[arg(value_parser = pull)]
    pr: String,
    #[command(flatten)]
    log: LogArgument,
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Result<Exit, Stop> {
    let pr = &arguments.pr;
    let filter = Filter {
        pr: Some(pr.clone()),
        ..Filter::default()
    };
    let log = arguments.log.find(io)?;
    let mut newest: VecDeque<Record> = VecDeque::new();
    let (mut decision, mut merge) = (None, None);
    let mut count = 0_u64;
    for record in Records::new(log.files).matching(filter) {
        let record = record.map_err(|error| Stop::Unusable(error.to_string()))?;
        count += 1;
        if record.kind == "classification" {
            decision = Some(record.clone());
        }
        if matches!(record.kind.as_str(), "merged" | "merge_refused") {
            merge = Some(record.clone());
        }
        newest.push_back(record);
        if newest.len() > SCREEN {
            newest.pop_front();
        }
    }
    if count == 0 {
        let log = log.path.display();
        return Err(Stop::No(format!("no entry about `{pr}` in `{log}`")));
    }
    if let Some(decision) = decision {
        write!(io.out, "{}", detail(&decision))?;
    }
    if let Some(merge) = merge {
        let word = match merge.kind.as_str() {
            "merged" => "ordered",
            _ => "refused",
        };
        let says = merge.says().unwrap_or_default();
        writeln!(io.out, "  merge    {word} {}: {}", merge.ts, shown(&says))?;
    }
    writeln!(io.out, "\nhistory ({count} entries, newest last)")?;
    for record in &newest {
        writeln!(io.out, "  {}", line(record))?;
    }
    Ok(Exit::Ok)
}

/// One decision in full.
fn detail(record: &Record) -> String {
    let text = |value: &Option<String>| shown(value.as_deref().unwrap_or("?"));
    let quadrant = record
        .quadrant
        .map_or_else(|| "?".to_owned(), |quadrant| quadrant.to_string());
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}  quadrant {quadrant}", text(&record.pr));
    let _ = writeln!(out, "  head     {}", text(&record.head_sha));
    let _ = writeln!(out, "  decided  {}", record.ts);
    let _ = writeln!(out, "  because  {}", text(&record.reasoning));
    for report in &record.rules_fired {
        let member = |name: &str| report.get(name).and_then(Value::as_str);
        let Some(vote) = member("quadrant") else {
            continue;
        };
        let rule = shown(member("rule").unwrap_or("?"));
        let reason = member("reason").map(|reason| format!(": {}", shown(reason)));
        let _ = writeln!(
            out,
            "  vote     {vote} by {rule}{}",
            reason.unwrap_or_default()
        );
    }
    for said in record.evidence.iter().flat_map(evidence) {
        let _ = writeln!(out, "  evidence {}", shown(&said));
    }
    let _ = writeln!(out, "  policy   {}", text(&record.policy));
    let _ = writeln!(out, "  program  {}", text(&record.version));
    let _ = writeln!(out, "  entry    {}:{}", record.seq, text(&record.hash));
    out
}

/// What the evidence gate says, a line each.
fn evidence(evidence: &Value) -> Vec<String> {
    let member = |name: &str| evidence.get(name).and_then(Value::as_str);
    let mut lines = vec![format!(
        "{} at risk {} ({})",
        member("effective").unwrap_or("no ledger"),
        member("risk").unwrap_or("?"),
        member("mode").unwrap_or("?")
    )];
    let against = evidence.get("against");
    if let Some(cause) = against.and_then(|against| against.get("unknown")) {
        lines.push(format!("unknown: {}", cause.as_str().unwrap_or("?")));
    }
    let held = against.and_then(Value::as_array);
    let held: Vec<&str> = held
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    lines.extend(held.iter().take(HELD).map(|line| (*line).to_owned()));
    if held.len() > HELD {
        lines.push(format!("and {} more", held.len() - HELD));
    }
    lines
}
