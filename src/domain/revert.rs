//! What git keeps of a commit's files, and the pull request that puts some of them back.

use super::{PullNumber, RepoRef, Sha, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What stands at a path: a file, a symbolic link or a submodule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// Git's mode, such as `100644`, `100755`, `120000`, `160000`.
    pub mode: String,
    /// The object.
    pub sha: Sha,
}

/// All files of a commit, by path; directories are left out.
pub type Tree = BTreeMap<String, Blob>;

/// One path to be changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeChange {
    /// The path.
    pub path: String,
    /// What is to stand there; `None`: nothing.
    pub to: Option<Blob>,
}

/// A pull request that takes a merged commit back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevertEffect {
    /// Where.
    pub repo: RepoRef,
    /// Our key, also written into the description as a marker.
    pub key: String,
    /// The branch it goes to.
    pub base_ref: String,
    /// That branch's tip, which the change is made on.
    pub base_tip: Sha,
    /// The tip's tree.
    pub base_tree: Sha,
    /// The branch that is made: one name a reverted commit.
    pub branch: String,
    /// What is put back.
    pub changes: Vec<TreeChange>,
    /// The commit's message.
    pub message: String,
    /// One line.
    pub title: String,
    /// Markdown, marker included.
    pub body: String,
    /// The label that marks it.
    pub label: String,
}

/// What is remembered of a pull request after its merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AfterMerge {
    /// The commit that the merge made.
    pub commit: Sha,
    /// The branch it went to.
    pub base_ref: String,
    /// When it was merged, by GitHub's clock.
    pub merged_at: Timestamp,
    /// Until when its checks are looked at.
    pub until: Timestamp,
    /// When they were looked at last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked_at: Option<Timestamp>,
    /// Is there nothing left to look for by the clock? An event can still tell of a failure.
    #[serde(default)]
    pub settled: bool,
    /// The Issue about its failure, such as `owner/inbox#12`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incident: Option<Incident>,
    /// What became of the pull request that takes it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revert: Option<Reverting>,
}

/// The Issue about a failure after the merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// Where it stands.
    pub repo: RepoRef,
    /// Its number there.
    pub number: super::IssueNumber,
    /// Is all said on it?
    #[serde(default)]
    pub told: bool,
}

/// What became of a revert.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "revert", rename_all = "snake_case")]
pub enum Reverting {
    /// The pull request is there.
    Opened {
        /// Its number.
        number: PullNumber,
    },
    /// GitHub did not take it.
    Refused {
        /// Why, for people.
        reason: String,
    },
}
