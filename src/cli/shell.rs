//! What a shell and `man` know of the program: completions and manual pages, made from the arguments themselves.

use super::{Cli, Exit, Io};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::path::PathBuf;

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "For example: quadgate completions bash > /etc/bash_completion.d/quadgate")]
pub(super) struct Completions {
    /// For which shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(super) struct Man {
    /// The directory for `quadgate.1` and a page for each command; made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) fn completions(arguments: &Completions, io: &mut Io<'_>) -> Exit {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "quadgate", &mut text);
    match io.out.write_all(&text) {
        Ok(()) => Exit::Ok,
        Err(error) => {
            io.say(format!(
                "quadgate: the completions cannot be written: {error}"
            ));
            Exit::Unusable
        }
    }
}

pub(super) fn man(arguments: &Man, io: &mut Io<'_>) -> Exit {
    let out = &arguments.out;
    let written = std::fs::create_dir_all(out)
        .and_then(|()| clap_mangen::generate_to(Cli::command().disable_help_subcommand(true), out));
    match written {
        Ok(()) => Exit::Ok,
        Err(error) => {
            io.say(format!(
                "quadgate: the pages cannot be written to `{}`: {error}",
                out.display()
            ));
            Exit::Unusable
        }
    }
}
