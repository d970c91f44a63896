//! `classifier_rules.yml`: the lists and patterns of the path rule, as written and as run.
//!
//! As written: unknown keys are refused, globs and patterns are text. As run ([`PathPolicy`]): everything is
//! compiled, so nothing can be wrong any more. INVARIANT: without `extends: none` the lists of the file add to
//! the built-in table; nothing of the table is lost by writing a file.

use super::globs::{Found, GlobTable, PathForms, Sense};
use super::path_table as table;
use regex::{RegexSet, RegexSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, LazyLock};

/// `config/classifier_rules.yml` as written. Every list is optional.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClassifierRulesFile {
    /// Do the lists below add to the built-in table (`default`) or stand alone (`none`)?
    pub extends: Extends,
    /// Globs of files that are critical whatever the edit.
    pub critical: Vec<String>,
    /// Globs of files whose change a revert does not undo.
    pub irreversible: Vec<String>,
    /// Globs of files that are not critical. Compared with case.
    pub non_critical: Vec<String>,
    /// Globs of tests: not critical when newly added. Compared with case.
    pub tests: Vec<String>,
    /// Globs of doctrine: critical beyond a typo.
    pub doctrine: Vec<String>,
    /// Globs of guides: critical when the changed lines carry a rule or a number.
    pub guide: Vec<String>,
    /// Globs of records that are only ever added: critical unless the file is new.
    pub append_only: Vec<String>,
    /// Globs of the bot's own source: critical, and irreversible where merge or auth logic changes.
    pub bot_source: Vec<String>,
    /// Globs of built-in rules and skills: a new one is irreversible.
    pub built_in_skills: Vec<String>,
    /// Globs of media files, for which GitHub never shows a diff. Compared with case.
    pub safe_without_diff: Vec<String>,
    /// Regular expressions of lines that send mail, post or fire webhooks (added lines, critical files).
    pub outbound_patterns: Vec<String>,
    /// Regular expressions of secrets (added lines, every file).
    pub secret_patterns: Vec<String>,
    /// Regular expressions of merge and auth logic (changed lines of the bot's own source).
    pub merge_auth_patterns: Vec<String>,
    /// Regular expressions of rules in prose (changed lines of guides).
    pub normative_patterns: Vec<String>,
}

/// What the lists of the file stand on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Extends {
    /// The built-in table.
    #[default]
    Default,
    /// Nothing: what no list names is critical.
    None,
}

/// One entry that cannot be used; the loader adds file, line and column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathProblem {
    /// The key of the list in the file.
    pub list: &'static str,
    /// Which entry of the list as written, from 0.
    pub index: usize,
    /// The entry as written.
    pub entry: String,
    /// What is wrong with it.
    pub what: String,
    /// The way out.
    pub hint: String,
}

impl fmt::Display for PathProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            list,
            index,
            entry,
            what,
            hint,
        } = self;
        write!(f, "{list}[{index}]: `{entry}` {what}; {hint}")
    }
}

impl std::error::Error for PathProblem {}

/// The lists whose match raises an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Widening {
    /// See [`ClassifierRulesFile::critical`].
    Critical,
    /// See [`ClassifierRulesFile::irreversible`].
    Irreversible,
    /// See [`ClassifierRulesFile::doctrine`].
    Doctrine,
    /// See [`ClassifierRulesFile::guide`].
    Guide,
    /// See [`ClassifierRulesFile::append_only`].
    AppendOnly,
    /// See [`ClassifierRulesFile::bot_source`].
    BotSource,
    /// See [`ClassifierRulesFile::built_in_skills`].
    BuiltInSkills,
}

/// The lists whose match lowers an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Narrowing {
    /// See [`ClassifierRulesFile::non_critical`].
    NonCritical,
    /// See [`ClassifierRulesFile::tests`].
    Tests,
    /// See [`ClassifierRulesFile::safe_without_diff`].
    SafeWithoutDiff,
}

/// Keys of the lists in the order of [`Widening`].
const WIDENING: [&str; 7] = [
    "critical",
    "irreversible",
    "doctrine",
    "guide",
    "append_only",
    "bot_source",
    "built_in_skills",
];
/// Keys of the lists in the order of [`Narrowing`].
const NARROWING: [&str; 3] = ["non_critical", "tests", "safe_without_diff"];

/// The globs of the built-in table by the keys of the file.
pub const BUILT_IN_GLOBS: [(&str, &[&str]); 10] = [
    ("critical", table::CRITICAL),
    ("irreversible", table::IRREVERSIBLE),
    ("doctrine", table::DOCTRINE),
    ("guide", table::GUIDE),
    ("append_only", table::APPEND_ONLY),
    ("bot_source", table::BOT_SOURCE),
    ("built_in_skills", table::BUILT_IN_SKILLS),
    ("non_critical", table::NON_CRITICAL),
    ("tests", table::TESTS),
    ("safe_without_diff", table::MEDIA),
];

/// The patterns of the built-in table by the keys of the file: what a match means, and the regular expression.
pub const BUILT_IN_PATTERNS: [(&str, &[(&str, &str)]); 4] = [
    ("outbound_patterns", table::OUTBOUND),
    ("secret_patterns", table::SECRETS),
    ("merge_auth_patterns", table::MERGE_AUTH),
    ("normative_patterns", table::NORMATIVE),
];

/// What the lists say about one path: for each list the entry that matched.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'p> {
    widening: Found<'p, { WIDENING.len() }>,
    narrowing: Found<'p, { NARROWING.len() }>,
}

impl<'p> Listed<'p> {
    /// The entry of a widening list that matched.
    #[must_use]
    pub fn widened(&self, list: Widening) -> Option<&'p str> {
        self.widening.get(list as usize).copied().flatten()
    }

    /// The entry of a narrowing list that matched.
    #[must_use]
    pub fn narrowed(&self, list: Narrowing) -> Option<&'p str> {
        self.narrowing.get(list as usize).copied().flatten()
    }
}

/// The path rule's lists and patterns, compiled.
#[derive(Debug, Clone)]
pub struct PathPolicy {
    widening: GlobTable<{ WIDENING.len() }>,
    narrowing: GlobTable<{ NARROWING.len() }>,
    /// See [`ClassifierRulesFile::outbound_patterns`].
    pub outbound: PatternList,
    /// See [`ClassifierRulesFile::secret_patterns`].
    pub secrets: PatternList,
    /// See [`ClassifierRulesFile::merge_auth_patterns`].
    pub merge_auth: PatternList,
    /// See [`ClassifierRulesFile::normative_patterns`].
    pub normative: PatternList,
    /// All of `secrets` and `outbound`; `None` where they do not compile together.
    added: Option<Arc<RegexSet>>,
}

impl PathPolicy {
    /// The built-in table alone: what applies without a file. Compiled once for the whole program.
    #[must_use]
    pub fn built_in() -> Self {
        static TABLE: LazyLock<PathPolicy> = LazyLock::new(|| {
            // A test compiles the table. Should it ever fail to compile all the same, nothing merges by itself.
            PathPolicy::compile(&ClassifierRulesFile::default())
                .unwrap_or_else(|_| PathPolicy::strictest())
        });
        TABLE.clone()
    }

    /// D for every path: all are critical and irreversible, and no edit is harmless.
    #[must_use]
    pub fn strictest() -> Self {
        let raised = [Widening::Critical as usize, Widening::Irreversible as usize];
        Self {
            widening: GlobTable::of_everything(raised, Sense::Widening),
            narrowing: GlobTable::empty(Sense::Narrowing),
            outbound: PatternList::empty(),
            secrets: PatternList::empty(),
            merge_auth: PatternList::empty(),
            normative: PatternList::empty(),
            added: None,
        }
    }

    /// Compiles a file.
    ///
    /// # Errors
    /// Every glob and every pattern that cannot be used, not only the first.
    pub fn compile(file: &ClassifierRulesFile) -> Result<Self, Vec<PathProblem>> {
        let mut c = Compiler {
            with_table: file.extends == Extends::Default,
            problems: Vec::new(),
        };
        let widening = [
            (table::CRITICAL, &file.critical),
            (table::IRREVERSIBLE, &file.irreversible),
            (table::DOCTRINE, &file.doctrine),
            (table::GUIDE, &file.guide),
            (table::APPEND_ONLY, &file.append_only),
            (table::BOT_SOURCE, &file.bot_source),
            (table::BUILT_IN_SKILLS, &file.built_in_skills),
        ];
        let narrowing = [
            (table::NON_CRITICAL, &file.non_critical),
            (table::TESTS, &file.tests),
            (table::MEDIA, &file.safe_without_diff),
        ];
        let mut policy = Self {
            widening: c.globs(WIDENING, widening, Sense::Widening),
            narrowing: c.globs(NARROWING, narrowing, Sense::Narrowing),
            outbound: c.patterns(
                "outbound_patterns",
                table::OUTBOUND,
                &file.outbound_patterns,
            ),
            secrets: c.patterns("secret_patterns", table::SECRETS, &file.secret_patterns),
            merge_auth: c.patterns(
                "merge_auth_patterns",
                table::MERGE_AUTH,
                &file.merge_auth_patterns,
            ),
            normative: c.patterns(
                "normative_patterns",
                table::NORMATIVE,
                &file.normative_patterns,
            ),
            added: None,
        };
        policy.added = policy.secrets.together_with(&policy.outbound);
        if c.problems.is_empty() {
            Ok(policy)
        } else {
            Err(c.problems)
        }
    }

    /// May `secrets` or `outbound` match in this text? `false` is certain; one search instead of two.
    #[must_use]
    pub fn speaks_against(&self, added: &str) -> bool {
        let matches = |set: &Arc<RegexSet>| set.is_match(added);
        !added.is_empty() && self.added.as_ref().is_none_or(matches)
    }

    /// Looks a path up in all lists.
    pub fn list(&self, path: &PathForms<'_>, scratch: &mut Vec<usize>) -> Listed<'_> {
        Listed {
            widening: self.widening.first_matches(path, scratch),
            narrowing: self.narrowing.first_matches(path, scratch),
        }
    }
}

/// Compiles lists one after the other and keeps every problem.
struct Compiler {
    with_table: bool,
    problems: Vec<PathProblem>,
}

impl Compiler {
    fn globs<const LISTS: usize>(
        &mut self,
        keys: [&'static str; LISTS],
        lists: [(&[&str], &Vec<String>); LISTS],
        sense: Sense,
    ) -> GlobTable<LISTS> {
        let built_in = |table: &[&str]| if self.with_table { table.len() } else { 0 };
        let before: [usize; LISTS] = lists.map(|(table, _)| built_in(table));
        let all = lists.map(|(table, written)| {
            let table = table
                .iter()
                .take(built_in(table))
                .map(|glob| (*glob).to_owned());
            table.chain(written.iter().cloned()).collect()
        });
        GlobTable::compile(all, sense).unwrap_or_else(|problems| {
            self.problems
                .extend(problems.into_iter().map(|(list, problem)| {
                    PathProblem {
                        list: keys.get(list).copied().unwrap_or_default(),
                        index: problem
                            .index
                            .saturating_sub(before.get(list).copied().unwrap_or_default()),
                        entry: problem.glob,
                        what: problem.what,
                        hint: problem.hint,
                    }
                }));
            GlobTable::empty(sense)
        })
    }

    fn patterns(
        &mut self,
        list: &'static str,
        table: &[(&str, &str)],
        written: &[String],
    ) -> PatternList {
        let table = if self.with_table { table } else { &[] };
        let mut all: Vec<(String, String)> = table
            .iter()
            // Word boundaries of ASCII: `must` is a word in Korean text too, and the search stays linear there.
            .map(|(label, regex)| ((*label).to_owned(), regex.replace(r"\b", r"(?-u:\b)")))
            .collect();
        for (index, regex) in written.iter().enumerate() {
            match check_pattern(regex) {
                Ok(()) => all.push((format!("`{regex}`"), regex.clone())),
                Err((what, hint)) => self.problems.push(PathProblem {
                    list,
                    index,
                    entry: regex.clone(),
                    what,
                    hint,
                }),
            }
        }
        PatternList::compile(all).unwrap_or_else(|what| {
            self.problems.push(PathProblem {
                list,
                index: 0,
                entry: String::new(),
                what,
                hint: "shorten the list".to_owned(),
            });
            PatternList::empty()
        })
    }
}

fn check_pattern(regex: &str) -> Result<(), (String, String)> {
    let compiled = RegexSetBuilder::new([regex]).multi_line(true).build().map_err(|error| {
        let text = error.to_string();
        let last = text.lines().last().unwrap_or("unknown error").trim().to_owned();
        (
            format!("is not a regular expression: {last}"),
            "see the pattern syntax in `docs/rules.md`; look-around and back-references do not exist".to_owned(),
        )
    })?;
    if compiled.is_match("") {
        return Err((
            "matches the empty text, hence every line".to_owned(),
            "write what the line must contain".to_owned(),
        ));
    }
    Ok(())
}

/// Patterns over the changed lines of one file; `^` and `$` are the ends of a line.
#[derive(Debug, Clone)]
pub struct PatternList {
    /// Behind an `Arc`, because a clone of a set would learn its texts anew.
    set: Arc<RegexSet>,
    labels: Vec<String>,
}

impl PatternList {
    /// Compiles patterns as written.
    ///
    /// # Errors
    /// Every pattern that cannot be used: its index, what is wrong, the way out.
    pub fn of(patterns: &[String]) -> Result<Self, Vec<(usize, String, String)>> {
        let checked = patterns.iter().enumerate();
        let problems: Vec<_> = checked
            .filter_map(|(index, regex)| {
                let (what, hint) = check_pattern(regex).err()?;
                Some((index, what, hint))
            })
            .collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        let labelled = patterns
            .iter()
            .map(|regex| (format!("`{regex}`"), regex.clone()));
        Self::compile(labelled.collect())
            .map_err(|what| vec![(0, what, "shorten the list".to_owned())])
    }

    fn compile(patterns: Vec<(String, String)>) -> Result<Self, String> {
        let set = RegexSetBuilder::new(patterns.iter().map(|(_, regex)| regex))
            .multi_line(true)
            .build()
            .map_err(|error| format!("do not compile together: {error}"))?;
        Ok(Self {
            set: Arc::new(set),
            labels: patterns.into_iter().map(|(label, _)| label).collect(),
        })
    }

    fn empty() -> Self {
        Self {
            set: Arc::new(RegexSet::empty()),
            labels: Vec::new(),
        }
    }

    /// One set of the patterns of both lists.
    fn together_with(&self, other: &Self) -> Option<Arc<RegexSet>> {
        let both = self.set.patterns().iter().chain(other.set.patterns());
        let set = RegexSetBuilder::new(both).multi_line(true).build();
        set.ok().map(Arc::new)
    }

    /// The label of the first pattern, in the order of the list, that matches anywhere in the text.
    #[must_use]
    pub fn first_match(&self, text: &str) -> Option<&str> {
        if text.is_empty() || !self.set.is_match(text) {
            return None;
        }
        let first = self.set.matches(text).iter().next()?;
        self.labels.get(first).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_compiles() {
        let policy = PathPolicy::compile(&ClassifierRulesFile::default());
        assert!(policy.is_ok(), "{policy:?}");
    }

    #[test]
    fn the_strictest_table_raises_both_axes_of_every_path() {
        let policy = PathPolicy::strictest();
        for path in ["README.md", "docs/a.md", "x", "", "a/../b", "caf\u{e9}"] {
            let listed = policy.list(&PathForms::of(path), &mut Vec::new());
            assert_eq!(listed.widened(Widening::Critical), Some("**"), "{path}");
            assert_eq!(listed.widened(Widening::Irreversible), Some("**"), "{path}");
            assert_eq!(listed.narrowed(Narrowing::NonCritical), None, "{path}");
        }
    }

    #[test]
    fn lists_add_to_the_table_unless_told_otherwise() {
        let mut file = ClassifierRulesFile {
            critical: vec!["billing/**".to_owned()],
            ..ClassifierRulesFile::default()
        };
        let hit = |policy: &PathPolicy, path: &str| {
            policy
                .list(&PathForms::of(path), &mut Vec::new())
                .widened(Widening::Critical)
                .map(str::to_owned)
        };
        let added = PathPolicy::compile(&file).expect("compiles");
        assert_eq!(hit(&added, "billing/x").as_deref(), Some("billing/**"));
        assert_eq!(hit(&added, "LICENSE").as_deref(), Some("LICENSE*"));
        file.extends = Extends::None;
        let alone = PathPolicy::compile(&file).expect("compiles");
        assert_eq!(hit(&alone, "billing/x").as_deref(), Some("billing/**"));
        assert_eq!(hit(&alone, "LICENSE"), None);
    }

    #[test]
    fn every_problem_is_named_with_its_place() {
        let file = ClassifierRulesFile {
            critical: vec!["ok/**".to_owned(), "/bad".to_owned(), "bad/".to_owned()],
            secret_patterns: vec!["(".to_owned(), "a*".to_owned(), "fine".to_owned()],
            ..ClassifierRulesFile::default()
        };
        let problems = PathPolicy::compile(&file).expect_err("has problems");
        let places: Vec<_> = problems
            .iter()
            .map(|p| (p.list, p.index, p.entry.as_str()))
            .collect();
        assert_eq!(
            places,
            [
                ("critical", 1, "/bad"),
                ("critical", 2, "bad/"),
                ("secret_patterns", 0, "("),
                ("secret_patterns", 1, "a*"),
            ]
        );
        assert!(problems.iter().all(|p| !p.hint.is_empty()));
        assert_eq!(
            problems.first().map(ToString::to_string).as_deref(),
            Some(
                "critical[1]: `/bad` begins with `/`; write `bad`: paths start at the repository root"
            )
        );
    }
}
