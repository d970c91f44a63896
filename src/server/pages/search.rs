//! The audit log, newest first, narrowed by a form that is an address: every search can be kept and passed on.
//!
//! Streams from the end of the log and stops with the page or the budget; where it stopped is said, and the next page
//! goes on from there.

use super::Desk;
use super::asked::Asked;
use super::error::PageError;
use super::layout::{self, Nav};
use super::log::Budget;
use super::parts;
use super::record::Entry;
use super::viewer::{Sees, Viewer};
use super::words;
use crate::audit::{Back, Filter, Onward, Place, Sieve, seq_of};
use crate::domain::{Quadrant, RepoName, Timestamp};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Entries on one page.
const ROWS: usize = 50;
/// The longest word that is looked for.
const LONGEST: usize = 200;
/// Entries may stand so much out of the order of their times.
const SLACK: Duration = Duration::from_mins(10);

const DAY: &str = "Write a day such as 2026-05-25.";

/// The form as it was sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Form {
    repo: String,
    pull: String,
    quadrant: String,
    rule: String,
    actor: String,
    kind: String,
    from: String,
    to: String,
    text: String,
    /// Where the page before ended.
    before: String,
}

/// What is wrong with the form, by the name of its field.
type Wrong = Vec<(&'static str, &'static str)>;

/// What is looked for.
struct Search {
    filter: Filter,
    number: Option<u64>,
    place: Place,
    /// Nothing older is looked at.
    since: Option<Timestamp>,
    eyes: Sees,
}

/// What one page found.
#[derive(Default)]
struct Page {
    entries: Vec<Entry>,
    /// The oldest entry that was looked at; `None`: the log was read to its beginning.
    stopped_at: Option<u64>,
    looked_at: u64,
}

/// `GET /audit`
pub(super) async fn page(
    State(desk): State<Arc<Desk>>,
    viewer: Viewer,
    Asked(form): Asked<Form>,
) -> Result<Response, PageError> {
    match form.search(viewer.eyes()) {
        Ok(search) => {
            let found = desk
                .log
                .read(move |dir, budget| look(dir, search, budget))
                .await?;
            Ok(show(&viewer, &form, &Vec::new(), Some(&found)).into_response())
        }
        Err(wrong) => {
            let page = show(&viewer, &form, &wrong, None);
            Ok((StatusCode::BAD_REQUEST, page).into_response())
        }
    }
}

impl Form {
    fn fields(&self) -> [(&'static str, &str); 9] {
        [
            ("repo", &self.repo),
            ("pull", &self.pull),
            ("quadrant", &self.quadrant),
            ("rule", &self.rule),
            ("actor", &self.actor),
            ("kind", &self.kind),
            ("from", &self.from),
            ("to", &self.to),
            ("text", &self.text),
        ]
    }

    fn search(&self, eyes: Sees) -> Result<Search, Wrong> {
        let mut wrong = Vec::new();
        for (name, value) in self.fields() {
            if value.len() > LONGEST {
                wrong.push((name, "This is too long to look for."));
            }
        }
        let repo = read(
            &self.repo,
            "repo",
            "Write it as owner/name.",
            &mut wrong,
            |text| text.parse::<RepoName>().ok(),
        );
        let number = read(
            &self.pull,
            "pull",
            "Write the number alone, such as 12.",
            &mut wrong,
            |text| text.trim_start_matches('#').parse::<u64>().ok(),
        );
        let quadrant = read(
            &self.quadrant,
            "quadrant",
            "Choose A, B, C or D.",
            &mut wrong,
            |text| {
                let mut letters = text.chars();
                letters
                    .next()
                    .and_then(Quadrant::from_letter)
                    .filter(|_| letters.next().is_none())
            },
        );
        let since = read(&self.from, "from", DAY, &mut wrong, day);
        let until = read(&self.to, "to", DAY, &mut wrong, day);
        let until = until.map(|day| day.plus(Duration::from_hours(24)));
        let before = read(
            &self.before,
            "before",
            "Begin the search again.",
            &mut wrong,
            |text| text.parse::<u64>().ok(),
        );
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let word = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        Ok(Search {
            filter: Filter {
                repo,
                quadrant,
                rule: word(&self.rule),
                actor: word(&self.actor),
                kind: word(&self.kind),
                since,
                until,
                text: word(&self.text),
                ..Filter::default()
            },
            number,
            place: match (before, until) {
                (Some(seq), _) => Place::Before(seq),
                (None, Some(until)) => Place::At(until.plus(SLACK)),
                (None, None) => Place::End,
            },
            since: since.map(|since| since.minus(SLACK)),
            eyes,
        })
    }

    /// The address of this search, from a place on.
    fn href(&self, before: u64) -> String {
        let mut pairs: Vec<String> = self
            .fields()
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| {
                let value = percent_encoding::utf8_percent_encode(
                    value,
                    percent_encoding::NON_ALPHANUMERIC,
                );
                format!("{name}={value}")
            })
            .collect();
        pairs.push(format!("before={before}"));
        format!("/audit?{}", pairs.join("&"))
    }

    fn narrows(&self) -> bool {
        self.fields().iter().any(|(_, value)| !value.is_empty())
    }
}

fn read<T>(
    text: &str,
    field: &'static str,
    help: &'static str,
    wrong: &mut Wrong,
    read: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let value = read(text);
    if value.is_none() {
        wrong.push((field, help));
    }
    value
}

fn day(text: &str) -> Option<Timestamp> {
    (text.len() == 10).then(|| format!("{text}T00:00:00Z").parse().ok())?
}

fn look(dir: &Path, search: Search, mut budget: Budget) -> io::Result<Page> {
    let mut page = Page::default();
    let oldest = match search.since {
        Some(since) => Onward::from(dir, Place::At(since))?
            .next_line()?
            .and_then(seq_of),
        None => Some(0),
    };
    // Nothing in the log is as young as that.
    let Some(oldest) = oldest else {
        return Ok(page);
    };
    let number = search.number.map(|number| format!("#{number}\""));
    let number = number.as_deref().map(memchr::memmem::Finder::new);
    let mut sieve = Sieve::new(search.filter);
    let mut walk = Back::from(dir, search.place)?;
    while let Some(line) = walk.next_line()? {
        let seq = seq_of(line);
        if seq.is_some_and(|seq| seq < oldest) {
            page.stopped_at = None;
            return Ok(page);
        }
        page.looked_at += 1;
        // What is no entry is `verify`'s to name.
        if number
            .as_ref()
            .is_none_or(|number| number.find(line).is_some())
            && sieve.admits(line).unwrap_or(false)
            && let Some(entry) = Entry::read(line)
            && search.eyes.repo(entry.repo_id)
            && search.number.is_none_or(|number| entry.is_about(number))
        {
            page.entries.push(entry);
        }
        page.stopped_at = seq.or(page.stopped_at);
        if page.entries.len() >= ROWS || !budget.pays(line) {
            return Ok(page);
        }
    }
    page.stopped_at = None;
    Ok(page)
}

fn show(viewer: &Viewer, form: &Form, wrong: &Wrong, found: Option<&Page>) -> Markup {
    let body = html! {
        h1 { "Audit log" }
        p.lead { "Every decision, answer and merge, newest first. The address of a search can be kept." }
        section aria-labelledby="search" {
            h2 #search { "Search" }
            @if !wrong.is_empty() { p.info.bad role="alert" { "Nothing was looked for. Correct what is marked." } }
            (fields(form, wrong))
        }
        @if let Some(found) = found { (results(form, found)) }
    };
    layout::page("Audit log", Some(viewer), Some(Nav::Audit), &body)
}

fn fields(form: &Form, wrong: &Wrong) -> Markup {
    let quadrants: Vec<(&str, &str)> =
        [("", "any"), ("A", "A"), ("B", "B"), ("C", "C"), ("D", "D")].into();
    let mut kinds = vec![("", "any")];
    kinds.extend(words::KINDS);
    html! {
        form.search method="get" action="/audit" role="search" {
            (input("repo", "Repository", "text", &form.repo, "owner/name", wrong))
            (input("pull", "Pull request", "text", &form.pull, "number", wrong))
            (choice("quadrant", "Quadrant", &quadrants, &form.quadrant, wrong))
            (choice("kind", "Kind", &kinds, &form.kind, wrong))
            (input("rule", "Rule that voted", "text", &form.rule, "such as empty_pr", wrong))
            (input("actor", "Author or owner", "text", &form.actor, "login", wrong))
            (input("from", "From day", "date", date(&form.from), "", wrong))
            (input("to", "To day", "date", date(&form.to), "", wrong))
            div.wide { (input("text", "Text", "search", &form.text, "anything in the entry", wrong)) }
            div.send {
                button type="submit" { "Search" }
                @if form.narrows() { a href="/audit" { "Clear" } }
            }
        }
    }
}

/// A field for days takes nothing else.
fn date(text: &str) -> &str {
    if day(text).is_some() { text } else { "" }
}

fn input(
    name: &'static str,
    label: &str,
    kind: &str,
    value: &str,
    example: &str,
    wrong: &Wrong,
) -> Markup {
    let mistake = mistake(name, wrong);
    let help = format!("{name}-wrong");
    html! {
        div {
            label for=(name) { (label) }
            input id=(name) name=(name) type=(kind) value=(value) maxlength=(LONGEST) autocomplete="off" spellcheck="false"
                placeholder=[(!example.is_empty()).then_some(example)]
                aria-invalid=[mistake.map(|_| "true")] aria-describedby=[mistake.map(|_| &help)];
            @if let Some(mistake) = mistake { p.wrong id=(help) { (mistake) } }
        }
    }
}

fn choice(
    name: &'static str,
    label: &str,
    options: &[(&str, &str)],
    value: &str,
    wrong: &Wrong,
) -> Markup {
    let mistake = mistake(name, wrong);
    let help = format!("{name}-wrong");
    html! {
        div {
            label for=(name) { (label) }
            select id=(name) name=(name) aria-invalid=[mistake.map(|_| "true")] aria-describedby=[mistake.map(|_| &help)] {
                @for (word, shown) in options { option value=(word) selected[*word == value] { (shown) } }
            }
            @if let Some(mistake) = mistake { p.wrong id=(help) { (mistake) } }
        }
    }
}

fn mistake(name: &str, wrong: &Wrong) -> Option<&'static str> {
    wrong
        .iter()
        .find(|(field, _)| *field == name)
        .map(|(_, text)| *text)
}

fn results(form: &Form, found: &Page) -> Markup {
    let count = u64::try_from(found.entries.len()).unwrap_or(u64::MAX);
    html! {
        section aria-labelledby="found" {
            h2 #found { (words::count(count, "entry", "entries")) @if found.stopped_at.is_some() { " so far" } }
            @if found.entries.is_empty() {
                @match found.stopped_at {
                    Some(_) => (parts::nothing("Nothing in this part of the log.")),
                    None => (parts::nothing("Nothing in the log is like that. Take something out of the search.")),
                }
            } @else {
                (parts::entries(found.entries.iter(), true))
            }
            p.pager {
                @if let Some(stopped_at) = found.stopped_at {
                    a.button rel="next" href=(form.href(stopped_at)) { "Older entries" }
                }
                span.dim {
                    "Looked at " (words::count(found.looked_at, "entry", "entries"))
                    @match found.stopped_at {
                        Some(stopped_at) => { ", back to #" (words::grouped(stopped_at)) "." },
                        None => ", back to the beginning.",
                    }
                }
            }
        }
    }
}
