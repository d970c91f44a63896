//! The commits that a merge group puts on top of its base.

use super::{need, of, sha};
use crate::domain::{RepoRef, Sha};
use crate::github::call::Call;
use crate::github::path::ApiPath;
use crate::github::{ApiError, GitHub, wire};

/// One commit of a merge group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupCommit {
    /// Its SHA.
    pub sha: Sha,
    /// Its parents, the first one first.
    pub parents: Vec<Sha>,
    /// The first line of its message.
    pub subject: String,
}

impl GitHub {
    /// The commits between `base` and `head`, at most 250. One call.
    ///
    /// # Errors
    /// As any call; [`ApiError::Unreadable`] when GitHub does not list all of them.
    pub async fn group_commits(
        &self,
        repo: &RepoRef,
        base: &Sha,
        head: &Sha,
    ) -> Result<Vec<GroupCommit>, ApiError> {
        const NAME: &str = "GET compare";
        let path = ApiPath::repo(&repo.name)
            .seg("compare")
            .seg(format!("{base}...{head}"));
        let comparison: wire::Comparison = self.json(Call::get(NAME, of(repo), path)).await?;
        let total = need(NAME, comparison.total_commits, "total_commits")?;
        let commits = need(NAME, comparison.commits, "commits")?;
        if commits.len() as u64 != total {
            let problem = format!("{} of {total} commits are listed", commits.len());
            return Err(ApiError::unreadable(NAME, problem));
        }
        commits
            .into_iter()
            .map(|commit| {
                let parents = need(NAME, commit.parents, "parents")?;
                let message = commit
                    .said
                    .and_then(|said| said.message)
                    .unwrap_or_default();
                Ok(GroupCommit {
                    sha: sha(NAME, commit.sha, "sha")?,
                    parents: parents
                        .into_iter()
                        .map(|parent| sha(NAME, parent.sha, "parents.sha"))
                        .collect::<Result<_, _>>()?,
                    subject: message.lines().next().unwrap_or_default().to_owned(),
                })
            })
            .collect()
    }
}
