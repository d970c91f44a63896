//! The client library of the product works against the stand-in: JWT, token, a read, a write.

use fake_github::{Config, FakeGitHub, FileSpec, PullSpec, TEST_KEY_PEM};
use jsonwebtoken::EncodingKey;
use octocrab::{Octocrab, models::AppId};
use serde_json::{Value, json};

const REPO: &str = "octo-org/widgets";

#[tokio::test]
async fn octocrab_reads_a_pull_request_and_posts_a_check_run() {
    let github = FakeGitHub::start(Config::default())
        .await
        .expect("it starts");
    github.add_repo(REPO);
    let number = github.open_pull(
        REPO,
        &PullSpec::new("change").file(FileSpec::added("a", "x\n")),
    );
    let key = EncodingKey::from_rsa_pem(TEST_KEY_PEM.as_bytes()).expect("the test key");
    let app = Octocrab::builder()
        .base_uri(github.url())
        .expect("a base")
        .app(AppId(github.config().app_id), key)
        .build()
        .expect("a client");
    let client = app
        .installation(github.installation_of(REPO).into())
        .expect("an installation");
    let pull: Value = client
        .get(format!("/repos/{REPO}/pulls/{number}"), None::<&()>)
        .await
        .expect("the pull request");
    let sha = pull["head"]["sha"].as_str().expect("a head").to_owned();
    let body =
        json!({"name": "L1.C3", "head_sha": sha, "status": "completed", "conclusion": "success"});
    let run: Value = client
        .post(format!("/repos/{REPO}/check-runs"), Some(&body))
        .await
        .expect("a check-run");
    assert_eq!(
        run["id"].as_u64(),
        github
            .check_run(REPO, &sha, "L1.C3")
            .map(|standing| standing.id)
    );
    assert_eq!(
        github.tokens_minted(),
        1,
        "the token is kept for both requests"
    );
    github.assert_no_violations();
}
