//! Git's own objects: the tip of a branch, a commit, all files of a tree. What a revert needs, without a clone.

use super::{need, of, sha};
use crate::domain::{Blob, CheckRunFact, RepoRef, Sha, Timestamp, Tree};
use crate::github::call::Call;
use crate::github::path::ApiPath;
use crate::github::{ApiError, GitHub, wire};

use super::facts::check_run;
use super::pull::PullBrief;

/// A commit as git has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitView {
    /// Its SHA.
    pub sha: Sha,
    /// Its tree.
    pub tree: Sha,
    /// Its parents, in order.
    pub parents: Vec<Sha>,
}

/// A check-run with its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedRun {
    /// The run.
    pub run: CheckRunFact,
    /// When it began, where GitHub says so.
    pub started_at: Option<Timestamp>,
    /// When it ended, where GitHub says so.
    pub completed_at: Option<Timestamp>,
}

impl GitHub {
    /// The commit a branch is on; `None` when there is no such branch. One call.
    pub async fn branch_tip(&self, repo: &RepoRef, branch: &str) -> Result<Option<Sha>, ApiError> {
        const NAME: &str = "GET ref";
        let mut path = ApiPath::repo(&repo.name).seg("git").seg("ref").seg("heads");
        for part in branch.split('/') {
            path = path.seg(part);
        }
        match self
            .json::<wire::GitRef>(Call::get(NAME, of(repo), path))
            .await
        {
            Ok(found) => {
                let object = found.object.and_then(|object| object.sha);
                sha(NAME, object, "object.sha").map(Some)
            }
            Err(ApiError::Gone { status: 404, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A commit with its tree and parents. One call.
    pub async fn commit(&self, repo: &RepoRef, commit: &Sha) -> Result<CommitView, ApiError> {
        const NAME: &str = "GET git commit";
        let path = ApiPath::repo(&repo.name)
            .seg("git")
            .seg("commits")
            .seg(commit);
        let read: wire::GitCommit = self.json(Call::get(NAME, of(repo), path)).await?;
        CommitView::read(NAME, read)
    }

    /// Every file of a tree. One call.
    ///
    /// # Errors
    /// [`ApiError::Unreadable`] when GitHub does not list all of it (over 100,000 entries or 7 MB).
    pub async fn tree(&self, repo: &RepoRef, tree: &Sha) -> Result<Tree, ApiError> {
        const NAME: &str = "GET git tree";
        let path = ApiPath::repo(&repo.name)
            .seg("git")
            .seg("trees")
            .seg(tree)
            .query("recursive", 1);
        let read: wire::GitTree = self.json(Call::get(NAME, of(repo), path)).await?;
        if need(NAME, read.truncated, "truncated")? {
            return Err(ApiError::unreadable(
                NAME,
                "the tree is too large to be listed whole",
            ));
        }
        let mut files = Tree::new();
        for entry in need(NAME, read.tree, "tree")? {
            if need(NAME, entry.kind, "tree.type")? == "tree" {
                continue;
            }
            let blob = Blob {
                mode: need(NAME, entry.mode, "tree.mode")?,
                sha: sha(NAME, entry.sha, "tree.sha")?,
            };
            files.insert(need(NAME, entry.path, "tree.path")?, blob);
        }
        Ok(files)
    }

    /// The pull requests that brought a commit, or hold it. One call for each hundred.
    pub async fn pulls_of_commit(
        &self,
        repo: &RepoRef,
        commit: &Sha,
    ) -> Result<Vec<PullBrief>, ApiError> {
        let path = ApiPath::repo(&repo.name)
            .seg("commits")
            .seg(commit)
            .seg("pulls");
        self.briefs("GET commit pulls", repo, path).await
    }

    /// The check-runs on a commit with their times, of each name in each check suite the newest (`filter=latest`).
    ///
    /// # Errors
    /// Those of [`GitHub::check_runs`].
    pub async fn timed_check_runs(
        &self,
        repo: &RepoRef,
        commit: &Sha,
    ) -> Result<Vec<TimedRun>, ApiError> {
        const NAME: &str = "GET latest check-runs";
        let path = ApiPath::repo(&repo.name)
            .seg("commits")
            .seg(commit)
            .seg("check-runs")
            .query("filter", "latest");
        // A time that cannot be read is unknown: a failure without times is a real one.
        let time = |text: Option<&String>| text.and_then(|text| text.parse().ok());
        self.wire_check_runs(NAME, repo, path)
            .await?
            .into_iter()
            .map(|run| {
                Ok(TimedRun {
                    started_at: time(run.started_at.as_ref()),
                    completed_at: time(run.completed_at.as_ref()),
                    run: check_run(NAME, run)?,
                })
            })
            .collect()
    }
}

impl CommitView {
    pub(in crate::github) fn read(
        name: &'static str,
        commit: wire::GitCommit,
    ) -> Result<Self, ApiError> {
        Ok(Self {
            sha: sha(name, commit.sha, "sha")?,
            tree: sha(name, commit.tree.and_then(|tree| tree.sha), "tree.sha")?,
            parents: need(name, commit.parents, "parents")?
                .into_iter()
                .map(|parent| sha(name, parent.sha, "parents.sha"))
                .collect::<Result<_, _>>()?,
        })
    }
}
