//! The check-run `L1.C3`: the verdict first, then why, then every rule and file.

use super::escape::{cell, code};
use super::limit::{CHECK_FIELD, LATE_FILL, cut};
use super::texts::{Language, Texts, fill};
use crate::domain::{
    CheckAction, CheckOutput, CheckRunEffect, Choice, Criticality, Quadrant, Reversibility, Witness,
};
use crate::plan::deciding::{Deciding, deciding};
use crate::rules::Verdict;
use std::fmt::Write as _;

/// What the check-run says, before what is known only later is filled in.
pub(crate) struct CheckInput<'a> {
    pub verdict: &'a Verdict,
    /// The answer that is in force.
    pub answered: Option<Choice>,
    /// Is there to be an Issue?
    pub has_issue: bool,
    pub closed_by_hand: bool,
    /// Where all of it can be read.
    pub whole: &'a str,
    pub language: Language,
}

/// Title, summary and text without the footer: equal inputs give equal bytes.
pub(crate) fn output(input: &CheckInput<'_>) -> CheckOutput {
    let texts = input.language.texts();
    let deciding = deciding(input.verdict);
    let room = CHECK_FIELD - 2 * LATE_FILL;
    CheckOutput {
        title: texts
            .state(input.verdict.quadrant(), input.answered)
            .title
            .to_owned(),
        summary: cut(&summary(input, &deciding, texts), room, input.whole, texts),
        text: cut(
            &text(input.verdict, &deciding, texts),
            CHECK_FIELD,
            input.whole,
            texts,
        ),
        annotations: Vec::new(),
    }
}

fn summary(input: &CheckInput<'_>, deciding: &Deciding<'_>, texts: &Texts) -> String {
    let quadrant = input.verdict.quadrant();
    let pending = quadrant == Quadrant::D && !input.answered.is_some_and(Choice::approves);
    let mut parts = vec![
        texts.state(quadrant, input.answered).lead.to_owned(),
        grid(quadrant, texts),
        fill(
            texts.what_decided,
            &[("reasoning", &code(input.verdict.reasoning(), 1_500))],
        ),
    ];
    parts.extend(without(deciding, texts));
    if input.has_issue {
        parts.push(late_issue(pending, input.language));
    }
    if input.closed_by_hand && pending {
        parts.push(texts.issue_closed_by_hand.to_owned());
    }
    if pending {
        parts.push(texts.where_to_answer.to_owned());
    }
    parts.join("\n\n")
}

fn grid(verdict: Quadrant, texts: &Texts) -> String {
    let mark = |quadrant: Quadrant| {
        if quadrant == verdict {
            format!("**▶ {quadrant}**")
        } else {
            quadrant.to_string()
        }
    };
    let mut grid = format!(
        "| | {} | {} |\n|---|---|---|\n",
        texts.reversible, texts.irreversible
    );
    for (name, left, right) in [
        (texts.non_critical, Quadrant::A, Quadrant::C),
        (texts.critical, Quadrant::B, Quadrant::D),
    ] {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(grid, "| {name} | {} | {} |", mark(left), mark(right));
    }
    grid.truncate(grid.trim_end().len());
    grid
}

/// "Without these two files: A".
pub(crate) fn without(deciding: &Deciding<'_>, texts: &Texts) -> Option<String> {
    let quadrant = deciding.without?.to_string();
    let count = deciding.files.len();
    let template = if count == 1 {
        texts.without_one
    } else {
        texts.without_many
    };
    Some(fill(
        template,
        &[("count", &count.to_string()), ("quadrant", &quadrant)],
    ))
}

/// The deciding files as a list; what is beyond `max` is counted.
pub(crate) fn deciding_list(deciding: &Deciding<'_>, max: usize, texts: &Texts) -> Vec<String> {
    let mut lines: Vec<String> = deciding
        .rules
        .iter()
        .take(max)
        .map(|report| {
            let reason = report.finding.reason().map(|reason| code(reason, 300));
            format!("- `{}`: {}", report.rule, reason.unwrap_or_default())
        })
        .collect();
    lines.extend(deciding.files.iter().take(max).map(|row| {
        format!(
            "- {} {}: {} ({}), {} ({})",
            code(&row.path, 300),
            code(&row.status, 40),
            texts.reversibility(row.axes.ir),
            code(&row.ir_because.0, 200),
            texts.criticality(row.axes.cr),
            code(&row.cr_because.0, 200),
        )
    }));
    let more = deciding.files.len().saturating_sub(max);
    if more > 0 {
        lines.push(fill(texts.more_files, &[("count", &more.to_string())]));
    }
    lines
}

fn text(verdict: &Verdict, deciding: &Deciding<'_>, texts: &Texts) -> String {
    let mut out = String::new();
    if !deciding.files.is_empty() {
        let lines = deciding_list(deciding, 20, texts).join("\n");
        let _ = write!(out, "{}\n\n{lines}\n\n", texts.deciding_heading);
    }
    let [rule, vote, why] = texts.rules_columns;
    let _ = write!(
        out,
        "{}\n\n| {rule} | {vote} | {why} |\n|---|---|---|\n",
        texts.rules_heading
    );
    for report in verdict.rules_fired() {
        let vote = report
            .finding
            .vote()
            .map_or(texts.abstains, Quadrant::letter);
        let why = report.finding.reason().map(|reason| cell(reason, 300));
        let _ = writeln!(
            out,
            "| {} | {vote} | {} |",
            cell(report.rule.as_str(), 100),
            why.unwrap_or_default()
        );
    }
    if !verdict.files().is_empty() {
        let [file, status, ir, cr] = texts.files_columns;
        let _ = write!(
            out,
            "\n{}\n\n| {file} | {status} | {ir} | {cr} |\n|---|---|---|---|\n",
            texts.files_heading
        );
    }
    for row in verdict.files() {
        let path = match &row.previous_path {
            Some(previous) => format!("{} ← {}", cell(&row.path, 400), cell(previous, 400)),
            None => cell(&row.path, 400),
        };
        let _ = writeln!(
            out,
            "| {path} | {} | {} {} | {} {} |",
            cell(&row.status, 40),
            axis(
                row.axes.ir == Reversibility::Irreversible,
                texts.reversibility(row.axes.ir)
            ),
            cell(&row.ir_because.0, 200),
            axis(
                row.axes.cr == Criticality::Critical,
                texts.criticality(row.axes.cr)
            ),
            cell(&row.cr_because.0, 200),
        );
    }
    out
}

fn axis(raised: bool, name: &str) -> String {
    if raised {
        format!("**{name}**")
    } else {
        name.to_owned()
    }
}

/// The last line of the summary, with a place for the witness.
pub(crate) fn footer(policy: &str, version: &str, language: Language) -> String {
    let values = [
        ("policy", policy),
        ("version", version),
        ("witness", &late_witness(language)),
    ];
    format!("\n\n---\n{}", fill(language.texts().footer, &values))
}

/// The buttons of a D check-run that waits for an answer.
pub(crate) fn buttons(language: Language) -> Vec<CheckAction> {
    let texts = language.texts();
    [
        ("approve", &texts.button_approve),
        ("defer", &texts.button_defer),
        ("reject", &texts.button_reject),
    ]
    .map(|(identifier, button)| CheckAction {
        label: button.label.to_owned(),
        description: button.description.to_owned(),
        identifier: identifier.to_owned(),
    })
    .to_vec()
}

/// What became of the Issue that a check-run names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IssueOutcome {
    /// It is open.
    Opened {
        /// Its page.
        url: String,
    },
    /// It could not be opened.
    Refused {
        /// Why, for people.
        reason: String,
    },
    /// There is none.
    None,
}

const LANGUAGES: [Language; 2] = [Language::En, Language::Ko];

fn late_issue(pending: bool, language: Language) -> String {
    let kind = if pending { "pending" } else { "trail" };
    format!("<!-- quadgate:late issue {kind} {} -->", language.code())
}

fn late_witness(language: Language) -> String {
    format!("<!-- quadgate:late witness {} -->", language.code())
}

/// Fills in what is known only after the plan: the Issue's page or why there is none, and the audit entry.
#[must_use]
pub fn finish_check_run(
    effect: CheckRunEffect,
    issue: &IssueOutcome,
    witness: &Witness,
) -> CheckRunEffect {
    let mut effect = fill_issue(effect, issue);
    for language in LANGUAGES {
        let values = [
            ("seq", witness.seq.to_string()),
            ("hash", witness.hash.clone()),
        ];
        let values = values
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        let said = fill(language.texts().witness, &values);
        effect.output.summary = effect
            .output
            .summary
            .replace(&late_witness(language), &said);
    }
    effect
}

/// Fills in the Issue alone.
pub(crate) fn fill_issue(mut effect: CheckRunEffect, issue: &IssueOutcome) -> CheckRunEffect {
    for language in LANGUAGES {
        let texts = language.texts();
        for pending in [true, false] {
            let refused = if pending {
                texts.issue_refused_pending
            } else {
                texts.issue_refused
            };
            let said = match issue {
                IssueOutcome::Opened { url } => fill(texts.issue_named, &[("link", url)]),
                IssueOutcome::Refused { reason } => {
                    fill(refused, &[("reason", &code(reason, 300))])
                }
                IssueOutcome::None => String::new(),
            };
            let place = late_issue(pending, language);
            effect.output.summary = effect.output.summary.replace(&place, &said);
        }
    }
    effect.names_issue = false;
    effect
}
