//! `quadgate explain`: the decision on a terminal of 80 columns: the grid, every rule, every file.

use super::classify::{document, subject};
use super::input::{Input, Judged};
use super::terminal::{Style, plain, wrap};
use super::{Exit, Io};
use crate::domain::{Axes, Criticality, Quadrant, Reversibility};
use crate::rules::{Finding, RuleReport, UserResult};
use clap::Args;

/// The width that is written for.
const WIDTH: usize = 78;

/// Arguments of `explain`.
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
        let mut page = Vec::new();
        head(&judged, style, &mut page);
        grid(&judged, style, &mut page);
        rules(&judged, style, &mut page);
        files(&judged, style, &mut page);
        for line in page {
            io.print(line);
        }
    }
    Exit::Quadrant(judged.verdict.quadrant())
}

fn head(judged: &Judged, style: Style, page: &mut Vec<String>) {
    let head = &judged.facts.head_sha;
    let title = plain(&format!("{} at {}", subject(judged), head.short()));
    page.push(style.heading(&title));
    page.push(style.faint(&format!("policy {}", judged.policy.digest)));
    page.push(String::new());
}

fn grid(judged: &Judged, style: Style, page: &mut Vec<String>) {
    let verdict = judged.verdict.quadrant();
    let cell = |ir, cr| {
        let quadrant = Axes { ir, cr }.quadrant();
        let letter = quadrant.letter();
        if quadrant == verdict {
            style.quadrant(quadrant, &format!("[ {letter} ]"))
        } else {
            format!("  {letter}  ")
        }
    };
    let (back, stay) = (Reversibility::Reversible, Reversibility::Irreversible);
    page.push(format!("{:18}reversible    irreversible", ""));
    for cr in [Criticality::NonCritical, Criticality::Critical] {
        let name = cr.to_string();
        let row = format!(
            "  {name:14}    {}           {}",
            cell(back, cr),
            cell(stay, cr)
        );
        page.push(row.trim_end().to_owned());
    }
    page.push(String::new());
    let reasoning = format!("{verdict}: {}", plain(judged.verdict.reasoning()));
    page.extend(wrap(&reasoning, WIDTH));
    let by_path = judged.verdict.axes().map(Axes::quadrant);
    if let Some(by_path) = by_path.filter(|by_path| *by_path != verdict) {
        page.push(format!("(by the paths alone: {by_path})"));
    }
}

fn rules(judged: &Judged, style: Style, page: &mut Vec<String>) {
    page.push(String::new());
    page.push(style.heading("Rules"));
    for report in judged.verdict.rules_fired() {
        let (vote, words) = describe(report);
        let shown = match vote {
            Some(vote) => style.quadrant(vote, vote.letter()),
            None => "-".to_owned(),
        };
        let name = plain(report.rule.as_str());
        let mut lines = wrap(&plain(&words), WIDTH - 34).into_iter();
        let first = lines.next().unwrap_or_default();
        page.push(
            format!("  {shown} {name:28}  {first}")
                .trim_end()
                .to_owned(),
        );
        page.extend(lines.map(|line| format!("{:34}{line}", "")));
    }
}

/// The vote of a rule and what it says.
fn describe(report: &RuleReport) -> (Option<Quadrant>, String) {
    let finding = &report.finding;
    let words = match finding {
        Finding::Axes { axes, .. } => format!("{}, {}", axes.ir, axes.cr),
        Finding::Match { reason, .. } => reason.clone(),
        Finding::NoMatch { reason, .. } => reason.clone().unwrap_or_else(|| "no match".to_owned()),
        Finding::User { result, reason, .. } => match (result, reason) {
            (_, Some(reason)) => reason.clone(),
            (UserResult::Pass, None) => "pass".to_owned(),
            (UserResult::Raise, None) => "raises".to_owned(),
            (UserResult::Error, None) => "failed".to_owned(),
        },
    };
    (finding.vote(), words)
}

fn files(judged: &Judged, style: Style, page: &mut Vec<String>) {
    let rows = judged.verdict.files();
    page.push(String::new());
    page.push(style.heading(&format!("Files ({})", rows.len())));
    for row in rows {
        let quadrant = row.axes.quadrant();
        let letter = style.quadrant(quadrant, quadrant.letter());
        page.push(format!(
            "  {letter} {}  {}",
            plain(&row.path),
            plain(&row.status)
        ));
        if let Some(previous) = &row.previous_path {
            page.push(format!("      from {}", plain(previous)));
        }
        let axes = [
            (row.axes.ir.to_string(), &row.ir_because),
            (row.axes.cr.to_string(), &row.cr_because),
        ];
        for (axis, because) in axes {
            let mut lines = wrap(&plain(&because.0), WIDTH - 21).into_iter();
            let first = lines.next().unwrap_or_default();
            page.push(format!("      {axis:13}  {}", style.faint(&first)));
            page.extend(lines.map(|line| format!("{:21}{}", "", style.faint(&line))));
        }
    }
}
