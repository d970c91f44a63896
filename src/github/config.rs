//! What a client is made of, and what keeps it from being made.

use super::auth::KeyError;
use super::observer::{NoObserver, Observer};
use super::transport::Proxy;
use crate::domain::AppId;
use http::Uri;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::Duration;

/// GitHub's public API.
const PUBLIC_API: &str = "https://api.github.com";
/// How long the parts of a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands, TLS included.
    pub connect: Duration,
    /// Between two pieces of an answer.
    pub read: Duration,
    /// For the whole exchange.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            read: Duration::from_secs(20),
            total: Duration::from_mins(1),
        }
    }
}

/// How a read is repeated within one call, when the failure is of the passing kind and GitHub named no wait.
/// Everything else is the work queue's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadRetry {
    /// Repetitions after the first try.
    pub times: u32,
    /// The pause before the first of them; it doubles.
    pub pause: Duration,
}

impl Default for ReadRetry {
    fn default() -> Self {
        Self {
            times: 2,
            pause: Duration::from_millis(400),
        }
    }
}

/// What a client is made of.
#[derive(Clone)]
pub struct ClientConfig {
    /// `https://api.github.com`, or `https://HOST/api/v3` of an Enterprise Server.
    pub base_url: String,
    /// The App's id.
    pub app_id: AppId,
    /// Its RSA key in PEM form, PKCS#1 or PKCS#8.
    pub private_key: SecretString,
    /// What we call ourselves; GitHub refuses requests without.
    pub user_agent: String,
    /// Limits of time.
    pub timeouts: Timeouts,
    /// Repetition of reads.
    pub retry: ReadRetry,
    /// The way to GitHub.
    pub proxy: Proxy,
    /// Who counts.
    pub observer: Arc<dyn Observer>,
}

impl ClientConfig {
    /// The public GitHub with our defaults; every member can be changed after.
    #[must_use]
    pub fn new(app_id: AppId, private_key: SecretString) -> Self {
        Self {
            base_url: PUBLIC_API.to_owned(),
            app_id,
            private_key,
            user_agent: concat!("quadgate/", env!("CARGO_PKG_VERSION")).to_owned(),
            timeouts: Timeouts::default(),
            retry: ReadRetry::default(),
            proxy: Proxy::default(),
            observer: Arc::new(NoObserver),
        }
    }
}

/// The client cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Not an address.
    #[error(
        "`{0}` is not an API address such as `https://api.github.com` or `https://HOST/api/v3`"
    )]
    BaseUrl(String),
    /// Not a header's value.
    #[error("`{0}` cannot be a user agent: use visible ASCII characters")]
    UserAgent(String),
    /// The key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// No trusted certificates on this machine.
    #[error("no trusted root certificates: {0}; install `ca-certificates` or set SSL_CERT_FILE")]
    Roots(String),
}

/// Checks the API's address.
pub(super) fn base_uri(text: &str) -> Result<Uri, ClientError> {
    let wrong = || ClientError::BaseUrl(text.to_owned());
    let uri: Uri = text.trim_end_matches('/').parse().map_err(|_| wrong())?;
    let usable = matches!(uri.scheme_str(), Some("https" | "http"))
        && uri.query().is_none()
        && uri
            .authority()
            .is_some_and(|host| !host.as_str().contains('@'));
    if usable { Ok(uri) } else { Err(wrong()) }
}
