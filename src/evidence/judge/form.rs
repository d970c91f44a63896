//! The form of a ledger: sections, vocabularies, the file it stands in.

use super::Context;
use super::finding::{Code, Finding};
use crate::evidence::entry::{Entry, Field};
use crate::evidence::ledger::Ledger;
use crate::evidence::sections::{Language, Section};
use crate::evidence::text::Place;
use crate::evidence::words::{Disposition, EvidenceType, Phase, Stated, Status, Vocabulary, known};

pub(super) fn check(ledger: &Ledger, context: &Context<'_>, findings: &mut Vec<Finding>) {
    missing(ledger, findings);
    twice(ledger, findings);
    phase(ledger, findings);
    disposition(ledger, ledger.disposition.as_ref(), findings);
    disposition(ledger, ledger.final_disposition.as_ref(), findings);
    last_word(ledger, context, findings);
    risk(ledger, findings);
    words(ledger, findings);
    file_name(ledger, context, findings);
}

fn missing(ledger: &Ledger, findings: &mut Vec<Finding>) {
    // A final disposition is due only at the end; see `last_word`.
    for section in ledger
        .missing_sections()
        .into_iter()
        .filter(|section| *section != Section::FinalDisposition)
    {
        let heading = section.heading(Language::En);
        findings.push(Finding::new(
            Code::MissingSection,
            ledger.spans.place(section),
            format!("the section `{heading}` is missing or says nothing"),
            format!(
                "add `## {heading}` (`## {}`); write `none` where there is nothing",
                section.heading(Language::Ko)
            ),
        ));
    }
}

fn twice(ledger: &Ledger, findings: &mut Vec<Finding>) {
    for section in Section::ALL {
        let spans = ledger.spans.0.iter().filter(|span| span.section == section);
        for span in spans.skip(1) {
            findings.push(Finding::new(
                Code::DuplicateSection,
                span.at,
                format!(
                    "the section `{}` stands twice; both are read as one",
                    section.heading(Language::En)
                ),
                "keep one of them",
            ));
        }
    }
}

fn phase(ledger: &Ledger, findings: &mut Vec<Finding>) {
    let Some(word) = ledger.phase.as_ref().filter(|word| word.known().is_none()) else {
        return;
    };
    let found = word.as_str();
    let (code, message) = if Disposition::read(found).is_some() {
        (
            Code::DispositionAsPhase,
            format!("`{found}` is a disposition and stands as the operational phase"),
        )
    } else {
        (
            Code::UnknownPhase,
            format!("`{found}` is no operational phase"),
        )
    };
    findings.push(Finding::new(
        code,
        word.at,
        message,
        format!("write one of {}", Phase::all_words()),
    ));
}

fn disposition(_: &Ledger, word: Option<&Stated<Disposition>>, findings: &mut Vec<Finding>) {
    let Some(word) = word.filter(|word| word.known().is_none()) else {
        return;
    };
    let found = word.as_str();
    let (code, message) = if Phase::read(found).is_some() {
        (
            Code::PhaseAsDisposition,
            format!(
                "`{found}` is an operational phase and stands as the disposition; a phase authorizes nothing"
            ),
        )
    } else {
        (
            Code::UnknownDisposition,
            format!("`{found}` is no disposition"),
        )
    };
    findings.push(Finding::new(
        code,
        word.at,
        message,
        format!("write one of {}", Disposition::all_words()),
    ));
}

/// A stated final disposition is final; an archived ledger has one.
fn last_word(ledger: &Ledger, context: &Context<'_>, findings: &mut Vec<Finding>) {
    let hint = "end with `COMPLETE`, `BLOCKED_EVIDENCE` or `BLOCKED_CLARIFICATION`";
    let archived = context
        .committed_path
        .is_some_and(|path| path.starts_with(".evidence-gated/archive/"));
    match &ledger.final_disposition {
        Some(word) => {
            if let Some(found) = word.known().filter(|found| !found.is_final()) {
                findings.push(Finding::new(
                    Code::FinalNotFinal,
                    word.at,
                    format!("`{found}` is no final disposition"),
                    hint,
                ));
            }
        }
        None if archived => {
            let at = ledger.spans.place(Section::FinalDisposition);
            findings.push(Finding::new(
                Code::FinalNotFinal,
                at,
                "the ledger is archived without a final disposition",
                hint,
            ));
        }
        None => {}
    }
}

fn risk(ledger: &Ledger, findings: &mut Vec<Finding>) {
    let Some(section) = &ledger.risk else { return };
    let place = ledger.spans.place(Section::Risk);
    match &section.level {
        Some(word) if word.known().is_none() => findings.push(Finding::new(
            Code::UnknownRisk,
            word.at,
            format!(
                "`{}` is no risk; the change counts as `HIGH`",
                word.as_str()
            ),
            "write `LOW`, `MEDIUM` or `HIGH`",
        )),
        Some(_) => {}
        None => findings.push(Finding::new(
            Code::UnknownRisk,
            place,
            "no risk is stated; the change counts as `HIGH`",
            "write `LOW`, `MEDIUM` or `HIGH` and why",
        )),
    }
    if !section
        .reasons
        .iter()
        .any(|reason| reason.text.names_something())
    {
        findings.push(Finding::new(
            Code::RiskWithoutReason,
            place,
            "the risk is classified without a reason",
            "say what the change touches: public surface, data, security, money, production, how far it can be undone",
        ));
    }
}

/// Status and evidence type of every entry.
fn words(ledger: &Ledger, findings: &mut Vec<Finding>) {
    for one in ledger.assumptions.iter().flatten() {
        status(
            "assumption",
            &one.subject,
            one.status.as_ref(),
            one.at,
            findings,
        );
    }
    for one in ledger.contract.iter().flatten() {
        status("claim", &one.subject, one.status.as_ref(), one.at, findings);
        evidence_type(
            "claim",
            &one.subject,
            one.evidence_type.as_ref(),
            one.at,
            findings,
        );
        for (field, called) in [
            (Field::RequiredEvidence, "required evidence"),
            (Field::Consequence, "the consequence if unsupported"),
        ] {
            if one.get(field).is_none() {
                findings.push(Finding::new(
                    Code::IncompleteClaim,
                    one.at,
                    format!("claim `{}` does not say {called}", one.subject),
                    "every entry has required evidence, evidence type, consequence and status",
                ));
            }
        }
    }
    let lists = [
        ("record of", &ledger.records),
        ("baseline of", &ledger.baseline),
        ("verification", &ledger.verifications),
    ];
    for (called, records) in lists {
        for one in records.iter().flatten() {
            status(called, &one.subject, one.status.as_ref(), one.at, findings);
            // A baseline that says what was run is a run; only evidence and verifications are classified.
            if called != "baseline of" {
                evidence_type(
                    called,
                    &one.subject,
                    one.evidence_type.as_ref(),
                    one.at,
                    findings,
                );
            }
        }
    }
}

fn status(
    called: &str,
    subject: &crate::evidence::text::Text,
    word: Option<&Stated<Status>>,
    at: Place,
    findings: &mut Vec<Finding>,
) {
    if known(word).is_some() {
        return;
    }
    let (at, found) = word.map_or((at, "nothing".to_owned()), |word| {
        (word.at, format!("`{}`", word.as_str()))
    });
    findings.push(Finding::new(
        Code::UnknownStatus,
        at,
        format!("the status of {called} `{subject}` is {found}; it counts as `UNVERIFIED`"),
        format!("write one of {}, and nothing else", Status::all_words()),
    ));
}

fn evidence_type(
    called: &str,
    subject: &crate::evidence::text::Text,
    word: Option<&Stated<EvidenceType>>,
    at: Place,
    findings: &mut Vec<Finding>,
) {
    if known(word).is_some() {
        return;
    }
    let (at, found) = word.map_or((at, "not stated".to_owned()), |word| {
        (word.at, format!("`{}`", word.as_str()))
    });
    findings.push(Finding::new(
        Code::UnknownEvidenceType,
        at,
        format!("the evidence type of {called} `{subject}` is {found}"),
        "write `static` (looked at) or `runtime` (run and watched)",
    ));
}

/// The file is named after the change.
fn file_name(ledger: &Ledger, context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(id) = &ledger.change_id else { return };
    let text = id.text.as_str();
    let usable = text
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && !text.starts_with('.');
    let stem = context.committed_path.and_then(|path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.strip_suffix(".md")
            .or_else(|| name.strip_suffix(".json"))
    });
    if !usable {
        findings.push(Finding::new(
            Code::ChangeIdMismatch,
            id.at,
            format!("`{text}` cannot be a file's name"),
            "use letters, digits, `-`, `_` and `.`",
        ));
    } else if let Some(stem) = stem.filter(|stem| *stem != text) {
        findings.push(Finding::new(
            Code::ChangeIdMismatch,
            id.at,
            format!("the change id is `{text}`, the file is named `{stem}`"),
            "give both the same name",
        ));
    }
}
