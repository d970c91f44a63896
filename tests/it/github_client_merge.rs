//! What the merge gate reads, and the merge itself: its preconditions, and each refusal told apart.

use crate::github_client_stub::*;
use quadgate::domain::{Effect, MergeEffect, MergeMethod, Outcome, PullNumber};
use quadgate::github::ApiError;
use serde_json::{Value, json};

const REPO: &str = "/repos/octo-org/widgets";
const PULL: &str = "/repos/octo-org/widgets/pulls/7";
const MERGE: &str = "/repos/octo-org/widgets/pulls/7/merge";
const UPDATE: &str = "/repos/octo-org/widgets/pulls/7/update-branch";

fn merge() -> Effect {
    Effect::Merge(MergeEffect {
        repo: repo(),
        number: PullNumber(7),
        sha: sha('a'),
        base_ref: "main".into(),
        method: MergeMethod::Squash,
        title: Some("Improve (#7)".into()),
    })
}

fn update() -> Effect {
    Effect::UpdateBranch {
        repo: repo(),
        number: PullNumber(7),
        expected_head: sha('a'),
    }
}

/// A server that shows the pull request and answers `PUT` with this.
async fn answering(status: u16, shown: Value) -> Stub {
    Stub::start(move |request| {
        if request.is("GET", PULL) {
            return ok(shown.clone());
        }
        (request.is("PUT", MERGE) || request.is("PUT", UPDATE))
            .then(|| json_of(status, &json!({"message": "GitHub's words"})))
    })
    .await
}

#[tokio::test]
async fn a_merge_carries_the_judged_head() {
    let stub = answering(200, pull_json(1, 1)).await;
    let outcome = stub.client().apply(&merge()).await.expect("merged");
    assert_eq!(outcome, Outcome::Done);
    let sent = stub.requests();
    let put = sent
        .iter()
        .find(|request| request.is("PUT", MERGE))
        .expect("sent");
    assert_eq!(
        put.body,
        json!({"sha": sha('a'), "merge_method": "squash", "commit_title": "Improve (#7)"})
    );
}

#[tokio::test]
async fn a_merge_whose_answer_was_lost_is_found() {
    let mut merged = pull_json(1, 1);
    merged["state"] = json!("closed");
    merged["merged"] = json!(true);
    let stub = answering(405, merged).await;
    let outcome = stub.client().apply(&merge()).await.expect("found");
    assert_eq!(outcome, Outcome::Done);
    assert_eq!(stub.count("PUT", MERGE), 0);
}

#[tokio::test]
async fn a_head_that_moved_is_not_merged() {
    let mut moved = pull_json(1, 1);
    moved["head"]["sha"] = json!(sha('c'));
    let stub = answering(200, moved).await;
    let outcome = stub.client().apply(&merge()).await.expect("an outcome");
    assert!(matches!(outcome, Outcome::Stale { .. }), "{outcome:?}");
    assert_eq!(stub.count("PUT", MERGE), 0);
}

#[tokio::test]
async fn refusals_of_a_merge_are_told_apart() {
    for (status, stale) in [
        (409, true),
        (405, false),
        (422, false),
        (403, false),
        (404, false),
    ] {
        let stub = answering(status, pull_json(1, 1)).await;
        let outcome = stub.client().apply(&merge()).await.expect("an outcome");
        match outcome {
            Outcome::Stale { reason } => assert!(stale && reason.contains("GitHub's words")),
            Outcome::Refused { reason } => {
                assert!(!stale && reason.contains("GitHub's words"), "{reason}");
            }
            other => panic!("{status}: {other:?}"),
        }
        assert_eq!(stub.count("PUT", MERGE), 1, "{status}");
    }
    let stub = answering(502, pull_json(1, 1)).await;
    let error = stub.client().apply(&merge()).await.expect_err("502");
    assert!(matches!(error, ApiError::Transient { .. }), "{error:?}");
    assert_eq!(
        stub.count("PUT", MERGE),
        1,
        "a write is not repeated blindly"
    );
}

#[tokio::test]
async fn an_update_of_the_branch_expects_the_judged_head() {
    let stub = answering(202, pull_json(1, 1)).await;
    let outcome = stub.client().apply(&update()).await.expect("accepted");
    assert_eq!(outcome, Outcome::Done);
    let sent = stub.requests();
    let put = sent
        .iter()
        .find(|request| request.is("PUT", UPDATE))
        .expect("sent");
    assert_eq!(put.body, json!({"expected_head_sha": sha('a')}));
    for (status, stale) in [(422, true), (409, true), (403, false)] {
        let stub = answering(status, pull_json(1, 1)).await;
        let outcome = stub.client().apply(&update()).await.expect("an outcome");
        assert_eq!(
            matches!(outcome, Outcome::Stale { .. }),
            stale,
            "{status}: {outcome:?}"
        );
    }
}

#[tokio::test]
async fn ways_to_merge_are_read_and_never_guessed() {
    let stub = Stub::start(|request| {
        request.is("GET", REPO).then(|| {
            json_of(
                200,
                &json!({"default_branch": "trunk", "allow_squash_merge": false,
                "allow_merge_commit": true, "allow_rebase_merge": true}),
            )
        })
    })
    .await;
    let settings = stub.client().merge_settings(&repo()).await.expect("read");
    assert_eq!(settings.default_branch, "trunk");
    assert_eq!(
        settings.allowed_methods,
        [MergeMethod::Merge, MergeMethod::Rebase]
    );
    // Without write access GitHub leaves them out.
    let stub = Stub::start(|request| {
        request
            .is("GET", REPO)
            .then(|| json_of(200, &json!({"default_branch": "trunk"})))
    })
    .await;
    let error = stub
        .client()
        .merge_settings(&repo())
        .await
        .expect_err("not told");
    assert!(matches!(error, ApiError::Unreadable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_head_is_compared_with_the_branch_by_name() {
    let target = format!("{REPO}/compare/release%2F1...{}", sha('a'));
    let stub = Stub::start(move |request| {
        request
            .is("GET", &target)
            .then(|| json_of(200, &json!({"behind_by": 3, "commits": []})))
    })
    .await;
    let behind = stub
        .client()
        .behind_by(&repo(), "release/1", &sha('a'))
        .await;
    assert_eq!(behind.expect("read"), 3);
    let target = format!("{REPO}/compare/main...{}", sha('a'));
    let stub = Stub::start(move |request| {
        request
            .is("GET", &target)
            .then(|| json_of(200, &json!({"commits": []})))
    })
    .await;
    let error = stub
        .client()
        .behind_by(&repo(), "main", &sha('a'))
        .await
        .expect_err("no count");
    assert!(matches!(error, ApiError::Unreadable { .. }), "{error:?}");
}

#[tokio::test]
async fn of_each_status_context_the_newest_counts() {
    let target = format!("{REPO}/commits/{}/statuses", sha('a'));
    let stub = Stub::start(move |request| {
        let status = |context: &str, state: &str| {
            json!({"context": context, "state": state,
            "creator": {"login": "ci", "id": 5, "type": "User"}})
        };
        request.is("GET", &target).then(|| {
            json_of(
                200,
                &json!([
                    status("build", "success"),
                    status("lint", "pending"),
                    status("build", "failure")
                ]),
            )
        })
    })
    .await;
    let statuses = stub
        .client()
        .statuses(&repo(), &sha('a'))
        .await
        .expect("read");
    let seen: Vec<_> = statuses
        .iter()
        .map(|one| (one.context.as_str(), one.state.as_str()))
        .collect();
    assert_eq!(seen, [("build", "success"), ("lint", "pending")]);
}
