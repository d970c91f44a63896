//! A declared rule on the facts, in three values: it holds, it does not, or what is known does not tell.
//!
//! INVARIANT: "not known" is neither yes nor no: it is carried up, also through `not`, unless what is known decides
//! by itself. At the top it is a failure, hence D.

use super::Ended;
use super::view::{FileView, Listed, View};
use crate::domain::CommitFact;
use crate::policy::user_rules::{CommitTest, Declared, FileTest, StatusWord, Test};
use crate::rules::text::clipped;
use crate::rules::trailers;

/// Files and commits that are named in the reason; a count replaces the rest.
const NAMED: usize = 3;
const MAX_NAME: usize = 100;

/// What a test comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Truth {
    Yes(Evidence),
    No,
    /// It cannot be told, and why.
    Unknown(String),
}

/// What made a test hold, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Evidence {
    named: Vec<String>,
    more: usize,
}

impl Evidence {
    fn of(name: String) -> Self {
        Self {
            named: vec![name],
            more: 0,
        }
    }

    fn note(&mut self, name: impl FnOnce() -> String) {
        if self.named.len() < NAMED {
            self.named.push(name());
        } else {
            self.more += 1;
        }
    }

    fn join(mut self, other: Self) -> Self {
        for name in other.named {
            if !self.named.contains(&name) {
                self.note(|| name);
            }
        }
        self.more += other.more;
        self
    }

    fn words(&self) -> String {
        match self.more {
            0 => self.named.join(", "),
            more => format!("{} and {more} more", self.named.join(", ")),
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds {
            Self::Yes(Evidence::default())
        } else {
            Self::No
        }
    }
}

impl Truth {
    /// All of them: one `no` decides, then one unknown.
    fn all(truths: impl Iterator<Item = Self>) -> Self {
        let (mut evidence, mut unknown) = (Evidence::default(), None);
        for truth in truths {
            match truth {
                Self::No => return Self::No,
                Self::Unknown(why) => unknown = unknown.or(Some(why)),
                Self::Yes(more) => evidence = evidence.join(more),
            }
        }
        unknown.map_or(Self::Yes(evidence), Self::Unknown)
    }

    /// One of them: one `yes` decides, then one unknown.
    fn any(truths: impl Iterator<Item = Self>) -> Self {
        let mut unknown = None;
        for truth in truths {
            match truth {
                Self::Yes(evidence) => return Self::Yes(evidence),
                Self::Unknown(why) => unknown = unknown.or(Some(why)),
                Self::No => {}
            }
        }
        unknown.map_or(Self::No, Self::Unknown)
    }

    fn not(self) -> Self {
        match self {
            Self::Yes(_) => Self::No,
            Self::No => Self::Yes(Evidence::default()),
            Self::Unknown(why) => Self::Unknown(why),
        }
    }
}

/// Runs the rule.
pub(super) fn run(rule: &Declared, view: &View) -> Ended {
    match (Reader {
        view,
        scratch: Vec::new(),
    })
    .test(&rule.when)
    {
        Truth::No => Ended::Passed,
        Truth::Unknown(why) => Ended::Failed(format!("cannot be decided: {why}")),
        Truth::Yes(evidence) if evidence.named.is_empty() => {
            Ended::Raised(rule.raise, rule.because.clone())
        }
        Truth::Yes(evidence) => Ended::Raised(
            rule.raise,
            format!("{}: {}", rule.because, evidence.words()),
        ),
    }
}

struct Reader<'v> {
    view: &'v View,
    /// A buffer of the glob search.
    scratch: Vec<usize>,
}

impl Reader<'_> {
    fn test(&mut self, test: &Test) -> Truth {
        match test {
            Test::All(tests) => Truth::all(tests.iter().map(|test| self.test(test))),
            Test::Any(tests) => Truth::any(tests.iter().map(|test| self.test(test))),
            Test::Not(test) => self.test(test).not(),
            Test::File { such, at_least } => self.some_files(such, *at_least),
            Test::EveryFile(such) => self.every_file(such),
            Test::Commit(such) => some_commit(&self.view.commits, such),
            Test::EveryCommit(such) => every_commit(&self.view.commits, such),
            Test::Files(bounds) => of_whole(&self.view.files, |files| {
                bounds.hold(u64::try_from(files.len()).unwrap_or(u64::MAX))
            }),
            Test::Commits(bounds) => of_whole(&self.view.commits, |commits| {
                bounds.hold(u64::try_from(commits.len()).unwrap_or(u64::MAX))
            }),
            Test::Additions(bounds) => of_whole(&self.view.files, |files| {
                bounds.hold(sum(files, |file| file.change().additions))
            }),
            Test::Deletions(bounds) => of_whole(&self.view.files, |files| {
                bounds.hold(sum(files, |file| file.change().deletions))
            }),
            Test::Changes(bounds) => of_whole(&self.view.files, |files| {
                bounds.hold(sum(files, FileView::changes))
            }),
            Test::Author(logins) => match &self.view.author {
                None => Truth::Unknown("the author's account is gone".to_owned()),
                Some(author) => {
                    let same = |login: &String| login.eq_ignore_ascii_case(author);
                    named_if(logins.iter().any(same), || format!("`{author}`"))
                }
            },
            Test::Label(names) => {
                let mut labels = self.view.labels.iter();
                let set = labels.find(|label| names.iter().any(|name| same_label(name, label)));
                set.map_or(Truth::No, |label| {
                    named_if(true, || format!("label `{label}`"))
                })
            }
            Test::Base(globs) => globs
                .covers(&self.view.base, None, &mut self.scratch)
                .into(),
            Test::Repo(names) => names.contains(&self.view.repo).into(),
            Test::Draft(wanted) => (self.view.draft == *wanted).into(),
        }
    }

    fn some_files(&mut self, such: &FileTest, at_least: u64) -> Truth {
        let view = self.view;
        let (mut evidence, mut found) = (Evidence::default(), 0_u64);
        let (mut doubtful, mut unknown) = (0_u64, None);
        for file in &view.files.items {
            match self.file(file, such) {
                Truth::Yes(_) => {
                    found += 1;
                    evidence.note(|| shown(file));
                }
                Truth::Unknown(why) => {
                    doubtful += 1;
                    unknown = unknown.or(Some(why));
                }
                Truth::No => {}
            }
        }
        if found >= at_least {
            Truth::Yes(evidence)
        } else if let Some(cause) = &view.files.missing {
            Truth::Unknown(cause.clone())
        } else if let Some(why) = unknown.filter(|_| found.saturating_add(doubtful) >= at_least) {
            Truth::Unknown(why)
        } else {
            Truth::No
        }
    }

    fn every_file(&mut self, such: &FileTest) -> Truth {
        let view = self.view;
        let all = Truth::all(view.files.items.iter().map(|file| self.file(file, such)));
        match (all, &view.files.missing) {
            (Truth::Yes(_), Some(cause)) => Truth::Unknown(cause.clone()),
            (Truth::Yes(_), None) => true.into(),
            (Truth::No, _) => Truth::No,
            (Truth::Unknown(why), _) => Truth::Unknown(why),
        }
    }

    /// One file; what costs least is asked first, and changed lines only of a file that is such in all else.
    fn file(&mut self, file: &FileView, such: &FileTest) -> Truth {
        let (path, previous) = (file.path.as_str(), file.previous_path.as_deref());
        let change = file.change();
        let within = |bounds: Option<crate::policy::user_rules::Bounds>, number| {
            bounds.is_none_or(|bounds| bounds.hold(number))
        };
        if !within(such.additions, change.additions)
            || !within(such.deletions, change.deletions)
            || !within(such.changes, file.changes())
        {
            return Truth::No;
        }
        let scratch = &mut self.scratch;
        if such
            .path
            .as_ref()
            .is_some_and(|set| !set.covers(path, previous, scratch))
            || such
                .not_path
                .as_ref()
                .is_some_and(|set| set.covers(path, previous, scratch))
        {
            return Truth::No;
        }
        let status = match StatusWord::of(&change.status) {
            _ if such.status.is_empty() => true.into(),
            Some(word) => such.status.contains(&word).into(),
            None => Truth::Unknown(format!("{}: unknown status", shown(file))),
        };
        if status == Truth::No {
            return Truth::No;
        }
        Truth::all([status, lines(file, such)].into_iter())
    }
}

/// What is asked of the changed lines.
fn lines(file: &FileView, such: &FileTest) -> Truth {
    if such.added.is_none() && such.removed.is_none() {
        return true.into();
    }
    match file.sides() {
        Err(cause) => Truth::Unknown(format!("{}: {cause}", shown(file))),
        Ok(sides) => {
            let added = such
                .added
                .as_ref()
                .is_none_or(|list| list.first_match(&sides.added).is_some());
            let removed = || {
                let list = such.removed.as_ref();
                list.is_none_or(|list| list.first_match(&sides.removed).is_some())
            };
            (added && removed()).into()
        }
    }
}

fn some_commit(commits: &Listed<CommitFact>, such: &CommitTest) -> Truth {
    let mut evidence = Evidence::default();
    for commit in commits
        .items
        .iter()
        .filter(|commit| commit_is(commit, such))
    {
        evidence.note(|| format!("commit {}", commit.sha.short()));
    }
    match (&commits.missing, evidence.named.is_empty()) {
        (_, false) => Truth::Yes(evidence),
        (Some(cause), true) => Truth::Unknown(cause.clone()),
        (None, true) => Truth::No,
    }
}

fn every_commit(commits: &Listed<CommitFact>, such: &CommitTest) -> Truth {
    match &commits.missing {
        _ if !commits.items.iter().all(|commit| commit_is(commit, such)) => Truth::No,
        Some(cause) => Truth::Unknown(cause.clone()),
        None => true.into(),
    }
}

fn commit_is(commit: &CommitFact, such: &CommitTest) -> bool {
    let CommitTest {
        message,
        trailer,
        value,
    } = such;
    let says = message
        .as_ref()
        .is_none_or(|list| list.first_match(&commit.message).is_some());
    says && trailer.as_ref().is_none_or(|key| {
        let all = trailers::parse(&commit.message);
        all.iter().filter(|trailer| trailer.is(key)).any(|trailer| {
            value
                .as_ref()
                .is_none_or(|list| list.first_match(&trailer.value).is_some())
        })
    })
}

/// What is said of a whole list is not known while something may be missing.
fn of_whole<T>(listed: &Listed<T>, holds: impl FnOnce(&[T]) -> bool) -> Truth {
    match listed.whole() {
        Ok(items) => holds(items).into(),
        Err(cause) => Truth::Unknown(cause.to_owned()),
    }
}

fn sum(files: &[FileView], number: impl Fn(&FileView) -> u64) -> u64 {
    files.iter().map(number).fold(0, u64::saturating_add)
}

fn named_if(holds: bool, name: impl FnOnce() -> String) -> Truth {
    if holds {
        Truth::Yes(Evidence::of(name()))
    } else {
        Truth::No
    }
}

fn same_label(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}

fn shown(file: &FileView) -> String {
    match &file.previous_path {
        Some(previous) => format!(
            "{} -> {}",
            clipped(previous, MAX_NAME),
            clipped(&file.path, MAX_NAME)
        ),
        None => clipped(&file.path, MAX_NAME),
    }
}
