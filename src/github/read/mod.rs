//! What GitHub shows, as values of ours: pull requests and their facts, Issues, the App and its installations.
//!
//! Each function makes the calls that its documentation names and no more (`docs/github-api.md` has the table).
//! A member that is needed and missing is an [`ApiError::Unreadable`]; one that may be missing is an `Option`.

mod app;
mod contents;
mod facts;
mod group;
mod issue;
mod merge;
mod objects;
mod pull;
mod registration;

pub use app::{AppView, DeliveryAttempt, FailedDelivery, InstallationView, RepoView};
pub use contents::Content;
pub use facts::{FactsRead, Wants};
pub use group::GroupCommit;
pub use issue::{Comment, IssueView, Reaction};
pub use merge::MergeSettings;
pub use objects::{CommitView, TimedRun};
pub use pull::{BaseView, HeadView, PullBrief, PullView};
pub use registration::{HookConfig, RequiredCheck};

pub(super) use facts::OurRun;

use super::ApiError;
use super::call::Who;
use crate::domain::{RepoRef, Sha, Timestamp};

fn of(repo: &RepoRef) -> Who {
    Who::Installation(repo.installation)
}

/// A member that an answer must have.
fn need<T>(name: &'static str, value: Option<T>, member: &'static str) -> Result<T, ApiError> {
    value.ok_or_else(|| ApiError::unreadable(name, format!("an answer without `{member}`")))
}

/// A member that must be a commit SHA.
fn sha(name: &'static str, value: Option<String>, member: &'static str) -> Result<Sha, ApiError> {
    need(name, value, member)?
        .parse()
        .map_err(|_| ApiError::unreadable(name, format!("`{member}` is not a commit SHA")))
}

/// A member that must be a time.
fn time(
    name: &'static str,
    value: Option<String>,
    member: &'static str,
) -> Result<Timestamp, ApiError> {
    need(name, value, member)?
        .parse()
        .map_err(|_| ApiError::unreadable(name, format!("`{member}` is not a time")))
}
