//! Event by event: which subjects a payload puts to work, and which payloads are left alone.

use crate::ingress::{OWN_APP, Server, opened};
use crate::store_contract::at;
use quadgate::domain::*;
use serde_json::{Value, json};

/// A payload in the supervised repository 555 of installation 7.
fn payload(members: &Value) -> Value {
    let mut payload = json!({
        "repository": {"id": 555, "full_name": "octo-org/widgets", "archived": false},
        "installation": {"id": 7},
        "sender": {"type": "User"}
    });
    for (name, value) in members.as_object().unwrap() {
        payload[name] = value.clone();
    }
    payload
}

fn pull_request(action: &str, more: &Value) -> Value {
    let mut members = json!({
        "action": action,
        "pull_request": {"number": 12, "state": "open", "head": {"sha": "a".repeat(40)}}
    });
    for (name, value) in more.as_object().unwrap() {
        members[name] = value.clone();
    }
    payload(&members)
}

fn check_run(action: &str, name: &str, app: u64, pulls: &Value) -> Value {
    payload(&json!({
        "action": action,
        "check_run": {
            "id": 34_026_156_645_u64, "name": name, "head_sha": "a".repeat(40),
            "app": {"id": app}, "pull_requests": pulls
        }
    }))
}

fn comment(action: &str, app: u64, sender: &str) -> Value {
    payload(&json!({
        "action": action,
        "issue": {"number": 31},
        "comment": {"id": 5_000_000_001_u64, "performed_via_github_app": {"id": app}, "user": null},
        "sender": {"type": sender}
    }))
}

#[tokio::test]
async fn what_is_looked_at() {
    let own = OWN_APP.0;
    let head = format!("head/555/{}", "a".repeat(40));
    let deep = "pull/555/12 deep";
    let shallow = "pull/555/12";
    let none = json!({});
    let base = json!({"changes": {"base": {"ref": {"from": "main"}}}});
    let title = json!({"changes": {"title": {"from": "x"}}});
    let pulls = json!([{"number": 12}, {"number": 13, "base": {"repo": {"id": 555}}}]);
    let foreign = json!([{"number": 99, "base": {"repo": {"id": 1}}}]);
    let both = "pull/555/12 deep, pull/555/13 deep";
    let by_head = format!("{head} deep");
    let group = json!({"action": "checks_requested", "merge_group":
        {"head_sha": "b".repeat(40), "head_ref": "refs/heads/gh-readonly-queue/main/pr-12-x"}});
    let group_key = format!("group/555/{} deep", "b".repeat(40));
    let suite = |action: &str, pulls: &Value| {
        payload(&json!({"action": action,
            "check_suite": {"head_sha": "a".repeat(40), "pull_requests": pulls}}))
    };
    let issue = |action: &str| payload(&json!({"action": action, "issue": {"number": 31}}));
    let cases: Vec<(&str, Value, &str)> = vec![
        ("pull_request", pull_request("opened", &none), deep),
        ("pull_request", pull_request("reopened", &none), deep),
        ("pull_request", pull_request("synchronize", &none), deep),
        ("pull_request", pull_request("edited", &base), deep),
        ("pull_request", pull_request("edited", &title), ""),
        ("pull_request", pull_request("labeled", &none), shallow),
        ("pull_request", pull_request("unlabeled", &none), shallow),
        (
            "pull_request",
            pull_request("ready_for_review", &none),
            shallow,
        ),
        (
            "pull_request",
            pull_request("converted_to_draft", &none),
            shallow,
        ),
        ("pull_request", pull_request("closed", &none), shallow),
        ("pull_request", pull_request("assigned", &none), ""),
        (
            "pull_request",
            pull_request("a_word_of_tomorrow", &none),
            "",
        ),
        (
            "check_run",
            check_run("completed", "classifier-judgment", 42, &pulls),
            both,
        ),
        (
            "check_run",
            check_run("created", "classifier-judgment", 42, &json!([])),
            &by_head,
        ),
        (
            "check_run",
            check_run("completed", "classifier-judgment", 42, &json!(null)),
            &by_head,
        ),
        (
            "check_run",
            check_run("completed", "classifier-judgment", 42, &foreign),
            &by_head,
        ),
        ("check_run", check_run("completed", "build", 42, &pulls), ""),
        (
            "check_run",
            check_run("completed", "classifier-judgment", own, &pulls),
            "",
        ),
        (
            "check_run",
            check_run("rerequested", "L1.C3", own, &pulls),
            both,
        ),
        (
            "check_run",
            check_run("requested_action", "L1.C3", own, &json!([])),
            &by_head,
        ),
        (
            "check_run",
            check_run("rerequested", "build", 42, &pulls),
            "",
        ),
        ("check_suite", suite("requested", &json!([])), ""),
        ("check_suite", suite("rerequested", &json!([])), &by_head),
        ("check_suite", suite("rerequested", &pulls), both),
        ("check_suite", suite("completed", &pulls), ""),
        ("status", payload(&json!({"state": "success"})), ""),
        ("push", payload(&json!({"ref": "refs/heads/main"})), ""),
        (
            "issue_comment",
            comment("created", 1, "User"),
            "issue/555/31 deep",
        ),
        (
            "issue_comment",
            comment("deleted", 1, "User"),
            "issue/555/31 deep",
        ),
        ("issue_comment", comment("created", own, "Bot"), ""),
        (
            "issue_comment",
            comment("edited", own, "User"),
            "issue/555/31 deep",
        ),
        ("issues", issue("closed"), "issue/555/31 deep"),
        ("issues", issue("reopened"), "issue/555/31 deep"),
        ("issues", issue("transferred"), "issue/555/31 deep"),
        ("issues", issue("opened"), ""),
        ("merge_group", payload(&group), &group_key),
        ("merge_group", payload(&json!({"action": "destroyed"})), ""),
        (
            "installation",
            payload(&json!({"action": "created"})),
            "installation/7 deep",
        ),
        (
            "installation",
            payload(&json!({"action": "new_permissions_accepted"})),
            "installation/7 deep",
        ),
        (
            "repository",
            payload(&json!({"action": "unarchived"})),
            "repo/555 deep",
        ),
        ("repository", payload(&json!({"action": "edited"})), ""),
        ("sponsorship", payload(&json!({"action": "created"})), ""),
    ];
    for (event, payload, expected) in cases {
        let server = Server::start().await;
        let what = format!("{event} {payload}");
        let reply = server.deliver(event, "d-1", &payload).await;
        let status = if expected.is_empty() { 204 } else { 202 };
        assert_eq!(reply.status, status, "{what}: {}", reply.body);
        let mut found: Vec<String> = server
            .claims()
            .await
            .iter()
            .map(|claim| claim.subject.key() + if claim.deep { " deep" } else { "" })
            .collect();
        found.sort();
        assert_eq!(found.join(", "), expected, "{what}");
    }
}

#[tokio::test]
async fn only_some_events_announce_a_head() {
    for (action, announces) in [
        ("opened", true),
        ("synchronize", true),
        ("reopened", true),
        ("labeled", false),
    ] {
        let server = Server::start().await;
        let payload = pull_request(action, &json!({}));
        server.deliver("pull_request", "d-1", &payload).await;
        let claims = server.claims().await;
        assert_eq!(!claims[0].announced.is_empty(), announces, "{action}");
    }
}

#[tokio::test]
async fn what_is_not_ours_is_counted_and_not_kept() {
    let server = Server::start().await;
    let mut archived = opened();
    archived["repository"]["archived"] = json!(true);
    let mut foreign = opened();
    foreign["repository"]["full_name"] = json!("octo-org/foreign");
    let mut hook = opened();
    hook["installation"] = json!(null);
    let mut nameless = opened();
    nameless["repository"] = json!(null);
    let mut late = opened();
    late["action"] = json!("labeled");
    late["pull_request"]["state"] = json!("closed");
    let mut inbox = opened();
    inbox["repository"]["full_name"] = json!("octo-org/inbox");
    for (payload, word) in [
        (archived, "archived"),
        (foreign, "unsupervised"),
        (hook, "no-installation"),
        (nameless, "nothing-to-do"),
        (late, "nothing-to-do"),
        (inbox, "unsupervised"),
    ] {
        let reply = server.deliver("pull_request", "d-1", &payload).await;
        assert_eq!((reply.status, reply.word.as_str()), (204, word));
        let counted = format!("{{event=\"pull_request\",outcome=\"{word}\"}}");
        assert!(server.metrics.text().unwrap().contains(&counted), "{word}");
    }
    server.kept_nothing("not ours").await;
}

#[tokio::test]
async fn the_inbox_is_heard_for_its_issues() {
    let server = Server::start().await;
    let mut answer = comment("created", 1, "User");
    answer["repository"] = json!({"id": 777, "full_name": "octo-org/inbox"});
    let reply = server.deliver("issue_comment", "d-1", &answer).await;
    assert_eq!(reply.status, 202);
    assert_eq!(server.claims().await[0].subject.key(), "issue/777/31");
}

#[tokio::test]
async fn names_are_learnt_and_installations_follow() {
    let server = Server::start().await;
    let renamed = payload(&json!({
        "action": "renamed",
        "repository": {"id": 555, "full_name": "octo-org/gadgets"}
    }));
    let reply = server.deliver("repository", "d-1", &renamed).await;
    assert_eq!(reply.status, 202);
    let repo = server.store.repo_by_id(RepoId(555)).await.unwrap().unwrap();
    assert_eq!(repo.name.as_str(), "octo-org/gadgets");
    assert!(server.claims().await.is_empty());

    let added = json!({
        "action": "added", "installation": {"id": 7},
        "repositories_added": [
            {"id": 1, "full_name": "octo-org/one"}, {"id": 2, "full_name": "octo-org/foreign"},
            {"id": null, "full_name": null}
        ]
    });
    let reply = server
        .deliver("installation_repositories", "d-2", &added)
        .await;
    assert_eq!(reply.status, 202);
    let claims = server.claims().await;
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].subject.key(), "repo/1");

    let suspend = json!({"action": "suspend", "installation": {"id": 7}});
    let unsuspend = json!({"action": "unsuspend", "installation": {"id": 7}});
    server.deliver("installation", "d-3", &suspend).await;
    server.deliver("pull_request", "d-4", &opened()).await;
    assert!(server.claims().await.is_empty(), "waits");
    server.deliver("installation", "d-5", &unsuspend).await;
    let reply = server.deliver("installation", "d-3", &suspend).await;
    assert_eq!(reply.word, "duplicate");
    assert_eq!(
        server.claims().await.len(),
        2,
        "a late copy suspends nobody"
    );
    assert_eq!(
        server.store.oldest_waiting(at(5)).await.unwrap().as_secs(),
        5
    );
}

#[tokio::test]
async fn ids_are_exact_above_53_bits() {
    let server = Server::start().await;
    let mut payload = opened();
    payload["repository"]["id"] = json!(9_007_199_254_740_993_u64);
    server.deliver("pull_request", "d-1", &payload).await;
    let claims = server.claims().await;
    assert_eq!(claims[0].subject.key(), "pull/9007199254740993/12");
}

#[tokio::test]
async fn where_merges_are_watched_the_ends_of_checks_are_looked_at() {
    let own = OWN_APP.0;
    let commit = format!("commit/555/{}", "a".repeat(40));
    let in_repo = |name: &str, mut payload: Value| {
        payload["repository"] = json!({"id": 555, "full_name": format!("octo-org/{name}")});
        payload
    };
    let suite = |action: &str, app: u64| {
        payload(&json!({"action": action, "check_suite": {
            "head_sha": "a".repeat(40), "app": {"id": app}, "pull_requests": []}}))
    };
    let status = |state: &str| payload(&json!({"state": state, "sha": "a".repeat(40)}));
    let run = |action, app| check_run(action, "build", app, &json!([]));
    let none = json!({});
    let cases = [
        ("check_run", run("completed", 42), commit.as_str()),
        ("check_run", run("created", 42), ""),
        ("check_run", run("completed", own), ""),
        ("check_suite", suite("completed", 42), &commit),
        ("check_suite", suite("completed", own), ""),
        ("check_suite", suite("requested", 42), ""),
        ("status", status("failure"), &commit),
        ("status", status("pending"), ""),
        ("status", payload(&json!({"state": "failure"})), ""),
        ("pull_request", pull_request("closed", &none), "pull/555/12"),
    ];
    for (event, payload, expected) in cases {
        for repo in ["watched", "audited", "widgets"] {
            let server = Server::start().await;
            let payload = in_repo(repo, payload.clone());
            server.deliver(event, "d-1", &payload).await;
            let found: Vec<String> = server
                .claims()
                .await
                .iter()
                .map(|claim| claim.subject.key())
                .collect();
            let unheard = repo == "widgets" && event != "pull_request";
            let expected = if unheard { "" } else { expected };
            assert_eq!(found.join(", "), expected, "{repo} {event} {payload}");
        }
    }
    // What is only watched is not judged.
    let server = Server::start().await;
    let opened = in_repo("audited", pull_request("opened", &none));
    assert_eq!(
        server.deliver("pull_request", "d-1", &opened).await.status,
        204
    );
}

#[tokio::test]
async fn where_the_gate_merges_ci_and_the_base_are_looked_at() {
    let own = OWN_APP.0;
    let head = format!("head/555/{}", "a".repeat(40));
    let pulls = json!([{"number": 12}]);
    let in_repo = |name: &str, mut payload: Value| {
        payload["repository"] =
            json!({"id": 555, "full_name": format!("octo-org/{name}"), "default_branch": "main"});
        payload
    };
    let suite = |app: u64| {
        payload(&json!({"action": "completed", "check_suite": {
            "head_sha": "a".repeat(40), "app": {"id": app}, "pull_requests": pulls}}))
    };
    let status = payload(&json!({"state": "success", "sha": "a".repeat(40), "context": "build"}));
    let lint = payload(&json!({"state": "success", "sha": "a".repeat(40), "context": "lint"}));
    let push = |branch: &str| payload(&json!({"ref": format!("refs/heads/{branch}")}));
    let run = |action, app| check_run(action, "build", app, &pulls);
    let cases = [
        ("check_run", "merging", run("completed", 42), "pull/555/12"),
        ("check_run", "merging", run("created", 42), ""),
        ("check_run", "merging", run("completed", own), ""),
        (
            "check_run",
            "merging",
            check_run("completed", "build", 42, &json!([])),
            head.as_str(),
        ),
        ("check_suite", "merging", suite(42), "pull/555/12"),
        ("check_suite", "merging", suite(own), ""),
        ("status", "merging", status.clone(), &head),
        ("status", "foreign", status.clone(), ""),
        ("check_run", "branches", run("completed", 42), "pull/555/12"),
        (
            "check_run",
            "branches",
            check_run("completed", "lint", 42, &pulls),
            "",
        ),
        ("status", "branches", status, &head),
        ("status", "branches", lint, ""),
        ("push", "merging", push("main"), "repo/555"),
        ("push", "merging", push("change-1"), ""),
        ("push", "branches", push("main"), ""),
        ("push", "branches", push("release"), "repo/555"),
        (
            "push",
            "merging",
            payload(&json!({"ref": "refs/tags/main"})),
            "",
        ),
        ("push", "widgets", push("main"), ""),
    ];
    for (event, repo, payload, expected) in cases {
        let server = Server::start().await;
        let payload = in_repo(repo, payload);
        server.deliver(event, "d-1", &payload).await;
        let found: Vec<String> = server
            .claims()
            .await
            .iter()
            .map(|claim| claim.subject.key() + if claim.deep { " deep" } else { "" })
            .collect();
        assert_eq!(found.join(", "), expected, "{event} {payload}");
    }
}
