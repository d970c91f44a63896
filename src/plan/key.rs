//! Keys and digests: what is found again, and what counts as the same decision.

use crate::domain::{IssueKind, PullNumber, RepoId, Sha};
use sha2::{Digest, Sha256};

/// Hexadecimal SHA-256 over parts, each with its length before it.
pub(crate) fn digest(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    hex::encode(hasher.finalize())
}

/// Hexadecimal SHA-256 of a text.
pub(crate) fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

fn short(digest: &str) -> &str {
    digest.get(..16).unwrap_or(digest)
}

/// The key of an Issue: what it is about, what it asks, and the decision that opened it.
pub(crate) fn issue(
    repo: RepoId,
    number: PullNumber,
    kind: IssueKind,
    covers: &str,
    decision: &str,
) -> String {
    let letter = match kind {
        IssueKind::PendingOwner => "d",
        IssueKind::AuditB => "b",
        IssueKind::AuditC => "c",
        IssueKind::PostMerge => "m",
    };
    format!(
        "{repo}/{number}/{letter}/{}/{}",
        short(covers),
        short(decision)
    )
}

/// Does the Issue with this key ask exactly this?
pub(crate) fn asks(key: &str, covers: &str) -> bool {
    key.split('/').nth(3) == Some(short(covers))
}

/// The key of the status comment: one a pull request, edited in place.
pub(crate) fn gate(repo: RepoId, number: PullNumber) -> String {
    format!("{repo}/{number}/gate")
}

/// The check-run's `external_id`.
#[must_use]
pub fn check_run(repo: RepoId, number: PullNumber, head: &Sha) -> String {
    format!("{repo}/{number}/{head}")
}

/// The `external_id` of the check-run of the evidence gate.
#[must_use]
pub fn evidence_check_run(repo: RepoId, number: PullNumber, head: &Sha) -> String {
    format!("{repo}/{number}/{head}/evidence")
}
