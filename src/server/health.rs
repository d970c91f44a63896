//! `/healthz`: the process answers. `/readyz`: it can do its work, or which part cannot.
//!
//! A check has two seconds; one that takes longer fails.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(2);

/// Something that must work for the server to be of use.
#[async_trait::async_trait]
pub trait ReadyCheck: Send + Sync + 'static {
    /// A word for it: `store`, `config`, `key`.
    fn name(&self) -> &'static str;
    /// Does it work? The text says why not, and holds no secret.
    async fn check(&self) -> Result<(), String>;
}

/// The checks of one server, in the order in which they are named.
pub type ReadyChecks = Arc<[Box<dyn ReadyCheck>]>;

/// The store answers a question.
pub struct StoreReachable(pub Arc<dyn crate::store::Store>);

#[async_trait::async_trait]
impl ReadyCheck for StoreReachable {
    fn name(&self) -> &'static str {
        "store"
    }

    async fn check(&self) -> Result<(), String> {
        match self.0.queue_depth().await {
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}

pub(super) async fn healthz() -> &'static str {
    "ok"
}

#[derive(Serialize)]
struct Readiness {
    ready: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failing: Vec<Failing>,
}

#[derive(Serialize)]
struct Failing {
    check: &'static str,
    why: String,
}

pub(super) async fn readyz(State(checks): State<ReadyChecks>) -> Response {
    let mut failing = Vec::new();
    for check in checks.iter() {
        let result = tokio::time::timeout(PATIENCE, check.check())
            .await
            .unwrap_or_else(|_| Err("no answer within 2 s".into()));
        if let Err(why) = result {
            failing.push(Failing {
                check: check.name(),
                why,
            });
        }
    }
    let status = if failing.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let body = Readiness {
        ready: failing.is_empty(),
        failing,
    };
    (status, axum::Json(body)).into_response()
}
