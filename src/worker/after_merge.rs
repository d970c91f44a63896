//! After the merge (L2): the merged commit's required checks on the base branch, for two days.
//!
//! Webhooks and the sweep lead here; what is true is read anew each time. INVARIANT: one Issue and at most one revert
//! a merged commit, whatever comes how often; what cannot be read opens nothing.

use super::{Bench, Done, WorkError, retry};
use crate::domain::{AfterMerge, Known, PullState, RepoRef, Sha, Timestamp, Tree};
use crate::gate::revalidation::{self, BaseRun, MergedCommit, Revalidation};
use crate::gate::revert::{self, Revert, Target};
use crate::github::{ApiError, PullView, Seen};
use crate::plan::{self, IncidentInput, Issues, REVERT_BRANCH, Undo, labels};
use crate::policy::Policy;
use crate::store::Claim;
use std::collections::HashSet;
use std::time::Duration;

/// How long a merged commit is watched.
const WATCHED: Duration = Duration::from_hours(48);
/// The sweep looks at one this often.
const LOOKS: Duration = Duration::from_mins(10);

/// Is it time for the sweep to look at this merged commit?
pub(crate) fn due(state: &PullState, now: Timestamp) -> bool {
    state.after_merge.as_ref().is_some_and(|watch| {
        let looked = watch.looked_at.is_some_and(|at| now.since(at) < LOOKS);
        !watch.settled && !looked && now < watch.until
    })
}

/// The merged pull request that is looked at.
#[derive(Clone, Copy)]
struct Subject<'a> {
    claim: &'a Claim,
    repo: &'a RepoRef,
    pull: &'a PullView,
    policy: &'a Policy,
}

impl Bench {
    /// A merge that is to be watched: into a base branch of the gate, not long ago, with named checks.
    pub(super) fn watch(&self, pull: &PullView, policy: &Policy) -> Option<AfterMerge> {
        let repo = &pull.base.full_name;
        let (commit, merged_at) = (pull.merge_commit.clone()?, pull.merged_at?);
        let into = &pull.base.reference;
        let branches = &policy.merge.base_branches;
        let gated = if branches.is_empty() {
            // A default branch that is not told may be this one.
            pull.base
                .default_branch
                .as_ref()
                .is_none_or(|name| name == into)
        } else {
            branches.contains(into)
        };
        let named = !policy.ci_of(repo).required_checks.is_empty();
        let until = merged_at.plus(WATCHED);
        let watches = pull.merged
            && gated
            && named
            && policy.is_watched(repo)
            && !pull.base.archived
            && self.clock.now() < until;
        watches.then(|| AfterMerge {
            commit,
            base_ref: into.clone(),
            merged_at,
            until,
            looked_at: None,
            settled: false,
            incident: None,
            revert: None,
        })
    }

    /// Looks at the merged commit of a closed pull request, and makes true what follows.
    pub(super) async fn after_merge(
        &self,
        claim: &Claim,
        repo: &RepoRef,
        pull: &PullView,
        mut state: PullState,
        policy: &Policy,
    ) -> Result<Done, WorkError> {
        let now = self.clock.now();
        let Some(watch) = state.after_merge.as_mut().filter(|watch| now < watch.until) else {
            return self.nothing_to_do(claim, state, policy).await;
        };
        let all_said = watch
            .incident
            .as_ref()
            .is_some_and(|incident| incident.told || (watch.settled && watch.revert.is_none()));
        if all_said || pull.base.archived || !policy.is_watched(&repo.name) {
            return self.nothing_to_do(claim, state, policy).await;
        }
        let subject = Subject {
            claim,
            repo,
            pull,
            policy,
        };
        let commit = self.merged_commit(claim, repo, &watch.commit).await?;
        self.at("merged-commit-read");
        match revalidation::judge(&commit, &policy.ci_of(&repo.name)) {
            Revalidation::Failed(failed) => {
                // Boxed: rarely needed, and large.
                return Box::pin(self.incident(subject, state, &failed)).await;
            }
            Revalidation::Green | Revalidation::NotWatched => watch.settled = true,
            Revalidation::Pending(what) | Revalidation::Infrastructure(what) => {
                tracing::debug!(?what, "the merged commit has not failed");
            }
            Revalidation::Unknown(cause) => {
                tracing::warn!(%cause, "it cannot be said whether the merged commit fails");
            }
        }
        watch.looked_at = Some(now);
        self.nothing_to_do(claim, state, policy).await
    }

    /// What the merged commit's checks say.
    async fn merged_commit(
        &self,
        claim: &Claim,
        repo: &RepoRef,
        sha: &Sha,
    ) -> Result<MergedCommit, WorkError> {
        let (runs, statuses) = tokio::join!(
            self.github.timed_check_runs(repo, sha),
            self.github.statuses(repo, sha)
        );
        let runs = known(claim, runs)?;
        Ok(MergedCommit {
            sha: sha.clone(),
            check_runs: match runs {
                Known::Known(runs) => Known::Known(
                    runs.into_iter()
                        .map(|timed| BaseRun {
                            run: timed.run,
                            started_at: timed.started_at,
                            completed_at: timed.completed_at,
                        })
                        .collect(),
                ),
                Known::Unknown(cause) => Known::Unknown(cause),
            },
            statuses: known(claim, statuses)?,
        })
    }

    /// It fails for real: what of the Issue, the revert and the word about it is not there yet.
    async fn incident(
        &self,
        subject: Subject<'_>,
        state: PullState,
        failed: &[String],
    ) -> Result<Done, WorkError> {
        let Subject {
            claim,
            repo,
            pull,
            policy,
        } = subject;
        let Some(watch) = state.after_merge.clone() else {
            return Ok(Done::remember(state));
        };
        let undo = match &watch.revert {
            // Decided already: nothing of it is read again.
            Some(_) => Err(String::new()),
            None => self.undo(subject, &watch, failed).await?,
        };
        let inbox = self.inbox_repo(repo, policy).await?;
        let issues = match &inbox {
            Ok(inbox) => Issues::In(inbox),
            Err(reason) => {
                tracing::warn!(%reason, "the Issue about a failure after the merge cannot be opened");
                Issues::Unavailable(reason)
            }
        };
        let mut ensured = HashSet::new();
        for label in [labels::POST_MERGE_REVALIDATION, labels::AUTO_REVERT] {
            for place in inbox.as_ref().ok().into_iter().chain([repo]) {
                if self.store.label_ensured(place.id, label.name).await? {
                    ensured.insert((place.id, label.name));
                }
            }
        }
        // In a block of its own: what it borrows is not to live across a wait.
        let plan = {
            let input = IncidentInput {
                prior: &state,
                watch: &watch,
                repo,
                title: &pull.title,
                url: &pull.html_url,
                failed,
                undo: undo.as_ref().map_err(String::as_str),
                issues,
                has_label: &|repo, name| ensured.contains(&(repo, name)),
                language: policy.inbox.language,
                now: self.clock.now(),
                policy: &policy.digest,
                delivery: claim.deliveries.first(),
                version: env!("CARGO_PKG_VERSION"),
                web_base: &self.web_base,
            };
            let plan = plan::incident(&input);
            match plan::incident_news(&input) {
                Some(news) if plan.is_empty() => news,
                Some(_) | None => plan,
            }
        };
        if plan.is_empty() {
            return self.nothing_to_do(claim, plan.state_after, policy).await;
        }
        let done = self
            .save_and_carry_out(claim, plan, &Seen::nothing())
            .await?;
        if undo.is_ok() {
            // What became of the revert is told on the Issue by the look after this one.
            self.look_again(repo, pull.number, false).await?;
        }
        Ok(done)
    }

    /// What would take the commit back; `Err`: why only a person can.
    async fn undo(
        &self,
        subject: Subject<'_>,
        watch: &AfterMerge,
        failed: &[String],
    ) -> Result<Result<Undo, String>, WorkError> {
        let Subject {
            claim,
            repo,
            pull,
            policy,
        } = subject;
        let commit = if policy.auto_revert_pr {
            known(claim, self.github.commit(repo, &watch.commit).await)?
        } else {
            Known::Unknown("not asked for".to_owned())
        };
        let parents = match &commit {
            Known::Known(commit) => Known::Known(commit.parents.clone()),
            Known::Unknown(cause) => Known::Unknown(cause.clone()),
        };
        let parent = match parents.items() {
            [only] => Some(only.clone()),
            _ => None,
        };
        let target = Target {
            sha: watch.commit.clone(),
            is_revert: Known::Known(is_revert(pull)),
            is_whole: self.is_whole(subject, parent.as_ref()).await?,
            parents,
        };
        let outcome = Revalidation::Failed(failed.to_vec());
        match revert::judge(&outcome, &target, policy) {
            Revert::OpenPull { .. } => {}
            Revert::IssueOnly(reason) => return Ok(Err(reason)),
            Revert::NotNeeded => return Ok(Err("nothing failed".to_owned())),
        }
        let (Known::Known(commit), Some(parent)) = (commit, parent) else {
            return Ok(Err("there is nothing before the commit".to_owned()));
        };
        self.trees(subject, watch, &commit.tree, &parent).await
    }

    /// Compares the commit, its parent and the base's tip.
    async fn trees(
        &self,
        subject: Subject<'_>,
        watch: &AfterMerge,
        merged: &Sha,
        parent: &Sha,
    ) -> Result<Result<Undo, String>, WorkError> {
        let Subject { claim, repo, .. } = subject;
        let read = async {
            let Some(base_tip) = self.github.branch_tip(repo, &watch.base_ref).await? else {
                return Ok(Err(format!("the branch `{}` is gone", watch.base_ref)));
            };
            let tip = self.github.commit(repo, &base_tip).await?;
            let parent = self.github.commit(repo, parent).await?;
            let before: Tree = self.github.tree(repo, &parent.tree).await?;
            let after: Tree = self.github.tree(repo, merged).await?;
            let now = if tip.tree == *merged {
                after.clone()
            } else {
                self.github.tree(repo, &tip.tree).await?
            };
            Ok::<_, ApiError>(revert::undo(&before, &after, &now).map(|changes| Undo {
                base_tip,
                base_tree: tip.tree,
                changes,
            }))
        };
        match known(claim, read.await)? {
            Known::Known(undo) => Ok(undo),
            Known::Unknown(cause) => Ok(Err(format!("its files cannot be read: {cause}"))),
        }
    }

    /// Did the merge put all of its pull request into this one commit? A rebase puts each on the base by itself; then
    /// the parent is of the same pull request.
    async fn is_whole(
        &self,
        subject: Subject<'_>,
        parent: Option<&Sha>,
    ) -> Result<Known<bool>, WorkError> {
        let Subject {
            claim, repo, pull, ..
        } = subject;
        let Some(parent) = parent.filter(|_| pull.commits > 1) else {
            return Ok(Known::Known(true));
        };
        let pulls = known(claim, self.github.pulls_of_commit(repo, parent).await)?;
        Ok(match pulls {
            Known::Known(pulls) => {
                Known::Known(!pulls.iter().any(|other| other.number == pull.number))
            }
            Known::Unknown(cause) => Known::Unknown(cause),
        })
    }
}

/// A revert of ours, or what is marked as one.
fn is_revert(pull: &PullView) -> bool {
    let marked = |label: &String| label.eq_ignore_ascii_case(labels::AUTO_REVERT.name);
    pull.head.reference.starts_with(REVERT_BRANCH) || pull.labels.iter().any(marked)
}

/// What passes is tried again, as long as there are tries; what does not, or no longer, is unknown.
fn known<T>(claim: &Claim, read: Result<T, ApiError>) -> Result<Known<T>, WorkError> {
    match read {
        Ok(value) => Ok(Known::Known(value)),
        Err(error @ ApiError::Unreadable { .. }) => Ok(Known::Unknown(error.to_string())),
        Err(error) if error.is_retryable() && claim.attempts < retry::TRIES_BEFORE_UNKNOWN => {
            Err(error.into())
        }
        Err(error) => Ok(Known::Unknown(error.to_string())),
    }
}
