//! What is read: complete lists or errors, nulls, large ids, the number of calls.

use crate::github_client_stub::*;
use quadgate::domain::{FileStatus, Known, Timestamp};
use quadgate::github::{ApiError, Wants};
use serde_json::{Value, json};

const FILES: &str = "/repos/octo-org/widgets/pulls/7/files";
const RUNS: &str =
    "/repos/octo-org/widgets/commits/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/check-runs";

fn file(number: usize) -> Value {
    json!({"filename": format!("docs/{number}.md"), "status": "modified", "additions": 1, "deletions": 1,
           "patch": "@@ -1 +1 @@\n-a\n+b", "sha": null, "blob_url": null})
}

fn run(id: u64) -> Value {
    json!({"id": id, "name": "build", "status": "completed", "conclusion": "success", "external_id": "",
           "app": {"id": 15368, "slug": "github-actions"}, "output": {"title": null, "summary": null, "text": null}})
}

fn page(request: &Request) -> usize {
    request
        .param("page")
        .map_or(1, |page| page.parse().expect("a number"))
}

/// A page of a list of `length`, with the link to the next one, as GitHub gives it.
fn paged(request: &Request, path: &str, length: usize, item: impl Fn(usize) -> Value) -> Answer {
    assert_eq!(request.param("per_page"), Some("100"));
    let page = page(request);
    let items: Vec<Value> = ((page - 1) * 100..(page * 100).min(length))
        .map(item)
        .collect();
    let answer = json_of(200, &Value::Array(items));
    if page * 100 < length {
        let host = request.headers["host"].to_str().expect("text");
        let next = format!(
            "<http://{host}{path}?per_page=100&page={}>; rel=\"next\", <http://{host}/>; rel=\"last\"",
            page + 1
        );
        answer.with("link", next)
    } else {
        answer
    }
}

#[tokio::test]
async fn a_small_pull_request_takes_three_calls() {
    let stub = Stub::start(|request| match request.target.split('?').next()? {
        "/repos/octo-org/widgets/pulls/7" => ok(pull_json(1, 1)),
        FILES => ok(json!([file(1)])),
        "/repos/octo-org/widgets/pulls/7/commits" => ok(json!([
            {"sha": sha('a'), "commit": {"message": "Improve\n"}, "author": null, "parents": [{"sha": sha('b')}]}])),
        RUNS => ok(json!({"total_count": 1, "check_runs": [run(1)]})),
        "/repos/octo-org/widgets/issues/7/events" => ok(json!([
            {"event": "brand-new", "actor": null},
            {"event": "labeled", "label": {"name": "ready"}, "created_at": "2026-05-25T12:01:00Z",
             "actor": {"login": "octocat", "id": 5_000_000_001_u64, "type": "User"}},
            {"event": "unlabeled", "label": {"name": "ready"}, "created_at": "2026-05-25T12:00:00Z", "actor": null}])),
        _ => None,
    })
    .await;
    let github = stub.client();
    let pull = github.pull(&repo(), SEVEN).await.expect("read");
    let read = github.facts(&repo(), &pull, None, Wants::default()).await;
    let facts = read.complete().expect("complete");
    assert_eq!(facts.files.items().len(), 1);
    assert_eq!(facts.commits.items()[0].parents, [sha('b')]);
    assert_eq!(facts.check_runs.items()[0].external_id, None);
    assert_eq!(stub.calls().len(), 1 + 3, "{:?}", stub.calls());
    assert!(stub.calls().iter().any(|call| call.contains("filter=all")));

    let read = github
        .facts(&repo(), &pull, None, Wants { label_events: true })
        .await;
    let events = read.complete().expect("complete").label_events;
    assert_eq!(stub.calls().len(), 1 + 3 + 4);
    let [off, on] = events.items() else {
        panic!("{events:?}")
    };
    assert!(off.at < on.at, "oldest first");
    assert_eq!(
        (off.actor.as_deref(), on.actor.as_deref()),
        (None, Some("octocat"))
    );
}

#[tokio::test]
async fn nulls_and_new_words_fail_nothing() {
    let stub = Stub::start(|request| match request.target.split('?').next()? {
        "/repos/octo-org/widgets/pulls/7" => ok(pull_json(1, 1)),
        FILES => ok(json!([{"filename": "a", "previous_filename": null, "status": "teleported", "patch": null}])),
        RUNS => ok(json!({"total_count": 1, "check_runs": [
            {"id": 9_007_199_254_740_993_u64, "name": "x", "status": "pondering", "conclusion": null, "app": null, "output": null}]})),
        "/repos/octo-org/widgets/issues/7" => ok(json!({"number": 7, "state": "open", "user": null, "body": null,
            "labels": ["old", {"name": "new"}, {}], "created_at": "2026-05-25T12:00:00Z", "pull_request": {}})),
        _ => None,
    })
    .await;
    let github = stub.client();
    let pull = github.pull(&repo(), SEVEN).await.expect("read");
    assert_eq!((&pull.author, pull.head.repo_id), (&None, None));
    assert_eq!(pull.base.repo_id.0, 9_007_199_254_740_993, "no rounding");
    assert_eq!(pull.labels, ["bug"]);
    let files = github.files(&repo(), SEVEN, 1).await.expect("read");
    assert_eq!(files[0].status, FileStatus::Other("teleported".into()));
    let runs = github.check_runs(&repo(), &sha('a')).await.expect("read");
    assert_eq!(runs[0].id.expect("an id").0, 9_007_199_254_740_993);
    assert_eq!(
        (runs[0].app_id, runs[0].status.as_str()),
        (None, "pondering")
    );
    let issue = github
        .issue(&repo(), quadgate::domain::IssueNumber(7))
        .await
        .expect("read");
    assert_eq!(issue.labels, ["old", "new"]);
    assert!(issue.is_pull);
}

#[tokio::test]
async fn what_is_needed_and_missing_is_an_error() {
    let stub = Stub::start(|request| match request.target.split('?').next()? {
        "/repos/octo-org/widgets/pulls/7" => {
            let mut pull = pull_json(1, 1);
            pull["changed_files"] = Value::Null;
            ok(pull)
        }
        FILES => ok(json!([{"status": "added"}])),
        RUNS => ok(json!({"check_runs": []})),
        _ => None,
    })
    .await;
    let github = stub.client();
    let error = github.pull(&repo(), SEVEN).await.expect_err("no count");
    assert!(error.to_string().contains("`changed_files`"), "{error}");
    assert!(github.files(&repo(), SEVEN, 1).await.is_err());
    assert!(github.check_runs(&repo(), &sha('a')).await.is_err());
}

#[tokio::test]
async fn a_name_that_another_repository_took_is_gone() {
    let stub = Stub::start(|request| {
        request
            .is("GET", "/repos/octo-org/widgets/pulls/7")
            .then(|| json_of(200, &pull_json(1, 1)))
    })
    .await;
    let mut old = repo();
    old.id = quadgate::domain::RepoId(12);
    let error = stub
        .client()
        .pull(&old, SEVEN)
        .await
        .expect_err("another repository");
    assert!(matches!(error, ApiError::Gone { .. }), "{error:?}");
}

#[tokio::test]
async fn all_pages_come_in_order() {
    for (stated, listed, pages) in [(250, 250, 3), (3001, 3000, 30), (100, 100, 1), (1, 130, 2)] {
        let stub = Stub::start(move |request| {
            request
                .is("GET", FILES)
                .then(|| paged(request, FILES, listed, file))
        })
        .await;
        let files = stub
            .client()
            .files(&repo(), SEVEN, stated)
            .await
            .expect("read");
        assert_eq!(files.len(), listed, "as far as GitHub lists");
        let first_wrong = files
            .iter()
            .enumerate()
            .find(|(at, file)| file.path != format!("docs/{at}.md"));
        assert_eq!(first_wrong, None);
        assert_eq!(stub.count("GET", FILES), pages);
    }
}

#[tokio::test]
async fn a_list_that_moves_is_never_whole() {
    // A push between two pages: the second one is short.
    let stub = Stub::start(|request| {
        request.is("GET", FILES).then(|| {
            paged(
                request,
                FILES,
                if page(request) == 1 { 150 } else { 120 },
                file,
            )
        })
    })
    .await;
    let files = stub
        .client()
        .files(&repo(), SEVEN, 150)
        .await
        .expect("read");
    assert_eq!(
        files.len(),
        120,
        "the rules compare this with the 150 that were stated"
    );

    // The list moved by one: the length is right, an item is missing.
    let stub = Stub::start(|request| {
        let shift = usize::from(page(request) > 1);
        request
            .is("GET", FILES)
            .then(|| paged(request, FILES, 150, |number| file(number - shift)))
    })
    .await;
    let error = stub
        .client()
        .files(&repo(), SEVEN, 150)
        .await
        .expect_err("listed twice");
    assert!(error.is_retryable(), "{error:?}");
}

#[tokio::test]
async fn a_page_that_fails_is_no_empty_page() {
    let stub = Stub::start(|request| match request.target.split('?').next()? {
        FILES if page(request) == 2 => Some(text(502, "<html>")),
        FILES => Some(paged(request, FILES, 250, file)),
        "/repos/octo-org/widgets/pulls/7" => ok(pull_json(250, 0)),
        "/repos/octo-org/widgets/pulls/7/commits" => ok(json!([])),
        RUNS => message(403, "Resource not accessible by integration"),
        _ => None,
    })
    .await;
    let github = stub.client();
    let pull = github.pull(&repo(), SEVEN).await.expect("read");
    let since: Timestamp = "2026-05-25T12:00:00Z".parse().expect("a time");
    let read = github
        .facts(&repo(), &pull, Some(since), Wants::default())
        .await;
    assert_eq!(read.failed.len(), 2);
    let Known::Unknown(cause) = &read.facts.files else {
        panic!("{:?}", read.facts.files)
    };
    assert!(cause.contains("502"), "{cause}");
    assert!(
        read.facts
            .check_runs
            .cause()
            .expect("unknown")
            .contains("permission")
    );
    assert_eq!(read.facts.commits, Known::Known(Vec::new()));
    assert!(
        read.complete().expect_err("failed").is_retryable(),
        "the one that may pass comes first"
    );
}

#[tokio::test]
async fn check_runs_are_counted() {
    let all = |request: &Request, stated: u64, length: u64| {
        let page = u64::try_from(page(request)).expect("small");
        let runs: Vec<Value> = ((page - 1) * 100..(page * 100).min(length))
            .map(|id| run(id + 1))
            .collect();
        let answer = json_of(200, &json!({"total_count": stated, "check_runs": runs}));
        if page * 100 < length {
            answer.with(
                "link",
                format!(
                    "<{RUNS}?filter=all&per_page=100&page={}>; rel=\"next\"",
                    page + 1
                ),
            )
        } else {
            answer
        }
    };
    let stub = Stub::start(move |request| {
        Some(all(request, 230, 230)).filter(|_| request.is("GET", RUNS))
    })
    .await;
    let runs = stub
        .client()
        .check_runs(&repo(), &sha('a'))
        .await
        .expect("read");
    assert_eq!(runs.len(), 230);
    assert_eq!(stub.calls().len(), 3);

    let stub =
        Stub::start(move |request| Some(all(request, 150, 1)).filter(|_| request.is("GET", RUNS)))
            .await;
    let error = stub
        .client()
        .check_runs(&repo(), &sha('a'))
        .await
        .expect_err("149 are missing");
    assert!(
        error.is_retryable() && error.to_string().contains("150"),
        "{error}"
    );
}

#[tokio::test]
async fn pulls_of_a_head_are_found_for_forks_too() {
    let brief = |number: u64, head: char, state: &str| json!({"number": number, "state": state, "head": {"sha": sha(head), "repo": null}});
    let stub = Stub::start(move |request| match request.target.split('?').next()? {
        "/repos/octo-org/widgets/commits/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/pulls" => {
            ok(json!([
                brief(1, 'b', "open"),
                brief(2, 'a', "open"),
                brief(3, 'a', "closed")
            ]))
        }
        "/repos/octo-org/widgets/commits/cccccccccccccccccccccccccccccccccccccccc/pulls" => {
            message(422, "No commit found for SHA")
        }
        "/repos/octo-org/widgets/pulls" => {
            ok(json!([brief(8, 'c', "open"), brief(9, 'a', "open")]))
        }
        _ => None,
    })
    .await;
    let github = stub.client();
    let numbers = async |head| {
        let pulls = github
            .pulls_with_head(&repo(), &sha(head))
            .await
            .expect("read");
        pulls.iter().map(|pull| pull.number.0).collect::<Vec<_>>()
    };
    assert_eq!(numbers('a').await, [2]);
    assert_eq!(numbers('c').await, [8]);
}

#[tokio::test]
async fn both_texts_of_a_file_are_read_where_they_fit_its_patch() {
    let stub = Stub::start(|request| {
        let name = request.target.split('?').next()?;
        let raw = |body: &str| {
            Some(text(200, body).with(
                "content-type",
                "application/vnd.github.raw+json; charset=utf-8",
            ))
        };
        let base = request.param("ref") == Some(sha('b').as_str());
        if name.contains("/contents/") {
            assert_eq!(request.headers["accept"], "application/vnd.github.raw+json");
        }
        match name.strip_prefix("/repos/octo-org/widgets/contents/")? {
            "docs/0.md" => raw(if base { "a\n" } else { "b\n" }),
            "docs/1.md" => raw("something else\n"),
            "docs/2.md" => Some(text(200, &"x".repeat(1024 * 1024 + 1))),
            "docs/caf%C3%A9%20%231.md" if base => raw("a\n"),
            "docs/3.md" => raw("b\n"),
            _ => None,
        }
    })
    .await;
    let mut renamed = file(3);
    renamed["status"] = "renamed".into();
    renamed["previous_filename"] = "docs/café #1.md".into();
    let files: Vec<Value> = [file(0), file(1), file(2), renamed]
        .into_iter()
        .map(|file| {
            json!({"path": file["filename"], "previous_path": file["previous_filename"], "status": file["status"], "patch": file["patch"]})
        })
        .collect();
    let mut facts: quadgate::domain::Facts = serde_json::from_value(json!({
        "repo": "octo-org/widgets", "number": 7, "base_ref": "main", "base_sha": sha('f'), "head_sha": sha('a'),
        "changed_files": 4, "commit_count": 1, "files": files,
        "commits": [{"sha": sha('a'), "message": "m", "parents": [sha('b')]}]}))
    .expect("facts");
    let paths: Vec<String> = facts
        .files
        .items()
        .iter()
        .map(|file| file.path.clone())
        .collect();
    let github = stub.client();
    github
        .fill_contents(&repo(), &mut facts, &paths)
        .await
        .expect("read");
    let texts: Vec<_> = facts
        .files
        .items()
        .iter()
        .map(|file| (file.base_content.as_deref(), file.head_content.as_deref()))
        .collect();
    let both = (Some("a\n"), Some("b\n"));
    assert_eq!(texts, [both, (None, None), (None, None), both]);
    assert_eq!(
        stub.calls().len(),
        8,
        "the merge base follows from the commits: {:?}",
        stub.calls()
    );
    assert_eq!(
        github
            .content(&repo(), "a/../b", &sha('a'))
            .await
            .expect("no call"),
        None
    );
}

#[tokio::test]
async fn failed_deliveries_are_those_that_nobody_took() {
    let attempt = |id: u64, guid: &str, at: &str, status: i64, again: bool| json!({"id": id, "guid": guid, "delivered_at": at, "status_code": status, "redelivery": again, "event": "push", "status": "?"});
    let stub = Stub::start(move |request| {
        let path = "/app/hook/deliveries";
        if request.is("POST", "/app/hook/deliveries/9007199254740993/attempts") {
            return Some(json_of(202, &json!({})));
        }
        if !request.is("GET", path) {
            return None;
        }
        match request.param("cursor") {
            None => Some(
                json_of(
                    200,
                    &json!([
                        attempt(9, "g-1", "2026-05-25T12:09:00Z", 202, true),
                        attempt(8, "g-2", "2026-05-25T12:08:00.5Z", 0, true)
                    ]),
                )
                .with(
                    "link",
                    format!("<{path}?per_page=100&cursor=v1_8>; rel=\"next\""),
                ),
            ),
            Some(_) => Some(
                json_of(
                    200,
                    &json!([
                        attempt(
                            9_007_199_254_740_993,
                            "g-3",
                            "2026-05-25T12:07:00Z",
                            503,
                            false
                        ),
                        attempt(6, "g-2", "2026-05-25T12:06:00Z", 502, false),
                        attempt(5, "g-1", "2026-05-25T12:05:00Z", 500, false),
                        attempt(4, "g-4", "2026-05-25T11:00:00Z", 500, false)
                    ]),
                )
                .with(
                    "link",
                    format!("<{path}?per_page=100&cursor=v1_4>; rel=\"next\""),
                ),
            ),
        }
    })
    .await;
    let github = stub.client();
    let since: Timestamp = "2026-05-25T12:00:00Z".parse().expect("a time");
    let failed = github.failed_deliveries(since).await.expect("read");
    let shown: Vec<_> = failed
        .iter()
        .map(|one| (one.last.guid.as_str(), one.last.id, one.redelivered))
        .collect();
    assert_eq!(
        shown,
        [("g-3", 9_007_199_254_740_993, false), ("g-2", 8, true)]
    );
    assert_eq!(
        stub.count("GET", "/app/hook/deliveries"),
        2,
        "older pages are not read"
    );
    github.redeliver(&failed[0].last).await.expect("asked");
}

#[tokio::test]
async fn accounts_installations_and_repositories() {
    let stub = Stub::start(|request| match request.target.split('?').next()? {
        "/users/octo%20cat" => ok(json!({"login": "Octo-Cat", "id": 5_000_000_001_u64, "type": "User", "plan": null})),
        "/users/gone" => message(404, "Not Found"),
        "/app/installations" => ok(json!([{"id": 55, "account": {"login": "octo-org"}, "suspended_at": "2026-05-25T12:00:00Z",
            "permissions": {"checks": "write", "odd": null}, "events": ["push"]}])),
        "/installation/repositories" => ok(json!({"total_count": 2, "repositories": [{"id": 1, "full_name": "octo-org/widgets"}]})),
        "/repos/octo-org/widgets/installation" => ok(json!({"id": 55})),
        "/repos/octo-org/widgets" => ok(json!({"id": 1, "full_name": "octo-org/gadgets", "has_issues": false, "default_branch": "main"})),
        "/rate_limit" => ok(json!({"resources": {"core": {"limit": 5000, "remaining": 4999, "reset": 1_800_000_000}, "new": {}}})),
        _ => None,
    })
    .await;
    let github = stub.client();
    let by = repo().installation;
    assert_eq!(
        github.user("octo cat", by).await.expect("read").id.0,
        5_000_000_001
    );
    assert!(matches!(
        github.user("gone", by).await,
        Err(ApiError::Gone { status: 404, .. })
    ));
    let installations = github.installations().await.expect("read");
    assert!(installations[0].suspended);
    assert_eq!(installations[0].permissions["checks"], "write");
    let error = github
        .installation_repositories(by)
        .await
        .expect_err("one is missing");
    assert!(error.is_retryable(), "{error:?}");
    assert_eq!(
        github
            .repo_installation(&repo().name)
            .await
            .expect("read")
            .id,
        by
    );
    let moved = github.repo(&repo().name, by).await.expect("read");
    assert_eq!(
        (moved.repo.name.as_str(), moved.has_issues),
        ("octo-org/gadgets", false)
    );
    assert_eq!(
        github.rate_limit(by).await.expect("read")["core"].remaining,
        4999
    );
    assert_eq!(
        github.app().await.expect("read").bot_login(),
        "quadgate-test[bot]"
    );
}

#[tokio::test]
async fn fingerprints_follow_what_decides() {
    let stub = Stub::start(|request| {
        let mut pull = pull_json(1, 1);
        match request.nth {
            0 => {}
            1 => pull["title"] = "Another".into(),
            2 => pull["labels"] = json!([{"name": "bug"}, {"name": "ready"}]),
            _ => pull["head"]["sha"] = sha('c').as_str().into(),
        }
        ok(pull).filter(|_| request.is("GET", "/repos/octo-org/widgets/pulls/7"))
    })
    .await;
    let github = stub.client();
    let mut prints = Vec::new();
    for _ in 0..4 {
        prints.push(
            github
                .pull(&repo(), SEVEN)
                .await
                .expect("read")
                .fingerprint(),
        );
    }
    assert_eq!(prints[0], prints[1]);
    assert_ne!(prints[0], prints[2]);
    assert_ne!(prints[0], prints[3]);
}
