//! `quadgate deadletter`: work that was given up: list it, try it again, or let it go.

use super::input::{ConfigArgument, load};
use super::operator::{Desk, name};
use super::terminal::{Style, plain};
use super::{Exit, Io, runtime};
use crate::settings::Loaded;
use crate::store::{DeadLetter, StoreError};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::io::IsTerminal;

/// Arguments of `deadletter`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show what was given up, and why; exit 1 when there is something
    List(Common),
    /// Try it again, in full; a running server takes it up within 30 seconds
    Retry(Chosen),
    /// Let it go: it is not tried again by itself, and its deliveries count as finished
    Drop {
        #[command(flatten)]
        chosen: Chosen,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
struct Common {
    #[command(flatten)]
    config: ConfigArgument,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Chosen {
    /// Which: its id as `list` shows it, or `owner/name#number`
    #[arg(value_name = "ID", required_unless_present = "all")]
    ids: Vec<String>,
    /// All of them
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    #[command(flatten)]
    common: Common,
}

/// What is done to a letter.
#[derive(Clone, Copy)]
enum Act {
    Retry,
    Drop,
}

impl Act {
    fn word(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Drop => "drop",
        }
    }

    fn done(self) -> &'static str {
        match self {
            Self::Retry => "back to work",
            Self::Drop => "dropped",
        }
    }
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Exit {
    let (common, act) = match &arguments.command {
        Command::List(common) => (common, None),
        Command::Retry(chosen) => (&chosen.common, Some((chosen, Act::Retry, true))),
        Command::Drop { chosen, yes } => (&chosen.common, Some((chosen, Act::Drop, *yes))),
    };
    let Some(loaded) = load(&common.config.directory_or_default(), io) else {
        return Exit::Unusable;
    };
    let done = runtime().and_then(|runtime| {
        runtime.block_on(async {
            match act {
                None => list(common, &loaded, io).await,
                Some((chosen, act, yes)) => carry_out(chosen, act, yes, &loaded, io).await,
            }
        })
    });
    done.unwrap_or_else(|problem| {
        io.say(format!("quadgate: {}", plain(&problem)));
        Exit::Unusable
    })
}

async fn list(common: &Common, loaded: &Loaded, io: &mut Io<'_>) -> Result<Exit, String> {
    let desk = Desk::open(loaded).await?;
    let letters = letters(&desk).await?;
    if common.json {
        let all: Vec<Value> = letters.iter().map(document).collect();
        io.print_json(&json!({"kind": "dead_letters", "dead_letters": all}));
    } else if letters.is_empty() {
        io.print("no dead letters");
    } else {
        let style = Style::new(io.colour);
        for letter in &letters {
            let head = format!("{}  {}", letter.id, plain(&name(&letter.subject)));
            io.print(style.heading(&head));
            let tries = letter.attempts;
            io.print(format!(
                "  given up {} after {tries} {}: {}",
                letter.at,
                if tries == 1 { "try" } else { "tries" },
                plain(&letter.reason)
            ));
            for delivery in &letter.deliveries {
                io.print(style.faint(&format!("  delivery {}", delivery.as_str())));
            }
        }
    }
    Ok(if letters.is_empty() {
        Exit::Ok
    } else {
        Exit::Findings
    })
}

async fn letters(desk: &Desk) -> Result<Vec<DeadLetter>, String> {
    let letters = desk.store.dead_letters().await;
    letters.map_err(|error| error.to_string())
}

async fn carry_out(
    chosen: &Chosen,
    act: Act,
    yes: bool,
    loaded: &Loaded,
    io: &mut Io<'_>,
) -> Result<Exit, String> {
    let desk = Desk::open(loaded).await?;
    let letters = choose(chosen, letters(&desk).await?)?;
    if letters.is_empty() {
        io.say("quadgate: no dead letters");
        return Ok(Exit::Findings);
    }
    if !yes && !agreed(&letters, io)? {
        io.say("quadgate: nothing was dropped");
        return Ok(Exit::Findings);
    }
    let mut done = Vec::new();
    for letter in &letters {
        desk.note(&format!("deadletter {}", act.word()), &document(letter))?;
        let result = match act {
            Act::Retry => desk.store.revive(&letter.id, desk.now).await,
            Act::Drop => desk.store.drop_dead(&letter.id).await,
        };
        match result {
            Ok(()) => {
                done.push(letter.id.clone());
                if !chosen.common.json {
                    let what = plain(&name(&letter.subject));
                    io.print(format!("{}: {} ({what})", act.done(), letter.id));
                }
            }
            // The server, or another command, was faster.
            Err(StoreError::Missing { .. }) => {
                io.say(format!("`{}` is no dead letter any more", letter.id));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    if chosen.common.json {
        io.print_json(&json!({"kind": format!("deadletter_{}", act.word()), "ids": done}));
    }
    Ok(if done.is_empty() {
        Exit::Findings
    } else {
        Exit::Ok
    })
}

/// The letters that were named; all or an error, so that a misspelt one is noticed before anything is done.
fn choose(chosen: &Chosen, letters: Vec<DeadLetter>) -> Result<Vec<DeadLetter>, String> {
    if chosen.all {
        return Ok(letters);
    }
    for wanted in &chosen.ids {
        if !letters.iter().any(|letter| is(letter, wanted)) {
            return Err(format!(
                "there is no dead letter `{wanted}`; `quadgate deadletter list` shows them"
            ));
        }
    }
    let named = |letter: &DeadLetter| chosen.ids.iter().any(|wanted| is(letter, wanted));
    Ok(letters.into_iter().filter(named).collect())
}

fn is(letter: &DeadLetter, wanted: &str) -> bool {
    letter.id == wanted || name(&letter.subject).eq_ignore_ascii_case(wanted)
}

fn agreed(letters: &[DeadLetter], io: &mut Io<'_>) -> Result<bool, String> {
    if !std::io::stdin().is_terminal() {
        return Err("dropping is not asked about without a terminal: add `--yes`".to_owned());
    }
    for letter in letters {
        io.say(plain(&format!(
            "{}  {}: {}",
            letter.id,
            name(&letter.subject),
            letter.reason
        )));
    }
    io.say(format!("Drop {} for good? [y/N]", letters.len()));
    let mut line = String::new();
    std::io::stdin()
        .read_line(&mut line)
        .map_err(|error| format!("the answer cannot be read: {error}"))?;
    Ok(matches!(
        line.trim().to_ascii_lowercase().as_str(),
        "y" | "yes"
    ))
}

fn document(letter: &DeadLetter) -> Value {
    json!({
        "id": letter.id, "about": name(&letter.subject), "reason": letter.reason, "attempts": letter.attempts,
        "at": letter.at, "deliveries": letter.deliveries,
    })
}
