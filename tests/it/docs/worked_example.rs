//! The worked example of "Tune false Ds": its cases fail without its lists, as the page says, and hold with them.

use super::page::{Page, ROOT};
use crate::cli::{quadgate_in, write_files};
use std::path::Path;

fn block<'a>(page: &'a Page, language: &str, start: &str) -> &'a str {
    let found = page
        .blocks
        .iter()
        .find(|block| block.language == language && block.text.starts_with(start));
    &found.expect("the page shows it").text
}

#[test]
fn the_cases_fail_as_shown_and_hold_with_the_lists() {
    for path in [
        "docs/guide/tune-false-ds.md",
        "docs/ko/guide/tune-false-ds.md",
    ] {
        let text = std::fs::read_to_string(Path::new(ROOT).join(path)).expect("the page");
        let page = Page::new(path, &text);
        let folder = tempfile::tempdir().expect("folder");
        write_files(
            folder.path(),
            &[
                ("config/owner.yml", "github_login: octo-owner\n"),
                ("config/projects.yml", "governance_repo: octo-org/bot\n"),
                ("config/env.yml", "bot_app_slug: quadgate\n"),
                ("cases.json", block(&page, "json", "[")),
            ],
        );
        let run = || quadgate_in(folder.path(), &["config", "test", "cases.json"], "");
        let shown = block(&page, "console", "$ quadgate config test");
        let (_, shown) = shown.split_once('\n').expect("what is printed");
        let without = run();
        assert_eq!(
            (without.code, without.out.as_str()),
            (1, shown),
            "{path}: {}",
            without.err
        );
        let lists = block(&page, "yaml", "# classifier_rules.yml");
        write_files(folder.path(), &[("config/classifier_rules.yml", lists)]);
        let with = run();
        assert_eq!(with.code, 0, "{path}: {}{}", with.out, with.err);
    }
}
