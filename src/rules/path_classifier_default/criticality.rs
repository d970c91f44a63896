//! The criticality axis of one file: what makes it critical is asked before what makes it harmless.

use super::{Judged, Reader, Subject};
use crate::diff::{PatchError, comment_only, typo_only};
use crate::domain::{Criticality, FileStatus};

fn critical(because: impl Into<String>) -> Judged<Criticality> {
    Judged {
        axis: Criticality::Critical,
        because: because.into(),
    }
}

fn non_critical(because: impl Into<String>) -> Judged<Criticality> {
    Judged {
        axis: Criticality::NonCritical,
        because: because.into(),
    }
}

impl Reader<'_> {
    /// `irreversible_path`: does an irreversible list name the file? Then a comment is not harmless either
    /// (migrations are compared by checksum, infrastructure files by text).
    pub(super) fn criticality(
        &mut self,
        subject: &Subject<'_>,
        irreversible_path: bool,
    ) -> Judged<Criticality> {
        if let Some(judged) = self.named_critical(subject) {
            return judged;
        }
        let scratch = &mut self.scratch.matches;
        if let Some(entry) = subject.widened_by(&self.paths.bot_source, scratch) {
            return self
                .only_comments(subject, irreversible_path)
                .unwrap_or_else(|| critical(format!("bot_source: {entry}")));
        }
        if let Some(judged) = self.guide(subject) {
            return judged;
        }
        let scratch = &mut self.scratch.matches;
        if let Some(entry) = subject.narrowed_by(&self.paths.non_critical, scratch) {
            return non_critical(format!("non_critical: {entry}"));
        }
        let test = subject.narrowed_by(&self.paths.tests, scratch);
        if let Some(entry) = test
            && subject.file.status == FileStatus::Added
        {
            return non_critical(format!("tests: {entry} (new)"));
        }
        if let Some(judged) = self.only_comments(subject, irreversible_path) {
            return judged;
        }
        match test {
            Some(entry) => critical(format!("tests: {entry} (not new)")),
            None => critical("no list names it"),
        }
    }

    /// Lists that no kind of edit, or only a typo, gets around.
    fn named_critical(&mut self, subject: &Subject<'_>) -> Option<Judged<Criticality>> {
        let scratch = &mut self.scratch.matches;
        if let Some(entry) = subject.widened_by(&self.paths.critical, scratch) {
            return Some(critical(format!("critical: {entry}")));
        }
        if subject.is_submodule_pin() {
            return Some(critical("submodule pin: its content is not shown"));
        }
        if let Some(entry) = subject.widened_by(&self.paths.append_only, scratch) {
            let new = subject.file.status == FileStatus::Added && subject.previous.is_none();
            return (!new).then(|| critical(format!("append_only: {entry} (not new)")));
        }
        let entry = subject.widened_by(&self.paths.doctrine, scratch)?;
        Some(if typo_only(subject.file) {
            non_critical(format!("typo-only edit of doctrine: {entry}"))
        } else {
            critical(format!("doctrine: {entry}"))
        })
    }

    /// A guide is harmless until an edit of it changes a rule or a number, or nobody saw the edit.
    fn guide(&mut self, subject: &Subject<'_>) -> Option<Judged<Criticality>> {
        let entry = subject.widened_by(&self.paths.guide, &mut self.scratch.matches)?;
        let edited = match subject.file.status {
            FileStatus::Removed => false,
            FileStatus::Added
            | FileStatus::Modified
            | FileStatus::Renamed
            | FileStatus::Copied
            | FileStatus::Changed
            | FileStatus::Unchanged
            | FileStatus::Other(_) => true,
        };
        if !edited || typo_only(subject.file) {
            return None;
        }
        let untouched = subject.file.additions == 0 && subject.file.deletions == 0;
        match subject.patch {
            Ok(_) => self
                .paths
                .normative
                .first_match(&self.scratch.changed)
                .map(|label| critical(format!("guide: {entry}, a changed line carries {label}"))),
            // A pure rename, or a picture.
            Err(PatchError::Missing) if untouched => None,
            Err(error) => Some(critical(format!("guide: {entry}, {error}"))),
        }
    }

    fn only_comments(
        &mut self,
        subject: &Subject<'_>,
        irreversible_path: bool,
    ) -> Option<Judged<Criticality>> {
        if irreversible_path {
            return None;
        }
        let language = comment_only(subject.file, &mut self.budget)?;
        Some(non_critical(format!(
            "comment-only edit ({})",
            language.name()
        )))
    }
}
