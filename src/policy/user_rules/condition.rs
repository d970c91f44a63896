//! A declared user rule as run: globs and patterns compiled, bounds checked, one tree of tests.
//!
//! INVARIANT: whether a list of globs errs towards matching depends on where it stands: matching more makes a rule
//! raise more, except under `not` and in `not_path`, where it makes it raise less.

use super::paths::PathSet;
use super::written::{
    BoundsWritten, CommitCondition, Condition, FileCondition, RaiseTo, UserRuleFile,
};
use crate::domain::{FileStatus, Quadrant, RepoName};
use crate::policy::globs::Sense;
use crate::policy::paths::PatternList;
use crate::policy::shape::Written;
use crate::policy::source::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A declared rule.
#[derive(Debug)]
pub struct Declared {
    /// What it raises to.
    pub raise: Quadrant,
    /// Why, for people.
    pub because: String,
    /// When.
    pub when: Test,
}

/// One test of the change as a whole, or tests put together.
#[derive(Debug)]
pub enum Test {
    /// All of them hold.
    All(Vec<Test>),
    /// One of them holds.
    Any(Vec<Test>),
    /// It does not hold.
    Not(Box<Test>),
    /// So many files are such, at least.
    File {
        /// Such.
        such: FileTest,
        /// So many.
        at_least: u64,
    },
    /// Every file is such.
    EveryFile(FileTest),
    /// A commit is such.
    Commit(CommitTest),
    /// Every commit is such.
    EveryCommit(CommitTest),
    /// The number of files.
    Files(Bounds),
    /// The number of commits.
    Commits(Bounds),
    /// Lines added.
    Additions(Bounds),
    /// Lines removed.
    Deletions(Bounds),
    /// Lines added and removed.
    Changes(Bounds),
    /// The author is one of these.
    Author(Vec<String>),
    /// One of these labels is set.
    Label(Vec<String>),
    /// The base branch is covered.
    Base(PathSet),
    /// The repository is one of these.
    Repo(Vec<RepoName>),
    /// It is a draft, or is not.
    Draft(bool),
}

impl Test {
    /// Does it look at changed lines?
    #[must_use]
    pub fn wants_lines(&self) -> bool {
        match self {
            Self::All(tests) | Self::Any(tests) => tests.iter().any(Self::wants_lines),
            Self::Not(test) => test.wants_lines(),
            Self::File { such, .. } | Self::EveryFile(such) => {
                such.added.is_some() || such.removed.is_some()
            }
            Self::Commit(_)
            | Self::EveryCommit(_)
            | Self::Files(_)
            | Self::Commits(_)
            | Self::Additions(_)
            | Self::Deletions(_)
            | Self::Changes(_)
            | Self::Author(_)
            | Self::Label(_)
            | Self::Base(_)
            | Self::Repo(_)
            | Self::Draft(_) => false,
        }
    }
}

/// What is asked of one file; all that is there must hold.
#[derive(Debug, Default)]
pub struct FileTest {
    /// Paths that must be covered.
    pub path: Option<PathSet>,
    /// Paths that must not be covered.
    pub not_path: Option<PathSet>,
    /// One of these happened to it; empty: whatever.
    pub status: Vec<StatusWord>,
    /// In an added line.
    pub added: Option<PatternList>,
    /// In a removed line.
    pub removed: Option<PatternList>,
    /// Lines added.
    pub additions: Option<Bounds>,
    /// Lines removed.
    pub deletions: Option<Bounds>,
    /// Both.
    pub changes: Option<Bounds>,
}

/// What is asked of one commit; all that is there must hold.
#[derive(Debug, Default)]
pub struct CommitTest {
    /// In its message.
    pub message: Option<PatternList>,
    /// A trailer that it carries.
    pub trailer: Option<String>,
    /// In a value of that trailer.
    pub value: Option<PatternList>,
}

/// Bounds of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    more_than: Option<u64>,
    less_than: Option<u64>,
}

impl Bounds {
    /// Is the number within them?
    #[must_use]
    pub fn hold(self, number: u64) -> bool {
        self.more_than.is_none_or(|least| number > least)
            && self.less_than.is_none_or(|most| number < most)
    }
}

/// The statuses a rule can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StatusWord {
    /// A new file.
    Added,
    /// Its text changed.
    Modified,
    /// It is gone.
    Removed,
    /// It has another path.
    Renamed,
    /// It was copied.
    Copied,
    /// Its type or mode changed.
    Changed,
    /// Listed without a change.
    Unchanged,
}

impl StatusWord {
    /// The word for a status; none for one this program does not know.
    #[must_use]
    pub fn of(status: &FileStatus) -> Option<Self> {
        Some(match status {
            FileStatus::Added => Self::Added,
            FileStatus::Modified => Self::Modified,
            FileStatus::Removed => Self::Removed,
            FileStatus::Renamed => Self::Renamed,
            FileStatus::Copied => Self::Copied,
            FileStatus::Changed => Self::Changed,
            FileStatus::Unchanged => Self::Unchanged,
            FileStatus::Other(_) => return None,
        })
    }
}

impl Declared {
    /// Compiles a rule.
    ///
    /// # Errors
    /// Every mistake with its place.
    pub(super) fn compile(file: &Written<UserRuleFile>) -> Result<Self, Vec<Problem>> {
        let mut c = Compiler {
            file,
            at: vec!["when".to_owned()],
            problems: Vec::new(),
        };
        let UserRuleFile {
            raise,
            because,
            when,
        } = &file.value;
        let when = c.condition(when, Sense::Widening);
        if because.trim().is_empty() {
            c.problems
                .push(file.problem(&["because"], "`because` says nothing"));
        }
        if !c.problems.is_empty() {
            return Err(c.problems);
        }
        Ok(Self {
            raise: match raise {
                RaiseTo::B => Quadrant::B,
                RaiseTo::C => Quadrant::C,
                RaiseTo::D => Quadrant::D,
            },
            because: because.trim().to_owned(),
            when,
        })
    }
}

fn other(sense: Sense) -> Sense {
    match sense {
        Sense::Widening => Sense::Narrowing,
        Sense::Narrowing => Sense::Widening,
    }
}

/// Walks the condition as written and keeps every problem. `sense` is that of a match at this place.
struct Compiler<'a> {
    file: &'a Written<UserRuleFile>,
    at: Vec<String>,
    problems: Vec<Problem>,
}

impl Compiler<'_> {
    fn problem(&mut self, steps: &[&str], message: String, hint: &str) {
        let at = self
            .at
            .iter()
            .map(String::as_str)
            .chain(steps.iter().copied());
        let path: Vec<&str> = at.collect();
        self.problems
            .push(self.file.problem(&path, message).hint(hint));
    }

    /// Does something one step further down.
    fn below<T>(&mut self, steps: &[&str], what: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.at.len();
        self.at.extend(steps.iter().map(|step| (*step).to_owned()));
        let made = what(self);
        self.at.truncate(depth);
        made
    }

    fn condition(&mut self, written: &Condition, sense: Sense) -> Test {
        let mut tests = Vec::new();
        self.combined(written, sense, &mut tests);
        self.of_parts(written, sense, &mut tests);
        self.of_numbers(written, &mut tests);
        self.of_whole(written, sense, &mut tests);
        if *written == Condition::default() {
            let hint = "write what must hold; see `docs/user-rules.md`";
            self.problem(&[], "the condition is empty".to_owned(), hint);
        }
        match tests.len() {
            1 => tests.remove(0),
            _ => Test::All(tests),
        }
    }

    fn combined(&mut self, written: &Condition, sense: Sense, tests: &mut Vec<Test>) {
        let Condition { all, any, not, .. } = written;
        for (key, list, together) in [
            ("all", all, Test::All as fn(Vec<Test>) -> Test),
            ("any", any, Test::Any),
        ] {
            let parts: Vec<Test> = (0_usize..)
                .zip(list)
                .map(|(index, one)| {
                    self.below(&[key, &index.to_string()], |c| c.condition(one, sense))
                })
                .collect();
            if !parts.is_empty() {
                tests.push(together(parts));
            }
        }
        if let Some(not) = not {
            let inner = self.below(&["not"], |c| c.condition(not, other(sense)));
            tests.push(Test::Not(Box::new(inner)));
        }
    }

    fn of_parts(&mut self, written: &Condition, sense: Sense, tests: &mut Vec<Test>) {
        if let Some(file) = &written.file {
            let at_least = file.at_least.unwrap_or(1);
            let such = self.below(&["file"], |c| c.file(file, sense));
            tests.push(Test::File { such, at_least });
        }
        if let Some(file) = &written.every_file {
            let such = self.below(&["every_file"], |c| c.file(file, sense));
            if file.at_least.is_some() {
                let message = "`at_least` has no meaning under `every_file`".to_owned();
                self.problem(
                    &["every_file", "at_least"],
                    message,
                    "remove it, or write `file`",
                );
            }
            tests.push(Test::EveryFile(such));
        }
        if let Some(commit) = &written.commit {
            let such = self.below(&["commit"], |c| c.commit(commit));
            tests.push(Test::Commit(such));
        }
        if let Some(commit) = &written.every_commit {
            let such = self.below(&["every_commit"], |c| c.commit(commit));
            tests.push(Test::EveryCommit(such));
        }
    }

    fn of_numbers(&mut self, written: &Condition, tests: &mut Vec<Test>) {
        let Condition {
            files,
            commits,
            additions,
            deletions,
            changes,
            ..
        } = written;
        for (key, bounds, test) in [
            ("files", files, Test::Files as fn(Bounds) -> Test),
            ("commits", commits, Test::Commits),
            ("additions", additions, Test::Additions),
            ("deletions", deletions, Test::Deletions),
            ("changes", changes, Test::Changes),
        ] {
            tests.extend(self.bounds(key, bounds.as_ref()).map(test));
        }
    }

    fn of_whole(&mut self, written: &Condition, sense: Sense, tests: &mut Vec<Test>) {
        let Condition {
            author,
            label,
            base,
            repo,
            draft,
            ..
        } = written;
        if !author.is_empty() {
            tests.push(Test::Author(author.clone()));
        }
        if !label.is_empty() {
            tests.push(Test::Label(label.clone()));
        }
        tests.extend(self.globs("base", base, sense).map(Test::Base));
        let mut names: Vec<RepoName> = Vec::new();
        for (index, text) in repo.iter().enumerate() {
            if let Ok(name) = text.parse() {
                names.push(name);
            } else {
                let message = format!("`{text}` is no repository");
                self.problem(&["repo", &index.to_string()], message, "write `owner/name`");
            }
        }
        if !names.is_empty() {
            tests.push(Test::Repo(names));
        }
        tests.extend(draft.map(Test::Draft));
    }

    fn file(&mut self, written: &FileCondition, sense: Sense) -> FileTest {
        let test = FileTest {
            path: self.globs("path", &written.path, sense),
            not_path: self.globs("not_path", &written.not_path, other(sense)),
            status: written.status.clone(),
            added: self.patterns("added", &written.added),
            removed: self.patterns("removed", &written.removed),
            additions: self.bounds("additions", written.additions.as_ref()),
            deletions: self.bounds("deletions", written.deletions.as_ref()),
            changes: self.bounds("changes", written.changes.as_ref()),
        };
        let without_number = FileCondition {
            at_least: None,
            ..written.clone()
        };
        if without_number == FileCondition::default() {
            let hint = "write what a file must be, such as `path`; `files` bounds their number";
            self.problem(&[], "nothing is asked of the file".to_owned(), hint);
        }
        test
    }

    fn commit(&mut self, written: &CommitCondition) -> CommitTest {
        if *written == CommitCondition::default() {
            let hint = "write `message`, or `trailer`";
            self.problem(&[], "nothing is asked of the commit".to_owned(), hint);
        }
        if written.trailer.is_none() && !written.value.is_empty() {
            let hint = "name the trailer in `trailer`";
            self.problem(&["value"], "`value` of which trailer?".to_owned(), hint);
        }
        CommitTest {
            message: self.patterns("message", &written.message),
            trailer: written.trailer.clone(),
            value: self.patterns("value", &written.value),
        }
    }

    fn bounds(&mut self, key: &str, written: Option<&BoundsWritten>) -> Option<Bounds> {
        let BoundsWritten {
            more_than,
            less_than,
        } = *written?;
        let message = match (more_than, less_than) {
            (None, None) => Some(format!("`{key}` has no bound")),
            // Between two neighbours there is no number.
            (Some(least), Some(most)) if least.saturating_add(1) >= most => Some(format!(
                "no number is more than {least} and less than {most}"
            )),
            (None, Some(0)) => Some("no number is less than 0".to_owned()),
            (Some(_) | None, Some(_)) | (Some(_), None) => None,
        };
        if let Some(message) = message {
            self.problem(&[key], message, "write `more_than` or `less_than`, or both");
        }
        Some(Bounds {
            more_than,
            less_than,
        })
    }

    fn globs(&mut self, key: &str, globs: &[String], sense: Sense) -> Option<PathSet> {
        if globs.is_empty() {
            return None;
        }
        match PathSet::compile(globs, sense) {
            Ok(set) => Some(set),
            Err(problems) => {
                for problem in problems {
                    let message = format!("`{}` {}", problem.glob, problem.what);
                    self.problem(&[key, &problem.index.to_string()], message, &problem.hint);
                }
                None
            }
        }
    }

    fn patterns(&mut self, key: &str, patterns: &[String]) -> Option<PatternList> {
        if patterns.is_empty() {
            return None;
        }
        match PatternList::of(patterns) {
            Ok(list) => Some(list),
            Err(problems) => {
                for (index, what, hint) in problems {
                    let pattern = patterns.get(index).map(String::as_str).unwrap_or_default();
                    let message = format!("`{pattern}` {what}");
                    self.problem(&[key, &index.to_string()], message, &hint);
                }
                None
            }
        }
    }
}
