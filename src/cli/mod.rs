//! The command line: one file a command, exit codes in [`exit`], what a terminal may show in [`terminal`].
//!
//! A command gets its arguments and an [`Io`], and answers with an [`Exit`]. To add one: a file with its
//! arguments and its `run`, and a line in [`Command`]. Only this module writes to the standard streams.

pub mod audit;
mod classify;
mod config;
mod deadletter;
mod doctor;
pub mod evidence;
mod exit;
mod explain;
mod healthcheck;
pub mod inbox;
mod input;
mod operator;
mod replay;
mod serve;
mod setup;
mod shell;
mod status;
mod store;
mod terminal;

pub use exit::Exit;

use crate::github::{ClientConfig, GitHub};
use crate::settings::{self, Secrets, Server};
use clap::{CommandFactory, Parser, Subcommand};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use tokio::runtime::Runtime;

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
    /// Make the GitHub App and keep its secrets, by a page on this machine
    Setup(setup::Arguments),
    /// Check key, permissions, webhook, repositories and this machine, with the way to mend what is wrong
    Doctor(doctor::Arguments),
    /// Run the server
    Serve(serve::Arguments),
    /// Say how the server stands: what waits, what was given up, what owners are asked
    Status(status::Arguments),
    /// Put a delivery back to work
    Replay(replay::Arguments),
    /// Look after work that was given up
    Deadletter(deadletter::Arguments),
    /// Ask the running server whether it is well
    Healthcheck(healthcheck::Arguments),
    /// Ask the audit log, and check that nobody touched it
    Audit(audit::AuditArgs),
    /// Keep and check evidence ledgers
    Evidence(evidence::EvidenceArgs),
    /// Say how a comment on an Issue is read
    Inbox(inbox::InboxArgs),
    /// Print completions for a shell
    Completions(shell::Completions),
    /// Write the manual pages
    Man(shell::Man),
}

/// Where a command writes.
pub struct Io<'a> {
    /// Results.
    pub out: &'a mut dyn Write,
    /// Everything else: errors, warnings, progress.
    pub err: &'a mut dyn Write,
    /// May results carry colours?
    pub colour: bool,
    /// May progress be shown on `err`?
    pub progress: bool,
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

/// The whole command line as data: what references and completions are made of.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
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
        progress: io::stderr().is_terminal(),
    };
    let exit = match cli.command {
        Command::Classify(arguments) => classify::run(&arguments, &mut io),
        Command::Explain(arguments) => explain::run(&arguments, &mut io),
        Command::Config(arguments) => config::run(&arguments, &mut io),
        Command::Serve(arguments) => serve::run(&arguments, &mut io),
        Command::Status(arguments) => status::run(&arguments, &mut io),
        Command::Audit(arguments) => audit::run(&arguments, &mut io),
        Command::Evidence(arguments) => evidence::run(&arguments, &mut io),
        Command::Inbox(arguments) => inbox::run(&arguments, &mut io),
        Command::Setup(arguments) => setup::run(&arguments, &mut io),
        Command::Doctor(arguments) => doctor::run(&arguments, &mut io),
        Command::Replay(arguments) => replay::run(&arguments, &mut io),
        Command::Deadletter(arguments) => deadletter::run(&arguments, &mut io),
        Command::Healthcheck(arguments) => healthcheck::run(&arguments, &mut io),
        Command::Completions(arguments) => shell::completions(&arguments, &mut io),
        Command::Man(arguments) => shell::man(&arguments, &mut io),
    };
    let _ = out.flush();
    exit.into()
}

/// The runtime of a command that waits for something.
fn runtime() -> Result<Runtime, String> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime does not start: {error}"))
}

/// The client of a command, with the secrets that `serve` would read. Must be called inside a runtime.
fn connect(server: &Server) -> Result<GitHub, String> {
    let environment = settings::from_process(Path::new("."))?;
    let secrets = Secrets::read(&environment).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        problems.join("; ")
    })?;
    let config = ClientConfig {
        base_url: server.github_url.clone(),
        ..ClientConfig::new(secrets.app_id, secrets.private_key)
    };
    GitHub::new(config).map_err(|error| error.to_string())
}
