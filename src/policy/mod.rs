//! The operator's configuration, compiled once at load: what may come out of here cannot be wrong.
//!
//! One file a configuration file, each with two shapes: as written (unknown keys refused) and as run. Texts
//! come in as values; nothing here reads a disk. INVARIANT: [`compile`] reports every problem with its place,
//! and a [`Policy`] exists only when there is none.

mod agent_registry;
mod compile;
mod env;
mod glob_index;
pub mod globs;
pub mod high_risk;
pub(crate) mod nearest;
mod owner;
mod path_table;
pub mod paths;
mod projects;
pub(crate) mod shape;
mod skills;
mod source;
pub mod user_rules;
mod yaml;

pub use crate::domain::MergeMethod;
pub use agent_registry::AgentRegistry;
pub use compile::{Compiled, compile, digest, schemas};
pub use env::{Bot, Ci, EnvFile, Evidence, EvidenceMode, Merge, MergeMode, Publisher};
pub use high_risk::HighRisk;
pub use owner::{OwnerFile, Owners};
pub use projects::{BreakGlass, DecisionInbox, Inbox, Language, ProjectsFile, RepoOverride, Repos};
pub use skills::{Severity, Skills};
pub(crate) use source::is_yaml;
pub use source::{Effective, Origin, Place, Problem, SourceFile};
pub use yaml::MAX_BYTES;

use crate::domain::{IdError, RepoName};
use paths::PathPolicy;
use std::sync::LazyLock;
use std::time::Duration;
use user_rules::UserRules;

/// Everything the operator decided, ready to be used.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Who may answer.
    pub owners: Owners,
    /// Who we are.
    pub bot: Bot,
    /// Whose `classifier-judgment` check-runs are read; `None`: nobody's.
    pub publisher: Option<Publisher>,
    /// The path rule's lists and patterns.
    pub paths: PathPolicy,
    /// The repositories.
    pub repos: Repos,
    /// Where decisions are asked for.
    pub inbox: Inbox,
    /// What counts as green CI.
    pub ci: Ci,
    /// Whether and how pull requests are merged.
    pub merge: Merge,
    /// What a finding in an evidence ledger does.
    pub evidence: EvidenceMode,
    /// What raises the risk of a change to high.
    pub high_risk: HighRisk,
    /// Days for which a new agent identity is advisory; 0: never promoted by itself.
    pub l4_burn_in_days: u64,
    /// Is a revert pull request opened when a merged commit breaks a required check?
    pub auto_revert_pr: bool,
    /// The time between two sweeps.
    pub tick: Duration,
    /// Which checks run, and how much they weigh.
    pub skills: Skills,
    /// The agents that are known; `None`: there is no registry.
    pub agents: Option<AgentRegistry>,
    /// The operator's own rules, run after the built-in ones.
    pub user_rules: UserRules,
    /// `sha256:` and 64 hexadecimal digits over the policy files.
    pub digest: String,
}

impl Policy {
    /// What holds without any configuration: the built-in rules, nobody who could answer, no repository of
    /// the bot's own. For looking at a change offline, never for a server.
    ///
    /// # Errors
    /// None in practice; the name that stands for "no repository" is checked like any other.
    pub fn built_in() -> Result<Self, IdError> {
        // A login cannot start with a hyphen, so this names no repository on GitHub.
        let nowhere: RepoName = "-/-".parse()?;
        Ok(Self {
            owners: Owners {
                logins: Vec::new(),
                pinned: Vec::new(),
            },
            bot: Bot {
                app_slug: "-".to_owned(),
                repo: nowhere.clone(),
                repo_id: None,
            },
            publisher: Some(Publisher {
                slug: env::github_actions(),
                app_id: None,
            }),
            paths: built_in_paths(),
            repos: Repos {
                governance: nowhere.clone(),
                gated: Vec::new(),
                audit_only: Vec::new(),
                overrides: Vec::new(),
                adr_deadline_hours: BreakGlass::default().adr_deadline_hours,
            },
            inbox: Inbox {
                repository: nowhere,
                language: Language::En,
                passive_close_days: DecisionInbox::default().passive_close_days,
            },
            ci: Ci {
                required_checks: Vec::new(),
                expected_check_publisher: env::github_actions(),
                allow_no_ci: false,
            },
            merge: Merge::default(),
            evidence: Evidence::default().mode,
            high_risk: HighRisk::built_in(),
            l4_burn_in_days: env::l4_burn_in_days(),
            auto_revert_pr: false,
            tick: Duration::from_secs(env::tick_seconds()),
            skills: Skills::default(),
            agents: None,
            user_rules: UserRules::default(),
            digest: digest(&[]),
        })
    }

    /// Are pull requests of this repository gated?
    #[must_use]
    pub fn is_gated(&self, repo: &RepoName) -> bool {
        self.repos.gated.contains(repo)
    }

    /// Are merged commits of this repository looked at afterwards?
    #[must_use]
    pub fn is_watched(&self, repo: &RepoName) -> bool {
        self.is_gated(repo) || self.repos.audit_only.contains(repo)
    }

    /// What counts as green CI in this repository.
    #[must_use]
    pub fn ci_of(&self, repo: &RepoName) -> Ci {
        let mut ci = self.ci.clone();
        let mut overrides = self.repos.overrides.iter();
        if let Some((_, own)) = overrides.find(|(name, _)| name == repo) {
            if let Some(checks) = &own.required_checks {
                ci.required_checks.clone_from(checks);
            }
            if let Some(publisher) = &own.expected_check_publisher {
                ci.expected_check_publisher.clone_from(publisher);
            }
        }
        ci
    }
}

/// The built-in table, compiled once for the whole program.
fn built_in_paths() -> PathPolicy {
    static TABLE: LazyLock<PathPolicy> = LazyLock::new(PathPolicy::built_in);
    TABLE.clone()
}

/// Is this one of the names that the shipped files carry to be replaced?
pub(crate) fn placeholder(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("your-") || name.starts_with("your_")
}
