//! What the server remembers of one pull request between evaluations.

use super::{
    Account, AfterMerge, CheckRunId, CommentId, DeliveryId, EvidenceState, GateMemory, IssueNumber,
    Known, PullNumber, Quadrant, RepoRef, Sha, Timestamp,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The place of an entry in the audit log, enough to find it and to see that it was not replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// Its sequence number, from 1.
    pub seq: u64,
    /// `sha256:` and 64 hexadecimal digits.
    pub hash: String,
}

/// What an Issue of ours is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueKind {
    /// A D decision that waits for an owner.
    PendingOwner,
    /// The trail of a B decision.
    AuditB,
    /// The trail of a C decision.
    AuditC,
    /// A merged commit that fails its checks on the base branch.
    PostMerge,
}

/// One open Issue of ours about a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueRef {
    /// Where it stands.
    pub repo: RepoRef,
    /// Its number there.
    pub number: IssueNumber,
    /// What it is for.
    pub kind: IssueKind,
    /// Our key of it: the same key is never opened twice.
    pub key: String,
    /// The head SHA it speaks about.
    pub head_sha: Sha,
    /// The nonce of its markers (D Issues).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
    /// When it was opened, by GitHub's clock.
    pub opened_at: Timestamp,
}

/// What an owner answered to a D decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Approved as proposed.
    ApproveA,
    /// Approved with the alternate in the description.
    ApproveB,
    /// Deferred: nothing is approved, the question stays.
    Defer,
    /// Rejected: the pull request is closed.
    Reject,
}

impl Choice {
    /// The word as it stands in the log.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ApproveA => "approve_a",
            Self::ApproveB => "approve_b",
            Self::Defer => "defer",
            Self::Reject => "reject",
        }
    }

    /// Does it open the gate?
    #[must_use]
    pub fn approves(self) -> bool {
        match self {
            Self::ApproveA | Self::ApproveB => true,
            Self::Defer | Self::Reject => false,
        }
    }
}

/// The answer that was honoured last, and what exactly it covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// What was answered.
    pub choice: Choice,
    /// The signal it came from, such as `comment/5000000001/approve_a`: the same signal is honoured once.
    pub signal: String,
    /// Digest of what was asked (head, base branch, what decided): an answer to another question does not count.
    pub covers: String,
}

/// What is remembered of the inbox beside the open Issue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InboxMemory {
    /// The question that was asked last, of a D.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// The D Issue that ended with an approval which is still in force: a later word on it still counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ballot: Option<IssueRef>,
    /// Digest of what the ballot showed when its answers were read last; the tick compares it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// Keys of the comments that were left on the ballot, so that each thing is said once.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub said: BTreeSet<String>,
    /// How many signals of people who may not answer were seen on the ballot: each is counted once.
    pub ignored: usize,
    /// Was the open D Issue closed by a person, without an answer?
    pub closed_by_hand: bool,
    /// Does the B or C Issue stay open for good, because an owner has spoken there?
    pub stays: bool,
}

/// A question that was put to the owners.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Digest of the question.
    pub covers: String,
    /// When all of it was on GitHub, by this server's clock: a button pressed before that answered something else.
    /// `None` while it is being put there.
    pub at: Option<Timestamp>,
}

/// A button of a check-run of ours, as somebody pressed it. Only the webhook tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Press {
    /// The delivery that told of it.
    pub delivery: DeliveryId,
    /// The check-run's `external_id`: repository, pull request and head.
    pub external_id: String,
    /// The button's identifier.
    pub identifier: String,
    /// Who pressed it.
    pub by: Account,
    /// When it was received, by this server's clock.
    pub at: Timestamp,
}

/// An edit of a comment. Only the webhook tells who made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentEdit {
    /// The comment.
    pub comment: CommentId,
    /// The comment's `updated_at` after the edit.
    pub updated_at: Timestamp,
    /// Who edited.
    pub by: Account,
}

/// The state of one pull request as the server last left it.
///
/// Kept by the store as JSON; a member that is added must have a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullState {
    /// The base repository.
    pub repo: RepoRef,
    /// The number.
    pub number: PullNumber,
    /// Its title when it was last judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The head SHA last seen.
    pub head_sha: Sha,
    /// When it became the head, by this server's knowledge.
    pub head_since: Timestamp,
    /// A digest of all that the pull request itself showed when it was last judged in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The verdict on `head_sha`, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quadrant: Option<Quadrant>,
    /// Digest of the last decision (head, base, votes, policy): equal digests say the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The audit entry of that decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// Our check-run on `head_sha`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_run: Option<CheckRunId>,
    /// Digest of what that check-run says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_digest: Option<String>,
    /// Our open Issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<IssueRef>,
    /// Why the Issue that should be open is not (Issues switched off, no permission); retried by the tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue_refused: Option<String>,
    /// The owner's answer that was honoured last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<Answered>,
    /// What is remembered of the inbox.
    #[serde(default)]
    pub inbox: InboxMemory,
    /// What the evidence gate says of `head_sha`; `None`: it is off, or has not looked yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceState>,
    /// What is remembered of the merge gate.
    #[serde(default)]
    pub gate: GateMemory,
    /// Is the pull request closed or merged?
    #[serde(default)]
    pub closed: bool,
    /// What is watched of its merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_merge: Option<AfterMerge>,
}

impl PullState {
    /// What the evidence gate holds against a head, for the merge gate; empty: it passes. Unknown when that head was
    /// not looked at.
    #[must_use]
    pub fn evidence_against(&self, head: &Sha) -> Known<Vec<String>> {
        match &self.evidence {
            Some(evidence) if evidence.head_sha == *head => evidence.against.clone(),
            Some(_) | None => Known::Unknown("the evidence of this head was not looked at".into()),
        }
    }
}
