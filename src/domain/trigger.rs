//! What a delivery asks for: a subject to look at, not a change to apply.
//!
//! Work is level-triggered: a trigger says *where* something may have changed, the worker reads what is true.

use super::{InstallationId, IssueNumber, PullNumber, RepoRef, Sha};
use serde::{Deserialize, Serialize};

/// What one unit of work is about. One subject is worked by one worker at a time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Subject {
    /// One pull request.
    Pull {
        /// The base repository.
        repo: RepoRef,
        /// Its number.
        number: PullNumber,
    },
    /// A commit whose pull requests are not named by the event (forks): look them up, then work on each.
    Head {
        /// The base repository.
        repo: RepoRef,
        /// The head SHA.
        sha: Sha,
    },
    /// An Issue, ours or not: find the pull request it asks about.
    Issue {
        /// The repository of the Issue.
        repo: RepoRef,
        /// Its number.
        number: IssueNumber,
    },
    /// All open pull requests of a repository.
    Repo {
        /// The repository.
        repo: RepoRef,
    },
    /// All repositories of an installation.
    Installation {
        /// The installation.
        installation: InstallationId,
    },
    /// A merge group of a merge queue.
    MergeGroup {
        /// The repository.
        repo: RepoRef,
        /// The group's head commit.
        head_sha: Sha,
        /// The group's head ref, which names the member pull request.
        head_ref: String,
    },
    /// A commit whose checks said something: look whether it is one that a merge made.
    Commit {
        /// The repository.
        repo: RepoRef,
        /// The commit.
        sha: Sha,
    },
}

impl Subject {
    /// The key of the row that is the lock: by ids that stay, so that a rename keeps it.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::Pull { repo, number } => format!("pull/{}/{number}", repo.id),
            Self::Head { repo, sha } => format!("head/{}/{sha}", repo.id),
            Self::Issue { repo, number } => format!("issue/{}/{number}", repo.id),
            Self::Repo { repo } => format!("repo/{}", repo.id),
            Self::Installation { installation } => format!("installation/{installation}"),
            Self::MergeGroup { repo, head_sha, .. } => format!("group/{}/{head_sha}", repo.id),
            Self::Commit { repo, sha } => format!("commit/{}/{sha}", repo.id),
        }
    }

    /// The repository it lies in; `None` for a whole installation.
    #[must_use]
    pub fn repo(&self) -> Option<&RepoRef> {
        match self {
            Self::Pull { repo, .. }
            | Self::Head { repo, .. }
            | Self::Issue { repo, .. }
            | Self::Repo { repo }
            | Self::MergeGroup { repo, .. }
            | Self::Commit { repo, .. } => Some(repo),
            Self::Installation { .. } => None,
        }
    }

    /// The installation through which the subject is reached.
    #[must_use]
    pub fn installation(&self) -> InstallationId {
        match self {
            Self::Pull { repo, .. }
            | Self::Head { repo, .. }
            | Self::Issue { repo, .. }
            | Self::Repo { repo }
            | Self::MergeGroup { repo, .. }
            | Self::Commit { repo, .. } => repo.installation,
            Self::Installation { installation } => *installation,
        }
    }
}

/// One reason to look at one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// Where to look.
    pub subject: Subject,
    /// Must everything be read again? `false`: only what the pull request itself shows can have changed.
    pub deep: bool,
    /// The head SHA that the event announced, if it announces one (`opened`, `reopened`, `synchronize`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announces_head: Option<Sha>,
}
