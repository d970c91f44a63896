//! `quadgate config`: check and show a configuration directory, write the JSON Schemas.

mod test;

use super::input::{ConfigArgument, load};
use super::terminal::plain;
use super::{Exit, Io};
use crate::policy::{Effective, Origin, Problem};
use crate::settings::{self, Loaded};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Arguments of `config`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print every problem with its place; exit 0 when the directory loads, else 2
    Check {
        #[command(flatten)]
        config: ConfigArgument,
        /// Exit 1 when there are warnings
        #[arg(long)]
        strict: bool,
        /// Print problems and warnings as a JSON document
        #[arg(long)]
        json: bool,
    },
    /// Print the effective configuration with the origin of each value
    Show {
        #[command(flatten)]
        config: ConfigArgument,
        /// Print it as a JSON document
        #[arg(long)]
        json: bool,
    },
    /// Run decision cases (facts and the expected quadrant) against the policy; exit 1 when one differs
    Test(test::Arguments),
    /// Write the JSON Schemas of the configuration files
    Schema {
        /// Directory to write `<file>.schema.json` to; without it they are printed
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Exit {
    match &arguments.command {
        Command::Check {
            config,
            strict,
            json,
        } => check(&config.directory_or_default(), *strict, *json, io),
        Command::Show { config, json } => show(&config.directory_or_default(), *json, io),
        Command::Test(arguments) => test::run(arguments, io),
        Command::Schema { out } => schema(out.as_deref(), io),
    }
}

fn check(directory: &Path, strict: bool, json: bool, io: &mut Io<'_>) -> Exit {
    let (problems, warnings, digest) = match settings::load(directory) {
        Ok(loaded) => (Vec::new(), loaded.warnings, Some(loaded.policy.digest)),
        Err(problems) => (problems, Vec::new(), None),
    };
    if json {
        let list = |all: &[Problem]| all.iter().map(problem_json).collect::<Vec<_>>();
        io.print_json(&json!({
            "ok": problems.is_empty(),
            "problems": list(&problems),
            "warnings": list(&warnings),
            "policy": digest,
        }));
    } else {
        for warning in &warnings {
            io.say(format!("warning: {}", plain(&warning.to_string())));
        }
        for problem in &problems {
            io.say(plain(&problem.to_string()));
        }
        if let Some(digest) = &digest {
            io.print(format!(
                "{}: OK  {digest}",
                plain(&directory.to_string_lossy())
            ));
        }
    }
    if !problems.is_empty() {
        Exit::Unusable
    } else if strict && !warnings.is_empty() {
        Exit::Findings
    } else {
        Exit::Ok
    }
}

fn problem_json(problem: &Problem) -> Value {
    json!({
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "message": problem.message,
        "hint": problem.hint,
    })
}

fn show(directory: &Path, json: bool, io: &mut Io<'_>) -> Exit {
    let Some(loaded) = load(directory, io) else {
        return Exit::Unusable;
    };
    if json {
        io.print_json(&shown(&loaded));
    } else {
        io.print(format!("policy {}", loaded.policy.digest));
        for Effective { key, value, origin } in &loaded.effective {
            io.print(format!(
                "{} = {}  ({origin})",
                plain(key),
                plain(&value.to_string())
            ));
        }
    }
    Exit::Ok
}

fn shown(loaded: &Loaded) -> Value {
    let values: Vec<Value> = loaded
        .effective
        .iter()
        .map(|Effective { key, value, origin }| {
            let origin = match origin {
                Origin::File { .. } => origin.to_string(),
                Origin::Default => "default".to_owned(),
            };
            json!({ "key": key, "value": value, "origin": origin })
        })
        .collect();
    json!({ "policy": loaded.policy.digest, "values": values })
}

fn schema(out: Option<&Path>, io: &mut Io<'_>) -> Exit {
    let Some(directory) = out else {
        let all: serde_json::Map<String, Value> = settings::schemas()
            .into_iter()
            .map(|(stem, schema)| (stem.to_owned(), schema))
            .collect();
        io.print_json(&Value::Object(all));
        return Exit::Ok;
    };
    for (stem, schema) in settings::schemas() {
        let path = directory.join(format!("{stem}.schema.json"));
        if let Err(error) = std::fs::write(&path, format!("{schema:#}\n")) {
            let path = plain(&path.to_string_lossy());
            io.say(format!("quadgate: `{path}` cannot be written: {error}"));
            return Exit::Unusable;
        }
        io.print(plain(&path.to_string_lossy()));
    }
    Exit::Ok
}
