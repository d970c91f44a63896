//! The stand-in: every pull request there may be, each adding one example file, and a place where check-runs arrive.
//!
//! INVARIANT: what it says of a pull request follows from the number alone, so that any number of them costs no memory; the
//! moment of a check-run is read when its request has arrived whole.

use crate::payload::{INSTALLATION, REPO, REPO_ID, head_of, number_of};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::net::TcpListener;

const OWNER: &str = "octo-owner";
const BASE: &str = "ba5e00000000000000000000000000000000ba5e";

/// What has arrived so far.
#[derive(Default)]
pub struct Arrived {
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// The first check-run of each pull request, and how many there were.
    checks: HashMap<u64, (Instant, u32)>,
    calls: BTreeMap<String, u64>,
    ids: u64,
}

impl Arrived {
    fn with<T>(&self, work: impl FnOnce(&mut Seen) -> T) -> T {
        work(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many pull requests from a number on have their check-run.
    pub fn done_from(&self, first: u64) -> usize {
        self.with(|seen| {
            seen.checks
                .keys()
                .filter(|number| **number >= first)
                .count()
        })
    }

    /// When the first check-run of a pull request came, and how many came.
    pub fn check(&self, number: u64) -> Option<(Instant, u32)> {
        self.with(|seen| seen.checks.get(&number).copied())
    }

    /// Begins to count calls anew; gives those so far.
    pub fn take_calls(&self) -> BTreeMap<String, u64> {
        self.with(|seen| std::mem::take(&mut seen.calls))
    }
}

/// Listens until the runtime ends.
pub async fn listen(address: &str, arrived: Arc<Arrived>) -> Result<(), String> {
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| format!("`{address}`: {error}"))?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let arrived = Arc::clone(&arrived);
            tokio::spawn(async move {
                let service = service_fn(move |request| answer(request, Arc::clone(&arrived)));
                // A server that is killed cuts its connections: no matter.
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    Ok(())
}

async fn answer(
    request: Request<Incoming>,
    arrived: Arc<Arrived>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = match body.collect().await {
        Ok(whole) => whole.to_bytes(),
        Err(_) => Bytes::new(),
    };
    let now = Instant::now();
    let path = parts.uri.path().trim_start_matches("/api/v3");
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (name, status, said) = said(parts.method.as_str(), &segments, &body, &arrived, now);
    arrived.with(|seen| {
        let name = if status == 404 { path } else { name };
        *seen
            .calls
            .entry(format!("{} {name}", parts.method))
            .or_default() += 1;
    });
    let response = Response::builder()
        .status(status)
        .header("content-type", "application/json; charset=utf-8")
        .header("x-ratelimit-limit", "15000")
        .header("x-ratelimit-remaining", "14999")
        .header("x-ratelimit-reset", "4102444800")
        .header("x-ratelimit-resource", "core")
        // GitHub gives one with every answer; a client that keeps answers is to pay for it here, too.
        .header("etag", format!("W/\"{path}\""))
        .body(Full::new(Bytes::from(said.to_string())));
    Ok(response.unwrap_or_default())
}

fn said(
    method: &str,
    path: &[&str],
    body: &[u8],
    arrived: &Arrived,
    now: Instant,
) -> (&'static str, u16, Value) {
    let none = || ("", 404, json!({"message": "Not Found", "status": "404"}));
    match (method, path) {
        ("GET", ["app"]) => (
            "app",
            200,
            json!({"id": 12345, "slug": "quadgate", "permissions": {}, "events": []}),
        ),
        ("GET", ["app", "hook", "deliveries"]) => ("deliveries", 200, json!([])),
        ("GET", ["app", "installations"]) => {
            let account = json!({"login": "octo-org", "id": 2, "type": "Organization"});
            (
                "installations",
                200,
                json!([{"id": INSTALLATION, "account": account, "app_id": 12345}]),
            )
        }
        ("POST", ["app", "installations", _, "access_tokens"]) => {
            let token = json!({"token": "ghs_0000", "expires_at": "2099-01-01T00:00:00Z", "permissions": {}});
            ("token", 201, token)
        }
        ("GET", ["installation", "repositories"]) => (
            "repositories",
            200,
            json!({"total_count": 1, "repositories": [repo()]}),
        ),
        ("GET", ["users", _]) => (
            "user",
            200,
            json!({"login": OWNER, "id": 1, "type": "User"}),
        ),
        ("GET", ["repos", _, _]) => ("repository", 200, repo()),
        ("GET", ["repos", _, _, "installation"]) => (
            "repository's installation",
            200,
            json!({"id": INSTALLATION, "app_id": 12345}),
        ),
        ("GET", ["repos", _, _, "pulls"]) => ("pulls", 200, json!([])),
        ("GET", ["repos", _, _, "pulls", number]) => match number.parse() {
            Ok(number) => ("pull", 200, pull(number)),
            Err(_) => none(),
        },
        ("GET", ["repos", _, _, "pulls", number, "files"]) => ("pull files", 200, files(number)),
        ("GET", ["repos", _, _, "pulls", number, "commits"]) => match number.parse() {
            Ok(number) => ("pull commits", 200, commits(number)),
            Err(_) => none(),
        },
        ("GET", ["repos", _, _, "commits", _, "check-runs"]) => (
            "check-runs",
            200,
            json!({"total_count": 0, "check_runs": []}),
        ),
        ("POST", ["repos", _, _, "check-runs"]) => {
            let wanted: Value = serde_json::from_slice(body).unwrap_or_default();
            let head = wanted
                .get("head_sha")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let id = arrived.with(|seen| {
                if let Some(number) = number_of(head) {
                    seen.checks.entry(number).or_insert((now, 0)).1 += 1;
                }
                seen.ids += 1;
                seen.ids
            });
            ("check-run", 201, check_run(id, head, &wanted))
        }
        _ => none(),
    }
}

fn repo() -> Value {
    json!({
        "id": REPO_ID, "name": "widgets", "full_name": REPO, "private": false, "archived": false, "has_issues": true,
        "default_branch": "main", "owner": {"login": "octo-org", "id": 2, "type": "Organization"},
    })
}

fn pull(number: u64) -> Value {
    let head = head_of(number);
    json!({
        "number": number, "state": "open", "merged": false, "draft": false, "title": "Add an example",
        "body": "An example more.", "user": {"login": "octo-dev", "id": 3, "type": "User"}, "labels": [],
        "head": {"sha": head, "ref": "topic", "repo": repo()}, "base": {"sha": BASE, "ref": "main", "repo": repo()},
        "changed_files": 1, "commits": 1, "mergeable": true, "node_id": "PR_1", "updated_at": "2026-01-05T09:00:00Z",
        "html_url": format!("https://github.com/{REPO}/pull/{number}"),
    })
}

fn files(number: &str) -> Value {
    json!([{
        "sha": BASE, "filename": format!("examples/{number}.md"), "status": "added", "additions": 1, "deletions": 0,
        "changes": 1, "patch": "@@ -0,0 +1 @@\n+An example.",
    }])
}

fn commits(number: u64) -> Value {
    json!([{"sha": head_of(number), "commit": {"message": "Add an example"}, "parents": [{"sha": BASE}]}])
}

fn check_run(id: u64, head: &str, wanted: &Value) -> Value {
    json!({
        "id": id, "head_sha": head, "name": wanted.get("name"), "external_id": wanted.get("external_id"),
        "status": wanted.get("status"), "conclusion": wanted.get("conclusion"), "output": wanted.get("output"),
        "app": {"id": 12345, "slug": "quadgate"}, "html_url": format!("https://github.com/{REPO}/runs/{id}"),
    })
}
