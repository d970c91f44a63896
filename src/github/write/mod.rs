//! Effects, carried out. Each one looks for its own earlier work before it creates anything.
//!
//! INVARIANT: a request that creates something is sent once. When its answer is lost the error is
//! [`ApiError::Transient`], and the caller's next try finds what the lost one made.

mod auto;
mod check_run;
mod comment;
mod issue;
mod label;
mod limits;
mod merge;
mod revert;

use super::call::Who;
use super::read::OurRun;
use super::{ApiError, GitHub};
use crate::domain::{Effect, Facts, Outcome, RepoRef, Sha};

/// What the caller has just read, so that it need not be read again.
///
/// Only for the first try of a plan that was made from these very facts: after a failed write, look again
/// ([`Seen::nothing`]).
#[derive(Debug, Clone, Default)]
pub struct Seen {
    check_runs: Option<(Sha, Vec<OurRun>)>,
}

impl Seen {
    /// Nothing: everything is looked for on GitHub.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Do the facts show that nothing of ours was ever published on their head? Then there is no Issue about it either:
    /// it is opened just before its check-run, and a plan that was interrupted in between goes on without facts.
    fn is_untouched_head(&self) -> bool {
        self.check_runs
            .as_ref()
            .is_some_and(|(_, ours)| ours.is_empty())
    }
}

impl GitHub {
    /// What these facts show of our own work.
    #[must_use]
    pub fn seen(&self, facts: &Facts) -> Seen {
        Seen {
            check_runs: facts.check_runs.known().map(|runs| {
                let ours = runs
                    .iter()
                    .filter_map(|run| OurRun::of(self.inner.app_id, run))
                    .collect();
                (facts.head_sha.clone(), ours)
            }),
        }
    }

    /// Carries out an effect, looking on GitHub for its own earlier work.
    ///
    /// # Errors
    /// See [`GitHub::apply_with`].
    pub async fn apply(&self, effect: &Effect) -> Result<Outcome, ApiError> {
        self.apply_with(effect, &Seen::nothing()).await
    }

    /// Carries out an effect. What GitHub will not have (403, 404, 410) is [`Outcome::Refused`] for Issues,
    /// labels and comments, so that the rest of a plan goes on. A merge or an update of a branch whose head or base moved is
    /// [`Outcome::Stale`].
    ///
    /// # Errors
    /// Everything else, and every refusal of a check-run: without it there is no verdict to be seen.
    pub async fn apply_with(&self, effect: &Effect, seen: &Seen) -> Result<Outcome, ApiError> {
        match effect {
            Effect::CheckRun(wanted) => self.put_check_run(wanted, seen).await,
            Effect::EnsureLabel { repo, label } => refused_or(self.ensure_label(repo, label).await),
            Effect::OpenIssue(wanted) => refused_or(self.open_issue(wanted, seen).await),
            Effect::CloseIssue {
                repo,
                number,
                comment,
                not_planned,
            } => refused_or(
                self.close_issue(repo, *number, comment.as_ref(), *not_planned)
                    .await,
            ),
            Effect::AddLabels {
                repo,
                number,
                labels,
            } => refused_or(self.add_labels(repo, *number, labels).await),
            Effect::RemoveLabel {
                repo,
                number,
                label,
            } => refused_or(self.remove_label(repo, *number, label).await),
            Effect::Comment(wanted) => refused_or(self.put_comment(wanted).await),
            Effect::Merge(wanted) => self.merge(wanted).await,
            Effect::UpdateBranch {
                repo,
                number,
                expected_head,
            } => self.update_branch(repo, *number, expected_head).await,
            Effect::OpenRevert(wanted) => self.open_revert(wanted).await,
            Effect::EnableAutoMerge(wanted) => self.enable_auto_merge(wanted).await,
            Effect::DisableAutoMerge { repo, number } => {
                self.disable_auto_merge(repo, *number).await
            }
            Effect::Enqueue {
                repo,
                number,
                sha,
                base_ref,
            } => self.enqueue(repo, *number, sha, base_ref).await,
            Effect::ClosePull { repo, number } => refused_or(self.close_pull(repo, *number).await),
        }
    }
}

fn of(repo: &RepoRef) -> Who {
    Who::Installation(repo.installation)
}

/// A refusal by GitHub becomes an outcome; what is worth another try, or wrong on our side, stays an error.
fn refused_or(result: Result<Outcome, ApiError>) -> Result<Outcome, ApiError> {
    match result {
        Err(error @ (ApiError::Gone { .. } | ApiError::Refused { .. })) => Ok(Outcome::Refused {
            reason: error.to_string(),
        }),
        other => other,
    }
}
