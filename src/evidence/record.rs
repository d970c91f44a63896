//! The checkpoint record: the exact text a person approves, in English and Korean.
//!
//! INVARIANT: a record is its lines. It is compared line for line, never by meaning, and its three sections are
//! read only from the exact shape. Blank lines carry nothing and are not compared.

use super::sections::Language;
use super::text::{Place, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A record as presented or as approved.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CheckpointRecord {
    /// Its lines, blank ones left out.
    pub lines: Vec<Text>,
    /// Where it begins.
    #[serde(skip)]
    pub at: Place,
}

/// The fixed lines of a record in one language.
#[derive(Debug)]
pub struct Wording {
    /// Which language.
    pub language: Language,
    /// The first line.
    pub headline: &'static str,
    /// The labels of the three sections, in order.
    pub labels: [&'static str; 3],
    /// The last line.
    pub closing: &'static str,
}

/// Both wordings.
pub const WORDINGS: [Wording; 2] = [
    Wording {
        language: Language::En,
        headline: "CHECKPOINT APPROVAL REQUIRED",
        labels: [
            "Approval covers:",
            "Irreversible consequences:",
            "Required verification:",
        ],
        closing: "Reply APPROVE to authorize exactly the actions above.",
    },
    Wording {
        language: Language::Ko,
        headline: "CHECKPOINT 승인 필요",
        labels: ["승인 범위:", "되돌릴 수 없는 결과:", "필수 검증:"],
        closing: "위의 작업을 정확히 승인하려면 APPROVE라고 회신하십시오.",
    },
];

/// What a record in the exact shape says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordParts {
    /// The language of the fixed lines.
    pub language: Language,
    /// What is approved.
    pub covers: Vec<Text>,
    /// What cannot be undone.
    pub consequences: Vec<Text>,
    /// What must hold before completion.
    pub verification: Vec<Text>,
}

/// One way in which a record differs from the exact shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShapeProblem {
    /// The first line is not the headline.
    NoHeadline,
    /// A section's label is missing or not in its place.
    NoSection(&'static str),
    /// A section has no line of its own, or only placeholders.
    EmptySection(&'static str),
    /// The last line is not the closing line.
    NoClosing(&'static str),
    /// A line that has no place in a record.
    StrayLine(Text),
}

impl fmt::Display for ShapeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHeadline => write!(f, "it does not begin with `{}`", WORDINGS[0].headline),
            Self::NoSection(label) => write!(f, "the section `{label}` is missing or out of order"),
            Self::EmptySection(label) => write!(f, "the section `{label}` names nothing"),
            Self::NoClosing(closing) => write!(f, "it does not end with `{closing}`"),
            Self::StrayLine(line) => write!(f, "the line `{line}` has no place in a record"),
        }
    }
}

impl CheckpointRecord {
    /// A record in the exact shape.
    #[must_use]
    pub fn build(parts: &RecordParts) -> Self {
        let wording = wording(parts.language);
        let mut lines = vec![Text::new(wording.headline)];
        let sections = [&parts.covers, &parts.consequences, &parts.verification];
        for (label, items) in wording.labels.iter().zip(sections) {
            lines.push(Text::new(label));
            lines.extend(items.iter().map(|item| Text::new(&format!("- {item}"))));
        }
        lines.push(Text::new(wording.closing));
        Self {
            lines,
            at: Place::default(),
        }
    }

    /// From text, a line a line.
    #[must_use]
    pub fn from_text(text: &str, at: Place) -> Self {
        let lines = text
            .lines()
            .map(Text::new)
            .filter(|line| !line.is_empty())
            .collect();
        Self { lines, at }
    }

    /// The record as it is shown: a blank line before each section and the closing line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (index, line) in self.lines.iter().enumerate() {
            let fixed = WORDINGS
                .iter()
                .any(|w| w.labels.contains(&line.as_str()) || w.closing == line.as_str());
            if fixed && index > 0 {
                text.push('\n');
            }
            text.push_str(line.as_str());
            text.push('\n');
        }
        text
    }

    /// The three sections.
    ///
    /// # Errors
    /// Every way in which the record is not in the exact shape.
    pub fn parts(&self) -> Result<RecordParts, Vec<ShapeProblem>> {
        let wording = self.wording();
        let mut problems = Vec::new();
        let mut lines = self.lines.iter().map(Text::as_str).peekable();
        if lines.next_if(|line| *line == wording.headline).is_none() {
            problems.push(ShapeProblem::NoHeadline);
        }
        let mut sections = [Vec::new(), Vec::new(), Vec::new()];
        for (label, section) in wording.labels.into_iter().zip(&mut sections) {
            if lines.next_if(|line| *line == label).is_none() {
                problems.push(ShapeProblem::NoSection(label));
                continue;
            }
            while let Some(line) = lines.next_if(|line| line.starts_with("- ")) {
                section.push(Text::new(line.trim_start_matches("- ")));
            }
            if !section.iter().any(Text::is_stated) {
                problems.push(ShapeProblem::EmptySection(label));
            }
        }
        if lines.next_if(|line| *line == wording.closing).is_none() {
            problems.push(ShapeProblem::NoClosing(wording.closing));
        }
        if let Some(line) = lines.next() {
            problems.push(ShapeProblem::StrayLine(Text::new(line)));
        }
        if problems.is_empty() {
            let [covers, consequences, verification] = sections;
            Ok(RecordParts {
                language: wording.language,
                covers,
                consequences,
                verification,
            })
        } else {
            Err(problems)
        }
    }

    /// The first line in which another record differs: its number from 1, this line, the other line.
    #[must_use]
    pub fn first_difference<'a>(&'a self, other: &'a Self) -> Option<(usize, &'a str, &'a str)> {
        let longest = self.lines.len().max(other.lines.len());
        let line =
            |record: &'a Self, index: usize| record.lines.get(index).map_or("", Text::as_str);
        (0..longest)
            .map(|index| (index + 1, line(self, index), line(other, index)))
            .find(|(_, mine, theirs)| mine != theirs)
    }

    /// The wording whose fixed lines occur most, English in a tie.
    fn wording(&self) -> &'static Wording {
        let [en, ko] = &WORDINGS;
        if self.fixed_lines(ko) > self.fixed_lines(en) {
            ko
        } else {
            en
        }
    }

    fn fixed_lines(&self, wording: &Wording) -> usize {
        let fixed = |line: &&Text| {
            let line = line.as_str();
            line == wording.headline || line == wording.closing || wording.labels.contains(&line)
        };
        self.lines.iter().filter(fixed).count()
    }
}

fn wording(language: Language) -> &'static Wording {
    let [en, ko] = &WORDINGS;
    match language {
        Language::En => en,
        Language::Ko => ko,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(language: Language) -> RecordParts {
        RecordParts {
            language,
            covers: vec![Text::new("drop table `a`")],
            consequences: vec![Text::new("rows are gone")],
            verification: vec![Text::new("`make check`")],
        }
    }

    #[test]
    fn what_is_built_is_in_shape_in_both_languages() {
        for language in [Language::En, Language::Ko] {
            let record = CheckpointRecord::build(&parts(language));
            assert_eq!(record.parts(), Ok(parts(language)));
            assert_eq!(
                CheckpointRecord::from_text(&record.to_text(), Place::default()),
                record
            );
        }
    }

    #[test]
    fn every_line_counts() {
        let record = CheckpointRecord::build(&parts(Language::En));
        for index in 0..record.lines.len() {
            let mut cut = record.clone();
            cut.lines.remove(index);
            assert!(cut.parts().is_err(), "without line {index}");
            assert!(record.first_difference(&cut).is_some());
        }
    }
}
