//! Which files a ledger authorizes, and which of the changed files it does not.
//!
//! INVARIANT: only a path or glob that is written down authorizes a file. Prose without a path, a glob that does not
//! compile and an odd path authorize nothing; what is explicitly out of scope is outside whatever else is written.

use super::ledger::Ledger;
use super::text::{Item, Place, fold};
use crate::policy::globs::{GlobList, PathForms, Sense};
use std::collections::BTreeSet;

/// The changed paths that the ledger does not authorize, in the order given.
///
/// Paths are as GitHub lists them; for a rename the caller passes both.
#[must_use]
pub fn outside(ledger: &Ledger, changed_paths: &[&str]) -> Vec<String> {
    let scope = Scope::of(ledger);
    let mut scratch = Vec::new();
    let outside = changed_paths
        .iter()
        .filter(|path| !scope.covers(path, &mut scratch));
    outside.map(|path| (*path).to_owned()).collect()
}

/// Is this a place where a ledger is kept: `.evidence-gated/active/`, `.evidence-gated/archive/` or
/// `docs/evidence-gated/`, at the root or in a folder, as Markdown or JSON? A `README` there is none.
///
/// A ledger is the record of the work and no part of it: its own file needs no authorization.
#[must_use]
pub fn is_ledger_path(path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else {
        return false;
    };
    let kept = [
        ".evidence-gated/active",
        ".evidence-gated/archive",
        "docs/evidence-gated",
    ]
    .iter()
    .any(|place| {
        folder
            .strip_suffix(place)
            .is_some_and(|before| before.is_empty() || before.ends_with('/'))
    });
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return false;
    };
    kept && matches!(ending, "md" | "json") && !stem.eq_ignore_ascii_case("readme")
}

/// The globs of both scope sections, compiled.
pub(super) struct Scope {
    authorized: Option<GlobList>,
    excluded: Option<GlobList>,
}

impl Scope {
    pub(super) fn of(ledger: &Ledger) -> Self {
        let lines = |list: &'_ Option<Vec<Item>>, named: fn(&str) -> Vec<String>| {
            let items = list.as_deref().unwrap_or_default();
            let globs = items.iter().flat_map(|item| named(item.text.as_str()));
            globs.collect::<Vec<_>>()
        };
        // To authorize lowers the guard: with case, and nothing odd. To exclude raises it.
        Self {
            authorized: compile(
                lines(&ledger.authorized_scope, authorized_by),
                Sense::Narrowing,
            ),
            excluded: compile(lines(&ledger.out_of_scope, named_by), Sense::Widening),
        }
    }

    pub(super) fn covers(&self, path: &str, scratch: &mut Vec<usize>) -> bool {
        let forms = PathForms::of(path);
        let mut names = |list: &Option<GlobList>| {
            let list = list.as_ref();
            list.is_some_and(|list| list.first_match(&forms, scratch).is_some())
        };
        names(&self.authorized) && !names(&self.excluded)
    }
}

/// The globs that can be used; `None` when none can. One that cannot names no file.
fn compile(mut globs: Vec<String>, sense: Sense) -> Option<GlobList> {
    if globs.is_empty() {
        return None;
    }
    match GlobList::compile(&globs, sense) {
        Ok(list) => Some(list),
        Err(problems) => {
            let unusable: BTreeSet<usize> =
                problems.into_iter().map(|problem| problem.index).collect();
            let mut index = 0..;
            globs.retain(|_| index.next().is_none_or(|at| !unusable.contains(&at)));
            GlobList::compile(&globs, sense).ok()
        }
    }
}

/// Paths that the execution log says were changed, with their places.
pub(super) fn executed(ledger: &Ledger) -> Vec<(String, Place)> {
    let log = ledger.execution_log.as_deref().unwrap_or_default();
    log.iter()
        .filter(|item| tells_of_a_change(item.text.as_str()))
        .flat_map(|item| {
            let paths = code_spans(item.text.as_str())
                .into_iter()
                .filter(|(_, span)| looks_like_a_file(span));
            paths
                .map(|(_, span)| (strip_dot(span).to_owned(), item.at))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Words after which a line takes something away.
const EXCEPT_EN: &[&str] = &[
    "except",
    "excluding",
    "not",
    "without",
    "but",
    "never",
    "other than",
    "unless",
    "no",
];
/// In Korean they follow what they take away, so that such a line authorizes nothing.
const EXCEPT_KO: &[&str] = &["제외", "말고", "빼고", "아닌", "아니", "금지", "않"];

fn authorized_by(line: &str) -> Vec<String> {
    if EXCEPT_KO.iter().any(|word| line.contains(word)) {
        return Vec::new();
    }
    let end = exception_at(line).unwrap_or(line.len());
    named_by(line.get(..end).unwrap_or_default())
}

/// Where an exception begins, outside code spans.
fn exception_at(line: &str) -> Option<usize> {
    let spans = code_spans(line);
    let lower = line.to_ascii_lowercase();
    let in_code = |at: usize| {
        spans
            .iter()
            .any(|(start, span)| (*start..start + span.len()).contains(&at))
    };
    let whole_word = |at: usize, word: &str| {
        let before = lower.get(..at).and_then(|text| text.chars().next_back());
        let after = lower
            .get(at + word.len()..)
            .and_then(|text| text.chars().next());
        [before, after]
            .into_iter()
            .flatten()
            .all(|c| !c.is_alphanumeric() && c != '_')
    };
    let found = EXCEPT_EN.iter().flat_map(|word| {
        let hits = lower.match_indices(word).map(|(at, _)| at);
        hits.filter(|at| whole_word(*at, word) && !in_code(*at))
            .collect::<Vec<_>>()
    });
    found.min()
}

/// Paths and globs a line names: code spans without blanks, and a bare path that opens the line.
fn named_by(line: &str) -> Vec<String> {
    let mut named: Vec<String> = code_spans(line)
        .into_iter()
        .filter_map(|(_, span)| as_glob(span))
        .collect();
    let first = line.split_whitespace().next().unwrap_or_default();
    let first = first.trim_end_matches([',', ':', ';']);
    if !first.contains('`') && (first.contains('/') || looks_like_a_file(first)) {
        named.extend(as_glob(first));
    }
    named
}

/// `src/auth/` is everything below it; `./a` is `a`; a text with blanks is no path.
fn as_glob(span: &str) -> Option<String> {
    let span = strip_dot(span.trim());
    let odd = span.is_empty()
        || span.starts_with('/')
        || span.contains("://")
        || span.split('/').any(|part| part == "..");
    if odd || span.contains(char::is_whitespace) {
        return None;
    }
    Some(match span.strip_suffix('/') {
        Some(folder) => format!("{folder}/**"),
        None => span.to_owned(),
    })
}

fn strip_dot(span: &str) -> &str {
    span.strip_prefix("./").unwrap_or(span)
}

/// The code spans of a line with the offsets of their content.
pub(super) fn code_spans(line: &str) -> Vec<(usize, &str)> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(found) = line.get(at..).and_then(|rest| rest.find('`')) {
        let open = at + found;
        let fence = line
            .get(open..)
            .map_or(0, |rest| rest.bytes().take_while(|b| *b == b'`').count());
        let start = open + fence;
        match closing(line, start, fence) {
            Some(end) => {
                spans.push((start, line.get(start..end).unwrap_or_default()));
                at = end + fence;
            }
            None => at = start,
        }
    }
    spans
}

/// Where the next run of exactly `fence` backticks begins.
fn closing(line: &str, from: usize, fence: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let begin = at + line.get(at..)?.find('`')?;
        let length = line
            .get(begin..)?
            .bytes()
            .take_while(|b| *b == b'`')
            .count();
        if length == fence {
            return Some(begin);
        }
        at = begin + length;
    }
}

const ENDINGS: &[&str] = &[
    "rs", "py", "js", "ts", "jsx", "tsx", "mjs", "go", "java", "kt", "rb", "c", "h", "cc", "cpp",
    "hpp", "cs", "swift", "php", "sql", "sh", "md", "txt", "toml", "yml", "yaml", "json", "lock",
    "html", "css", "xml", "ini", "cfg", "conf", "env", "proto", "tf", "vue", "scala", "ex", "exs",
];

fn looks_like_a_file(span: &str) -> bool {
    let plain = !span.contains(|c: char| {
        c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | '=' | '|' | ';')
    }) && !span.contains("://");
    let ending = span
        .rsplit_once('.')
        .is_some_and(|(_, ending)| ENDINGS.contains(&ending));
    plain && (ending || (span.contains('/') && !span.starts_with('/')))
}

const CHANGE_EN: &[&str] = &[
    "edit",
    "edited",
    "change",
    "changed",
    "add",
    "added",
    "create",
    "created",
    "delete",
    "deleted",
    "remove",
    "removed",
    "rename",
    "renamed",
    "move",
    "moved",
    "write",
    "wrote",
    "modify",
    "modified",
    "update",
    "updated",
    "refactor",
    "refactored",
    "replace",
    "replaced",
    "patch",
    "patched",
    "drop",
    "dropped",
];
const CHANGE_KO: &[&str] = &[
    "수정",
    "추가",
    "삭제",
    "제거",
    "생성",
    "변경함",
    "변경했",
    "변경하였",
    "이름 변경",
    "작성",
    "갱신",
    "교체",
    "옮김",
    "옮겼",
];

fn tells_of_a_change(line: &str) -> bool {
    let folded = fold(line);
    let words = |list: &[&str]| {
        folded
            .split([' ', ':', '(', ')', '.', ';'])
            .any(|word| list.contains(&word))
    };
    let denied = words(&["not", "no", "without", "never"]) || folded.contains("지 않");
    !denied && (words(CHANGE_EN) || CHANGE_KO.iter().any(|word| folded.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(scope: &[&str], out: &[&str]) -> Ledger {
        let items = |lines: &[&str]| Some(lines.iter().map(|line| Item::from(*line)).collect());
        Ledger {
            authorized_scope: items(scope),
            out_of_scope: items(out),
            ..Ledger::default()
        }
    }

    #[test]
    fn only_written_paths_authorize() {
        let scope = ledger(
            &[
                "change the login handler",
                "`src/auth/*.rs` and `tests/auth/`",
                "docs/login.md — wording",
            ],
            &[],
        );
        let changed = [
            "src/auth/login.rs",
            "src/auth/deep/x.rs",
            "tests/auth/a/b.rs",
            "docs/login.md",
            "src/main.rs",
            "src/Auth/login.rs",
            "src/auth/../x.rs",
        ];
        assert_eq!(
            outside(&scope, &changed),
            [
                "src/auth/deep/x.rs",
                "src/main.rs",
                "src/Auth/login.rs",
                "src/auth/../x.rs"
            ]
        );
        assert_eq!(outside(&Ledger::default(), &["a"]), ["a"]);
    }

    #[test]
    fn a_glob_that_cannot_be_used_names_no_file_and_spoils_no_other() {
        let scope = ledger(
            &["`src/[a`", "`src/b.rs`", "`**.rs`", "`./src/c/`"],
            &["`src/{x`"],
        );
        let changed = ["src/b.rs", "src/a.rs", "src/c/d.rs", "src/x"];
        assert_eq!(outside(&scope, &changed), ["src/a.rs", "src/x"]);
        assert_eq!(
            outside(&ledger(&["`src/[a`"], &[]), &["src/[a"]),
            ["src/[a"]
        );
    }

    #[test]
    fn ledgers_stand_in_three_places() {
        for path in [
            ".evidence-gated/active/x.md",
            ".evidence-gated/archive/x.json",
            "docs/evidence-gated/x.md",
            "packages/a/docs/evidence-gated/x.md",
        ] {
            assert!(is_ledger_path(path), "{path}");
        }
        for path in [
            "docs/evidence-gated/README.md",
            "docs/evidence-gated/run.sh",
            "docs/evidence-gated/.md/x",
            "mydocs/evidence-gated/x.md",
            "docs/evidence-gated.md",
            "x.md",
        ] {
            assert!(!is_ledger_path(path), "{path}");
        }
    }

    #[test]
    fn exceptions_take_away() {
        for line in [
            "everything but `src/a.rs`",
            "not `src/a.rs`",
            "`src/a.rs` 제외",
            "all files except src and `src/a.rs`",
        ] {
            assert_eq!(
                outside(&ledger(&[line], &[]), &["src/a.rs"]),
                ["src/a.rs"],
                "{line}"
            );
        }
        assert!(
            outside(
                &ledger(&["`src/a.rs`, but not `src/b.rs`"], &[]),
                &["src/a.rs"]
            )
            .is_empty()
        );
        assert_eq!(
            outside(
                &ledger(&["`src/**`"], &["`SRC/secret/**`"]),
                &["src/secret/k"]
            ),
            ["src/secret/k"]
        );
        assert!(outside(&ledger(&["`src/no/not.rs`"], &[]), &["src/no/not.rs"]).is_empty());
    }

    #[test]
    fn the_log_tells_what_was_changed() {
        let log = |line: &str| {
            let ledger = Ledger {
                execution_log: Some(vec![Item::from(line)]),
                ..Ledger::default()
            };
            executed(&ledger)
                .into_iter()
                .map(|(path, _)| path)
                .collect::<Vec<_>>()
        };
        assert_eq!(log("edited `src/a.rs`, ran `cargo test`"), ["src/a.rs"]);
        assert_eq!(log("`src/a.rs` 수정"), ["src/a.rs"]);
        assert!(log("read `src/a.rs`").is_empty());
        assert!(log("did not change `src/a.rs`").is_empty());
    }
}
