//! Pull requests: how a test describes one, and what happens to it until it is closed.

use super::{Time, World, file::FileSpec};
use crate::refusal::Refusal;
use serde_json::json;

/// What makes an Issue a pull request.
#[derive(Debug, Clone)]
pub(crate) struct Pull {
    pub(crate) draft: bool,
    pub(crate) base_ref: String,
    pub(crate) base_sha: String,
    pub(crate) head_ref: String,
    pub(crate) head_repo: HeadRepo,
    pub(crate) head: Head,
    /// What the API shows while it lags behind.
    pub(crate) previous: Option<Head>,
    pub(crate) merged_at: Option<Time>,
    pub(crate) merged_by: Option<u64>,
    pub(crate) merge_commit: Option<String>,
    /// `None` while GitHub has not computed it.
    pub(crate) mergeable: Option<bool>,
    /// Who switched auto-merge on, and how it is to merge.
    pub(crate) auto_merge: Option<(u64, String)>,
    /// Is it in the merge queue?
    pub(crate) queued: bool,
    /// Lies about the counts.
    pub(crate) changed_files: Option<u64>,
    pub(crate) commit_count: Option<u64>,
}

/// One head of a pull request with what its lists show.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) sha: String,
    pub(crate) files: Vec<FileSpec>,
    pub(crate) commits: Vec<String>,
}

/// Where the head branch lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadRepo {
    Same,
    Fork(u64),
    /// The fork is gone: `head.repo` is null.
    Deleted,
}

/// A pull request to be opened.
#[derive(Debug, Clone)]
pub struct PullSpec {
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) author: String,
    pub(crate) base: String,
    pub(crate) head: String,
    pub(crate) draft: bool,
    pub(crate) labels: Vec<String>,
    pub(crate) files: Vec<FileSpec>,
    pub(crate) messages: Vec<String>,
    pub(crate) fork: Option<String>,
}

impl PullSpec {
    /// A pull request to `main` by `contributor` with one commit and, so far, no files.
    pub fn new(title: &str) -> Self {
        Self {
            title: title.into(),
            body: String::new(),
            author: "contributor".into(),
            base: "main".into(),
            head: String::new(),
            draft: false,
            labels: Vec::new(),
            files: Vec::new(),
            messages: vec![title.into()],
            fork: None,
        }
    }

    /// Opened by this account (made when there is none).
    #[must_use]
    pub fn author(mut self, login: &str) -> Self {
        self.author = login.into();
        self
    }

    /// Its description.
    #[must_use]
    pub fn body(mut self, body: &str) -> Self {
        self.body = body.into();
        self
    }

    /// To this branch.
    #[must_use]
    pub fn base(mut self, branch: &str) -> Self {
        self.base = branch.into();
        self
    }

    /// From this branch; without it, `change-<n>`.
    #[must_use]
    pub fn head(mut self, branch: &str) -> Self {
        self.head = branch.into();
        self
    }

    /// As a draft.
    #[must_use]
    pub fn draft(mut self) -> Self {
        self.draft = true;
        self
    }

    /// With a label, set by the author right after opening.
    #[must_use]
    pub fn label(mut self, name: &str) -> Self {
        self.labels.push(name.into());
        self
    }

    /// With one more changed file.
    #[must_use]
    pub fn file(mut self, file: FileSpec) -> Self {
        self.files.push(file);
        self
    }

    /// With more changed files.
    #[must_use]
    pub fn files(mut self, files: impl IntoIterator<Item = FileSpec>) -> Self {
        self.files.extend(files);
        self
    }

    /// With exactly these commits, oldest first.
    #[must_use]
    pub fn commits<T: Into<String>>(mut self, messages: impl IntoIterator<Item = T>) -> Self {
        self.messages = messages.into_iter().map(Into::into).collect();
        self
    }

    /// From the fork `owner/name` (a repository that was added before).
    #[must_use]
    pub fn fork(mut self, full_name: &str) -> Self {
        self.fork = Some(full_name.into());
        self
    }
}

impl World {
    pub(crate) fn pull(&self, repo: u64, number: u64) -> Result<&Pull, Refusal> {
        self.issue(repo, number)?
            .pull
            .as_ref()
            .ok_or_else(Refusal::not_found)
    }

    pub(crate) fn pull_mut(&mut self, repo: u64, number: u64) -> Result<&mut Pull, Refusal> {
        self.issue_mut(repo, number)?
            .pull
            .as_mut()
            .ok_or_else(Refusal::not_found)
    }

    /// Makes the commits of a head on top of `parent` and writes the described contents on both sides.
    pub(crate) fn build_head(
        &mut self,
        repo: u64,
        parent: &str,
        base: &str,
        messages: &[String],
        files: &[FileSpec],
        author: u64,
    ) -> Result<Head, Refusal> {
        if let Some(commit) = self.repo_mut(repo)?.commits.get_mut(base) {
            for file in files {
                let path = file.previous_path.as_ref().unwrap_or(&file.path);
                if let Some(bytes) = &file.base {
                    commit
                        .changes
                        .entry(path.clone())
                        .or_insert_with(|| Some(bytes.clone()));
                }
            }
        }
        let mut changes = super::commit::Changes::new();
        for file in files {
            if file.status == "renamed"
                && let Some(previous) = &file.previous_path
            {
                changes.insert(previous.clone(), None);
            }
            if file.status == "removed" {
                changes.insert(file.path.clone(), None);
            } else if let Some(bytes) = &file.head {
                changes.insert(file.path.clone(), Some(bytes.clone()));
            }
        }
        let mut parent = parent.to_owned();
        let mut commits = Vec::new();
        let last = messages.len().saturating_sub(1);
        for (at, message) in messages.iter().enumerate() {
            let part = if at == last {
                std::mem::take(&mut changes)
            } else {
                super::commit::Changes::new()
            };
            parent = self.add_commit(repo, message, author, std::slice::from_ref(&parent), part)?;
            commits.push(parent.clone());
        }
        Ok(Head {
            sha: parent,
            files: files.to_vec(),
            commits,
        })
    }

    pub(crate) fn open_pull(
        &mut self,
        repo: u64,
        spec: &PullSpec,
        author: u64,
    ) -> Result<u64, Refusal> {
        self.writable(repo)?;
        let base_sha = self
            .repo(repo)?
            .branches
            .get(&spec.base)
            .cloned()
            .ok_or_else(|| Refusal::field("PullRequest", "base", "invalid"))?;
        let head_repo = match &spec.fork {
            None => HeadRepo::Same,
            Some(name) => {
                let (owner, name) = name.split_once('/').ok_or_else(Refusal::not_found)?;
                HeadRepo::Fork(
                    self.repo_named(owner, name)
                        .ok_or_else(Refusal::not_found)?,
                )
            }
        };
        let head = self.build_head(
            repo,
            &base_sha,
            &base_sha,
            &spec.messages,
            &spec.files,
            author,
        )?;
        let head_ref = if spec.head.is_empty() {
            format!("change-{}", self.repo(repo)?.next_number)
        } else {
            spec.head.clone()
        };
        if head_repo == HeadRepo::Same {
            self.set_branch(repo, &head_ref, &head.sha, author)?;
        }
        self.open_built(
            repo,
            spec,
            author,
            Pull {
                draft: spec.draft,
                base_ref: spec.base.clone(),
                base_sha,
                head_ref,
                head_repo,
                head,
                previous: None,
                merged_at: None,
                merged_by: None,
                merge_commit: None,
                mergeable: Some(true),
                auto_merge: None,
                queued: false,
                changed_files: None,
                commit_count: None,
            },
        )
    }

    /// Opens a pull request whose branch stands already (the API's way).
    pub(crate) fn open_from_branch(
        &mut self,
        repo: u64,
        spec: &PullSpec,
        author: u64,
    ) -> Result<u64, Refusal> {
        self.writable(repo)?;
        let held = self.repo(repo)?;
        let branch = |name: &str, field: &str| {
            held.branches
                .get(name)
                .cloned()
                .ok_or_else(|| Refusal::field("PullRequest", field, "invalid"))
        };
        let (base_sha, head_sha) = (branch(&spec.base, "base")?, branch(&spec.head, "head")?);
        let commits = held.ahead(&base_sha, &head_sha);
        if commits.is_empty() {
            return Err(Refusal::invalid(format!(
                "No commits between {} and {}",
                spec.base, spec.head
            )));
        }
        let files = self.diff(repo, &base_sha, &head_sha)?;
        let head = Head {
            sha: head_sha,
            files,
            commits,
        };
        self.open_built(
            repo,
            spec,
            author,
            Pull {
                draft: spec.draft,
                base_ref: spec.base.clone(),
                base_sha,
                head_ref: spec.head.clone(),
                head_repo: HeadRepo::Same,
                head,
                previous: None,
                merged_at: None,
                merged_by: None,
                merge_commit: None,
                mergeable: Some(true),
                auto_merge: None,
                queued: false,
                changed_files: None,
                commit_count: None,
            },
        )
    }

    fn open_built(
        &mut self,
        repo: u64,
        spec: &PullSpec,
        author: u64,
        pull: Pull,
    ) -> Result<u64, Refusal> {
        let sha = pull.head.sha.clone();
        let number = self.new_issue(repo, &spec.title, Some(&spec.body), author, Some(pull))?;
        self.note(repo, number, "committed", author, Some(&sha))?;
        self.announce_issue(repo, number, "opened", author, json!({}))?;
        spec.labels
            .iter()
            .try_for_each(|label| self.add_label(repo, number, label, author))?;
        Ok(number)
    }

    /// What the API would list between two commits.
    pub(crate) fn diff(&self, repo: u64, base: &str, head: &str) -> Result<Vec<FileSpec>, Refusal> {
        let held = self.repo(repo)?;
        let from = held
            .merge_base(base, head)
            .unwrap_or_else(|| base.to_owned());
        let changes = held.changes_of(&held.ahead(&from, head));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let files = changes.keys().filter_map(|path| {
            match (held.content(&from, path), held.content(head, path)) {
                (None, Some(new)) => Some(FileSpec::added(path, &text(&new))),
                (Some(old), None) => Some(FileSpec::removed(path, &text(&old))),
                (Some(old), Some(new)) if old != new => {
                    Some(FileSpec::modified(path, &text(&old), &text(&new)))
                }
                _ => None,
            }
        });
        Ok(files.collect())
    }

    /// A new head. `force` starts again from the base, so that earlier commits are gone from the list.
    pub(crate) fn push_pull(
        &mut self,
        repo: u64,
        number: u64,
        messages: &[String],
        files: &[FileSpec],
        force: bool,
        actor: u64,
    ) -> Result<String, Refusal> {
        self.writable(repo)?;
        let old = self.pull(repo, number)?.clone();
        let parent = if force {
            old.base_sha.clone()
        } else {
            old.head.sha.clone()
        };
        let mut head = self.build_head(repo, &parent, &old.base_sha, messages, files, actor)?;
        if !force {
            head.commits = old
                .head
                .commits
                .iter()
                .cloned()
                .chain(head.commits)
                .collect();
        }
        let sha = head.sha.clone();
        self.move_head(repo, number, head, actor)?;
        if force {
            self.note(repo, number, "head_ref_force_pushed", actor, Some(&sha))?;
        }
        Ok(sha)
    }

    /// A forced push of the head from before.
    pub(crate) fn push_back(
        &mut self,
        repo: u64,
        number: u64,
        actor: u64,
    ) -> Result<String, Refusal> {
        self.writable(repo)?;
        let before = self.pull(repo, number)?.previous.clone();
        let head = before.ok_or_else(|| Refusal::new(422, "there was no head before"))?;
        let sha = head.sha.clone();
        self.move_head(repo, number, head, actor)?;
        self.note(repo, number, "head_ref_force_pushed", actor, Some(&sha))?;
        Ok(sha)
    }

    /// Puts a head on a pull request and announces it.
    pub(crate) fn move_head(
        &mut self,
        repo: u64,
        number: u64,
        head: Head,
        actor: u64,
    ) -> Result<(), Refusal> {
        let (sha, now) = (head.sha.clone(), self.now());
        let pull = self.pull_mut(repo, number)?;
        let branch = (pull.head_repo == HeadRepo::Same).then(|| pull.head_ref.clone());
        let before = pull.head.sha.clone();
        pull.previous = Some(std::mem::replace(&mut pull.head, head));
        self.issue_mut(repo, number)?.updated_at = now;
        if let Some(branch) = branch {
            self.set_branch(repo, &branch, &sha, actor)?;
        } else {
            self.suite_on_push(repo, &sha, None, actor)?;
        }
        self.note(repo, number, "committed", actor, Some(&sha))?;
        self.announce_issue(
            repo,
            number,
            "synchronize",
            actor,
            json!({"before": before, "after": sha}),
        )
    }

    pub(crate) fn set_draft(
        &mut self,
        repo: u64,
        number: u64,
        draft: bool,
        actor: u64,
    ) -> Result<(), Refusal> {
        let pull = self.pull_mut(repo, number)?;
        if pull.draft == draft {
            return Ok(());
        }
        pull.draft = draft;
        let (event, action) = if draft {
            ("convert_to_draft", "converted_to_draft")
        } else {
            ("ready_for_review", "ready_for_review")
        };
        self.note(repo, number, event, actor, None)?;
        self.announce_issue(repo, number, action, actor, json!({}))
    }

    pub(crate) fn retarget(
        &mut self,
        repo: u64,
        number: u64,
        base: &str,
        actor: u64,
    ) -> Result<(), Refusal> {
        let tip = self
            .repo(repo)?
            .branches
            .get(base)
            .cloned()
            .ok_or_else(|| Refusal::field("PullRequest", "base", "invalid"))?;
        let pull = self.pull_mut(repo, number)?;
        let old_ref = std::mem::replace(&mut pull.base_ref, base.into());
        let old_sha = std::mem::replace(&mut pull.base_sha, tip);
        self.note(repo, number, "base_ref_changed", actor, None)?;
        let changes =
            json!({"changes": {"base": {"ref": {"from": old_ref}, "sha": {"from": old_sha}}}});
        self.announce_issue(repo, number, "edited", actor, changes)
    }
}
