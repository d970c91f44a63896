//! A list of globs with the side on which it errs.
//!
//! INVARIANT: a list that makes a rule raise is widening (without case, either path of a rename), one that keeps it
//! from raising is narrowing (with case, both paths).

use crate::policy::globs::{GlobList, GlobProblem, PathForms, Sense};

/// Globs of one condition.
#[derive(Debug, Clone)]
pub struct PathSet {
    list: GlobList,
    sense: Sense,
}

impl PathSet {
    /// Compiles the list.
    ///
    /// # Errors
    /// Every entry that does not compile or can never match what GitHub lists.
    pub fn compile<S: AsRef<str>>(globs: &[S], sense: Sense) -> Result<Self, Vec<GlobProblem>> {
        GlobList::compile(globs, sense).map(|list| Self { list, sense })
    }

    /// Does the list cover a file, whose `previous` path is that before a rename or copy?
    pub fn covers(&self, path: &str, previous: Option<&str>, scratch: &mut Vec<usize>) -> bool {
        let mut hit = |path: &str| {
            self.list
                .first_match(&PathForms::of(path), scratch)
                .is_some()
        };
        match (self.sense, previous) {
            (_, None) => hit(path),
            (Sense::Widening, Some(previous)) => hit(path) || hit(previous),
            (Sense::Narrowing, Some(previous)) => hit(path) && hit(previous),
        }
    }
}
