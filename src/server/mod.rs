//! The server's edges: webhook ingress, health, metrics, admin pages.
//!
//! Turns requests into stored deliveries, figures into text and the log into pages. It decides nothing, never calls
//! GitHub, and may name only `domain`, `store`, `audit` for reading and `settings`.

mod answer;
mod event;
mod health;
mod metrics;
mod pages;
mod signature;
mod webhook;

pub use event::{
    Context, Event, Ignored, Merges, PayloadError, Reading, Standing, Supervision, read,
};
pub use health::{ReadyCheck, ReadyChecks, StoreReachable};
pub use metrics::{Figure, Metrics, Queue};
pub use pages::{Identity, IdentityError, Pages, Person};
pub use signature::{SecretsError, Signature, SignatureError, SignedBody, WebhookSecrets};
pub use webhook::{BODY_LIMIT, Limits};

use crate::domain::Timestamp;
use crate::store::{Store, StoreError};
use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use std::sync::Arc;
use webhook::Webhook;

/// Reads the clock. Passed in, so that tests have their own.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What the server is made of.
pub struct ServerState {
    /// Path of the webhook, with its leading slash.
    pub webhook_path: String,
    /// The secrets that count.
    pub secrets: WebhookSecrets,
    /// Whose events are read how.
    pub context: Context,
    /// Bounds of the ingress.
    pub limits: Limits,
    /// Where deliveries are kept.
    pub store: Arc<dyn Store>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// What must work for `/readyz`.
    pub ready: ReadyChecks,
    /// The admin pages; `None`: they are not served.
    pub pages: Option<Pages>,
    /// The time.
    pub now: Clock,
}

/// The routes of the two listeners: the public one takes the webhook and says that it is alive; the operators' one
/// also says whether it is ready, and its figures, and has the admin pages.
pub fn routers(state: ServerState) -> (Router, Router) {
    let figures = Figures {
        store: state.store.clone(),
        metrics: state.metrics.clone(),
        now: state.now.clone(),
    };
    let pages = state
        .pages
        .map(|pages| pages::router(pages, state.store.clone(), state.now.clone()));
    let webhook = Webhook::new(
        state.secrets,
        state.context,
        state.store,
        state.metrics,
        state.now,
        state.limits,
    );
    let public = Router::new()
        .route(&state.webhook_path, post(webhook::receive))
        // Ours is larger and counts while it reads.
        .layer(DefaultBodyLimit::disable())
        .with_state(Arc::new(webhook))
        .route("/healthz", get(health::healthz));
    let operators = Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz).with_state(state.ready))
        .route(
            "/metrics",
            get(text_of_metrics).with_state(Arc::new(figures)),
        )
        .merge(pages.unwrap_or_default());
    (public, operators)
}

struct Figures {
    store: Arc<dyn Store>,
    metrics: Arc<Metrics>,
    now: Clock,
}

async fn text_of_metrics(State(figures): State<Arc<Figures>>) -> Response {
    let queue = queue(&*figures.store, (figures.now)()).await;
    if let Err(error) = &queue {
        tracing::warn!(%error, "store did not answer for the metrics");
    }
    figures.metrics.queue(queue.ok());
    match figures.metrics.text() {
        Ok(text) => {
            let kind = [(
                header::CONTENT_TYPE,
                "text/plain; version=0.0.4; charset=utf-8",
            )];
            (kind, text).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "metrics could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

async fn queue(store: &dyn Store, now: Timestamp) -> Result<Queue, StoreError> {
    Ok(Queue {
        depth: store.queue_depth().await?,
        oldest: store.oldest_waiting(now).await?,
        dead: store.dead_letters().await?.len() as u64,
    })
}
