//! Pull requests, arranged and seen.

use super::account;
use crate::{FakeGitHub, FileSpec, PullSpec, model::pull::HeadRepo};

/// A pull request as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullSeen {
    /// Its number.
    pub number: u64,
    /// Is it open?
    pub open: bool,
    /// Was it merged?
    pub merged: bool,
    /// The commit the merge made.
    pub merge_commit: Option<String>,
    /// Its head.
    pub head_sha: String,
    /// The base it was compared with.
    pub base_sha: String,
    /// The base branch.
    pub base_ref: String,
    /// Labels that are set.
    pub labels: Vec<String>,
    /// Is it a draft?
    pub draft: bool,
}

impl FakeGitHub {
    /// Opens a pull request; answers its number.
    #[track_caller]
    pub fn open_pull(&self, repo: &str, spec: &PullSpec) -> u64 {
        self.in_repo(repo, |world, id| {
            let author = account(world, &spec.author);
            world.open_pull(id, spec, author)
        })
    }

    /// How it stands.
    #[track_caller]
    pub fn pull(&self, repo: &str, number: u64) -> PullSeen {
        self.in_repo(repo, |world, id| {
            let (issue, pull) = (world.issue(id, number)?, world.pull(id, number)?);
            Ok(PullSeen {
                number,
                open: issue.open,
                merged: pull.merged_at.is_some(),
                merge_commit: pull.merge_commit.clone(),
                head_sha: pull.head.sha.clone(),
                base_sha: pull.base_sha.clone(),
                base_ref: pull.base_ref.clone(),
                labels: issue.labels.clone(),
                draft: pull.draft,
            })
        })
    }

    /// A push by the author: one more commit, and the files as they are listed from now on. Answers the head.
    #[track_caller]
    pub fn push(&self, repo: &str, number: u64, message: &str, files: &[FileSpec]) -> String {
        self.push_with(repo, number, &[message], files, false)
    }

    /// A forced push: the commits before are gone. Answers the head.
    #[track_caller]
    pub fn force_push(
        &self,
        repo: &str,
        number: u64,
        messages: &[&str],
        files: &[FileSpec],
    ) -> String {
        self.push_with(repo, number, messages, files, true)
    }

    /// A forced push of the head from before. Answers the head.
    #[track_caller]
    pub fn push_back(&self, repo: &str, number: u64) -> String {
        self.in_repo(repo, |world, id| {
            let author = world.issue(id, number)?.author;
            world.push_back(id, number, author)
        })
    }

    #[track_caller]
    fn push_with(
        &self,
        repo: &str,
        number: u64,
        messages: &[&str],
        files: &[FileSpec],
        force: bool,
    ) -> String {
        let messages: Vec<String> = messages.iter().map(|text| (*text).into()).collect();
        self.in_repo(repo, |world, id| {
            let author = world.issue(id, number)?.author;
            world.push_pull(id, number, &messages, files, force, author)
        })
    }

    /// The author points it at another base branch.
    #[track_caller]
    pub fn retarget(&self, repo: &str, number: u64, base: &str) {
        self.in_repo(repo, |world, id| {
            let author = world.issue(id, number)?.author;
            world.retarget(id, number, base, author)
        });
    }

    /// The author makes it a draft or ready.
    #[track_caller]
    pub fn set_draft(&self, repo: &str, number: u64, draft: bool) {
        self.in_repo(repo, |world, id| {
            let author = world.issue(id, number)?.author;
            world.set_draft(id, number, draft, author)
        });
    }

    /// `None`: GitHub has not computed it; `Some(false)`: it conflicts.
    #[track_caller]
    pub fn set_mergeable(&self, repo: &str, number: u64, mergeable: Option<bool>) {
        self.in_repo(repo, |world, id| {
            world.pull_mut(id, number)?.mergeable = mergeable;
            Ok(())
        });
    }

    /// The pull request says it changes so many files, whatever the list holds; `None` tells the truth again.
    #[track_caller]
    pub fn lie_about_files(&self, repo: &str, number: u64, count: Option<u64>) {
        self.in_repo(repo, |world, id| {
            world.pull_mut(id, number)?.changed_files = count;
            Ok(())
        });
    }

    /// The pull request says it has so many commits.
    #[track_caller]
    pub fn lie_about_commits(&self, repo: &str, number: u64, count: Option<u64>) {
        self.in_repo(repo, |world, id| {
            world.pull_mut(id, number)?.commit_count = count;
            Ok(())
        });
    }

    /// Its fork was deleted: `head.repo` is null.
    #[track_caller]
    pub fn delete_fork(&self, repo: &str, number: u64) {
        self.in_repo(repo, |world, id| {
            world.pull_mut(id, number)?.head_repo = HeadRepo::Deleted;
            Ok(())
        });
    }

    /// Is auto-merge switched on?
    #[track_caller]
    pub fn auto_merge(&self, repo: &str, number: u64) -> bool {
        self.in_repo(repo, |world, id| {
            Ok(world.pull(id, number)?.auto_merge.is_some())
        })
    }

    /// Somebody switches auto-merge off.
    #[track_caller]
    pub fn switch_auto_merge_off(&self, repo: &str, number: u64) {
        self.in_repo(repo, |world, id| {
            world.pull_mut(id, number)?.auto_merge = None;
            Ok(())
        });
    }

    /// Is the pull request in the merge queue?
    #[track_caller]
    pub fn queued(&self, repo: &str, number: u64) -> bool {
        self.in_repo(repo, |world, id| Ok(world.pull(id, number)?.queued))
    }

    /// The merge queue drops the pull request.
    #[track_caller]
    pub fn dequeue(&self, repo: &str, number: u64) {
        self.in_repo(repo, |world, id| {
            world.pull_mut(id, number)?.queued = false;
            Ok(())
        });
    }

    /// The merge queue groups pull requests and asks for the group's checks; answers the group's head.
    #[track_caller]
    pub fn merge_group(&self, repo: &str, base: &str, numbers: &[u64]) -> String {
        self.in_repo(repo, |world, id| {
            let owner = world.repo(id)?.owner;
            world.merge_group(id, base, numbers, owner)
        })
    }
}
