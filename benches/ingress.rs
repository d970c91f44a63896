//! One delivery through the front door (verify, read, commit, answer), beside what bounds it: an HMAC over the
//! same bytes and a plain write with fsync in the same directory.
//!
//! `burst of 64` is what group commit gives when requests come together. Bounded: a second or two a figure.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use axum::body::Body;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use hmac::{Hmac, KeyInit, Mac};
use http::Request;
use quadgate::domain::{AppId, Timestamp};
use quadgate::server::{Context, Limits, Metrics, ServerState, Standing, WebhookSecrets, routers};
use quadgate::store::sqlite::{SqliteOptions, SqliteStore};
use std::io::{Seek, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tower::ServiceExt;

const SECRET: &str = "test-secret-1";
const BURST: u64 = 64;

/// A pull request's payload of 24 KB, the size GitHub sends.
fn body() -> Vec<u8> {
    serde_json::json!({
        "action": "synchronize",
        "pull_request": {"number": 12, "state": "open", "head": {"sha": "a".repeat(40)}, "body": "x".repeat(24_000)},
        "repository": {"id": 555, "full_name": "octo-org/widgets", "archived": false},
        "installation": {"id": 7}
    })
    .to_string()
    .into_bytes()
}

fn hmac(body: &[u8]) -> String {
    let mac = Hmac::<sha2::Sha256>::new_from_slice(SECRET.as_bytes())
        .unwrap()
        .chain_update(body);
    format!(
        "sha256={:x}",
        axum::body::Bytes::copy_from_slice(&mac.finalize().into_bytes())
    )
}

fn ingress(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let store = runtime
        .block_on(SqliteStore::open(&SqliteOptions::new(dir.path())))
        .unwrap();
    let (app, _operators) = routers(ServerState {
        webhook_path: "/webhook".into(),
        secrets: WebhookSecrets::new([SECRET.into()]).unwrap(),
        context: Context {
            own_app: AppId(1),
            supervision: Arc::new(|_| Standing {
                supervised: true,
                watched: true,
                merges: quadgate::server::Merges::Off,
                inbox: false,
                required_checks: Vec::new(),
            }),
        },
        limits: Limits::default(),
        store: Arc::new(store),
        metrics: Arc::new(Metrics::new().unwrap()),
        ready: Arc::new([]),
        pages: None,
        now: Arc::new(|| Timestamp::from_millis(0)),
    });
    let body = body();
    let signature = hmac(&body);
    let next = AtomicU64::new(0);
    let request = || {
        Request::post("/webhook")
            .header("Content-Type", "application/json")
            .header("X-GitHub-Event", "pull_request")
            .header(
                "X-GitHub-Delivery",
                format!("d-{}", next.fetch_add(1, Ordering::Relaxed)),
            )
            .header("X-Hub-Signature-256", &signature)
            .body(Body::from(body.clone()))
            .unwrap()
    };

    let mut group = criterion.benchmark_group("ingress");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    group.bench_function("hmac of the body", |b| b.iter(|| hmac(&body)));
    group.bench_function("4 KiB and fsync", |b| {
        let mut file = std::fs::File::create(dir.path().join("plain")).unwrap();
        b.iter(|| {
            file.rewind().unwrap();
            file.write_all(&[0; 4096]).unwrap();
            file.sync_data().unwrap();
        });
    });
    group.bench_function("one delivery", |b| {
        b.iter_batched(
            request,
            |request| {
                let response = runtime.block_on(app.clone().oneshot(request)).unwrap();
                assert_eq!(response.status(), 202);
            },
            BatchSize::SmallInput,
        );
    });
    group.throughput(Throughput::Elements(BURST));
    group.bench_function("burst of 64", |b| {
        b.iter_batched(
            || (0..BURST).map(|_| request()).collect::<Vec<_>>(),
            |requests| {
                runtime.block_on(async {
                    let sent: Vec<_> = requests
                        .into_iter()
                        .map(|request| tokio::spawn(app.clone().oneshot(request)))
                        .collect();
                    for answer in sent {
                        assert_eq!(answer.await.unwrap().unwrap().status(), 202);
                    }
                });
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, ingress);
criterion_main!(benches);
