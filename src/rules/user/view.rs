//! The facts as user rules see them: owned, so that a script can hold them, and without what no rule may ask for.
//!
//! INVARIANT: what is not known for certain (a list that is cut, a diff that was not given whole) has a cause here
//! and no value.

use crate::diff::{Line, Patch, PatchError};
use crate::domain::{CommitFact, Facts, FileChange, Known, RepoName};
use crate::policy::Policy;
use crate::policy::globs::PathForms;
use crate::policy::paths::{Narrowing, PathPolicy};
use rhai::ImmutableString;
use std::sync::OnceLock;

/// Everything a user rule can ask about one pull request.
#[derive(Debug)]
pub(super) struct View {
    pub repo: RepoName,
    pub number: u64,
    /// The author's login; `None` when the account is gone.
    pub author: Option<ImmutableString>,
    pub draft: bool,
    pub base: ImmutableString,
    pub labels: Vec<ImmutableString>,
    pub files: Listed<FileView>,
    pub commits: Listed<CommitFact>,
}

/// A list, and why it is not all of it.
#[derive(Debug)]
pub(super) struct Listed<T> {
    /// What was listed. Only what is found in it is certain while something is missing.
    pub items: Vec<T>,
    /// Why something may be missing.
    pub missing: Option<String>,
}

impl<T> Listed<T> {
    /// The whole list.
    pub fn whole(&self) -> Result<&[T], &str> {
        match &self.missing {
            None => Ok(&self.items),
            Some(cause) => Err(cause),
        }
    }
}

/// One changed file.
#[derive(Debug)]
pub(super) struct FileView {
    pub path: ImmutableString,
    pub previous_path: Option<ImmutableString>,
    change: FileChange,
    /// A media file without a diff: no lines of it are anybody's concern.
    media: bool,
    sides: OnceLock<Result<Sides, &'static str>>,
}

/// The changed lines of one file, one a line.
#[derive(Debug)]
pub(super) struct Sides {
    pub added: String,
    pub removed: String,
}

impl View {
    pub fn of(facts: &Facts, policy: &Policy) -> Self {
        let with_lines = policy.user_rules.want_lines();
        Self {
            repo: facts.repo.clone(),
            number: facts.number.0,
            author: facts.author.as_deref().map(Into::into),
            draft: facts.draft,
            base: facts.base_ref.as_str().into(),
            labels: facts
                .labels
                .iter()
                .map(|label| label.as_str().into())
                .collect(),
            files: listed("files", &facts.files, facts.changed_files, |file| {
                FileView::of(file, &policy.paths, with_lines)
            }),
            commits: listed("commits", &facts.commits, facts.commit_count, Clone::clone),
        }
    }
}

fn listed<F, T>(
    what: &str,
    facts: &Known<Vec<F>>,
    announced: u64,
    view: impl Fn(&F) -> T,
) -> Listed<T> {
    let items: Vec<T> = facts.items().iter().map(view).collect();
    let missing = match facts {
        Known::Unknown(cause) => Some(format!("{what} unknown: {cause}")),
        Known::Known(list) if u64::try_from(list.len()).is_ok_and(|count| count == announced) => {
            None
        }
        Known::Known(list) => Some(format!(
            "{} {what} listed, the pull request says {announced}",
            list.len()
        )),
    };
    Listed { items, missing }
}

impl FileView {
    fn of(file: &FileChange, paths: &PathPolicy, with_lines: bool) -> Self {
        let no_patch = file.patch.as_deref().is_none_or(str::is_empty);
        let nothing_counted = file.additions == 0 && file.deletions == 0;
        Self {
            path: file.path.as_str().into(),
            previous_path: file.previous_path.as_deref().map(Into::into),
            media: no_patch && nothing_counted && is_media(file, paths),
            change: FileChange {
                path: String::new(),
                previous_path: None,
                status: file.status.clone(),
                additions: file.additions,
                deletions: file.deletions,
                patch: with_lines.then(|| file.patch.clone()).flatten(),
                base_content: None,
                head_content: None,
            },
            sides: OnceLock::new(),
        }
    }

    /// Status and counts. Its paths stand beside it, and it has no contents.
    pub fn change(&self) -> &FileChange {
        &self.change
    }

    /// Lines added and removed.
    pub fn changes(&self) -> u64 {
        self.change.additions.saturating_add(self.change.deletions)
    }

    /// The changed lines, or why they are not all known. Read when first asked for, then kept for all rules.
    pub fn sides(&self) -> Result<&Sides, &'static str> {
        let sides = self.sides.get_or_init(|| {
            if self.media {
                return Ok(Sides {
                    added: String::new(),
                    removed: String::new(),
                });
            }
            let patch = Patch::of(&self.change).map_err(PatchError::as_str)?;
            if patch.is_submodule_pin() {
                return Err("submodule pin: its content is not shown");
            }
            Ok(Sides::of(&patch))
        });
        sides.as_ref().map_err(|cause| *cause)
    }
}

impl Sides {
    fn of(patch: &Patch<'_>) -> Self {
        let (mut added, mut removed) = (String::new(), String::new());
        for line in patch.lines() {
            let (side, text) = match line {
                Line::Added(text) => (&mut added, text),
                Line::Removed(text) => (&mut removed, text),
                Line::Context(_) => continue,
            };
            side.push_str(text);
            side.push('\n');
        }
        Self { added, removed }
    }
}

/// Images, fonts and the like, for which GitHub never gives a diff: both paths must be such.
fn is_media(file: &FileChange, paths: &PathPolicy) -> bool {
    let mut scratch = Vec::new();
    let mut media = |path: &str| {
        let listed = paths.list(&PathForms::of(path), &mut scratch);
        listed.narrowed(Narrowing::SafeWithoutDiff).is_some()
    };
    media(&file.path) && file.previous_path.as_deref().is_none_or(media)
}
