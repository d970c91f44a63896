//! Configuration directories as data: what is wrong with them, word for word, and what loads with a warning.

use quadgate::policy::SourceFile;
use quadgate::settings::load_files;
use serde_json::Value;

const CASES: &str = include_str!("data/config/cases.json");

/// The smallest files that load; a case replaces some of them.
const BASE: [(&str, &str); 3] = [
    ("owner.yml", "github_login: octo-owner\n"),
    (
        "projects.yml",
        "governance_repo: octo-org/bot\nsupervised_repos: [octo-org/app]\n",
    ),
    ("env.yml", "bot_app_slug: octo-gate\n"),
];

fn files(case: &Value) -> Vec<SourceFile> {
    let written = case["files"].as_object().expect("files");
    let only = case["only"] == true;
    let base = BASE
        .iter()
        .filter(|(name, _)| !only && !written.contains_key(*name))
        .map(|(name, text)| SourceFile::new("config", name, text));
    let own = written
        .iter()
        .map(|(name, text)| SourceFile::new("config", name, text.as_str().expect("text")));
    base.chain(own).collect()
}

fn lines(all: &[quadgate::policy::Problem]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

#[test]
fn every_case_says_exactly_what_it_should() {
    let cases: Vec<Value> = serde_json::from_str(CASES).expect("cases");
    assert!(cases.len() > 40);
    let mut failures = Vec::new();
    for case in &cases {
        let name = case["name"].as_str().expect("name");
        let (key, found) = match load_files("config", &files(case)) {
            Ok(loaded) => ("warnings", lines(&loaded.warnings)),
            Err(problems) => ("problems", lines(&problems)),
        };
        let wanted: Option<Vec<String>> = serde_json::from_value(case[key].clone()).ok();
        if wanted.as_ref() != Some(&found) {
            failures.push(format!(
                "{name}\n  wanted {wanted:#?}\n  found {key} {found:#?}"
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
