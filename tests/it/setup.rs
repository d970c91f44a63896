//! `quadgate setup` from its page through GitHub's to the files, and every way in which that goes wrong.

use crate::visitor::{Running, get, get_as, post, quadgate};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use fake_github::{Config, FakeGitHub, TEST_KEY_PEM};
use quadgate::domain::AppId;
use quadgate::github::needs::Features;
use quadgate::github::{ApiError, ConversionError, NewApp};
use quadgate::settings::{self, Secrets};
use quadgate::setup::files::{self, Written};
use quadgate::setup::page::{Exchange, Flow, Outcome, router};
use quadgate::setup::{Place, Wanted};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use tokio::sync::Notify;
use tower::ServiceExt;

const WEBHOOK: &str = "https://gate.example.org/webhook";

async fn stand_in() -> FakeGitHub {
    let config = Config {
        auto_install: false,
        ..Config::default()
    };
    let github = FakeGitHub::start(config).await.expect("a free port");
    github.add_user("octo-owner");
    github.add_org("octo-org");
    github
}

/// A setup that waits for its browser, and the address of its page.
async fn begun(folder: &Path, github: &FakeGitHub, more: &[&str]) -> (Running, String) {
    let url = github.url();
    let mut arguments = vec!["setup", "--webhook-url", WEBHOOK, "--github-url", &url];
    arguments.extend(more);
    let mut running = Running::start(folder, &arguments);
    let line = running.line("Open this page").await;
    let page = line.split(": ").nth(1).expect("an address").to_owned();
    (running, page)
}

/// What a person does: sends the form, confirms at GitHub; where GitHub sends the browser.
async fn confirmed(page: &str) -> String {
    let first = get(page).await;
    assert_eq!(first.status, 200, "{}", first.body);
    let action = first.attribute("method=\"post\"", "action");
    let manifest = first.attribute("name=\"manifest\"", "value");
    let answer = post(&action, &[("manifest", &manifest)]).await;
    assert_eq!(answer.status, 302, "{}", answer.body);
    answer.header("location").expect("a target").to_owned()
}

fn mode(path: &Path) -> u32 {
    let metadata = std::fs::metadata(path).unwrap_or_else(|_| panic!("{}", path.display()));
    metadata.permissions().mode() & 0o777
}

fn assert_kept(folder: &Path) {
    for file in [
        ".env",
        "secrets/app-id",
        "secrets/private-key.pem",
        "secrets/webhook-secret",
        "secrets/client-secret",
    ] {
        assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
    }
    assert_eq!(mode(&folder.join("secrets")), 0o700);
    let text = std::fs::read_to_string(folder.join(".env")).expect("the file");
    let environment = settings::parse_dotenv(&text).expect("reads");
    let secrets = Secrets::read(&environment).expect("all that the server needs");
    assert_eq!(secrets.app_id, AppId(12_345));
    for secret in ["test-webhook-secret", "BEGIN RSA", "0123456789abcdef"] {
        assert!(!text.contains(secret), "a secret stands in .env");
    }
}

#[tokio::test]
async fn an_app_is_made_and_its_secrets_are_kept() {
    let github = stand_in().await;
    let dir = TempDir::new().expect("a folder");
    let (running, page) = begun(
        dir.path(),
        &github,
        &["--repo", "octo-org/widgets", "--name", "Octo Gate"],
    )
    .await;
    let first = get(&page).await;
    let policy = first
        .header("content-security-policy")
        .expect("a policy")
        .to_owned();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(policy.contains(&github.url()), "the form may go to GitHub");
    assert!(!first.body.contains("<script"), "no script");
    let back = confirmed(&page).await;
    let last = get(&back).await;
    assert_eq!(last.status, 200, "{}", last.body);
    assert!(
        last.body.contains("/apps/octo-gate/installations/new"),
        "{}",
        last.body
    );
    let ended = running.ended().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    for words in [
        "The App `octo-gate` (id 12345) is made.",
        "installations/new",
        "quadgate doctor",
        "L1.C3",
        "octo-org/governance",
    ] {
        assert!(ended.out.contains(words), "{words} in {}", ended.out);
    }
    for secret in ["test-webhook-secret", "BEGIN RSA"] {
        assert!(!ended.out.contains(secret) && !ended.err.contains(secret));
    }
    assert_kept(dir.path());
    let loaded = settings::load(&dir.path().join("config")).expect("a configuration that loads");
    assert_eq!(loaded.policy.owners.logins, ["octo-owner"]);
    assert_eq!(loaded.policy.bot.app_slug, "octo-gate");
    assert_eq!(loaded.policy.repos.gated[0].to_string(), "octo-org/widgets");
    assert_eq!(
        loaded.server.github_url,
        format!("{}/api/v3", github.url()),
        "not github.com"
    );
    github.assert_no_violations();
}

#[tokio::test]
async fn an_organisation_owns_it_and_merging_asks_for_more() {
    let github = stand_in().await;
    let dir = TempDir::new().expect("a folder");
    let more = [
        "--org",
        "octo-org",
        "--merge",
        "--admin-url",
        "https://gate.example.org/",
        "--out",
        "kept",
        "--json",
    ];
    let (running, page) = begun(dir.path(), &github, &more).await;
    let manifest = get(&page).await.attribute("name=\"manifest\"", "value");
    let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!(manifest["default_permissions"]["contents"], "write");
    assert_eq!(manifest["public"], false);
    assert_eq!(
        manifest["callback_urls"][0],
        "https://gate.example.org/sign-in/callback"
    );
    assert!(
        manifest["default_events"]
            .as_array()
            .is_some_and(|events| events.contains(&"push".into()))
    );
    get(&confirmed(&page).await).await;
    let ended = running.ended().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let made = ended.json();
    assert_eq!(made["app_id"], 12_345);
    assert_eq!(made["owner"], "octo-org");
    assert_kept(&dir.path().join("kept"));
    assert!(!dir.path().join("config").exists(), "none was asked for");
    github.assert_no_violations();
}

#[tokio::test]
async fn a_wrong_state_is_refused_and_the_setup_goes_on() {
    let github = stand_in().await;
    let dir = TempDir::new().expect("a folder");
    let (running, page) = begun(dir.path(), &github, &[]).await;
    for query in ["code=abc&state=0000", "code=abc", ""] {
        let answer = get(&format!("{page}callback?{query}")).await;
        assert_eq!(answer.status, 403, "{query}");
        assert!(answer.body.contains("Wrong state"));
    }
    assert_eq!(
        post(&format!("{page}cancel?state=0"), &[]).await.status,
        403
    );
    let rebound = get_as(&page, "evil.example").await;
    assert_eq!(rebound.status, 421, "a page that names this machine itself");
    assert!(!rebound.body.contains("manifest"));
    assert_eq!(get(&confirmed(&page).await).await.status, 200);
    assert_eq!(running.ended().await.code, 0);
}

#[tokio::test]
async fn a_code_that_is_too_old_is_told_with_the_way_out() {
    let github = stand_in().await;
    let dir = TempDir::new().expect("a folder");
    let (running, page) = begun(dir.path(), &github, &[]).await;
    let back = confirmed(&page).await;
    github.advance(chrono::TimeDelta::minutes(61));
    let answer = get(&back).await;
    assert_eq!(answer.status, 410);
    assert!(answer.body.contains("Delete it"), "{}", answer.body);
    let ended = running.ended().await;
    assert_eq!(ended.code, 1);
    assert!(
        ended.err.contains("delete it in its settings"),
        "{}",
        ended.err
    );
    let code = back.split("code=").nth(1).expect("a code");
    let code = code.split('&').next().expect("its end");
    assert!(!ended.err.contains(code), "the code is no text for a log");
    assert!(!dir.path().join(".env").exists());
}

#[tokio::test]
async fn refusing_on_either_page_ends_it() {
    let github = stand_in().await;
    let dir = TempDir::new().expect("a folder");
    let (running, page) = begun(dir.path(), &github, &[]).await;
    let stop = get(&page).await.attribute("action=\"/cancel", "action");
    let stopped = post(&format!("{}{stop}", page.trim_end_matches('/')), &[]).await;
    assert_eq!(stopped.status, 200);
    let ended = running.ended().await;
    assert_eq!(ended.code, 1);
    assert!(ended.err.contains("no App was made"), "{}", ended.err);

    let (running, page) = begun(dir.path(), &github, &[]).await;
    let action = get(&page).await.attribute("method=\"post\"", "action");
    let state = action.split("state=").nth(1).expect("a state");
    let denied = format!("{page}callback?error=access_denied&state={state}");
    assert!(get(&denied).await.body.contains("access_denied"));
    let ended = running.ended().await;
    assert_eq!(ended.code, 1);
    assert!(ended.err.contains("access_denied"), "{}", ended.err);
}

#[tokio::test]
async fn nothing_is_overwritten_unless_told() {
    let github = stand_in().await;
    let dir = TempDir::new().expect("a folder");
    let own = "# mine\nQUADGATE_RECEIPT_KEY=keep-me-keep-me-keep-me-keep-me-1\nQUADGATE_APP_ID=1\n";
    std::fs::write(dir.path().join(".env"), own).expect("written");
    let ended = quadgate(dir.path(), &["setup", "--webhook-url", WEBHOOK]).await;
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("--force"), "{}", ended.err);
    assert_eq!(
        std::fs::read_to_string(dir.path().join(".env")).expect("there"),
        own
    );
    let (running, page) = begun(dir.path(), &github, &["--force"]).await;
    get(&confirmed(&page).await).await;
    assert_eq!(running.ended().await.code, 0);
    assert_kept(dir.path());
    let text = std::fs::read_to_string(dir.path().join(".env")).expect("there");
    assert!(
        text.starts_with("# mine\nQUADGATE_RECEIPT_KEY=keep-me"),
        "{text}"
    );
    assert!(!text.contains("QUADGATE_APP_ID=1\n"), "{text}");
}

#[tokio::test]
async fn what_cannot_work_is_refused_before_anything_is_asked() {
    let dir = TempDir::new().expect("a folder");
    std::fs::create_dir(dir.path().join("config")).expect("made");
    for (arguments, words) in [
        (&["--webhook-url", "http://gate.example.org/x"][..], "https"),
        (&["--webhook-url", "gate"], "https"),
        (
            &[
                "--webhook-url",
                WEBHOOK,
                "--github-url",
                "http://git.example.org",
            ],
            "in the clear",
        ),
        (&["--webhook-url", WEBHOOK, "--repo", "o/r"], "already"),
        (
            &[
                "--webhook-url",
                WEBHOOK,
                "--org",
                "o",
                "--repo",
                "o/r",
                "--config",
                "new",
            ],
            "--owner",
        ),
        (&["--webhook-url", WEBHOOK, "--name", ""], "1 to 34"),
        (&[], "--webhook-url"),
    ] {
        let all: Vec<&str> = ["setup"].iter().chain(arguments).copied().collect();
        let ended = quadgate(dir.path(), &all).await;
        assert_eq!(ended.code, 2, "{arguments:?}");
        assert!(ended.err.contains(words), "{arguments:?}: {}", ended.err);
    }
}

fn app() -> NewApp {
    NewApp {
        id: AppId(7),
        slug: "gate".to_owned(),
        html_url: "https://github.com/apps/gate".to_owned(),
        owner: Some("octo-owner".to_owned()),
        client_id: "Iv23".to_owned(),
        client_secret: "c".into(),
        webhook_secret: "w".into(),
        private_key: TEST_KEY_PEM.into(),
    }
}

fn flow(exchange: Exchange) -> Flow {
    Flow {
        wanted: Wanted {
            place: "https://github.com".parse::<Place>().expect("a place"),
            org: None,
            name: "gate".to_owned(),
            webhook_url: WEBHOOK.to_owned(),
            admin_url: None,
            features: Features::default(),
        },
        address: "127.0.0.1:4000".parse().expect("an address"),
        state: "s".to_owned(),
        exchange,
        keep: Arc::new(|_| {
            Ok(Written {
                env_file: ".env".into(),
                private_key: "key".into(),
                all: Vec::new(),
            })
        }),
    }
}

async fn call(router: &axum::Router, target: &str) -> StatusCode {
    let request = Request::get(target)
        .header("host", "localhost:4000")
        .body(Body::empty())
        .expect("a request");
    let answer = router.clone().oneshot(request).await.expect("an answer");
    answer.status()
}

#[tokio::test]
async fn a_second_callback_does_nothing() {
    let (gate, calls) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let (waiting, counting) = (gate.clone(), calls.clone());
    let (router, mut outcome) = router(flow(Arc::new(move |_| {
        let (gate, calls) = (waiting.clone(), counting.clone());
        Box::pin(async move {
            calls.fetch_add(1, Ordering::SeqCst);
            gate.notified().await;
            Ok(app())
        })
    })));
    let first = tokio::spawn({
        let router = router.clone();
        async move { call(&router, "/callback?code=a&state=s").await }
    });
    while calls.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let second = call(&router, "/callback?code=a&state=s").await;
    assert_eq!(second, StatusCode::CONFLICT);
    gate.notify_one();
    assert_eq!(first.await.expect("ends"), StatusCode::OK);
    let third = call(&router, "/callback?code=a&state=s").await;
    assert_eq!(third, StatusCode::GONE);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    let outcome = outcome.wait_for(Option::is_some).await.expect("an outcome");
    assert!(matches!(&*outcome, Some(Outcome::Made(_))));
}

#[tokio::test]
async fn a_github_that_is_down_may_be_asked_again() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counting = calls.clone();
    let (router, outcome) = router(flow(Arc::new(move |_| {
        let first = counting.fetch_add(1, Ordering::SeqCst) == 0;
        Box::pin(async move {
            if first {
                return Err(ConversionError::Api(ApiError::Transient {
                    call: "POST",
                    problem: "HTTP 502".to_owned(),
                    retry_after: None,
                }));
            }
            Ok(app())
        })
    })));
    let target = "/callback?code=a&state=s";
    assert_eq!(call(&router, target).await, StatusCode::BAD_GATEWAY);
    assert!(outcome.borrow().is_none(), "it goes on");
    assert_eq!(call(&router, target).await, StatusCode::OK);
    assert!(matches!(&*outcome.borrow(), Some(Outcome::Made(_))));
}

#[test]
fn secrets_that_cannot_be_written_are_told() {
    let dir = TempDir::new().expect("a folder");
    std::fs::write(dir.path().join("secrets"), "a file in the way").expect("written");
    let error = files::keep(&app(), dir.path(), false).expect_err("no directory");
    assert!(error.contains("secrets"), "{error}");
    let quotes = dir.path().join("a\"b");
    let error = files::keep(&app(), &quotes, false).expect_err("no plain name");
    assert!(error.contains("plain name"), "{error}");
    let spaces = dir.path().join("two words");
    let written = files::keep(&app(), &spaces, false).expect("kept");
    let text = std::fs::read_to_string(&written.env_file).expect("there");
    let environment = settings::parse_dotenv(&text).expect("reads");
    assert!(Secrets::read(&environment).is_ok());
    files::keep(&app(), &spaces, false).expect_err("there already");
    files::keep(&app(), &spaces, true).expect("replaced");
    let left: Vec<_> = std::fs::read_dir(spaces.join("secrets"))
        .expect("a folder")
        .collect();
    assert_eq!(left.len(), 4, "nothing is left beside the files");
}
