//! The check-run `evidence-gate`: what it says, and its remarks on the lines of the ledgers.

use super::{Carried, EVIDENCE_CHECK_NAME, Evidence, JudgedLedger};
use crate::domain::{
    AnnotationLevel, CheckAnnotation, CheckConclusion, CheckRunEffect, CheckRunId,
};
use crate::evidence::{Finding, Severity};
use crate::plan::EvaluationInput;
use crate::plan::key;
use crate::plan::render::check;
use crate::plan::render::evidence::{EvidenceSaid, LedgerSaid, Stand, output, remark};
use crate::policy::EvidenceMode;

/// Remarks on lines, at most. Fifty go into one request; what is beyond is in the text.
const MOST_REMARKS: usize = 100;

/// The check-run, and the digest of what it says; `known` is ours on the same head. `whole` is where all of a text that
/// was cut can be read.
pub(in crate::plan) fn check_run(
    evidence: &Evidence,
    input: &EvaluationInput<'_>,
    known: Option<CheckRunId>,
    whole: &str,
    details_url: Option<String>,
) -> (CheckRunEffect, String) {
    let conclusion = evidence.conclusion();
    let mut output = output(&said(evidence, input, whole));
    output.annotations = remarks(evidence).take(MOST_REMARKS).collect();
    // Plain data is always written.
    let remarks = serde_json::to_string(&output.annotations).unwrap_or_default();
    let word = match conclusion {
        CheckConclusion::Success => "success",
        CheckConclusion::Failure => "failure",
        CheckConclusion::Neutral => "neutral",
    };
    let says = key::digest(&[word, &output.title, &output.summary, &output.text, &remarks]);
    output
        .summary
        .push_str(&check::footer(input.policy, input.version, input.language));
    let facts = input.facts;
    let effect = CheckRunEffect {
        repo: input.repo.clone(),
        head_sha: facts.head_sha.clone(),
        name: EVIDENCE_CHECK_NAME.to_owned(),
        external_id: key::evidence_check_run(input.repo.id, facts.number, &facts.head_sha),
        known,
        conclusion: Some(conclusion),
        output,
        actions: Vec::new(),
        details_url,
        names_issue: false,
    };
    (effect, says)
}

fn said<'a>(
    evidence: &'a Evidence,
    input: &EvaluationInput<'a>,
    whole: &'a str,
) -> EvidenceSaid<'a> {
    let stand = match (evidence.against.known(), evidence.ledgers.is_empty()) {
        (None, _) => Stand::Unknown,
        (Some(against), true) if against.is_empty() => Stand::NotNeeded,
        (Some(against), false) if against.is_empty() => Stand::Passes,
        (Some(_), true) if evidence.problems.is_empty() => Stand::Missing,
        (Some(_), _) => Stand::Held,
    };
    EvidenceSaid {
        stand,
        required: evidence.mode == EvidenceMode::Required,
        risk: evidence.risk.to_string(),
        because: evidence.because.join(", "),
        effective: evidence.effective.map(|word| word.to_string()),
        ledgers: evidence.ledgers.iter().map(JudgedLedger::said).collect(),
        outside: &evidence.outside,
        verifications: &evidence.verifications,
        problems: &evidence.problems,
        cause: evidence.against.cause(),
        unremarked: remarks(evidence).count().saturating_sub(MOST_REMARKS),
        quadrant: input.verdict.quadrant(),
        whole,
        language: input.language,
    }
}

impl JudgedLedger {
    fn said(&self) -> LedgerSaid<'_> {
        let carried = self.carried();
        LedgerSaid {
            path: &self.path,
            problem: self.outcome.as_ref().err().map(String::as_str),
            effective: carried.map(|one| one.judgement.effective.to_string()),
            declared: carried.and_then(|one| one.declared.as_deref()),
            risk: carried.map(|one| one.judgement.risk.to_string()),
            findings: carried.map_or(&[], Carried::findings),
        }
    }
}

impl Carried {
    fn findings(&self) -> &[Finding] {
        &self.judgement.findings
    }
}

fn remarks(evidence: &Evidence) -> impl Iterator<Item = CheckAnnotation> + '_ {
    let required = evidence.mode == EvidenceMode::Required;
    evidence.ledgers.iter().flat_map(move |one| {
        let findings = one.carried().map_or(&[][..], Carried::findings);
        findings.iter().map(move |finding| {
            let (title, message) = remark(finding);
            CheckAnnotation {
                path: one.path.clone(),
                line: finding.line,
                level: match (finding.severity, required) {
                    (Severity::Error, true) => AnnotationLevel::Failure,
                    (Severity::Error, false) | (Severity::Warning, true) => {
                        AnnotationLevel::Warning
                    }
                    (Severity::Warning, false) => AnnotationLevel::Notice,
                },
                title,
                message,
            }
        })
    })
}
