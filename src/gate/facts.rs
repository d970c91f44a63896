//! What only the merge gate asks for, beside the facts the rules look at.

use crate::domain::{CheckRunFact, Known, MergeMethod, Sha, StatusFact};

/// What was read for the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateFacts {
    /// The head when these facts were read; another one than that of the verdict makes everything unknown.
    pub head_sha: Sha,
    /// Is the pull request open?
    pub open: bool,
    /// Is it a draft?
    pub draft: bool,
    /// Is the base repository archived (read-only)?
    pub archived: bool,
    /// Does it merge without conflict? GitHub computes that after a push and does not know it for a while.
    pub mergeable: Known<bool>,
    /// The repository's default branch.
    pub default_branch: Known<String>,
    /// Commits of the base branch's tip that the head does not contain (`behind_by` of the comparison).
    pub behind_by: Known<u64>,
    /// The check-runs on the head: of one name in one check suite the newest, as `filter=latest` gives them, so that
    /// a repeated run replaces the failed one. One name in several suites stays several.
    pub check_runs: Known<Vec<CheckRunFact>>,
    /// The newest commit status of each context on the head.
    pub statuses: Known<Vec<StatusFact>>,
    /// The ways the repository allows to merge.
    pub allowed_methods: Known<Vec<MergeMethod>>,
    /// May this installation write contents? `false`: every merge would be refused.
    pub may_write: Known<bool>,
    /// Login of the account that switched auto-merge on; `None` when it is off.
    pub auto_merge: Known<Option<String>>,
    /// Is it in the merge queue?
    pub queued: Known<bool>,
    /// What the evidence gate holds against the ledger; empty when it passes.
    pub evidence: Known<Vec<String>>,
}
