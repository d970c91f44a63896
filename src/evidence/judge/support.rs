//! What the records carry: how each record, claim and verification really stands.
//!
//! INVARIANT: a standing is never better than the record beneath it; what is not written down does not hold.

use crate::evidence::ledger::{Claim, Ledger, Record};
use crate::evidence::scope::code_spans;
use crate::evidence::text::{Place, Text, fold, fold_sentence};
use crate::evidence::words::{EvidenceType, Mandatory, Needed, Status, known};

/// How a claim or verification really stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Carried by a complete record.
    Holds,
    /// Observed not to hold.
    Fails,
    /// Not observed, or not in the way that is needed.
    Unverified,
    /// Failed before the change in the same way.
    Preexisting,
    /// Nothing is recorded.
    Missing,
    /// Records contradict each other.
    Conflicting,
}

impl Standing {
    /// As it is told to people.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Holds => "PASS",
            Self::Fails => "FAIL",
            Self::Unverified => "UNVERIFIED",
            Self::Preexisting => "PREEXISTING_FAILURE",
            Self::Missing => "missing",
            Self::Conflicting => "conflicting",
        }
    }
}

/// A claim with what is recorded for it.
pub(super) struct WeighedClaim<'a> {
    pub claim: &'a Claim,
    pub records: Vec<&'a Record>,
    pub standing: Standing,
    /// Needs a runtime observation and has only passing static ones.
    pub static_only: bool,
}

impl WeighedClaim<'_> {
    pub(super) fn mandatory(&self) -> bool {
        known(self.claim.mandatory.as_ref()) != Some(Mandatory::No)
    }

    pub(super) fn before_change(&self) -> bool {
        known(self.claim.needed.as_ref()) != Some(Needed::AfterChange)
    }
}

/// A verification that must hold, with what is recorded for it.
pub(super) struct WeighedVerification<'a> {
    pub name: Text,
    pub id: Text,
    pub records: Vec<&'a Record>,
    pub baseline: Option<&'a Record>,
    pub standing: Standing,
    pub at: Place,
    /// Named by the checkpoint record or the baseline, not only by its own record.
    pub required: bool,
}

/// The parts of a record that a `PASS` needs and does not have.
pub(super) fn lacks(record: &Record) -> Vec<&'static str> {
    let parts = [
        ("observed fact", record.observed.names_something()),
        ("artifact or command", record.artifact.names_something()),
        ("method", record.method.names_something()),
        ("limitation", record.limitation.is_stated()),
    ];
    parts
        .into_iter()
        .filter(|(_, there)| !there)
        .map(|(part, _)| part)
        .collect()
}

const ASSERTIONS: &[&str] = &[
    "user assertion",
    "user statement",
    "user claim",
    "user said",
    "user says",
    "user told",
    "according to the user",
    "as the user",
    "told by the user",
    "assumption",
    "assumed",
    "inference",
    "inferred",
    "guess",
    "from memory",
    "common knowledge",
    "사용자 주장",
    "사용자의 주장",
    "사용자 진술",
    "사용자가 말",
    "사용자 말",
    "추정",
    "가정",
    "추측",
    "기억",
];

/// Does the method or artifact name an assertion or an assumption instead of an observation?
pub(super) fn is_assertion(record: &Record) -> bool {
    [&record.method, &record.artifact].into_iter().any(|text| {
        let folded = fold(text.as_str());
        ASSERTIONS.iter().any(|word| folded.starts_with(word))
    })
}

/// How one record really stands.
pub(super) fn record_standing(record: &Record) -> Standing {
    match known(record.status.as_ref()) {
        Some(Status::Pass) if lacks(record).is_empty() && !is_assertion(record) => Standing::Holds,
        Some(Status::Pass | Status::Unverified) | None => Standing::Unverified,
        Some(Status::Fail) => Standing::Fails,
        Some(Status::PreexistingFailure) => Standing::Preexisting,
    }
}

/// Does a reference name the thing with this id and text? By the whole text or by the id.
pub(super) fn names(reference: &Text, id: &Text, text: &Text) -> bool {
    let reference_folded = fold_sentence(reference.as_str());
    if reference_folded.is_empty() {
        return false;
    }
    let whole = fold_sentence(text.as_str());
    if reference_folded == whole {
        return true;
    }
    let own = ids(id, text);
    own.iter().any(|own| {
        ids(&Text::default(), reference).contains(own) || listed(reference).contains(own)
    }) || own.contains(&reference_folded)
        || without_id(reference)
            .is_some_and(|rest| rest == whole || without_id(text).is_some_and(|text| text == rest))
        || without_id(text).is_some_and(|text| text == reference_folded)
}

/// The id field, and an id that opens the text: `C1: the handler …`.
fn ids(id: &Text, text: &Text) -> Vec<String> {
    let explicit = Some(fold(id.as_str())).filter(|id| !id.is_empty());
    let leading = leading_id(text).map(|(id, _)| id);
    explicit.into_iter().chain(leading).collect()
}

fn without_id(text: &Text) -> Option<String> {
    leading_id(text)
        .map(|(_, rest)| rest)
        .filter(|rest| !rest.is_empty())
}

/// `C1: rest`, `C-12 — rest`, `[C1] rest`, or `C1` alone.
fn leading_id(text: &Text) -> Option<(String, String)> {
    let plain = text.as_str().trim_start_matches(['*', '`', '[', '(']);
    let end = plain
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .unwrap_or(plain.len());
    let id = plain.get(..end)?;
    let rest = plain.get(end..)?;
    let letters = id.bytes().take_while(u8::is_ascii_alphabetic).count();
    let digits = id.bytes().rev().take_while(u8::is_ascii_digit).count();
    let shaped =
        (1..=4).contains(&letters) && (1..=4).contains(&digits) && id.len() - letters - digits <= 1;
    let rest = rest.trim_start_matches(['*', '`', ']', ')', ' ']);
    let separated = rest.is_empty()
        || rest.starts_with([':', '：', '.', '—', '–', '-'])
        || plain.get(end..end + 1) == Some("]");
    (shaped && separated).then(|| {
        let rest = rest.trim_start_matches([':', '：', '.', '—', '–', '-', ' ']);
        (fold(id), fold_sentence(rest))
    })
}

/// `C1, C2` names both.
fn listed(reference: &Text) -> Vec<String> {
    let parts: Vec<_> = reference
        .as_str()
        .split([',', '/', '+'])
        .map(|part| Text::new(part.trim_matches(['`', ' '])))
        .collect();
    let all_ids = parts
        .iter()
        .all(|part| leading_id(part).is_some_and(|(_, rest)| rest.is_empty()));
    if all_ids {
        parts.iter().map(|part| fold(part.as_str())).collect()
    } else {
        Vec::new()
    }
}

/// More entries than this in one section are not compared with each other: a ledger comes from whoever opens a pull
/// request, and comparing all pairs of a hundred thousand takes hours. Nothing then counts as recorded.
pub(super) const MAX_ENTRIES: usize = 500;

fn too_many(ledger: &Ledger) -> bool {
    let records = [&ledger.records, &ledger.baseline, &ledger.verifications];
    let lengths = records
        .into_iter()
        .map(|list| list.as_deref().map_or(0, <[Record]>::len));
    let claims = ledger.contract.as_deref().map_or(0, <[Claim]>::len);
    lengths
        .chain([claims, required_by_checkpoint(ledger).len()])
        .any(|length| length > MAX_ENTRIES)
}

/// Every claim of the contract, weighed.
pub(super) fn claims(ledger: &Ledger) -> Vec<WeighedClaim<'_>> {
    let contract = ledger.contract.as_deref().unwrap_or_default();
    if too_many(ledger) {
        let unrecorded = |claim| WeighedClaim {
            claim,
            records: Vec::new(),
            standing: Standing::Missing,
            static_only: false,
        };
        return contract.iter().map(unrecorded).collect();
    }
    contract
        .iter()
        .map(|claim| weigh_claim(ledger, claim))
        .collect()
}

fn weigh_claim<'a>(ledger: &'a Ledger, claim: &'a Claim) -> WeighedClaim<'a> {
    let evidence = ledger.records.as_deref().unwrap_or_default();
    let verifications = ledger.verifications.as_deref().unwrap_or_default();
    let direct = evidence
        .iter()
        .chain(verifications)
        .filter(|record| names(&record.subject, &claim.id, &claim.subject));
    let by_label = verifications.iter().filter(|record| {
        let about = record.other.iter().filter(|other| {
            matches!(
                fold(other.label.as_str()).as_str(),
                "claim" | "claims" | "주장"
            )
        });
        !names(&record.subject, &claim.id, &claim.subject)
            && about
                .into_iter()
                .any(|other| names(&other.text, &claim.id, &claim.subject))
    });
    let records: Vec<_> = direct.chain(by_label).collect();
    // A claim whose type is not known may be about behaviour: only running it is enough.
    let needs_run = known(claim.evidence_type.as_ref()) != Some(EvidenceType::Static);
    let holding: Vec<_> = records
        .iter()
        .filter(|record| record_standing(record) == Standing::Holds)
        .collect();
    let ran = holding
        .iter()
        .any(|record| known(record.evidence_type.as_ref()) == Some(EvidenceType::Runtime));
    let static_only = needs_run && !holding.is_empty() && !ran;
    let fails = records
        .iter()
        .any(|record| record_standing(record) == Standing::Fails);
    let standing = match (records.is_empty(), fails, holding.is_empty()) {
        (true, _, _) => Standing::Missing,
        (false, true, false) => Standing::Conflicting,
        (false, true, true) => Standing::Fails,
        (false, false, true) => Standing::Unverified,
        (false, false, false) if static_only => Standing::Unverified,
        (false, false, false) => Standing::Holds,
    };
    WeighedClaim {
        claim,
        records,
        standing: lower(standing, known(claim.status.as_ref())),
        static_only,
    }
}

/// The ledger may think less of its own claim than the records do, never more.
fn lower(standing: Standing, declared: Option<Status>) -> Standing {
    match (standing, declared) {
        (Standing::Holds, Some(Status::Fail)) => Standing::Conflicting,
        (Standing::Holds, Some(Status::Unverified)) => Standing::Unverified,
        (Standing::Holds, Some(Status::PreexistingFailure)) => Standing::Preexisting,
        (Standing::Holds, Some(Status::Pass) | None)
        | (
            Standing::Fails
            | Standing::Unverified
            | Standing::Preexisting
            | Standing::Missing
            | Standing::Conflicting,
            _,
        ) => standing,
    }
}

/// Every verification that must hold: named by the approved or presented record, by a baseline, or by its own record.
pub(super) fn verifications(ledger: &Ledger) -> Vec<WeighedVerification<'_>> {
    let records = ledger.verifications.as_deref().unwrap_or_default();
    let baselines = ledger.baseline.as_deref().unwrap_or_default();
    let optional = |record: &Record| known(record.mandatory.as_ref()) == Some(Mandatory::No);
    if too_many(ledger) {
        return vec![WeighedVerification {
            name: Text::new(&format!("a section of at most {MAX_ENTRIES} entries")),
            id: Text::default(),
            records: Vec::new(),
            baseline: None,
            standing: Standing::Missing,
            at: Place::default(),
            required: true,
        }];
    }
    let mut weighed: Vec<WeighedVerification<'_>> = Vec::new();
    let mut add = |name: Name<'_>, at: Place, required: bool| {
        let known = |one: &WeighedVerification<'_>| {
            let own = Name {
                id: &one.id,
                text: &one.name,
            };
            own.same(name) || one.records.iter().any(|record| Name::of(record).same(name))
        };
        if !weighed.iter().any(known) {
            weighed.push(weigh_verification(name, at, required, records, baselines));
        }
    };
    let no_id = Text::default();
    for (name, at) in required_by_checkpoint(ledger) {
        add(
            Name {
                id: &no_id,
                text: &name,
            },
            at,
            true,
        );
    }
    for baseline in baselines {
        let dropped = records
            .iter()
            .any(|record| Name::of(record).same(Name::of(baseline)) && optional(record));
        if !dropped && !optional(baseline) {
            add(Name::of(baseline), baseline.at, true);
        }
    }
    for record in records.iter().filter(|record| !optional(record)) {
        add(Name::of(record), record.at, false);
    }
    weighed
}

/// One verification as it is named in two places.
#[derive(Clone, Copy)]
struct Name<'a> {
    id: &'a Text,
    text: &'a Text,
}

impl<'a> Name<'a> {
    fn of(record: &'a Record) -> Self {
        Self {
            id: &record.id,
            text: &record.subject,
        }
    }

    /// Are both the same verification? By the words; an id alone names one too, but under the same id with other words
    /// (and other commands) stands another verification.
    fn same(self, other: Self) -> bool {
        let (mine, theirs) = (self.words(), other.words());
        let texts = !mine.is_empty() && mine == theirs;
        let shared_id = ids(self.id, self.text)
            .iter()
            .any(|id| ids(other.id, other.text).contains(id));
        texts || (shared_id && (mine.is_empty() || theirs.is_empty() || self.same_commands(other)))
    }

    /// The text without its id.
    fn words(self) -> String {
        leading_id(self.text).map_or_else(|| fold_sentence(self.text.as_str()), |(_, rest)| rest)
    }

    fn same_commands(self, other: Self) -> bool {
        let commands = |text: &'a Text| {
            code_spans(text.as_str())
                .into_iter()
                .map(|(_, span)| span)
                .collect::<Vec<_>>()
        };
        let mine = commands(self.text);
        let theirs: Vec<_> = code_spans(other.text.as_str())
            .into_iter()
            .map(|(_, span)| span)
            .collect();
        !mine.is_empty() && mine == theirs
    }
}

/// The verification lines of the checkpoint's record, if it is in shape.
pub(super) fn required_by_checkpoint(ledger: &Ledger) -> Vec<(Text, Place)> {
    let record = ledger
        .checkpoint
        .as_ref()
        .and_then(|checkpoint| checkpoint.record.as_ref());
    let Some((record, Ok(parts))) = record.map(|record| (record, record.parts())) else {
        return Vec::new();
    };
    parts
        .verification
        .into_iter()
        .map(|line| (line, record.at))
        .collect()
}

fn weigh_verification<'a>(
    name: Name<'_>,
    at: Place,
    required: bool,
    records: &'a [Record],
    baselines: &'a [Record],
) -> WeighedVerification<'a> {
    let mine: Vec<_> = records
        .iter()
        .filter(|record| Name::of(record).same(name))
        .collect();
    let baseline = baselines.iter().find(|baseline| {
        let own = Name::of(baseline);
        own.same(name) || mine.iter().any(|record| Name::of(record).same(own))
    });
    let standings: Vec<_> = mine
        .iter()
        .map(|record| verification_standing(record, baseline))
        .collect();
    let has = |standing: Standing| standings.contains(&standing);
    let standing = match (
        standings.is_empty(),
        has(Standing::Fails),
        has(Standing::Holds),
    ) {
        (true, _, _) => Standing::Missing,
        (false, true, true) => Standing::Conflicting,
        (false, true, false) => Standing::Fails,
        (false, false, _) if has(Standing::Unverified) => Standing::Unverified,
        (false, false, _) if has(Standing::Preexisting) => Standing::Preexisting,
        (false, false, _) => Standing::Holds,
    };
    WeighedVerification {
        name: name.text.clone(),
        id: name.id.clone(),
        records: mine,
        baseline,
        standing,
        at,
        required,
    }
}

/// A `PASS` that is the baseline's failure is none; a pre-existing failure needs a baseline that failed alike.
fn verification_standing(record: &Record, baseline: Option<&Record>) -> Standing {
    match record_standing(record) {
        Standing::Holds if hides_failure(record, baseline) => Standing::Preexisting,
        Standing::Preexisting if preexisting_problem(record, baseline).is_some() => Standing::Fails,
        standing => standing,
    }
}

/// Why a failure may not be called pre-existing.
pub(super) enum PreexistingProblem<'a> {
    /// No baseline with an observation.
    NoBaseline,
    /// The baseline did not fail.
    BaselinePassed,
    /// It failed otherwise.
    Differs(&'a Text),
}

pub(super) fn preexisting_problem<'a>(
    record: &Record,
    baseline: Option<&'a Record>,
) -> Option<PreexistingProblem<'a>> {
    let Some(baseline) = baseline.filter(|baseline| baseline.observed.names_something()) else {
        return Some(PreexistingProblem::NoBaseline);
    };
    match known(baseline.status.as_ref()) {
        Some(Status::Fail | Status::PreexistingFailure) => {}
        Some(Status::Pass | Status::Unverified) | None => {
            return Some(PreexistingProblem::BaselinePassed);
        }
    }
    let alike =
        fold_sentence(baseline.observed.as_str()) == fold_sentence(record.observed.as_str());
    (!alike).then_some(PreexistingProblem::Differs(&baseline.observed))
}

/// Does a passing record show what the failing baseline showed, or speak of a pre-existing failure?
pub(super) fn hides_failure(record: &Record, baseline: Option<&Record>) -> bool {
    let failed = |baseline: &Record| {
        matches!(
            known(baseline.status.as_ref()),
            Some(Status::Fail | Status::PreexistingFailure)
        )
    };
    let alike = |baseline: &Record| {
        failed(baseline)
            && fold_sentence(baseline.observed.as_str()) == fold_sentence(record.observed.as_str())
    };
    let observed = fold(record.observed.as_str());
    let denied = [
        "no pre existing",
        "no preexisting",
        "기존 실패 없",
        "기존 실패는 없",
        "기존 실패가 없",
    ]
    .iter()
    .any(|words| observed.contains(words));
    let told = [
        "pre existing failure",
        "preexisting failure",
        "fails as before",
        "기존 실패",
    ]
    .iter()
    .any(|words| observed.contains(words));
    baseline.is_some_and(alike) || (told && !denied)
}
