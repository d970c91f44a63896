//! JWTs, tokens, suspension, permissions.

use crate::caller::{Client, REPO, good_jwt, jwt, ready, ready_with};
use chrono::TimeDelta;
use fake_github::Config;
use serde_json::json;

#[tokio::test]
async fn a_jwt_lives_ten_minutes_at_most_and_is_not_from_the_future() {
    let (github, _) = ready().await;
    let cases = [
        (good_jwt(), 200),
        (jwt("12345", -60, 541), 401),
        (jwt("12345", 30, 300), 401),
        (jwt("12345", -600, -1), 401),
        (jwt("999", -60, 300), 404),
        (good_jwt() + "x", 401),
    ];
    for (token, expected) in cases {
        let got = Client::new(&github, Some(&token)).get("/app").await;
        assert_eq!(got.status, expected, "{}", got.text);
    }
    assert_eq!(Client::new(&github, None).get("/app").await.status, 401);
    github.set_jwt_skew(TimeDelta::minutes(-5));
    assert_eq!(
        Client::new(&github, Some(&good_jwt()))
            .get("/app")
            .await
            .status,
        401,
        "our clock is behind: issued in the future"
    );
    github.assert_no_violations();
}

#[tokio::test]
async fn a_token_opens_only_the_repositories_of_its_installation_until_it_expires() {
    let (github, client) = ready().await;
    github.add_repo("other-org/secret");
    assert_eq!(client.get("/repos/octo-org/widgets").await.status, 200);
    assert_eq!(client.get("/repos/other-org/secret").await.status, 404);
    assert_eq!(
        client.get("/installation/repositories").await.json["total_count"],
        1
    );
    github.expire_tokens();
    assert_eq!(client.get("/repos/octo-org/widgets").await.status, 401);
    github.assert_no_violations();
}

#[tokio::test]
async fn a_token_that_lives_no_time_is_refused() {
    let (_github, client) = ready_with(Config {
        token_life: TimeDelta::zero(),
        ..Config::default()
    })
    .await;
    assert_eq!(client.get("/repos/octo-org/widgets").await.status, 401);
}

#[tokio::test]
async fn suspension_and_missing_permission_are_403() {
    let (github, client) = ready().await;
    let installation = github.installation_of(REPO);
    github.suspend(installation);
    let got = client.get("/repos/octo-org/widgets").await;
    assert_eq!(
        (got.status, got.json["message"].as_str()),
        (403, Some("This installation has been suspended"))
    );
    let app = Client::new(&github, Some(&good_jwt()));
    let mint = format!("/app/installations/{installation}/access_tokens");
    assert_eq!(app.send("POST", &mint, json!({})).await.status, 403);
    github.unsuspend(installation);
    let narrow = app
        .send("POST", &mint, json!({"permissions": {"issues": "read"}}))
        .await;
    let reader = Client::new(&github, narrow.json["token"].as_str());
    let got = reader
        .send(
            "POST",
            "/repos/octo-org/widgets/issues",
            json!({"title": "x"}),
        )
        .await;
    assert_eq!(
        (got.status, got.json["message"].as_str()),
        (403, Some("Resource not accessible by integration"))
    );
    assert_eq!(github.tokens_minted(), 2);
    github.assert_no_violations();
}

#[tokio::test]
async fn the_primary_limit_answers_403_and_says_so_in_headers() {
    let (github, client) = ready().await;
    github.set_rate_remaining(github.installation_of(REPO), 1);
    assert_eq!(
        client.get("/repos/octo-org/widgets").await.headers["x-ratelimit-remaining"],
        "0"
    );
    let got = client.get("/repos/octo-org/widgets").await;
    assert_eq!(
        (got.status, got.headers["x-ratelimit-remaining"].as_str()),
        (403, "0")
    );
    github.advance(TimeDelta::hours(1));
    assert_eq!(client.get("/repos/octo-org/widgets").await.status, 200);
}
