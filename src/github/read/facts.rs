//! The facts of one pull request: files, commits, check-runs, the labelling history.
//!
//! Three calls for a small pull request, in parallel; a fourth for the labelling history when it is wanted. A
//! list that GitHub cuts off (3,000 files, 250 commits) is returned as far as it goes beside the count that the
//! pull request states: the rules see the difference.

use super::{need, of, pull::PullView, sha, time};
use crate::domain::{
    AppId, CheckRunFact, CheckRunId, CommitFact, Facts, FileChange, FileStatus, Known, LabelAction,
    LabelEvent, PullNumber, RepoRef, Sha, Timestamp,
};
use crate::github::page::{Listing, refuse_twice};
use crate::github::path::ApiPath;
use crate::github::{ApiError, GitHub, wire};

/// GitHub lists no more files of a pull request than this.
const FILES_LISTED: u64 = 3000;
/// GitHub lists no more commits of a pull request than this.
const COMMITS_LISTED: u64 = 250;

/// What is to be read beyond files, commits and check-runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wants {
    /// The labelling history (only needed when a label is present that opens something).
    pub label_events: bool,
}

/// Facts as far as they could be read, and what failed.
#[derive(Debug)]
pub struct FactsRead {
    /// The facts; a list that failed is [`Known::Unknown`] with its cause.
    pub facts: Facts,
    /// The failures behind the unknown lists. Retry while one is worth it; then the facts stand as they are.
    pub failed: Vec<ApiError>,
}

impl FactsRead {
    /// The facts, if nothing failed; else the failure that most deserves a retry.
    ///
    /// # Errors
    /// One of the failures.
    pub fn complete(self) -> Result<Facts, ApiError> {
        let mut failed = self.failed;
        // The longest wait first: it covers the others.
        failed.sort_by_key(|error| std::cmp::Reverse((error.is_retryable(), error.retry_after())));
        match failed.into_iter().next() {
            None => Ok(self.facts),
            Some(error) => Err(error),
        }
    }
}

/// A check-run with what is needed to find our own.
#[derive(Debug, Clone)]
pub(in crate::github) struct OurRun {
    pub(in crate::github) id: CheckRunId,
    pub(in crate::github) name: String,
    pub(in crate::github) external_id: String,
}

impl OurRun {
    /// The run, if this App made it.
    pub(in crate::github) fn of(app: AppId, run: &CheckRunFact) -> Option<Self> {
        if run.app_id != Some(app) {
            return None;
        }
        Some(Self {
            id: run.id?,
            name: run.name.clone(),
            external_id: run.external_id.clone()?,
        })
    }
}

impl GitHub {
    /// Reads the facts of the head that `pull` shows. Three calls and the pages beyond the first; one more with
    /// [`Wants::label_events`]. `head_since` is the caller's knowledge, never a commit date.
    ///
    /// The head can move while this reads: the commits are read last, so when they hold the head, all of it is of that head.
    pub async fn facts(
        &self,
        repo: &RepoRef,
        pull: &PullView,
        head_since: Option<Timestamp>,
        wants: Wants,
    ) -> FactsRead {
        let label_events = async {
            if wants.label_events {
                self.label_events(repo, pull.number).await
            } else {
                Ok(Vec::new())
            }
        };
        let (files, check_runs, label_events) = tokio::join!(
            self.files(repo, pull.number, pull.changed_files),
            self.check_runs(repo, &pull.head.sha),
            label_events,
        );
        // Last, and not beside the others: a list of commits that still ends in the head shows that the files before it
        // were that head's, without a call more.
        let commits = self.commits(repo, pull.number, pull.commits).await;
        let mut failed = Vec::new();
        let facts = Facts {
            repo: pull.base.full_name.clone(),
            repo_id: Some(pull.base.repo_id),
            number: pull.number,
            author: pull.author.as_ref().map(|author| author.login.clone()),
            draft: pull.draft,
            base_ref: pull.base.reference.clone(),
            base_sha: pull.base.sha.clone(),
            head_sha: pull.head.sha.clone(),
            head_since,
            head_moved_to: None,
            changed_files: pull.changed_files,
            commit_count: pull.commits,
            labels: pull.labels.clone(),
            label_events: known(label_events, "labelling history", &mut failed),
            files: known(files, "files", &mut failed),
            commits: known(commits, "commits", &mut failed),
            check_runs: known(check_runs, "check-runs", &mut failed),
        };
        FactsRead { facts, failed }
    }

    /// The changed files that GitHub lists. With the expected count, pages are read in parallel. The list may be
    /// shorter than that (GitHub lists at most 3,000): compare.
    pub async fn files(
        &self,
        repo: &RepoRef,
        number: PullNumber,
        expected: u64,
    ) -> Result<Vec<FileChange>, ApiError> {
        const NAME: &str = "GET pull files";
        let listing = Listing {
            name: NAME,
            who: of(repo),
            path: ApiPath::repo(&repo.name)
                .seg("pulls")
                .seg(number)
                .seg("files"),
            expected: Some(expected.min(FILES_LISTED)),
        };
        let files = self
            .list::<Vec<wire::File>>(listing)
            .await?
            .items
            .into_iter()
            .map(|file| {
                Ok(FileChange {
                    path: need(NAME, file.filename, "filename")?,
                    previous_path: file.previous_filename,
                    status: FileStatus::from(file.status.unwrap_or_default()),
                    additions: file.additions.unwrap_or(0),
                    deletions: file.deletions.unwrap_or(0),
                    patch: file.patch,
                    base_content: None,
                    head_content: None,
                })
            })
            .collect::<Result<Vec<_>, ApiError>>()?;
        // A change of type can be listed as removed and added under one path.
        refuse_twice(NAME, &files, |file| (&file.path, &file.status))?;
        Ok(files)
    }

    /// The commits that GitHub lists, oldest first; at most 250 of them: compare with the expected count.
    pub async fn commits(
        &self,
        repo: &RepoRef,
        number: PullNumber,
        expected: u64,
    ) -> Result<Vec<CommitFact>, ApiError> {
        const NAME: &str = "GET pull commits";
        let listing = Listing {
            name: NAME,
            who: of(repo),
            path: ApiPath::repo(&repo.name)
                .seg("pulls")
                .seg(number)
                .seg("commits"),
            expected: Some(expected.min(COMMITS_LISTED)),
        };
        let commits = self
            .list::<Vec<wire::Commit>>(listing)
            .await?
            .items
            .into_iter()
            .map(|commit| {
                let message = commit.said.and_then(|said| said.message);
                Ok(CommitFact {
                    sha: sha(NAME, commit.sha, "sha")?,
                    message: need(NAME, message, "commit.message")?,
                    parents: commit
                        .parents
                        .unwrap_or_default()
                        .into_iter()
                        .map(|parent| sha(NAME, parent.sha, "parents.sha"))
                        .collect::<Result<_, _>>()?,
                })
            })
            .collect::<Result<Vec<_>, ApiError>>()?;
        refuse_twice(NAME, &commits, |commit| &commit.sha)?;
        Ok(commits)
    }

    /// All check-runs on a commit, old attempts included (`filter=all`).
    ///
    /// # Errors
    /// [`ApiError::Unreadable`] when fewer or more come than GitHub says there are. GitHub looks at the newest
    /// 1,000 check suites of a commit only, and counts the same ones.
    pub async fn check_runs(
        &self,
        repo: &RepoRef,
        head: &Sha,
    ) -> Result<Vec<CheckRunFact>, ApiError> {
        const NAME: &str = "GET check-runs";
        let path = ApiPath::repo(&repo.name)
            .seg("commits")
            .seg(head)
            .seg("check-runs")
            .query("filter", "all");
        self.list_check_runs(NAME, repo, path).await
    }

    pub(in crate::github) async fn list_check_runs(
        &self,
        name: &'static str,
        repo: &RepoRef,
        path: ApiPath,
    ) -> Result<Vec<CheckRunFact>, ApiError> {
        self.wire_check_runs(name, repo, path)
            .await?
            .into_iter()
            .map(|run| check_run(name, run))
            .collect()
    }

    /// A whole list of check-runs, each once.
    pub(super) async fn wire_check_runs(
        &self,
        name: &'static str,
        repo: &RepoRef,
        path: ApiPath,
    ) -> Result<Vec<wire::CheckRun>, ApiError> {
        let listing = Listing {
            name,
            who: of(repo),
            path,
            expected: None,
        };
        let list = self.list::<wire::CheckRuns>(listing).await?;
        let runs = list.items;
        refuse_twice(name, &runs, |run| run.id)?;
        let (total, listed) = (list.total.unwrap_or(0), runs.len());
        if u64::try_from(listed).ok() != Some(total) {
            let problem = format!("GitHub counts {total} check-runs and lists {listed}");
            return Err(ApiError::unreadable(name, problem));
        }
        Ok(runs)
    }

    /// The labelling history, oldest first. One call for each hundred events of any kind.
    pub async fn label_events(
        &self,
        repo: &RepoRef,
        number: PullNumber,
    ) -> Result<Vec<LabelEvent>, ApiError> {
        const NAME: &str = "GET issue events";
        let listing = Listing {
            name: NAME,
            who: of(repo),
            path: ApiPath::repo(&repo.name)
                .seg("issues")
                .seg(number)
                .seg("events"),
            expected: None,
        };
        let mut events = Vec::new();
        for event in self.list::<Vec<wire::IssueEvent>>(listing).await?.items {
            let action = match need(NAME, event.event, "event")?.as_str() {
                "labeled" => LabelAction::Labeled,
                "unlabeled" => LabelAction::Unlabeled,
                _ => continue,
            };
            let label = event.label.and_then(wire::Label::name);
            let actor = event.actor.and_then(wire::User::account);
            events.push(LabelEvent {
                label: need(NAME, label, "label.name")?,
                action,
                actor: actor.as_ref().map(|actor| actor.login.clone()),
                actor_id: actor.as_ref().map(|actor| actor.id),
                actor_type: actor.map(|actor| actor.kind),
                at: time(NAME, event.created_at, "created_at")?,
            });
        }
        // Stable: events of one second keep GitHub's order.
        events.sort_by_key(|event| event.at);
        Ok(events)
    }
}

pub(super) fn check_run(name: &'static str, run: wire::CheckRun) -> Result<CheckRunFact, ApiError> {
    let app = run.app.unwrap_or_default();
    let output = run.output.unwrap_or_default();
    Ok(CheckRunFact {
        name: need(name, run.name, "name")?,
        id: Some(CheckRunId(need(name, run.id, "id")?)),
        app_slug: app.slug,
        app_id: app.id.map(AppId),
        status: need(name, run.status, "status")?,
        conclusion: run.conclusion,
        external_id: run.external_id.filter(|id| !id.is_empty()),
        title: output.title,
        summary: output.summary,
        text: output.text,
    })
}

fn known<T>(
    read: Result<Vec<T>, ApiError>,
    what: &str,
    failed: &mut Vec<ApiError>,
) -> Known<Vec<T>> {
    match read {
        Ok(items) => Known::Known(items),
        Err(error) => {
            let cause = format!("{what} could not be read: {error}");
            failed.push(error);
            Known::Unknown(cause)
        }
    }
}
