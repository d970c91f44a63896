//! `quadgate audit export`: a run of entries as they are, with a manifest by which anybody can verify it.

use super::Stop;
use super::place::Log;
use super::progress::Meter;
use super::shown::time;
use crate::audit::{ExportError, LogFile, Manifest, Range, VerifyError, export};
use crate::cli::input::ConfigArgument;
use crate::cli::{Exit, Io};
use crate::clock::{Clock, SystemClock};
use crate::domain::Timestamp;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// Arguments of `audit export`.
#[derive(Debug, Args)]
#[command(
    after_help = "The whole log is checked while a part of it is copied. `quadgate audit verify OUT` checks the export, anywhere.\n\nExit codes: 0 exported, 1 the log is not intact (nothing is exported), 2 unusable."
)]
pub(super) struct Arguments {
    /// What to make: a file if it ends with `.jsonl`, else a directory; may not be there yet
    out: PathBuf,
    /// From this entry on
    #[arg(long, value_name = "SEQ")]
    from: Option<u64>,
    /// Up to this entry
    #[arg(long, value_name = "SEQ")]
    to: Option<u64>,
    /// From the first entry of this time on (`2026-05-25` or `2026-05-25T12:00:00Z`)
    #[arg(long, value_parser = time)]
    since: Option<Timestamp>,
    /// Up to the first entry of this time, without it
    #[arg(long, value_parser = time)]
    until: Option<Timestamp>,
    /// Print the manifest
    #[arg(long)]
    json: bool,
    /// The log's directory or file, or an export [default: as configured, else `bot-state`]
    #[arg(long, value_name = "FILE or DIR")]
    log: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArgument,
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Result<Exit, Stop> {
    let log = Log::find_with_store(arguments.log.as_deref(), &arguments.config, io)?;
    let range = Range {
        from: arguments.from,
        to: arguments.to,
        since: arguments.since,
        until: arguments.until,
    };
    let bytes = log.files.iter().map(LogFile::bytes).sum();
    let mut meter = Meter::new(io.progress, bytes);
    let made_by = (env!("CARGO_PKG_VERSION"), SystemClock.now());
    let exported = export(
        &log.files,
        &log.expected,
        range,
        &arguments.out,
        made_by,
        |now| meter.tick(now, io.err),
    );
    meter.clear(io.err);
    let manifest = exported.map_err(|error| match error {
        ExportError::Log(VerifyError::Broken(finding)) => {
            Stop::No(format!("nothing is exported: {finding}"))
        }
        other => Stop::Unusable(other.to_string()),
    })?;
    if arguments.json {
        writeln!(io.out, "{:#}", json!(manifest))?;
    } else {
        tell(&manifest, arguments, io)?;
    }
    Ok(Exit::Ok)
}

fn tell(manifest: &Manifest, arguments: &Arguments, io: &mut Io<'_>) -> Result<(), Stop> {
    let out = arguments.out.display();
    let Manifest { first, last, .. } = manifest;
    writeln!(io.out, "{} entries are in `{out}`", manifest.entries)?;
    writeln!(io.out, "  first  {}:{}", first.seq, first.hash)?;
    writeln!(io.out, "  last   {}:{}", last.seq, last.hash)?;
    writeln!(
        io.out,
        "Anybody can check them: quadgate audit verify {out}"
    )?;
    Ok(())
}
