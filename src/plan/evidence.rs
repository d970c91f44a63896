//! The evidence gate on one head: which ledgers it has, what they carry, and what is held against a merge.
//!
//! Pure: ledgers come in as texts. INVARIANT: a ledger that could not be read, and a changed file that is not known,
//! never pass; no status or disposition that a ledger declares is believed.

mod check;
mod find;

pub use find::{LONGEST_LEDGER, MOST_LEDGERS, TRAILER, Wanted};

pub(super) use check::check_run;

use crate::domain::{
    CheckConclusion, CheckRunId, EvidenceEntry, EvidenceState, Facts, Known, LedgerEntry, Quadrant,
};
use crate::evidence::{
    Context, Disposition, Judgement, Ledger, Risk, Section, duplicates, json, judge, markdown,
    scope,
};
use crate::policy::{EvidenceMode, HighRisk};
use crate::rules::{FileRow, Verdict, clipped};
use std::collections::BTreeSet;

/// The check-run of the evidence gate.
pub const EVIDENCE_CHECK_NAME: &str = "evidence-gate";

/// Files outside the scope that are named one by one where room is scarce.
const NAMED: usize = 50;
/// Verifications that are kept one by one; the record of a decision Issue names fewer.
const KEPT: usize = 100;

/// One ledger of the head, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRead {
    /// Its path at the head.
    pub path: String,
    /// Its text.
    pub text: LedgerText,
}

/// The text of a ledger, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerText {
    /// As it stands at the head.
    Text(String),
    /// It is there for good that it cannot be used: absent, too long, no text.
    Unusable(String),
    /// It could not be read this time.
    Unknown(String),
}

/// Everything the evidence is judged by.
#[derive(Clone, Copy)]
pub struct EvidenceInput<'a> {
    /// Never [`EvidenceMode::Off`]: then there is no evidence.
    pub mode: EvidenceMode,
    /// What was read of the pull request.
    pub facts: &'a Facts,
    /// What was decided.
    pub verdict: &'a Verdict,
    /// What raises the risk.
    pub high_risk: &'a HighRisk,
    /// What was to be read.
    pub wanted: &'a Wanted,
    /// What was read, in the order of [`Wanted::paths`].
    pub ledgers: &'a [LedgerRead],
    /// What is remembered of the same head, if anything is.
    pub prior: Option<&'a EvidenceState>,
}

/// The evidence of one head, judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    mode: EvidenceMode,
    risk: Risk,
    because: Vec<String>,
    ledgers: Vec<JudgedLedger>,
    outside: Vec<String>,
    verifications: Vec<String>,
    effective: Option<Disposition>,
    /// What is wrong beside the ledgers that were read.
    problems: Vec<String>,
    against: Known<Vec<String>>,
}

/// One ledger, judged.
#[derive(Debug, Clone, PartialEq, Eq)]
struct JudgedLedger {
    path: String,
    digest: Option<String>,
    outcome: Result<Carried, String>,
}

/// What a ledger declares and carries.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Carried {
    declared: Option<String>,
    judgement: Judgement,
}

impl Evidence {
    /// Judges the ledgers of a head. Dear for many files and long ledgers: not for an async thread.
    #[must_use]
    pub fn judge(input: &EvidenceInput<'_>) -> Self {
        let (domains, because) = high_risk(input);
        let read: Vec<(&LedgerRead, Result<Ledger, String>)> =
            input.ledgers.iter().map(|one| (one, parse(one))).collect();
        let own: Vec<&str> = input.ledgers.iter().map(|one| one.path.as_str()).collect();
        let changed = find::changed(input.facts, &own);
        let outside = outside_all(&read, &changed);
        let context = Context {
            quadrant: Some(input.verdict.quadrant()),
            high_risk_domains: &domains,
            changed_files: Some(&outside),
            committed_path: None,
        };
        let ledgers = judged(&read, &context);
        let mut evidence = Self {
            mode: input.mode,
            risk: floor(input.verdict.quadrant(), &domains),
            because,
            outside: outside.iter().map(|path| (*path).to_owned()).collect(),
            verifications: verifications(&ledgers),
            effective: None,
            problems: problems(input, ledgers.is_empty()),
            against: Known::Known(Vec::new()),
            ledgers,
        };
        let carried = evidence.ledgers.iter().filter_map(JudgedLedger::carried);
        evidence.risk = carried.fold(evidence.risk, |risk, one| risk.max(one.judgement.risk));
        evidence.effective = evidence.disposition();
        evidence.against = evidence.held(input);
        if let (Known::Unknown(_), Some(prior)) = (&evidence.against, input.prior) {
            // A ledger at a commit does not change: what it asked for when it could be read, it still asks for.
            evidence.verifications.clone_from(&prior.verifications);
        }
        evidence
    }

    /// Mandatory verifications of the ledgers, in their words.
    #[must_use]
    pub fn verifications(&self) -> &[String] {
        &self.verifications
    }

    /// What is held against the head, for the merge gate; empty: it passes.
    #[must_use]
    pub fn against(&self) -> &Known<Vec<String>> {
        &self.against
    }

    /// Was everything read that there is to read?
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.against.known().is_some()
    }

    fn passes(&self) -> bool {
        self.against.known().is_some_and(Vec::is_empty)
    }

    /// Is there something to say? A change that needs no ledger and has none is left in peace, unless people may
    /// require the check-run.
    pub(super) fn speaks(&self) -> bool {
        self.mode == EvidenceMode::Required || !self.ledgers.is_empty() || !self.passes()
    }

    fn conclusion(&self) -> CheckConclusion {
        match (self.passes(), self.mode) {
            (true, _) => CheckConclusion::Success,
            (false, EvidenceMode::Required) => CheckConclusion::Failure,
            (false, EvidenceMode::Advisory | EvidenceMode::Off) => CheckConclusion::Neutral,
        }
    }

    /// For the audit entry; `None` when there is nothing to say.
    pub(super) fn entry(&self) -> Option<EvidenceEntry> {
        self.speaks().then(|| EvidenceEntry {
            mode: match self.mode {
                EvidenceMode::Required => "required",
                EvidenceMode::Advisory | EvidenceMode::Off => "advisory",
            }
            .to_owned(),
            effective: self.effective.map(|word| word.to_string()),
            risk: self.risk.to_string(),
            risk_because: self.because.clone(),
            ledgers: self.ledgers.iter().map(JudgedLedger::entry).collect(),
            outside_scope: self.outside.iter().take(NAMED).cloned().collect(),
            outside_scope_count: u64::try_from(self.outside.len()).unwrap_or(u64::MAX),
            against: self.against.clone(),
        })
    }

    /// To be remembered; `check_run` is ours on the same head, `says` the digest of what it says.
    pub(super) fn state(
        &self,
        facts: &Facts,
        check_run: Option<CheckRunId>,
        says: Option<String>,
    ) -> EvidenceState {
        EvidenceState {
            head_sha: facts.head_sha.clone(),
            against: self.against.clone(),
            verifications: self.verifications.clone(),
            check_run,
            check_digest: says,
        }
    }

    /// The disposition of the whole: of what permits least.
    fn disposition(&self) -> Option<Disposition> {
        let of_ledgers = self.ledgers.iter().map(|one| match &one.outcome {
            Ok(carried) => carried.judgement.effective,
            Err(_) => Disposition::BlockedEvidence,
        });
        let missing = self.lacks_ledger() || !self.problems.is_empty();
        let missing = missing.then_some(Disposition::BlockedEvidence);
        of_ledgers.chain(missing).min_by_key(|one| one.permits())
    }

    fn lacks_ledger(&self) -> bool {
        self.ledgers.is_empty() && self.risk == Risk::High
    }

    fn held(&self, input: &EvidenceInput<'_>) -> Known<Vec<String>> {
        let unread = input.ledgers.iter().filter_map(|one| match &one.text {
            LedgerText::Unknown(cause) => Some(format!("`{}`: {}", one.path, clipped(cause, 200))),
            LedgerText::Text(_) | LedgerText::Unusable(_) => None,
        });
        let unknown: Vec<String> = find::unknown(input.facts)
            .into_iter()
            .chain(unread)
            .collect();
        if !unknown.is_empty() {
            return Known::Unknown(unknown.join("; "));
        }
        let lacks = self.lacks_ledger().then(|| {
            format!(
                "a change of high risk ({}) has no evidence ledger",
                self.because.join(", ")
            )
        });
        let ledgers = self.ledgers.iter().filter_map(JudgedLedger::against);
        let outside = self
            .outside
            .iter()
            .take(NAMED)
            .map(|path| format!("`{}` is outside the authorized scope", clipped(path, 300)));
        let more = self.outside.len().saturating_sub(NAMED);
        let more =
            (more > 0).then(|| format!("{more} more files are outside the authorized scope"));
        Known::Known(
            lacks
                .into_iter()
                .chain(self.problems.iter().cloned())
                .chain(ledgers)
                .chain(outside)
                .chain(more)
                .collect(),
        )
    }
}

impl JudgedLedger {
    fn carried(&self) -> Option<&Carried> {
        self.outcome.as_ref().ok()
    }

    fn entry(&self) -> LedgerEntry {
        let carried = self.carried();
        LedgerEntry {
            path: self.path.clone(),
            digest: self.digest.clone(),
            effective: carried.map(|one| one.judgement.effective.to_string()),
            findings: carried.map(Carried::codes).unwrap_or_default(),
        }
    }

    /// Why this ledger does not permit the merge, in one line.
    fn against(&self) -> Option<String> {
        let path = clipped(&self.path, 200);
        let carried = match &self.outcome {
            Ok(carried) => carried,
            Err(problem) => return Some(format!("`{path}` {}", clipped(problem, 300))),
        };
        let codes = carried.codes();
        if carried.permits_merge() && codes.is_empty() {
            return None;
        }
        let effective = carried.judgement.effective;
        let found = if codes.is_empty() {
            "the named verification is outstanding".to_owned()
        } else {
            codes.join(", ")
        };
        Some(format!("`{path}` carries `{effective}`: {found}"))
    }
}

impl Carried {
    /// A merge ends the work: it is permitted when completion is earned, declared or not, and at low risk when the
    /// work is allowed.
    fn permits_merge(&self) -> bool {
        match self.judgement.effective {
            Disposition::Complete | Disposition::Allow => true,
            Disposition::AllowWithVerification => {
                self.judgement.conclusion == Disposition::Complete
            }
            Disposition::BlockedClarification
            | Disposition::BlockedEvidence
            | Disposition::Checkpoint => false,
        }
    }

    fn codes(&self) -> Vec<String> {
        let codes: BTreeSet<_> = self.judgement.findings.iter().map(|one| one.code).collect();
        codes
            .into_iter()
            .map(|code| code.code().to_owned())
            .collect()
    }
}

/// The high-risk domains of the change, and all that gave its risk. Files that are harmless by themselves (a comment, a
/// document, a new test) belong to no domain.
fn high_risk(input: &EvidenceInput<'_>) -> (Vec<&'static str>, Vec<String>) {
    let mut scratch = Vec::new();
    let mut domains: Vec<&'static str> = Vec::new();
    let harmful = |row: &&FileRow| row.axes.quadrant() != Quadrant::A;
    for row in input.verdict.files().iter().filter(harmful) {
        for path in row.previous_path.iter().chain([&row.path]) {
            for domain in input.high_risk.of(path, &mut scratch) {
                if !domains.contains(&domain) {
                    domains.push(domain);
                }
            }
        }
    }
    let mut because = vec![format!("quadrant {}", input.verdict.quadrant())];
    because.extend(domains.iter().map(|domain| (*domain).to_owned()));
    (domains, because)
}

/// What is named and cannot be read, and lists that GitHub cuts off. Without a ledger a list that was cut off is told by
/// the verdict, which is D.
fn problems(input: &EvidenceInput<'_>, without_ledger: bool) -> Vec<String> {
    let cut = if without_ledger {
        Vec::new()
    } else {
        find::cut_off(input.facts)
    };
    input.wanted.problems.iter().cloned().chain(cut).collect()
}

fn floor(quadrant: Quadrant, domains: &[&str]) -> Risk {
    if !domains.is_empty() {
        return Risk::High;
    }
    match quadrant {
        Quadrant::A => Risk::Low,
        Quadrant::B | Quadrant::C => Risk::Medium,
        Quadrant::D => Risk::High,
    }
}

fn parse(read: &LedgerRead) -> Result<Ledger, String> {
    let text = match &read.text {
        LedgerText::Text(text) => text,
        LedgerText::Unusable(problem) => return Err(problem.clone()),
        LedgerText::Unknown(cause) => return Err(format!("could not be read: {cause}")),
    };
    let ledger = if find::ending(&read.path) == "json" {
        json::read(text).map_err(|error| format!("is {error}"))?
    } else {
        markdown::read(text)
    };
    let says_something = Section::ALL.iter().any(|section| ledger.says(*section));
    says_something
        .then_some(ledger)
        .ok_or_else(|| "has no section of a ledger".to_owned())
}

/// The changed files that no ledger of the head authorizes; none without a ledger, where there is no scope to compare.
fn outside_all<'a>(
    read: &[(&LedgerRead, Result<Ledger, String>)],
    changed: &'a [String],
) -> Vec<&'a str> {
    let mut ledgers = read.iter().filter_map(|(_, ledger)| ledger.as_ref().ok());
    let mut left: Vec<&str> = changed.iter().map(String::as_str).collect();
    let Some(first) = ledgers.next() else {
        return Vec::new();
    };
    for ledger in std::iter::once(first).chain(ledgers) {
        let outside: BTreeSet<String> = scope::outside(ledger, &left).into_iter().collect();
        left.retain(|path| outside.contains(*path));
    }
    left
}

fn judged(
    read: &[(&LedgerRead, Result<Ledger, String>)],
    context: &Context<'_>,
) -> Vec<JudgedLedger> {
    let mut ledgers: Vec<JudgedLedger> = read
        .iter()
        .map(|(one, ledger)| JudgedLedger {
            path: one.path.clone(),
            digest: match &one.text {
                LedgerText::Text(text) => Some(format!("sha256:{}", super::key::sha256(text))),
                LedgerText::Unusable(_) | LedgerText::Unknown(_) => None,
            },
            outcome: ledger.as_ref().map_err(Clone::clone).map(|ledger| Carried {
                declared: ledger
                    .disposition
                    .as_ref()
                    .map(|word| word.as_str().to_owned()),
                judgement: judge(
                    ledger,
                    &Context {
                        committed_path: Some(&one.path),
                        ..*context
                    },
                ),
            }),
        })
        .collect();
    let active: Vec<(usize, &str, &Ledger)> = read
        .iter()
        .enumerate()
        .filter(|(_, (one, _))| one.path.contains(".evidence-gated/active/"))
        .filter_map(|(at, (one, ledger))| Some((at, one.path.as_str(), ledger.as_ref().ok()?)))
        .collect();
    let pairs: Vec<_> = active.iter().map(|(_, path, one)| (*path, *one)).collect();
    for (index, finding) in duplicates(&pairs) {
        let at = active.get(index).map(|(at, ..)| *at);
        let one = at.and_then(|at| ledgers.get_mut(at));
        if let Some(Ok(carried)) = one.map(|one| one.outcome.as_mut()) {
            carried.judgement.findings.push(finding);
        }
    }
    ledgers
}

fn verifications(ledgers: &[JudgedLedger]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let carried = ledgers.iter().filter_map(JudgedLedger::carried);
    for name in carried.flat_map(|one| &one.judgement.mandatory_verifications) {
        let name = clipped(name.as_str(), 300);
        if !all.contains(&name) {
            all.push(name);
        }
    }
    let more = all.len().saturating_sub(KEPT);
    if more > 0 {
        all.truncate(KEPT);
        all.push(format!("{more} more, named in the evidence ledgers"));
    }
    all
}

#[cfg(test)]
mod tests;
