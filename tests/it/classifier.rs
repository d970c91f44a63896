//! The classifier against its case files, and the promises that hold for every input.

use quadgate::domain::{Axes, Facts, FileChange, FileStatus, Known, Quadrant};
use quadgate::policy::{Bot, Owners, Policy, Publisher};
use quadgate::rules::{self, Verdict};
use serde_json::{Value, json};
use std::sync::LazyLock;

const CASES: &str = include_str!("data/classifier/cases.json");
const RULE_CASES: &str = include_str!("data/classifier/rules.json");
const DOCS: &str = include_str!("../../docs/rules.md");

/// Compiled once: what the tests share.
static BUILT_IN: LazyLock<Policy> = LazyLock::new(|| Policy::built_in().expect("built in"));

/// The policy that the case files assume.
pub(crate) fn policy() -> Policy {
    Policy {
        owners: Owners {
            logins: vec!["octo-owner".to_owned()],
            pinned: Vec::new(),
        },
        bot: Bot {
            app_slug: "quadgate-test".to_owned(),
            repo: "octo-org/bot".parse().expect("a name"),
            repo_id: None,
        },
        publisher: Some(Publisher {
            slug: "github-actions".to_owned(),
            app_id: None,
        }),
        digest: "sha256:test".to_owned(),
        ..BUILT_IN.clone()
    }
}

/// A pull request that is A by everything: a typo in a README.
pub(crate) fn quiet_facts() -> Value {
    json!({
        "repo": "octo-org/widgets", "repo_id": 1_296_269, "number": 7, "author": "octocat", "base_ref": "main",
        "base_sha": "f".repeat(40), "head_sha": "0123456789abcdef0123456789abcdef01234567",
        "head_since": "2026-05-25T12:00:00Z", "changed_files": 1, "commit_count": 1,
        "files": [{"path": "README.md", "status": "modified", "additions": 1, "deletions": 1,
                   "patch": "@@ -1,2 +1,2 @@\n-# Teh widgets\n+# The widgets\n text"}],
        "commits": [{"sha": "0".repeat(40), "message": "Change a thing\n"}]
    })
}

pub(crate) fn facts_with(members: &Value) -> Facts {
    let mut facts = quiet_facts();
    for (key, value) in members.as_object().expect("an object") {
        facts[key] = value.clone();
    }
    read(&facts)
}

pub(crate) fn read(facts: &Value) -> Facts {
    Facts::from_json(facts.to_string().as_bytes()).expect("readable facts")
}

pub(crate) fn with_files(files: &Value) -> Facts {
    facts_with(&json!({"files": files, "changed_files": files.as_array().map_or(0, Vec::len)}))
}

fn quadrant(text: &Value) -> Quadrant {
    serde_json::from_value(text.clone()).expect("a quadrant")
}

#[test]
fn every_case_has_its_quadrant_and_axes() {
    let document: Value = serde_json::from_str(CASES).expect("cases");
    let policy = policy();
    let mut wrong = Vec::new();
    let cases = document["cases"].as_array().expect("a list");
    for case in cases {
        let verdict = rules::evaluate(&read(&case["given"]), &policy);
        let expect = &case["expect"];
        let wanted = quadrant(&expect["quadrant"]);
        let mut right = if expect["min"] == json!(true) {
            verdict.quadrant() >= wanted
        } else {
            verdict.quadrant() == wanted
        };
        let axes = serde_json::to_value(verdict.axes()).expect("writes");
        for axis in ["ir", "cr"] {
            right &= expect[axis].is_null() || axes[axis] == expect[axis];
        }
        if !right {
            wrong.push(format!(
                "{}: {} ({axes}), {}",
                case["id"],
                verdict.quadrant(),
                verdict.reasoning()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases.len() > 70, "only {} cases", cases.len());
}

#[test]
fn every_rule_is_reported_in_chain_order_and_documented() {
    let verdict = rules::evaluate(&read(&quiet_facts()), &policy());
    let ids: Vec<&str> = rules::BUILT_IN.iter().map(|rule| rule.id).collect();
    let fired: Vec<&str> = verdict
        .rules_fired()
        .iter()
        .map(|report| report.rule.as_str())
        .collect();
    assert_eq!(fired, ids);
    assert_eq!(
        ids,
        [
            "path_classifier_default",
            "published_verdict",
            "bot_self_repo",
            "empty_pr",
            "auto_revert_marker",
            "agent_session_invalid",
            "classifier_publisher_invalid",
            "facts_incomplete",
        ]
    );
    let cases: Value = serde_json::from_str(RULE_CASES).expect("rule cases");
    let documented = |id: &str| DOCS.lines().any(|line| line == format!("## {id}"));
    for id in ids {
        assert!(documented(id), "docs/rules.md has no heading `## {id}`");
        for kind in ["fires", "quiet", "unknown"] {
            assert!(
                cases[id][kind].is_object(),
                "rules.json has no case {id}.{kind}"
            );
        }
    }
}

#[test]
fn every_rule_fires_stays_quiet_and_meets_the_unknown() {
    let cases: Value = serde_json::from_str(RULE_CASES).expect("rule cases");
    for (rule, kinds) in cases.as_object().expect("an object") {
        for (kind, case) in kinds.as_object().expect("an object") {
            let name = format!("{rule}.{kind}");
            let mut policy = policy();
            if let Some(id) = case["bot_repo_id"].as_u64() {
                policy.bot.repo_id = Some(quadgate::domain::RepoId(id));
            }
            let verdict = rules::evaluate(&facts_with(&case["facts"]), &policy);
            assert_eq!(
                verdict.quadrant(),
                quadrant(&case["quadrant"]),
                "{name}: {}",
                verdict.reasoning()
            );
            let report = verdict
                .rules_fired()
                .iter()
                .find(|report| report.rule.as_str() == rule)
                .expect("reported");
            let vote = report
                .finding
                .vote()
                .map_or(Value::Null, |vote| json!(vote));
            assert_eq!(vote, case["vote"], "{name}");
            let seen = report.finding.reason().unwrap_or_default();
            let wanted = case["reason"].as_str().unwrap_or_default();
            assert!(
                seen.contains(wanted),
                "{name}: `{seen}` does not say `{wanted}`"
            );
        }
    }
}

#[test]
fn the_audit_entry_of_the_protocol_is_reproduced() {
    let facts = with_files(&json!([{
        "path": "src/multiagent_protocol/pr_validator.py", "status": "modified", "additions": 1, "deletions": 1,
        "patch": "@@ -10,2 +10,2 @@\n-rows = []\n+rows = list()\n pass"
    }]));
    let verdict = rules::evaluate(&facts, &policy());
    assert_eq!(
        verdict.reasoning(),
        "src/multiagent_protocol/pr_validator.py modified (critical); revertable file edit (reversible)"
    );
    let fired = serde_json::to_value(verdict.rules_fired()).expect("writes");
    assert_eq!(
        fired[0],
        json!({"rule": "path_classifier_default", "ir": "reversible", "cr": "critical", "quadrant": "B"})
    );
    assert_eq!(
        fired[1],
        json!({"rule": "published_verdict", "match": false})
    );
    assert_eq!(fired[3], json!({"rule": "empty_pr", "match": false}));
}

fn verdict_of(files: &Value) -> Verdict {
    rules::evaluate(&with_files(files), &policy())
}

#[test]
fn the_reasoning_names_the_worst_first_and_counts_the_rest() {
    let mut files = vec![
        json!({"path": "README.md", "status": "modified", "additions": 1, "deletions": 0, "patch": "@@ -1 +1,2 @@\n a\n+b"}),
    ];
    for at in 0..2_000 {
        files.push(json!({"path": format!("src/m{at}.x"), "status": "modified", "additions": 1, "deletions": 0, "patch": "@@ -1 +1,2 @@\n a\n+b"}));
    }
    files.push(json!({"path": "db/migrations/1.sql", "status": "removed", "additions": 0, "deletions": 1, "patch": "@@ -1 +0,0 @@\n-a"}));
    let verdict = verdict_of(&json!(files));
    assert_eq!(
        verdict.reasoning(),
        "db/migrations/1.sql removed, src/m0.x modified, src/m1.x modified and 1998 more (critical); \
         db/migrations/1.sql: file removed (irreversible)"
    );
    assert_eq!(verdict.files().len(), 2_002);
}

#[test]
fn a_rule_above_the_paths_stands_first_in_the_reasoning() {
    let facts = facts_with(&json!({"changed_files": 3001}));
    let verdict = rules::evaluate(&facts, &policy());
    assert_eq!(
        verdict.reasoning(),
        "facts_incomplete: 1 files listed, the pull request says it changes 3001; \
         README.md modified (non-critical); revertable file edit (reversible)"
    );
}

#[test]
fn rows_say_what_decided_each_axis() {
    let verdict = verdict_of(&json!([
        {"path": ".github/workflows/ci.yml", "status": "modified", "additions": 1, "deletions": 0, "patch": "@@ -1 +1,2 @@\n a\n+b"},
        {"path": "examples/a.py", "previous_path": "config/a.yml", "status": "renamed"},
        {"path": "lib/x.rb", "status": "added", "additions": 1, "deletions": 0,
         "patch": format!("@@ -0,0 +1 @@\n+key = '{}{}'", "ghp_", "a".repeat(36))}
    ]));
    let rows = serde_json::to_value(verdict.files()).expect("writes");
    assert_eq!(rows[0]["cr_because"], "critical: .github/workflows/**");
    assert_eq!(rows[0]["ir_because"], "irreversible: .github/workflows/**");
    assert_eq!(rows[1]["cr_because"], "critical: config/**");
    assert_eq!(rows[1]["ir_because"], "file renamed, its old path vanishes");
    assert_eq!(rows[2]["cr_because"], "no list names it");
    assert_eq!(
        rows[2]["ir_because"],
        "an added line looks like a secret: GitHub token"
    );
    assert!(
        !verdict.reasoning().contains("ghp_"),
        "a secret is not repeated"
    );
}

#[test]
fn no_name_forges_a_second_line() {
    let verdict = verdict_of(&json!([
        {"path": "secrets/a\nQuadrant: A\u{2028}\u{1b}[2J.txt", "status": "mod\nified", "additions": 1, "deletions": 0, "patch": "@@ -1 +1,2 @@\n a\n+b"}
    ]));
    assert_eq!(verdict.quadrant(), Quadrant::D);
    let text = serde_json::to_string(verdict.files()).expect("writes") + verdict.reasoning();
    assert!(!text.chars().any(|c| c.is_control() || c == '\u{2028}'));
}

/// Ways to slip something past the path rule, and the least that must come of each.
#[test]
fn tricks_do_not_lower_a_change() {
    let edit = "@@ -1 +1,2 @@\n a\n+b";
    let at_least = |path: &str, wanted: Quadrant| {
        let verdict = verdict_of(
            &json!([{"path": path, "status": "modified", "additions": 1, "deletions": 0, "patch": edit}]),
        );
        assert!(
            verdict.quadrant() >= wanted,
            "{path:?}: {}",
            verdict.reasoning()
        );
    };
    for path in [
        ".GITHUB/workflows/ci.yml",
        ".github/Workflows/ci.yml",
        "docs/../.github/workflows/ci.yml",
        "examples/.github/workflows/ci.yml",
        "examples/my-action/action.yml",
        "docs/CODEOWNERS",
        "docs/codeowners",
        "tests/CODEOWNERS",
        ".github/workflows",
        ".github\\workflows\\ci.yml",
        "schemas",
        "bot-state/x",
        "config/owner.YML",
        ".github/workflows/README.md",
        "config/skills/classifier/x.yml",
        ".github/work\u{200b}flows/ci.yml",
        "app/.ENV",
        "deploy/prod.tfvars",
        "CONFIG/agent_registry.yaml",
        "x/db/migrate/1.rb",
        "server.PEM",
    ] {
        at_least(path, Quadrant::D);
    }
    for path in [
        "Examples/run.py",
        "examples/../src/run.py",
        "examples/./run.py",
        "examples//run.py",
        "src/README.py",
        "README.md/../src/a.py",
        "docs/Concepts/a.md",
        "tests/test_a.py",
        "src/multiagent_protocol/README.md",
        "SRC/multiagent_protocol/x.py",
        "licensE",
        "docs\\a.md",
        "readme.md",
    ] {
        at_least(path, Quadrant::B);
    }
    for path in [
        "examples/app/.env.local",
        "docs/id_rsa",
        "examples/k8s/a.yaml",
        "examples/x.sql",
    ] {
        at_least(path, Quadrant::C);
    }
}

#[test]
fn a_diff_that_was_not_wholly_seen_is_irreversible() {
    let case = |path: &str, additions: u64, deletions: u64, patch: Option<&str>| {
        verdict_of(&json!([{"path": path, "status": "modified", "additions": additions, "deletions": deletions, "patch": patch}])).quadrant()
    };
    assert_eq!(
        case("src/a.py", 1, 0, Some("@@ -1 +1,2 @@\n a\n+b")),
        Quadrant::B
    );
    for (additions, deletions, patch) in [
        (9_000, 0, None),
        (1, 0, Some("")),
        (2, 0, Some("@@ -1 +1,2 @@\n a\n+b")),
        (0, 0, Some("@@ -1 +1,3 @@\n a\n+b")),
        (0, 0, Some("@@ -1,5 +1,5 @@\n-a\n+b\n c")),
        (1, 0, Some("+b")),
        (1, 0, Some("@@ nonsense @@\n+b")),
        (1, 0, Some("@@ -1 +1,2 @@\n a\n+b\n[truncated]")),
    ] {
        assert_eq!(
            case("src/a.py", additions, deletions, patch),
            Quadrant::D,
            "{additions} {deletions} {patch:?}"
        );
        assert_eq!(
            case("examples/a.py", additions, deletions, patch),
            Quadrant::C,
            "{additions} {deletions} {patch:?}"
        );
    }
    assert_eq!(case("docs/a.png", 0, 0, None), Quadrant::A);
    assert_eq!(
        case("docs/a.png", 4_000, 0, None),
        Quadrant::C,
        "text that calls itself a picture"
    );
    assert_eq!(
        case("docs/a.svg", 0, 0, None),
        Quadrant::C,
        "a drawing is a program"
    );
    let pin = format!(
        "@@ -1 +1 @@\n-Subproject commit {}\n+Subproject commit {}",
        "a".repeat(40),
        "b".repeat(40)
    );
    assert_eq!(
        case("examples/lib", 1, 1, Some(&pin)),
        Quadrant::D,
        "nobody sees what is behind a pin"
    );
}

#[test]
fn narrowing_needs_both_paths_and_widening_either() {
    let renamed = |from: &str, to: &str| {
        verdict_of(&json!([{"path": to, "previous_path": from, "status": "renamed"}])).quadrant()
    };
    assert_eq!(renamed("examples/a.py", "examples/b.py"), Quadrant::C);
    assert_eq!(renamed("src/a.py", "examples/a.py"), Quadrant::D);
    assert_eq!(renamed("examples/a.py", "src/a.py"), Quadrant::D);
    assert_eq!(renamed("docs/a.md", "docs/guide/a.md"), Quadrant::C);
    let copied = verdict_of(
        &json!([{"path": "examples/ci.yml", "previous_path": ".github/workflows/ci.yml", "status": "copied",
        "additions": 1, "deletions": 0, "patch": "@@ -1 +1,2 @@\n a\n+b"}]),
    );
    assert_eq!(copied.quadrant(), Quadrant::D, "copies count by both paths");
}

#[test]
fn documents_examples_and_tests_follow_the_protocol() {
    use Quadrant::{A, B, C, D};
    let edit = |path: &str, status: &str, old: &str, new: &str| {
        let (additions, deletions) = (u64::from(!new.is_empty()), u64::from(!old.is_empty()));
        let mut patch = format!("@@ -1,{} +1,{} @@\n x", deletions + 1, additions + 1);
        if !old.is_empty() {
            patch.extend(["\n-", old]);
        }
        if !new.is_empty() {
            patch.extend(["\n+", new]);
        }
        verdict_of(&json!([{"path": path, "status": status, "additions": additions, "deletions": deletions, "patch": patch}]))
            .quadrant()
    };
    for (path, status, old, new, wanted) in [
        (
            "docs/guide/setup.md",
            "modified",
            "Click the knob.",
            "Click the button below it.",
            A,
        ),
        (
            "docs/guide/setup.md",
            "modified",
            "Owners may answer.",
            "Owners must answer.",
            B,
        ),
        (
            "docs/guide/setup.md",
            "modified",
            "Wait a little.",
            "Wait 5 seconds.",
            B,
        ),
        (
            "docs/guide/ko.md",
            "modified",
            "기다린다.",
            "반드시 기다린다.",
            B,
        ),
        ("docs/guide/setup.md", "removed", "You must wait.", "", C),
        (
            "docs/intro.md",
            "modified",
            "You may wait.",
            "You must wait.",
            A,
        ),
        (
            "docs/concepts/a.md",
            "modified",
            "A reversible chnage.",
            "A reversible change.",
            A,
        ),
        (
            "docs/concepts/a.md",
            "modified",
            "A reversible change.",
            "An irreversible change.",
            B,
        ),
        ("docs/concepts/a.md", "added", "", "New words.", B),
        ("docs/concepts/a.md", "removed", "Old words.", "", D),
        ("docs/decisions/0001-x.md", "added", "", "We decided.", A),
        (
            "docs/decisions/0001-x.md",
            "modified",
            "We decided.",
            "We did not.",
            B,
        ),
        ("docs/decisions/0001-x.md", "removed", "We decided.", "", D),
        ("tests/new_test.rs", "added", "", "ok", A),
        ("pkg/__tests__/a.js", "added", "", "ok", A),
        ("pkg/__tests__/a.js", "modified", "ok", "okay", B),
        ("pkg/sub/README.md", "modified", "ok", "okay", A),
        ("pkg/CHANGELOG.md", "modified", "ok", "okay", A),
        (
            "src/multiagent_protocol/new.py",
            "added",
            "",
            "rows = []",
            B,
        ),
        (
            "src/multiagent_protocol/skills/new.py",
            "added",
            "",
            "rows = []",
            D,
        ),
        (
            "src/multiagent_protocol/skills/old.py",
            "modified",
            "rows = []",
            "rows = list()",
            B,
        ),
        (
            "src/multiagent_protocol/x.py",
            "modified",
            "if is_owner(login):",
            "if True:",
            D,
        ),
        (
            "src/app/x.py",
            "modified",
            "a",
            "client.chat_postMessage(channel=c)",
            D,
        ),
        (
            "src/app/x.py",
            "modified",
            "await fetch(webhookUrl)",
            "b",
            B,
        ),
        (
            "src/app/x.py",
            "modified",
            "a",
            "await fetch(webhookUrl)",
            D,
        ),
        (
            "examples/x.py",
            "modified",
            "a",
            "await fetch(webhookUrl)",
            A,
        ),
        ("LICENSE", "removed", "a", "", D),
    ] {
        assert_eq!(
            edit(path, status, old, new),
            wanted,
            "{status} {path}: {old} -> {new}"
        );
    }
}

/// A small generator of changes, so that the promises below meet all kinds of files.
mod arbitrary {
    use super::*;
    use proptest::prelude::*;

    pub(super) fn file() -> impl Strategy<Value = FileChange> {
        let path = proptest::sample::select(vec![
            "README.md",
            "examples/a.py",
            "docs/a.md",
            "docs/guide/a.md",
            "docs/concepts/a.md",
            "src/a.rs",
            "tests/a.rs",
            ".github/workflows/ci.yml",
            "config/owner.yml",
            "db/migrations/1.sql",
            "docs/logo.png",
            "\u{e9}/\u{202e}x",
            "src/multiagent_protocol/x.py",
            "a//b",
            "",
            "..",
            "x\n.md",
        ]);
        let status = proptest::sample::select(vec![
            "added",
            "modified",
            "removed",
            "renamed",
            "copied",
            "changed",
            "unchanged",
            "odd",
        ]);
        let previous = proptest::option::of(proptest::sample::select(vec![
            "docs/b.md",
            "src/b.rs",
            "examples/b",
        ]));
        let diff = proptest::option::of(proptest::sample::select(vec![
            "@@ -1 +1 @@\n-a\n+b",
            "@@ -1 +1 @@\n-a\n+smtplib.SMTP()",
            "@@ -1 +1 @@\n-must\n+merge",
            "nonsense",
            "@@ -1,9 +1 @@\n-a",
        ]));
        (path, status, previous, diff, 0_u64..3).prop_map(
            |(path, status, previous, diff, count)| FileChange {
                path: path.to_owned(),
                previous_path: previous.map(str::to_owned),
                status: FileStatus::from(status.to_owned()),
                additions: count,
                deletions: count.min(1),
                patch: diff.map(str::to_owned),
                base_content: None,
                head_content: None,
            },
        )
    }

    pub(super) fn facts(files: Vec<FileChange>) -> Facts {
        let mut facts = read(&quiet_facts());
        facts.changed_files = files.len() as u64;
        facts.files = Known::Known(files);
        facts
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

    #[test]
    fn adding_a_file_never_lowers_an_axis(
        files in proptest::collection::vec(arbitrary::file(), 1..6),
        more in arbitrary::file(),
    ) {
        let policy = policy();
        let before = rules::evaluate(&arbitrary::facts(files.clone()), &policy).axes().expect("files");
        let mut grown = files;
        grown.push(more);
        let after = rules::evaluate(&arbitrary::facts(grown), &policy).axes().expect("files");
        proptest::prop_assert_eq!(before.or(after), after);
    }

    #[test]
    fn the_order_of_files_does_not_matter(files in proptest::collection::vec(arbitrary::file(), 1..6)) {
        let policy = policy();
        let forth = rules::evaluate(&arbitrary::facts(files.clone()), &policy);
        let back = rules::evaluate(&arbitrary::facts(files.into_iter().rev().collect()), &policy);
        proptest::prop_assert_eq!(forth.quadrant(), back.quadrant());
        proptest::prop_assert_eq!(forth.axes(), back.axes());
    }

    #[test]
    fn the_same_input_gives_the_same_bytes_in_one_line(files in proptest::collection::vec(arbitrary::file(), 0..6)) {
        let facts = arbitrary::facts(files);
        let (policy_a, policy_b) = (policy(), policy());
        let first = serde_json::to_string(&rules::evaluate(&facts, &policy_a)).expect("writes");
        let second = serde_json::to_string(&rules::evaluate(&facts, &policy_b)).expect("writes");
        proptest::prop_assert_eq!(&first, &second);
        let verdict = rules::evaluate(&facts, &policy_a);
        proptest::prop_assert!(!verdict.reasoning().is_empty());
        proptest::prop_assert!(!verdict.reasoning().chars().any(char::is_control));
        proptest::prop_assert!(verdict.reasoning().len() < 4_000);
    }

    #[test]
    fn the_change_is_the_fold_of_its_files(files in proptest::collection::vec(arbitrary::file(), 1..6)) {
        let verdict = rules::evaluate(&arbitrary::facts(files), &policy());
        let folded = verdict.files().iter().fold(Axes::LOWEST, |axes, row| axes.or(row.axes));
        proptest::prop_assert_eq!(verdict.axes(), Some(folded));
        proptest::prop_assert!(verdict.quadrant() >= folded.quadrant());
    }
}
