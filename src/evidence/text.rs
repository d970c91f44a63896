//! The smallest pieces of a ledger: a line of Markdown, and the place where it stands.
//!
//! INVARIANT: a [`Text`] is one line, its blanks collapsed, its ends trimmed. So it survives being written as a
//! list item and read again, whatever characters it holds. A [`Place`] is no part of what a ledger says.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use unicode_normalization::UnicodeNormalization;

/// One line of Markdown as written, without line breaks and outer blanks; may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Text(String);

impl Text {
    /// Collapses every run of blanks, line breaks included, into one blank.
    #[must_use]
    pub fn new(raw: &str) -> Self {
        let mut line = String::with_capacity(raw.len());
        // A byte order mark inside a text is a blank nobody sees; at the head of a file it would be taken away.
        let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
        for word in raw.split(blank).filter(|word| !word.is_empty()) {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        Self(line)
    }

    /// The Markdown.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Does it hold nothing?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Does it state something? Nothing, a dash and the usual placeholders (`TBD`, `미정`, `<…>`) do not.
    #[must_use]
    pub fn is_stated(&self) -> bool {
        let bare = self.0.trim_matches(['`', '*', '_', ' ']);
        let placeholder = bare.starts_with('<') && bare.ends_with('>') && !bare.contains("://");
        !placeholder && !UNSTATED.contains(&fold(&self.0).as_str())
    }

    /// Does it name something? As [`Text::is_stated`], and "none" in either language names nothing.
    #[must_use]
    pub fn names_something(&self) -> bool {
        self.is_stated() && !is_none_word(&self.0)
    }
}

/// What people write where they have nothing to say yet, folded.
const UNSTATED: &[&str] = &[
    "",
    "tbd",
    "to be determined",
    "to be done",
    "to do",
    "pending",
    "unknown",
    "?",
    "n a",
    "not recorded",
    "not yet",
    "not yet recorded",
    "미정",
    "추후",
    "추후 작성",
    "미기록",
    "해당 없음",
    "…",
    "...",
];

/// What people write for "there is nothing", folded.
const NONE_WORDS: &[&str] = &[
    "none",
    "nothing",
    "none yet",
    "none recorded",
    "none recorded yet",
    "nothing recorded yet",
    "no entries",
    "n a",
    "not applicable",
    "empty",
    "없음",
    "아직 없음",
    "기록 없음",
    "해당 없음",
    "해당 사항 없음",
    "없습니다",
];

/// Is the whole text a word for "there is nothing"?
#[must_use]
pub fn is_none_word(raw: &str) -> bool {
    let folded = fold(raw);
    let bare = folded.trim_matches(['(', ')', '（', '）']).trim();
    NONE_WORDS.contains(&bare)
}

impl From<&str> for Text {
    fn from(raw: &str) -> Self {
        Self::new(raw)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|raw| Self::new(&raw))
    }
}

/// Where something stands in its file, both from 1; zero where there is no file.
///
/// Every place equals every other: two ledgers that say the same are equal, wherever they say it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}

/// A line and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Item {
    /// What it says.
    pub text: Text,
    /// Where.
    #[serde(skip)]
    pub at: Place,
}

impl From<&str> for Item {
    fn from(raw: &str) -> Self {
        Self {
            text: Text::new(raw),
            at: Place::default(),
        }
    }
}

/// The form in which words, labels and headings are compared: NFC, lower case, without emphasis, code marks
/// and pictographs; `-`, `_`, `/`, `,`, `&` and blanks are one blank; a closing colon or full stop is dropped.
#[must_use]
pub fn fold(raw: &str) -> String {
    let mut folded = String::with_capacity(raw.len());
    let mut push = |c: char| {
        if is_gap(c) {
            if !folded.is_empty() && !folded.ends_with(' ') {
                folded.push(' ');
            }
        } else if !is_mark(c) {
            folded.extend(c.to_lowercase());
        }
    };
    if raw.is_ascii() {
        raw.chars().for_each(&mut push);
    } else {
        raw.nfc().for_each(&mut push);
    }
    let end = folded.trim_end_matches([' ', ':', '.', '：', '。']).len();
    // "..." is a placeholder, not punctuation at an end.
    if end > 0 {
        folded.truncate(end);
    }
    folded
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '_' | '/' | ',' | '&' | '·' | '–' | '—')
}

fn is_mark(c: char) -> bool {
    matches!(
        c,
        '*' | '`' | '\\' | '✅' | '❌' | '⚠' | '✔' | '✓' | '✗' | '\u{fe0f}' | '\u{200b}'
    ) || matches!(c, '\u{1f300}'..='\u{1faff}')
}

/// As [`fold`], without the quotation marks and the end punctuation of prose: the form in which sentences are compared.
#[must_use]
pub fn fold_sentence(raw: &str) -> String {
    let plain: String = raw
        .chars()
        .map(|c| match c {
            '"' | '\'' | '“' | '”' | '‘' | '’' | '!' | '?' | '.' | '~' | ';' | '(' | ')' => {
                ' '
            }
            other => other,
        })
        .collect();
    let folded = fold(&plain);
    folded.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line() {
        assert_eq!(Text::new("  a\n\tb\u{2028}c ").as_str(), "a b c");
    }

    #[test]
    fn folding_sees_through_dress() {
        for dressed in ["**Change ID:**", "change-id", "`Change_ID`", "Change  Id."] {
            assert_eq!(fold(dressed), "change id", "{dressed}");
        }
        assert_eq!(fold("✅ PASS"), "pass");
        assert_eq!(fold("\u{1112}\u{1161}\u{11ab}"), "한");
    }

    #[test]
    fn placeholders_state_nothing() {
        for empty in ["", "-", "TBD", "`...`", "<observation>", "n/a", "미정"] {
            assert!(!Text::new(empty).is_stated(), "{empty}");
        }
        assert!(Text::new("none").is_stated());
        assert!(!Text::new("없음").names_something());
        assert!(Text::new("3 tests passed").names_something());
    }
}
