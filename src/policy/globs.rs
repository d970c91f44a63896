//! The only glob builder: lists of globs and the forms of a path they are compared with.
//!
//! INVARIANT: widening lists (they raise an axis) match without case and see through spellings that a file
//! system may take for the same path; narrowing lists (they lower an axis) match with case and refuse odd paths.

use super::glob_index::{GlobIndex, GlobIndexBuilder};
use globset::GlobBuilder;
use std::borrow::Cow;
use std::sync::Arc;
use unicode_normalization::UnicodeNormalization;

/// Does a match raise an axis or lower it?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// Raises: compared without case, in doubt it matches.
    Widening,
    /// Lowers: compared with case, in doubt it does not match.
    Narrowing,
}

/// A glob that cannot be used, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("glob `{glob}` {what}; {hint}")]
pub struct GlobProblem {
    /// Which entry of the list, from 0.
    pub index: usize,
    /// The entry as written.
    pub glob: String,
    /// What is wrong.
    pub what: String,
    /// The way out.
    pub hint: String,
}

/// Several lists compiled into one set, so that a path goes through it once for all of them. A match names the
/// entry as written.
#[derive(Debug, Clone)]
pub struct GlobTable<const LISTS: usize> {
    index: Arc<GlobIndex>,
    sense: Sense,
    /// The list and the entry of that list behind each glob of the index (one entry may be several globs).
    origin: Vec<(usize, usize)>,
    entries: [Vec<String>; LISTS],
}

/// For each list of a table the entry that matched.
pub type Found<'t, const LISTS: usize> = [Option<&'t str>; LISTS];

impl<const LISTS: usize> GlobTable<LISTS> {
    /// Compiles the lists.
    ///
    /// # Errors
    /// Every entry that does not compile or can never match what GitHub lists, with the index of its list.
    pub fn compile(
        lists: [Vec<String>; LISTS],
        sense: Sense,
    ) -> Result<Self, Vec<(usize, GlobProblem)>> {
        let mut builder = GlobIndexBuilder::new();
        let mut origin = Vec::new();
        let mut problems = Vec::new();
        for (list, globs) in lists.iter().enumerate() {
            for (index, glob) in globs.iter().enumerate() {
                match expand(glob, sense) {
                    Ok(expanded) => {
                        for one in expanded {
                            builder.add(one, origin.len());
                            origin.push((list, index));
                        }
                    }
                    Err((what, hint)) => {
                        let glob = glob.clone();
                        problems.push((
                            list,
                            GlobProblem {
                                index,
                                glob,
                                what,
                                hint,
                            },
                        ));
                    }
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let index = builder.build().map_err(|error| {
            let problem = GlobProblem {
                index: 0,
                glob: error.glob().unwrap_or_default().to_owned(),
                what: format!("does not compile: {}", error.kind()),
                hint: "shorten the list or its alternates".to_owned(),
            };
            vec![(0, problem)]
        })?;
        Ok(Self {
            index: Arc::new(index),
            sense,
            origin,
            entries: lists,
        })
    }

    /// The table that matches nothing.
    #[must_use]
    pub fn empty(sense: Sense) -> Self {
        Self::of_everything([], sense)
    }

    /// The table in which these lists match every path and the others nothing. Nothing of it can fail to compile.
    #[must_use]
    pub fn of_everything<const WHOLE: usize>(lists: [usize; WHOLE], sense: Sense) -> Self {
        Self {
            index: Arc::new(GlobIndex::of_everything((0..WHOLE).collect())),
            sense,
            origin: lists.into_iter().map(|list| (list, 0)).collect(),
            entries: std::array::from_fn(|list| {
                let whole = lists.contains(&list);
                whole.then(|| "**".to_owned()).into_iter().collect()
            }),
        }
    }

    /// For each list the first entry, in the order of the list, that matches the path.
    pub fn first_matches(
        &self,
        path: &PathForms<'_>,
        scratch: &mut Vec<usize>,
    ) -> Found<'_, LISTS> {
        let mut first: [Option<usize>; LISTS] = [None; LISTS];
        for text in path.texts(self.sense) {
            self.index.matches(text, scratch, |glob| {
                let origin = self.origin.get(glob).copied();
                if let Some((list, entry)) = origin
                    && let Some(slot) = first.get_mut(list)
                {
                    *slot = Some(slot.map_or(entry, |earlier| earlier.min(entry)));
                }
            });
        }
        let mut found = [None; LISTS];
        for ((slot, entries), first) in found.iter_mut().zip(&self.entries).zip(first) {
            *slot = first
                .and_then(|entry| entries.get(entry))
                .map(String::as_str);
        }
        found
    }
}

/// One compiled list.
#[derive(Debug, Clone)]
pub struct GlobList(GlobTable<1>);

impl GlobList {
    /// Compiles a list.
    ///
    /// # Errors
    /// Every entry that does not compile or can never match what GitHub lists.
    pub fn compile<S: AsRef<str>>(globs: &[S], sense: Sense) -> Result<Self, Vec<GlobProblem>> {
        let list = globs.iter().map(|glob| glob.as_ref().to_owned()).collect();
        GlobTable::compile([list], sense)
            .map(Self)
            .map_err(|problems| problems.into_iter().map(|(_, problem)| problem).collect())
    }

    /// The first entry, in the order of the list, that matches the path.
    pub fn first_match(&self, path: &PathForms<'_>, scratch: &mut Vec<usize>) -> Option<&str> {
        let [found] = self.0.first_matches(path, scratch);
        found
    }
}

type Refusal = (String, String);

fn refuse<T>(what: &str, hint: impl Into<String>) -> Result<T, Refusal> {
    Err((what.to_owned(), hint.into()))
}

/// The globs one entry stands for: itself and, for `X/**`, also `X`: a submodule pin or a symlink in place of
/// a folder shows as the bare path.
fn expand(glob: &str, sense: Sense) -> Result<Vec<globset::Glob>, Refusal> {
    check(glob)?;
    let mut texts = vec![glob.to_owned()];
    if let Some(bare) = glob.strip_suffix("/**") {
        texts.push(bare.to_owned());
    } else if glob.ends_with('}') && (glob.contains("/**,") || glob.contains("/**}")) {
        texts.push(glob.replace("/**,", ",").replace("/**}", "}"));
    }
    texts
        .iter()
        .flat_map(|text| alternates(text))
        .map(|text| {
            let text = match sense {
                Sense::Widening => fold(&text),
                Sense::Narrowing => text.nfc().collect(),
            };
            GlobBuilder::new(&text)
                .literal_separator(true)
                .backslash_escape(true)
                .empty_alternates(true)
                .build()
                .map_err(|error| {
                    (
                        format!("does not compile: {}", error.kind()),
                        "see the glob syntax in `docs/rules.md`".to_owned(),
                    )
                })
        })
        .collect()
}

/// Most entries without their alternates: plain globs are found by hashing, the others by a regular
/// expression. What is nested, escaped or very wide stays as it is.
fn alternates(glob: &str) -> Vec<String> {
    const WIDEST: usize = 64;
    let mut done = vec![String::new()];
    let mut rest = glob;
    if glob.contains(['[', '\\']) {
        return vec![glob.to_owned()];
    }
    while let Some((before, after)) = rest.split_once('{') {
        let Some((inside, tail)) = after.split_once('}') else {
            return vec![glob.to_owned()];
        };
        if inside.contains('{') || done.len() * (inside.matches(',').count() + 1) > WIDEST {
            return vec![glob.to_owned()];
        }
        done = done
            .iter()
            .flat_map(|start| {
                inside
                    .split(',')
                    .map(move |one| format!("{start}{before}{one}"))
            })
            .collect();
        rest = tail;
    }
    for glob in &mut done {
        glob.push_str(rest);
    }
    done
}

/// Refuses what can never match a path as GitHub lists it (relative, no leading `./`, no trailing `/`).
fn check(glob: &str) -> Result<(), Refusal> {
    if glob.trim().is_empty() {
        return refuse("is empty", "remove the entry, or write `**` for every path");
    }
    if glob != glob.trim() {
        return refuse(
            "begins or ends with a blank",
            format!("write `{}`", glob.trim()),
        );
    }
    if let Some(rest) = glob.strip_prefix('!') {
        return refuse(
            "begins with `!`, and lists have no exceptions",
            format!(
                "put `{rest}` into another list; to match a file whose name begins so write `\\!…`"
            ),
        );
    }
    if let Some(rest) = glob.strip_prefix("./") {
        return refuse(
            "begins with `./`",
            format!("write `{rest}`: paths start at the repository root"),
        );
    }
    if let Some(rest) = glob.strip_prefix('/') {
        return refuse(
            "begins with `/`",
            format!("write `{rest}`: paths start at the repository root"),
        );
    }
    if let Some(rest) = glob.strip_suffix('/') {
        return refuse(
            "ends with `/`",
            format!("write `{rest}/**` for everything below it"),
        );
    }
    for part in glob.split('/') {
        match part {
            "" => return refuse("has an empty component", "write one `/` between two names"),
            "." | ".." => {
                return refuse(
                    "has a `.` or `..` component",
                    "write the path it stands for",
                );
            }
            _ => {}
        }
    }
    check_stars(glob)
}

/// `**` is a component of its own or it is an ordinary `*` in disguise.
fn check_stars(glob: &str) -> Result<(), Refusal> {
    let odd = || {
        refuse(
            "has a `**` that is not a whole component",
            "write `**/x` at any depth, `x/**` for everything below, or a single `*`",
        )
    };
    if glob.contains("***") {
        return odd();
    }
    for (at, _) in glob.match_indices("**") {
        let before = glob.get(..at).and_then(|text| text.chars().next_back());
        let after = glob.get(at + 2..).and_then(|text| text.chars().next());
        let opens = matches!(before, None | Some('/' | '{' | ','));
        let closes = matches!(after, None | Some('/' | '}' | ','));
        if !opens || !closes {
            return odd();
        }
    }
    Ok(())
}

/// One path, prepared once for all lists.
#[derive(Debug, Clone)]
pub struct PathForms<'a> {
    /// NFC, with case; none when the path is odd (an empty, `.` or `..` component, a backslash).
    exact: Option<Cow<'a, str>>,
    /// The path without case.
    folded: Cow<'a, str>,
    /// What a forgiving file system may take it for, where that is another path.
    cleaned: Option<String>,
}

impl<'a> PathForms<'a> {
    /// Prepares a path as GitHub lists it.
    #[must_use]
    pub fn of(path: &'a str) -> Self {
        if let Some(capitals) = capitals_of_ordinary(path) {
            return Self {
                exact: Some(Cow::Borrowed(path)),
                folded: if capitals {
                    Cow::Owned(path.to_ascii_lowercase())
                } else {
                    Cow::Borrowed(path)
                },
                cleaned: None,
            };
        }
        let odd =
            path.contains('\\') || path.split('/').any(|part| matches!(part, "" | "." | ".."));
        let folded = fold(path);
        Self {
            exact: (!odd).then(|| Cow::Owned(path.nfc().collect())),
            cleaned: clean(&folded),
            folded: Cow::Owned(folded),
        }
    }

    fn texts(&self, sense: Sense) -> impl Iterator<Item = &str> {
        let (first, second) = match sense {
            Sense::Widening => (Some(&*self.folded), self.cleaned.as_deref()),
            Sense::Narrowing => (self.exact.as_deref(), None),
        };
        first.into_iter().chain(second)
    }
}

/// Case folding that both a glob and a path go through: upper then lower case, a character at a time, in NFC.
fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfc()
        .collect()
}

/// Almost every path: ASCII, no backslash, no component that is empty or ends with a dot or a blank. Does it have
/// capital letters? `None` for any other path.
fn capitals_of_ordinary(path: &str) -> Option<bool> {
    // Loops without a branch or a step that waits for the one before: the compiler takes many bytes at a time.
    let bytes = path.as_bytes();
    let ends_oddly = |before: u8| matches!(before, b'/' | b'.' | b' ');
    let mut odd = bytes.first().is_none_or(|first| *first == b'/');
    odd |= bytes.last().is_none_or(|last| ends_oddly(*last));
    let mut capitals = false;
    for byte in bytes {
        odd |= !byte.is_ascii() || *byte == b'\\';
        capitals |= byte.is_ascii_uppercase();
    }
    for (before, byte) in bytes.iter().zip(bytes.get(1..).unwrap_or_default()) {
        odd |= *byte == b'/' && ends_oddly(*before);
    }
    (!odd).then_some(capitals)
}

/// What the path becomes where a file system ignores invisible characters (HFS+), drops trailing dots and
/// blanks or takes `\` for `/` (Windows), with `.` and `..` resolved. `None` when that changes nothing.
fn clean(folded: &str) -> Option<String> {
    let visible: String = folded
        .chars()
        .filter(|c| !is_ignorable(*c))
        .map(|c| if c == '\\' { '/' } else { c })
        .collect();
    let mut parts: Vec<&str> = Vec::new();
    for part in visible.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => match name.trim_end_matches(['.', ' ']) {
                "" => {}
                trimmed => parts.push(trimmed),
            },
        }
    }
    let cleaned = parts.join("/");
    (cleaned != folded).then_some(cleaned)
}

/// Characters that show nothing: soft hyphen, zero-width, direction marks, variation selectors, tags.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::path_table as table;
    use proptest::prelude::*;

    fn hits(glob: &str, sense: Sense, path: &str) -> bool {
        GlobList::compile(&[glob], sense)
            .unwrap_or_else(|problems| panic!("{problems:?}"))
            .first_match(&PathForms::of(path), &mut Vec::new())
            .is_some()
    }

    #[test]
    fn globs_that_can_never_match_are_refused_with_a_hint() {
        for bad in [
            "",
            " ",
            "/src/**",
            "./src/**",
            "src/",
            "src/** ",
            " src/**",
            "!src/**",
            "src/**.py",
            "**.py",
            "a/***/b",
            "a//b",
            "a/../b",
            "a/./b",
            "a{b",
            "[z-a]",
            "a**/b",
        ] {
            let problems = GlobList::compile(&["ok/**", bad], Sense::Narrowing).expect_err(bad);
            let [problem] = problems.as_slice() else {
                panic!("{bad}: {problems:?}")
            };
            assert_eq!(problem.index, 1, "{bad}");
            assert!(!problem.hint.is_empty(), "{bad}");
        }
        for good in [
            "**",
            "**/x",
            "x/**",
            "a/**/b",
            "{a/**,b}",
            "*.{pem,key}",
            "a{,.md}",
            "\\!x",
            "{**/a,b}",
        ] {
            assert!(
                GlobList::compile(&[good], Sense::Widening).is_ok(),
                "{good}"
            );
        }
    }

    #[test]
    fn a_star_stays_in_its_folder_and_double_star_matches_none() {
        assert!(hits("src/**/secret.rs", Sense::Widening, "src/secret.rs"));
        assert!(hits(
            "src/**/secret.rs",
            Sense::Widening,
            "src/a/b/secret.rs"
        ));
        assert!(!hits("*.md", Sense::Narrowing, "docs/a.md"));
        assert!(!hits("docs/*", Sense::Narrowing, "docs/a/b.md"));
        assert!(hits(
            ".github/**",
            Sense::Widening,
            ".github/workflows/ci.yml"
        ));
        assert!(!hits("*.{pem,key}", Sense::Widening, "monkey.rs"));
        assert!(!hits("*.{pem,key}", Sense::Widening, "keyboard.txt"));
        assert!(hits("README{,.md}", Sense::Narrowing, "README"));
    }

    #[test]
    fn a_folder_glob_covers_the_bare_path() {
        assert!(hits("vendor/lib/**", Sense::Widening, "vendor/lib"));
        assert!(hits("{vendor/**,x}", Sense::Widening, "vendor"));
        assert!(!hits("vendor/lib/**", Sense::Widening, "vendor/library"));
    }

    #[test]
    fn widening_ignores_case_and_disguises() {
        for path in [
            ".GitHub/Workflows/ci.yml",
            ".github//workflows/ci.yml",
            "x/../.github/workflows/ci.yml",
            ".github\\workflows\\ci.yml",
            ".git\u{200c}hub/workflows/ci.yml",
            ".github./workflows /ci.yml",
            ".g\u{0131}thub/wor\u{212a}flow\u{017f}/ci.yml",
            "./.github/workflows/ci.yml",
            ".github/workflows/a\nb.yml",
        ] {
            assert!(
                hits(".github/workflows/**", Sense::Widening, path),
                "{path:?}"
            );
        }
        assert!(hits("STRASSE/**", Sense::Widening, "stra\u{df}e/a"));
        assert!(hits("caf\u{e9}/**", Sense::Widening, "CAFE\u{301}/a"));
    }

    #[test]
    fn narrowing_keeps_case_and_refuses_odd_paths() {
        assert!(hits("caf\u{e9}/**", Sense::Narrowing, "cafe\u{301}/a"));
        for path in [
            "EXAMPLES/a",
            "examples/../src/a",
            "examples//a",
            "./examples/a",
            "examples/.\\a",
            "examples/",
        ] {
            assert!(!hits("examples/**", Sense::Narrowing, path), "{path:?}");
        }
    }

    /// The slow and simple way: every glob of a list on its own, by `globset`.
    fn one_by_one<'l>(list: &[&'l str], sense: Sense, path: &str) -> Option<&'l str> {
        let path = PathForms::of(path);
        list.iter().copied().find(|entry| {
            let globs = expand(entry, sense).unwrap_or_else(|refusal| panic!("{refusal:?}"));
            globs.iter().any(|glob| {
                let glob = glob.compile_matcher();
                path.texts(sense).any(|text| glob.is_match(text))
            })
        })
    }

    /// Paths made of the words of the built-in table, so that they often match.
    fn table_path() -> impl Strategy<Value = String> {
        let entries = [table::CRITICAL, table::IRREVERSIBLE, table::BUILT_IN_SKILLS].concat();
        let mut words: Vec<String> = entries
            .iter()
            .chain(table::NON_CRITICAL)
            .flat_map(|entry| alternates(entry))
            .flat_map(|glob| {
                let parts = glob.split('/').map(|part| part.replace('*', "x"));
                parts.collect::<Vec<_>>()
            })
            .collect();
        words.extend(
            [
                "",
                ".",
                "..",
                "X",
                "a.",
                "Config",
                "m\u{131}gration",
                "x.PNG",
            ]
            .map(str::to_owned),
        );
        let words = proptest::sample::select(words);
        proptest::collection::vec(words, 1..5).prop_map(|parts| parts.join("/"))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn a_table_finds_what_its_globs_find_one_by_one(paths in proptest::collection::vec(table_path(), 4)) {
            let widening = [table::CRITICAL, table::IRREVERSIBLE, table::BUILT_IN_SKILLS];
            let narrowing = [table::NON_CRITICAL, table::TESTS, table::MEDIA];
            for (lists, sense) in [(widening, Sense::Widening), (narrowing, Sense::Narrowing)] {
                let owned = lists.map(|list| list.iter().map(|glob| (*glob).to_owned()).collect());
                let compiled = GlobTable::compile(owned, sense).expect("compiles");
                for path in &paths {
                    let found = compiled.first_matches(&PathForms::of(path), &mut Vec::new());
                    prop_assert_eq!(found, lists.map(|list| one_by_one(list, sense, path)), "{:?}", path);
                }
            }
        }
    }
}
