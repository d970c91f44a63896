//! `path_classifier_default`: the axes of the change, by path and by changed lines (classifier specification,
//! section 3).
//!
//! Every file is judged on both axes, each axis is folded over the whole change, and only then the product is
//! taken. INVARIANT: adding a file never lowers an axis; in doubt a file is irreversible and critical.

mod criticality;
mod reversibility;

use super::{Because, FileRow, Finding, Outcome, Rule, one_line};
use crate::diff::{Budget, Patch, PatchError};
use crate::domain::{Axes, Facts, FileChange, Known};
use crate::policy::Policy;
use crate::policy::globs::{GlobList, PathForms};
use crate::policy::paths::PathPolicy;

pub(super) const RULE: Rule = Rule {
    id: "path_classifier_default",
    run,
};

fn run(facts: &Facts, policy: &Policy) -> Outcome {
    let files = match &facts.files {
        Known::Known(files) => files,
        // `facts_incomplete` votes D for unknown files.
        Known::Unknown(_) => return Finding::abstain_because("files unknown").into(),
    };
    if files.is_empty() {
        return Finding::abstain_because("no files").into(); // `empty_pr` votes D
    }
    let mut reader = Reader::new(&policy.paths);
    let rows: Vec<FileRow> = files.iter().map(|file| reader.row(file)).collect();
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

/// One axis of one file and what decided it.
struct Judged<T> {
    axis: T,
    because: String,
}

/// Judges files one after the other, with buffers that are reused.
struct Reader<'p> {
    paths: &'p PathPolicy,
    budget: Budget,
    scratch: Scratch,
}

#[derive(Default)]
struct Scratch {
    matches: Vec<usize>,
    added: String,
    changed: String,
}

/// One file with everything that is asked about it more than once.
struct Subject<'a> {
    file: &'a FileChange,
    path: PathForms,
    previous: Option<PathForms>,
    patch: Result<Patch<'a>, PatchError>,
}

impl<'a> Subject<'a> {
    fn of(file: &'a FileChange) -> Self {
        Self {
            file,
            path: PathForms::of(&file.path),
            previous: file.previous_path.as_deref().map(PathForms::of),
            patch: Patch::of(file),
        }
    }

    /// The entry of a widening list that matches the path or the path before.
    fn widened_by<'l>(&self, list: &'l GlobList, scratch: &mut Vec<usize>) -> Option<&'l str> {
        list.first_match(&self.path, scratch).or_else(|| {
            self.previous
                .as_ref()
                .and_then(|previous| list.first_match(previous, scratch))
        })
    }

    /// The entry of a narrowing list that matches the path, when the path before matches the list too.
    fn narrowed_by<'l>(&self, list: &'l GlobList, scratch: &mut Vec<usize>) -> Option<&'l str> {
        let entry = list.first_match(&self.path, scratch)?;
        match &self.previous {
            Some(previous) => list.first_match(previous, scratch).map(|_| entry),
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
            scratch: Scratch::default(),
        }
    }

    fn row(&mut self, file: &FileChange) -> FileRow {
        let subject = Subject::of(file);
        self.scratch.added.clear();
        self.scratch.changed.clear();
        if let Ok(patch) = &subject.patch {
            patch.push_added(&mut self.scratch.added);
            patch.push_changed(&mut self.scratch.changed);
        }
        let irreversible_path =
            subject.widened_by(&self.paths.irreversible, &mut self.scratch.matches);
        let cr = self.criticality(&subject, irreversible_path.is_some());
        let ir = self.reversibility(&subject, irreversible_path, cr.axis);
        FileRow {
            path: one_line(&file.path).into_owned(),
            previous_path: file
                .previous_path
                .as_deref()
                .map(|path| one_line(path).into_owned()),
            status: one_line(file.status.as_str()).into_owned(),
            axes: Axes {
                ir: ir.axis,
                cr: cr.axis,
            },
            ir_because: Because(ir.because),
            cr_because: Because(cr.because),
        }
    }
}
