//! `path_classifier_default`: the axes of the change, by path and by changed lines (classifier specification,
//! section 3).
//!
//! Every file is judged on both axes, each axis is folded over the whole change, and only then the product is
//! taken. INVARIANT: adding a file never lowers an axis; in doubt a file is irreversible and critical.

mod criticality;
mod reversibility;

use super::{Because, FileRow, Finding, Outcome, Rule, one_line};
use crate::diff::{Budget, Patch, PatchError};
use crate::domain::{Axes, Facts, FileChange, Known, Quadrant};
use crate::policy::Policy;
use crate::policy::globs::PathForms;
use crate::policy::paths::{Listed, Narrowing, PathPolicy, Widening};
use std::borrow::Cow;

pub(super) const RULE: Rule = Rule {
    id: "path_classifier_default",
    votes: &[Quadrant::A, Quadrant::B, Quadrant::C, Quadrant::D],
    when: "always, unless there are no files: the product of both axes, each folded over all files",
    run,
};

/// From so many files on a second thread is worth its start.
const SHARED_FROM: usize = 512;

fn run(facts: &Facts, policy: &Policy) -> Outcome {
    let files = match &facts.files {
        Known::Known(files) => files,
        // `facts_incomplete` votes D for unknown files.
        Known::Unknown(_) => return Finding::abstain_because("files unknown").into(),
    };
    if files.is_empty() {
        return Finding::abstain_because("no files").into(); // `empty_pr` votes D
    }
    let rows = rows(files, &policy.paths);
    let axes = rows
        .iter()
        .fold(Axes::LOWEST, |axes, row| axes.or(row.axes));
    Outcome {
        finding: Finding::Axes {
            axes,
            quadrant: axes.quadrant(),
        },
        files: rows,
    }
}

/// One row a file, in order. A change of very many files is shared with a second thread; what is parsed with a grammar
/// is left to the end, because its budget is spent in the order of the files.
fn rows(files: &[FileChange], paths: &PathPolicy) -> Vec<FileRow> {
    let mut reader = Reader::new(paths);
    if files.len() < SHARED_FROM {
        return files.iter().map(|file| reader.row(file)).collect();
    }
    let parsed = |file: &FileChange| file.base_content.is_some() || file.head_content.is_some();
    let part = |files: &[FileChange]| -> Vec<Option<FileRow>> {
        let mut reader = Reader::new(paths);
        let row = |file| (!parsed(file)).then(|| reader.row(file));
        files.iter().map(row).collect()
    };
    let (left, right) = files.split_at(files.len() / 2);
    let (left, right) = std::thread::scope(|scope| {
        let right = scope.spawn(move || part(right));
        let left = part(left);
        // A panic goes on as it would without threads: the rule votes D.
        let panic = |panic| std::panic::resume_unwind(panic);
        (left, right.join().unwrap_or_else(panic))
    });
    let rows = left.into_iter().chain(right).zip(files);
    rows.map(|(row, file)| row.unwrap_or_else(|| reader.row(file)))
        .collect()
}

/// One axis of one file and what decided it.
struct Judged<T> {
    axis: T,
    because: Cow<'static, str>,
}

/// Judges files one after the other, with buffers that are reused.
struct Reader<'p> {
    paths: &'p PathPolicy,
    budget: Budget,
    matches: Vec<usize>,
    /// The added lines of the present file.
    added: String,
    /// Is none of them a secret or reaches people? Asked once for both, which almost always is the end of it.
    added_is_plain: bool,
    /// Its changed lines, where a list asks for them.
    changed: String,
}

/// One file with everything that is asked about it more than once.
struct Subject<'a> {
    file: &'a FileChange,
    listed: Listed<'a>,
    /// What the lists say about the path before a rename or copy.
    previous: Option<Listed<'a>>,
    patch: Result<Patch<'a>, PatchError>,
}

impl<'a> Subject<'a> {
    fn of(file: &'a FileChange, paths: &'a PathPolicy, matches: &mut Vec<usize>) -> Self {
        let mut list = |path: &str| paths.list(&PathForms::of(path), matches);
        Self {
            file,
            listed: list(&file.path),
            previous: file.previous_path.as_deref().map(list),
            patch: Patch::of(file),
        }
    }

    /// The entry of a widening list that matches the path or the path before.
    fn widened(&self, list: Widening) -> Option<&'a str> {
        let previous = || self.previous.and_then(|listed| listed.widened(list));
        self.listed.widened(list).or_else(previous)
    }

    /// The entry of a narrowing list that matches the path, when the path before matches the list too.
    fn narrowed(&self, list: Narrowing) -> Option<&'a str> {
        let entry = self.listed.narrowed(list)?;
        match self.previous {
            Some(previous) => previous.narrowed(list).map(|_| entry),
            None => Some(entry),
        }
    }

    fn is_submodule_pin(&self) -> bool {
        self.patch.as_ref().is_ok_and(Patch::is_submodule_pin)
    }
}

impl<'p> Reader<'p> {
    fn new(paths: &'p PathPolicy) -> Self {
        Self {
            paths,
            budget: Budget::default(),
            matches: Vec::new(),
            added: String::new(),
            added_is_plain: true,
            changed: String::new(),
        }
    }

    fn row(&mut self, file: &FileChange) -> FileRow {
        let subject = Subject::of(file, self.paths, &mut self.matches);
        self.added.clear();
        self.changed.clear();
        if let Ok(patch) = &subject.patch {
            patch.push_added(&mut self.added);
            let asked = [Widening::BotSource, Widening::Guide];
            if asked
                .into_iter()
                .any(|list| subject.widened(list).is_some())
            {
                patch.push_changed(&mut self.changed);
            }
        }
        self.added_is_plain = !self.paths.speaks_against(&self.added);
        let cr = self.criticality(&subject);
        let ir = self.reversibility(&subject, cr.axis);
        FileRow {
            path: one_line(&file.path).into_owned(),
            previous_path: file
                .previous_path
                .as_deref()
                .map(|path| one_line(path).into_owned()),
            status: match file.status.known() {
                Some(word) => Cow::Borrowed(word),
                None => Cow::Owned(one_line(file.status.as_str()).into_owned()),
            },
            axes: Axes {
                ir: ir.axis,
                cr: cr.axis,
            },
            ir_because: Because(ir.because),
            cr_because: Because(cr.because),
        }
    }
}
