//! `quadgate evidence`: open, lint, show, approve and finalize ledgers.
//!
//! Reads and writes files; every decision is `evidence`'s. INVARIANT: exit code 0 is clean, 1 is findings or a step
//! that is not earned, 2 is an input that cannot be used; nothing is written unless the step is done.

mod lint;
mod steps;

use super::{Exit, Io};
use crate::domain::Quadrant;
use crate::evidence::{Language, Ledger, Risk, Vocabulary, json, markdown};
use clap::{Args, Subcommand};
use std::fs;
use std::path::{Path, PathBuf};

/// Larger files are no ledgers.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// `quadgate evidence …`
#[derive(Debug, Args)]
pub struct EvidenceArgs {
    /// The repository root: where `.evidence-gated` is, and what paths are relative to.
    #[arg(long, global = true, default_value = ".")]
    root: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Open a ledger that is honest about being empty.
    New(steps::NewArgs),
    /// Report what ledgers say that their content does not carry.
    Lint(lint::LintArgs),
    /// Show where ledgers stand: declared and effective disposition, risk, what must still hold.
    Status(lint::StatusArgs),
    /// Render the checkpoint record, or record the exact reply to it.
    Approve(steps::ApproveArgs),
    /// Move a ledger to the archive, if its final disposition is earned.
    Finalize(steps::FinalizeArgs),
    /// Convert a ledger between Markdown and JSON.
    Convert(ConvertArgs),
    /// Print the JSON Schema of a ledger.
    Schema,
}

#[derive(Debug, Args)]
struct ConvertArgs {
    /// The ledger, Markdown or JSON.
    file: PathBuf,
    /// The form to print.
    #[arg(long, value_enum)]
    to: Form,
    /// The language of Markdown.
    #[arg(long, value_enum, default_value = "en")]
    lang: Lang,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Form {
    Markdown,
    Json,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Lang {
    En,
    Ko,
}

impl From<Lang> for Language {
    fn from(lang: Lang) -> Self {
        match lang {
            Lang::En => Self::En,
            Lang::Ko => Self::Ko,
        }
    }
}

fn parse_risk(text: &str) -> Result<Risk, String> {
    Risk::read(text).ok_or_else(|| format!("`{text}` is no risk; write `LOW`, `MEDIUM` or `HIGH`"))
}

fn parse_quadrant(text: &str) -> Result<Quadrant, String> {
    let mut letters = text.chars();
    match (
        letters.next().and_then(Quadrant::from_letter),
        letters.next(),
    ) {
        (Some(quadrant), None) => Ok(quadrant),
        _ => Err(format!(
            "`{text}` is no quadrant; write `A`, `B`, `C` or `D`"
        )),
    }
}

/// Why a command cannot be carried out: exit code 2.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("`{}` is larger than 4 MiB; a ledger is a page of text", .0.display())]
    TooLarge(PathBuf),
    #[error("`{}` is not UTF-8 text", .0.display())]
    NotText(PathBuf),
    #[error("`{}` has no section of a ledger; `quadgate evidence new` opens one", .0.display())]
    NotALedger(PathBuf),
    #[error("`{}`: {source}", path.display())]
    Json {
        path: PathBuf,
        source: json::JsonError,
    },
    #[error("{0}")]
    Other(String),
    #[error("cannot write the answer: {0}")]
    Output(#[from] std::io::Error),
}

/// Runs the command.
pub fn run(args: &EvidenceArgs, io: &mut Io<'_>) -> Exit {
    let root = args.root.as_path();
    let done = match &args.command {
        Command::New(args) => steps::new(args, root, io),
        Command::Lint(args) => lint::lint(args, root, io),
        Command::Status(args) => lint::status(args, root, io),
        Command::Approve(args) => steps::approve(args, root, io),
        Command::Finalize(args) => steps::finalize(args, root, io),
        Command::Convert(args) => convert(args, io),
        Command::Schema => schema(io),
    };
    done.unwrap_or_else(|error| {
        io.say(format!("quadgate evidence: {error}"));
        Exit::Unusable
    })
}

/// A ledger as it was read.
struct Loaded {
    path: PathBuf,
    source: String,
    ledger: Ledger,
    is_json: bool,
}

fn load(path: &Path) -> Result<Loaded, Unusable> {
    let read = |source| Unusable::Read {
        path: path.to_owned(),
        source,
    };
    if fs::metadata(path).map_err(read)?.len() > MAX_BYTES {
        return Err(Unusable::TooLarge(path.to_owned()));
    }
    let bytes = fs::read(path).map_err(read)?;
    let source = String::from_utf8(bytes).map_err(|_| Unusable::NotText(path.to_owned()))?;
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    let ledger = if is_json {
        json::read(&source).map_err(|source| Unusable::Json {
            path: path.to_owned(),
            source,
        })?
    } else {
        markdown::read(&source)
    };
    if crate::evidence::Section::ALL
        .iter()
        .all(|section| !ledger.says(*section))
    {
        return Err(Unusable::NotALedger(path.to_owned()));
    }
    Ok(Loaded {
        path: path.to_owned(),
        source,
        ledger,
        is_json,
    })
}

/// The path as it stands in the repository: relative to the root, with `/`.
fn repository_path(path: &Path, root: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = relative
        .components()
        .filter_map(|part| match part {
            std::path::Component::Normal(name) => Some(name.to_string_lossy()),
            std::path::Component::Prefix(_)
            | std::path::Component::RootDir
            | std::path::Component::CurDir
            | std::path::Component::ParentDir => None,
        })
        .collect();
    parts.join("/")
}

fn active_dir(root: &Path) -> PathBuf {
    root.join(".evidence-gated").join("active")
}

/// The active ledgers, by name.
fn active_files(root: &Path) -> Result<Vec<PathBuf>, Unusable> {
    let dir = active_dir(root);
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Unusable::Read { path: dir, source }),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|source| Unusable::Read {
                path: dir.clone(),
                source,
            })?
            .path();
        if path
            .extension()
            .is_some_and(|ending| ending == "md" || ending == "json")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn convert(args: &ConvertArgs, io: &mut Io<'_>) -> Result<Exit, Unusable> {
    let loaded = load(&args.file)?;
    let text = match args.to {
        Form::Markdown => markdown::write(&loaded.ledger, args.lang.into()),
        Form::Json => json::write(&loaded.ledger).map_err(|source| Unusable::Json {
            path: args.file.clone(),
            source,
        })?,
    };
    io.out.write_all(text.as_bytes())?;
    Ok(Exit::Ok)
}

fn schema(io: &mut Io<'_>) -> Result<Exit, Unusable> {
    let text = json::schema().map_err(|error| Unusable::Other(error.to_string()))?;
    io.out.write_all(text.as_bytes())?;
    Ok(Exit::Ok)
}
