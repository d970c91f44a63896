//! One good and one bad request a group of routes; every answer is held to the description on the way.

use crate::caller::{Client, REPO, good_jwt, ready};
use fake_github::{FakeGitHub, FileSpec, PullSpec};
use serde_json::{Value, json};

/// Sends, expects a status, and whether the contract saw a breach.
async fn expect(
    github: &FakeGitHub,
    client: &Client,
    (method, path, body): (&str, String, Value),
    status: u16,
    breach: &str,
) -> Value {
    let before = github.violations().len();
    let body = (!body.is_null()).then_some(body);
    let got = client
        .try_send(method, &path, body)
        .await
        .expect("an answer");
    assert_eq!(got.status, status, "{method} {path}: {}", got.text);
    let new: Vec<String> = github.violations().split_off(before);
    if breach.is_empty() {
        assert!(new.is_empty(), "{method} {path}: {new:?}");
    } else {
        assert!(
            new.iter().any(|text| text.contains(breach)),
            "{breach} in {new:?}"
        );
    }
    got.json
}

fn at(rest: &str) -> String {
    format!("/repos/{REPO}{rest}")
}

#[tokio::test]
async fn checks() {
    let (github, client) = ready().await;
    let number = github.open_pull(REPO, &PullSpec::new("p").file(FileSpec::added("a", "x\n")));
    let sha = github.pull(REPO, number).head_sha;
    let body = json!({"name": "L1.C3", "head_sha": sha, "conclusion": "failure", "external_id": "k",
        "output": {"title": "t", "summary": "s", "text": "x", "annotations": [
            {"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}]},
        "actions": [{"label": "Approve", "description": "d", "identifier": "approve"}]});
    let run = expect(
        &github,
        &client,
        ("POST", at("/check-runs"), body.clone()),
        201,
        "",
    )
    .await;
    assert_eq!(
        (&run["status"], &run["app"]["id"]),
        (&"completed".into(), &12345.into())
    );
    assert!(
        run["id"].as_u64() > Some(1 << 32) && run["check_suite"]["id"].as_u64() > Some(1 << 53)
    );
    let one = at(&format!("/check-runs/{}", run["id"]));
    expect(
        &github,
        &client,
        ("PATCH", one.clone(), json!({"status": "in_progress"})),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        (
            "PATCH",
            one.clone(),
            json!({"status": "completed", "conclusion": "success", "output": {"summary": "s"}}),
        ),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        ("GET", one.clone() + "/annotations", Value::Null),
        200,
        "",
    )
    .await;
    expect(&github, &client, ("GET", one, Value::Null), 200, "").await;
    for path in [
        format!("/commits/{sha}/check-runs?filter=all&per_page=100"),
        format!("/commits/{sha}/check-suites"),
        format!("/check-suites/{}/check-runs", run["check_suite"]["id"]),
    ] {
        assert_eq!(
            expect(&github, &client, ("GET", at(&path), Value::Null), 200, "").await["total_count"],
            1,
            "{path}"
        );
    }
    let with = |name: &str, value: Value| {
        let mut body = body.clone();
        body[name] = value;
        ("POST", at("/check-runs"), body)
    };
    expect(
        &github,
        &client,
        with("head_sha", json!("b".repeat(40))),
        422,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        with("head_sha", json!("main")),
        422,
        "`head_sha`",
    )
    .await;
    expect(
        &github,
        &client,
        with("colour", json!("red")),
        422,
        "`colour` is unknown",
    )
    .await;
    expect(
        &github,
        &client,
        (
            "POST",
            at("/check-runs"),
            json!({"name": "n", "head_sha": sha, "status": "completed"}),
        ),
        422,
        "",
    )
    .await;
    let bytes = "🚀".repeat(16_384);
    expect(
        &github,
        &client,
        with("output", json!({"title": "t", "summary": bytes})),
        422,
        "",
    )
    .await;
    let actions =
        json!([{"label": "twenty-one characters", "description": "d", "identifier": "i"}]);
    expect(
        &github,
        &client,
        with("actions", actions),
        422,
        "actions/0/label",
    )
    .await;
    assert_eq!(github.check_runs(REPO, &sha).len(), 1);
}

#[tokio::test]
async fn runs_of_other_apps_cannot_be_changed_and_the_latest_hides_the_older() {
    let (github, client) = ready().await;
    github.add_app(777, "ci");
    let sha = github.branch_tip(REPO, "main");
    let theirs = github.post_check_run(REPO, 777, &sha, "ci", Some("failure"), None);
    github.post_check_run(REPO, 777, &sha, "ci", Some("success"), None);
    expect(
        &github,
        &client,
        (
            "PATCH",
            at(&format!("/check-runs/{theirs}")),
            json!({"conclusion": "success"}),
        ),
        403,
        "",
    )
    .await;
    let list = format!("/commits/{sha}/check-runs");
    assert_eq!(
        expect(&github, &client, ("GET", at(&list), Value::Null), 200, "").await["total_count"],
        1
    );
    let all = expect(
        &github,
        &client,
        ("GET", at(&(list + "?filter=all&app_id=777")), Value::Null),
        200,
        "",
    )
    .await;
    assert_eq!(
        (&all["total_count"], &all["check_runs"][0]["app"]["slug"]),
        (&2.into(), &"ci".into())
    );
}

#[tokio::test]
async fn statuses() {
    let (github, client) = ready().await;
    let sha = github.branch_tip(REPO, "main");
    expect(
        &github,
        &client,
        (
            "POST",
            at(&format!("/statuses/{sha}")),
            json!({"state": "success", "context": "ci"}),
        ),
        201,
        "",
    )
    .await;
    let seen = expect(
        &github,
        &client,
        (
            "GET",
            at(&format!("/commits/{sha}/status?per_page=100")),
            Value::Null,
        ),
        200,
        "",
    )
    .await;
    assert_eq!(
        (&seen["state"], &seen["total_count"]),
        (&"success".into(), &1.into())
    );
    expect(
        &github,
        &client,
        (
            "POST",
            at(&format!("/statuses/{sha}")),
            json!({"state": "green"}),
        ),
        422,
        "body/state",
    )
    .await;
}

#[tokio::test]
async fn issues_and_comments() {
    let (github, client) = ready().await;
    let new = json!({"title": "t", "body": "b", "labels": ["decision:pending-owner"]});
    let issue = expect(&github, &client, ("POST", at("/issues"), new), 201, "").await;
    assert_eq!(
        (&issue["user"]["login"], &issue["user"]["type"]),
        (&"quadgate[bot]".into(), &"Bot".into())
    );
    let one = at(&format!("/issues/{}", issue["number"]));
    let comment = expect(
        &github,
        &client,
        ("POST", one.clone() + "/comments", json!({"body": "c"})),
        201,
        "",
    )
    .await;
    let that = at(&format!("/issues/comments/{}", comment["id"]));
    expect(
        &github,
        &client,
        ("PATCH", that.clone(), json!({"body": "d"})),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        (
            "GET",
            one.clone() + "/comments?since=2026-01-01T00:00:00Z",
            Value::Null,
        ),
        200,
        "",
    )
    .await;
    let filter = "/issues?creator=quadgate%5Bbot%5D&labels=decision%3Apending-owner&state=open&since=2026-01-01T00:00:00Z&per_page=100";
    assert_eq!(
        expect(&github, &client, ("GET", at(filter), Value::Null), 200, "")
            .await
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    expect(
        &github,
        &client,
        ("GET", one.clone() + "/timeline?per_page=100", Value::Null),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        ("GET", one.clone() + "/events", Value::Null),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        (
            "POST",
            one.clone() + "/reactions",
            json!({"content": "eyes"}),
        ),
        201,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        (
            "PATCH",
            one.clone(),
            json!({"state": "closed", "state_reason": "not_planned"}),
        ),
        200,
        "",
    )
    .await;
    expect(&github, &client, ("DELETE", that, Value::Null), 204, "").await;
    let found = expect(
        &github,
        &client,
        (
            "GET",
            "/search/issues?q=repo%3Aocto-org%2Fwidgets+is%3Aissue+t".into(),
            Value::Null,
        ),
        200,
        "",
    )
    .await;
    assert_eq!(found["total_count"], 1);

    expect(
        &github,
        &client,
        ("POST", at("/issues"), json!({"titel": "t"})),
        422,
        "`titel` is unknown",
    )
    .await;
    expect(
        &github,
        &client,
        (
            "POST",
            at("/issues"),
            json!({"title": "t", "body": "x".repeat(65_537)}),
        ),
        422,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        ("POST", one.clone() + "/comments", json!({})),
        422,
        "\"body\" is a required property",
    )
    .await;
    expect(
        &github,
        &client,
        (
            "POST",
            one.clone() + "/reactions",
            json!({"content": "thumb"}),
        ),
        422,
        "body/content",
    )
    .await;
    github.as_user("octo-owner").delete_issue(REPO, 1);
    expect(&github, &client, ("GET", one, Value::Null), 410, "").await;
    github.set_has_issues(REPO, false);
    expect(
        &github,
        &client,
        ("POST", at("/issues"), json!({"title": "t"})),
        410,
        "",
    )
    .await;
}

#[tokio::test]
async fn labels() {
    let (github, client) = ready().await;
    github.as_user("octo-owner").open_issue(REPO, "t", "b");
    let label = json!({"name": "decision:rejected", "color": "b60205", "description": "d"});
    expect(
        &github,
        &client,
        ("POST", at("/labels"), label.clone()),
        201,
        "",
    )
    .await;
    let again = expect(&github, &client, ("POST", at("/labels"), label), 422, "").await;
    assert_eq!(again["errors"][0]["code"], "already_exists");
    expect(
        &github,
        &client,
        (
            "POST",
            at("/labels"),
            json!({"name": "x", "description": "d".repeat(101)}),
        ),
        422,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        ("GET", at("/labels/decision%3Arejected"), Value::Null),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        ("GET", at("/labels/nothing"), Value::Null),
        404,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        ("GET", at("/labels?per_page=100"), Value::Null),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        (
            "POST",
            at("/issues/1/labels"),
            json!({"labels": ["decision:rejected"]}),
        ),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        ("GET", at("/issues/1/labels"), Value::Null),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        (
            "DELETE",
            at("/issues/1/labels/decision%3Arejected"),
            Value::Null,
        ),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        (
            "DELETE",
            at("/issues/1/labels/decision%3Arejected"),
            Value::Null,
        ),
        404,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        ("POST", at("/issues/1/labels"), json!({"label": "x"})),
        422,
        "`label` is unknown",
    )
    .await;
}

#[tokio::test]
async fn pulls_and_contents() {
    let (github, client) = ready().await;
    let spec = PullSpec::new("p").author("dev").files([
        FileSpec::modified("src/a.rs", "old\n", "new\n"),
        FileSpec::renamed("old.md", "new.md", "text\n"),
        FileSpec::binary("logo.png", "added", &[0, 1, 2]),
    ]);
    let number = github.open_pull(REPO, &spec);
    github
        .as_user("octo-owner")
        .label(REPO, number, "ready-to-merge");
    let pull = github.pull(REPO, number);
    let one = at(&format!("/pulls/{number}"));
    expect(&github, &client, ("GET", one.clone(), Value::Null), 200, "").await;
    expect(
        &github,
        &client,
        ("GET", at("/pulls?state=open&per_page=100"), Value::Null),
        200,
        "",
    )
    .await;
    let files = expect(
        &github,
        &client,
        ("GET", one.clone() + "/files?per_page=100", Value::Null),
        200,
        "",
    )
    .await;
    assert_eq!(files[0]["patch"], "@@ -1,1 +1,1 @@\n-old\n+new");
    assert_eq!(files[1]["previous_filename"], "old.md");
    assert!(files[1].get("patch").is_none() && files[2].get("patch").is_none());
    expect(
        &github,
        &client,
        ("GET", one.clone() + "/commits?per_page=100", Value::Null),
        200,
        "",
    )
    .await;
    let line = expect(
        &github,
        &client,
        (
            "GET",
            at(&format!("/issues/{number}/timeline?per_page=100")),
            Value::Null,
        ),
        200,
        "",
    )
    .await;
    let labeled = line
        .as_array()
        .and_then(|rows| rows.iter().find(|row| row["event"] == "labeled"))
        .expect("a labeled event");
    assert_eq!(
        (&labeled["actor"]["login"], &labeled["label"]["name"]),
        (&"octo-owner".into(), &"ready-to-merge".into())
    );
    for (side, text) in [(&pull.base_sha, "old\n"), (&pull.head_sha, "new\n")] {
        let path = at(&format!("/contents/src/a.rs?ref={side}"));
        expect(
            &github,
            &client,
            ("GET", path.clone(), Value::Null),
            200,
            "",
        )
        .await;
        let mut raw = Client::new(
            &github,
            client
                .auth
                .as_deref()
                .and_then(|auth| auth.strip_prefix("Bearer ")),
        );
        raw.headers
            .push(("accept".into(), "application/vnd.github.raw+json".into()));
        assert_eq!(raw.get(&path).await.text, text);
    }
    expect(
        &github,
        &client,
        ("GET", at("/contents/src"), Value::Null),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        ("GET", at("/contents/none.md"), Value::Null),
        404,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        (
            "GET",
            at(&format!("/commits/{}", pull.head_sha)),
            Value::Null,
        ),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        (
            "GET",
            at(&format!("/commits/{}/pulls", pull.head_sha)),
            Value::Null,
        ),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        (
            "GET",
            at(&format!("/compare/{}...{}", pull.base_sha, pull.head_sha)),
            Value::Null,
        ),
        200,
        "",
    )
    .await;
    github.delete_user("dev");
    let gone = expect(&github, &client, ("GET", one.clone(), Value::Null), 200, "").await;
    assert_eq!(gone["user"], Value::Null);
    github.delete_fork(REPO, number);
    assert_eq!(
        expect(&github, &client, ("GET", one.clone(), Value::Null), 200, "").await["head"]["repo"],
        Value::Null
    );
    expect(
        &github,
        &client,
        ("PATCH", one.clone(), json!({"state": "closed"})),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        ("PATCH", one, json!({"state": "shut"})),
        422,
        "body/state",
    )
    .await;
    expect(
        &github,
        &client,
        ("GET", at("/pulls/x"), Value::Null),
        422,
        "pull_number",
    )
    .await;
}

#[tokio::test]
async fn git_and_a_pull_request_by_the_app() {
    let (github, client) = ready().await;
    let merged = github.commit_on(
        REPO,
        "main",
        "bad change",
        &[FileSpec::added("bad.txt", "bad\n")],
    );
    let tree = expect(&github, &client, ("POST", at("/git/trees"), json!({"base_tree": merged, "tree": [{"path": "bad.txt", "mode": "100644", "type": "blob", "sha": null}]})), 201, "").await;
    let commit = expect(
        &github,
        &client,
        (
            "POST",
            at("/git/commits"),
            json!({"message": "Revert", "tree": tree["sha"], "parents": [merged]}),
        ),
        201,
        "",
    )
    .await;
    let made = json!({"ref": "refs/heads/revert-1", "sha": commit["sha"]});
    expect(
        &github,
        &client,
        ("POST", at("/git/refs"), made.clone()),
        201,
        "",
    )
    .await;
    expect(&github, &client, ("POST", at("/git/refs"), made), 422, "").await;
    expect(
        &github,
        &client,
        ("GET", at("/git/ref/heads/revert-1"), Value::Null),
        200,
        "",
    )
    .await;
    let pull = expect(
        &github,
        &client,
        (
            "POST",
            at("/pulls"),
            json!({"title": "Revert", "head": "revert-1", "base": "main"}),
        ),
        201,
        "",
    )
    .await;
    let files = expect(
        &github,
        &client,
        (
            "GET",
            at(&format!("/pulls/{}/files", pull["number"])),
            Value::Null,
        ),
        200,
        "",
    )
    .await;
    assert_eq!(
        (&files[0]["filename"], &files[0]["status"]),
        (&"bad.txt".into(), &"removed".into())
    );
    expect(
        &github,
        &client,
        ("GET", at("/branches/main"), Value::Null),
        200,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        ("DELETE", at("/git/refs/heads/revert-1"), Value::Null),
        204,
        "",
    )
    .await;
    expect(
        &github,
        &client,
        ("POST", at("/git/refs"), json!({"ref": "refs/heads/x"})),
        422,
        "\"sha\" is a required",
    )
    .await;
}

#[tokio::test]
async fn the_app_people_and_permissions() {
    let (github, client) = ready().await;
    let app = Client::new(&github, Some(&good_jwt()));
    let installation = github.installation_of(REPO);
    for path in [
        "/app".to_owned(),
        "/app/installations".into(),
        format!("/app/installations/{installation}"),
        at("/installation"),
    ] {
        expect(&github, &app, ("GET", path, Value::Null), 200, "").await;
    }
    let mint = format!("/app/installations/{installation}/access_tokens");
    expect(
        &github,
        &app,
        ("POST", mint.clone(), json!({"repositories": ["widgets"]})),
        201,
        "",
    )
    .await;
    expect(
        &github,
        &app,
        ("POST", mint, json!({"repos": []})),
        422,
        "`repos` is unknown",
    )
    .await;
    let id = github.add_user("octo-owner");
    github.set_collaborator(REPO, "octo-owner", "maintain");
    github.set_team("octo-org/owners", &["octo-owner"]);
    for path in [
        "/users/octo-owner".to_owned(),
        format!("/user/{id}"),
        at(""),
        "/installation/repositories".into(),
        "/rate_limit".into(),
        at("/collaborators/octo-owner/permission"),
        "/orgs/octo-org/teams/owners/memberships/octo-owner".into(),
    ] {
        expect(&github, &client, ("GET", path, Value::Null), 200, "").await;
    }
    github.rename_user("octo-owner", "octo-boss");
    expect(
        &github,
        &client,
        ("GET", "/users/octo-owner".into(), Value::Null),
        404,
        "",
    )
    .await;
    assert_eq!(
        expect(
            &github,
            &client,
            ("GET", format!("/user/{id}"), Value::Null),
            200,
            ""
        )
        .await["login"],
        "octo-boss"
    );
    github.archive_repo(REPO);
    expect(
        &github,
        &client,
        ("POST", at("/issues"), json!({"title": "t"})),
        403,
        "",
    )
    .await;
}
