//! The parts of pages that the program itself says: each stands between two comments and is fresh, in both languages.
//!
//! Korean texts of what the program says in English stand in `tests/it/data/docs/ko.json`; what is not there stays English.

use super::page::{Page, ROOT, pages};
use super::reference::{self, Speech};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const KOREAN: &str = "tests/it/data/docs/ko.json";
const HOW: &str = "run `QUADGATE_WRITE_DOCS=1 cargo test --test it docs::`";

/// A generated part: its name and its text between the two comments.
struct Part<'a> {
    name: &'a str,
    text: &'a str,
}

/// The parts of a page, in order.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("<!-- generated: ") {
        let Some((name, after)) = after.split_once(" -->\n") else {
            break;
        };
        let end = format!("<!-- end: {name} -->");
        let Some((text, after)) = after.split_once(&end) else {
            panic!("`{name}` has no end");
        };
        found.push(Part { name, text });
        rest = after;
    }
    found
}

/// The names of the generated parts of a page.
pub fn names(text: &str) -> Vec<String> {
    parts(text)
        .iter()
        .map(|part| part.name.to_owned())
        .collect()
}

/// The page with its parts as they should be.
fn fresh(page: &Page, speech: &mut Speech) -> String {
    let mut text = page.text.clone();
    for part in parts(&page.text) {
        let wanted = reference::part(part.name, speech);
        let wanted = wanted.unwrap_or_else(|| {
            panic!("{}: nothing generates `{}`", page.path, part.name);
        });
        let mark = format!("<!-- generated: {} -->\n", part.name);
        let end = format!("<!-- end: {} -->", part.name);
        let now = format!("{mark}{}{end}", part.text);
        text = text.replace(&now, &format!("{mark}\n{}\n\n{end}", wanted.trim()));
    }
    text
}

#[test]
fn generated_parts_are_fresh() {
    let write = std::env::var_os("QUADGATE_WRITE_DOCS").is_some();
    let root = Path::new(ROOT);
    let kept = fs::read_to_string(root.join(KOREAN)).expect("Korean texts");
    let korean: BTreeMap<String, String> = serde_json::from_str(&kept).expect("texts by text");
    let mut english = Speech::english();
    let mut translated = Speech::korean(korean.clone());
    let mut stale = Vec::new();
    let mut count = 0;
    for page in pages(root) {
        let speech = if page.is_korean() {
            &mut translated
        } else {
            &mut english
        };
        count += parts(&page.text).len();
        let wanted = fresh(&page, speech);
        if wanted != page.text && write {
            fs::write(root.join(&page.path), &wanted).expect("writes");
        } else if wanted != page.text {
            let line = wanted.lines().zip(page.text.lines());
            let line = line.take_while(|(new, old)| new == old).count() + 1;
            stale.push(format!("{}:{line}", page.path));
        }
    }
    assert!(count >= 14, "only {count} generated parts");
    let unused: Vec<&String> = korean
        .keys()
        .filter(|text| !translated.used.contains(*text))
        .collect();
    if write {
        let used = korean.iter().filter(|(text, _)| !unused.contains(text));
        let used: BTreeMap<&String, &String> = used.collect();
        let text = serde_json::to_string_pretty(&used).expect("JSON");
        fs::write(root.join(KOREAN), format!("{text}\n")).expect("writes");
        let missing: Vec<&String> = translated.missing.iter().collect();
        eprintln!("without a Korean text: {missing:#?}");
        return;
    }
    assert!(stale.is_empty(), "stale from {stale:?} on: {HOW}");
    assert!(
        unused.is_empty(),
        "Korean texts of nothing, {unused:?}: {HOW}"
    );
}

#[test]
fn a_part_is_found_and_replaced() {
    let text = "a\n<!-- generated: metrics -->\nwritten before\n<!-- end: metrics -->\nb\n";
    assert_eq!(names(text), ["metrics"]);
    let page = Page::new("x.md", text);
    let new = fresh(&page, &mut Speech::english());
    assert!(new.starts_with("a\n<!-- generated: metrics -->\n\n| "));
    assert!(new.ends_with(" |\n\n<!-- end: metrics -->\nb\n"));
    assert!(!new.contains("written before") && new.contains("`quadgate_queue_depth`"));
    let again = fresh(&Page::new("x.md", &new), &mut Speech::english());
    assert_eq!(again, new);
}
