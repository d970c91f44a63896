//! `quadgate audit`: is the log intact, why was this decided, what was decided, would it be decided again. Reads only, also
//! while the server writes.
//!
//! One file a subcommand. INVARIANT: however large the log, one line of it is in memory at a time.

mod export;
mod place;
mod progress;
mod query;
mod replay;
mod shown;
mod verify;
mod why;

pub(super) use shown::line;

use super::{Exit, Io};
use clap::{Args, Subcommand};
use std::io;

/// `quadgate audit …`
#[derive(Debug, Args)]
pub struct AuditArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check every line of the log, or of an export, against the chain of hashes
    Verify(verify::Arguments),
    /// Why did the bot decide that?
    Why(why::Arguments),
    /// List entries
    Query(query::Arguments),
    /// Decide again from the facts of then: what would change under another policy?
    Replay(replay::Arguments),
    /// Copy a part of the log, checked, with a manifest by which anybody can verify it
    Export(export::Arguments),
}

/// Why a command ended without its answer.
enum Stop {
    /// Not intact, or nothing found.
    No(String),
    /// Cannot be used.
    Unusable(String),
    /// Cannot be used, and that was said.
    Said,
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

/// Runs the command.
pub fn run(args: &AuditArgs, io: &mut Io<'_>) -> Exit {
    let ended = match &args.command {
        Command::Verify(arguments) => verify::run(arguments, io),
        Command::Why(arguments) => why::run(arguments, io),
        Command::Query(arguments) => query::run(arguments, io),
        Command::Replay(arguments) => replay::run(arguments, io),
        Command::Export(arguments) => export::run(arguments, io),
    };
    // What is still in a buffer may not fit on the disk either.
    let ended = ended.and_then(|exit| io.out.flush().map(|()| exit).map_err(Stop::from));
    let (exit, message) = match ended {
        Ok(exit) => return exit,
        Err(Stop::Closed) => return Exit::Ok,
        Err(Stop::Said) => return Exit::Unusable,
        Err(Stop::No(message)) => (Exit::Findings, message),
        Err(Stop::Unusable(message)) => (Exit::Unusable, message),
    };
    io.say(format!("error: {}", shown::shown(&message)));
    exit
}
