//! What a script can ask of the facts: `facts`, its files and commits, and `raise`. `docs/user-rules.md` lists all.
//!
//! INVARIANT: everything is read-only, a property that does not exist is an error, and so is a fact that is not known.

use super::run::{Answer, Run};
use super::words::{function, length};
use crate::domain::{CommitFact, FileChange, Quadrant};
use crate::rules::trailers;
use crate::rules::user::view::{FileView, Sides, View};
use rhai::{Array, Dynamic, FuncRegistration, ImmutableString, Map, Module, NativeCallContext};
use std::any::TypeId;
use std::sync::Arc;

/// The pull request.
#[derive(Debug, Clone)]
pub(super) struct FactsObject(pub Arc<Run>);

/// Some of its files.
#[derive(Debug, Clone)]
pub(super) struct Files {
    run: Arc<Run>,
    which: Arc<[u32]>,
}

/// One of its files.
#[derive(Debug, Clone)]
pub(super) struct File {
    run: Arc<Run>,
    at: u32,
}

/// The added or removed lines of a file.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    file: File,
    side: fn(&Sides) -> &str,
}

/// Its commits.
#[derive(Debug, Clone)]
pub(super) struct Commits(Arc<Run>);

/// One of its commits.
#[derive(Debug, Clone)]
pub(super) struct Commit {
    run: Arc<Run>,
    at: usize,
}

/// Proof that something was raised.
#[derive(Debug, Clone, Copy)]
pub(super) struct Raise;

macro_rules! getter {
    ($module:ident, $name:literal, $function:expr) => {
        FuncRegistration::new_getter($name)
            .with_purity(true)
            .set_into_module($module, $function)
    };
}

pub(super) fn register(module: &mut Module) {
    facts(module);
    files(module);
    file(module);
    lines(module);
    commits(module);
    module
        .set_custom_type::<FactsObject>("facts")
        .set_custom_type::<Files>("files")
        .set_custom_type::<File>("file")
        .set_custom_type::<Lines>("lines")
        .set_custom_type::<Commits>("commits")
        .set_custom_type::<Commit>("commit")
        .set_custom_type::<Raise>("raise")
        .set_custom_type::<Quadrant>("quadrant");
}

/// The type of a value in the words of the documentation.
pub(super) fn type_name(value: &Dynamic) -> &'static str {
    let of = |id: TypeId| value.type_id() == id;
    match () {
        () if value.is_unit() => "nothing",
        () if value.is_int() => "integer",
        () if value.is_bool() => "boolean",
        () if value.is_string() => "string",
        () if value.is_char() => "character",
        () if of(TypeId::of::<Array>()) => "array",
        () if of(TypeId::of::<Map>()) => "map",
        () if of(TypeId::of::<FactsObject>()) => "facts",
        () if of(TypeId::of::<Files>()) => "files",
        () if of(TypeId::of::<File>()) => "file",
        () if of(TypeId::of::<Lines>()) => "lines",
        () if of(TypeId::of::<Commits>()) => "commits",
        () if of(TypeId::of::<Commit>()) => "commit",
        () if of(TypeId::of::<Quadrant>()) => "quadrant",
        () => "another type",
    }
}

fn facts(module: &mut Module) {
    getter!(module, "repo", |facts: &mut FactsObject| text(
        &facts.view().repo.to_string()
    ));
    getter!(module, "number", |facts: &mut FactsObject| number(
        facts.view().number
    ));
    getter!(module, "author", |facts: &mut FactsObject| {
        let author = facts.view().author.clone();
        author.ok_or_else(|| "the author's account is gone".into()) as Answer<ImmutableString>
    });
    getter!(module, "draft", |facts: &mut FactsObject| facts
        .view()
        .draft);
    getter!(module, "base", |facts: &mut FactsObject| facts
        .view()
        .base
        .clone());
    getter!(module, "labels", |facts: &mut FactsObject| {
        let labels = facts.view().labels.iter();
        labels.map(|label| label.clone().into()).collect::<Array>()
    });
    getter!(module, "files", |facts: &mut FactsObject| {
        facts.view().files.whole().map_err(ToOwned::to_owned)?;
        Ok(Files {
            run: Arc::clone(&facts.0),
            which: Arc::clone(&facts.0.every_file),
        }) as Answer<Files>
    });
    getter!(module, "commits", |facts: &mut FactsObject| {
        facts.view().commits.whole().map_err(ToOwned::to_owned)?;
        Ok(Commits(Arc::clone(&facts.0))) as Answer<Commits>
    });
    function!(
        module,
        "has_label",
        |facts: &mut FactsObject, name: &str| {
            let name = name.to_lowercase();
            facts
                .view()
                .labels
                .iter()
                .any(|label| label.to_lowercase() == name)
        }
    );
    function!(module, "raise", |context: NativeCallContext<'_>,
                                to: Quadrant,
                                why: &str| {
        if why.trim().is_empty() {
            return Err("`raise` says no reason".into());
        }
        run_of(&context)?.raise(to, why.trim());
        Ok(Raise) as Answer<Raise>
    });
}

/// The run a function is called in.
pub(super) fn run_of(context: &NativeCallContext<'_>) -> Answer<Arc<Run>> {
    let facts = context.tag().and_then(Dynamic::read_lock::<FactsObject>);
    facts
        .map(|facts| Arc::clone(&facts.0))
        .ok_or_else(|| "the function is called outside of a run".into())
}

impl FactsObject {
    fn view(&self) -> &View {
        &self.0.view
    }
}

fn files(module: &mut Module) {
    module.set_iter(TypeId::of::<Files>(), |files| {
        let files: Files = files.cast();
        let run = files.run;
        let which = files.which;
        Box::new((0..which.len()).filter_map(move |index| {
            let at = *which.get(index)?;
            Some(Dynamic::from(File {
                run: Arc::clone(&run),
                at,
            }))
        }))
    });
    getter!(module, "len", |files: &mut Files| length(files.which.len()));
    getter!(module, "is_empty", |files: &mut Files| files
        .which
        .is_empty());
    getter!(module, "additions", |files: &mut Files| files
        .sum(|file| file.change().additions));
    getter!(module, "deletions", |files: &mut Files| files
        .sum(|file| file.change().deletions));
    getter!(module, "changes", |files: &mut Files| files
        .sum(FileView::changes));
    function!(module, "matching", |files: &mut Files, glob: &str| files
        .matching(&[glob.to_owned()]));
    function!(module, "matching", |files: &mut Files, globs: Array| files
        .matching(&strings(globs)?));
    function!(module, "with_status", |files: &mut Files, status: &str| {
        files.with_status(status)
    });
    function!(module, "find", |files: &mut Files, path: &str| files
        .find(path));
}

impl Files {
    fn views(&self) -> impl Iterator<Item = (u32, &FileView)> {
        let all = &self.run.view.files.items;
        self.which
            .iter()
            .filter_map(|at| Some((*at, all.get(usize::try_from(*at).ok()?)?)))
    }

    /// Looking at every file costs as much as a loop over them would.
    fn charge(&self, each: u64) -> Answer<()> {
        let files = u64::try_from(self.which.len()).unwrap_or(u64::MAX);
        self.run.charge(1 + files.saturating_mul(each))
    }

    fn only(&self, is: impl Fn(&FileView) -> bool) -> Self {
        let which = self.views().filter(|(_, file)| is(file)).map(|(at, _)| at);
        Self {
            run: Arc::clone(&self.run),
            which: which.collect(),
        }
    }

    fn sum(&self, of: impl Fn(&FileView) -> u64) -> Answer<i64> {
        self.charge(1)?;
        Ok(number(
            self.views()
                .map(|(_, file)| of(file))
                .fold(0, u64::saturating_add),
        ))
    }

    fn matching(&self, globs: &[String]) -> Answer<Self> {
        self.charge(4)?;
        let globs = self.run.globs(globs)?;
        Ok(self.only(|file| covers(&globs, file)))
    }

    fn with_status(&self, status: &str) -> Answer<Self> {
        self.charge(1)?;
        known_status(status)?;
        for (_, file) in self.views() {
            certain_status(file)?;
        }
        Ok(self.only(|file| file.change().status.as_str() == status))
    }

    /// The file of exactly this path, or nothing.
    fn find(&self, path: &str) -> Answer<Dynamic> {
        self.charge(1)?;
        let found = self.views().find(|(_, file)| file.path == path);
        Ok(found.map_or(Dynamic::UNIT, |(at, _)| {
            Dynamic::from(File {
                run: Arc::clone(&self.run),
                at,
            })
        }))
    }
}

fn covers(globs: &crate::policy::user_rules::PathSet, file: &FileView) -> bool {
    globs.covers(&file.path, file.previous_path.as_deref(), &mut Vec::new())
}

/// A status that is not one GitHub has would never match.
fn known_status(word: &str) -> Answer<()> {
    use crate::domain::FileStatus;
    match FileStatus::from(word.to_owned()) {
        FileStatus::Other(_) => Err(format!("there is no status `{word}`").into()),
        FileStatus::Added
        | FileStatus::Modified
        | FileStatus::Removed
        | FileStatus::Renamed
        | FileStatus::Copied
        | FileStatus::Changed
        | FileStatus::Unchanged => Ok(()),
    }
}

fn certain_status(file: &FileView) -> Answer<&str> {
    let status = file.change().status.known();
    status.ok_or_else(|| format!("{}: unknown status", file.path).into())
}

fn file(module: &mut Module) {
    getter!(module, "path", |file: &mut File| file
        .view(|view| Ok(view.path.clone())));
    getter!(module, "previous_path", |file: &mut File| {
        file.view(|view| Ok(view.previous_path.clone().map_or(Dynamic::UNIT, Into::into)))
    });
    getter!(module, "name", |file: &mut File| file
        .view(|view| Ok(text(name(&view.path)))));
    getter!(module, "folder", |file: &mut File| {
        file.view(|view| {
            Ok(text(
                view.path.rsplit_once('/').map_or("", |(folder, _)| folder),
            ))
        })
    });
    getter!(module, "extension", |file: &mut File| {
        file.view(|view| {
            Ok(text(
                name(&view.path)
                    .rsplit_once('.')
                    .map_or("", |(_, last)| last),
            ))
        })
    });
    getter!(module, "status", |file: &mut File| file
        .view(|view| certain_status(view).map(text)));
    getter!(module, "additions", |file: &mut File| file
        .count(|change| change.additions));
    getter!(module, "deletions", |file: &mut File| file
        .count(|change| change.deletions));
    getter!(module, "changes", |file: &mut File| file
        .view(|view| Ok(number(view.changes()))));
    function!(module, "matches", |file: &mut File, glob: &str| file
        .matches(&[glob.to_owned()]));
    function!(module, "matches", |file: &mut File, globs: Array| file
        .matches(&strings(globs)?));
    function!(module, "adds", |file: &mut File, pattern: &str| file
        .says(added, pattern));
    function!(module, "removes", |file: &mut File, pattern: &str| file
        .says(removed, pattern));
    getter!(module, "added_lines", |file: &mut File| file.lines(added));
    getter!(module, "removed_lines", |file: &mut File| file
        .lines(removed));
    function!(module, "to_string", |file: &mut File| file
        .view(|view| Ok(view.path.clone())));
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn added(sides: &Sides) -> &str {
    &sides.added
}

fn removed(sides: &Sides) -> &str {
    &sides.removed
}

impl File {
    fn view<T>(&self, ask: impl FnOnce(&FileView) -> Answer<T>) -> Answer<T> {
        let files = &self.run.view.files.items;
        let at = usize::try_from(self.at).unwrap_or(usize::MAX);
        ask(files.get(at).ok_or("the file is gone")?)
    }

    fn count(&self, of: impl FnOnce(&FileChange) -> u64) -> Answer<i64> {
        self.view(|view| Ok(number(of(view.change()))))
    }

    fn matches(&self, globs: &[String]) -> Answer<bool> {
        self.run.charge(4)?;
        let globs = self.run.globs(globs)?;
        self.view(|view| Ok(covers(&globs, view)))
    }

    /// Does a changed line match?
    fn says(&self, side: fn(&Sides) -> &str, pattern: &str) -> Answer<bool> {
        let pattern = self.run.pattern(pattern)?;
        self.view(|view| {
            let text = side(sides(view)?);
            self.run.charge_text(text.len())?;
            Ok(pattern.is_match(text))
        })
    }

    fn lines(&self, side: fn(&Sides) -> &str) -> Answer<Lines> {
        self.view(|view| sides(view).map(|_| ()))?;
        Ok(Lines {
            file: self.clone(),
            side,
        })
    }
}

/// The changed lines, or an error with the cause.
fn sides(view: &FileView) -> Answer<&Sides> {
    view.sides()
        .map_err(|cause| format!("{}: {cause}", view.path).into())
}

fn lines(module: &mut Module) {
    module.set_iter_result(TypeId::of::<Lines>(), |lines| {
        let lines: Lines = lines.cast();
        let mut start = 0;
        Box::new(std::iter::from_fn(move || {
            lines.next(&mut start).transpose()
        }))
    });
}

impl Lines {
    /// The line that begins at `start`, which moves on behind it.
    fn next(&self, start: &mut usize) -> Answer<Option<Dynamic>> {
        use crate::policy::user_rules::script::MAX_STRING;
        self.file.view(|view| {
            let text = (self.side)(sides(view)?);
            let Some((line, _)) = text.get(*start..).and_then(|rest| rest.split_once('\n')) else {
                return Ok(None);
            };
            *start += line.len() + 1;
            if line.len() > MAX_STRING {
                return Err(format!(
                    "{}: a line has {} bytes, more than {MAX_STRING}; ask `adds` or `removes` with a pattern",
                    view.path,
                    line.len()
                )
                .into());
            }
            self.file.run.charge_text(line.len())?;
            Ok(Some(text_of(line)))
        })
    }
}

fn commits(module: &mut Module) {
    module.set_iter(TypeId::of::<Commits>(), |commits| {
        let Commits(run) = commits.cast();
        let count = run.view.commits.items.len();
        Box::new((0..count).map(move |at| {
            Dynamic::from(Commit {
                run: Arc::clone(&run),
                at,
            })
        }))
    });
    getter!(module, "len", |commits: &mut Commits| length(
        commits.0.view.commits.items.len()
    ));
    getter!(module, "sha", |commit: &mut Commit| commit
        .view(|view| Ok(text(view.sha.as_str()))));
    getter!(module, "message", |commit: &mut Commit| commit
        .view(|view| Ok(text(&view.message))));
    getter!(module, "subject", |commit: &mut Commit| {
        commit.view(|view| Ok(text(view.message.lines().next().unwrap_or_default())))
    });
    function!(module, "says", |commit: &mut Commit, pattern: &str| {
        let pattern = commit.run.pattern(pattern)?;
        commit.view(|view| Ok(pattern.is_match(&view.message)))
    });
    function!(module, "trailer", |commit: &mut Commit, key: &str| commit
        .trailer(key));
    function!(module, "to_string", |commit: &mut Commit| {
        commit.view(|view| Ok(text(view.sha.short())))
    });
}

impl Commit {
    fn view<T>(&self, ask: impl FnOnce(&CommitFact) -> Answer<T>) -> Answer<T> {
        let commit = self
            .run
            .view
            .commits
            .items
            .get(self.at)
            .ok_or("the commit is gone")?;
        self.run.charge_text(commit.message.len())?;
        ask(commit)
    }

    /// The first value of a trailer, or nothing.
    fn trailer(&self, key: &str) -> Answer<Dynamic> {
        self.view(|view| {
            let all = trailers::parse(&view.message);
            let found = all.iter().find(|trailer| trailer.is(key));
            Ok(found.map_or(Dynamic::UNIT, |trailer| text_of(&trailer.value)))
        })
    }
}

fn text(text: &str) -> ImmutableString {
    text.into()
}

fn text_of(line: &str) -> Dynamic {
    ImmutableString::from(line).into()
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn strings(values: Array) -> Answer<Vec<String>> {
    let strings = values.into_iter().map(Dynamic::into_string);
    strings
        .collect::<Result<_, _>>()
        .map_err(|found| format!("a list of globs holds strings only, found {found}").into())
}
