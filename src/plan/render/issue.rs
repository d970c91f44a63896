//! Issue titles and bodies. The D Issue's record is what an owner's APPROVE covers, so it is never cut: what it
//! lists is bounded, and the rest is named as a group.

use super::check::{deciding_list, without};
use super::comments::key_marker;
use super::escape::{code, fenced, plain_name, shown};
use super::limit::{ISSUE_BODY, cut};
use super::texts::{Language, Texts, fill};
use crate::domain::{Facts, IssueKind, Reversibility};
use crate::plan::deciding::deciding;
use crate::rules::{FileRow, Verdict};

/// Files named one by one in the explanation and in the record.
const LISTED: usize = 20;
const RECORDED: usize = 40;
/// Room for the seal and the blank lines around it.
const SEAL: usize = 1_024;

/// What an Issue speaks about.
#[derive(Clone, Copy)]
pub(crate) struct IssueInput<'a> {
    pub kind: IssueKind,
    pub facts: &'a Facts,
    pub verdict: &'a Verdict,
    pub title: &'a str,
    pub url: &'a str,
    pub whole: &'a str,
    pub required_checks: &'a [String],
    pub verifications: &'a [String],
    /// Hours after which B and C Issues close by themselves; `None` is never.
    pub passive_close_hours: Option<u64>,
    pub key: &'a str,
    pub language: Language,
}

/// The Issue's title.
pub(crate) fn title(input: &IssueInput<'_>) -> String {
    let texts = input.language.texts();
    fill(texts.issue_title(input.kind), &[("pr", &pr(input.facts))])
}

/// The Issue's body with our key as its last line; a D body is sealed by the caller.
pub(crate) fn body(input: &IssueInput<'_>) -> String {
    let texts = input.language.texts();
    let deciding = deciding(input.verdict);
    let mut why = vec![
        fill(
            texts.issue_intro(input.kind),
            &[("pull", &pull_line(input, texts))],
        ),
        fill(
            texts.what_decided,
            &[("reasoning", &code(input.verdict.reasoning(), 1_500))],
        ),
        deciding_list(&deciding, LISTED, texts).join("\n"),
    ];
    why.extend(without(&deciding, texts));
    why.retain(|part| !part.is_empty());
    let rest = format!("{}\n\n{}", what_now(input, texts), key_marker(input.key));
    let room = ISSUE_BODY.saturating_sub(rest.len() + SEAL);
    let why = cut(&why.join("\n\n"), room, input.whole, texts);
    format!("{why}\n\n{rest}")
}

/// The part that is never cut: the ballot, how to answer, the record; or when the Issue closes.
fn what_now(input: &IssueInput<'_>, texts: &Texts) -> String {
    match (input.kind, input.passive_close_hours) {
        (IssueKind::PendingOwner, _) => {
            let record = record(
                input.facts,
                input.verdict,
                input.required_checks,
                input.verifications,
                input.language,
            );
            [
                texts.ballot_heading,
                texts.ballot,
                texts.answer_heading,
                texts.how_to_answer,
                texts.record_heading,
                &fenced(&record),
            ]
            .join("\n\n")
        }
        (IssueKind::AuditB | IssueKind::AuditC, Some(hours)) => {
            fill(texts.passive_close, &[("hours", &hours.to_string())])
        }
        (IssueKind::AuditB | IssueKind::AuditC, None) | (IssueKind::PostMerge, _) => {
            texts.never_closes.to_owned()
        }
    }
}

fn pull_line(input: &IssueInput<'_>, texts: &Texts) -> String {
    let link = format!("[{}]({})", plain_name(&pr(input.facts)), input.url);
    let author = input.facts.author.as_ref();
    let values = [
        ("title", code(input.title, 300)),
        (
            "author",
            author.map_or(texts.author_gone.to_owned(), |author| code(author, 60)),
        ),
        ("head", input.facts.head_sha.to_string()),
        ("base", code(&input.facts.base_ref, 200)),
    ];
    let values = values
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    format!("{link} ({})", fill(texts.pull, &values))
}

/// The checkpoint record: exactly what an owner's approval covers, as it stands in the D Issue.
#[must_use]
pub fn record(
    facts: &Facts,
    verdict: &Verdict,
    required_checks: &[String],
    verifications: &[String],
    language: Language,
) -> String {
    let texts = language.texts();
    let sections = [
        (texts.covers, covers(facts, verdict, texts)),
        (texts.consequences, consequences(verdict, texts)),
        (
            texts.verification,
            verification(required_checks, verifications, texts),
        ),
    ];
    let mut record = texts.checkpoint_title.to_owned();
    for (heading, lines) in sections {
        record.push_str("\n\n");
        record.push_str(heading);
        record.push('\n');
        record.push_str(&lines.join("\n"));
    }
    record.push_str("\n\n");
    record.push_str(texts.reply_approve);
    record
}

fn covers(facts: &Facts, verdict: &Verdict, texts: &Texts) -> Vec<String> {
    let deciding = deciding(verdict);
    let mut lines = vec![fill(
        texts.covers_merge,
        &[
            ("pr", &pr(facts)),
            ("head", facts.head_sha.as_str()),
            ("base", &shown(&facts.base_ref, 200)),
        ],
    )];
    lines.extend(deciding.rules.iter().take(RECORDED).map(|report| {
        let reason = report.finding.reason().unwrap_or_default();
        format!("- {}: {}", report.rule, shown(reason, 200))
    }));
    lines.extend(deciding.files.iter().take(RECORDED).map(|row| {
        let ir = texts.reversibility(row.axes.ir);
        let cr = texts.criticality(row.axes.cr);
        format!("- {} ({ir}, {cr})", changed(row))
    }));
    more(&mut lines, deciding.files.len(), texts.covers_more);
    lines
}

/// `path status`, with the path before a rename.
fn changed(row: &FileRow) -> String {
    let path = shown(&row.path, 200);
    let status = shown(&row.status, 40);
    match &row.previous_path {
        Some(previous) => format!("{path} {status} (← {})", shown(previous, 200)),
        None => format!("{path} {status}"),
    }
}

fn consequences(verdict: &Verdict, texts: &Texts) -> Vec<String> {
    let deciding = deciding(verdict);
    let irreversible: Vec<_> = deciding
        .files
        .iter()
        .filter(|row| row.axes.ir == Reversibility::Irreversible)
        .collect();
    let mut lines: Vec<String> = irreversible
        .iter()
        .take(LISTED)
        .map(|row| {
            let because = shown(&row.ir_because.0, 200);
            format!("- {}: {because}", shown(&row.path, 200))
        })
        .collect();
    if irreversible.len() > LISTED {
        let count = irreversible.len() - LISTED;
        lines.push(fill(
            texts.consequences_more,
            &[("count", &count.to_string())],
        ));
    }
    if lines.is_empty() {
        lines.push(texts.consequence_generic.to_owned());
    }
    lines
}

fn verification(checks: &[String], verifications: &[String], texts: &Texts) -> Vec<String> {
    let checks = checks
        .iter()
        .map(|name| fill(texts.verification_check, &[("name", &shown(name, 150))]));
    let ledger = verifications
        .iter()
        .map(|text| format!("- {}", shown(text, 200)));
    let mut lines: Vec<String> = checks.chain(ledger).collect();
    let count = lines.len();
    lines.truncate(RECORDED);
    more(&mut lines, count, texts.verification_more);
    if lines.is_empty() {
        lines.push(texts.verification_none.to_owned());
    }
    lines
}

fn more(lines: &mut Vec<String>, count: usize, template: &str) {
    if count > RECORDED {
        let count = (count - RECORDED).to_string();
        lines.push(fill(template, &[("count", &count)]));
    }
}

pub(crate) fn pr(facts: &Facts) -> String {
    format!("{}#{}", facts.repo, facts.number)
}
