//! Every relative link leads to a file that is there and to a heading of it; a page that prose or a comment names exists.

use super::page::{Page, ROOT, files_below, pages};
use crate::cli::write_files;
use percent_encoding::percent_decode_str;
use regex::Regex;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// What is wrong with the links below a root, one line each.
fn broken(root: &Path) -> Vec<String> {
    let pages = pages(root);
    let mut wrong = Vec::new();
    for page in &pages {
        for (line, target) in &page.links {
            if let Err(why) = resolve(root, &pages, page, target) {
                wrong.push(format!("{}:{line}: `{target}` {why}", page.path));
            }
        }
    }
    wrong
}

fn resolve(root: &Path, pages: &[Page], from: &Page, target: &str) -> Result<(), String> {
    if ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| target.starts_with(scheme))
    {
        return Ok(());
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    let below = match path {
        "" => PathBuf::from(&from.path),
        _ => join(&from.path, &decoded).ok_or("leads out of the repository")?,
    };
    let on_disk = root.join(&below);
    if !on_disk.exists() {
        return Err("is not there".to_owned());
    }
    if anchor.is_empty() {
        return Ok(());
    }
    let name = below.to_string_lossy();
    let page = pages.iter().find(|page| page.path == name);
    let page = page.ok_or("has an anchor and is no page that is read here")?;
    let anchor = percent_decode_str(anchor).decode_utf8_lossy();
    if page.headings.iter().any(|heading| heading.anchor == anchor) {
        Ok(())
    } else {
        Err("names a heading that is not there".to_owned())
    }
}

/// A path relative to a page, from the root; `None` when it leaves it.
fn join(page: &str, target: &str) -> Option<PathBuf> {
    if target.starts_with('/') {
        return None;
    }
    let mut path = PathBuf::from(page);
    path.pop();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir if path.pop() => {}
            Component::CurDir => {}
            Component::Normal(name) => path.push(name),
            _ => return None,
        }
    }
    Some(path)
}

#[test]
fn every_link_and_anchor_resolves() {
    let root = Path::new(ROOT);
    let links: usize = pages(root).iter().map(|page| page.links.len()).sum();
    assert!(links > 100, "only {links} links were found");
    let wrong = broken(root);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pages_that_are_named_in_prose_and_in_comments_exist() {
    let root = Path::new(ROOT);
    let named = Regex::new(r"\bdocs/[A-Za-z0-9_./-]+\.md\b").expect("a pattern");
    let mut wrong = Vec::new();
    let mut look = |place: String, text: &str| {
        for found in named.find_iter(text) {
            if !root.join(found.as_str()).is_file() {
                wrong.push(format!("{place}: `{}` is not there", found.as_str()));
            }
        }
    };
    for page in pages(root) {
        for (line, text) in &page.prose {
            look(format!("{}:{line}", page.path), text);
        }
    }
    for path in files_below(&root.join("src"), "rs") {
        let text = fs::read_to_string(&path).expect("source");
        for (index, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("//") {
                look(format!("{}:{}", path.display(), index + 1), line);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_link_to_nothing_is_found() {
    let folder = tempfile::tempdir().expect("folder");
    write_files(
        folder.path(),
        &[
            (
                "README.md",
                "[fine](docs/a.md#한글-제목) [gone](docs/b.md) [out](../x.md)\n",
            ),
            (
                "docs/a.md",
                "# 한글 제목\n\n[up](../README.md) [no heading](#nowhere) `[code](no.md)`\n\n```\n[code](no.md)\n```\n",
            ),
            (
                "docs/ko/a.md",
                "![picture](a.png) [page](../a.md#한글) [web](https://example.com/x)\n",
            ),
        ],
    );
    assert_eq!(
        broken(folder.path()),
        [
            "README.md:1: `docs/b.md` is not there",
            "README.md:1: `../x.md` leads out of the repository",
            "docs/a.md:3: `#nowhere` names a heading that is not there",
            "docs/ko/a.md:1: `a.png` is not there",
            "docs/ko/a.md:1: `../a.md#한글` names a heading that is not there",
        ]
    );
}
