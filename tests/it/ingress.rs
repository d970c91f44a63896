//! The webhook through its front door: a signed request goes in, a status and a committed subject come out.

use crate::store_contract::{LEASE, at};
use axum::Router;
use axum::body::Body;
use hmac::{Hmac, KeyInit, Mac};
use http::Request;
use http_body_util::BodyExt;
use quadgate::domain::*;
use quadgate::server::*;
use quadgate::store::sqlite::{SqliteOptions, SqliteStore};
use quadgate::store::*;
use serde_json::{Value, json};
use std::sync::Arc;
use tower::ServiceExt;

pub const SECRET: &str = "test-secret-1";
pub const OWN_APP: AppId = AppId(4300);
const GUID: &str = "00000000-0000-4000-8000-000000000001";

/// A server over a store in a directory of its own. Repositories named `…/foreign` are not supervised,
/// `…/inbox` is only for Issues.
pub struct Server {
    pub router: Router,
    operators: Router,
    pub store: Arc<dyn Store>,
    pub metrics: Arc<Metrics>,
    _dir: tempfile::TempDir,
}

pub struct Reply {
    pub status: u16,
    pub word: String,
    pub body: String,
    pub headers: http::HeaderMap,
}

impl Server {
    pub async fn start() -> Self {
        Self::with(Limits::default(), &[SECRET]).await
    }

    pub async fn with(limits: Limits, secrets: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&SqliteOptions::new(dir.path()))
            .await
            .unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        let metrics = Arc::new(Metrics::new().unwrap());
        let supervision: Supervision = Arc::new(|repo| Standing {
            supervised: !matches!(repo.name.name(), "foreign" | "inbox" | "audited"),
            inbox: repo.name.name() == "inbox",
            watched: matches!(repo.name.name(), "watched" | "audited"),
            merges: match repo.name.name() {
                "merging" => Merges::IntoDefault,
                "branches" => Merges::Into(vec!["release".into()]),
                _ => Merges::Off,
            },
            required_checks: match repo.name.name() {
                "branches" => vec!["build".into()],
                _ => Vec::new(),
            },
        });
        let (public, operators) = routers(ServerState {
            webhook_path: "/webhook".into(),
            secrets: WebhookSecrets::new(secrets.iter().map(|s| (*s).into())).unwrap(),
            context: Context {
                own_app: OWN_APP,
                supervision,
            },
            limits,
            store: store.clone(),
            metrics: metrics.clone(),
            ready: Arc::new([Box::new(StoreReachable(store.clone())) as Box<dyn ReadyCheck>]),
            pages: None,
            now: Arc::new(|| at(0)),
        });
        Self {
            router: public,
            operators,
            store,
            metrics,
            _dir: dir,
        }
    }

    pub async fn send(&self, request: Request<Body>) -> Reply {
        let router = match request.uri().path() {
            "/readyz" | "/metrics" => &self.operators,
            _ => &self.router,
        };
        let response = router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let word = parts.headers.get("x-quadgate-outcome");
        Reply {
            status: parts.status.as_u16(),
            word: word.map_or_else(String::new, |w| w.to_str().unwrap().to_owned()),
            body: String::from_utf8(body.to_vec()).unwrap(),
            headers: parts.headers,
        }
    }

    /// Sends a payload as GitHub does.
    pub async fn deliver(&self, event: &str, id: &str, payload: &Value) -> Reply {
        let body = payload.to_string();
        self.send(signed(event, id, &body)).await
    }

    pub async fn get(&self, path: &str) -> Reply {
        let request = Request::get(path).body(Body::empty()).unwrap();
        self.send(request).await
    }

    /// Takes everything that is due.
    pub async fn claims(&self) -> Vec<Claim> {
        let mut claims = Vec::new();
        while let Some(claim) = self.store.claim("w", at(1), LEASE).await.unwrap() {
            claims.push(claim);
        }
        claims
    }

    /// Asserts that nothing was kept.
    pub async fn kept_nothing(&self, case: &str) {
        let rows = self.store.recent_deliveries(10).await.unwrap();
        assert!(rows.is_empty(), "{case}: {rows:?}");
        assert_eq!(self.store.queue_depth().await.unwrap(), 0, "{case}");
    }
}

pub fn sign(secret: &str, body: &[u8]) -> String {
    let mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes())
        .unwrap()
        .chain_update(body);
    format!(
        "sha256={:x}",
        axum::body::Bytes::copy_from_slice(&mac.finalize().into_bytes())
    )
}

fn unsigned(event: &str, id: &str) -> http::request::Builder {
    Request::post("/webhook")
        .header("X-GitHub-Event", event)
        .header("X-GitHub-Delivery", id)
        .header("Content-Type", "application/json")
}

type Headers<'a> = &'a [(&'a str, &'a str)];

fn signed(event: &str, id: &str, body: &str) -> Request<Body> {
    unsigned(event, id)
        .header("Content-Length", body.len())
        .header("X-Hub-Signature-256", sign(SECRET, body.as_bytes()))
        .body(Body::from(body.to_owned()))
        .unwrap()
}

pub fn opened() -> Value {
    json!({
        "action": "opened",
        "number": 12,
        "pull_request": {"number": 12, "state": "open", "head": {"sha": "a".repeat(40)}},
        "repository": {"id": 555, "full_name": "octo-org/widgets", "archived": false},
        "installation": {"id": 7},
        "sender": {"login": "octo-dev", "id": 2002, "type": "User"}
    })
}

fn cases(text: &str) -> Vec<Value> {
    let cases: Vec<Value> = serde_json::from_str(text).unwrap();
    assert!(!cases.is_empty());
    cases
}

#[tokio::test]
async fn signature_cases() {
    for case in cases(include_str!("data/signature/cases.json")) {
        let name = case["id"].as_str().unwrap();
        let (given, expect) = (&case["given"], &case["expect"]);
        let Some(secret) = given["secret"].as_str() else {
            assert_eq!(expect["server_start"], "refused", "{name}");
            assert!(WebhookSecrets::new([]).is_err());
            assert!(WebhookSecrets::new(["".into()]).is_err());
            continue;
        };
        let server = Server::with(Limits::default(), &[secret]).await;
        let mut request = Request::post("/webhook");
        for (header, value) in given["headers"].as_object().unwrap() {
            request = request.header(header, value.as_str().unwrap());
        }
        let body = given["body"].as_str().unwrap().to_owned();
        let reply = server.send(request.body(Body::from(body)).unwrap()).await;
        if expect["accept"] == true {
            // The payload names no repository, so there is nothing to keep: right signature, no work.
            assert_eq!(reply.status, 204, "{name}");
            continue;
        }
        let allowed = expect["status"].as_array().unwrap();
        assert!(
            allowed.contains(&json!(reply.status)),
            "{name}: {}",
            reply.status
        );
        server.kept_nothing(name).await;
        let figures = server.metrics.text().unwrap();
        let counted = format!("outcome=\"{}\"}} 1", reply.word);
        assert!(figures.contains(&counted), "{name}: {figures}");
    }
}

#[tokio::test]
async fn payload_cases() {
    for case in cases(include_str!("data/payloads/cases.json")) {
        let name = case["id"].as_str().unwrap();
        let (given, expect) = (&case["given"], &case["expect"]);
        let server = Server::start().await;
        let event = given["headers"]["X-GitHub-Event"].as_str().unwrap();
        let body = match (given["body_raw"].as_str(), name) {
            (Some(raw), _) => raw.to_owned(),
            (None, "payload-041-deep-nesting") => "[".repeat(200_000),
            (None, _) => given["payload"].to_string(),
        };
        let reply = server.send(signed(event, GUID, &body)).await;
        let class = format!("{}xx", reply.status / 100);
        assert_eq!(json!(class), expect["http"], "{name}: {}", reply.body);
        let claims = server.claims().await;
        match name {
            // The worker sees that it is closed; here it is a look at what the pull request shows.
            "payload-010-closed" => assert!(claims.len() == 1 && !claims[0].deep, "{name}"),
            "payload-028-installation-unsuspend" => {
                assert_eq!(claims[0].subject.key(), "installation/7");
            }
            "payload-023-check-run-fork" => {
                assert_eq!(
                    claims[0].subject.key(),
                    format!("head/555/{}", "a".repeat(40))
                );
            }
            _ => {}
        }
        if let Some(evaluations) = expect["evaluations"].as_u64()
            && name != "payload-010-closed"
        {
            assert_eq!(claims.len() as u64, evaluations, "{name}");
        }
        if let Some(active) = expect["installation_active"].as_bool() {
            let status = server.store.installation(InstallationId(7)).await.unwrap();
            assert_eq!(status == InstallationStatus::Active, active, "{name}");
        }
        if class == "4xx" {
            server.kept_nothing(name).await;
        }
    }
}

#[derive(serde::Deserialize)]
struct Recorded {
    event: String,
    action: Option<String>,
    expect: String,
    payload: Value,
}

#[tokio::test]
async fn recorded_payloads_are_all_read() {
    let text = include_str!("data/payloads/recorded.jsonl");
    let server = Server::start().await;
    let (mut count, mut accepted) = (0, 0);
    for (n, line) in text.lines().enumerate() {
        let mut example: Recorded = serde_json::from_str(line).unwrap();
        let what = format!("line {}: {} {:?}", n + 1, example.event, example.action);
        let status = |word: &str| match word {
            "accepted" => 202,
            "pong" => 200,
            _ => 204,
        };
        let named = example.payload["installation"]["id"].is_u64();
        let in_repository = example.event != "ping";
        let expect = if in_repository && !named {
            "no-installation"
        } else {
            &example.expect
        };
        let reply = server
            .deliver(&example.event, &format!("a-{n}"), &example.payload)
            .await;
        assert_eq!(reply.word, expect, "{what} as recorded: {}", reply.body);
        assert_eq!(reply.status, status(expect), "{what}");
        accepted += usize::from(reply.status == 202);

        example.payload["installation"] = json!({"id": 100});
        let reply = server
            .deliver(&example.event, &format!("b-{n}"), &example.payload)
            .await;
        assert_eq!(reply.word, example.expect, "{what}: {}", reply.body);
        assert_eq!(reply.status, status(&example.expect), "{what}");
        accepted += usize::from(reply.status == 202);
        count += 1;
    }
    assert_eq!(count, 125);
    let kept = server.store.recent_deliveries(1000).await.unwrap();
    assert_eq!(kept.len(), accepted);
}

#[tokio::test]
async fn a_delivery_is_kept_once() {
    let server = Server::start().await;
    let reply = server.deliver("pull_request", GUID, &opened()).await;
    assert_eq!(
        (reply.status, reply.body.as_str()),
        (202, r#"{"outcome":"accepted"}"#)
    );
    let reply = server.deliver("pull_request", GUID, &opened()).await;
    assert_eq!((reply.status, reply.word.as_str()), (200, "requeued"));
    let claims = server.claims().await;
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].announced[0].0.as_str(), "a".repeat(40));
    server
        .store
        .finish(&claims[0], Finish::new(None, at(1)))
        .await
        .unwrap();
    let reply = server.deliver("pull_request", GUID, &opened()).await;
    assert_eq!((reply.status, reply.word.as_str()), (200, "duplicate"));
    let mut other = opened();
    other["number"] = json!(13);
    let reply = server.deliver("pull_request", GUID, &other).await;
    assert_eq!((reply.status, reply.word.as_str()), (409, "conflict"));
    assert!(server.claims().await.is_empty());
}

#[tokio::test]
async fn signatures_are_exact() {
    let body = opened().to_string();
    let right = sign(SECRET, body.as_bytes());
    let refused: [(&str, Vec<(&str, String)>); 6] = [
        ("signature-missing", vec![]),
        (
            "signature-sha1",
            vec![("X-Hub-Signature", format!("sha1={}", "0".repeat(40)))],
        ),
        (
            "signature-malformed",
            vec![("X-Hub-Signature-256", "sha256=abc".into())],
        ),
        (
            "signature-malformed",
            vec![
                ("X-Hub-Signature-256", right.clone()),
                ("X-Hub-Signature-256", right.clone()),
            ],
        ),
        (
            "signature-wrong",
            vec![(
                "X-Hub-Signature-256",
                sign("Test-secret-1", body.as_bytes()),
            )],
        ),
        (
            "signature-wrong",
            vec![("X-Hub-Signature-256", sign(SECRET, b"{}"))],
        ),
    ];
    let server = Server::start().await;
    for (word, headers) in refused {
        let mut request = unsigned("pull_request", GUID);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let reply = server
            .send(request.body(Body::from(body.clone())).unwrap())
            .await;
        assert_eq!((reply.status, reply.word.as_str()), (401, word));
    }
    server.kept_nothing("unsigned").await;

    let rotating = Server::with(Limits::default(), &["new-secret", SECRET]).await;
    let reply = rotating.deliver("pull_request", GUID, &opened()).await;
    assert_eq!(
        reply.status, 202,
        "the old secret counts while it is listed"
    );
}

#[tokio::test]
async fn requests_that_are_signed_but_wrong() {
    let server = Server::start().await;
    let body = opened().to_string();
    let build = |headers: &[(&str, &str)], body: &str| {
        let mut request =
            Request::post("/webhook").header("X-Hub-Signature-256", sign(SECRET, body.as_bytes()));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::from(body.to_owned())).unwrap()
    };
    let json = ("Content-Type", "application/json");
    let event = ("X-GitHub-Event", "pull_request");
    let id = ("X-GitHub-Delivery", GUID);
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let nested_open = format!("{{\"a\":{}", "[".repeat(200_000));
    let nested = format!(
        "{{\"pull_request\":{}{}}}",
        "[".repeat(20_000),
        "]".repeat(20_000)
    );
    let cases: [(Headers<'_>, &str, u16, &str); 12] = [
        (&[form, event, id], "payload=%7B%7D", 415, "form"),
        (
            &[("Content-Type", "text/plain"), event, id],
            &body,
            415,
            "media-type",
        ),
        (&[event, id], &body, 415, "media-type"),
        (&[json, id], &body, 400, "bad-header"),
        (&[json, event], &body, 400, "bad-header"),
        (
            &[json, event, ("X-GitHub-Delivery", "a b")],
            &body,
            400,
            "bad-header",
        ),
        (&[json, event, id], "", 400, "unreadable"),
        (&[json, event, id], "[]", 400, "unreadable"),
        (&[json, event, id], "null", 400, "unreadable"),
        (&[json, event, id], "{\"number\":", 400, "unreadable"),
        (&[json, event, id], &nested_open, 400, "unreadable"),
        (&[json, event, id], &nested, 400, "unreadable"),
    ];
    for (headers, body, status, word) in cases {
        let reply = server.send(build(headers, body)).await;
        let shown: String = body.chars().take(40).collect();
        assert_eq!(
            (reply.status, reply.word.as_str()),
            (status, word),
            "{shown}"
        );
        assert!(reply.body.contains("\"reason\""), "{}", reply.body);
    }
    let reply = server
        .send(build(&[form, event, id], "payload=%7B%7D"))
        .await;
    assert!(reply.body.contains("content type to `application/json`"));
    server.kept_nothing("wrong").await;

    let charset = ("Content-Type", "application/json; charset=utf-8");
    let reply = server.send(build(&[charset, event, id], &body)).await;
    assert_eq!(reply.status, 202);
}

#[tokio::test]
async fn large_bodies_are_taken_up_to_githubs_cap() {
    let server = Server::start().await;
    let padded = |length: usize| {
        let mut payload = opened();
        payload["padding"] = json!("");
        let short = payload.to_string().len();
        payload["padding"] = json!("x".repeat(length - short));
        payload.to_string()
    };
    let three = padded(3 * 1024 * 1024);
    let reply = server
        .send(signed("pull_request", "three-mib", &three))
        .await;
    assert_eq!(reply.status, 202);

    let whole = padded(BODY_LIMIT);
    let reply = server
        .send(signed("pull_request", "at-the-cap", &whole))
        .await;
    assert_eq!(reply.status, 202);

    // Refused for its length alone, announced or counted while it is read: the signature is not looked at.
    for announced in [true, false] {
        let mut over = signed("pull_request", "over", "{}");
        let body = vec![b' '; BODY_LIMIT + 1];
        if announced {
            over.headers_mut()
                .insert("Content-Length", body.len().into());
        } else {
            over.headers_mut().remove("Content-Length");
        }
        *over.body_mut() = Body::from(body);
        let reply = server.send(over).await;
        assert_eq!((reply.status, reply.word.as_str()), (413, "too-large"));
    }

    let mut forged = signed("pull_request", "forged", &three);
    let other = sign("other", b"x").parse().unwrap();
    forged.headers_mut().insert("X-Hub-Signature-256", other);
    assert_eq!(server.send(forged).await.status, 401);
}

#[tokio::test]
async fn a_store_that_cannot_write_is_503() {
    let server = Server::start().await;
    server.store.close().await;
    let reply = server.deliver("pull_request", GUID, &opened()).await;
    assert_eq!(
        (reply.status, reply.word.as_str()),
        (503, "store-unavailable")
    );
    assert!(reply.headers.contains_key("retry-after"));

    let reply = server.get("/healthz").await;
    assert_eq!((reply.status, reply.body.as_str()), (200, "ok"));
    let reply = server.get("/readyz").await;
    assert_eq!(reply.status, 503);
    let readiness: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!(readiness["failing"][0]["check"], "store");
    let reply = server.get("/metrics").await;
    assert_eq!(reply.status, 200);
    assert!(reply.body.contains("quadgate_store_up 0"));
}

#[tokio::test]
async fn a_running_server_is_ready_and_counts() {
    let server = Server::start().await;
    server.deliver("pull_request", GUID, &opened()).await;
    server.deliver("sponsorship", "d-2", &opened()).await;
    let reply = server.get("/readyz").await;
    assert_eq!(
        (reply.status, reply.body.as_str()),
        (200, r#"{"ready":true}"#)
    );
    let reply = server.get("/metrics").await;
    for line in [
        "quadgate_deliveries_total{event=\"pull_request\",outcome=\"accepted\"} 1",
        "quadgate_deliveries_total{event=\"other\",outcome=\"unknown-event\"} 1",
        "quadgate_queue_depth 1",
        "quadgate_store_up 1",
    ] {
        assert!(
            reply.body.lines().any(|l| l == line),
            "{line}\n{}",
            reply.body
        );
    }
    assert_eq!(server.get("/webhook").await.status, 405);
    assert_eq!(server.get("/nowhere").await.status, 404);
}

/// One request holds the only place: the second is turned away, the first still succeeds.
#[tokio::test]
async fn requests_in_flight_are_bounded() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let limits = Limits {
        requests: 1,
        ..Limits::default()
    };
    let server = Server::with(limits, &[SECRET]).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(axum::serve(listener, server.router.clone()).into_future());

    let body = opened().to_string();
    let head = format!(
        "POST /webhook HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\n\
         Content-Type: application/json\r\nX-GitHub-Event: pull_request\r\nX-GitHub-Delivery: {GUID}\r\n\
         X-Hub-Signature-256: {}\r\nContent-Length: {}\r\n\r\n",
        sign(SECRET, body.as_bytes()),
        body.len()
    );
    let mut first = tokio::net::TcpStream::connect(address).await.unwrap();
    first.write_all(head.as_bytes()).await.unwrap();
    // The server asks for the body, so the request has its place.
    let mut asked = [0; 25];
    first.read_exact(&mut asked).await.unwrap();
    assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");

    let reply = server.deliver("pull_request", "d-2", &opened()).await;
    assert_eq!((reply.status, reply.word.as_str()), (503, "overloaded"));
    assert!(reply.headers.contains_key("retry-after"));
    assert_eq!(server.get("/healthz").await.status, 200);

    first.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    first.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    let reply = server.deliver("pull_request", "d-2", &opened()).await;
    assert_eq!(reply.status, 202, "the place is free again");
    serving.abort();
}

#[tokio::test]
async fn bytes_in_flight_are_bounded() {
    let limits = Limits {
        bytes: 128 * 1024,
        ..Limits::default()
    };
    let server = Server::with(limits, &[SECRET]).await;
    let mut payload = opened();
    payload["padding"] = json!("x".repeat(200 * 1024));
    let reply = server.deliver("pull_request", GUID, &payload).await;
    assert_eq!((reply.status, reply.word.as_str()), (503, "overloaded"));
    let reply = server.deliver("pull_request", GUID, &opened()).await;
    assert_eq!(reply.status, 202);
}

#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn logs_hold_lengths_and_no_contents() {
    // Somebody always listens: otherwise a line that another test logs first, with nobody listening, can stay switched off.
    let everywhere = tracing_subscriber::fmt()
        .with_writer(std::io::sink)
        .finish();
    let _ = tracing::subscriber::set_global_default(everywhere);
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let server = Server::start().await;
    let body = opened().to_string();
    let forged = sign("other", b"x");
    let request = unsigned("pull_request", GUID)
        .header("Content-Length", body.len())
        .header("X-Hub-Signature-256", &forged)
        .body(Body::from(format!("{body}\n")))
        .unwrap();
    assert_eq!(server.send(request).await.status, 401);
    assert_eq!(
        server.deliver("pull_request", GUID, &opened()).await.status,
        202
    );
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let lengths = format!("announced={} read={}", body.len(), body.len() + 1);
    assert!(text.contains(&lengths), "{text}");
    assert!(text.contains(GUID), "{text}");
    for secret in ["octo-dev", SECRET, &forged, &sign(SECRET, body.as_bytes())] {
        assert!(!text.contains(secret), "{text}");
    }
}
