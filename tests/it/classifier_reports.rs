//! Faults that programs of this kind have had, as cases of ours. The numbers are those of the collection of
//! public bug reports they were drawn from.

use crate::classifier::{facts_with, policy, with_files};
use quadgate::domain::{AccountId, AppId, CheckRunId, Quadrant};
use quadgate::policy::Policy;
use quadgate::policy::Publisher;
use quadgate::policy::paths::{ClassifierRulesFile, Extends, PathPolicy};
use quadgate::rules::{self, label_provenance, trailers};
use serde_json::{Value, json};

const TRAILERS: &str = include_str!("data/classifier/trailers.json");
const LABELS: &str = include_str!("data/classifier/labels.json");

/// The lists that the path reports assume: everything is harmless but one glob.
fn only(glob: &str) -> Policy {
    let list = |glob: &str| vec![glob.to_owned()];
    let file = ClassifierRulesFile {
        extends: Extends::None,
        non_critical: list("**"),
        critical: list(glob),
        irreversible: list(glob),
        ..ClassifierRulesFile::default()
    };
    Policy {
        paths: PathPolicy::compile(&file).expect("compiles"),
        ..policy()
    }
}

fn edit(path: &str) -> Value {
    json!({"path": path, "status": "modified", "additions": 1, "patch": "@@ -1 +1,2 @@\n a\n+b"})
}

#[test]
fn path_001_to_004_both_sides_of_a_move_and_a_removal() {
    let policy = only("infra/**");
    let moved = |from: &str, to: &str| {
        rules::evaluate(
            &with_files(&json!([{"path": to, "previous_path": from, "status": "renamed"}])),
            &policy,
        )
    };
    let out = moved("infra/prod/main.tf", "docs/main.tf");
    assert_eq!(out.quadrant(), Quadrant::D);
    assert!(
        out.reasoning().contains("infra/prod/main.tf"),
        "{}",
        out.reasoning()
    );
    assert_eq!(
        moved("docs/main.tf", "infra/prod/main.tf").quadrant(),
        Quadrant::D
    );
    // The report expects A; here every rename is irreversible, because its old path vanishes.
    assert_eq!(moved("docs/a.md", "docs/b.md").quadrant(), Quadrant::C);
    let removed = with_files(&json!([{"path": "infra/prod/main.tf", "status": "removed"}]));
    assert_eq!(rules::evaluate(&removed, &policy).quadrant(), Quadrant::D);
}

#[test]
fn path_013_to_038_globs() {
    for (glob, path, wanted) in [
        (".github/**", ".github/workflows/ci.yml", Quadrant::D),
        ("*.{pem,key}", "monkey.rs", Quadrant::A),
        ("*.{pem,key}", "keyboard.txt", Quadrant::A),
        ("secrets/**", "secrets/a\nb.txt", Quadrant::D),
        ("secrets/**", "secrets/\t.txt", Quadrant::D),
        ("src/**/secret.rs", "src/secret.rs", Quadrant::D),
    ] {
        let verdict = rules::evaluate(&with_files(&json!([edit(path)])), &only(glob));
        assert_eq!(
            verdict.quadrant(),
            wanted,
            "{glob} {path:?}: {}",
            verdict.reasoning()
        );
        assert!(
            !verdict.reasoning().contains(['\n', '\t']),
            "one line a file"
        );
    }
    let renamed = with_files(
        &json!([{"path": "readme.md", "previous_path": "README.md", "status": "renamed"}]),
    );
    assert_eq!(
        rules::evaluate(&renamed, &only("README.md")).quadrant(),
        Quadrant::D
    );
}

#[test]
fn limits_001_to_008_lists_that_end_without_an_error() {
    let listed = |count: usize| {
        (0..count)
            .map(|at| edit(&format!("docs/{at}.md")))
            .collect::<Vec<_>>()
    };
    let commits = |count: usize| {
        (0..count)
            .map(|at| json!({"sha": format!("{at:040x}"), "message": "Fix\n\nAgent-Session: s_ab12-cd\n"}))
            .collect::<Vec<_>>()
    };
    let judge = |members: Value| rules::evaluate(&facts_with(&members), &policy());

    let short = judge(json!({"files": listed(3000), "changed_files": 3001}));
    assert_eq!(short.quadrant(), Quadrant::D);
    assert!(
        short.reasoning().contains("3001") && short.reasoning().contains("3000"),
        "{}",
        short.reasoning()
    );
    let whole = judge(json!({"files": listed(3000), "changed_files": 3000}));
    assert_eq!(whole.quadrant(), Quadrant::A);
    let renames: Vec<Value> = (0..1700)
        .map(|at| json!({"path": format!("docs/b{at}.md"), "previous_path": format!("docs/a{at}.md"), "status": "renamed"}))
        .collect();
    let renames = judge(json!({"files": renames, "changed_files": 1700}));
    assert_eq!(
        renames.quadrant(),
        Quadrant::C,
        "records are counted, not paths: {}",
        renames.reasoning()
    );
    let moved = judge(json!({"head_moved_to": "b".repeat(40)}));
    assert_eq!(moved.quadrant(), Quadrant::D);
    let mut twice = listed(3);
    twice.push(edit("docs/0.md"));
    let shifted = judge(json!({"files": twice, "changed_files": 4}));
    assert_eq!(
        shifted.quadrant(),
        Quadrant::D,
        "a file listed twice hides one that was not listed"
    );

    let short = judge(json!({"commits": commits(250), "commit_count": 251}));
    assert_eq!(short.quadrant(), Quadrant::D);
    assert!(
        short.reasoning().contains("251") && short.reasoning().contains("250"),
        "{}",
        short.reasoning()
    );
    assert_eq!(
        judge(json!({"commits": commits(250), "commit_count": 250})).quadrant(),
        Quadrant::A
    );
    let mut thirty_one = commits(31);
    thirty_one[30]["message"] = json!("Fix\n\nAgent-Session: BAD\n");
    assert_eq!(
        judge(json!({"commits": thirty_one, "commit_count": 31})).quadrant(),
        Quadrant::D
    );
}

#[test]
fn limits_028_ids_are_exact() {
    let facts = facts_with(&json!({
        "repo_id": 9_007_199_254_740_993_u64,
        "check_runs": [{"name": "x", "id": 34_026_156_645_u64, "app_id": 9_007_199_254_740_993_u64, "status": "completed"}]
    }));
    assert_eq!(facts.repo_id.map(|id| id.0), Some(9_007_199_254_740_993));
    let run = facts.check_runs.items().first().expect("a run");
    assert_eq!(
        (run.id, run.app_id),
        (
            Some(CheckRunId(34_026_156_645)),
            Some(AppId(9_007_199_254_740_993))
        )
    );
}

#[test]
fn trailer_reports() {
    let cases: Value = serde_json::from_str(TRAILERS).expect("cases");
    for case in cases.as_array().expect("a list") {
        let messages = case["messages"].as_array().expect("a list");
        let commits: Vec<Value> = messages
            .iter()
            .enumerate()
            .map(|(at, message)| json!({"sha": format!("{at:040x}"), "message": message}))
            .collect();
        let facts = facts_with(&json!({"commit_count": commits.len(), "commits": commits}));
        let verdict = rules::evaluate(&facts, &policy());
        let malformed = case["state"] == "malformed";
        assert_eq!(
            verdict.quadrant() == Quadrant::D,
            malformed,
            "{}: {}",
            case["id"],
            verdict.reasoning()
        );
        assert!(
            !verdict.reasoning().chars().any(char::is_control),
            "{}",
            case["id"]
        );
        let first = messages.first().and_then(Value::as_str).unwrap_or_default();
        let found = trailers::parse(first)
            .into_iter()
            .find(|trailer| trailer.is("Agent-Session"));
        match case["state"].as_str() {
            Some("valid") => assert_eq!(
                json!(found.map(|trailer| trailer.value)),
                case["value"],
                "{}",
                case["id"]
            ),
            Some("absent") => assert_eq!(found, None, "{}", case["id"]),
            _ => {}
        }
    }
}

#[test]
fn label_reports() {
    let cases: Value = serde_json::from_str(LABELS).expect("cases");
    let mut policy = policy();
    policy.owners.pinned = vec![("octo-owner".to_owned(), AccountId(1001))];
    policy.bot.app_slug = "classifier-app".to_owned();
    for case in cases.as_array().expect("a list") {
        let facts = facts_with(&case["facts"]);
        let provenance = label_provenance::honoured("decision:auto-revert", &facts, &policy);
        assert_eq!(
            json!(provenance.is_verified()),
            case["verified"],
            "{}: {provenance:?}",
            case["id"]
        );
        let wanted = if provenance.is_verified() {
            Quadrant::C
        } else {
            Quadrant::A
        };
        assert_eq!(
            rules::evaluate(&facts, &policy).quadrant(),
            wanted,
            "{}",
            case["id"]
        );
    }
}

#[test]
fn verdict_reports() {
    let mut policy = policy();
    policy.publisher = Some(Publisher {
        slug: "judgment-app".to_owned(),
        app_id: Some(AppId(42)),
    });
    let run = |slug: Option<&str>, id: Option<u64>, status: &str, title: Option<&str>| json!({"name": "classifier-judgment", "app_slug": slug, "app_id": id, "status": status, "title": title});
    let judge = |runs: Value| {
        rules::evaluate(&facts_with(&json!({"check_runs": runs})), &policy).quadrant()
    };
    let ours =
        |status: &str, title: Option<&str>| run(Some("judgment-app"), Some(42), status, title);
    let done = "completed";
    // 001 canonical; 002 another App; 004 the slug reused; 006 no App; 009 not finished
    assert_eq!(judge(json!([ours(done, Some("quadrant: B"))])), Quadrant::B);
    assert_eq!(
        judge(json!([run(
            Some("other-app"),
            Some(99),
            done,
            Some("quadrant: A")
        )])),
        Quadrant::D
    );
    assert_eq!(
        judge(json!([run(
            Some("judgment-app"),
            Some(4242),
            done,
            Some("quadrant: A")
        )])),
        Quadrant::D
    );
    assert_eq!(
        judge(json!([run(
            Some("judgment-app"),
            None,
            done,
            Some("quadrant: A")
        )])),
        Quadrant::D
    );
    assert_eq!(
        judge(json!([run(
            Some("renamed-app"),
            Some(42),
            done,
            Some("quadrant: A")
        )])),
        Quadrant::D
    );
    assert_eq!(
        judge(json!([run(None, None, done, Some("quadrant: A"))])),
        Quadrant::D
    );
    assert_eq!(
        judge(json!([ours("in_progress", Some("quadrant: D"))])),
        Quadrant::A
    );
    // 010 a pending run abstains for itself only: the finished one keeps its vote
    assert_eq!(
        judge(json!([
            ours(done, Some("quadrant: B")),
            ours("queued", None)
        ])),
        Quadrant::B
    );
    // 011 the maximum, in either order
    assert_eq!(
        judge(json!([
            ours(done, Some("quadrant: A")),
            ours(done, Some("quadrant: D"))
        ])),
        Quadrant::D
    );
    assert_eq!(
        judge(json!([
            ours(done, Some("quadrant: D")),
            ours(done, Some("quadrant: A"))
        ])),
        Quadrant::D
    );
    // 031 a list known to be incomplete is unknown
    assert_eq!(
        judge(json!({"unknown": "1 of 150 check-runs listed"})),
        Quadrant::D
    );
    // 047 the bot's own repository, whatever the case
    let mut own = policy.clone();
    own.bot.repo = "octo-org/classifier-bot".parse().expect("a name");
    let facts = facts_with(&json!({"repo": "Octo-Org/Classifier-Bot"}));
    assert_eq!(rules::evaluate(&facts, &own).quadrant(), Quadrant::D);
    // nobody is the publisher: nobody may use the name
    own.publisher = None;
    let facts = facts_with(&json!({"check_runs": [ours(done, Some("quadrant: A"))]}));
    assert_eq!(rules::evaluate(&facts, &own).quadrant(), Quadrant::D);
}
