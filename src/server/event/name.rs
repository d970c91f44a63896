//! The events we know, by the name in `X-GitHub-Event`.
//!
//! A closed list, so that a name is also a metric's label without being a stranger's text.

/// An event by name. The names that are not here are `other` in metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// Sent when the webhook is set up.
    Ping,
    /// `pull_request`
    PullRequest,
    /// `check_run`
    CheckRun,
    /// `check_suite`
    CheckSuite,
    /// `status`
    Status,
    /// `issue_comment`
    IssueComment,
    /// `issues`
    Issues,
    /// `push`
    Push,
    /// `merge_group`
    MergeGroup,
    /// `installation`
    Installation,
    /// `installation_repositories`
    InstallationRepositories,
    /// `repository`
    Repository,
    /// Anything else.
    Other,
}

impl Event {
    /// The event by `X-GitHub-Event`.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "ping" => Self::Ping,
            "pull_request" => Self::PullRequest,
            "check_run" => Self::CheckRun,
            "check_suite" => Self::CheckSuite,
            "status" => Self::Status,
            "issue_comment" => Self::IssueComment,
            "issues" => Self::Issues,
            "push" => Self::Push,
            "merge_group" => Self::MergeGroup,
            "installation" => Self::Installation,
            "installation_repositories" => Self::InstallationRepositories,
            "repository" => Self::Repository,
            _ => Self::Other,
        }
    }

    /// The name, `other` for the unknown ones.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ping => "ping",
            Self::PullRequest => "pull_request",
            Self::CheckRun => "check_run",
            Self::CheckSuite => "check_suite",
            Self::Status => "status",
            Self::IssueComment => "issue_comment",
            Self::Issues => "issues",
            Self::Push => "push",
            Self::MergeGroup => "merge_group",
            Self::Installation => "installation",
            Self::InstallationRepositories => "installation_repositories",
            Self::Repository => "repository",
            Self::Other => "other",
        }
    }
}
