//! `quadgate config test`: decision cases against the policy, so that operators can test theirs in CI.

use super::super::input::{ConfigArgument, load, read_bounded};
use super::super::terminal::plain;
use super::super::{Exit, Io};
use crate::domain::{Criticality, Facts, Quadrant, Reversibility};
use crate::policy::Policy;
use crate::rules;
use clap::Args;
use serde::Deserialize;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Arguments of `config test`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    config: ConfigArgument,

    /// JSON files with a list of cases, or with a member `cases` that is one
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// A file of cases, in either shape.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Document {
    List(Vec<serde_json::Value>),
    Object { cases: Vec<serde_json::Value> },
}

/// One case: what is given and what must come out. `why` and the like are for people.
#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    given: Facts,
    expect: Expect,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// Exactly this quadrant.
    quadrant: Option<Quadrant>,
    /// At least this quadrant, in the order of the fold.
    min: Option<Quadrant>,
    /// This reversibility by the path rule.
    ir: Option<Reversibility>,
    /// This criticality by the path rule.
    cr: Option<Criticality>,
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Exit {
    let directory = arguments.config.directory_or_default();
    let Some(loaded) = load(&directory, io) else {
        return Exit::Unusable;
    };
    let (mut passed, mut failed) = (0_u64, 0_u64);
    for file in &arguments.files {
        let cases = match read(file) {
            Ok(cases) => cases,
            Err(why) => {
                io.say(plain(&why));
                return Exit::Unusable;
            }
        };
        for case in cases {
            match judge(&case, &loaded.policy) {
                Ok(()) => passed += 1,
                Err(why) => {
                    failed += 1;
                    io.print(plain(&format!("FAILED {}: {why}", case.id)));
                }
            }
        }
    }
    io.print(format!("{passed} passed, {failed} failed"));
    match (passed, failed) {
        // A file without cases tests nothing; saying "all passed" would be wrong.
        (0, 0) => Exit::Unusable,
        (_, 0) => Exit::Ok,
        (_, _) => Exit::Findings,
    }
}

fn read(path: &Path) -> Result<Vec<Case>, String> {
    let shown = path.to_string_lossy();
    let text = File::open(path)
        .and_then(read_bounded)
        .map_err(|error| format!("quadgate: `{shown}` cannot be read: {error}"))?;
    let document: Document = serde_json::from_slice(&text)
        .map_err(|error| format!("{shown}: not a document of cases: {error}"))?;
    let (Document::List(values) | Document::Object { cases: values }) = document;
    values
        .into_iter()
        .enumerate()
        .map(|(index, value)| {
            serde_json::from_value(value)
                .map_err(|error| format!("{shown}: case {} cannot be read: {error}", index + 1))
        })
        .collect()
}

/// Does the policy decide the case as expected? Otherwise all that differs.
fn judge(case: &Case, policy: &Policy) -> Result<(), String> {
    let verdict = rules::evaluate(&case.given, policy);
    let (found, axes) = (verdict.quadrant(), verdict.axes());
    let Expect {
        quadrant,
        min,
        ir,
        cr,
    } = &case.expect;
    let mut wrong = Vec::new();
    if quadrant.is_some_and(|wanted| wanted != found) {
        wrong.push(format!("expected {}", show(*quadrant)));
    }
    if min.is_some_and(|least| found < least) {
        wrong.push(format!("expected at least {}", show(*min)));
    }
    if ir.is_some_and(|wanted| axes.is_none_or(|axes| axes.ir != wanted)) {
        wrong.push(format!("expected {}", show(*ir)));
    }
    if cr.is_some_and(|wanted| axes.is_none_or(|axes| axes.cr != wanted)) {
        wrong.push(format!("expected {}", show(*cr)));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let wrong = wrong.join(", ");
    Err(format!("{wrong}, found {found}: {}", verdict.reasoning()))
}

fn show(value: Option<impl std::fmt::Display>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
