//! The reversibility axis of one file: would `git revert` leave nothing behind?

use super::{Judged, Reader, Subject};
use crate::domain::{Criticality, FileStatus, Reversibility};
use crate::policy::paths::{Narrowing, Widening};
use crate::rules::one_line;
use std::borrow::Cow;

/// What the row of a file says that nothing speaks against.
pub(super) const REVERTABLE: &str = "revertable file edit";

impl Reader<'_> {
    pub(super) fn reversibility(
        &self,
        subject: &Subject<'_>,
        cr: Criticality,
    ) -> Judged<Reversibility> {
        let because = by_status(subject)
            .or_else(|| by_list(subject))
            .or_else(|| by_new_skill(subject))
            .map(Cow::Owned)
            .or_else(|| by_missing_diff(subject))
            .or_else(|| self.by_changed_lines(subject, cr).map(Cow::Owned));
        match because {
            Some(because) => Judged {
                axis: Reversibility::Irreversible,
                because,
            },
            None => Judged {
                axis: Reversibility::Reversible,
                because: REVERTABLE.into(),
            },
        }
    }

    fn by_changed_lines(&self, subject: &Subject<'_>, cr: Criticality) -> Option<String> {
        let added = if self.added_is_plain { "" } else { &self.added };
        if let Some(label) = self.paths.secrets.first_match(added) {
            return Some(format!("an added line looks like a secret: {label}"));
        }
        if subject.widened(Widening::BotSource).is_some()
            && let Some(label) = self.paths.merge_auth.first_match(&self.changed)
        {
            return Some(format!("a changed line of bot source matches {label}"));
        }
        // Prose and examples may talk about mail and webhooks.
        match cr {
            Criticality::NonCritical => None,
            Criticality::Critical => self
                .paths
                .outbound
                .first_match(added)
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

fn by_list(subject: &Subject<'_>) -> Option<String> {
    let entry = subject.widened(Widening::Irreversible)?;
    Some(format!("irreversible: {entry}"))
}

/// A new built-in rule or skill changes what every later pull request is judged by.
fn by_new_skill(subject: &Subject<'_>) -> Option<String> {
    let new = match subject.file.status {
        FileStatus::Added | FileStatus::Renamed | FileStatus::Copied | FileStatus::Other(_) => true,
        FileStatus::Modified
        | FileStatus::Removed
        | FileStatus::Changed
        | FileStatus::Unchanged => false,
    };
    let entry = subject.widened(Widening::BuiltInSkills).filter(|_| new)?;
    Some(format!("new built-in rule or skill: {entry}"))
}

/// Content patterns apply to every file (secrets, at least), so a diff that was not seen is doubt.
fn by_missing_diff(subject: &Subject<'_>) -> Option<Cow<'static, str>> {
    if subject.is_submodule_pin() {
        return Some(Cow::Borrowed("submodule pin: its content is not shown"));
    }
    let error = subject.patch.as_ref().err()?;
    let nothing_counted = subject.file.additions == 0 && subject.file.deletions == 0;
    let no_patch = subject.file.patch.as_deref().is_none_or(str::is_empty);
    let media = subject.narrowed(Narrowing::SafeWithoutDiff).is_some();
    (!(media && no_patch && nothing_counted)).then(|| Cow::Borrowed(error.as_str()))
}
