//! An index of globs: most need a certain word at a certain place of the path, so a path is cut into its words
//! once and only the globs behind these words are tried.
//!
//! INVARIANT: what is found is what `globset` would find one glob at a time; a glob of a form not known here is
//! left to `globset`. Text comes in ready to be compared: case and odd spellings are settled before.

use foldhash::fast::FixedState;
use globset::{Glob, GlobMatcher, GlobSet, GlobSetBuilder};
use std::collections::HashMap;

/// Globs by the words they need; a glob is known by the number it was added with.
#[derive(Debug, Clone, Default)]
pub(super) struct GlobIndex {
    /// They match every path.
    always: Vec<usize>,
    /// By a whole component.
    by_component: Words,
    /// By what follows the last dot of the last component.
    by_ending: Words,
    /// By the first byte of the last component.
    by_first_byte: HashMap<u8, Vec<Rule>, FixedState>,
    /// Globs that end with a dot: a set of globs sees no name in a path that ends with one and misses it, a glob on
    /// its own does not.
    one_by_one: Vec<(GlobMatcher, usize)>,
    /// The others, and their numbers.
    others: GlobSet,
    numbers: Vec<usize>,
}

/// A glob taken apart.
#[derive(Debug, Clone)]
struct Rule {
    number: usize,
    start: Start,
    tail: Tail,
}

/// Where in a path the tail may begin; always at the beginning of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Start {
    /// At the beginning of the path.
    Root,
    /// `**/`
    Anywhere,
    /// `folder/**/`: anywhere below this folder, written with its last `/`.
    Below(String),
}

/// How a glob ends.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Tail {
    /// `**`
    Everything,
    /// `a/b`
    Exact(String),
    /// `a/b/**`
    Folder(String),
    /// A last component with stars: what stands before, between and after them.
    Stars(Vec<String>),
}

/// Rules by a word, with a cheap test that turns most words away: which lengths occur with which first byte.
#[derive(Debug, Clone)]
struct Words {
    lengths: Vec<u64>,
    /// Keys come from the operator's lists: a fixed, fast hash is safe.
    rules: HashMap<String, Vec<Rule>, FixedState>,
}

impl Default for Words {
    fn default() -> Self {
        Self {
            lengths: vec![0; 256],
            rules: HashMap::default(),
        }
    }
}

impl Words {
    fn add(&mut self, word: &str, rule: Rule) {
        let first = word.bytes().next().unwrap_or_default();
        if let Some(lengths) = self.lengths.get_mut(usize::from(first)) {
            *lengths |= length_bit(word);
        }
        self.rules.entry(word.to_owned()).or_default().push(rule);
    }

    fn of(&self, word: &str) -> &[Rule] {
        let first = word.bytes().next().unwrap_or_default();
        let lengths = self.lengths.get(usize::from(first)).copied();
        if lengths.unwrap_or_default() & length_bit(word) == 0 {
            return &[];
        }
        self.rules.get(word).map(Vec::as_slice).unwrap_or_default()
    }
}

fn length_bit(word: &str) -> u64 {
    1 << word.len().min(63)
}

/// Collects globs for a [`GlobIndex`].
#[derive(Debug)]
pub(super) struct GlobIndexBuilder {
    index: GlobIndex,
    others: GlobSetBuilder,
}

impl GlobIndexBuilder {
    /// Without globs.
    pub(super) fn new() -> Self {
        Self {
            index: GlobIndex::default(),
            others: GlobSetBuilder::new(),
        }
    }

    /// Adds a glob under a number.
    pub(super) fn add(&mut self, glob: Glob, number: usize) {
        if self.index.take(glob.glob(), number) {
            return;
        }
        if glob.glob().ends_with('.') {
            self.index.one_by_one.push((glob.compile_matcher(), number));
            return;
        }
        self.others.add(glob);
        self.index.numbers.push(number);
    }

    /// # Errors
    /// The globs that are left to `globset` do not compile together.
    pub(super) fn build(mut self) -> Result<GlobIndex, globset::Error> {
        self.index.others = self.others.build()?;
        Ok(self.index)
    }
}

impl GlobIndex {
    /// The index whose only glob matches every path, under each of these numbers.
    pub(super) fn of_everything(numbers: Vec<usize>) -> Self {
        Self {
            always: numbers,
            ..Self::default()
        }
    }

    /// Files the glob under the word it needs; `false` when there is none.
    fn take(&mut self, glob: &str, number: usize) -> bool {
        let Some((start, tail)) = take_apart(glob) else {
            return false;
        };
        let rule = Rule {
            number,
            start,
            tail,
        };
        match &rule.tail {
            Tail::Everything => self.always.push(number),
            Tail::Exact(words) | Tail::Folder(words) => {
                let word = words.split('/').next().unwrap_or_default().to_owned();
                self.by_component.add(&word, rule);
            }
            Tail::Stars(pieces) => {
                let first_byte = pieces.first().and_then(|piece| piece.bytes().next());
                let ending = pieces.last().and_then(|piece| piece.rsplit_once('.'));
                match (first_byte, ending.map(|(_, ending)| ending.to_owned())) {
                    (Some(byte), _) => self.by_first_byte.entry(byte).or_default().push(rule),
                    (None, Some(ending)) => self.by_ending.add(&ending, rule),
                    (None, None) => return false,
                }
            }
        }
        true
    }

    /// Calls `hit` with the number of every glob that matches, in no order, perhaps more than once.
    pub(super) fn matches(&self, text: &str, scratch: &mut Vec<usize>, mut hit: impl FnMut(usize)) {
        self.always.iter().copied().for_each(&mut hit);
        let mut at = 0;
        let mut try_all = |rules: &[Rule], at: usize| {
            for rule in rules {
                if rule.matches(text, at) {
                    hit(rule.number);
                }
            }
        };
        let mut last = text;
        let ends = memchr::memchr_iter(b'/', text.as_bytes()).chain([text.len()]);
        for end in ends {
            last = text.get(at..end).unwrap_or_default();
            try_all(self.by_component.of(last), at);
            at = end + 1;
        }
        let at = text.len() - last.len();
        if let Some(dot) = last.bytes().rposition(|byte| byte == b'.') {
            try_all(
                self.by_ending.of(last.get(dot + 1..).unwrap_or_default()),
                at,
            );
        }
        let by_first_byte = last.bytes().next();
        if let Some(rules) = by_first_byte.and_then(|byte| self.by_first_byte.get(&byte)) {
            try_all(rules, at);
        }
        for (glob, number) in &self.one_by_one {
            if glob.is_match(text) {
                hit(*number);
            }
        }
        if !self.numbers.is_empty() {
            self.others.matches_into(text, scratch);
            scratch
                .iter()
                .filter_map(|other| self.numbers.get(*other).copied())
                .for_each(hit);
        }
    }
}

impl Rule {
    /// Does the glob match `text` with its tail beginning at the component at `at`?
    fn matches(&self, text: &str, at: usize) -> bool {
        let may_begin = match &self.start {
            Start::Root => at == 0,
            Start::Anywhere => true,
            Start::Below(folder) => at >= folder.len() && text.starts_with(folder.as_str()),
        };
        let Some(rest) = text.get(at..).filter(|_| may_begin) else {
            return false;
        };
        match &self.tail {
            Tail::Everything => true,
            Tail::Exact(words) => rest == words,
            Tail::Folder(words) => rest
                .strip_prefix(words.as_str())
                .is_some_and(|below| below.starts_with('/')),
            Tail::Stars(pieces) => fits(pieces, rest),
        }
    }
}

/// Does the name consist of these pieces with anything between them?
fn fits(pieces: &[String], name: &str) -> bool {
    let [first, between @ .., last] = pieces else {
        return false;
    };
    let inner = name.strip_prefix(first.as_str());
    let Some(mut rest) = inner.and_then(|inner| inner.strip_suffix(last.as_str())) else {
        return false;
    };
    for piece in between {
        match rest.split_once(piece.as_str()) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    true
}

/// `None`: a form that is left to `globset`.
fn take_apart(glob: &str) -> Option<(Start, Tail)> {
    let odd = glob.starts_with('/') || glob.ends_with(['/', '.']) || glob.contains("//");
    if odd || glob.contains(['?', '[', ']', '{', '}', '\\']) {
        return None;
    }
    if glob == "**" {
        return Some((Start::Root, Tail::Everything));
    }
    let is_plain = |text: &str| !text.is_empty() && !text.contains('*');
    let (start, tail) = match (glob.strip_prefix("**/"), glob.split_once("/**/")) {
        (Some(tail), _) => (Start::Anywhere, tail),
        (None, Some((folder, tail))) if is_plain(folder) => {
            (Start::Below(format!("{folder}/")), tail)
        }
        (None, Some(_)) => return None,
        (None, None) => (Start::Root, glob),
    };
    let folder = tail.strip_suffix("/**").filter(|folder| is_plain(folder));
    let tail = match folder {
        Some(folder) => Tail::Folder(folder.to_owned()),
        None if is_plain(tail) => Tail::Exact(tail.to_owned()),
        None if tail.contains('/') || tail.contains("**") => return None,
        None => Tail::Stars(tail.split('*').map(str::to_owned).collect()),
    };
    Some((start, tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use globset::GlobBuilder;
    use proptest::prelude::*;

    fn glob(text: &str) -> Option<Glob> {
        let mut builder = GlobBuilder::new(text);
        builder.literal_separator(true).empty_alternates(true);
        builder.build().ok()
    }

    fn by_index(text: &str, path: &str) -> bool {
        let mut builder = GlobIndexBuilder::new();
        builder.add(glob(text).expect("a glob"), 7);
        let mut found = false;
        let index = builder.build().expect("builds");
        index.matches(path, &mut Vec::new(), |number| found |= number == 7);
        found
    }

    #[test]
    fn the_usual_forms_need_no_regular_expression() {
        for text in [
            "**",
            "config/**",
            "**/CODEOWNERS",
            "**/.github/workflows/**",
            "**/*.tf.json",
            "**/README*.md",
            "**/*secret*.json",
            "schemas/**/*.json",
            "src/**/rules/**",
            "LICENSE*",
        ] {
            assert!(take_apart(text).is_some(), "{text}");
        }
        for text in ["a?", "[ab]", "{a,b{c,d}}", "a/*/b", "**/*a*", "a/**/b/**/c"] {
            assert!(!GlobIndex::default().take(text, 0), "{text}");
        }
    }

    /// Components that meet one another often.
    fn word() -> impl Strategy<Value = String> {
        proptest::sample::select(vec![
            "a", "b", "ab", "a.b", "a.b.c", ".a", ".b.a", "", ".", "..", "a.", "é", "a\nb", "ba.b",
        ])
        .prop_map(str::to_owned)
    }

    fn pattern() -> impl Strategy<Value = String> {
        let star = proptest::sample::select(vec![
            "**", "*", "*.b", "a*", "*a*", "a*.b", "*a*.b", "*.b.c", "?", "[ab]", ".a*", "*.é",
            "a*b*", "[ab].", "?.", "*.",
        ]);
        prop_oneof![word(), star.prop_map(str::to_owned)]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4_000, ..ProptestConfig::default() })]

        #[test]
        fn the_index_finds_what_globset_finds(
            glob_parts in proptest::collection::vec(pattern(), 1..5),
            path_parts in proptest::collection::vec(word(), 1..6),
        ) {
            let (text, path) = (glob_parts.join("/"), path_parts.join("/"));
            if let Some(one) = glob(&text) {
                let expected = one.compile_matcher().is_match(&path);
                prop_assert_eq!(by_index(&text, &path), expected, "{} on {:?}", text, path);
            }
        }
    }
}
