//! GitHub's webhook JSON, as far as we read it.
//!
//! Tolerant: every member may be missing or null, ids are u64, words stay words. Nothing here is believed
//! further than [`super::read`]: past it nobody sees GitHub's JSON.

use crate::domain::{self, AccountId, AccountType};
use serde::Deserialize;

/// Any payload.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload {
    pub action: Option<String>,
    pub installation: Option<Installation>,
    pub repository: Option<Repository>,
    pub repositories: Option<Vec<Repository>>,
    pub repositories_added: Option<Vec<Repository>>,
    pub sender: Option<Account>,
    pub number: Option<u64>,
    pub pull_request: Option<PullRequest>,
    pub changes: Option<Changes>,
    pub check_run: Option<CheckRun>,
    pub check_suite: Option<CheckSuite>,
    pub issue: Option<Issue>,
    pub comment: Option<Comment>,
    pub requested_action: Option<RequestedAction>,
    pub merge_group: Option<MergeGroup>,
    /// The commit of a `status` event.
    pub sha: Option<String>,
    /// The name of the check in a `status` event.
    pub context: Option<String>,
    /// What a `status` event says.
    pub state: Option<String>,
    /// The ref of a `push`.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Installation {
    pub id: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Repository {
    pub id: Option<u64>,
    pub full_name: Option<String>,
    pub archived: Option<bool>,
    pub default_branch: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Account {
    pub login: Option<String>,
    pub id: Option<u64>,
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

impl Account {
    /// The account, or nobody when login or id is missing.
    pub fn known(&self) -> Option<domain::Account> {
        Some(domain::Account {
            login: self.login.clone()?,
            id: AccountId(self.id?),
            kind: AccountType::from(self.kind.clone().unwrap_or_default()),
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PullRequest {
    pub number: Option<u64>,
    pub state: Option<String>,
    pub head: Option<Commit>,
    pub base: Option<Commit>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Commit {
    pub sha: Option<String>,
    pub repo: Option<Repository>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Changes {
    /// There when the base branch changed; what it says does not matter.
    pub base: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CheckRun {
    pub name: Option<String>,
    pub head_sha: Option<String>,
    pub external_id: Option<String>,
    pub app: Option<App>,
    pub pull_requests: Option<Vec<PullRequest>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CheckSuite {
    pub app: Option<App>,
    pub head_sha: Option<String>,
    pub pull_requests: Option<Vec<PullRequest>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct App {
    pub id: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Issue {
    pub number: Option<u64>,
    pub performed_via_github_app: Option<App>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RequestedAction {
    pub identifier: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Comment {
    pub id: Option<u64>,
    pub updated_at: Option<String>,
    pub performed_via_github_app: Option<App>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MergeGroup {
    pub head_sha: Option<String>,
    pub head_ref: Option<String>,
}
