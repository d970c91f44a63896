//! The labels this program uses, as it creates them where they are missing.

use crate::domain::{Choice, IssueKind, LabelSpec};

/// A label: its name, colour and description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// At most 50 characters.
    pub name: &'static str,
    /// Six hexadecimal digits.
    pub color: &'static str,
    /// At most 100 characters.
    pub description: &'static str,
}

impl Label {
    const fn new(name: &'static str, color: &'static str, description: &'static str) -> Self {
        Self {
            name,
            color,
            description,
        }
    }

    /// As an effect carries it.
    #[must_use]
    pub fn spec(&self) -> LabelSpec {
        LabelSpec {
            name: self.name.to_owned(),
            color: self.color.to_owned(),
            description: self.description.to_owned(),
        }
    }
}

/// A D decision waits for an owner.
pub const PENDING_OWNER: Label = Label::new(
    "decision:pending-owner",
    "d93f0b",
    "Irreversible and critical: waits for an owner's answer",
);
/// The trail of a B decision.
pub const APPROVED_B_QUADRANT: Label = Label::new(
    "decision:auto-approved-critical-reversible",
    "0e8a16",
    "Approved by itself: critical, but reversible",
);
/// The trail of a C decision.
pub const APPROVED_C_QUADRANT: Label = Label::new(
    "decision:auto-approved-irreversible-non-critical",
    "1d76db",
    "Approved by itself: irreversible, but non-critical",
);
/// An owner put the answer off.
pub const DEFERRED: Label = Label::new(
    "decision:deferred",
    "fbca04",
    "An owner deferred the answer; nothing is approved",
);
/// An owner approved as proposed.
pub const APPROVED_A: Label = Label::new(
    "decision:approved-A",
    "0e8a16",
    "An owner approved it as proposed",
);
/// An owner approved the alternate.
pub const APPROVED_B: Label = Label::new(
    "decision:approved-B",
    "0e8a16",
    "An owner approved the alternate in the description",
);
/// An owner rejected.
pub const REJECTED: Label = Label::new(
    "decision:rejected",
    "b60205",
    "An owner rejected it; the pull request is closed",
);
/// The ballot was changed after it was sealed.
pub const INTEGRITY_FAILED: Label = Label::new(
    "decision:inbox-integrity-failed",
    "b60205",
    "The ballot was changed after it was posted; no answer on it counts",
);
/// An approval came for a head that is no longer the head.
pub const STALE_APPROVAL: Label = Label::new(
    "decision:stale-approval",
    "fbca04",
    "The approval was for another head and does not count",
);
/// A pull request that takes an earlier merge back.
pub const AUTO_REVERT: Label = Label::new(
    "decision:auto-revert",
    "5319e7",
    "Takes an earlier merge back; counts only when set by an owner or the bot",
);
/// A merge is looked at again.
pub const POST_MERGE_REVALIDATION: Label = Label::new(
    "decision:post-merge-revalidation",
    "5319e7",
    "A merged change is checked again",
);
/// The author asks for the merge.
pub const READY_TO_MERGE: Label = Label::new(
    "ready-to-merge",
    "0e8a16",
    "Merge it when all conditions of the merge gate hold",
);

/// Every label.
pub const ALL: [Label; 12] = [
    PENDING_OWNER,
    APPROVED_B_QUADRANT,
    APPROVED_C_QUADRANT,
    DEFERRED,
    APPROVED_A,
    APPROVED_B,
    REJECTED,
    INTEGRITY_FAILED,
    STALE_APPROVAL,
    AUTO_REVERT,
    POST_MERGE_REVALIDATION,
    READY_TO_MERGE,
];

/// The label of an Issue.
#[must_use]
pub fn of_issue(kind: IssueKind) -> Label {
    match kind {
        IssueKind::PendingOwner => PENDING_OWNER,
        IssueKind::AuditB => APPROVED_B_QUADRANT,
        IssueKind::AuditC => APPROVED_C_QUADRANT,
        IssueKind::PostMerge => POST_MERGE_REVALIDATION,
    }
}

/// The label of an answer.
#[must_use]
pub fn of_choice(choice: Choice) -> Label {
    match choice {
        Choice::ApproveA => APPROVED_A,
        Choice::ApproveB => APPROVED_B,
        Choice::Defer => DEFERRED,
        Choice::Reject => REJECTED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_fit_github() {
        for label in ALL {
            assert!(label.name.chars().count() <= 50, "{}", label.name);
            assert!(label.description.chars().count() <= 100, "{}", label.name);
            assert!(label.color.len() == 6 && label.color.bytes().all(|b| b.is_ascii_hexdigit()));
        }
    }
}
