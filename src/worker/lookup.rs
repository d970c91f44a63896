//! Subjects that are not pull requests themselves: find the pull requests, put each to work.

use super::evidence::was_seen;
use super::{Bench, Done, WorkError};
use crate::audit::{Body, EntryDraft};
use crate::domain::{
    InstallationId, IssueKind, IssueNumber, IssueRef, PullNumber, RepoRef, Sha, Subject, Trigger,
};
use crate::store::{Claim, InstallationStatus};

/// How often what is said on an Issue waits for the plan that opens it.
const OPENING_TRIES: u32 = 6;

impl Bench {
    /// A commit of a fork: its event named no pull request.
    pub(super) async fn pulls_of_head(
        &self,
        claim: &Claim,
        repo: &RepoRef,
        sha: &Sha,
    ) -> Result<Done, WorkError> {
        let known = self.store.pulls_with_head(repo.id, sha).await?;
        let mut numbers: Vec<_> = known
            .iter()
            .filter(|pull| !pull.closed)
            .map(|pull| pull.number)
            .collect();
        // CI of a commit that no pull request we judged has as head is no news: most of it is the base branch's.
        if numbers.is_empty() && claim.deep {
            numbers = self
                .github
                .pulls_with_head(repo, sha)
                .await?
                .into_iter()
                .map(|pull| pull.number)
                .collect();
        }
        for number in numbers {
            self.look_again(repo, number, claim.deep).await?;
        }
        Ok(Done::nothing())
    }

    /// A commit whose checks said something: of those that merges made, the pull request is looked at. No call.
    pub(super) async fn pull_of_commit(
        &self,
        repo: &RepoRef,
        sha: &Sha,
    ) -> Result<Done, WorkError> {
        if let Some(pull) = self.store.pull_merged_as(repo.id, sha).await? {
            self.look_again(repo, pull.number, false).await?;
        }
        Ok(Done::nothing())
    }

    /// An Issue: ours asks about a pull request, others are none of our business.
    pub(super) async fn pull_of_issue(
        &self,
        claim: &Claim,
        repo: &RepoRef,
        number: IssueNumber,
    ) -> Result<Done, WorkError> {
        // An answer can be faster than the end of the plan that asked. The tick is there for a plan that waits longer.
        let here = |issue: &Option<IssueNumber>| issue.is_none_or(|issue| issue == number);
        if claim.attempts < OPENING_TRIES {
            let in_hand = self.store.issues_in_hand(repo.id).await?;
            if in_hand.iter().any(here) {
                return Err(WorkError::BeingOpened);
            }
        }
        let Some(pull) = self.store.pull_for_issue(repo.id, number).await? else {
            return Ok(Done::nothing());
        };
        let here = |issue: &&IssueRef| issue.repo.id == repo.id && issue.number == number;
        let ballot = pull.inbox.ballot.as_ref().filter(here);
        match pull.issue.as_ref().filter(here).or(ballot) {
            Some(issue) => {
                let asks = issue.kind == IssueKind::PendingOwner;
                self.look_again(&pull.repo, pull.number, asks).await?;
            }
            None if pull.closed => {}
            None => self.late_word(&pull, repo, number).await?,
        }
        Ok(Done::nothing())
    }

    /// Every open pull request whose present head has not been judged, and those that wait for the merge gate.
    pub(super) async fn pulls_of_repo(&self, repo: &RepoRef) -> Result<Done, WorkError> {
        let policy = self.policy();
        let gated = policy.merge.enabled;
        for pull in self.github.open_pulls(repo).await? {
            let state = self.store.pull_state(repo.id, pull.number).await?;
            let judged = state.as_ref().is_some_and(|state| {
                state.head_sha == pull.head_sha
                    && state.decision.is_some()
                    // Without one, a part of the facts could not be read: it is tried again.
                    && state.fingerprint.is_some()
                    && state.issue_refused.is_none()
                    && was_seen(state, &policy)
            });
            if !judged {
                self.look_again(repo, pull.number, true).await?;
            } else if gated && state.is_some_and(|state| state.waits_to_merge()) {
                self.look_again(repo, pull.number, false).await?;
            }
        }
        Ok(Done::nothing())
    }

    /// Every supervised repository of an installation.
    pub(super) async fn repos_of_installation(
        &self,
        claim: &Claim,
        installation: InstallationId,
    ) -> Result<Done, WorkError> {
        let policy = self.policy();
        match self.store.installation(installation).await? {
            InstallationStatus::Active => {}
            // When it is lifted, GitHub says so, and everything is looked at.
            InstallationStatus::Suspended => return Ok(Done::nothing()),
            InstallationStatus::Removed => return self.removed(claim, installation).await,
        }
        for view in self.github.installation_repositories(installation).await? {
            if policy.is_gated(&view.repo.name) && !view.archived {
                let subject = Subject::Repo { repo: view.repo };
                let trigger = Trigger {
                    subject,
                    deep: true,
                    announces_head: None,
                };
                self.store.enqueue(trigger, self.clock.now()).await?;
            }
        }
        Ok(Done::nothing())
    }

    /// The App was uninstalled: one entry says so, since nothing of that account is gated from now on.
    async fn removed(
        &self,
        claim: &Claim,
        installation: InstallationId,
    ) -> Result<Done, WorkError> {
        let entry = EntryDraft {
            ts: self.clock.now(),
            decision: format!("i-{installation}/removed/{}", claim.generation),
            about: None,
            body: Body::InstallationRemoved { installation },
            policy: self.policy().digest.clone(),
            delivery: claim.deliveries.first().cloned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        if let Some(places) = self.audit.append(vec![entry]).await? {
            self.store.set_audit_tail(&places.last).await?;
            self.metrics.audited(1);
        }
        Ok(Done::nothing())
    }

    pub(super) async fn look_again(
        &self,
        repo: &RepoRef,
        number: PullNumber,
        deep: bool,
    ) -> Result<(), WorkError> {
        let subject = Subject::Pull {
            repo: repo.clone(),
            number,
        };
        let trigger = Trigger {
            subject,
            deep,
            announces_head: None,
        };
        self.store.enqueue(trigger, self.clock.now()).await?;
        Ok(())
    }
}
