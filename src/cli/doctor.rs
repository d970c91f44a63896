//! `quadgate doctor`: is everything in place, and if not, how is it mended?

use super::input::{ConfigArgument, load};
use super::terminal::{Style, plain};
use super::{Exit, Io, runtime};
use crate::clock::{Clock, SystemClock};
use crate::doctor::{Finding, State, Subject, examine};
use crate::domain::RepoName;
use crate::settings;
use clap::Args;
use serde_json::json;
use std::path::Path;

/// Arguments of `doctor`.
#[derive(Debug, Args)]
#[command(
    after_help = "Changes nothing. Each finding is `ok`, `warn` or `fail`; what cannot be looked at is `fail`.\n\
    Exit codes: 0 no failure, 1 a failure, 2 the configuration does not load."
)]
pub(super) struct Arguments {
    #[command(flatten)]
    config: ConfigArgument,

    /// Only this repository, beside what concerns all of them
    #[arg(long, value_name = "OWNER/NAME")]
    repo: Option<RepoName>,

    /// Print the findings as a JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Exit {
    let Some(loaded) = load(&arguments.config.directory_or_default(), io) else {
        io.say("quadgate: nothing else can be looked at before the configuration loads");
        return Exit::Unusable;
    };
    let findings = settings::from_process(Path::new(".")).and_then(|environment| {
        let subject = Subject {
            loaded: &loaded,
            environment: &environment,
            only: arguments.repo.as_ref(),
        };
        Ok(runtime()?.block_on(examine(&subject)))
    });
    let findings = match findings {
        Ok(findings) => findings,
        Err(problem) => {
            io.say(format!("quadgate: {}", plain(&problem)));
            return Exit::Unusable;
        }
    };
    let count = |state| {
        let of_state = findings.iter().filter(|finding| finding.state == state);
        of_state.count()
    };
    let (ok, warn, fail) = (count(State::Ok), count(State::Warn), count(State::Fail));
    if arguments.json {
        io.print_json(&json!({
            "kind": "doctor", "at": SystemClock.now(), "version": env!("CARGO_PKG_VERSION"),
            "findings": findings, "counts": {"ok": ok, "warn": warn, "fail": fail},
        }));
    } else {
        for line in lines(&findings, Style::new(io.colour)) {
            io.print(line);
        }
        io.print(format!("{ok} ok, {warn} to look at, {fail} to mend"));
    }
    if fail > 0 { Exit::Findings } else { Exit::Ok }
}

/// A table: state, check, where, what; the way to mend it below.
fn lines(findings: &[Finding], style: Style) -> Vec<String> {
    let width = |text: fn(&Finding) -> usize, most: usize| {
        let widest = findings.iter().map(text).max().unwrap_or(0);
        widest.min(most)
    };
    let check = width(|finding| finding.check.len(), 20);
    let about = width(
        |finding| {
            finding
                .about
                .as_ref()
                .map_or(0, |about| about.chars().count())
        },
        40,
    );
    let mut lines = Vec::new();
    for finding in findings {
        let state = format!("{:<4}", finding.state.as_str());
        let place = plain(finding.about.as_deref().unwrap_or_default());
        lines.push(format!(
            "{}  {:<check$}  {place:<about$}  {}",
            style.state(finding.state, &state),
            finding.check,
            plain(&finding.message)
        ));
        if let Some(mend) = &finding.mend {
            lines.push(format!("      mend: {}", plain(mend)));
        }
    }
    lines
}
