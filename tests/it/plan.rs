//! From facts over the verdict and the plan to the log: what stands on disk justifies what would be shown.

use super::classifier::{policy, with_files};
use quadgate::audit::{AuditLog, Options, log_files, verify};
use quadgate::domain::*;
use quadgate::inbox::ReceiptKey;
use quadgate::plan::render::{IssueOutcome, Language, finish_check_run};
use quadgate::plan::{EvaluationInput, Issues, Plan, evaluation};
use quadgate::rules;
use serde_json::{Value, json};

fn plan(facts: &Facts) -> Plan {
    let repo = RepoRef {
        id: RepoId(1_296_269),
        name: "octo-org/widgets".parse().unwrap(),
        installation: InstallationId(1),
    };
    let policy = policy();
    evaluation(&EvaluationInput {
        prior: None,
        repo: &repo,
        facts,
        verdict: &rules::evaluate(facts, &policy),
        title: "Run less often",
        url: "https://github.com/octo-org/widgets/pull/7",
        fingerprint: None,
        heard: None,
        shown: None,
        issue_lost: false,
        required_checks: &[],
        verifications: &[],
        evidence: None,
        issues: Issues::In(&repo),
        retry_refused: false,
        closed_by_hand: false,
        has_label: &|_, _| true,
        language: Language::En,
        passive_close_hours: Some(168),
        policy: &policy.digest,
        now: "2026-05-25T12:34:56Z".parse().unwrap(),
        nonce: "n0nce",
        key: &ReceiptKey::new(&[7; 32]).unwrap(),
        details_base: None,
        web_base: "https://github.com",
        delivery: None,
        version: "0.1.0",
    })
}

fn check_run(plan: &Plan) -> CheckRunEffect {
    let found = plan.effects.iter().find_map(|effect| match effect {
        Effect::CheckRun(check) => Some(check.clone()),
        _ => None,
    });
    found.expect("a check-run")
}

#[test]
fn a_workflow_beside_a_readme_is_asked_about_and_the_log_says_why() {
    let facts = with_files(&json!([
        {"path": ".github/workflows/ci.yml", "status": "modified", "additions": 1, "deletions": 1,
         "patch": "@@ -1 +1 @@\n-on: push\n+on: pull_request"},
        {"path": "README.md", "status": "modified", "additions": 1, "deletions": 1,
         "patch": "@@ -1,2 +1,2 @@\n-# Teh widgets\n+# The widgets\n text"},
    ]));
    let plan = plan(&facts);
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = AuditLog::open(dir.path(), Options::default()).unwrap();
    let kinds: Vec<_> = plan.entries.iter().map(|entry| entry.body.kind()).collect();
    assert_eq!(kinds, ["classification", "issue_opened"]);
    let witness = log.append(&plan.entries[0]).unwrap();
    assert_eq!(log.find_decision(&plan.decision_id), Some(&witness));

    let files = log_files(dir.path()).unwrap();
    assert_eq!(verify(&files, Some(&witness), |_| {}).unwrap().entries, 1);
    let line: Value = serde_json::from_slice(&std::fs::read(files[0].path()).unwrap()).unwrap();
    assert_eq!(line["quadrant"], "D");
    assert_eq!(line["pr"], "octo-org/widgets#7");
    let fired: Vec<&str> = line["rules_fired"]
        .as_array()
        .unwrap()
        .iter()
        .map(|report| report["rule"].as_str().unwrap())
        .collect();
    assert_eq!(fired[0], "path_classifier_default");
    assert!(
        fired.contains(&"empty_pr") && fired.contains(&"facts_incomplete"),
        "{fired:?}"
    );

    let url = "https://github.com/octo-org/widgets/issues/1".to_owned();
    let check = finish_check_run(check_run(&plan), &IssueOutcome::Opened { url }, &witness);
    assert_eq!(check.conclusion, Some(CheckConclusion::Failure));
    assert!(
        check.output.summary.contains(&witness.hash),
        "GitHub is a witness"
    );
    assert!(
        check
            .output
            .summary
            .contains("Without this one file the change would be **A**")
    );
    assert!(check.output.text.contains("`.github/workflows/ci.yml`"));
}

#[test]
fn facts_that_could_not_be_read_are_asked_about() {
    let mut facts = with_files(&json!([]));
    facts.files = Known::Unknown("HTTP 502".into());
    let plan = plan(&facts);
    let check = check_run(&plan);
    assert_eq!(check.conclusion, Some(CheckConclusion::Failure));
    assert!(
        check.output.text.contains("HTTP 502"),
        "{}",
        check.output.text
    );
}
