//! `quadgate audit query`: the entries that match, as text, as the log's own lines, or as CSV.

use super::Stop;
use super::place::LogArgument;
use super::shown::{line, pull, quadrant, repo, time};
use crate::audit::{Filter, ReadError, Record, Records};
use crate::cli::{Exit, Io};
use crate::domain::{Quadrant, RepoName, Timestamp};
use clap::{Args, ValueEnum};

/// Arguments of `audit query`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 read to the end, the limit, or the reader's end; 2 unusable."
)]
pub(super) struct Arguments {
    /// Only this pull request, as `owner/repo#123`
    #[arg(long, value_parser = pull)]
    pr: Option<String>,
    /// Only this repository, as `owner/repo`
    #[arg(long, value_parser = repo)]
    repo: Option<RepoName>,
    /// Only this quadrant
    #[arg(long, value_parser = quadrant)]
    quadrant: Option<Quadrant>,
    /// Only where this rule voted
    #[arg(long)]
    rule: Option<String>,
    /// Only by this login, as author or as the owner who answered
    #[arg(long)]
    actor: Option<String>,
    /// Only this kind, such as `classification` or `owner_answer`
    #[arg(long)]
    kind: Option<String>,
    /// Only from this time on (`2026-05-25` or `2026-05-25T12:00:00Z`)
    #[arg(long, value_parser = time)]
    since: Option<Timestamp>,
    /// Only before this time
    #[arg(long, value_parser = time)]
    until: Option<Timestamp>,
    /// Only where these words stand in one of the entry's texts
    #[arg(long, value_name = "WORDS")]
    text: Option<String>,
    /// At most so many entries
    #[arg(long, value_name = "NUMBER")]
    limit: Option<u64>,
    /// The newest entry first; with `--limit`, the newest entries
    #[arg(long)]
    newest_first: bool,
    /// How to write them
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The same as `--format json`: the log's own lines
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    log: LogArgument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Csv,
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Result<Exit, Stop> {
    let log = arguments.log.find(io)?;
    let records = if arguments.newest_first {
        Records::newest_first(log.files)
    } else {
        Records::new(log.files)
    };
    let limit = arguments.limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    });
    let found = records.matching(arguments.filter());
    match arguments.format {
        Format::Text if !arguments.json => {
            print(found.map(|record| Ok(line(&record?))).take(limit), io)?;
        }
        Format::Text | Format::Json => print(found.lines().take(limit), io)?,
        Format::Csv => table(found.take(limit), io)?,
    }
    Ok(Exit::Ok)
}

impl Arguments {
    fn filter(&self) -> Filter {
        Filter {
            pr: self.pr.clone(),
            repo: self.repo.clone(),
            quadrant: self.quadrant,
            rule: self.rule.clone(),
            actor: self.actor.clone(),
            kind: self.kind.clone(),
            since: self.since,
            until: self.until,
            text: self.text.clone(),
        }
    }
}

fn print(
    lines: impl Iterator<Item = Result<String, ReadError>>,
    io: &mut Io<'_>,
) -> Result<(), Stop> {
    for line in lines {
        writeln!(io.out, "{}", read(line)?)?;
    }
    Ok(())
}

fn table(
    found: impl Iterator<Item = Result<Record, ReadError>>,
    io: &mut Io<'_>,
) -> Result<(), Stop> {
    let mut table = csv::Writer::from_writer(&mut *io.out);
    let wrote = |result: csv::Result<()>| {
        result.map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) => Stop::from(error),
            other => Stop::Unusable(format!("the table cannot be written: {other:?}")),
        })
    };
    wrote(table.write_record(Record::COLUMNS))?;
    for record in found {
        wrote(table.write_record(read(record)?.columns().map(harmless)))?;
    }
    table.flush()?;
    Ok(())
}

/// A spreadsheet runs what looks like a formula: such text gets an apostrophe.
fn harmless(field: String) -> String {
    if field.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        return format!("'{field}");
    }
    field
}

fn read<T>(found: Result<T, ReadError>) -> Result<T, Stop> {
    found.map_err(|error| Stop::Unusable(error.to_string()))
}
