//! ETags, redirects, headers.

use crate::caller::{REPO, ready};
use serde_json::json;

#[tokio::test]
async fn a_known_answer_is_304_and_free_until_it_changes() {
    let (github, mut client) = ready().await;
    github.as_user("octo-owner").open_issue(REPO, "t", "b");
    let path = format!("/repos/{REPO}/issues/1/reactions");
    let first = client.get(&path).await;
    client
        .headers
        .push(("if-none-match".into(), first.headers["etag"].clone()));
    let second = client.get(&path).await;
    assert_eq!((second.status, second.text.as_str()), (304, ""));
    assert_eq!(
        first.headers["x-ratelimit-remaining"],
        second.headers["x-ratelimit-remaining"]
    );
    github.as_user("octo-owner").react(REPO, 1, "+1");
    assert_eq!(client.get(&path).await.status, 200);
    github.assert_no_violations();
}

#[tokio::test]
async fn an_old_name_redirects_to_the_id() {
    let (github, client) = ready().await;
    github.rename_repo(REPO, "gadgets");
    let got = client.get(&format!("/repos/{REPO}/labels")).await;
    assert_eq!(got.status, 301);
    let to = got.headers["location"].replace(&github.url(), "");
    assert_eq!(client.get(&to).await.status, 200, "{to}");
    let post = client
        .send(
            "POST",
            &format!("/repos/{REPO}/labels"),
            json!({"name": "x"}),
        )
        .await;
    assert_eq!(post.status, 307);
    assert_eq!(
        client.get("/repos/octo-org/gadgets").await.json["full_name"],
        "octo-org/gadgets"
    );
}

#[tokio::test]
async fn a_request_without_user_agent_is_refused_and_recorded() {
    let (github, mut client) = ready().await;
    client.headers.clear();
    assert_eq!(client.get("/rate_limit").await.status, 403);
    assert!(github.violations()[0].contains("User-Agent"));
}

#[tokio::test]
async fn an_unknown_route_is_404_and_recorded() {
    let (github, client) = ready().await;
    assert_eq!(
        client.get("/repos/octo-org/widgets/nonsense").await.status,
        404
    );
    assert!(github.violations()[0].contains("no such route"));
    assert_eq!(
        github.requests().last().map(|record| record.status),
        Some(404)
    );
}
