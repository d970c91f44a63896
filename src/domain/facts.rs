//! What was read about one pull request (classifier specification, section 8).
//!
//! [`Facts`] is both the input of the rules and the JSON document of `quadgate classify --facts`, so that
//! every decision can be replayed offline. Optional members default to empty, unknown members are refused.

use super::{AccountId, AppId, Known, PullNumber, RepoId, RepoName, Sha, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Everything the rules may look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// `owner/name` of the base repository.
    pub repo: RepoName,
    /// GitHub's id of the base repository.
    #[serde(default)]
    pub repo_id: Option<RepoId>,
    /// The number of the pull request.
    pub number: PullNumber,
    /// Login of the author; `null` when the account is gone.
    #[serde(default)]
    pub author: Option<String>,
    /// Is it a draft?
    #[serde(default)]
    pub draft: bool,
    /// Name of the base branch, without `refs/heads/`.
    pub base_ref: String,
    /// The commit the pull request is compared with.
    pub base_sha: Sha,
    /// The commit that is judged.
    pub head_sha: Sha,
    /// When this server saw `head_sha` become the head; never a commit date. `null` is unknown.
    #[serde(default)]
    pub head_since: Option<Timestamp>,
    /// Set when the head was another commit at the end of reading than at its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_moved_to: Option<Sha>,
    /// How many files the pull request says it changes.
    pub changed_files: u64,
    /// How many commits the pull request says it has.
    pub commit_count: u64,
    /// Names of the labels that are present now.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The labelling history, oldest first.
    #[serde(default)]
    pub label_events: Known<Vec<LabelEvent>>,
    /// The changed files that were listed.
    #[serde(default)]
    pub files: Known<Vec<FileChange>>,
    /// The commits that were listed, oldest first.
    #[serde(default)]
    pub commits: Known<Vec<CommitFact>>,
    /// All check-runs on the head SHA.
    #[serde(default)]
    pub check_runs: Known<Vec<CheckRunFact>>,
}

/// The document is not a readable set of facts.
#[derive(Debug, thiserror::Error)]
#[error("facts are not readable: {0}")]
pub struct FactsError(#[from] serde_json::Error);

impl Facts {
    /// Reads the JSON document of `classify --facts`.
    ///
    /// # Errors
    /// Says what is wrong with line and column: bad JSON, a missing or unknown member, a wrong type.
    pub fn from_json(text: &[u8]) -> Result<Self, FactsError> {
        Ok(serde_json::from_slice(text)?)
    }
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileChange {
    /// The path after the change, as GitHub lists it.
    pub path: String,
    /// The path before a rename or copy.
    #[serde(default)]
    pub previous_path: Option<String>,
    /// What happened to it.
    pub status: FileStatus,
    /// Lines added.
    #[serde(default)]
    pub additions: u64,
    /// Lines removed.
    #[serde(default)]
    pub deletions: u64,
    /// The unified diff without file headers; `None` when GitHub gave none (binary, too large, no change).
    #[serde(default)]
    pub patch: Option<String>,
    /// The text before the change; `None` when it was not read.
    #[serde(default)]
    pub base_content: Option<String>,
    /// The text after the change; `None` when it was not read.
    #[serde(default)]
    pub head_content: Option<String>,
}

/// What GitHub says happened to a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FileStatus {
    /// A new file.
    Added,
    /// Its text changed.
    Modified,
    /// It is gone.
    Removed,
    /// It has another path; the old one is gone.
    Renamed,
    /// It was copied from another path, which stays.
    Copied,
    /// Its type or mode changed.
    Changed,
    /// Listed without a change.
    Unchanged,
    /// A word this program does not know, kept as it came.
    Other(String),
}

impl FileStatus {
    /// The word as GitHub writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Other(word) => word,
            Self::Added
            | Self::Modified
            | Self::Removed
            | Self::Renamed
            | Self::Copied
            | Self::Changed
            | Self::Unchanged => self.known().unwrap_or_default(),
        }
    }

    /// The word of a status that is known here.
    #[must_use]
    pub fn known(&self) -> Option<&'static str> {
        Some(match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Removed => "removed",
            Self::Renamed => "renamed",
            Self::Copied => "copied",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Other(_) => return None,
        })
    }
}

impl From<String> for FileStatus {
    fn from(word: String) -> Self {
        match word.as_str() {
            "added" => Self::Added,
            "modified" => Self::Modified,
            "removed" => Self::Removed,
            "renamed" => Self::Renamed,
            "copied" => Self::Copied,
            "changed" => Self::Changed,
            "unchanged" => Self::Unchanged,
            _ => Self::Other(word),
        }
    }
}

impl fmt::Display for FileStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for FileStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for FileStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// Was the label set or taken away?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelAction {
    /// The label was added.
    Labeled,
    /// The label was removed.
    Unlabeled,
}

/// The kind of an account, as GitHub names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AccountType {
    /// A person's account.
    User,
    /// An App's or a service's account.
    Bot,
    /// `Organization`, `Mannequin`, or a word this program does not know.
    Other(String),
}

impl From<String> for AccountType {
    fn from(word: String) -> Self {
        match word.as_str() {
            "User" => Self::User,
            "Bot" => Self::Bot,
            _ => Self::Other(word),
        }
    }
}

impl AccountType {
    /// The word as GitHub writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::User => "User",
            Self::Bot => "Bot",
            Self::Other(word) => word,
        }
    }
}

impl Serialize for AccountType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for AccountType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// An account that did something. A deleted account is `None` where one of these is optional.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The login of the moment.
    pub login: String,
    /// The id that stays.
    pub id: AccountId,
    /// Person, bot or something else.
    #[serde(rename = "type")]
    pub kind: AccountType,
}

/// One `labeled` or `unlabeled` timeline event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelEvent {
    /// The label's name.
    pub label: String,
    /// Set or taken away.
    pub action: LabelAction,
    /// Who did it; `null` when the account is gone.
    #[serde(default)]
    pub actor: Option<String>,
    /// The actor's numeric id, where it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<AccountId>,
    /// `User` or `Bot`; `null` is nobody we know.
    #[serde(default)]
    pub actor_type: Option<AccountType>,
    /// When, by GitHub's clock.
    pub at: Timestamp,
}

/// One commit of the pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitFact {
    /// Its SHA.
    pub sha: Sha,
    /// The whole message.
    pub message: String,
    /// Its parents, where they were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<Sha>,
}

/// One check-run on the head SHA.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckRunFact {
    /// Its name, compared exactly.
    pub name: String,
    /// GitHub's id of the run, where it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<super::CheckRunId>,
    /// Slug of the App that made it; `null` is unknown.
    #[serde(default)]
    pub app_slug: Option<String>,
    /// Id of the App that made it; `null` is unknown.
    #[serde(default)]
    pub app_id: Option<AppId>,
    /// `queued`, `in_progress`, `completed` or a word this program does not know.
    pub status: String,
    /// `success`, `failure`, … once completed.
    #[serde(default)]
    pub conclusion: Option<String>,
    /// The key its maker gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// The output's title.
    #[serde(default)]
    pub title: Option<String>,
    /// The output's summary.
    #[serde(default)]
    pub summary: Option<String>,
    /// The output's text.
    #[serde(default)]
    pub text: Option<String>,
}
