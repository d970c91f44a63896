//! Effects: each finds its own earlier work, nothing that creates is sent twice.

use crate::github_client_stub::*;
use quadgate::domain::{
    CheckAction, CheckConclusion, CheckOutput, CheckRunEffect, CheckRunId, CommentEffect,
    CommentId, CommentMode, Effect, IssueKind, IssueNumber, LabelSpec, OpenIssueEffect, Outcome,
    PullNumber,
};
use quadgate::github::{ApiError, Seen};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const RUNS_OF_HEAD: &str =
    "/repos/octo-org/widgets/commits/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/check-runs";
const RUNS: &str = "/repos/octo-org/widgets/check-runs";
const ISSUES: &str = "/repos/octo-org/widgets/issues";
const COMMENTS: &str = "/repos/octo-org/widgets/issues/7/comments";

fn check_run() -> CheckRunEffect {
    CheckRunEffect {
        repo: repo(),
        head_sha: sha('a'),
        name: "L1.C3".into(),
        external_id: "key-1".into(),
        known: None,
        conclusion: Some(CheckConclusion::Failure),
        output: CheckOutput {
            title: "D".into(),
            summary: "🚀".repeat(16_384),
            annotations: Vec::new(),
            text: String::new(),
        },
        actions: vec![
            CheckAction {
                label: "a label of more than twenty".into(),
                description: "d".into(),
                identifier: "approve".into(),
            };
            4
        ],
        details_url: None,
        names_issue: false,
    }
}

fn run_json(id: u64, app: u64, key: &str) -> Value {
    json!({"id": id, "name": "L1.C3", "status": "completed", "conclusion": "success", "external_id": key,
           "app": {"id": app, "slug": "x"}, "output": {}})
}

#[tokio::test]
async fn a_check_run_whose_answer_was_lost_is_found_again() {
    let made: Arc<Mutex<Vec<Value>>> = Arc::default();
    let runs = made.clone();
    let stub = Stub::start(move |request| {
        let mut runs = runs.lock().expect("whole");
        if request.is("POST", RUNS) {
            let key = request.body["external_id"]
                .as_str()
                .expect("a key")
                .to_owned();
            runs.push(run_json(34_026_156_645, APP, &key));
            return Some(text(502, "<html>"));
        }
        if request.is("GET", RUNS_OF_HEAD) {
            let others = [run_json(1, 15_368, "key-1"), run_json(2, APP, "key-0")];
            let all: Vec<Value> = others.into_iter().chain(runs.iter().cloned()).collect();
            return ok(json!({"total_count": all.len(), "check_runs": all}));
        }
        request
            .is("PATCH", &format!("{RUNS}/34026156645"))
            .then(|| json_of(200, &json!({})))
    })
    .await;
    let github = stub.client();
    let effect = Effect::CheckRun(check_run());
    let error = github.apply(&effect).await.expect_err("502");
    assert!(matches!(error, ApiError::Transient { .. }), "{error:?}");
    assert_eq!(stub.count("POST", RUNS), 1, "not repeated blindly");
    let outcome = github.apply(&effect).await.expect("found");
    assert_eq!(
        outcome,
        Outcome::CheckRun {
            id: CheckRunId(34_026_156_645)
        }
    );
    assert_eq!(made.lock().expect("whole").len(), 1);

    let sent = stub.requests().pop().expect("the PATCH").body;
    let summary = sent["output"]["summary"].as_str().expect("text");
    assert!(summary.len() <= 65_535 && summary.contains("truncated"));
    assert!(sent["output"].get("text").is_none());
    assert_eq!(sent["actions"].as_array().map(Vec::len), Some(3));
    assert_eq!(sent["actions"][0]["label"], "a label of more than");
    assert_eq!(
        (&sent["status"], &sent["conclusion"]),
        (&json!("completed"), &json!("failure"))
    );
}

#[tokio::test]
async fn a_known_check_run_is_patched_and_looked_for_when_it_is_gone() {
    let stub = Stub::start(|request| {
        if request.is("PATCH", &format!("{RUNS}/5")) {
            return ok(json!({}));
        }
        if request.is("GET", RUNS_OF_HEAD) {
            return ok(json!({"total_count": 0, "check_runs": []}));
        }
        request
            .is("POST", RUNS)
            .then(|| json_of(201, &json!({"id": 8})))
    })
    .await;
    let github = stub.client();
    let mut wanted = check_run();
    wanted.known = Some(CheckRunId(5));
    let outcome = github
        .apply(&Effect::CheckRun(wanted.clone()))
        .await
        .expect("patched");
    assert_eq!(outcome, Outcome::CheckRun { id: CheckRunId(5) });
    assert_eq!(stub.calls().len(), 1);

    wanted.known = Some(CheckRunId(6));
    wanted.conclusion = None;
    let outcome = github.apply(&Effect::CheckRun(wanted)).await.expect("made");
    assert_eq!(outcome, Outcome::CheckRun { id: CheckRunId(8) });
    let sent = stub.requests().pop().expect("the POST").body;
    assert_eq!(sent["head_sha"], sha('a').as_str());
    assert_eq!(sent["status"], "in_progress");
    assert!(sent.get("conclusion").is_none());
}

#[tokio::test]
async fn what_was_just_read_is_not_read_again() {
    let stub = Stub::start(|request| {
        if request.is("PATCH", &format!("{RUNS}/3")) {
            return ok(json!({}));
        }
        request
            .is("POST", RUNS)
            .then(|| json_of(201, &json!({"id": 9})))
    })
    .await;
    let github = stub.client();
    let facts = |runs: Value| -> quadgate::domain::Facts {
        serde_json::from_value(json!({"repo": "octo-org/widgets", "number": 7, "base_ref": "main", "base_sha": sha('b'),
            "head_sha": sha('a'), "changed_files": 0, "commit_count": 0, "check_runs": runs}))
        .expect("facts")
    };
    let ours = json!([{"name": "L1.C3", "id": 3, "app_id": APP, "status": "completed", "external_id": "key-1"}]);
    let seen = github.seen(&facts(ours));
    let effect = Effect::CheckRun(check_run());
    let outcome = github.apply_with(&effect, &seen).await.expect("patched");
    assert_eq!(outcome, Outcome::CheckRun { id: CheckRunId(3) });
    let seen = github.seen(&facts(json!([])));
    let outcome = github.apply_with(&effect, &seen).await.expect("made");
    assert_eq!(outcome, Outcome::CheckRun { id: CheckRunId(9) });
    assert_eq!(stub.calls().len(), 2);
    // Unknown is not empty: GitHub is asked.
    let seen = github.seen(&facts(json!({"unknown": "HTTP 502"})));
    assert!(github.apply_with(&effect, &seen).await.is_err());
    assert!(github.apply_with(&effect, &Seen::nothing()).await.is_err());
}

#[tokio::test]
async fn a_refused_check_run_is_an_error() {
    let stub = Stub::start(|request| match request.method.as_str() {
        "GET" => ok(json!({"total_count": 0, "check_runs": []}))
            .filter(|_| request.is("GET", RUNS_OF_HEAD)),
        _ if request.is("POST", RUNS) => Some(
            json_of(
                403,
                &json!({"message": "Resource not accessible by integration"}),
            )
            .with("x-accepted-github-permissions", "checks=write"),
        ),
        _ => None,
    })
    .await;
    let error = stub
        .client()
        .apply(&Effect::CheckRun(check_run()))
        .await
        .expect_err("refused");
    assert!(error.to_string().contains("checks=write"), "{error}");
}

fn issue_effect() -> Effect {
    Effect::OpenIssue(OpenIssueEffect {
        repo: repo(),
        key: "k-1".into(),
        kind: IssueKind::PendingOwner,
        title: "Decision pending: octo-org/widgets#7".into(),
        body: "text\n<!-- quadgate:key=k-1 -->".into(),
        labels: vec!["decision:pending-owner".into()],
        head_sha: sha('a'),
        nonce: None,
    })
}

fn issue_json(number: u64, author: &str, kind: &str, state: &str) -> Value {
    json!({"number": number, "state": state, "user": {"login": author, "id": 1, "type": kind},
           "body": "text\r\n<!-- quadgate:key=k-1 -->", "created_at": "2026-05-25T12:00:00Z", "html_url": "u"})
}

#[tokio::test]
async fn an_issue_is_found_by_its_marker_and_author() {
    let bot = "quadgate-test[bot]";
    let cases = [
        (
            vec![
                issue_json(3, bot, "Bot", "closed"),
                issue_json(2, bot, "Bot", "open"),
            ],
            2,
        ),
        (vec![issue_json(3, bot, "Bot", "closed")], 3),
        (
            vec![
                issue_json(3, "mallory", "User", "open"),
                issue_json(4, bot, "User", "open"),
            ],
            99,
        ),
        (vec![], 99),
    ];
    for (listed, number) in cases {
        let stub = Stub::start(move |request| {
            if request.is("GET", ISSUES) {
                assert_eq!(request.param("creator"), Some("quadgate-test%5Bbot%5D"));
                assert_eq!(request.param("state"), Some("all"));
                return ok(Value::Array(listed.clone()));
            }
            request
                .is("POST", ISSUES)
                .then(|| json_of(201, &issue_json(99, bot, "Bot", "open")))
        })
        .await;
        let outcome = stub.client().apply(&issue_effect()).await.expect("open");
        let Outcome::Issue {
            number: is,
            opened_at,
            ..
        } = outcome
        else {
            panic!("{outcome:?}")
        };
        assert_eq!(is, IssueNumber(number));
        assert_eq!(opened_at.to_string(), "2026-05-25T12:00:00Z");
        assert_eq!(stub.count("POST", ISSUES), usize::from(number == 99));
    }
}

#[tokio::test]
async fn issues_switched_off_or_forbidden_are_refusals() {
    for (status, words) in [
        (410, "Issues are disabled for this repo"),
        (403, "Resource not accessible by integration"),
        (404, "Not Found"),
    ] {
        for method in ["GET", "POST"] {
            let stub = Stub::start(move |request| {
                if request.is(method, ISSUES) {
                    return message(status, words);
                }
                request.is("GET", ISSUES).then(|| json_of(200, &json!([])))
            })
            .await;
            let outcome = stub
                .client()
                .apply(&issue_effect())
                .await
                .expect("an outcome");
            let Outcome::Refused { reason } = outcome else {
                panic!("{outcome:?}")
            };
            assert!(
                reason.contains(words) && reason.contains(&status.to_string()),
                "{reason}"
            );
        }
    }
    let stub = Stub::start(|request| {
        request.is("GET", ISSUES).then(|| {
            json_of(
                403,
                &json!({"message": "You have exceeded a secondary rate limit"}),
            )
        })
    })
    .await;
    assert!(
        stub.client()
            .apply(&issue_effect())
            .await
            .expect_err("a limit")
            .is_retryable()
    );
}

#[tokio::test]
async fn labels_are_made_when_missing_and_remembered() {
    let stub = Stub::start(|request| {
        if request.is("GET", "/repos/octo-org/widgets/labels/decision%3Aa%2Fb") {
            return message(404, "Not Found");
        }
        request
            .is("POST", "/repos/octo-org/widgets/labels")
            .then(|| {
                let error = json!({"resource": "Label", "code": "already_exists", "field": "name"});
                json_of(
                    422,
                    &json!({"message": "Validation Failed", "errors": [error]}),
                )
            })
    })
    .await;
    let github = stub.client();
    let effect = Effect::EnsureLabel {
        repo: repo(),
        label: LabelSpec {
            name: "decision:a/b".into(),
            color: "#d73a4a".into(),
            description: "d".repeat(200),
        },
    };
    for _ in 0..2 {
        assert_eq!(github.apply(&effect).await.expect("there"), Outcome::Done);
    }
    assert_eq!(stub.calls().len(), 2);
    let sent = stub.requests().pop().expect("the POST").body;
    assert_eq!(sent["color"], "d73a4a");
    assert_eq!(sent["description"].as_str().map(str::len), Some(100));
}

#[tokio::test]
async fn a_label_that_is_off_is_off() {
    let stub = Stub::start(|_| None).await;
    let effect = Effect::RemoveLabel {
        repo: repo(),
        number: IssueNumber(7),
        label: "a b/ü".into(),
    };
    assert_eq!(
        stub.client().apply(&effect).await.expect("off"),
        Outcome::Done
    );
    assert_eq!(
        stub.calls(),
        ["DELETE /repos/octo-org/widgets/issues/7/labels/a%20b%2F%C3%BC"]
    );
}

fn comment(mode: CommentMode, body: &str) -> CommentEffect {
    CommentEffect {
        repo: repo(),
        number: IssueNumber(7),
        key: "c-1".into(),
        body: body.into(),
        mode,
    }
}

fn comment_json(id: u64, author: &str, kind: &str, body: &str) -> Value {
    json!({"id": id, "user": {"login": author, "id": 1, "type": kind}, "body": body,
           "created_at": "2026-05-25T12:00:00Z", "updated_at": "2026-05-25T12:00:00Z"})
}

#[tokio::test]
async fn a_comment_stands_once() {
    let stub = Stub::start(|request| {
        if request.is("GET", COMMENTS) {
            return ok(json!([
                comment_json(1, "mallory", "User", "<!-- quadgate:key=c-1 -->"),
                comment_json(2, "Quadgate-Test[bot]", "Bot", "old\r\n\r\n<!-- quadgate:key=c-1 -->\r\n"),
                {"id": 3, "user": null, "body": null, "created_at": "2026-05-25T12:00:00Z", "updated_at": "2026-05-25T12:00:00Z"}]));
        }
        request.is("PATCH", "/repos/octo-org/widgets/issues/comments/2").then(|| json_of(200, &json!({})))
    })
    .await;
    let github = stub.client();
    let stands = Outcome::Comment { id: CommentId(2) };
    for (mode, body, calls) in [
        (CommentMode::Once, "new", 1),
        (CommentMode::Edit, "old", 2),
        (CommentMode::Edit, "new", 4),
    ] {
        let outcome = github
            .apply(&Effect::Comment(comment(mode, body)))
            .await
            .expect("stands");
        assert_eq!(outcome, stands);
        assert_eq!(stub.calls().len(), calls, "{body}");
    }
    assert_eq!(
        stub.requests().pop().expect("the PATCH").body["body"],
        "new\n\n<!-- quadgate:key=c-1 -->"
    );
}

#[tokio::test]
async fn closing_goes_on_when_the_comment_is_refused() {
    let stub = Stub::start(|request| {
        if request.is("GET", COMMENTS) {
            return ok(json!([]));
        }
        if request.is("POST", COMMENTS) {
            return message(403, "Unable to create comment because issue is locked.");
        }
        request
            .is("PATCH", &format!("{ISSUES}/7"))
            .then(|| json_of(200, &json!({})))
    })
    .await;
    let effect = |number| Effect::CloseIssue {
        repo: repo(),
        number: IssueNumber(number),
        comment: (number == 7).then(|| comment(CommentMode::Once, "x")),
        not_planned: true,
    };
    let github = stub.client();
    assert_eq!(
        github.apply(&effect(7)).await.expect("closed"),
        Outcome::Done
    );
    let sent = stub.requests().pop().expect("the PATCH").body;
    assert_eq!(
        sent,
        json!({"state": "closed", "state_reason": "not_planned"})
    );
    let outcome = github.apply(&effect(8)).await.expect("gone");
    assert!(matches!(outcome, Outcome::Refused { .. }), "{outcome:?}");
}

#[tokio::test]
async fn a_pull_request_is_closed() {
    let stub = Stub::start(|request| {
        request
            .is("PATCH", "/repos/octo-org/widgets/pulls/7")
            .then(|| json_of(200, &json!({})))
    })
    .await;
    let effect = Effect::ClosePull {
        repo: repo(),
        number: PullNumber(7),
    };
    assert_eq!(
        stub.client().apply(&effect).await.expect("closed"),
        Outcome::Done
    );
    assert_eq!(
        stub.requests().pop().expect("the PATCH").body,
        json!({"state": "closed"})
    );
}
