//! `quadgate classify`: the quadrant of a change, as exit code, three lines or one JSON document.

use super::input::{Input, Judged};
use super::terminal::{Style, plain};
use super::{Exit, Io};
use crate::rules::Explanation;
use clap::Args;
use serde_json::{Value, json};

/// Arguments of `classify`.
#[derive(Debug, Args)]
#[command(after_help = super::exit::HELP)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,

    /// Print the whole decision as a JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Exit {
    let Some(judged) = arguments.input.judge(io) else {
        return Exit::Unusable;
    };
    if arguments.json {
        io.print_json(&document(&judged));
    } else {
        let style = Style::new(io.colour);
        for line in summary(&judged, style) {
            io.print(line);
        }
    }
    Exit::Quadrant(judged.verdict.quadrant())
}

/// The decision in words: the quadrant, what it is about, why.
pub(super) fn summary(judged: &Judged, style: Style) -> Vec<String> {
    let Judged { facts, verdict, .. } = judged;
    let quadrant = verdict.quadrant();
    let axes = match verdict.axes() {
        Some(axes) => format!("  by path: {}, {}", axes.ir, axes.cr),
        None => String::new(),
    };
    let letter = style.quadrant(quadrant, quadrant.letter());
    vec![
        format!("{letter}{axes}"),
        plain(&format!(
            "{} at {}",
            subject(judged),
            facts.head_sha.short()
        )),
        plain(verdict.reasoning()),
    ]
}

/// `owner/repo#7`, or the range when there is no pull request yet.
pub(super) fn subject(judged: &Judged) -> String {
    let facts = &judged.facts;
    match facts.number.0 {
        0 => format!("{} (no pull request yet)", facts.repo),
        number => format!("{}#{number}", facts.repo),
    }
}

/// The decision document of `--json`.
pub(super) fn document(judged: &Judged) -> Value {
    json!(Explanation::of(
        &judged.facts,
        &judged.verdict,
        &judged.policy.digest,
        env!("CARGO_PKG_VERSION"),
    ))
}
