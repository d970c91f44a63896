//! Was only a typo corrected? Each removed line of a prose file is paired with one added line that differs
//! by at most two words, each within edit distance 2.
//!
//! INVARIANT: no number, link, code, negation or normative word is among the differences; what looks like a
//! change of meaning is not a typo, however small it is.

use super::{Line, Patch};
use crate::domain::{FileChange, FileStatus};
use regex::Regex;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

/// Endings of prose, compared with case.
const PROSE: [&str; 7] = ["md", "markdown", "rst", "txt", "adoc", "asciidoc", "org"];
const MAX_WORDS: usize = 2;
const MAX_DISTANCE: usize = 2;
/// Longer words are not compared letter by letter.
const MAX_WORD_CHARS: usize = 64;

/// Does the change of the file, whose whole patch is given, correct spelling and nothing else?
#[must_use]
pub fn typo_only(file: &FileChange, patch: &Patch<'_>) -> bool {
    let prose = file
        .path
        .rsplit_once('.')
        .is_some_and(|(_, ending)| PROSE.contains(&ending));
    if !prose || file.status != FileStatus::Modified || file.previous_path.is_some() {
        return false;
    }
    patch.lines().any(Line::is_change) && patch.hunks().all(is_typo_hunk)
}

fn is_typo_hunk(lines: &[Line<'_>]) -> bool {
    if lines.iter().any(|line| fences_code(line.text())) {
        return false;
    }
    let mut removed: Vec<&str> = Vec::new();
    let mut added: Vec<&str> = Vec::new();
    for line in lines.iter().copied().chain([Line::Context("")]) {
        match line {
            Line::Removed(text) if added.is_empty() => removed.push(text),
            Line::Removed(_) => return false, // a removed line after added ones: not one block against one
            Line::Added(text) => added.push(text),
            Line::Context(_) => {
                let paired = removed.len() == added.len();
                if !paired
                    || !removed
                        .iter()
                        .zip(&added)
                        .all(|(old, new)| is_typo_line(old, new))
                {
                    return false;
                }
                removed.clear();
                added.clear();
            }
        }
    }
    true
}

fn fences_code(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```")
        || line.starts_with("~~~")
        || line.starts_with("----")
        || line.starts_with(".. code")
}

fn is_typo_line(old: &str, new: &str) -> bool {
    let (old, new) = (old.trim_end_matches('\r'), new.trim_end_matches('\r'));
    let is_code = |line: &str| line.starts_with("    ") || line.starts_with('\t');
    let is_reference = |line: &str| line.trim_start().starts_with('[') && line.contains("]:");
    if is_code(old) || is_code(new) || is_reference(old) || blanks(old) != blanks(new) {
        return false;
    }
    let mut differences = 0;
    let mut inside_ticks = false;
    for (a, b) in old.split_whitespace().zip(new.split_whitespace()) {
        let ticks = a.matches('`').count();
        if a != b {
            differences += 1;
            if inside_ticks || ticks > 0 || !is_typo(a, b) {
                return false;
            }
        }
        inside_ticks ^= ticks % 2 == 1;
    }
    (1..=MAX_WORDS).contains(&differences)
}

/// The runs of blanks of a line, which must stay as they are: they are structure in Markdown.
fn blanks(line: &str) -> Vec<&str> {
    line.split(|c: char| !c.is_whitespace())
        .filter(|run| !run.is_empty())
        .collect()
}

/// Is `new` the same word as `old`, spelt otherwise?
fn is_typo(old: &str, new: &str) -> bool {
    if carries_meaning(old) || carries_meaning(new) {
        return false;
    }
    let (old, new) = (core(old), core(new));
    let (Some((old_before, old_word, old_after)), Some((new_before, new_word, new_after))) =
        (old, new)
    else {
        return false;
    };
    if (old_before, old_after) != (new_before, new_after) {
        return false;
    }
    let (old, new) = (old_word.to_lowercase(), new_word.to_lowercase());
    let letters = |word: &str| word.chars().count();
    let shortest = letters(&old).min(letters(&new));
    if shortest < 3 || letters(&old).max(letters(&new)) > MAX_WORD_CHARS {
        return false; // single letters name quadrants, two letters turn `if` into `of`
    }
    if old.is_ascii() != new.is_ascii()
        || negates(&old, &new)
        || (is_loaded(&old) && is_loaded(&new))
    {
        return false;
    }
    let allowed = if shortest == 3 && old.is_ascii() {
        1
    } else {
        MAX_DISTANCE
    };
    distance(&old, &new) <= allowed
}

/// A word with its punctuation: what stands before, the letters, what stands after.
fn core(word: &str) -> Option<(&str, &str, &str)> {
    let start = word.find(char::is_alphabetic)?;
    let (last, c) = word.char_indices().rfind(|(_, c)| c.is_alphabetic())?;
    let end = last + c.len_utf8();
    let inner = word.get(start..end)?;
    let plain = inner
        .chars()
        .all(|c| c.is_alphabetic() || matches!(c, '\'' | '\u{2019}' | '-'));
    plain.then_some(())?;
    Some((word.get(..start)?, inner, word.get(end..)?))
}

/// Numbers, links, markup, code, negations and normative words.
fn carries_meaning(word: &str) -> bool {
    static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)^\W*(no|not|nor|non|never|none|nothing|neither|without|unless|except|cannot|must|mustn|always|shall|should|ought|may|might|can|could|will|would|requires?|required|mandatory|optional|forbid\w*|forbidden|prohibit\w*|allow\w*|deny|denied|denies|permit\w*|only|every|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|first|second|third|once|twice|hundred|thousand|million|day|days|hour|hours|minute|minutes|week|weeks|month|months)\W*$|n['\u{2019}]t\b|금지|반드시|해야|필수|안\s?된|않|없|못|아니|말아|마라|항상|절대|의무|허용|불허|불가|거부|최소|최대|이상|이하|초과|미만",
        )
        .ok()
    });
    word.chars().any(|c| {
        c.is_numeric()
            || c.is_control()
            || "`[]<>(){}|=$\\/_#@&%:^~".contains(c) && !is_end_mark(word, c)
    }) || word.contains("www.")
        || LazyLock::force(&WORDS)
            .as_ref()
            .is_none_or(|regex| regex.is_match(word))
}

/// A colon or bracket around a whole word is punctuation, within it is a link or code.
fn is_end_mark(word: &str, c: char) -> bool {
    match c {
        ':' | ')' => word.find(c) == Some(word.len() - 1),
        '(' => word.rfind(c) == Some(0),
        _ => false,
    }
}

/// Does one of them put a negation before or after the other (`reversible`, `irreversible`)?
fn negates(a: &str, b: &str) -> bool {
    let (long, short) = if a.len() > b.len() { (a, b) } else { (b, a) };
    if long.len() == short.len() {
        // `enable` and `unable`, `include` and `exclude`
        const PAIRS: [(&str, &str); 6] = [
            ("in", "ex"),
            ("im", "ex"),
            ("en", "un"),
            ("up", "un"),
            ("on", "un"),
            ("pre", "pro"),
        ];
        return PAIRS.iter().any(|(x, y)| {
            (a.starts_with(x) && b.starts_with(y)) || (a.starts_with(y) && b.starts_with(x))
        });
    }
    long.ends_with(short) || (long.ends_with("less") != short.ends_with("less"))
}

/// Words that are spelt right and decide something: one for the other is not a typo.
fn is_loaded(word: &str) -> bool {
    const LOADED: &[&str] = &[
        "all",
        "any",
        "and",
        "but",
        "for",
        "its",
        "our",
        "own",
        "the",
        "this",
        "that",
        "than",
        "then",
        "them",
        "they",
        "some",
        "each",
        "both",
        "either",
        "other",
        "owner",
        "user",
        "bot",
        "before",
        "after",
        "above",
        "below",
        "over",
        "under",
        "more",
        "most",
        "less",
        "least",
        "many",
        "much",
        "open",
        "close",
        "closed",
        "true",
        "false",
        "yes",
        "pass",
        "passed",
        "fail",
        "failed",
        "safe",
        "unsafe",
        "high",
        "low",
        "last",
        "next",
        "min",
        "max",
        "enable",
        "disable",
        "enabled",
        "disabled",
        "add",
        "added",
        "remove",
        "removed",
        "merge",
        "merged",
        "emerge",
        "approve",
        "approved",
        "reject",
        "rejected",
        "accept",
        "except",
        "expect",
        "add",
        "old",
        "new",
        "now",
        "trusted",
        "public",
        "private",
        "read",
        "write",
        "head",
        "base",
        "here",
        "there",
        "with",
        "within",
        "when",
        "where",
        "while",
        "into",
        "onto",
        "from",
        "form",
        "has",
        "had",
        "was",
        "are",
        "were",
        "does",
        "done",
        "block",
        "black",
        "lock",
        "quiet",
        "quite",
        "lose",
        "loose",
        "fix",
        "off",
        "raise",
        "lower",
        "lowest",
        "highest",
        "same",
        "different",
        "internal",
        "external",
        "minor",
        "major",
        "include",
        "exclude",
        "import",
        "export",
        "increase",
        "decrease",
        "ascend",
        "descend",
        "prefix",
        "suffix",
        "send",
        "sent",
        "human",
        "agent",
        "author",
    ];
    LOADED.contains(&word)
}

/// Edit distance with transpositions of neighbours, over decomposed letters (so that one Hangul syllable is
/// up to three).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.nfd().collect(), b.nfd().collect());
    if a.len().abs_diff(b.len()) > MAX_DISTANCE {
        return usize::MAX;
    }
    let width = b.len() + 1;
    let mut before_last: Vec<usize> = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    let mut previous_a: Option<char> = None;
    for (i, &x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(width);
        row.push(i + 1);
        let mut previous_b: Option<char> = None;
        for (j, &y) in b.iter().enumerate() {
            let at =
                |cells: &[usize], index: usize| cells.get(index).copied().unwrap_or(usize::MAX - 1);
            let mut cost = (at(&last, j + 1) + 1)
                .min(at(&row, j) + 1)
                .min(at(&last, j) + usize::from(x != y));
            if j > 0 && previous_a == Some(y) && previous_b == Some(x) {
                cost = cost.min(at(&before_last, j - 1) + 1);
            }
            row.push(cost);
            previous_b = Some(y);
        }
        before_last = std::mem::replace(&mut last, row);
        previous_a = Some(x);
    }
    last.last().copied().unwrap_or(usize::MAX)
}
