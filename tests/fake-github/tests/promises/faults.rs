//! Every kind of fault does what it says.

use crate::caller::{REPO, ready};
use fake_github::{FaultAnswer, FaultKind, FaultRule, FileSpec, PullSpec};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn answers_replace_the_right_one_so_many_times() {
    let (github, client) = ready().await;
    let path = format!("/repos/{REPO}");
    for (answer, status, header) in [
        (FaultAnswer::html(502), 502, None),
        (FaultAnswer::secondary_limit(), 403, None),
        (
            FaultAnswer::secondary_limit_for(60),
            403,
            Some(("retry-after", "60")),
        ),
        (FaultAnswer::too_many(5), 429, Some(("retry-after", "5"))),
        (
            FaultAnswer::primary_limit(1_800_000_000),
            403,
            Some(("x-ratelimit-remaining", "0")),
        ),
        (FaultAnswer::permission(), 403, None),
        (FaultAnswer::server_error(500), 500, None),
    ] {
        github.fail(FaultRule::answer("GET", "/repos/*/*", answer));
        let got = client.get(&path).await;
        assert_eq!(got.status, status);
        if let Some((name, value)) = header {
            assert_eq!(got.headers[name], value);
        }
        assert_eq!(client.get(&path).await.status, 200, "used up");
    }
}

#[tokio::test]
async fn a_create_can_happen_and_answer_502_or_nothing() {
    let (github, client) = ready().await;
    let path = format!("/repos/{REPO}/issues");
    github.fail(FaultRule::new(
        "POST",
        "/repos/{owner}/{repo}/issues",
        FaultKind::AnswerAfter(FaultAnswer::html(502)),
    ));
    assert_eq!(
        client
            .send("POST", &path, json!({"title": "a"}))
            .await
            .status,
        502
    );
    github.fail(FaultRule::new("POST", "**/issues", FaultKind::DropAfter));
    assert!(
        client
            .try_send("POST", &path, Some(json!({"title": "b"})))
            .await
            .is_err()
    );
    github.fail(FaultRule::new("POST", "**/issues", FaultKind::DropBefore));
    assert!(
        client
            .try_send("POST", &path, Some(json!({"title": "c"})))
            .await
            .is_err()
    );
    let titles: Vec<String> = github
        .issues(REPO)
        .into_iter()
        .map(|issue| issue.title)
        .collect();
    assert_eq!(titles, ["a", "b"]);
}

#[tokio::test]
async fn bodies_can_be_cut_late_or_never_come() {
    let (github, client) = ready().await;
    let path = format!("/repos/{REPO}");
    github.fail(FaultRule::new("GET", "/repos/**", FaultKind::TruncatedBody));
    assert!(client.try_send("GET", &path, None).await.is_err());
    github.fail(FaultRule::new(
        "GET",
        "/repos/**",
        FaultKind::Slow(Duration::from_millis(5)),
    ));
    assert_eq!(client.get(&path).await.status, 200);
    github.fail(FaultRule::new(
        "GET",
        "/repos/**",
        FaultKind::Hang(Duration::from_millis(5)),
    ));
    assert!(client.try_send("GET", &path, None).await.is_err());
    let statuses: Vec<u16> = github
        .requests()
        .iter()
        .rev()
        .take(3)
        .map(|record| record.status)
        .collect();
    assert_eq!(statuses, [0, 200, 200]);
}

#[tokio::test]
async fn lists_can_be_short_empty_or_miscounted_and_reads_can_lag() {
    let (github, client) = ready().await;
    let spec = PullSpec::new("p").files(["a", "b", "c"].map(|path| FileSpec::added(path, "x\n")));
    let number = github.open_pull(REPO, &spec);
    let old = github.pull(REPO, number).head_sha;
    let new = github.push(REPO, number, "more", &[FileSpec::added("d", "x\n")]);
    let pull = format!("/repos/{REPO}/pulls/{number}");
    github.fail(FaultRule::new("GET", "/repos/*/*/pulls/*", FaultKind::StaleHead).times(2));
    for expected in [&old, &old, &new] {
        assert_eq!(
            client.get(&pull).await.json["head"]["sha"].as_str(),
            Some(expected.as_str())
        );
    }
    let runs = format!("/repos/{REPO}/commits/{new}/check-runs");
    github.post_check_run(REPO, 12345, &new, "L1.C3", Some("success"), None);
    github.fail(FaultRule::new("GET", "**/check-runs", FaultKind::EmptyList));
    let got = client.get(&runs).await;
    assert_eq!(
        (&got.json["total_count"], &got.json["check_runs"]),
        (&1.into(), &json!([]))
    );
    github.fail(FaultRule::new(
        "GET",
        "**/check-runs",
        FaultKind::TotalCount(5),
    ));
    assert_eq!(client.get(&runs).await.json["total_count"], 5);
    github.push(
        REPO,
        number,
        "again",
        &[FileSpec::added("d", "x\n"), FileSpec::added("e", "x\n")],
    );
    github.fail(FaultRule::new("GET", "**/files", FaultKind::ShortList(1)));
    assert_eq!(
        client
            .get(&format!("{pull}/files"))
            .await
            .json
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    github.assert_no_violations();
}
