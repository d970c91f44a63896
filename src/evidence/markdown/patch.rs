//! Changing one section of a file and leaving the rest as its author wrote it.

use super::read::{normalized, read};
use super::write::{section as write_section, write};
use crate::evidence::ledger::Ledger;
use crate::evidence::sections::{Language, Section};

/// The text of `source` with these sections as `ledger` has them. Only where that cannot be done without touching
/// other sections is the whole ledger written anew.
#[must_use]
pub fn patch(source: &str, ledger: &Ledger, sections: &[Section]) -> String {
    let language = language_of(source);
    let mut text = normalized(source).into_owned();
    for section in sections {
        text = replace(&text, ledger, *section, language);
    }
    if read(&text) == *ledger {
        text
    } else {
        write(ledger, language)
    }
}

/// Korean when a heading or label of the file is.
#[must_use]
pub fn language_of(source: &str) -> Language {
    let hangul = |line: &str| line.chars().any(|c| matches!(c, '가'..='힣'));
    let headings = source.lines().filter(|line| line.starts_with('#'));
    if headings.into_iter().any(hangul) {
        Language::Ko
    } else {
        Language::En
    }
}

fn replace(text: &str, ledger: &Ledger, section: Section, language: Language) -> String {
    let Some(written) = write_section(ledger, section, language) else {
        return text.to_owned();
    };
    let spans = read(text).spans.0;
    let bytes = spans
        .into_iter()
        .filter(|span| span.section == section)
        .find_map(|span| span.bytes);
    match bytes {
        Some(bytes) => {
            let before = text.get(..bytes.start).unwrap_or_default();
            let after = text.get(bytes.end..).unwrap_or_default();
            let gap = if after.is_empty() { "" } else { "\n" };
            format!("{before}{written}{gap}{after}")
        }
        None => format!("{}\n\n{written}", text.trim_end()),
    }
}
