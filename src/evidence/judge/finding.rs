//! Findings: a stable code, a place, what is wrong and the way out.
//!
//! A code is written once, never changes its meaning, and is the same word in cases, docs, JSON and SARIF.

use crate::evidence::text::Place;
use serde::{Serialize, Serializer};
use std::fmt;

/// How bad a finding is. Every finding makes the lint fail; the difference is what it means for the disposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The record is poorer than it should be.
    Warning,
    /// The record says what its content does not carry, or a rule of the protocol is broken.
    Error,
}

macro_rules! codes {
    ($($member:ident $code:literal $name:literal $severity:ident $says:literal;)+) => {
        /// What kind of finding it is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $says] $member,)+
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &'static [Self] = &[$(Self::$member),+];

            /// The stable code, such as `EG011`.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Self::$member => $code,)+ }
            }

            /// The short name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$member => $name,)+ }
            }

            /// How bad it is.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Self::$member => Severity::$severity,)+ }
            }

            /// One sentence for people.
            #[must_use]
            pub fn says(self) -> &'static str {
                match self { $(Self::$member => $says,)+ }
            }
        }
    };
}

codes! {
    MissingSection "EG001" "missing-section" Error "A section is missing or says nothing.";
    UnknownPhase "EG002" "unknown-phase" Error "The operational phase is not one of the four.";
    UnknownDisposition "EG003" "unknown-disposition" Error "The disposition is not one of the six.";
    PhaseAsDisposition "EG004" "phase-as-disposition" Error "A phase stands where a disposition belongs.";
    DispositionAsPhase "EG005" "disposition-as-phase" Error "A disposition stands where a phase belongs.";
    UnknownStatus "EG006" "unknown-status" Error "A status is missing or not in the vocabulary; it counts as `UNVERIFIED`.";
    UnknownEvidenceType "EG007" "unknown-evidence-type" Error "Evidence is neither `static` nor `runtime`.";
    UnknownRisk "EG008" "unknown-risk" Error "The risk is missing or not one of the three; it counts as `HIGH`.";
    RiskLowered "EG009" "risk-lowered" Error "The ledger's risk is below what the change carries.";
    RiskWithoutReason "EG010" "risk-without-reason" Warning "The risk is classified without a reason.";
    PassWithoutObservation "EG011" "pass-without-observation" Error "A `PASS` without observed fact, artifact, method or limitation counts as `UNVERIFIED`.";
    RuntimeClaimStaticEvidence "EG012" "runtime-claim-static-evidence" Error "A runtime claim is backed by static evidence alone.";
    ClaimWithoutRecord "EG013" "claim-without-record" Error "A mandatory claim has no evidence record.";
    IncompleteClaim "EG014" "incomplete-claim" Error "An entry of the contract lacks required evidence or the consequence.";
    ClaimBeyondRecord "EG015" "claim-beyond-record" Error "A claim is called `PASS` and its records do not carry it.";
    PreexistingWithoutBaseline "EG016" "preexisting-without-baseline" Error "A failure is called pre-existing and no baseline was captured.";
    PreexistingDiffers "EG017" "preexisting-differs" Error "A failure is called pre-existing and differs from the baseline.";
    PreexistingAsPass "EG018" "preexisting-as-pass" Error "A pre-existing failure is shown as `PASS`.";
    CompleteNotEarned "EG019" "complete-not-earned" Error "`COMPLETE` is declared and not carried by the content.";
    VerificationReplaced "EG020" "verification-replaced" Error "A required verification was replaced by another.";
    VerificationMissing "EG021" "verification-missing" Error "A required verification has no record.";
    BaselineNotCaptured "EG022" "baseline-not-captured" Warning "A mandatory verification has no baseline from before the change.";
    HighRiskWithoutCheckpoint "EG023" "high-risk-without-checkpoint" Error "Work of high risk goes on without a checkpoint record.";
    CheckpointShape "EG024" "checkpoint-shape" Error "The checkpoint record is not in the exact shape.";
    GeneralAssent "EG025" "general-assent" Error "The approval is a phrase of general assent.";
    ApprovalNotTheRecord "EG026" "approval-not-the-record" Error "The approval does not follow the record line for line.";
    OutsideScope "EG027" "outside-scope" Error "A file was changed outside the authorized scope.";
    DuplicateLedger "EG028" "duplicate-ledger" Error "Two active ledgers are about one change.";
    ActiveCommitted "EG029" "active-committed" Error "An active ledger is committed.";
    FinalNotFinal "EG030" "final-not-final" Error "The final disposition is not a final one.";
    DispositionOverclaimed "EG031" "disposition-overclaimed" Error "The declared disposition permits more than the content carries.";
    WorkWithoutAuthority "EG032" "work-without-authority" Error "The change is being executed without a disposition that permits it.";
    AssertionAsEvidence "EG033" "assertion-as-evidence" Error "An assertion or assumption stands in for evidence.";
    DuplicateSection "EG034" "duplicate-section" Warning "A section stands twice.";
    ChangeIdMismatch "EG035" "change-id-mismatch" Warning "The change id does not fit the file's name.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What kind.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What is wrong, in the ledger's own words.
    pub message: String,
    /// The way out.
    pub hint: String,
}

impl Finding {
    /// A finding at a place; no place is the start of the file.
    pub(super) fn new(
        code: Code,
        at: Place,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity: code.severity(),
            line: at.line.max(1),
            column: at.column.max(1),
            message: message.into(),
            hint: hint.into(),
        }
    }
}
