//! How a pull request is joined to its base, and the commit statuses that speak about a commit.

use super::Account;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How the commits of a pull request are joined to the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MergeMethod {
    /// One commit.
    Squash,
    /// A merge commit.
    Merge,
    /// The commits on top of the base.
    Rebase,
}

impl MergeMethod {
    /// The word as GitHub and the configuration write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Squash => "squash",
            Self::Merge => "merge",
            Self::Rebase => "rebase",
        }
    }
}

impl fmt::Display for MergeMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The newest commit status of one context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusFact {
    /// Its name, compared exactly.
    pub context: String,
    /// `success`, `failure`, `error`, `pending` or a word this program does not know.
    pub state: String,
    /// Who set it; `null` when the account is gone.
    #[serde(default)]
    pub creator: Option<Account>,
}
