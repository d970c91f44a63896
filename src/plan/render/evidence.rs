//! The check-run `evidence-gate`: how the evidence stands, then each ledger, what is outside its scope, what must hold, and
//! every finding. What a finding says is the checker's own English, as at the command line.

use super::escape::{cell, code, shown};
use super::limit::{CHECK_FIELD, LATE_FILL, cut};
use super::texts::{Language, StateTexts, Texts, fill};
use crate::domain::{CheckOutput, Quadrant};
use crate::evidence::Finding;
use std::fmt::Write as _;

/// Files and verifications named one by one in the summary.
const LISTED: usize = 20;

/// How the evidence stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stand {
    /// It carries the merge.
    Passes,
    /// There is no ledger, and none is needed.
    NotNeeded,
    /// There is no ledger, and one is needed.
    Missing,
    /// Something is held against it.
    Held,
    /// A part of it could not be read.
    Unknown,
}

/// What is said of one ledger.
pub(crate) struct LedgerSaid<'a> {
    pub path: &'a str,
    /// Why it cannot be used.
    pub problem: Option<&'a str>,
    pub effective: Option<String>,
    pub declared: Option<&'a str>,
    pub risk: Option<String>,
    pub findings: &'a [Finding],
}

/// What is said of the evidence.
pub(crate) struct EvidenceSaid<'a> {
    pub stand: Stand,
    /// Does it hold the merge up?
    pub required: bool,
    pub risk: String,
    pub because: String,
    pub effective: Option<String>,
    pub ledgers: Vec<LedgerSaid<'a>>,
    pub outside: &'a [String],
    pub verifications: &'a [String],
    pub problems: &'a [String],
    /// What could not be read.
    pub cause: Option<&'a str>,
    /// Findings without a remark on their line.
    pub unremarked: usize,
    pub quadrant: Quadrant,
    /// Where all of it can be read.
    pub whole: &'a str,
    pub language: Language,
}

/// Title, summary and text without footer and remarks: equal inputs give equal bytes.
pub(crate) fn output(said: &EvidenceSaid<'_>) -> CheckOutput {
    let texts = said.language.texts();
    let room = CHECK_FIELD - 2 * LATE_FILL;
    CheckOutput {
        title: fill(
            stand(said, texts).title,
            &[("disposition", effective(said))],
        ),
        summary: cut(&summary(said, texts), room, said.whole, texts),
        text: cut(&text(said, texts), CHECK_FIELD, said.whole, texts),
        annotations: Vec::new(),
    }
}

/// Title and message of the remark on a finding's line; GitHub shows them as plain text.
pub(crate) fn remark(finding: &Finding) -> (String, String) {
    let message = format!("{}. {}", finding.message, finding.hint);
    (
        format!("{} {}", finding.code, finding.code.name()),
        shown(&message, 2_000),
    )
}

fn stand<'t>(said: &EvidenceSaid<'_>, texts: &'t Texts) -> &'t StateTexts {
    match said.stand {
        Stand::Passes => &texts.evidence_passes,
        Stand::NotNeeded => &texts.evidence_not_needed,
        Stand::Missing => &texts.evidence_missing,
        Stand::Held => &texts.evidence_held,
        Stand::Unknown => &texts.evidence_unknown,
    }
}

fn effective<'s>(said: &'s EvidenceSaid<'_>) -> &'s str {
    said.effective.as_deref().unwrap_or_default()
}

fn summary(said: &EvidenceSaid<'_>, texts: &Texts) -> String {
    let mut parts = vec![stand(said, texts).lead.to_owned()];
    parts.extend(
        said.cause
            .map(|cause| fill(texts.evidence_cause, &[("cause", &code(cause, 1_000))])),
    );
    if !matches!(said.stand, Stand::Passes | Stand::NotNeeded) {
        let mode = if said.required {
            texts.evidence_required
        } else {
            texts.evidence_advisory
        };
        parts.push(mode.to_owned());
    }
    let mut standing = fill(
        texts.evidence_risk,
        &[("risk", &said.risk), ("because", &said.because)],
    );
    if said.effective.is_some() {
        let line = fill(
            texts.evidence_effective,
            &[("disposition", effective(said))],
        );
        let _ = write!(standing, "  \n{line}");
    }
    parts.push(standing);
    parts.extend(ledgers(said, texts));
    parts.extend(list(
        texts.evidence_problems,
        said.problems,
        usize::MAX,
        texts,
    ));
    parts.extend(list(texts.evidence_outside, said.outside, LISTED, texts));
    parts.extend(list(
        texts.evidence_verifications,
        said.verifications,
        LISTED,
        texts,
    ));
    if said.ledgers.iter().any(|one| !one.findings.is_empty()) {
        let quadrant = said.quadrant.to_string();
        parts.push(fill(texts.evidence_try, &[("quadrant", &quadrant)]));
    }
    parts.join("\n\n")
}

fn ledgers(said: &EvidenceSaid<'_>, texts: &Texts) -> Option<String> {
    if said.ledgers.is_empty() {
        return None;
    }
    let [ledger, effective, declared, risk, findings] = texts.evidence_columns;
    let mut table = format!(
        "| {ledger} | {effective} | {declared} | {risk} | {findings} |\n|---|---|---|---|---|\n"
    );
    for one in &said.ledgers {
        let path = cell(one.path, 400);
        // Writing to a String cannot fail, here and below.
        let _ = match one.problem {
            Some(problem) => writeln!(
                table,
                "| {path} | {}: {} | | | |",
                texts.evidence_unusable,
                cell(problem, 300)
            ),
            None => writeln!(
                table,
                "| {path} | **`{}`** | {} | {} | {} |",
                one.effective.as_deref().unwrap_or_default(),
                one.declared.map(|word| cell(word, 100)).unwrap_or_default(),
                one.risk.as_deref().unwrap_or_default(),
                one.findings.len(),
            ),
        };
    }
    table.truncate(table.trim_end().len());
    Some(table)
}

/// A heading and its lines; what is beyond `max` is counted.
fn list(heading: &str, lines: &[String], max: usize, texts: &Texts) -> Option<String> {
    if lines.is_empty() {
        return None;
    }
    let mut out = format!("{heading}\n");
    for line in lines.iter().take(max) {
        let _ = write!(out, "\n- {}", code(line, 400));
    }
    let more = lines.len().saturating_sub(max);
    if more > 0 {
        let line = fill(texts.evidence_more, &[("count", &more.to_string())]);
        let _ = write!(out, "\n{line}");
    }
    Some(out)
}

/// Every finding, then every file outside the scope.
fn text(said: &EvidenceSaid<'_>, texts: &Texts) -> String {
    let mut parts = Vec::new();
    if said.unremarked > 0 {
        let count = said.unremarked.to_string();
        parts.push(fill(texts.evidence_unremarked, &[("count", &count)]));
    }
    for one in said.ledgers.iter().filter(|one| !one.findings.is_empty()) {
        let mut out = format!("### {}\n", code(one.path, 400));
        for finding in one.findings {
            let _ = write!(
                out,
                "\n- {}:{} **{}** {}: {}. {}",
                finding.line,
                finding.column,
                finding.code,
                finding.code.name(),
                code(&finding.message, 1_000),
                code(&finding.hint, 400),
            );
        }
        parts.push(out);
    }
    if said.outside.len() > LISTED {
        parts.extend(list(
            texts.evidence_outside,
            said.outside,
            usize::MAX,
            texts,
        ));
    }
    if parts.is_empty() {
        // An update without a text would leave the one from before.
        parts.push(texts.evidence_none.to_owned());
    }
    parts.join("\n\n")
}
