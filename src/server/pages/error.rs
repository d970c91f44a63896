//! What a page cannot show, as a page: what is meant, and what to do next.
//!
//! INVARIANT: what may not be seen is answered like what is not there.

use super::layout;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;
use std::fmt;

/// Why there is no page.
#[derive(Debug)]
pub(super) enum PageError {
    /// Nothing here, or nothing that this person may see.
    NotFound,
    /// The store or the log does not answer; the cause is in the server's log.
    Unavailable,
    /// Too many readers.
    Busy,
    /// The request was not made for this address.
    Misdirected,
    /// A form that this session did not ask for.
    Forged,
    /// The sign-in did not come to its end.
    SignIn(&'static str),
    /// GitHub does not say what the person may see.
    NobodyKnows,
}

impl PageError {
    /// Tells the operators the cause, and the person only that there is one.
    pub(super) fn unavailable(what: &str, cause: &dyn fmt::Display) -> Self {
        tracing::error!(%cause, "admin pages: {what} does not answer");
        Self::Unavailable
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Unavailable | Self::Busy | Self::NobodyKnows => StatusCode::SERVICE_UNAVAILABLE,
            Self::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            Self::Forged => StatusCode::FORBIDDEN,
            Self::SignIn(_) => StatusCode::BAD_REQUEST,
        }
    }

    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::NotFound => (
                "Nothing here",
                "There is no such page, or nothing that you may see. Check the address, or look in the audit log.",
            ),
            Self::Unavailable => (
                "Not available now",
                "The store or the audit log does not answer. Reload in a moment; the server's own log names the cause.",
            ),
            Self::Busy => (
                "Busy",
                "Too many pages read the audit log at this moment. Reload in a few seconds.",
            ),
            Self::Misdirected => (
                "Another address",
                "These pages answer on loopback and at `admin_url` of server.yml. Use one of these addresses, or set `admin_url` \
                 to the one you use.",
            ),
            Self::Forged => (
                "Not done",
                "This form does not belong to your session. Go back, reload the page, and try again.",
            ),
            Self::SignIn(why) => ("Not signed in", why),
            Self::NobodyKnows => (
                "Not known what you may see",
                "GitHub did not say which repositories you can read, so nothing is shown. Reload in a minute.",
            ),
        }
    }
}

impl From<crate::store::StoreError> for PageError {
    fn from(error: crate::store::StoreError) -> Self {
        Self::unavailable("the store", &error)
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (title, text) = self.words();
        let body = html! {
            h1 { (title) }
            p.lead { (text) }
            @match self {
                Self::SignIn(_) => p { a.button href="/sign-in" { "Sign in again" } },
                Self::NotFound => p { a href="/" { "Overview" } " · " a href="/audit" { "Audit log" } },
                _ => {}
            }
        };
        (self.status(), layout::page(title, None, None, &body)).into_response()
    }
}

/// The answer to every address that is none.
pub(super) async fn nothing_here() -> PageError {
    PageError::NotFound
}
