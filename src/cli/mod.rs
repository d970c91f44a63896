//! The command line: one file a command, exit codes in [`exit`], what a terminal may show in [`terminal`].
//!
//! A command gets its arguments and an [`Io`], and answers with an [`Exit`]. To add one: a file with its
//! arguments and its `run`, and a line in [`Command`]. Only this module writes to the standard streams.

pub mod audit;
mod classify;
mod config;
pub mod evidence;
mod exit;
mod explain;
pub mod inbox;
mod input;
mod serve;
mod status;
mod terminal;

pub use exit::Exit;

use crate::settings;
use clap::{Parser, Subcommand};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Decides for each pull request: may this merge by itself, or must the owner be asked first?
#[derive(Debug, Parser)]
#[command(name = "quadgate", version, after_help = exit::HELP, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say the quadrant of a change: A, B, C or D
    Classify(classify::Arguments),
    /// Say why, file by file and rule by rule
    Explain(explain::Arguments),
    /// Check and show the configuration
    Config(config::Arguments),
    /// Run the server
    Serve(serve::Arguments),
    /// Say how the server stands: what waits, what was given up, what owners are asked
    Status(status::Arguments),
    /// Ask the audit log, and check that nobody touched it
    Audit(audit::AuditArgs),
    /// Keep and check evidence ledgers
    Evidence(evidence::EvidenceArgs),
    /// Say how a comment on an Issue is read
    Inbox(inbox::InboxArgs),
}

/// Where a command writes.
pub struct Io<'a> {
    /// Results.
    pub out: &'a mut dyn Write,
    /// Everything else: errors, warnings, progress.
    pub err: &'a mut dyn Write,
    /// May results carry colours?
    pub colour: bool,
}

impl std::fmt::Debug for Io<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Io").finish_non_exhaustive()
    }
}

impl Io<'_> {
    /// One line of the result. A reader that has gone away is no error: the exit code still says the answer.
    pub fn print(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.out, "{}", line.as_ref());
    }

    /// One line for people beside the result.
    pub fn say(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.err, "{}", line.as_ref());
    }

    /// A value as indented JSON.
    pub fn print_json(&mut self, value: &serde_json::Value) {
        self.print(format!("{value:#}"));
    }
}

/// Runs the program: arguments and streams of the process.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let stdout = io::stdout();
    let colour = stdout.is_terminal() && terminal::colours_wanted(|name| std::env::var_os(name));
    let mut out = io::BufWriter::new(stdout.lock());
    let mut io = Io {
        out: &mut out,
        err: &mut io::stderr(),
        colour,
    };
    let exit = match cli.command {
        Command::Classify(arguments) => classify::run(&arguments, &mut io),
        Command::Explain(arguments) => explain::run(&arguments, &mut io),
        Command::Config(arguments) => config::run(&arguments, &mut io),
        Command::Serve(arguments) => serve::run(&arguments, &mut io),
        Command::Status(arguments) => status::run(&arguments, &mut io),
        Command::Audit(arguments) => Exit::of(audit::run(
            &arguments,
            io::stderr().is_terminal(),
            io.out,
            io.err,
        )),
        Command::Evidence(arguments) => Exit::of(evidence::run_with(&arguments, io.out, io.err)),
        Command::Inbox(arguments) => read_comment(&arguments, &mut io),
    };
    let _ = out.flush();
    exit.into()
}

/// `inbox read` needs the owners, and nothing else of the configuration.
fn read_comment(arguments: &inbox::InboxArgs, io: &mut Io<'_>) -> Exit {
    match settings::load(&arguments.config().directory_or_default()) {
        Ok(loaded) => {
            let owners = &loaded.policy.owners;
            Exit::of(inbox::run(
                arguments,
                owners,
                &mut io::stdin().lock(),
                io.out,
                io.err,
            ))
        }
        Err(problems) => {
            for problem in &problems {
                io.say(terminal::plain(&problem.to_string()));
            }
            Exit::Unusable
        }
    }
}
