//! May a merged commit that broke the base be reverted by a pull request of ours?
//!
//! INVARIANT: only a commit that is proved to have at most one parent: which parent of a merge is the mainline is for
//! a person to say. The revert passes the normal gate like every other pull request.

use super::revalidation::Revalidation;
use crate::domain::{Known, Sha};
use crate::policy::Policy;
use crate::rules::clipped;

/// The label of the revert pull request.
pub const LABEL: &str = "decision:auto-revert";

/// The commit that would be reverted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The commit on the base branch.
    pub sha: Sha,
    /// Its parents, as git has them.
    pub parents: Known<Vec<Sha>>,
    /// Did a pull request of ours that reverts another bring it? Unknown counts as yes.
    pub is_revert: Known<bool>,
}

/// What to do about a merged commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revert {
    /// Nothing: it did not fail.
    NotNeeded,
    /// The Issue alone, and why no pull request.
    IssueOnly(String),
    /// The Issue, and a pull request that reverts this commit.
    OpenPull {
        /// The commit to revert.
        target: Sha,
    },
}

/// Decides about one merged commit.
#[must_use]
pub fn judge(outcome: &Revalidation, target: &Target, policy: &Policy) -> Revert {
    match outcome {
        Revalidation::Failed(_) => {}
        Revalidation::NotWatched
        | Revalidation::Green
        | Revalidation::Pending(_)
        | Revalidation::Infrastructure(_)
        | Revalidation::Unknown(_) => return Revert::NotNeeded,
    }
    if !policy.auto_revert_pr {
        return Revert::IssueOnly("`auto_revert_pr` is off".to_owned());
    }
    match &target.parents {
        Known::Known(parents) if parents.len() <= 1 => {}
        Known::Known(parents) => {
            return Revert::IssueOnly(format!(
                "the commit has {} parents: a person must say which is the mainline",
                parents.len()
            ));
        }
        Known::Unknown(cause) => {
            return Revert::IssueOnly(format!(
                "the commit's parents are unknown: {}",
                clipped(cause, 200)
            ));
        }
    }
    match &target.is_revert {
        Known::Known(false) => Revert::OpenPull {
            target: target.sha.clone(),
        },
        // Two programs that undo each other's work would never end.
        Known::Known(true) => Revert::IssueOnly("the commit is a revert itself".to_owned()),
        Known::Unknown(cause) => Revert::IssueOnly(format!(
            "it is unknown whether the commit is a revert itself: {}",
            clipped(cause, 200)
        )),
    }
}
