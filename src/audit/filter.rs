//! What to look for in the log, asked of each line in steps from cheap to dear: its bytes, a few members, all of it.

use super::record::Record;
use crate::domain::{Quadrant, RepoName, Timestamp, is_unseen};
use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;

/// What to look for; a member that is `None` does not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// `owner/repo#number`, compared without case.
    pub pr: Option<String>,
    /// The repository, compared without case.
    pub repo: Option<RepoName>,
    /// The quadrant.
    pub quadrant: Option<Quadrant>,
    /// A rule that voted.
    pub rule: Option<String>,
    /// A login, as actor or author, compared without case.
    pub actor: Option<String>,
    /// The kind.
    pub kind: Option<String>,
    /// At this moment or later.
    pub since: Option<Timestamp>,
    /// Before this moment.
    pub until: Option<Timestamp>,
    /// Words that stand in one of the entry's texts, compared without case of ASCII letters.
    pub text: Option<String>,
}

/// The members that most filters ask for.
#[derive(Deserialize)]
struct Head {
    ts: Timestamp,
    kind: String,
    #[serde(default)]
    pr: Option<String>,
    #[serde(default)]
    quadrant: Option<Quadrant>,
    #[serde(default)]
    author: Option<String>,
    #[serde(default)]
    actor: Option<String>,
}

impl Filter {
    /// Is the entry looked for?
    #[must_use]
    pub fn matches(&self, record: &Record) -> bool {
        let head = Head {
            ts: record.ts,
            kind: record.kind.clone(),
            pr: record.pr.clone(),
            quadrant: record.quadrant,
            author: record.author.clone(),
            actor: record.actor.clone(),
        };
        self.admits(&head) && self.admits_whole(record)
    }

    fn admits(&self, head: &Head) -> bool {
        let is = |wanted: &Option<String>, found: &Option<String>| {
            wanted.as_ref().is_none_or(|wanted| {
                let found = found.as_ref();
                found.is_some_and(|found| found.eq_ignore_ascii_case(wanted))
            })
        };
        let repo = |wanted: &RepoName| {
            let name = head.pr.as_ref().and_then(|pr| pr.rsplit_once('#'));
            name.is_some_and(|(name, _)| name.eq_ignore_ascii_case(wanted.as_str()))
        };
        is(&self.pr, &head.pr)
            && self.repo.as_ref().is_none_or(repo)
            && (self.quadrant.is_none() || head.quadrant == self.quadrant)
            && (is(&self.actor, &head.actor) || is(&self.actor, &head.author))
            && self.kind.as_ref().is_none_or(|kind| head.kind == *kind)
            && self.since.is_none_or(|since| head.ts >= since)
            && self.until.is_none_or(|until| head.ts < until)
    }

    fn admits_whole(&self, record: &Record) -> bool {
        self.rule.as_ref().is_none_or(|rule| record.fired(rule))
            && self.text.as_ref().is_none_or(|text| {
                let whole: Value = serde_json::from_str(&record.line).unwrap_or_default();
                mentions(&whole, &text.to_ascii_lowercase())
            })
    }
}

/// Does one of the texts hold the words? Names of members are no texts. `words` are in lower case.
fn mentions(value: &Value, words: &str) -> bool {
    match value {
        Value::String(text) => text.to_ascii_lowercase().contains(words),
        Value::Array(items) => items.iter().any(|item| mentions(item, words)),
        Value::Object(members) => members.values().any(|member| mentions(member, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A filter made ready for many lines.
pub struct Sieve {
    filter: Filter,
    /// What a line must hold, byte for byte, once it is in lower case.
    needles: Vec<memmem::Finder<'static>>,
    lower: Vec<u8>,
}

impl Sieve {
    /// Makes it ready.
    #[must_use]
    pub fn new(filter: Filter) -> Self {
        let needles = needles(&filter)
            .into_iter()
            .map(|needle| memmem::Finder::new(&needle.to_ascii_lowercase()).into_owned())
            .collect();
        Self {
            filter,
            needles,
            lower: Vec::new(),
        }
    }

    /// Is the entry on this line looked for?
    ///
    /// # Errors
    /// The line is no entry.
    pub fn admits(&mut self, line: &[u8]) -> serde_json::Result<bool> {
        if !self.may_hold(line) {
            return Ok(false);
        }
        let head: Head = serde_json::from_slice(line)?;
        if !self.filter.admits(&head) {
            return Ok(false);
        }
        if self.filter.rule.is_none() && self.filter.text.is_none() {
            return Ok(true);
        }
        let record = Record::of_line(line)?;
        Ok(self.filter.admits_whole(&record))
    }

    /// Are the bytes there that the filter cannot do without? What is no whole entry is let through, to be complained
    /// about.
    fn may_hold(&mut self, line: &[u8]) -> bool {
        if self.needles.is_empty() || !line.ends_with(b"\"}") {
            return true;
        }
        self.lower.clear();
        self.lower.extend(line.iter().map(u8::to_ascii_lowercase));
        self.needles
            .iter()
            .all(|needle| needle.find(&self.lower).is_some())
    }
}

/// What stands in every line that the filter admits, as it is written there.
fn needles(filter: &Filter) -> Vec<String> {
    // Unseen characters are written as escapes in more than one way.
    let written = |text: &String| {
        let plain = !text.chars().any(is_unseen);
        plain.then(|| Value::from(text.as_str()).to_string())
    };
    let inside = |text: String| {
        let text = text.strip_prefix('"').unwrap_or(&text);
        text.strip_suffix('"').unwrap_or(text).to_owned()
    };
    let pr = filter.pr.as_ref().and_then(written);
    let repo = filter.repo.as_ref().map(|repo| format!("\"pr\":\"{repo}#"));
    let kind = filter.kind.as_ref().and_then(written);
    let rule = filter.rule.as_ref().and_then(written);
    [
        pr.map(|pr| format!("\"pr\":{pr}")),
        repo,
        kind.map(|kind| format!("\"kind\":{kind}")),
        rule.map(|rule| format!("\"rule\":{rule}")),
        filter.actor.as_ref().and_then(written),
        filter.text.as_ref().and_then(written).map(inside),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(reasoning: &str) -> Vec<u8> {
        let said = Value::from(reasoning);
        format!(
            r#"{{"seq":1,"ts":"2026-05-25T12:34:56Z","kind":"classification","pr":"Octo/Repo#7","rules_fired":[{{"rule":"empty_pr","match":false}},{{"rule":"user.big","quadrant":"D"}}],"quadrant":"D","reasoning":{said},"author":"Octocat","hash":"sha256:00"}}"#
        )
        .into_bytes()
    }

    fn passes(filter: Filter, line: &[u8]) -> bool {
        Sieve::new(filter).admits(line).expect("an entry")
    }

    #[test]
    fn words_are_found_in_texts_whatever_their_case_and_signs() {
        let line = entry(r#"Änderung an "src\main" (critical)"#);
        let text = |text: &str| Filter {
            text: Some(text.into()),
            ..Filter::default()
        };
        for found in [
            "CRITICAL",
            r#""src\main""#,
            "Änderung",
            "octocat",
            "user.big",
        ] {
            assert!(passes(text(found), &line), "{found}");
        }
        for missing in [
            "quadrant",
            "reasoning",
            "änderung",
            "criticality",
            "rules_fired",
        ] {
            assert!(!passes(text(missing), &line), "{missing}");
        }
        let unseen = entry("turned \u{202e} around");
        assert!(passes(text("\u{202e} AROUND"), &unseen));
    }

    #[test]
    fn a_quick_look_never_loses_what_the_filter_admits() {
        let line = entry("because");
        let record = Record::of_line(&line).expect("an entry");
        let some = |text: &str| Some(text.to_owned());
        let filters = [
            Filter {
                pr: some("octo/repo#7"),
                ..Filter::default()
            },
            Filter {
                pr: some("octo/repo#77"),
                ..Filter::default()
            },
            Filter {
                repo: "OCTO/repo".parse().ok(),
                ..Filter::default()
            },
            Filter {
                repo: "octo/rep".parse().ok(),
                ..Filter::default()
            },
            Filter {
                actor: some("OCTOCAT"),
                ..Filter::default()
            },
            Filter {
                actor: some("octo"),
                ..Filter::default()
            },
            Filter {
                rule: some("user.big"),
                ..Filter::default()
            },
            Filter {
                rule: some("empty_pr"),
                ..Filter::default()
            },
            Filter {
                kind: some("classification"),
                ..Filter::default()
            },
            Filter {
                kind: some("Classification"),
                ..Filter::default()
            },
        ];
        let admitted: Vec<bool> = filters.iter().map(|one| one.matches(&record)).collect();
        let yes_and_no = [true, false].repeat(5);
        assert_eq!(admitted, yes_and_no);
        for filter in filters {
            assert_eq!(
                passes(filter.clone(), &line),
                filter.matches(&record),
                "{filter:?}"
            );
        }
    }
}
