//! Pull requests: one in full, or many in brief.

use super::{need, of, sha, time};
use crate::domain::{Account, PullNumber, RepoId, RepoName, RepoRef, Sha, Timestamp};
use crate::github::call::Call;
use crate::github::page::Listing;
use crate::github::path::ApiPath;
use crate::github::{ApiError, GitHub, wire};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// A pull request as its own page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullView {
    /// Its number.
    pub number: PullNumber,
    /// Is it open? A word for the state that is new to us counts as closed.
    pub open: bool,
    /// Was it merged?
    pub merged: bool,
    /// Is it a draft?
    pub draft: bool,
    /// What it brings.
    pub head: HeadView,
    /// Where it goes.
    pub base: BaseView,
    /// Who opened it; `None` when the account is gone.
    pub author: Option<Account>,
    /// Names of the labels that are present, as GitHub orders them.
    pub labels: Vec<String>,
    /// How many files it says it changes.
    pub changed_files: u64,
    /// How many commits it says it has.
    pub commits: u64,
    /// Its title.
    pub title: String,
    /// Its description; `None` when empty.
    pub body: Option<String>,
    /// Can it be merged without conflicts? `None` while GitHub has not computed it.
    pub mergeable: Option<bool>,
    /// When it last changed, by GitHub's clock.
    pub updated_at: Timestamp,
    /// Its page.
    pub html_url: String,
    /// Its id in GraphQL.
    pub node_id: String,
    /// Login of the account that switched auto-merge on, empty when the account is gone; `None`: it is off.
    pub auto_merge: Option<String>,
}

/// The head of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadView {
    /// The commit that is judged.
    pub sha: Sha,
    /// The branch's name, without `refs/heads/`.
    pub reference: String,
    /// The repository it lies in; `None` when the fork was deleted.
    pub repo_id: Option<RepoId>,
}

/// The base of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseView {
    /// The commit it is compared with.
    pub sha: Sha,
    /// The branch's name, without `refs/heads/`.
    pub reference: String,
    /// The repository.
    pub repo_id: RepoId,
    /// Its name of the moment.
    pub full_name: RepoName,
    /// Is it archived (read-only)?
    pub archived: bool,
}

/// A pull request in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullBrief {
    /// Its number.
    pub number: PullNumber,
    /// The head at the time of listing.
    pub head_sha: Sha,
    /// Is it open?
    pub open: bool,
}

impl PullView {
    /// A digest of all that the pull request itself shows and that a decision rests on: equal digests need no new
    /// reading of files. The texts (title, description), `mergeable` and `updated_at` are left out.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut labels = self.labels.clone();
        labels.sort_unstable();
        labels.dedup();
        let seen = json!([
            1,
            self.number.0,
            [self.open, self.merged, self.draft, self.base.archived],
            [self.head.sha.as_str(), &self.head.reference],
            self.head.repo_id.map(|id| id.0),
            [self.base.sha.as_str(), &self.base.reference],
            self.base.repo_id.0,
            self.base.full_name.as_str(),
            self.author,
            labels,
            [self.changed_files, self.commits],
        ]);
        let mut text = String::from("sha256:");
        for byte in Sha256::digest(seen.to_string()) {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    fn read(name: &'static str, pull: wire::Pull) -> Result<Self, ApiError> {
        let head = need(name, pull.head, "head")?;
        let base = need(name, pull.base, "base")?;
        let base_repo = need(name, base.repo, "base.repo")?;
        Ok(Self {
            number: PullNumber(need(name, pull.number, "number")?),
            open: need(name, pull.state, "state")? == "open",
            merged: pull.merged.unwrap_or(pull.merged_at.is_some()),
            draft: pull.draft.unwrap_or(false),
            head: HeadView {
                sha: sha(name, head.sha, "head.sha")?,
                reference: need(name, head.reference, "head.ref")?,
                repo_id: head.repo.and_then(|repo| repo.id).map(RepoId),
            },
            base: BaseView {
                sha: sha(name, base.sha, "base.sha")?,
                reference: need(name, base.reference, "base.ref")?,
                repo_id: RepoId(need(name, base_repo.id, "base.repo.id")?),
                full_name: need(name, base_repo.full_name, "base.repo.full_name")?
                    .parse()
                    .map_err(|_| ApiError::unreadable(name, "`base.repo.full_name` is no name"))?,
                archived: base_repo.archived.unwrap_or(false),
            },
            author: pull.user.and_then(wire::User::account),
            labels: need(name, pull.labels, "labels")?
                .into_iter()
                .filter_map(wire::Label::name)
                .collect(),
            changed_files: need(name, pull.changed_files, "changed_files")?,
            commits: need(name, pull.commits, "commits")?,
            title: pull.title.unwrap_or_default(),
            body: pull.body,
            mergeable: pull.mergeable,
            updated_at: time(name, pull.updated_at, "updated_at")?,
            html_url: pull.html_url.unwrap_or_default(),
            node_id: pull.node_id.unwrap_or_default(),
            auto_merge: pull
                .auto_merge
                .map(|on| on.enabled_by.and_then(|by| by.login).unwrap_or_default()),
        })
    }
}

impl PullBrief {
    fn read(name: &'static str, pull: wire::Pull) -> Result<Self, ApiError> {
        Ok(Self {
            number: PullNumber(need(name, pull.number, "number")?),
            head_sha: sha(name, pull.head.and_then(|head| head.sha), "head.sha")?,
            open: pull.state.as_deref() == Some("open"),
        })
    }
}

impl GitHub {
    /// A pull request as it is now. One call.
    ///
    /// # Errors
    /// [`ApiError::Gone`] also when another repository has taken the name meanwhile: the id decides.
    pub async fn pull(&self, repo: &RepoRef, number: PullNumber) -> Result<PullView, ApiError> {
        const NAME: &str = "GET pull";
        let path = ApiPath::repo(&repo.name).seg("pulls").seg(number);
        let pull = self.json(Call::get(NAME, of(repo), path.clone())).await?;
        let pull = PullView::read(NAME, pull)?;
        if pull.base.repo_id != repo.id {
            return Err(ApiError::Gone {
                call: NAME,
                status: 404,
                what: path.without_query().to_owned(),
                message: format!("`{}` is another repository now", repo.name),
            });
        }
        Ok(pull)
    }

    /// All open pull requests of a repository, oldest first. One call for each hundred.
    pub async fn open_pulls(&self, repo: &RepoRef) -> Result<Vec<PullBrief>, ApiError> {
        const NAME: &str = "GET pulls";
        // Oldest first: what is opened meanwhile comes at the end and moves no page.
        let path = ApiPath::repo(&repo.name)
            .seg("pulls")
            .query("state", "open")
            .query("sort", "created")
            .query("direction", "asc");
        let mut pulls = self.briefs(NAME, repo, path).await?;
        pulls.retain(|pull| pull.open);
        Ok(pulls)
    }

    /// The open pull requests whose head is this commit. One call; when it finds none (GitHub does not know the
    /// commits of every fork there), those of [`GitHub::open_pulls`].
    pub async fn pulls_with_head(
        &self,
        repo: &RepoRef,
        head: &Sha,
    ) -> Result<Vec<PullBrief>, ApiError> {
        const NAME: &str = "GET commit pulls";
        let path = ApiPath::repo(&repo.name)
            .seg("commits")
            .seg(head)
            .seg("pulls");
        let with_head = |mut pulls: Vec<PullBrief>| {
            pulls.retain(|pull| pull.open && pull.head_sha == *head);
            pulls
        };
        let found = match self.briefs(NAME, repo, path).await {
            Ok(pulls) => with_head(pulls),
            // The base repository has never seen the commit.
            Err(ApiError::Gone { .. } | ApiError::Unprocessable { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        if found.is_empty() {
            Ok(with_head(self.open_pulls(repo).await?))
        } else {
            Ok(found)
        }
    }

    async fn briefs(
        &self,
        name: &'static str,
        repo: &RepoRef,
        path: ApiPath,
    ) -> Result<Vec<PullBrief>, ApiError> {
        let listing = Listing {
            name,
            who: of(repo),
            path,
            expected: None,
        };
        let mut pulls = self
            .list::<Vec<wire::Pull>>(listing)
            .await?
            .items
            .into_iter()
            .map(|pull| PullBrief::read(name, pull))
            .collect::<Result<Vec<_>, _>>()?;
        // Each is looked at anew, so that twice is only once too often.
        pulls.sort_by_key(|pull| pull.number);
        pulls.dedup_by_key(|pull| pull.number);
        Ok(pulls)
    }
}
