//! Texts of changed files, both sides of them.
//!
//! INVARIANT: a text is put into the facts only when the file's patch fits it. That catches a base that moved, a
//! symbolic link that GitHub followed, and a submodule; what does not fit stays unread, and unread is never a
//! comment-only change.

use super::{of, sha};
use crate::domain::{Facts, FileChange, FileStatus, Known, RepoRef, Sha};
use crate::github::call::Call;
use crate::github::path::ApiPath;
use crate::github::{ApiError, GitHub, wire};
use std::collections::HashSet;
use tokio::task::JoinSet;

/// Longer texts are not read.
const LONGEST: usize = 1024 * 1024;
/// Files whose texts are read for one pull request; the rest stays unread.
const MOST_FILES: usize = 60;
const RAW: &str = "application/vnd.github.raw+json";

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A text.
    Text(String),
    /// Nothing.
    Absent,
    /// More bytes than were asked for.
    TooLong,
    /// Bytes that are no UTF-8 text, or no file.
    NotText,
    /// GitHub does not give it (403), for this reason.
    Refused(String),
}

/// A file whose texts are to be read.
struct Job {
    index: usize,
    base: Option<(String, Sha)>,
    head: Option<(String, Sha)>,
}

impl GitHub {
    /// The text of a file at a commit. One call. `None`: not there, no UTF-8, longer than 1 MiB, or no file.
    ///
    /// GitHub follows symbolic links here.
    pub async fn content(
        &self,
        repo: &RepoRef,
        path: &str,
        at: &Sha,
    ) -> Result<Option<String>, ApiError> {
        match self.content_up_to(repo, path, at, LONGEST).await? {
            Content::Text(text) => Ok(Some(text)),
            Content::Absent | Content::TooLong | Content::NotText | Content::Refused(_) => Ok(None),
        }
    }

    /// What stands at a path at a commit, if it is no longer than so many bytes. One call.
    ///
    /// GitHub follows symbolic links here.
    pub async fn content_up_to(
        &self,
        repo: &RepoRef,
        path: &str,
        at: &Sha,
        limit: usize,
    ) -> Result<Content, ApiError> {
        const NAME: &str = "GET content";
        let mut target = ApiPath::repo(&repo.name).seg("contents");
        for part in path.split('/') {
            // Servers fold such parts away, encoded or not: the path would name another file.
            if matches!(part, "" | "." | "..") {
                return Ok(Content::Absent);
            }
            target = target.seg(part);
        }
        let call = Call {
            accept: RAW,
            limit,
            ..Call::get(NAME, of(repo), target.query("ref", at))
        };
        let reply = match self.send(call).await {
            Ok(reply) => reply,
            Err(ApiError::Gone { .. }) => return Ok(Content::Absent),
            // 403 is also the answer for a file of more than 100 MB.
            Err(error @ ApiError::Refused { .. }) => {
                return Ok(Content::Refused(error.to_string()));
            }
            Err(error) => return Err(error),
        };
        let is_listing = reply
            .headers
            .get(http::header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|kind| kind.starts_with("application/json"));
        // An answer that was kept from an earlier call may be longer than this one would have read.
        if reply.too_long || reply.body.len() > limit {
            return Ok(Content::TooLong);
        }
        if is_listing {
            return Ok(Content::NotText);
        }
        let text = String::from_utf8(reply.body).ok();
        let text = text.filter(|text| !text.contains('\0'));
        Ok(text.map_or(Content::NotText, Content::Text))
    }

    /// Reads both texts of these files into the facts: the base's at the merge base (by the previous path of a
    /// rename), the head's at the head. Two calls a file, 60 files at most; one more call when the merge base does
    /// not follow from the commits. Texts that are there already are kept.
    pub async fn fill_contents(
        &self,
        repo: &RepoRef,
        facts: &mut Facts,
        paths: &[String],
    ) -> Result<(), ApiError> {
        let wanted: HashSet<&str> = paths.iter().map(String::as_str).collect();
        let none_wanted = !facts
            .files
            .items()
            .iter()
            .any(|file| wanted.contains(file.path.as_str()) && file.patch.is_some());
        if none_wanted {
            return Ok(());
        }
        let base = match merge_base(facts) {
            Some(base) => Some(base),
            None => self.compared_merge_base(repo, facts).await?,
        };
        let head = facts.head_sha.clone();
        let Known::Known(files) = &mut facts.files else {
            return Ok(());
        };
        let mut tasks = JoinSet::new();
        let jobs = files
            .iter()
            .enumerate()
            .filter(|(_, file)| wanted.contains(file.path.as_str()))
            .filter_map(|(index, file)| Job::of(index, file, base.as_ref(), &head))
            .take(MOST_FILES);
        for job in jobs {
            let (github, repo) = (self.clone(), repo.clone());
            tasks.spawn(async move {
                let (old, new) = tokio::join!(
                    github.side(&repo, job.base.as_ref()),
                    github.side(&repo, job.head.as_ref())
                );
                (job.index, old, new)
            });
        }
        while let Some(joined) = tasks.join_next().await {
            let (index, old, new) = joined
                .map_err(|_| ApiError::transient("GET content", "reading a file was cut short"))?;
            let (old, new) = (old?, new?);
            if let Some(file) = files.get_mut(index)
                && fits(file, old.as_deref(), new.as_deref())
            {
                file.base_content = old;
                file.head_content = new;
            }
        }
        Ok(())
    }

    async fn side(
        &self,
        repo: &RepoRef,
        place: Option<&(String, Sha)>,
    ) -> Result<Option<String>, ApiError> {
        match place {
            None => Ok(None),
            Some((path, at)) => self.content(repo, path, at).await,
        }
    }

    /// The merge base as GitHub computes it; `None` when there is none to be seen.
    async fn compared_merge_base(
        &self,
        repo: &RepoRef,
        facts: &Facts,
    ) -> Result<Option<Sha>, ApiError> {
        const NAME: &str = "GET compare";
        let range = format!("{}...{}", facts.base_sha, facts.head_sha);
        // Files come with the first page only, and are not wanted.
        let path = ApiPath::repo(&repo.name)
            .seg("compare")
            .seg(range)
            .query("per_page", 1)
            .query("page", 2);
        match self
            .json::<wire::Comparison>(Call::get(NAME, of(repo), path))
            .await
        {
            Ok(comparison) => {
                let found = comparison.merge_base_commit.and_then(|commit| commit.sha);
                found
                    .map(|text| sha(NAME, Some(text), "merge_base_commit.sha"))
                    .transpose()
            }
            Err(
                ApiError::Gone { .. } | ApiError::Refused { .. } | ApiError::Unprocessable { .. },
            ) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Job {
    fn of(index: usize, file: &FileChange, base: Option<&Sha>, head: &Sha) -> Option<Self> {
        let read_already = file.base_content.is_some() || file.head_content.is_some();
        // Without a patch nothing can be checked against the texts.
        if read_already || file.patch.is_none() {
            return None;
        }
        let old_path = file.previous_path.as_ref().unwrap_or(&file.path);
        let at_base = || base.map(|at| (old_path.clone(), at.clone()));
        let at_head = (file.path.clone(), head.clone());
        let (base, head) = match &file.status {
            FileStatus::Added => (None, Some(at_head)),
            FileStatus::Removed => (Some(at_base()?), None),
            FileStatus::Modified
            | FileStatus::Renamed
            | FileStatus::Copied
            | FileStatus::Changed => (Some(at_base()?), Some(at_head)),
            FileStatus::Unchanged | FileStatus::Other(_) => return None,
        };
        Some(Self { index, base, head })
    }
}

/// The merge base, where it follows from the commits: their whole list is known and has one parent outside it.
///
/// The commits are those that the head has and the base has not. A parent outside the list is therefore in the
/// base's history, and every common ancestor is reachable from such a parent; if there is only one, it is the
/// merge base.
fn merge_base(facts: &Facts) -> Option<Sha> {
    let commits = facts.commits.known()?;
    if u64::try_from(commits.len()).ok()? != facts.commit_count {
        return None;
    }
    let inside: HashSet<&Sha> = commits.iter().map(|commit| &commit.sha).collect();
    if !inside.contains(&facts.head_sha) || commits.iter().any(|commit| commit.parents.is_empty()) {
        return None;
    }
    let mut outside = commits
        .iter()
        .flat_map(|commit| &commit.parents)
        .filter(|parent| !inside.contains(parent));
    let first = outside.next()?;
    outside.all(|other| other == first).then(|| first.clone())
}

/// Are these the two sides of the file's patch? Each context, removed and added line must stand where the patch
/// says. A carriage return at the end of a line is not looked at.
fn fits(file: &FileChange, old: Option<&str>, new: Option<&str>) -> bool {
    let Some(patch) = file.patch.as_deref() else {
        return false;
    };
    let lines = |text: Option<&'_ str>| -> Option<Vec<String>> {
        text.map(|text| {
            text.split('\n')
                .map(|line| line.trim_end_matches('\r').to_owned())
                .collect()
        })
    };
    let (old, new) = (lines(old), lines(new));
    let stands = |side: Option<&Vec<String>>, at: usize, line: &str| {
        side.is_none_or(|lines| {
            at.checked_sub(1)
                .and_then(|index| lines.get(index))
                .is_some_and(|own| own == line.trim_end_matches('\r'))
        })
    };
    let (mut old_at, mut new_at) = (0, 0);
    let mut hunks = 0;
    for line in patch.split('\n') {
        if let Some((old_start, new_start)) = hunk_start(line) {
            (old_at, new_at) = (old_start, new_start);
            hunks += 1;
        } else if let Some(text) = line.strip_prefix(' ') {
            if !stands(old.as_ref(), old_at, text) || !stands(new.as_ref(), new_at, text) {
                return false;
            }
            old_at += 1;
            new_at += 1;
        } else if let Some(text) = line.strip_prefix('-') {
            if !stands(old.as_ref(), old_at, text) {
                return false;
            }
            old_at += 1;
        } else if let Some(text) = line.strip_prefix('+') {
            if !stands(new.as_ref(), new_at, text) {
                return false;
            }
            new_at += 1;
        }
        // What is left is `\ No newline at end of file`.
    }
    hunks > 0
}

/// `@@ -12,3 +14,5 @@ …`: the first line of either side.
fn hunk_start(line: &str) -> Option<(usize, usize)> {
    let rest = line.strip_prefix("@@ -")?;
    let (old, rest) = rest.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let start = |range: &str| range.split(',').next()?.parse().ok();
    Some((start(old)?, start(new)?))
}

#[cfg(test)]
#[path = "contents_tests.rs"]
mod tests;
