//! What the evidence gate says of one head: as it stands in the audit entry, and as it is remembered.
//!
//! Plain data in the words of the log. INVARIANT: evidence that could not be read is `Unknown` with its cause, never
//! empty.

use super::{CheckRunId, Known, Sha};
use serde::{Deserialize, Serialize};

/// The evidence as it stands in the audit entry of a classification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceEntry {
    /// `advisory` or `required`.
    pub mode: String,
    /// The disposition of the whole: of the ledger that permits least; `null` where there is none and none is needed.
    pub effective: Option<String>,
    /// `LOW`, `MEDIUM` or `HIGH`: what the change carries, or a ledger says where that is more.
    pub risk: String,
    /// Quadrant and high-risk domains that gave this risk.
    pub risk_because: Vec<String>,
    /// The ledgers of the head, in the order in which they were read.
    pub ledgers: Vec<LedgerEntry>,
    /// Changed files outside the authorized scope; the first fifty.
    pub outside_scope: Vec<String>,
    /// How many there are.
    pub outside_scope_count: u64,
    /// What is held against the head, one line each; empty: it passes.
    pub against: Known<Vec<String>>,
}

/// One ledger in an audit entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// Its path at the head.
    pub path: String,
    /// `sha256:` and the digest of its text; `null` when it could not be read.
    pub digest: Option<String>,
    /// The disposition that its content carries; `null` when it is no ledger.
    pub effective: Option<String>,
    /// Codes of what was found, each once.
    pub findings: Vec<String>,
}

/// What is remembered of the evidence on one head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceState {
    /// The head it is about.
    pub head_sha: Sha,
    /// What is held against it, one line each; empty: it passes.
    pub against: Known<Vec<String>>,
    /// Mandatory verifications of its ledgers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verifications: Vec<String>,
    /// Our check-run `evidence-gate` on that head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_run: Option<CheckRunId>,
    /// Digest of what that check-run says; `None`: it says nothing, or it must be said again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_digest: Option<String>,
}
