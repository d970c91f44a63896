//! `quadgate audit verify`: is every line of the log as it was written, and is its end there?

use super::Stop;
use super::place::Log;
use super::progress::Meter;
use super::shown::{shown, witness};
use crate::audit::{Finding, Intact, VerifyError, verify_chain};
use crate::cli::input::ConfigArgument;
use crate::cli::{Exit, Io};
use crate::domain::Witness;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Arguments of `audit verify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Where the log is the configured one, its end is compared with what the store in `data_dir` knows.\n\nExit codes: 0 intact, 1 not intact (the first bad line is named), 2 unusable."
)]
pub(super) struct Arguments {
    /// The log's directory, one file of it (then the files before it are checked too), or an export [default: as
    /// configured, else `bot-state`]
    log: Option<PathBuf>,
    /// An entry as known elsewhere (a check-run's text): finds lines cut off the end
    #[arg(long, value_name = "SEQ:HASH", value_parser = witness)]
    tail: Vec<Witness>,
    /// Print the result as a JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    config: ConfigArgument,
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Result<Exit, Stop> {
    let mut log = Log::find_with_store(arguments.log.as_deref(), &arguments.config, io)?;
    log.expected
        .witnesses
        .extend(arguments.tail.iter().cloned());
    if let Some(Err(why)) = &log.store {
        io.say(format!(
            "note: the store was not asked for the log's end: {}",
            shown(why)
        ));
    }
    let bytes = log.files.iter().map(crate::audit::LogFile::bytes).sum();
    let mut meter = Meter::new(io.progress, bytes);
    let checked = verify_chain(&log.files, &log.expected, |now| meter.tick(now, io.err));
    meter.clear(io.err);
    let finding = match &checked {
        Ok(_) => None,
        Err(VerifyError::Broken(finding)) => Some(finding),
        Err(error @ VerifyError::Unreadable { .. }) => {
            return Err(Stop::Unusable(error.to_string()));
        }
    };
    if arguments.json {
        let document = document(&log, checked.as_ref().ok(), finding);
        writeln!(io.out, "{document:#}")?;
        return Ok(match finding {
            None => Exit::Ok,
            Some(_) => Exit::Findings,
        });
    }
    match checked {
        Ok(intact) => {
            tell(&log, &intact, io)?;
            Ok(Exit::Ok)
        }
        Err(error) => Err(Stop::No(error.to_string())),
    }
}

fn tell(log: &Log, intact: &Intact, io: &mut Io<'_>) -> Result<(), Stop> {
    write!(io.out, "intact: {} entries", intact.entries)?;
    if let Some(last) = &intact.last {
        write!(io.out, ", the last is {}:{}", last.seq, last.hash)?;
    }
    writeln!(io.out)?;
    if log.export {
        let first = intact.first.as_ref().map_or(0, |first| first.seq);
        writeln!(
            io.out,
            "an export, from entry {first} on, as its manifest says"
        )?;
    }
    if let Some(Ok(Some(tail))) = &log.store {
        writeln!(
            io.out,
            "the last entry that the store knows, {}, is there",
            tail.seq
        )?;
    }
    Ok(())
}

fn document(log: &Log, intact: Option<&Intact>, finding: Option<&Finding>) -> Value {
    let store = log.store.as_ref().map(|store| match store {
        Ok(tail) => json!({"tail": tail}),
        Err(why) => json!({"error": why}),
    });
    json!({
        "kind": "audit_verify",
        "log": log.path.display().to_string(),
        "export": log.export,
        "intact": intact.is_some(),
        "entries": intact.map(|intact| intact.entries),
        "first": intact.map(|intact| &intact.first),
        "last": intact.map(|intact| &intact.last),
        "store": store,
        "finding": finding.map(|finding| json!({
            "file": finding.file.display().to_string(),
            "line": finding.line,
            "fault": finding.fault.code(),
            "message": finding.fault.to_string(),
        })),
    })
}
