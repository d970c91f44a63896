//! A declared user rule as written: `skills/classifier/<name>.yml`. Unknown keys are refused.

use super::condition::StatusWord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A user rule: when the condition holds, the pull request is raised to a quadrant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "skills/classifier/<name>.yml")]
pub struct UserRuleFile {
    /// The quadrant to raise to. A verdict that is higher already stays.
    pub raise: RaiseTo,
    /// Why, as the owner reads it: a short clause. What matched is added.
    #[schemars(length(min = 1, max = 300))]
    pub because: String,
    /// When.
    pub when: Condition,
}

/// The quadrants a rule can raise to; every change is in A or above already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RaiseTo {
    /// Irreversible and non-critical: approved, with an audit Issue.
    C,
    /// Reversible and critical: approved, with an audit Issue.
    B,
    /// An owner must answer.
    D,
}

/// A condition: all keys that are written must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Condition {
    /// All of these conditions hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("minItems" = 1))]
    pub all: Vec<Condition>,
    /// One of these conditions holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("minItems" = 1))]
    pub any: Vec<Condition>,
    /// This condition does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not: Option<Box<Condition>>,
    /// A changed file is such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileCondition>,
    /// Every changed file is such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_file: Option<FileCondition>,
    /// A commit is such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitCondition>,
    /// Every commit is such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_commit: Option<CommitCondition>,
    /// The number of changed files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<BoundsWritten>,
    /// The number of commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits: Option<BoundsWritten>,
    /// Lines added, over all files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additions: Option<BoundsWritten>,
    /// Lines removed, over all files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletions: Option<BoundsWritten>,
    /// Lines added and removed, over all files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<BoundsWritten>,
    /// The author's login is one of these. Compared without case; an App's is `name[bot]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true))]
    pub author: Vec<String>,
    /// A label of one of these names is set. Whoever has the triage role can set and remove labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true))]
    pub label: Vec<String>,
    /// The base branch matches one of these globs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true))]
    pub base: Vec<String>,
    /// The repository is one of these, `owner/name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true))]
    pub repo: Vec<String>,
    /// Is it a draft?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft: Option<bool>,
}

/// A file: all keys that are written must hold of the same file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FileCondition {
    /// Its path matches one of these globs, or its path before a rename does. Compared without case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true))]
    pub path: Vec<String>,
    /// Exceptions: its path matches none of these globs. Compared with case; of a rename both paths must match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true))]
    pub not_path: Vec<String>,
    /// What happened to it is one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true))]
    pub status: Vec<StatusWord>,
    /// An added line matches one of these regular expressions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true))]
    pub added: Vec<String>,
    /// A removed line matches one of these regular expressions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true))]
    pub removed: Vec<String>,
    /// Lines added to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additions: Option<BoundsWritten>,
    /// Lines removed from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletions: Option<BoundsWritten>,
    /// Lines added to it and removed from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<BoundsWritten>,
    /// How many such files there must be; 1 when it is not written. Under `file` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub at_least: Option<u64>,
}

/// A commit: all keys that are written must hold of the same commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CommitCondition {
    /// A line of its message matches one of these regular expressions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true))]
    pub message: Vec<String>,
    /// It carries this trailer. Compared without case.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub trailer: Option<String>,
    /// A value of that trailer matches one of these regular expressions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true))]
    pub value: Vec<String>,
}

/// Bounds of a number; both may be written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BoundsWritten {
    /// It is greater than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_than: Option<u64>,
    /// It is less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub less_than: Option<u64>,
}
