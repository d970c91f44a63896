//! GitHub's JSON, as far as we need it. Nobody outside `github` sees these types.
//!
//! Reading is tolerant: every member may be missing or null (deleted accounts, `head.repo` of a deleted fork, a
//! check-run without an App), words that are new to us are kept as text, ids are `u64`. Whether a missing member
//! can be done without is decided where it is turned into a value of ours.

mod registration;

pub(super) use registration::{Branch, HookConfig, MadeApp, Rule};

use crate::domain::{Account, AccountId, AccountType};
use serde::Deserialize;

/// An account.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct User {
    pub(super) login: Option<String>,
    pub(super) id: Option<u64>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
}

impl User {
    /// The account, or nobody when login or id is missing.
    pub(super) fn account(self) -> Option<Account> {
        Some(Account {
            login: self.login?,
            id: AccountId(self.id?),
            kind: AccountType::from(self.kind.unwrap_or_default()),
        })
    }
}

/// A repository.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Repo {
    pub(super) id: Option<u64>,
    pub(super) full_name: Option<String>,
    pub(super) default_branch: Option<String>,
    pub(super) archived: Option<bool>,
    pub(super) private: Option<bool>,
    pub(super) has_issues: Option<bool>,
}

/// How a repository lets itself be merged into.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MergeSettings {
    pub(super) default_branch: Option<String>,
    pub(super) allow_squash_merge: Option<bool>,
    pub(super) allow_merge_commit: Option<bool>,
    pub(super) allow_rebase_merge: Option<bool>,
}

/// A commit status.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Status {
    pub(super) context: Option<String>,
    pub(super) state: Option<String>,
    pub(super) creator: Option<User>,
}

/// One side of a pull request.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Side {
    pub(super) sha: Option<String>,
    #[serde(rename = "ref")]
    pub(super) reference: Option<String>,
    pub(super) repo: Option<Repo>,
}

/// A label; GitHub gives objects, old records bare names.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Label {
    Object { name: Option<String> },
    Name(String),
}

impl Label {
    pub(super) fn name(self) -> Option<String> {
        match self {
            Self::Object { name } => name,
            Self::Name(name) => Some(name),
        }
    }
}

/// A pull request, as its own page or a list shows it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Pull {
    pub(super) number: Option<u64>,
    pub(super) state: Option<String>,
    pub(super) merged: Option<bool>,
    pub(super) merged_at: Option<String>,
    pub(super) draft: Option<bool>,
    pub(super) title: Option<String>,
    pub(super) body: Option<String>,
    pub(super) user: Option<User>,
    pub(super) labels: Option<Vec<Label>>,
    pub(super) head: Option<Side>,
    pub(super) base: Option<Side>,
    pub(super) changed_files: Option<u64>,
    pub(super) commits: Option<u64>,
    pub(super) mergeable: Option<bool>,
    pub(super) updated_at: Option<String>,
    pub(super) merge_commit_sha: Option<String>,
    pub(super) html_url: Option<String>,
    pub(super) node_id: Option<String>,
    pub(super) auto_merge: Option<AutoMerge>,
}

/// Auto-merge that is switched on.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AutoMerge {
    pub(super) enabled_by: Option<User>,
}

/// A changed file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct File {
    pub(super) filename: Option<String>,
    pub(super) previous_filename: Option<String>,
    pub(super) status: Option<String>,
    pub(super) additions: Option<u64>,
    pub(super) deletions: Option<u64>,
    pub(super) patch: Option<String>,
}

/// A commit in a list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Commit {
    pub(super) sha: Option<String>,
    #[serde(rename = "commit")]
    pub(super) said: Option<CommitBody>,
    pub(super) parents: Option<Vec<CommitRef>>,
}

/// What a commit says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CommitBody {
    pub(super) message: Option<String>,
}

/// A commit by its SHA.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CommitRef {
    pub(super) sha: Option<String>,
}

/// A commit as git has it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GitCommit {
    pub(super) sha: Option<String>,
    pub(super) tree: Option<CommitRef>,
    pub(super) parents: Option<Vec<CommitRef>>,
}

/// A branch as git has it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GitRef {
    pub(super) object: Option<CommitRef>,
}

/// All entries of a tree.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GitTree {
    pub(super) tree: Option<Vec<GitTreeEntry>>,
    pub(super) truncated: Option<bool>,
}

/// One entry of a tree.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GitTreeEntry {
    pub(super) path: Option<String>,
    pub(super) mode: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) sha: Option<String>,
}

/// The comparison of two commits.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Comparison {
    pub(super) behind_by: Option<u64>,
    pub(super) merge_base_commit: Option<CommitRef>,
    pub(super) total_commits: Option<u64>,
    pub(super) commits: Option<Vec<Commit>>,
}

/// A page of check-runs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CheckRuns {
    pub(super) total_count: Option<u64>,
    pub(super) check_runs: Option<Vec<CheckRun>>,
}

/// A check-run.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CheckRun {
    pub(super) id: Option<u64>,
    pub(super) name: Option<String>,
    pub(super) status: Option<String>,
    pub(super) conclusion: Option<String>,
    pub(super) external_id: Option<String>,
    pub(super) started_at: Option<String>,
    pub(super) completed_at: Option<String>,
    pub(super) app: Option<App>,
    pub(super) output: Option<CheckOutput>,
}

/// What a check-run says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CheckOutput {
    pub(super) title: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) text: Option<String>,
}

/// A remark on a line, as a check-run has it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Annotation {
    pub(super) path: Option<String>,
    pub(super) start_line: Option<u64>,
    #[serde(rename = "annotation_level")]
    pub(super) level: Option<String>,
    pub(super) title: Option<String>,
    pub(super) message: Option<String>,
}

/// An App, ours or another.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct App {
    pub(super) id: Option<u64>,
    pub(super) slug: Option<String>,
    pub(super) permissions: Option<std::collections::BTreeMap<String, Option<String>>>,
    pub(super) events: Option<Vec<String>>,
}

/// An Issue event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct IssueEvent {
    pub(super) event: Option<String>,
    pub(super) actor: Option<User>,
    pub(super) label: Option<Label>,
    pub(super) created_at: Option<String>,
}

/// An Issue (or a pull request seen as one).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Issue {
    pub(super) number: Option<u64>,
    pub(super) title: Option<String>,
    pub(super) state: Option<String>,
    pub(super) state_reason: Option<String>,
    pub(super) body: Option<String>,
    pub(super) user: Option<User>,
    pub(super) closed_by: Option<User>,
    pub(super) labels: Option<Vec<Label>>,
    pub(super) locked: Option<bool>,
    pub(super) comments: Option<u64>,
    pub(super) created_at: Option<String>,
    pub(super) updated_at: Option<String>,
    pub(super) closed_at: Option<String>,
    pub(super) reactions: Option<Rollup>,
    pub(super) html_url: Option<String>,
    /// There for pull requests only.
    pub(super) pull_request: Option<serde::de::IgnoredAny>,
}

/// How many reactions an Issue has.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Rollup {
    pub(super) total_count: Option<u64>,
    #[serde(rename = "+1")]
    pub(super) up: Option<u64>,
    #[serde(rename = "-1")]
    pub(super) down: Option<u64>,
}

/// A comment on an Issue.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct IssueComment {
    pub(super) id: Option<u64>,
    pub(super) body: Option<String>,
    pub(super) user: Option<User>,
    pub(super) created_at: Option<String>,
    pub(super) updated_at: Option<String>,
}

/// A reaction.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Reaction {
    pub(super) id: Option<u64>,
    pub(super) content: Option<String>,
    pub(super) user: Option<User>,
    pub(super) created_at: Option<String>,
}

/// An installation token.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Token {
    pub(super) token: Option<String>,
    pub(super) expires_at: Option<String>,
}

/// An installation.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Installation {
    pub(super) id: Option<u64>,
    pub(super) account: Option<User>,
    pub(super) suspended_at: Option<String>,
    pub(super) permissions: Option<std::collections::BTreeMap<String, Option<String>>>,
    pub(super) events: Option<Vec<String>>,
}

/// A page of an installation's repositories.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Repositories {
    pub(super) total_count: Option<u64>,
    pub(super) repositories: Option<Vec<Repo>>,
}

/// A page of things of which only the ids are wanted.
pub(super) trait Ids: serde::de::DeserializeOwned {
    /// The length of the whole list and the ids of this page; `None` when one of them is missing.
    fn ids(self) -> Option<(u64, Vec<u64>)>;
}

/// Anything with an id.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Identified {
    id: Option<u64>,
}

/// A page of the installations that a person can reach.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct UserInstallations {
    total_count: Option<u64>,
    installations: Option<Vec<Identified>>,
}

impl Ids for UserInstallations {
    fn ids(self) -> Option<(u64, Vec<u64>)> {
        let ids = self.installations?.into_iter().map(|one| one.id);
        Some((self.total_count?, ids.collect::<Option<_>>()?))
    }
}

/// A page of the repositories of one installation that a person can read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct UserRepositories {
    total_count: Option<u64>,
    repositories: Option<Vec<Identified>>,
}

impl Ids for UserRepositories {
    fn ids(self) -> Option<(u64, Vec<u64>)> {
        let ids = self.repositories?.into_iter().map(|one| one.id);
        Some((self.total_count?, ids.collect::<Option<_>>()?))
    }
}

/// One attempt to deliver a webhook.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delivery {
    pub(super) id: Option<u64>,
    pub(super) guid: Option<String>,
    pub(super) delivered_at: Option<String>,
    pub(super) redelivery: Option<bool>,
    pub(super) status_code: Option<i64>,
    pub(super) event: Option<String>,
}

/// The rates of all resources.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RateLimits {
    pub(super) resources: std::collections::BTreeMap<String, Rate>,
}

/// The rate of one resource.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Rate {
    pub(super) limit: Option<u64>,
    pub(super) remaining: Option<u64>,
    pub(super) reset: Option<i64>,
}

/// An error body.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Problem {
    pub(super) message: Option<String>,
    errors: Option<serde_json::Value>,
}

/// One entry of `errors`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ProblemDetail {
    pub(super) field: Option<String>,
    pub(super) code: Option<String>,
    pub(super) message: Option<String>,
}

impl Problem {
    /// The entries; GitHub gives objects, bare texts, or one text for the whole.
    pub(super) fn errors(&self) -> Vec<ProblemDetail> {
        let text = |message: &str| ProblemDetail {
            message: Some(message.to_owned()),
            ..ProblemDetail::default()
        };
        match &self.errors {
            Some(serde_json::Value::Array(entries)) => entries
                .iter()
                .filter_map(|entry| match entry.as_str() {
                    Some(message) => Some(text(message)),
                    None => ProblemDetail::deserialize(entry).ok(),
                })
                .collect(),
            Some(serde_json::Value::String(message)) => vec![text(message)],
            _ => Vec::new(),
        }
    }
}
