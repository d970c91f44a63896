//! May a merged commit that broke the base be reverted by a pull request of ours?
//!
//! INVARIANT: only a commit that is proved to have at most one parent: which parent of a merge is the mainline is for
//! a person to say. The revert passes the normal gate like every other pull request.

use super::identity::quoted;
use super::revalidation::Revalidation;
use crate::domain::{Known, Sha, Tree, TreeChange};
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
    /// Is it all that its pull request brought? Not so where several commits were put on the base one by one.
    pub is_whole: Known<bool>,
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
        Known::Known(false) => {}
        // Two programs that undo each other's work would never end.
        Known::Known(true) => {
            return Revert::IssueOnly("the commit is a revert itself".to_owned());
        }
        Known::Unknown(cause) => {
            return Revert::IssueOnly(format!(
                "it is unknown whether the commit is a revert itself: {}",
                clipped(cause, 200)
            ));
        }
    }
    match &target.is_whole {
        Known::Known(true) => Revert::OpenPull {
            target: target.sha.clone(),
        },
        Known::Known(false) => Revert::IssueOnly(
            "the pull request's commits were put on the base one by one, and this is only the last of them".to_owned(),
        ),
        Known::Unknown(cause) => Revert::IssueOnly(format!(
            "it is unknown whether the commit is all of its pull request: {}",
            clipped(cause, 200)
        )),
    }
}

/// Paths that one revert may touch.
pub const MOST_PATHS: usize = 300;

/// What puts every path that the commit touched back to what its parent had there, on top of the base's tip.
///
/// # Errors
/// Why that cannot be done without a person: somebody has changed one of the paths since, a file and a directory are
/// in each other's way, there are too many, or nothing was changed.
pub fn undo(parent: &Tree, merged: &Tree, tip: &Tree) -> Result<Vec<TreeChange>, String> {
    let mut changes = Vec::new();
    for path in parent.keys().chain(merged.keys()) {
        let (before, after) = (parent.get(path), merged.get(path));
        if before == after || changes.iter().any(|one: &TreeChange| one.path == *path) {
            continue;
        }
        if changes.len() == MOST_PATHS {
            return Err(format!("the commit touches more than {MOST_PATHS} files"));
        }
        if tip.get(path) != after {
            return Err(format!(
                "{} was changed again since the merge",
                quoted(path)
            ));
        }
        if path.contains('\u{fffd}') {
            return Err(format!("the name {} is not text", quoted(path)));
        }
        if before.is_some() && is_in_the_way(path, tip) {
            return Err(format!(
                "a directory and a file are in each other's way at {}",
                quoted(path)
            ));
        }
        changes.push(TreeChange {
            path: path.clone(),
            to: before.cloned(),
        });
    }
    if changes.is_empty() {
        return Err("the commit changes no file".to_owned());
    }
    Ok(changes)
}

/// Does the tip have a file where this path needs a directory, or a directory where it is to be a file?
fn is_in_the_way(path: &str, tip: &Tree) -> bool {
    let below = format!("{path}/");
    let has_below = tip
        .range(below.clone()..)
        .next()
        .is_some_and(|(first, _)| first.starts_with(&below));
    let mut parents = path.match_indices('/').map(|(at, _)| path.split_at(at).0);
    has_below || parents.any(|parent| tip.contains_key(parent))
}
