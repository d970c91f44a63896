//! What a webhook request is answered with: a status, one word, and for people the reason.
//!
//! INVARIANT: neither answer nor log holds a body, a signature or a secret.

use super::event::PayloadError;
use super::signature::SignatureError;
use crate::store::StoreError;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// What an overloaded server asks for, in seconds.
const RETRY_AFTER: &str = "5";

/// Every answer's word stands here too: GitHub's page of deliveries shows headers, and a 204 has no body.
const OUTCOME: HeaderName = HeaderName::from_static("x-quadgate-outcome");

/// Why a request is not answered with 2xx.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("{why}")]
    Unsigned {
        #[source]
        why: SignatureError,
        announced: Option<usize>,
        read: Option<usize>,
    },
    #[error("body is over GitHub's 25 MiB")]
    TooLarge,
    #[error("body did not arrive in time")]
    Slow,
    #[error("body was cut off")]
    Cut,
    #[error(
        "body is form data: set the webhook's content type to `application/json` in the App's settings"
    )]
    Form,
    #[error("content type is not `application/json`: set it so in the App's webhook settings")]
    MediaType,
    #[error("header `{0}` is missing or not GitHub's")]
    Header(&'static str),
    #[error(transparent)]
    Unreadable(PayloadError),
    #[error("this delivery id came before with another body")]
    Conflict,
    #[error("too many requests in flight")]
    Overloaded,
    #[error("delivery could not be kept")]
    Store(#[source] StoreError),
    #[error("delivery could not be kept in time")]
    StoreSlow,
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::Unsigned { .. } => StatusCode::UNAUTHORIZED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::Form | Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Cut | Self::Header(_) | Self::Unreadable(_) => StatusCode::BAD_REQUEST,
            Self::Conflict => StatusCode::CONFLICT,
            Self::Overloaded | Self::Store(_) | Self::StoreSlow => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Unsigned { why, .. } => why.word(),
            Self::TooLarge => "too-large",
            Self::Slow => "slow",
            Self::Cut => "cut-off",
            Self::Form => "form",
            Self::MediaType => "media-type",
            Self::Header(_) => "bad-header",
            Self::Unreadable(_) => "unreadable",
            Self::Conflict => "conflict",
            Self::Overloaded => "overloaded",
            Self::Store(_) | Self::StoreSlow => "store-unavailable",
        }
    }

    /// Lengths, so that an operator can find the proxy that changes bodies; never contents.
    fn log(&self) {
        match self {
            Self::Unsigned {
                why,
                announced,
                read,
            } => tracing::warn!(%why, announced, read, "webhook request refused"),
            Self::Store(error) => tracing::error!(%error, "delivery could not be kept"),
            Self::TooLarge
            | Self::Slow
            | Self::Cut
            | Self::Form
            | Self::MediaType
            | Self::Header(_)
            | Self::Unreadable(_)
            | Self::Conflict
            | Self::Overloaded
            | Self::StoreSlow => tracing::warn!(why = %self, "webhook request refused"),
        }
    }
}

/// What is answered: a status, a word, and for people the reason.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) word: &'static str,
    reason: Option<String>,
}

impl Answer {
    pub(super) fn of(status: StatusCode, word: &'static str) -> Self {
        Self {
            status,
            word,
            reason: None,
        }
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        refusal.log();
        Self {
            status: refusal.status(),
            word: refusal.word(),
            reason: Some(refusal.to_string()),
        }
    }
}

#[derive(Serialize)]
struct AnswerBody {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = if self.status == StatusCode::NO_CONTENT {
            self.status.into_response()
        } else {
            let body = AnswerBody {
                outcome: self.word,
                reason: self.reason,
            };
            (self.status, axum::Json(body)).into_response()
        };
        let headers = response.headers_mut();
        headers.insert(OUTCOME, HeaderValue::from_static(self.word));
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER));
        }
        response
    }
}
