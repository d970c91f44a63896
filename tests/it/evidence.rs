//! Ledgers in files: what each is expected to say, and that writing and reading lose nothing.

use quadgate::domain::Quadrant;
use quadgate::evidence::{
    Code, Context, Disposition, Judgement, Language, Ledger, Vocabulary, duplicates, json, judge,
    markdown,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn markdown_files(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("folder of cases") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            markdown_files(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            into.push(path);
        }
    }
    into.sort();
}

/// Every case file with its text.
pub fn cases() -> Vec<(String, String)> {
    let dir = root().join("tests/it/data/evidence");
    let mut files = Vec::new();
    markdown_files(&dir, &mut files);
    files
        .into_iter()
        .map(|path| {
            let name = path
                .strip_prefix(&dir)
                .expect("below")
                .display()
                .to_string();
            (name, fs::read_to_string(&path).expect("readable case"))
        })
        .collect()
}

/// What the first comment of a case says: `key: value` a line.
struct Expected {
    findings: Vec<String>,
    effective: Disposition,
    quadrant: Option<Quadrant>,
    domains: Vec<String>,
    changed: Option<Vec<String>>,
    committed: Option<String>,
    outside: Vec<String>,
}

impl Expected {
    fn read(name: &str, text: &str) -> Self {
        let comment = text
            .strip_prefix("<!--")
            .and_then(|rest| rest.split_once("-->"))
            .unwrap_or_else(|| panic!("{name}: no comment"))
            .0;
        let keys: BTreeMap<&str, &str> = comment
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(key, value)| (key.trim(), value.trim()))
            .collect();
        let words = |key: &str| {
            keys.get(key).map(|value| {
                value
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
        };
        let effective = keys
            .get("effective")
            .and_then(|word| Disposition::read(word));
        Self {
            findings: words("findings").unwrap_or_else(|| panic!("{name}: no findings")),
            effective: effective.unwrap_or_else(|| panic!("{name}: no effective disposition")),
            quadrant: keys
                .get("quadrant")
                .and_then(|letter| Quadrant::from_letter(letter.chars().next()?)),
            domains: words("domains").unwrap_or_default(),
            changed: words("changed"),
            committed: keys.get("committed").map(|path| (*path).to_owned()),
            outside: words("outside").unwrap_or_default(),
        }
    }

    fn judge(&self, ledger: &Ledger) -> Judgement {
        let domains: Vec<&str> = self.domains.iter().map(String::as_str).collect();
        let changed: Option<Vec<&str>> = self
            .changed
            .as_ref()
            .map(|paths| paths.iter().map(String::as_str).collect());
        let context = Context {
            quadrant: self.quadrant,
            high_risk_domains: &domains,
            changed_files: changed.as_deref(),
            committed_path: self.committed.as_deref(),
        };
        judge(ledger, &context)
    }
}

#[test]
fn every_case_says_exactly_what_it_should() {
    let mut wrong = Vec::new();
    for (name, text) in cases() {
        let expected = Expected::read(&name, &text);
        let judgement = expected.judge(&markdown::read(&text));
        let mut found: Vec<_> = judgement
            .findings
            .iter()
            .map(|finding| finding.code.code().to_owned())
            .collect();
        found.sort();
        if found != expected.findings
            || judgement.effective != expected.effective
            || judgement.outside_scope != expected.outside
        {
            let told: Vec<_> = judgement
                .findings
                .iter()
                .map(|finding| {
                    format!(
                        "    {}:{} {} {}",
                        finding.line, finding.column, finding.code, finding.message
                    )
                })
                .collect();
            wrong.push(format!(
                "{name}: expected {:?} {} outside {:?}\n  found {found:?} {} outside {:?}\n{}",
                expected.findings,
                expected.effective,
                expected.outside,
                judgement.effective,
                judgement.outside_scope,
                told.join("\n")
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn there_are_enough_cases_and_each_code_fires_and_stays_quiet_in_both_languages() {
    let cases = cases();
    assert!(cases.len() >= 150, "{} cases", cases.len());
    let fired = |folder: &str| -> BTreeSet<String> {
        cases
            .iter()
            .filter(|(name, _)| name.starts_with(folder))
            .flat_map(|(name, text)| Expected::read(name, text).findings)
            .collect()
    };
    let (english, korean) = (fired("en/"), fired("ko/"));
    for code in Code::ALL {
        // Two files are needed for this one; see `two_active_ledgers_for_one_change`.
        if *code != Code::DuplicateLedger {
            assert!(
                english.contains(code.code()),
                "{code} never fires in English"
            );
            assert!(korean.contains(code.code()), "{code} never fires in Korean");
        }
    }
    for folder in ["en/", "ko/"] {
        let quiet = cases.iter().filter(|(name, text)| {
            name.starts_with(folder) && Expected::read(name, text).findings.is_empty()
        });
        assert!(quiet.count() >= 10, "too few clean cases in {folder}");
    }
}

#[test]
fn nothing_is_lost_between_markdown_model_and_json() {
    for (name, text) in cases() {
        let ledger = markdown::read(&text);
        for language in [Language::En, Language::Ko] {
            let written = markdown::write(&ledger, language);
            assert_eq!(
                markdown::read(&written),
                ledger,
                "{name} in {language:?}:\n{written}"
            );
            assert!(
                !written.contains("&#"),
                "{name}: what people write needs no character references"
            );
        }
        let as_json = json::write(&ledger).expect("writes");
        assert_eq!(json::read(&as_json).expect(&name), ledger, "{name}");
    }
}

#[test]
fn cases_fit_the_published_schema() {
    let published =
        fs::read_to_string(root().join("schemas/evidence_ledger.schema.json")).expect("schema");
    let generated = json::schema().expect("generates");
    assert_eq!(
        published, generated,
        "run `quadgate evidence schema > schemas/evidence_ledger.schema.json`"
    );
    let schema: serde_json::Value = serde_json::from_str(&published).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a JSON Schema");
    for (name, text) in cases() {
        let value: serde_json::Value =
            serde_json::from_str(&json::write(&markdown::read(&text)).expect("writes"))
                .expect("JSON");
        assert!(validator.is_valid(&value), "{name}");
    }
    assert!(!validator.is_valid(&serde_json::json!({ "verdict": "fine" })));
}

#[test]
fn examples_of_the_docs_say_what_the_docs_say() {
    let read = |name: &str| {
        markdown::read(
            &fs::read_to_string(root().join("docs/examples").join(name)).expect("example"),
        )
    };
    let context = Context {
        quadrant: Some(Quadrant::D),
        ..Context::default()
    };
    let good = judge(&read("ledger-good.md"), &context);
    assert_eq!(good.findings, []);
    assert_eq!(good.effective, Disposition::Complete);
    let bad = judge(&read("ledger-bad.md"), &context);
    let codes: Vec<_> = bad
        .findings
        .iter()
        .map(|finding| finding.code.code())
        .collect();
    assert_eq!(
        codes,
        ["EG019", "EG012", "EG025", "EG027", "EG017", "EG011"]
    );
    assert_eq!(bad.effective, Disposition::BlockedClarification);
    assert_eq!(bad.outside_scope, ["src/session/clock.rs"]);
}

#[test]
fn two_active_ledgers_for_one_change() {
    let one = Ledger::fresh(
        "add-login",
        quadgate::evidence::Risk::Low,
        None,
        Language::En,
    );
    let other = Ledger::fresh(
        "Add-Login",
        quadgate::evidence::Risk::Low,
        None,
        Language::Ko,
    );
    let third = Ledger::fresh("logout", quadgate::evidence::Risk::Low, None, Language::En);
    let found = duplicates(&[("a.md", &one), ("b.md", &third), ("c.md", &other)]);
    let [(index, finding)] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!((*index, finding.code), (2, Code::DuplicateLedger));
    assert!(finding.message.contains("a.md"));
}

#[test]
fn every_code_has_a_heading_in_the_docs() {
    let page = fs::read_to_string(root().join("docs/evidence.md")).expect("page");
    for code in Code::ALL {
        let heading = format!("### {} {}", code.code(), code.name());
        assert!(
            page.lines().any(|line| line == heading),
            "no heading `{heading}`"
        );
    }
}

#[test]
fn a_flood_of_entries_is_not_compared_and_carries_nothing() {
    let text = fs::read_to_string(root().join("docs/examples/ledger-good.md")).expect("example");
    let flood = "- Claim: C1\n".repeat(30_000);
    let flooded = text.replace(
        "## Baseline verification",
        &format!("{flood}\n## Baseline verification"),
    );
    let judgement = judge(&markdown::read(&flooded), &Context::default());
    assert_eq!(judgement.effective, Disposition::BlockedEvidence);
}
