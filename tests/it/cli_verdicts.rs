//! Verdicts through the binary: every decision case by its facts, the document of `--json`, the page of
//! `explain`, and a real range judged before there is a pull request.

use crate::cli::{facts, quadgate, quadgate_in, quadgate_with, write_files};
use serde_json::Value;
use std::process::Command;

const CASES: &str = include_str!("data/classifier/cases.json");
/// The policy that the cases assume.
const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/data/config/cases");

fn cases() -> Vec<Value> {
    let document: Value = serde_json::from_str(CASES).expect("cases");
    document["cases"].as_array().expect("a list").clone()
}

fn case(id: &str) -> String {
    let all = cases();
    let found = all.iter().find(|case| case["id"] == id);
    found.unwrap_or_else(|| panic!("no case {id}"))["given"].to_string()
}

fn code(quadrant: &str) -> i32 {
    match quadrant {
        "A" => 0,
        "B" => 10,
        "C" => 11,
        "D" => 12,
        other => panic!("{other}"),
    }
}

#[test]
fn every_case_by_exit_code_and_document() {
    let cases = cases();
    assert!(cases.len() >= 75, "{}", cases.len());
    let arguments = ["classify", "--facts", "-", "--json", "--config", CONFIG];
    for case in cases {
        let run = quadgate_with(&arguments, &case["given"].to_string());
        let document: Value = serde_json::from_str(&run.out)
            .unwrap_or_else(|_| panic!("{}: {}", case["id"], run.err));
        let expect = &case["expect"];
        let found = document["quadrant"].as_str().expect("a quadrant");
        assert_eq!(run.code, code(found), "{}", case["id"]);
        for key in ["quadrant", "ir", "cr"] {
            if !expect[key].is_null() {
                assert_eq!(
                    document[key], expect[key],
                    "{}: {key}\n{document:#}",
                    case["id"]
                );
            }
        }
        assert_eq!(run.err, "", "{}", case["id"]);
    }
}

#[test]
fn all_cases_pass_config_test_and_a_wrong_one_fails_it() {
    let folder = tempfile::tempdir().expect("folder");
    let wrong = serde_json::json!([{
        "id": "wrong", "given": serde_json::from_str::<Value>(&case("seed-d-json-schema")).expect("facts"),
        "expect": {"quadrant": "A"},
    }]);
    write_files(
        folder.path(),
        &[
            ("good.json", CASES),
            ("wrong.json", &wrong.to_string()),
            ("none.json", "[]"),
            ("bad.json", "[{}]"),
        ],
    );
    let test = |file: &str| {
        quadgate_in(
            folder.path(),
            &["config", "test", "--config", CONFIG, file],
            "",
        )
    };
    let run = test("good.json");
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{}", run.out);
    assert!(run.out.ends_with(" passed, 0 failed\n"), "{}", run.out);
    let run = test("wrong.json");
    assert_eq!(run.code, 1);
    assert!(
        run.out.contains("FAILED wrong: expected A, found D: "),
        "{}",
        run.out
    );
    assert_eq!(test("none.json").code, 2);
    assert_eq!(test("bad.json").code, 2);
    assert_eq!(test("absent.json").code, 2);
}

#[test]
fn the_document_holds_the_fields_of_the_audit_line() {
    let input = case("seed-b-refactor-validator");
    let run = quadgate_with(
        &["classify", "--facts", "-", "--json", "--config", CONFIG],
        &input,
    );
    let document: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!(document["kind"], "classification");
    assert_eq!(document["pr"], "octo-org/widgets#7");
    assert_eq!(document["quadrant"], "B");
    let fired = document["rules_fired"].as_array().expect("rules");
    let first = serde_json::json!({
        "rule": "path_classifier_default", "ir": "reversible", "cr": "critical", "quadrant": "B",
    });
    assert_eq!(fired[0], first);
    for rule in ["published_verdict", "empty_pr"] {
        let found = fired
            .iter()
            .find(|report| report["rule"] == rule)
            .expect(rule);
        assert_eq!(found["match"], false, "{rule}");
    }
    let reasoning = document["reasoning"].as_str().expect("text");
    assert!(
        reasoning.contains("src/multiagent_protocol/pr_validator.py modified (critical)"),
        "{reasoning}"
    );
    assert!(reasoning.contains("(reversible)"), "{reasoning}");
    assert_eq!(document["head_sha"].as_str().map(str::len), Some(40));
    assert!(
        document["policy"]
            .as_str()
            .is_some_and(|digest| digest.starts_with("sha256:"))
    );
    assert_eq!(
        document["files"][0]["path"],
        "src/multiagent_protocol/pr_validator.py"
    );
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let input = case("one-critical-file-taints");
    let arguments = ["classify", "--facts", "-", "--json", "--config", CONFIG];
    let first = quadgate_with(&arguments, &input).out;
    assert_eq!(first, quadgate_with(&arguments, &input).out);
}

#[test]
fn explain_fits_a_terminal_and_marks_the_quadrant() {
    for id in [
        "seed-b-refactor-validator",
        "one-critical-file-taints",
        "empty",
        "published-d",
        "session-short",
    ] {
        let run = quadgate_with(&["explain", "--facts", "-", "--config", CONFIG], &case(id));
        assert!(
            [10, 12].contains(&run.code),
            "{id}: {} {}",
            run.code,
            run.err
        );
        let letter = if run.code == 10 { "B" } else { "D" };
        assert!(
            run.out.contains(&format!("[ {letter} ]")),
            "{id}\n{}",
            run.out
        );
        assert_eq!(run.out.matches("[ ").count(), 1, "{id}\n{}", run.out);
        assert!(
            run.out.contains("path_classifier_default") && run.out.contains("facts_incomplete")
        );
        assert!(!run.out.contains('\u{1b}'), "no colours in a pipe");
        for line in run.out.lines() {
            let long = line.chars().count() > 80;
            assert!(!long || line.contains("sha256:"), "{id}: {line}");
        }
    }
}

#[test]
fn a_path_cannot_write_to_the_terminal() {
    let input = facts("a\u{1b}[2Jb\u{202e}.rs", "modified");
    for command in ["classify", "explain"] {
        let run = quadgate_with(&[command, "--facts", "-", "--config", CONFIG], &input);
        assert!(run.out.lines().count() >= 3, "{}", run.err);
        assert!(
            !run.out.contains('\u{1b}') && !run.out.contains('\u{202e}'),
            "{}",
            run.out
        );
    }
}

#[test]
fn without_a_configuration_one_line_says_so() {
    let run = quadgate_with(&["classify", "--facts", "-"], &case("seed-a-readme-typo"));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.out
            .starts_with("A  by path: reversible, non-critical\n"),
        "{}",
        run.out
    );
    assert_eq!(run.err.lines().count(), 1);
    assert!(run.err.contains("built-in rules"), "{}", run.err);
}

#[test]
fn a_range_is_judged_before_there_is_a_pull_request() {
    let folder = tempfile::tempdir().expect("folder");
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .current_dir(folder.path())
            .args([
                "-c",
                "user.name=Octo",
                "-c",
                "user.email=octo@example.com",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    };
    let commit = |files: &[(&str, &str)], tag: &str| {
        write_files(folder.path(), files);
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", tag]);
        git(&["tag", tag]);
    };
    git(&["init", "-q", "-b", "main"]);
    commit(
        &[
            ("README.md", "# Teh widgets\n"),
            ("src/app.py", "x = 1\n"),
            ("examples/old.py", "x\n"),
        ],
        "start",
    );
    commit(&[("README.md", "# The widgets\n")], "typo");
    commit(&[("src/app.py", "x = 2\n")], "edit");
    std::fs::remove_file(folder.path().join("examples/old.py")).expect("remove");
    commit(&[], "removed");
    commit(&[(".github/workflows/ci.yml", "on: push\n")], "ci");
    for (base, head, wanted) in [
        ("start", "typo", "A"),
        ("typo", "edit", "B"),
        ("edit", "removed", "C"),
        ("removed", "ci", "D"),
        ("start", "ci", "D"),
        ("ci", "ci", "D"),
    ] {
        let path = folder.path().to_str().expect("text");
        let run = quadgate(&[
            "classify", "--repo", path, "--base", base, "--head", head, "--config", CONFIG,
        ]);
        assert_eq!(
            run.code,
            code(wanted),
            "{base}..{head}\n{}{}",
            run.out,
            run.err
        );
        assert!(run.out.contains("(no pull request yet)"), "{}", run.out);
    }
}

#[test]
fn the_bots_own_repository_is_known_by_name() {
    let folder = tempfile::tempdir().expect("folder");
    write_files(
        folder.path(),
        &[(
            "facts.json",
            &facts("README.md", "modified").replace("octo-org/widgets", "Octo-Org/Bot"),
        )],
    );
    let run = quadgate_in(
        folder.path(),
        &["classify", "--facts", "facts.json", "--config", CONFIG],
        "",
    );
    assert_eq!(run.code, 12, "{}", run.out);
}
