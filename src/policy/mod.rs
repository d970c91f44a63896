//! The operator's configuration, compiled once at load: what may come out of here cannot be wrong.
//!
//! One file a configuration file, each with two shapes: as written (unknown keys refused) and as run.

pub mod globs;
mod path_table;
pub mod paths;

use crate::domain::{AccountId, AppId, RepoId, RepoName};
use paths::PathPolicy;

/// The owners: who may answer (`owner.yml`).
#[derive(Debug, Clone)]
pub struct Owners {
    /// Logins that may answer, compared without case; never empty.
    pub logins: Vec<String>,
    /// Numeric ids pinned for those logins (lower case), resolved by the server; empty offline.
    pub pinned: Vec<(String, AccountId)>,
}

/// The publisher of `classifier-judgment` check-runs (`env.yml`).
#[derive(Debug, Clone)]
pub struct Publisher {
    /// The App's slug.
    pub slug: String,
    /// The App's id; when given, both must match.
    pub app_id: Option<AppId>,
}

/// Who we are (`env.yml`, `projects.yml`).
#[derive(Debug, Clone)]
pub struct Bot {
    /// The App's slug; its account is `<slug>[bot]`.
    pub app_slug: String,
    /// The bot's own repository, where every pull request is D.
    pub repo: RepoName,
    /// Its id, if configured.
    pub repo_id: Option<RepoId>,
}

/// The whole policy as run.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Who may answer.
    pub owners: Owners,
    /// Who we are.
    pub bot: Bot,
    /// Whose `classifier-judgment` check-runs are verdicts; `None`: nobody's.
    pub publisher: Option<Publisher>,
    /// The path rule's lists and patterns.
    pub paths: PathPolicy,
    /// `sha256:…` of the configuration files, as it stands in every audit line.
    pub digest: String,
}
