//! Every page of `docs/` has its Korean sibling in `docs/ko/` and the other way round, with the same headings by level, the
//! same kinds of code blocks and the same generated parts.

use super::generated::names;
use super::page::{Page, ROOT, pages};
use crate::cli::write_files;
use std::path::Path;

/// What the two languages do not have in common, one line each.
fn different(root: &Path) -> Vec<String> {
    let all = pages(root);
    let find = |path: &str| all.iter().find(|page| page.path == path);
    let mut wrong = Vec::new();
    for page in &all {
        let Some(name) = page.path.strip_prefix("docs/") else {
            continue;
        };
        // Ledgers: data that another test reads, in the language they are written in.
        if name.starts_with("examples/") {
            continue;
        }
        match name.strip_prefix("ko/") {
            Some(name) if find(&format!("docs/{name}")).is_none() => {
                wrong.push(format!("{}: has no English page", page.path));
            }
            Some(_) => {}
            None => match find(&format!("docs/ko/{name}")) {
                None => wrong.push(format!("{}: has no Korean page", page.path)),
                Some(korean) => wrong.extend(compare(page, korean)),
            },
        }
    }
    wrong
}

fn compare(english: &Page, korean: &Page) -> Vec<String> {
    let mut wrong = Vec::new();
    let headings = english.headings.iter().zip(&korean.headings);
    let first = headings
        .clone()
        .find(|(here, there)| here.level != there.level);
    if let Some((here, there)) = first {
        wrong.push(format!(
            "{}:{}: `{}` is {}, `{}` at line {} of {} is {}",
            english.path,
            here.line,
            here.text,
            here.level,
            there.text,
            there.line,
            korean.path,
            there.level
        ));
    } else if english.headings.len() != korean.headings.len() {
        let (long, count) = if english.headings.len() > korean.headings.len() {
            (english, korean.headings.len())
        } else {
            (korean, english.headings.len())
        };
        let extra = &long.headings[count];
        wrong.push(format!(
            "{}:{}: `{}` has no counterpart",
            long.path, extra.line, extra.text
        ));
    }
    let blocks = |page: &Page| -> Vec<String> {
        let languages = page.blocks.iter().map(|block| block.language.clone());
        languages.collect()
    };
    if blocks(english) != blocks(korean) {
        wrong.push(format!(
            "{}: code blocks {:?}, in Korean {:?}",
            english.path,
            blocks(english),
            blocks(korean)
        ));
    }
    if names(&english.text) != names(&korean.text) {
        wrong.push(format!(
            "{}: not the same generated parts in Korean",
            english.path
        ));
    }
    if !korean.prose.iter().any(|(_, text)| is_hangul(text)) {
        wrong.push(format!("{}: has no Korean in it", korean.path));
    }
    wrong
}

fn is_hangul(text: &str) -> bool {
    text.chars().any(|c| ('가'..='힣').contains(&c))
}

#[test]
fn every_page_has_a_sibling_of_the_same_shape() {
    let wrong = different(Path::new(ROOT));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_page_that_is_missing_or_of_another_shape_is_found() {
    let folder = tempfile::tempdir().expect("folder");
    write_files(
        folder.path(),
        &[
            ("docs/alone.md", "# Alone\n"),
            ("docs/ko/only.md", "# 홀로\n\n글\n"),
            ("docs/short.md", "# One\n\n## Two\n"),
            ("docs/ko/short.md", "# 하나\n\n글\n"),
            ("docs/level.md", "# One\n\n## Two\n"),
            ("docs/ko/level.md", "# 하나\n\n### 둘\n\n글\n"),
            ("docs/block.md", "# One\n\n```sh\nls\n```\n"),
            ("docs/ko/block.md", "# 하나\n\n글\n"),
            ("docs/latin.md", "# One\n"),
            ("docs/ko/latin.md", "# One\n\ntext\n"),
        ],
    );
    assert_eq!(
        different(folder.path()),
        [
            "docs/alone.md: has no Korean page",
            "docs/block.md: code blocks [\"sh\"], in Korean []",
            "docs/ko/only.md: has no English page",
            "docs/ko/latin.md: has no Korean in it",
            "docs/level.md:3: `Two` is h2, `둘` at line 3 of docs/ko/level.md is h3",
            "docs/short.md:3: `Two` has no counterpart",
        ]
    );
}
