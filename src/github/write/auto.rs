//! Handing a pull request over to GitHub: auto-merge, and the merge queue. Both carry the head that was judged.
//!
//! INVARIANT: whatever GitHub does not carry out is an outcome or an error, never a success; what stands already is
//! found by looking first.

use super::merge::{ended, overtaken};
use super::of;
use crate::domain::{MergeEffect, Outcome, PullNumber, RepoRef, Sha};
use crate::github::graphql::Answered;
use crate::github::{ApiError, GitHub, PullView};
use serde_json::{Value, json};

const ENABLE: &str = "mutation($input: EnablePullRequestAutoMergeInput!) { \
    enablePullRequestAutoMerge(input: $input) { clientMutationId } }";
const DISABLE: &str = "mutation($input: DisablePullRequestAutoMergeInput!) { \
    disablePullRequestAutoMerge(input: $input) { clientMutationId } }";
const ENQUEUE: &str = "mutation($input: EnqueuePullRequestInput!) { \
    enqueuePullRequest(input: $input) { clientMutationId } }";

impl GitHub {
    /// Switches auto-merge on. A pull request that GitHub would merge at once cannot have it: it is merged.
    pub(super) async fn enable_auto_merge(
        &self,
        wanted: &MergeEffect,
    ) -> Result<Outcome, ApiError> {
        let pull = match self
            .judged(&wanted.repo, wanted.number, &wanted.sha, &wanted.base_ref)
            .await
        {
            Ok(pull) => pull,
            Err(end) => return end,
        };
        if pull.auto_merge.is_some() {
            return Ok(Outcome::Done);
        }
        let input = json!({"input": {
            "pullRequestId": pull.node_id,
            "mergeMethod": wanted.method.as_str().to_ascii_uppercase(),
            "expectedHeadOid": wanted.sha,
        }});
        match self
            .mutate("enable auto-merge", &wanted.repo, ENABLE, input)
            .await?
        {
            Outcome::Refused { reason } if reason.contains("clean status") => {
                self.merge(wanted).await
            }
            Outcome::Refused { reason } => {
                self.stale_or_refused(&wanted.repo, wanted.number, &wanted.sha, reason)
                    .await
            }
            done => Ok(done),
        }
    }

    /// Switches auto-merge off.
    pub(super) async fn disable_auto_merge(
        &self,
        repo: &RepoRef,
        number: PullNumber,
    ) -> Result<Outcome, ApiError> {
        let pull = match self.pull(repo, number).await {
            Ok(pull) => pull,
            Err(error) => return ended(error),
        };
        if pull.auto_merge.is_none() || !pull.open {
            return Ok(Outcome::Done);
        }
        let input = json!({"input": {"pullRequestId": pull.node_id}});
        self.mutate("disable auto-merge", repo, DISABLE, input)
            .await
    }

    /// Puts the pull request into the merge queue.
    pub(super) async fn enqueue(
        &self,
        repo: &RepoRef,
        number: PullNumber,
        sha: &Sha,
        base_ref: &str,
    ) -> Result<Outcome, ApiError> {
        let pull = match self.judged(repo, number, sha, base_ref).await {
            Ok(pull) => pull,
            Err(end) => return end,
        };
        if self.is_queued(repo, &pull).await? {
            return Ok(Outcome::Done);
        }
        let input = json!({"input": {"pullRequestId": pull.node_id, "expectedHeadOid": sha}});
        match self.mutate("enqueue", repo, ENQUEUE, input).await? {
            Outcome::Refused { reason } => self.stale_or_refused(repo, number, sha, reason).await,
            done => Ok(done),
        }
    }

    /// The pull request, if it is still the one that was judged; else what ends the effect.
    async fn judged(
        &self,
        repo: &RepoRef,
        number: PullNumber,
        sha: &Sha,
        base_ref: &str,
    ) -> Result<PullView, Result<Outcome, ApiError>> {
        let pull = self.pull(repo, number).await.map_err(ended)?;
        match overtaken(&pull, sha, base_ref) {
            Some(outcome) => Err(Ok(outcome)),
            None => Ok(pull),
        }
    }

    async fn mutate(
        &self,
        name: &'static str,
        repo: &RepoRef,
        document: &str,
        input: Value,
    ) -> Result<Outcome, ApiError> {
        match self.graphql(name, of(repo), document, input).await {
            Ok(Answered::Data(_)) => Ok(Outcome::Done),
            Ok(Answered::Refused(words)) => Ok(Outcome::Refused {
                reason: format!("GitHub refuses to {name}: {words}"),
            }),
            Err(error) => ended(error),
        }
    }

    /// GraphQL has no status for a head that moved: a look tells.
    async fn stale_or_refused(
        &self,
        repo: &RepoRef,
        number: PullNumber,
        sha: &Sha,
        reason: String,
    ) -> Result<Outcome, ApiError> {
        match self.pull(repo, number).await {
            Ok(pull) if pull.head.sha != *sha => Ok(Outcome::Stale { reason }),
            Ok(_) => Ok(Outcome::Refused { reason }),
            Err(error) => ended(error),
        }
    }
}
