//! The criticality axis of one file: what makes it critical is asked before what makes it harmless.

use super::{Judged, Reader, Subject};
use crate::diff::{PatchError, comment_only, typo_only};
use crate::domain::{Criticality, FileStatus};
use crate::policy::paths::{Narrowing, Widening};
use std::borrow::Cow;

fn critical(because: impl Into<Cow<'static, str>>) -> Judged<Criticality> {
    Judged {
        axis: Criticality::Critical,
        because: because.into(),
    }
}

fn non_critical(because: impl Into<Cow<'static, str>>) -> Judged<Criticality> {
    Judged {
        axis: Criticality::NonCritical,
        because: because.into(),
    }
}

impl Reader<'_> {
    pub(super) fn criticality(&mut self, subject: &Subject<'_>) -> Judged<Criticality> {
        if let Some(judged) = named_critical(subject) {
            return judged;
        }
        if let Some(entry) = subject.widened(Widening::BotSource) {
            return self
                .only_comments(subject)
                .unwrap_or_else(|| critical(format!("bot_source: {entry}")));
        }
        if let Some(judged) = self.guide(subject) {
            return judged;
        }
        if let Some(entry) = subject.narrowed(Narrowing::NonCritical) {
            return non_critical(format!("non_critical: {entry}"));
        }
        let test = subject.narrowed(Narrowing::Tests);
        if let Some(entry) = test
            && subject.file.status == FileStatus::Added
        {
            return non_critical(format!("tests: {entry} (new)"));
        }
        if let Some(judged) = self.only_comments(subject) {
            return judged;
        }
        match test {
            Some(entry) => critical(format!("tests: {entry} (not new)")),
            None => critical("no list names it"),
        }
    }

    /// A guide is harmless until an edit of it changes a rule or a number, or nobody saw the edit.
    fn guide(&mut self, subject: &Subject<'_>) -> Option<Judged<Criticality>> {
        let entry = subject.widened(Widening::Guide)?;
        let removed = match subject.file.status {
            FileStatus::Removed => true,
            FileStatus::Added
            | FileStatus::Modified
            | FileStatus::Renamed
            | FileStatus::Copied
            | FileStatus::Changed
            | FileStatus::Unchanged
            | FileStatus::Other(_) => false,
        };
        if removed || only_a_typo(subject) {
            return None;
        }
        let untouched = subject.file.additions == 0 && subject.file.deletions == 0;
        match subject.patch {
            Ok(_) => self
                .paths
                .normative
                .first_match(&self.changed)
                .map(|label| critical(format!("guide: {entry}, a changed line carries {label}"))),
            // A pure rename, or a picture.
            Err(PatchError::Missing) if untouched => None,
            Err(error) => Some(critical(format!("guide: {entry}, {error}"))),
        }
    }

    /// Where an irreversible list names the file a comment is not harmless either: migrations are compared by
    /// checksum, infrastructure files by text.
    fn only_comments(&mut self, subject: &Subject<'_>) -> Option<Judged<Criticality>> {
        if subject.widened(Widening::Irreversible).is_some() {
            return None;
        }
        let language = comment_only(subject.file, &mut self.budget)?;
        Some(non_critical(format!(
            "comment-only edit ({})",
            language.name()
        )))
    }
}

fn only_a_typo(subject: &Subject<'_>) -> bool {
    let patch = subject.patch.as_ref();
    patch.is_ok_and(|patch| typo_only(subject.file, patch))
}

/// Lists that no kind of edit, or only a typo, gets around.
fn named_critical(subject: &Subject<'_>) -> Option<Judged<Criticality>> {
    if let Some(entry) = subject.widened(Widening::Critical) {
        return Some(critical(format!("critical: {entry}")));
    }
    if subject.is_submodule_pin() {
        return Some(critical("submodule pin: its content is not shown"));
    }
    if let Some(entry) = subject.widened(Widening::AppendOnly) {
        let new = subject.file.status == FileStatus::Added && subject.previous.is_none();
        return (!new).then(|| critical(format!("append_only: {entry} (not new)")));
    }
    let entry = subject.widened(Widening::Doctrine)?;
    Some(if only_a_typo(subject) {
        non_critical(format!("typo-only edit of doctrine: {entry}"))
    } else {
        critical(format!("doctrine: {entry}"))
    })
}
