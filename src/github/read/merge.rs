//! What only the merge gate asks for: the repository's ways to merge, how far a head is behind, statuses, and the
//! newest check-runs.

use super::{need, of};
use crate::domain::{CheckRunFact, MergeMethod, RepoRef, Sha, StatusFact};
use crate::github::call::Call;
use crate::github::graphql::Answered;
use crate::github::page::Listing;
use crate::github::path::ApiPath;
use crate::github::{ApiError, GitHub, PullView, wire};
use serde_json::{Value, json};

/// How a repository lets itself be merged into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeSettings {
    /// Its default branch.
    pub default_branch: String,
    /// The ways it allows.
    pub allowed_methods: Vec<MergeMethod>,
}

impl GitHub {
    /// The repository's default branch and ways to merge. One call.
    ///
    /// # Errors
    /// [`ApiError::Unreadable`] when GitHub does not tell them: it does so only where contents may be written.
    pub async fn merge_settings(&self, repo: &RepoRef) -> Result<MergeSettings, ApiError> {
        const NAME: &str = "GET repo";
        let call = Call::get(NAME, of(repo), ApiPath::repo(&repo.name));
        let read: wire::MergeSettings = self.json(call).await?;
        let allowed = [
            (
                MergeMethod::Squash,
                read.allow_squash_merge,
                "allow_squash_merge",
            ),
            (
                MergeMethod::Merge,
                read.allow_merge_commit,
                "allow_merge_commit",
            ),
            (
                MergeMethod::Rebase,
                read.allow_rebase_merge,
                "allow_rebase_merge",
            ),
        ];
        let mut allowed_methods = Vec::new();
        for (method, is_allowed, member) in allowed {
            if need(NAME, is_allowed, member)? {
                allowed_methods.push(method);
            }
        }
        Ok(MergeSettings {
            default_branch: need(NAME, read.default_branch, "default_branch")?,
            allowed_methods,
        })
    }

    /// Is the pull request in the merge queue? One call.
    ///
    /// # Errors
    /// [`ApiError::Unreadable`] when GitHub does not say.
    pub async fn is_queued(&self, repo: &RepoRef, pull: &PullView) -> Result<bool, ApiError> {
        const NAME: &str = "query merge queue";
        const QUERY: &str =
            "query($id: ID!) { node(id: $id) { ... on PullRequest { isInMergeQueue } } }";
        match self
            .graphql(NAME, of(repo), QUERY, json!({"id": pull.node_id}))
            .await?
        {
            Answered::Data(data) => data
                .pointer("/node/isInMergeQueue")
                .and_then(Value::as_bool)
                .ok_or_else(|| ApiError::unreadable(NAME, "an answer without `isInMergeQueue`")),
            Answered::Refused(words) => Err(ApiError::unreadable(NAME, words)),
        }
    }

    /// How many commits of the branch's present tip the head does not contain. One call.
    pub async fn behind_by(
        &self,
        repo: &RepoRef,
        branch: &str,
        head: &Sha,
    ) -> Result<u64, ApiError> {
        const NAME: &str = "GET compare";
        let path = ApiPath::repo(&repo.name)
            .seg("compare")
            .seg(format!("{branch}...{head}"))
            // The count is asked for, not the commits.
            .query("per_page", 1);
        let read: wire::Comparison = self.json(Call::get(NAME, of(repo), path)).await?;
        need(NAME, read.behind_by, "behind_by")
    }

    /// The check-runs on a commit, of each name in each check suite the newest (`filter=latest`).
    ///
    /// # Errors
    /// Those of [`GitHub::check_runs`].
    pub async fn latest_check_runs(
        &self,
        repo: &RepoRef,
        head: &Sha,
    ) -> Result<Vec<CheckRunFact>, ApiError> {
        const NAME: &str = "GET latest check-runs";
        let path = ApiPath::repo(&repo.name)
            .seg("commits")
            .seg(head)
            .seg("check-runs")
            .query("filter", "latest");
        self.list_check_runs(NAME, repo, path).await
    }

    /// The newest commit status of each context on a commit. One call for each hundred statuses, old ones included:
    /// the combined answer does not say who set them.
    pub async fn statuses(&self, repo: &RepoRef, head: &Sha) -> Result<Vec<StatusFact>, ApiError> {
        const NAME: &str = "GET statuses";
        let listing = Listing {
            name: NAME,
            who: of(repo),
            path: ApiPath::repo(&repo.name)
                .seg("commits")
                .seg(head)
                .seg("statuses"),
            expected: None,
        };
        let mut newest: Vec<StatusFact> = Vec::new();
        // GitHub lists the newest first.
        for status in self.list::<Vec<wire::Status>>(listing).await?.items {
            let context = need(NAME, status.context, "context")?;
            if newest.iter().any(|known| known.context == context) {
                continue;
            }
            newest.push(StatusFact {
                context,
                state: need(NAME, status.state, "state")?,
                creator: status.creator.and_then(wire::User::account),
            });
        }
        Ok(newest)
    }
}
