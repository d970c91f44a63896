//! `quadgate audit`: is the log intact, why was this decided, what was decided. Reads files only, also while the server
//! writes them.

use crate::audit::{Columns, Filter, Record, Records, VerifyError, log_files, verify};
use crate::domain::{Quadrant, RepoName, Timestamp, Witness, is_unseen};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// `quadgate audit …`
#[derive(Debug, Args)]
pub struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Check every line of the log against the chain of hashes
    #[command(
        after_help = "Exit codes: 0 intact, 1 not intact (the first bad line is named), 2 unusable."
    )]
    Verify {
        /// The log's directory, or one file of it (then the files before it are checked too)
        #[arg(default_value = "bot-state")]
        log: PathBuf,
        /// The last entry as known elsewhere (a check-run's text): finds lines cut off the end
        #[arg(long, value_name = "SEQ:HASH", value_parser = tail)]
        tail: Option<Witness>,
    },
    /// Why did the bot decide that?
    #[command(after_help = "Exit codes: 0 found, 1 nothing in the log, 2 unusable.")]
    Why {
        /// The pull request, as `owner/repo#123`
        #[arg(value_parser = pull)]
        pr: String,
        /// The log's directory or file
        #[arg(long, default_value = "bot-state")]
        log: PathBuf,
    },
    /// List entries
    #[command(after_help = "Exit codes: 0 read to the end, 2 unusable.")]
    Query(QueryArgs),
}

#[derive(Debug, Args)]
struct QueryArgs {
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
    /// How to write them
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The log's directory or file
    #[arg(long, default_value = "bot-state")]
    log: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Csv,
}

/// Why a command ended without its answer.
enum Stop {
    /// Not intact, or nothing found: exit code 1.
    No(String),
    /// Unusable: exit code 2.
    Unusable(String),
    /// Nobody reads the output any more.
    Closed,
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Unusable(error.to_string()),
        }
    }
}

/// Runs the command. Progress goes to `err` when `progress` is set (a terminal).
pub fn run(args: &AuditArgs, progress: bool, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let ended = match &args.command {
        AuditCommand::Verify { log, tail } => run_verify(log, tail.as_ref(), progress, out, err),
        AuditCommand::Why { pr, log } => why(pr, log, out),
        AuditCommand::Query(args) => query(args, out),
    };
    let (code, message) = match ended {
        Ok(()) | Err(Stop::Closed) => return 0,
        Err(Stop::No(message)) => (1, message),
        Err(Stop::Unusable(message)) => (2, message),
    };
    // Where even the error cannot be written, the code still tells.
    let _ = writeln!(err, "error: {}", shown(&message));
    code
}

fn run_verify(
    log: &Path,
    tail: Option<&Witness>,
    progress: bool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Stop> {
    let files = files(log)?;
    let intact = verify(&files, tail, |entries| {
        if progress && entries % 50_000 == 0 {
            let _ = write!(err, "\r{entries} entries");
        }
    });
    if progress {
        let _ = write!(err, "\r\x1b[K");
    }
    match intact {
        Ok(intact) => {
            write!(out, "intact: {} entries", intact.entries)?;
            if let Some(last) = intact.last {
                write!(out, ", the last is {}:{}", last.seq, last.hash)?;
            }
            writeln!(out)?;
            Ok(())
        }
        Err(error @ VerifyError::Broken(_)) => Err(Stop::No(error.to_string())),
        Err(error @ VerifyError::Unreadable { .. }) => Err(Stop::Unusable(error.to_string())),
    }
}

/// How many entries of a pull request fit on one screen.
const SCREEN: usize = 8;

fn why(pr: &str, log: &Path, out: &mut dyn Write) -> Result<(), Stop> {
    let filter = Filter {
        pr: Some(pr.to_owned()),
        ..Filter::default()
    };
    let mut newest: VecDeque<Record> = VecDeque::new();
    let (mut decision, mut merge) = (None, None);
    let mut count = 0_u64;
    for record in Records::new(files(log)?).matching(filter) {
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
        return Err(Stop::No(format!(
            "no entry about `{pr}` in `{}`",
            log.display()
        )));
    }
    if let Some(decision) = decision {
        write!(out, "{}", detail(&decision))?;
    }
    if let Some(merge) = merge {
        let word = match merge.kind.as_str() {
            "merged" => "ordered",
            _ => "refused",
        };
        let says = merge.says().unwrap_or_default();
        writeln!(out, "  merge    {word} {}: {}", merge.ts, shown(&says))?;
    }
    writeln!(out, "\nhistory ({count} entries, newest last)")?;
    for record in &newest {
        writeln!(out, "  {}", line(record))?;
    }
    Ok(())
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

/// How much of what the evidence gate holds against a head fits on one screen.
const HELD: usize = 4;

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

/// One entry on one line.
pub(super) fn line(record: &Record) -> String {
    let who = record.actor.as_ref().or(record.author.as_ref());
    let quadrant = record
        .quadrant
        .map_or_else(|| "-".to_owned(), |quadrant| quadrant.to_string());
    format!(
        "{} {} {} {} {quadrant} {} {}",
        record.seq,
        record.ts,
        shown(&record.kind),
        shown(record.pr.as_deref().unwrap_or("-")),
        shown(who.map_or("-", String::as_str)),
        shown(&record.says().unwrap_or_default()),
    )
}

fn query(args: &QueryArgs, out: &mut dyn Write) -> Result<(), Stop> {
    let filter = Filter {
        pr: args.pr.clone(),
        repo: args.repo.clone(),
        quadrant: args.quadrant,
        rule: args.rule.clone(),
        actor: args.actor.clone(),
        kind: args.kind.clone(),
        since: args.since,
        until: args.until,
    };
    if args.format == Format::Csv {
        writeln!(out, "{}", Columns::HEAD)?;
    }
    for record in Records::new(files(&args.log)?).matching(filter) {
        let record = record.map_err(|error| Stop::Unusable(error.to_string()))?;
        match args.format {
            Format::Text => writeln!(out, "{}", line(&record))?,
            Format::Json => writeln!(out, "{}", record.line)?,
            Format::Csv => writeln!(out, "{}", Columns::line(&record))?,
        }
    }
    Ok(())
}

/// The files to read: of a directory all, of a file of a log that one and those before it.
fn files(log: &Path) -> Result<Vec<PathBuf>, Stop> {
    let unusable = |why: &str| Stop::Unusable(format!("audit log `{}` {why}", log.display()));
    if log.is_dir() {
        let files = log_files(log)?;
        if files.is_empty() {
            return Err(unusable("holds no log"));
        }
        return Ok(files);
    }
    if !log.is_file() {
        return Err(unusable("does not exist; name its directory or file"));
    }
    let dir = match log.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        Some(_) | None => Path::new("."),
    };
    let mut files = log_files(dir)?;
    let place = files
        .iter()
        .position(|file| file.file_name() == log.file_name());
    match place {
        Some(place) => {
            files.truncate(place + 1);
            Ok(files)
        }
        None => Ok(vec![log.to_owned()]),
    }
}

/// Text from the log on a terminal: nothing that could move the cursor or reorder what is read.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unseen(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

fn tail(text: &str) -> Result<Witness, String> {
    let wrong = || format!("`{text}` is not of the form `41:sha256:…` with 64 hexadecimal digits");
    let (seq, hash) = text.split_once(':').ok_or_else(wrong)?;
    let digits = hash.strip_prefix("sha256:").unwrap_or(hash);
    if digits.len() != 64 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    Ok(Witness {
        seq: seq.parse().map_err(|_| wrong())?,
        hash: format!("sha256:{}", digits.to_ascii_lowercase()),
    })
}

fn pull(text: &str) -> Result<String, String> {
    let wrong = || format!("`{text}` is not of the form `owner/repo#123`");
    let (name, number) = text.split_once('#').ok_or_else(wrong)?;
    name.parse::<RepoName>().map_err(|_| wrong())?;
    let number: u64 = number.parse().map_err(|_| wrong())?;
    Ok(format!("{name}#{number}"))
}

fn repo(text: &str) -> Result<RepoName, String> {
    text.parse::<RepoName>().map_err(|error| error.to_string())
}

fn quadrant(text: &str) -> Result<Quadrant, String> {
    let mut letters = text.chars();
    match (
        letters.next().and_then(Quadrant::from_letter),
        letters.next(),
    ) {
        (Some(quadrant), None) => Ok(quadrant),
        _ => Err(format!("`{text}` is not one of A, B, C, D")),
    }
}

fn time(text: &str) -> Result<Timestamp, String> {
    let day = format!("{text}T00:00:00Z");
    text.parse()
        .or_else(|error: crate::domain::TimestampError| day.parse().map_err(|_| error))
        .map_err(|error| error.to_string())
}
