//! User rules through the front door: the examples with their cases, the commands, the server.

use crate::cli::{quadgate, quadgate_in, write_files};
use crate::crashes_program::Program;
use crate::world::{REPO, World};
use fake_github::{FileSpec, PullSpec};
use serde_json::Value;
use std::path::Path;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/rules");

/// The smallest files that load.
const BASE: [(&str, &str); 3] = [
    ("config/owner.yml", "github_login: octo-owner\n"),
    (
        "config/projects.yml",
        "governance_repo: octo-org/bot\nsupervised_repos: [octo-org/widgets]\n",
    ),
    (
        "config/env.yml",
        "bot_app_slug: octo-gate\nallow_no_ci: true\n",
    ),
];

/// A folder with a configuration and these user rules.
fn folder(rules: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("folder");
    write_files(folder.path(), &BASE);
    for (name, text) in rules {
        let name = format!("config/skills/classifier/{name}");
        write_files(folder.path(), &[(&name, text)]);
    }
    folder
}

/// The examples: stem, file name, text.
fn examples() -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(EXAMPLES).expect("examples") {
        let path = entry.expect("an entry").path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if matches!(ending, Some("yml" | "rhai")) {
            let stem = path
                .file_stem()
                .expect("a stem")
                .to_string_lossy()
                .into_owned();
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            found.push((stem, name, std::fs::read_to_string(&path).expect("text")));
        }
    }
    found.sort();
    found
}

#[test]
fn every_example_passes_its_cases_and_has_one_of_each_kind() {
    let examples = examples();
    let names: Vec<&str> = examples.iter().map(|(stem, ..)| stem.as_str()).collect();
    let wanted = [
        "dependency_added",
        "large_change",
        "migration_needs_down",
        "no_todo_in_production",
        "protected_author",
    ];
    assert_eq!(names, wanted);
    for (stem, name, text) in &examples {
        let folder = folder(&[(name, text)]);
        let cases = format!("{EXAMPLES}/{stem}.cases.json");
        let run = quadgate_in(folder.path(), &["config", "test", "--json", &cases], "");
        assert_eq!(run.code, 0, "{stem}: {}{}", run.out, run.err);
        let document: Value = serde_json::from_str(&run.out).expect("JSON");
        let cases = document["cases"].as_array().expect("cases");
        let rule = format!("user.{stem}");
        for kind in ["raise", "pass", "error"] {
            let shown = cases.iter().any(|case| {
                let fired = case["rules_fired"].as_array().expect("rules");
                fired
                    .iter()
                    .any(|report| report["rule"] == rule.as_str() && report["result"] == kind)
            });
            assert!(shown, "{stem} has no case that ends with {kind}");
        }
    }
}

#[test]
fn all_examples_live_together() {
    let examples = examples();
    let rules: Vec<(&str, &str)> = examples
        .iter()
        .map(|(_, name, text)| (name.as_str(), text.as_str()))
        .collect();
    let folder = folder(&rules);
    let run = quadgate_in(folder.path(), &["config", "check", "--strict"], "");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let run = quadgate_in(folder.path(), &["config", "show"], "");
    for (stem, name, _) in &examples {
        let line = format!("user.{stem} = \"runs\"  (config/skills/classifier/{name}:1:1)");
        assert!(run.out.contains(&line), "{}", run.out);
    }
}

#[test]
fn a_failing_case_is_named_with_all_that_differs() {
    let rule = "raise: B\nbecause: so it is\nwhen: {draft: false}\n";
    let folder = folder(&[("always.yml", rule)]);
    let case = |id: &str, expect: &str| {
        let facts = crate::cli::facts("README.md", "modified");
        format!(r#"{{"id": "{id}", "given": {facts}, "expect": {expect}}}"#)
    };
    let cases = [
        case(
            "right",
            r#"{"quadrant": "B", "rules": {"user.always": "raise", "empty_pr": "abstain"}}"#,
        ),
        case(
            "wrong",
            r#"{"quadrant": "A", "cr": "critical", "rules": {"user.always": "pass", "user.other": "raise", "empty_pr": "D"}, "reasoning": "nowhere"}"#,
        ),
    ];
    write_files(
        folder.path(),
        &[("cases.json", &format!("[{}]", cases.join(",")))],
    );
    let run = quadgate_in(folder.path(), &["config", "test", "cases.json"], "");
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    let wanted = "FAILED wrong: expected A, expected critical, expected `empty_pr` to end with D, it abstained, \
        expected `user.always` to end with pass, it voted B (so it is), \
        expected `user.other` to run, there is no such rule, expected `nowhere` in the reasoning, found B: ";
    assert!(run.out.contains(wanted), "{}", run.out);
    assert!(run.out.ends_with("1 passed, 1 failed\n"), "{}", run.out);
    let run = quadgate_in(
        folder.path(),
        &["config", "test", "--json", "cases.json"],
        "",
    );
    let document: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!((run.code, &document["ok"]), (1, &Value::Bool(false)));
    assert_eq!(document["cases"][1]["id"], "wrong");
    assert_eq!(
        document["cases"][1]["differs"].as_array().map(Vec::len),
        Some(6)
    );
    for (text, why) in [
        (case("idle", "{}"), "`idle` expects nothing"),
        (
            case("odd", r#"{"quadrnat": "A"}"#),
            "unknown field `quadrnat`",
        ),
    ] {
        write_files(folder.path(), &[("cases.json", &format!("[{text}]"))]);
        let run = quadgate_in(folder.path(), &["config", "test", "cases.json"], "");
        assert_eq!(run.code, 2);
        assert!(
            run.err.contains("cases.json: case 1: ") && run.err.contains(why),
            "{}",
            run.err
        );
    }
}

#[test]
fn a_rule_that_does_not_load_fails_check_and_stops_the_server() {
    for (name, text, wanted) in [
        (
            "a.yml",
            "raise: D\nbecause: x\nwhen: {file: {path: [/src]}}\n",
            "a.yml:3:22: `/src` begins with `/`",
        ),
        (
            "a.rhai",
            "if facts.draft {\n  raise(D, \"x\"\n}",
            "a.rhai:3:1: not readable as a script",
        ),
        (
            "a.rhai",
            "\nlet n = facts.files.len;\nif n > \"many\" { }",
            "a.rhai:3:6: fails on sample facts: a value of type integer cannot be compared with one of type string",
        ),
        (
            "a.rhai",
            "loop { }",
            "a.rhai:1:6: fails on sample facts: more than 200000 operations",
        ),
        (
            "a.rhai",
            "// one\nfn f(x) { x.path } f(facts)",
            "a.rhai:2:13: fails on sample facts: unknown property 'path'",
        ),
        (
            "a.py",
            "x",
            "a.py:1:1: a user rule is a `.yml` or a `.rhai` file",
        ),
    ] {
        let folder = folder(&[(name, text)]);
        for command in [&["config", "check"] as &[&str], &["serve"]] {
            let run = quadgate_in(folder.path(), command, "");
            assert_eq!(run.code, 2, "{command:?} {text}: {}", run.out);
            let wanted = format!("config/skills/classifier/{wanted}");
            assert!(run.err.contains(&wanted), "{command:?} {text}: {}", run.err);
        }
    }
}

#[test]
fn the_schema_of_rules_accepts_the_examples() {
    let schemas = quadgate::settings::schemas();
    let (_, schema) = schemas
        .iter()
        .find(|(stem, _)| *stem == "user_rule")
        .expect("a schema");
    let validator = jsonschema::validator_for(schema).expect("a schema");
    for (stem, name, text) in examples() {
        if Path::new(&name)
            .extension()
            .is_some_and(|ending| ending == "yml")
        {
            let first = "# yaml-language-server: $schema=../../schemas/user_rule.schema.json\n";
            assert!(text.starts_with(first), "{stem}");
            let value: Value = serde_yaml::from_str(&text).expect("YAML");
            assert!(validator.is_valid(&value), "{stem}");
        }
    }
    let wrong: Value =
        serde_yaml::from_str("{raise: A, because: x, when: {all: [{fil: {}}]}}").expect("YAML");
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn the_documentation_names_every_word_key_and_bound() {
    use quadgate::policy::user_rules::script::{
        CONSTANTS, FUNCTIONS, MAX_ARRAY, MAX_CALLS, MAX_DEPTH, MAX_MAP, MAX_OPERATIONS, MAX_STRING,
        MAX_VARIABLES, PROPERTIES,
    };
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/user-rules.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let words = CONSTANTS.iter().chain(&PROPERTIES).chain(&FUNCTIONS);
    let mut names: Vec<String> = words.map(ToString::to_string).collect();
    let schema = include_str!("../../schemas/user_rule.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let condition = &schema["$defs"]["Condition"]["properties"];
    for properties in [
        condition,
        &condition["file"]["properties"],
        &condition["commit"]["properties"],
    ] {
        names.extend(properties.as_object().expect("properties").keys().cloned());
    }
    for name in &names {
        let shown = page.split('`').skip(1).step_by(2).any(|code| {
            let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.any(|word| word == name)
        });
        assert!(shown, "`{name}` is not in docs/user-rules.md");
    }
    let thousands = |number: usize| match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", number / 1_000, number % 1_000),
    };
    let operations = usize::try_from(MAX_OPERATIONS).expect("small");
    for bound in [
        operations,
        MAX_STRING,
        MAX_ARRAY,
        MAX_MAP,
        MAX_VARIABLES,
        MAX_CALLS,
        MAX_DEPTH,
    ] {
        let cell = format!("| {} |", thousands(bound));
        assert!(
            page.contains(&cell),
            "`{cell}` is not in docs/user-rules.md"
        );
    }
}

#[test]
fn explain_shows_the_vote_of_a_user_rule() {
    let folder = folder(&[("long-name.rhai", "raise(D, \"seen by the owner\")")]);
    let facts = crate::cli::facts("README.md", "modified");
    write_files(folder.path(), &[("facts.json", &facts)]);
    let run = quadgate_in(folder.path(), &["explain", "--facts", "facts.json"], "");
    assert_eq!(run.code, 12, "{}", run.err);
    assert!(run.out.contains("D user.long-name"), "{}", run.out);
    assert!(run.out.contains("seen by the owner"), "{}", run.out);
    assert!(run.out.contains("(by the paths alone: "), "{}", run.out);
    let run = quadgate(&["config", "test"]);
    assert_eq!(run.code, 2);
}

const TYPO: (&str, &str, &str) = ("README.md", "# Teh widgets\n", "# The widgets\n");

/// A typo in a README, A by the built-in rules, judged by a server with this user rule.
async fn judged_with(name: &'static str, text: &str) -> (World, u64) {
    let mut world = World::arranged().await;
    world.config.insert(name, text.to_owned());
    world.serve().await.expect("the server starts");
    let (path, before, after) = TYPO;
    let number = world.github.open_pull(
        REPO,
        &PullSpec::new("Fix a typo").file(FileSpec::modified(path, before, after)),
    );
    world.settle().await;
    (world, number)
}

/// What the log says of the rule, and that verdict, check-run and Issue agree.
fn report(world: &World, number: u64, rule: &str) -> Value {
    let entries = world.log_of("classification");
    let entry = entries.last().expect("an entry");
    assert_eq!(entry["quadrant"], "D");
    let check = world.check(number);
    assert_eq!(check.conclusion.as_deref(), Some("failure"));
    assert!(check.title.contains('D'), "{}", check.title);
    assert!(check.summary.contains(rule), "{}", check.summary);
    let fired = entry["rules_fired"].as_array().expect("rules");
    assert_eq!(fired.len(), 9);
    let report = fired.last().expect("a report").clone();
    assert_eq!(report["rule"], rule);
    report
}

#[tokio::test]
async fn a_user_rule_raises_an_a_to_d_for_all_to_see() {
    let rule =
        "raise: D\nbecause: the owner reads every README\nwhen:\n  file: {path: [README*]}\n";
    let (world, number) = judged_with("skills/classifier/readme.yml", rule).await;
    let report = report(&world, number, "user.readme");
    let wanted = serde_json::json!({
        "rule": "user.readme", "result": "raise", "quadrant": "D",
        "reason": "the owner reads every README: README.md",
    });
    assert_eq!(report, wanted);
    let issue = world.issue();
    assert!(
        issue.body.contains("the owner reads every README"),
        "{}",
        issue.body
    );
    world.assert_clean().await;
}

#[tokio::test]
async fn a_bad_rule_is_refused_on_reload_and_the_old_one_stays() {
    let rule = |reason: &str| format!("raise(D, \"{reason}\")");
    let mut world = World::arranged().await;
    let name = "skills/classifier/rule.rhai";
    world.config.insert(name, rule("the first"));
    let program = Program::start(&world, None).await;
    let write = |text: &str| {
        write_files(&world.dir.path().join("config"), &[(name, text)]);
    };
    let reason = async || {
        let (path, before, after) = TYPO;

        let spec = PullSpec::new("Fix a typo").file(FileSpec::modified(path, before, after));
        let number = world.github.open_pull(REPO, &spec);
        for webhook in world.github.deliveries() {
            assert!(program.accepts(&world, &webhook).await);
        }
        program.finish(&world, &[number]).await;
        report(&world, number, "user.rule")["reason"].clone()
    };
    assert_eq!(reason().await, "the first");
    write("raise(D, facts.nmuber)");
    program.hang_up().await;
    program
        .until_it_says("rule.rhai:1:16: there is no property `nmuber`")
        .await;
    program.until_it_says("the old one stays in force").await;
    assert_eq!(reason().await, "the first");
    write(&rule("the second"));
    program.hang_up().await;
    program.until_it_says("the new policy is in force").await;
    assert_eq!(reason().await, "the second");
    program.stop().await;
}

#[tokio::test]
async fn a_rule_that_fails_on_real_facts_is_d_with_the_reason() {
    // The samples have no file of this name, so that these load; the bound is counted, not timed.
    for (what, reason) in [
        ("loop { }", "line 1: more than 200000 operations"),
        (
            "let s = \"0123456789\"; loop { s += s; }",
            "line 1: length of string is over its bound",
        ),
        (
            "let a = [0]; loop { a += a; }",
            "line 1: size of array/BLOB is over its bound",
        ),
        (
            "if facts.number > \"7\" { }",
            "line 1: a value of type integer cannot be compared with one of type string",
        ),
        ("throw \"on purpose\"", "line 1: on purpose"),
    ] {
        let text = format!("if facts.repo == \"{REPO}\" {{ {what} }}");
        let (world, number) = judged_with("skills/classifier/rule.rhai", &text).await;
        let report = report(&world, number, "user.rule");
        let wanted = serde_json::json!({
            "rule": "user.rule", "result": "error", "quadrant": "D", "reason": reason,
        });
        assert_eq!(report, wanted);
        world.assert_clean().await;
    }
}
