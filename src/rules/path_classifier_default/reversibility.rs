//! The reversibility axis of one file: would `git revert` leave nothing behind?

use super::{Judged, Reader, Subject};
use crate::domain::{Criticality, FileStatus, Reversibility};
use crate::rules::one_line;

/// What the row of a file says that nothing speaks against.
pub(super) const REVERTABLE: &str = "revertable file edit";

impl Reader<'_> {
    pub(super) fn reversibility(
        &mut self,
        subject: &Subject<'_>,
        irreversible_path: Option<&str>,
        cr: Criticality,
    ) -> Judged<Reversibility> {
        let because = by_status(subject)
            .or_else(|| irreversible_path.map(|entry| format!("irreversible: {entry}")))
            .or_else(|| self.by_new_skill(subject))
            .or_else(|| self.by_missing_diff(subject))
            .or_else(|| self.by_changed_lines(subject, cr));
        match because {
            Some(because) => Judged {
                axis: Reversibility::Irreversible,
                because,
            },
            None => Judged {
                axis: Reversibility::Reversible,
                because: REVERTABLE.to_owned(),
            },
        }
    }

    /// A new built-in rule or skill changes what every later pull request is judged by.
    fn by_new_skill(&mut self, subject: &Subject<'_>) -> Option<String> {
        let new = match subject.file.status {
            FileStatus::Added | FileStatus::Renamed | FileStatus::Copied | FileStatus::Other(_) => {
                true
            }
            FileStatus::Modified
            | FileStatus::Removed
            | FileStatus::Changed
            | FileStatus::Unchanged => false,
        };
        if !new {
            return None;
        }
        let entry = subject.widened_by(&self.paths.built_in_skills, &mut self.scratch.matches)?;
        Some(format!("new built-in rule or skill: {entry}"))
    }

    /// Content patterns apply to every file (secrets, at least), so a diff that was not seen is doubt.
    fn by_missing_diff(&mut self, subject: &Subject<'_>) -> Option<String> {
        if subject.is_submodule_pin() {
            return Some("submodule pin: its content is not shown".to_owned());
        }
        let error = subject.patch.as_ref().err()?;
        let nothing_counted = subject.file.additions == 0 && subject.file.deletions == 0;
        let no_patch = subject.file.patch.as_deref().is_none_or(str::is_empty);
        let media = &self.paths.safe_without_diff;
        if no_patch
            && nothing_counted
            && subject
                .narrowed_by(media, &mut self.scratch.matches)
                .is_some()
        {
            return None;
        }
        Some(error.to_string())
    }

    fn by_changed_lines(&mut self, subject: &Subject<'_>, cr: Criticality) -> Option<String> {
        if let Some(label) = self.paths.secrets.first_match(&self.scratch.added) {
            return Some(format!("an added line looks like a secret: {label}"));
        }
        let bot_source = subject.widened_by(&self.paths.bot_source, &mut self.scratch.matches);
        if bot_source.is_some()
            && let Some(label) = self.paths.merge_auth.first_match(&self.scratch.changed)
        {
            return Some(format!("a changed line of bot source matches {label}"));
        }
        // Prose and examples may talk about mail and webhooks.
        match cr {
            Criticality::NonCritical => None,
            Criticality::Critical => self
                .paths
                .outbound
                .first_match(&self.scratch.added)
                .map(|label| format!("an added line {label}")),
        }
    }
}

fn by_status(subject: &Subject<'_>) -> Option<String> {
    match &subject.file.status {
        FileStatus::Removed => Some("file removed".to_owned()),
        FileStatus::Renamed => Some("file renamed, its old path vanishes".to_owned()),
        FileStatus::Other(word) => Some(format!("unknown status `{}`", one_line(word))),
        FileStatus::Added
        | FileStatus::Modified
        | FileStatus::Copied
        | FileStatus::Changed
        | FileStatus::Unchanged => None,
    }
}
