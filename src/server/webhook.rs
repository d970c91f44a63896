//! `POST /webhook`: verified, read, committed, then answered. No call to GitHub is made here.
//!
//! INVARIANT: nothing is stored before the signature over the raw body is right, and 202 is said only after
//! the commit. Logs and answers hold lengths and words, never a body, a signature or a secret.

use super::answer::{Answer, Refusal};
use super::event::{self, Context, Event, Ignored, Reading};
use super::metrics::Metrics;
use super::signature::{Signature, SignatureError, SignedBody, WebhookSecrets};
use crate::domain::{DeliveryId, Timestamp};
use crate::store::{Accepted, NewDelivery, Store};
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// GitHub's cap for a payload.
pub const BODY_LIMIT: usize = 25 * 1024 * 1024;
/// Larger bodies are verified and read off the async threads: 25 MiB are 18 ms.
const INLINE: usize = 1024 * 1024;
/// GitHub gives up after 10 s: a body must be there, and a commit done, well before.
const BODY_PATIENCE: Duration = Duration::from_secs(5);
const COMMIT_PATIENCE: Duration = Duration::from_secs(4);
/// Bytes of bodies are counted in these units.
const UNIT: usize = 64 * 1024;

const SIGNATURE: HeaderName = HeaderName::from_static("x-hub-signature-256");
const SIGNATURE_SHA1: HeaderName = HeaderName::from_static("x-hub-signature");
const EVENT: HeaderName = HeaderName::from_static("x-github-event");
const DELIVERY: HeaderName = HeaderName::from_static("x-github-delivery");

/// Bounds on what is held at once.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Requests in flight.
    pub requests: usize,
    /// Bytes of their bodies together.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests: 256,
            bytes: 128 * 1024 * 1024,
        }
    }
}

/// Everything a webhook request needs.
pub(super) struct Webhook {
    pub(super) secrets: WebhookSecrets,
    pub(super) context: Context,
    pub(super) store: Arc<dyn Store>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    requests: Semaphore,
    units: Semaphore,
}

impl Webhook {
    pub(super) fn new(
        secrets: WebhookSecrets,
        context: Context,
        store: Arc<dyn Store>,
        metrics: Arc<Metrics>,
        now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
        limits: Limits,
    ) -> Self {
        Self {
            secrets,
            context,
            store,
            metrics,
            now,
            requests: Semaphore::new(limits.requests),
            units: Semaphore::new(limits.bytes.div_ceil(UNIT)),
        }
    }
}

/// The route's handler.
pub(super) async fn receive(State(webhook): State<Arc<Webhook>>, request: Request) -> Response {
    let event = event_of(request.headers());
    let answer = match webhook.answer(request).await {
        Ok(answer) => answer,
        Err(refusal) => refusal.into(),
    };
    webhook.metrics.delivery(event.name(), answer.word);
    answer.into_response()
}

impl Webhook {
    async fn answer(&self, request: Request) -> Result<Answer, Refusal> {
        let (parts, body) = request.into_parts();
        let _place = self.place(&parts.headers)?;
        let signed = self.signed(&parts.headers, body).await?;
        let delivery = Delivery::of(&parts.headers, signed)?;
        self.deliver(delivery).await
    }

    /// A place among the requests in flight.
    fn place(&self, headers: &HeaderMap) -> Result<SemaphorePermit<'_>, Refusal> {
        if content_length(headers).is_some_and(|length| length > BODY_LIMIT) {
            return Err(Refusal::TooLarge);
        }
        self.requests.try_acquire().map_err(|_| Refusal::Overloaded)
    }

    /// Reads the body against the limit and checks its signature. A header that cannot be right is refused
    /// before a byte of the body is read.
    async fn signed(&self, headers: &HeaderMap, body: Body) -> Result<SignedBody, Refusal> {
        let unsigned = |why| Refusal::Unsigned {
            why,
            announced: content_length(headers),
            read: None,
        };
        let signature = signature_of(headers).map_err(unsigned)?;
        let (body, _room) = tokio::time::timeout(BODY_PATIENCE, self.whole(body))
            .await
            .map_err(|_| Refusal::Slow)??;
        let read = body.len();
        let secrets = self.secrets.clone();
        let verified = off_thread(read, move || secrets.verify(&signature, body)).await?;
        verified.map_err(|why| Refusal::Unsigned {
            why,
            announced: content_length(headers),
            read: Some(read),
        })
    }

    /// Reads the body to its end. Room is taken as bytes arrive, not as they are announced: a stranger who
    /// announces much and sends nothing holds up nobody.
    async fn whole(&self, mut body: Body) -> Result<(Bytes, SemaphorePermit<'_>), Refusal> {
        let room = |units: usize| {
            let units = u32::try_from(units).unwrap_or(u32::MAX);
            let taken = self.units.try_acquire_many(units);
            taken.map_err(|_| Refusal::Overloaded)
        };
        let mut held = room(1)?;
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Refusal::Cut)?;
            let Ok(data) = frame.into_data() else {
                continue; // trailers
            };
            let length = bytes.len() + data.len();
            if length > BODY_LIMIT {
                return Err(Refusal::TooLarge);
            }
            let needed = length.div_ceil(UNIT);
            if needed > held.num_permits() {
                held.merge(room(needed - held.num_permits())?);
            }
            bytes.extend_from_slice(&data);
        }
        Ok((bytes.into(), held))
    }

    async fn deliver(&self, delivery: Delivery) -> Result<Answer, Refusal> {
        let span = tracing::info_span!("delivery", id = %delivery.id, event = delivery.event_name);
        let reading = match delivery.event {
            Event::Ping => return Ok(Answer::of(StatusCode::OK, "pong")),
            Event::Other => Reading::Ignored(Ignored::UnknownEvent),
            event => {
                let (body, context) = (delivery.body.clone(), self.context.clone());
                off_thread(body.bytes().len(), move || {
                    event::read(event, body.bytes(), &context)
                })
                .await?
                .map_err(Refusal::Unreadable)?
            }
        };
        let (action, triggers, notes) = match reading {
            Reading::Work {
                action,
                triggers,
                notes,
            } => (action, triggers, notes),
            Reading::Ignored(why) => return Ok(Answer::of(StatusCode::NO_CONTENT, why.word())),
        };
        let subjects = triggers.len();
        let new = NewDelivery {
            body_sha256: delivery.body.sha256(),
            id: delivery.id,
            event: delivery.event_name,
            action,
            received_at: (self.now)(),
            triggers,
            notes,
        };
        let accepted = tokio::time::timeout(COMMIT_PATIENCE, self.store.accept(new))
            .await
            .map_err(|_| Refusal::StoreSlow)?
            .map_err(Refusal::Store)?;
        span.in_scope(|| tracing::info!(subjects, outcome = ?accepted, "delivery came in"));
        match accepted {
            Accepted::New => Ok(Answer::of(StatusCode::ACCEPTED, "accepted")),
            Accepted::Requeued => Ok(Answer::of(StatusCode::OK, "requeued")),
            Accepted::Duplicate => Ok(Answer::of(StatusCode::OK, "duplicate")),
            Accepted::Conflict => Err(Refusal::Conflict),
        }
    }
}

/// A delivery that GitHub signed.
struct Delivery {
    id: DeliveryId,
    event: Event,
    event_name: String,
    body: SignedBody,
}

impl Delivery {
    fn of(headers: &HeaderMap, body: SignedBody) -> Result<Self, Refusal> {
        content_type(headers)?;
        let event_name = text(headers, &EVENT)
            .filter(|name| !name.is_empty())
            .ok_or(Refusal::Header("X-GitHub-Event"))?;
        let id = text(headers, &DELIVERY)
            .and_then(|id| id.parse().ok())
            .ok_or(Refusal::Header("X-GitHub-Delivery"))?;
        Ok(Self {
            id,
            event: Event::from_name(event_name),
            event_name: event_name.to_owned(),
            body,
        })
    }
}

/// Work on a large body goes to the threads that may block.
async fn off_thread<T: Send + 'static>(
    length: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    if length > INLINE {
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|_| Refusal::Overloaded)
    } else {
        Ok(work())
    }
}

fn signature_of(headers: &HeaderMap) -> Result<Signature, SignatureError> {
    let mut all = headers.get_all(SIGNATURE).iter();
    match (all.next(), all.next()) {
        (Some(one), None) => Signature::parse(one.as_bytes()),
        (Some(_), Some(_)) => Err(SignatureError::Malformed),
        (None, _) if headers.contains_key(SIGNATURE_SHA1) => Err(SignatureError::Sha1Only),
        (None, _) => Err(SignatureError::Missing),
    }
}

fn content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let value = text(headers, &header::CONTENT_TYPE).unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        Ok(())
    } else if media_type.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        Err(Refusal::Form)
    } else {
        Err(Refusal::MediaType)
    }
}

fn content_length(headers: &HeaderMap) -> Option<usize> {
    text(headers, &header::CONTENT_LENGTH)?.parse().ok()
}

fn event_of(headers: &HeaderMap) -> Event {
    text(headers, &EVENT).map_or(Event::Other, Event::from_name)
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
