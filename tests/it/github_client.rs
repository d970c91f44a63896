//! The client below its calls: tokens, redirects, hosts, time limits, proxies.

use crate::github_client_stub::*;
use quadgate::domain::{AppId, InstallationId};
use quadgate::github::{ApiError, CallOutcome, ClientError, GitHub, Proxy, Timeouts};
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

const PULL: &str = "/repos/octo-org/widgets/pulls/7";
const MINT: &str = "/app/installations/55/access_tokens";

#[tokio::test]
async fn twenty_cold_requests_mint_one_token() {
    let stub = Stub::start(|request| {
        request
            .is("GET", PULL)
            .then(|| json_of(200, &pull_json(1, 1)))
    })
    .await;
    let github = stub.client();
    let mut tasks = JoinSet::new();
    for _ in 0..20 {
        let github = github.clone();
        tasks.spawn(async move { github.pull(&repo(), SEVEN).await.map(drop) });
    }
    for result in tasks.join_all().await {
        result.expect("read");
    }
    assert_eq!(stub.count("POST", MINT), 1);
    assert_eq!(stub.count("GET", PULL), 20);
    for request in stub.requests() {
        if request.is("GET", PULL) {
            assert_eq!(request.token, "Bearer ghs_0");
        }
        assert!(
            request.headers["user-agent"]
                .to_str()
                .expect("text")
                .starts_with("quadgate/")
        );
        assert_eq!(request.headers["x-github-api-version"], "2022-11-28");
    }
}

#[tokio::test]
async fn a_token_that_ends_soon_is_renewed() {
    let stub = Stub::start(|request| {
        if request.is("POST", MINT) {
            let answer = json!({"token": "ghs_x", "expires_at": "2026-05-25T12:00:00Z"});
            return Some(json_of(201, &answer).with("date", "Mon, 25 May 2026 12:00:00 GMT"));
        }
        request
            .is("GET", PULL)
            .then(|| json_of(200, &pull_json(1, 1)))
    })
    .await;
    let github = stub.client();
    for _ in 0..2 {
        github.pull(&repo(), SEVEN).await.expect("read");
    }
    assert_eq!(stub.count("POST", MINT), 2);
}

#[tokio::test]
async fn a_revoked_token_is_replaced_once() {
    let stub = Stub::start(|request| {
        if !request.is("GET", PULL) {
            return None;
        }
        if request.token == "Bearer ghs_0" {
            return message(401, "Bad credentials");
        }
        ok(pull_json(1, 1))
    })
    .await;
    stub.client()
        .pull(&repo(), SEVEN)
        .await
        .expect("read with the second token");
    assert_eq!(stub.count("POST", MINT), 2);

    let never = Stub::start(|request| {
        request
            .is("GET", PULL)
            .then(|| json_of(401, &json!({"message": "Bad credentials"})))
    })
    .await;
    let error = never
        .client()
        .pull(&repo(), SEVEN)
        .await
        .expect_err("refused");
    assert!(matches!(error, ApiError::Unauthorized { .. }), "{error:?}");
    assert_eq!(never.count("GET", PULL), 2);
}

#[tokio::test]
async fn a_skewed_clock_is_made_up_for_and_named() {
    // GitHub's clock, far from any that runs this test.
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    let stub = Stub::start(move |request| {
        if !request.is("GET", "/app/installations") {
            return None;
        }
        if request.nth == 0 {
            return Some(json_of(401, &json!({"message": "'Issued at' claim"})).with("date", date));
        }
        ok(json!([]))
    })
    .await;
    stub.client()
        .installations()
        .await
        .expect("signed by GitHub's clock");
    assert_eq!(stub.count("GET", "/app/installations"), 2);

    let stub = Stub::start(move |request| {
        let answer = json!({"message": "'Issued at' claim"});
        request
            .target
            .starts_with("/app")
            .then(|| json_of(401, &answer).with("date", date))
    })
    .await;
    let error = stub
        .client()
        .pull(&repo(), SEVEN)
        .await
        .expect_err("refused");
    let shown = error.to_string();
    assert!(
        shown.contains("clock") && shown.contains("ahead of"),
        "{shown}"
    );
    assert_eq!(stub.count("POST", MINT), 2);
}

#[tokio::test]
async fn suspended_and_removed_installations_are_told_apart() {
    for (status, words, suspended) in [
        (403, "This installation has been suspended", true),
        (404, "Not Found", false),
    ] {
        let stub = Stub::start(move |request| {
            request
                .is("POST", MINT)
                .then(|| json_of(status, &json!({"message": words})))
        })
        .await;
        let error = stub
            .client()
            .pull(&repo(), SEVEN)
            .await
            .expect_err("no token");
        assert_eq!(
            matches!(error, ApiError::Suspended { .. }),
            suspended,
            "{error:?}"
        );
        assert_eq!(
            matches!(error, ApiError::Gone { .. }),
            !suspended,
            "{error:?}"
        );
        assert!(!error.is_retryable());
    }
}

#[tokio::test]
async fn a_redirect_keeps_method_and_body_and_host() {
    let stub = Stub::start(|request| match request.target.as_str() {
        "/repos/octo-org/widgets/issues/7/labels" => {
            Some(json_of(301, &json!({})).with("location", "/repositories/1/issues/7/labels"))
        }
        "/repositories/1/issues/7/labels" => ok(json!([])),
        _ => None,
    })
    .await;
    let effect = quadgate::domain::Effect::AddLabels {
        repo: repo(),
        number: quadgate::domain::IssueNumber(7),
        labels: vec!["a".into()],
    };
    stub.client().apply(&effect).await.expect("done");
    let last = stub.requests().pop().expect("requests");
    assert!(
        last.is("POST", "/repositories/1/issues/7/labels"),
        "{last:?}"
    );
    assert_eq!(last.body, json!({"labels": ["a"]}));
}

#[tokio::test]
async fn no_token_leaves_for_another_host() {
    let other = Stub::start(|_| ok(json!([]))).await;
    let url = other.url.clone();
    let stub = Stub::start(move |request| {
        if request.is("GET", PULL) {
            return Some(json_of(307, &json!({})).with("location", format!("{url}/steal")));
        }
        let next = format!("<{url}/page2>; rel=\"next\"");
        request
            .is("GET", "/repos/octo-org/widgets/issues/7/comments")
            .then(|| json_of(200, &json!([])).with("link", next))
    })
    .await;
    let github = stub.client();
    let error = github.pull(&repo(), SEVEN).await.expect_err("refused");
    assert!(error.to_string().contains("another host"), "{error}");
    let error = github
        .comments(&repo(), quadgate::domain::IssueNumber(7))
        .await
        .expect_err("refused");
    assert!(matches!(error, ApiError::Unreadable { .. }), "{error:?}");
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn redirects_end() {
    let stub = Stub::start(|request| {
        request
            .is("GET", PULL)
            .then(|| json_of(302, &json!({})).with("location", PULL))
    })
    .await;
    let error = stub
        .client()
        .pull(&repo(), SEVEN)
        .await
        .expect_err("refused");
    assert!(error.to_string().contains("redirects"), "{error}");
    assert!(stub.count("GET", PULL) < 10);
}

#[tokio::test]
async fn silence_ends_in_time() {
    let stub = Stub::start(|request| {
        if request.is("GET", PULL) {
            silence()
        } else {
            None
        }
    })
    .await;
    let counter = Arc::new(Counter::default());
    let mut config = stub.config();
    config.observer = counter.clone();
    config.retry.times = 0;
    for (read, total) in [(60_000, 100), (100, 60_000)] {
        config.timeouts = Timeouts {
            connect: Duration::from_secs(5),
            read: Duration::from_millis(read),
            total: Duration::from_millis(total),
        };
        let github = GitHub::new(config.clone()).expect("a client");
        let error = github.pull(&repo(), SEVEN).await.expect_err("no answer");
        assert!(matches!(error, ApiError::Transient { .. }), "{error:?}");
        let (endpoint, outcome) = *counter.calls.lock().expect("whole").last().expect("calls");
        assert_eq!((endpoint, outcome), ("GET pull", CallOutcome::TimedOut));
    }
}

#[tokio::test]
async fn a_host_that_is_not_there_is_transient() {
    let stub = Stub::start(|_| None).await;
    let mut config = stub.config();
    // The port of a listener that is gone.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
    config.base_url = format!("http://{}", listener.local_addr().expect("bound"));
    drop(listener);
    let github = GitHub::new(config).expect("a client");
    let error = github.pull(&repo(), SEVEN).await.expect_err("nobody there");
    assert!(error.is_retryable(), "{error:?}");
    assert!(error.to_string().contains("no answer"), "{error}");
}

#[tokio::test]
async fn reads_are_repeated_and_html_does_not_hide_the_status() {
    let stub = Stub::start(|request| {
        if !request.is("GET", PULL) {
            return None;
        }
        if request.nth < 2 {
            return Some(text(502, "<html>Unicorn!</html>").with("content-type", "text/html"));
        }
        ok(pull_json(1, 1))
    })
    .await;
    stub.client()
        .pull(&repo(), SEVEN)
        .await
        .expect("the third try");

    let stub = Stub::start(|request| {
        request
            .is("GET", PULL)
            .then(|| text(502, "<html>Unicorn!</html>"))
    })
    .await;
    let error = stub.client().pull(&repo(), SEVEN).await.expect_err("502");
    assert!(error.to_string().contains("HTTP 502"), "{error}");
    assert!(error.is_retryable());
    assert_eq!(stub.count("GET", PULL), 3);

    // A page in place of JSON, with a success: neither empty nor a panic.
    let stub = Stub::start(|request| request.is("GET", PULL).then(|| text(200, "<html>"))).await;
    let error = stub
        .client()
        .pull(&repo(), SEVEN)
        .await
        .expect_err("no JSON");
    assert!(matches!(error, ApiError::Unreadable { .. }), "{error:?}");
}

#[tokio::test]
async fn the_rate_is_reported() {
    let stub = Stub::start(|request| {
        request.is("GET", PULL).then(|| {
            json_of(200, &pull_json(1, 1))
                .with("x-ratelimit-limit", 5000)
                .with("x-ratelimit-remaining", 4321)
                .with("x-ratelimit-reset", 1_800_000_000)
                .with("x-ratelimit-resource", "core")
        })
    })
    .await;
    let counter = Arc::new(Counter::default());
    let mut config = stub.config();
    config.observer = counter.clone();
    let github = GitHub::new(config).expect("a client");
    assert_eq!(github.rate_left(InstallationId(55)), None);
    github.pull(&repo(), SEVEN).await.expect("read");
    let left = github.rate_left(InstallationId(55)).expect("reported");
    assert_eq!((left.remaining, left.limit), (4321, Some(5000)));
    assert_eq!(left.reset.to_string(), "2027-01-15T08:00:00Z");
    let rates = counter.rates.lock().expect("whole");
    assert_eq!(
        rates[0],
        (Some(InstallationId(55)), "core".to_owned(), left)
    );
}

#[tokio::test]
async fn an_enterprise_server_keeps_its_prefix() {
    let stub = Stub::start(|request| {
        if request.target.ends_with("/access_tokens") {
            let answer = json!({"token": "ghs_e", "expires_at": null});
            return Some(json_of(201, &answer));
        }
        let events = "/api/v3/repos/octo-org/widgets/issues/7/events";
        if !request.is("GET", events) {
            return None;
        }
        assert_eq!(request.token, "Bearer ghs_e");
        let label = json!([{"event": "labeled", "label": {"name": "x"}, "actor": null, "created_at": "2026-05-25T12:00:00Z"}]);
        let answer = json_of(200, &label);
        Some(match request.param("page") {
            None => answer.with("link", format!("<http://{}{events}?page=2>; rel=\"next\"", request.headers["host"].to_str().expect("text"))),
            Some(_) => answer,
        })
    })
    .await;
    let mut config = stub.config();
    config.base_url.push_str("/api/v3/");
    let github = GitHub::new(config).expect("a client");
    let events = github.label_events(&repo(), SEVEN).await.expect("read");
    assert_eq!(events.len(), 2);
}

#[tokio::test]
async fn a_proxy_is_used() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("loopback");
    let address = listener.local_addr().expect("bound");
    let proxy = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let asked = read_head(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\n\r\n")
            .await
            .expect("written");
        let request = read_head(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]")
            .await
            .expect("written");
        (asked, request)
    });
    let stub = Stub::start(|_| None).await;
    let mut config = stub.config();
    config.base_url = "http://github.invalid".to_owned();
    config.proxy = Proxy::Url(format!("http://{address}"));
    let github = GitHub::new(config).expect("a client");
    assert_eq!(github.installations().await.expect("read"), []);
    let (asked, request) = proxy.await.expect("no panic");
    assert!(asked.starts_with("CONNECT github.invalid:80 "), "{asked}");
    assert!(!asked.to_lowercase().contains("authorization"), "{asked}");
    assert!(
        request.starts_with("GET /app/installations?per_page=100 "),
        "{request}"
    );
}

async fn read_head(stream: &mut tokio::net::TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a byte"));
    }
    String::from_utf8(head).expect("text")
}

#[tokio::test]
async fn what_cannot_work_is_refused_at_once() {
    let stub = Stub::start(|_| None).await;
    for bad in [
        "",
        "api.github.com",
        "ftp://x",
        "https://user@x",
        "https://x?y=1",
    ] {
        let mut config = stub.config();
        config.base_url = bad.to_owned();
        let error = GitHub::new(config).err().expect("refused");
        assert!(matches!(error, ClientError::BaseUrl(_)), "{error}");
    }
    let mut config = stub.config();
    config.user_agent = "a\nb".to_owned();
    assert!(matches!(
        GitHub::new(config).err(),
        Some(ClientError::UserAgent(_))
    ));
    let mut config = stub.config();
    config.app_id = AppId(1);
    config.private_key = SecretString::from("not a key");
    let error = GitHub::new(config).err().expect("refused").to_string();
    assert!(
        error.contains("private key") && !error.contains("not a key"),
        "{error}"
    );
}

#[tokio::test]
async fn what_has_not_changed_is_not_sent_again() {
    let stub = Stub::start(|request| {
        if !request.target.contains("/issues/7/reactions") {
            return None;
        }
        let tag = format!("W/\"{}\"", request.token);
        let asked = request.headers.get("if-none-match");
        if asked.is_some_and(|asked| asked.to_str().expect("text") == tag) {
            return Some(text(304, ""));
        }
        let reaction =
            json!([{"id": 1, "content": "+1", "user": null, "created_at": "2026-05-25T12:00:00Z"}]);
        let answer = json_of(200, &reaction).with("etag", tag);
        Some(match request.param("page") {
            None => answer.with(
                "link",
                "</repos/octo-org/widgets/issues/7/reactions?per_page=100&page=2>; rel=\"next\"",
            ),
            Some(_) => answer,
        })
    })
    .await;
    let counter = Arc::new(Counter::default());
    let mut config = stub.config();
    config.observer = counter.clone();
    let github = GitHub::new(config).expect("a client");
    let issue = quadgate::domain::IssueNumber(7);
    let first = github.reactions(&repo(), issue).await.expect("read");
    assert_eq!(
        github.reactions(&repo(), issue).await.expect("read again"),
        first
    );
    assert_eq!(first.len(), 2, "the kept answer has its next page");
    let statuses: Vec<_> = counter
        .calls
        .lock()
        .expect("whole")
        .iter()
        .map(|(_, outcome)| *outcome)
        .collect();
    let status = CallOutcome::Status;
    assert_eq!(
        statuses,
        [
            status(201),
            status(200),
            status(200),
            status(304),
            status(304)
        ]
    );

    // Another installation does not get what this one was given, though the target is the same.
    let mut other = repo();
    other.installation = InstallationId(56);
    github.reactions(&other, issue).await.expect("read");
    let last = stub.requests().pop().expect("requests");
    assert!(last.headers.get("if-none-match").is_none());
}
