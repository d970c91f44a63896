//! A few lines of HTTP on loopback that answer as a test says and remember what came.

#![allow(
    clippy::unnecessary_wraps,
    reason = "a test's function answers with an `Option`, so what it calls does too"
)]

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, Method, Response, StatusCode, Uri, header::AUTHORIZATION};
use quadgate::domain::{AppId, InstallationId, PullNumber, RepoId, RepoRef, Sha};
use quadgate::github::{CallOutcome, ClientConfig, GitHub, Observer, Proxy, RateLeft, ReadRetry};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const KEY: &str = include_str!("data/github/app-pkcs1.pem");
pub const APP: u64 = 4711;

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: Method,
    /// Path and query.
    pub target: String,
    pub token: String,
    pub headers: HeaderMap,
    pub body: Value,
    /// How many requests with this method and target came before.
    pub nth: usize,
}

impl Request {
    pub fn is(&self, method: &str, path: &str) -> bool {
        self.method == method && self.target.split('?').next() == Some(path)
    }

    pub fn param(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        query
            .split('&')
            .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }
}

/// An answer; `None` from a test's function means 404.
pub struct Answer(u16, Vec<(String, String)>, String);

impl Answer {
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.1.push((name.to_owned(), value.to_string()));
        self
    }
}

pub fn json_of(status: u16, body: &Value) -> Answer {
    Answer(status, Vec::new(), body.to_string())
        .with("content-type", "application/json; charset=utf-8")
}

pub fn text(status: u16, body: &str) -> Answer {
    Answer(status, Vec::new(), body.to_owned())
}

pub fn ok(body: Value) -> Option<Answer> {
    Some(json_of(200, &body))
}

pub fn message(status: u16, message: &str) -> Option<Answer> {
    Some(json_of(status, &json!({ "message": message })))
}

/// The server.
pub struct Stub {
    pub url: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Stub {
    /// Answers with what `answer` says; installation tokens and the App itself are answered here unless it does.
    pub async fn start(
        answer: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let seen: Arc<Mutex<Vec<Request>>> = Arc::default();
        let log = seen.clone();
        let answer = Arc::new(answer);
        let handler = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
            let (log, answer) = (log.clone(), answer.clone());
            async move {
                let target = uri.to_string();
                let request = {
                    let mut log = log.lock().expect("no test panics while it holds this");
                    let nth = log
                        .iter()
                        .filter(|old| old.method == method && old.target == target)
                        .count();
                    let request = Request {
                        method,
                        target,
                        token: headers
                            .get(AUTHORIZATION)
                            .map(|value| value.to_str().expect("visible").to_owned())
                            .unwrap_or_default(),
                        headers,
                        body: serde_json::from_slice(&body).unwrap_or_default(),
                        nth,
                    };
                    log.push(request.clone());
                    request
                };
                let Answer(status, headers, body) = answer(&request)
                    .or_else(|| default_answer(&request))
                    .unwrap_or_else(|| json_of(404, &json!({"message": "Not Found"})));
                if status == 0 {
                    return std::future::pending().await;
                }
                let mut response = Response::new(Body::from(body));
                *response.status_mut() = StatusCode::from_u16(status).expect("a status");
                for (name, value) in headers {
                    let name = HeaderName::try_from(name).expect("a name");
                    response
                        .headers_mut()
                        .append(name, value.parse().expect("a value"));
                }
                response
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("loopback");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let service = axum::Router::new().fallback(handler);
        tokio::spawn(async move { axum::serve(listener, service).await });
        Self { url, seen }
    }

    pub fn requests(&self) -> Vec<Request> {
        self.seen.lock().expect("whole").clone()
    }

    /// Requests other than those for tokens and for the App itself.
    pub fn calls(&self) -> Vec<String> {
        self.requests()
            .iter()
            .filter(|request| !request.target.starts_with("/app"))
            .map(|request| format!("{} {}", request.method, request.target))
            .collect()
    }

    pub fn count(&self, method: &str, path: &str) -> usize {
        self.requests()
            .iter()
            .filter(|request| request.is(method, path))
            .count()
    }

    pub fn config(&self) -> ClientConfig {
        let mut config = ClientConfig::new(AppId(APP), SecretString::from(KEY));
        config.base_url.clone_from(&self.url);
        config.proxy = Proxy::Direct;
        config.retry = ReadRetry {
            times: 2,
            pause: Duration::from_millis(1),
        };
        config
    }

    pub fn client(&self) -> GitHub {
        GitHub::new(self.config()).expect("a client")
    }
}

/// Never answers.
pub fn silence() -> Option<Answer> {
    Some(text(0, ""))
}

fn default_answer(request: &Request) -> Option<Answer> {
    if request.is("GET", "/app") {
        return ok(
            json!({"id": APP, "slug": "quadgate-test", "permissions": {"checks": "write"}, "events": null}),
        );
    }
    (request.method == "POST" && request.target.ends_with("/access_tokens")).then(|| {
        let token = format!("ghs_{}", request.nth);
        json_of(
            201,
            &json!({"token": token, "expires_at": "2099-01-01T00:00:00Z"}),
        )
    })
}

/// Counts what an observer is told.
#[derive(Default)]
pub struct Counter {
    pub calls: Mutex<Vec<(&'static str, CallOutcome)>>,
    pub rates: Mutex<Vec<(Option<InstallationId>, String, RateLeft)>>,
}

impl Observer for Counter {
    fn call(&self, endpoint: &'static str, outcome: CallOutcome, _took: Duration) {
        self.calls.lock().expect("whole").push((endpoint, outcome));
    }

    fn rate(&self, installation: Option<InstallationId>, resource: &str, left: RateLeft) {
        self.rates
            .lock()
            .expect("whole")
            .push((installation, resource.to_owned(), left));
    }
}

pub fn repo() -> RepoRef {
    RepoRef {
        id: RepoId(9_007_199_254_740_993),
        name: "octo-org/widgets".parse().expect("a name"),
        installation: InstallationId(55),
    }
}

pub fn sha(digit: char) -> Sha {
    digit.to_string().repeat(40).parse().expect("a sha")
}

pub const SEVEN: PullNumber = PullNumber(7);

/// A pull request's JSON.
pub fn pull_json(files: u64, commits: u64) -> Value {
    json!({
        "number": 7, "state": "open", "merged": false, "draft": false,
        "title": "Improve", "body": null, "user": null, "labels": [{"name": "bug"}, {"name": null}],
        "head": {"sha": sha('a'), "ref": "topic", "repo": null},
        "base": {"sha": sha('b'), "ref": "main",
                 "repo": {"id": 9_007_199_254_740_993_u64, "full_name": "octo-org/widgets", "archived": null}},
        "changed_files": files, "commits": commits, "mergeable": null, "mergeable_state": "brand-new",
        "updated_at": "2026-05-25T12:00:00Z", "html_url": "https://github.example/octo-org/widgets/pull/7",
    })
}
