//! The HTTP stack below the client: one pool of connections for the App and all installations.
//!
//! It is octocrab's service stack put together by hand, because octocrab's default client knows no proxy, asks
//! for TLS roots even for a plain `http` address, and logs 5xx answers as errors by itself. Nothing here repeats
//! a request or follows a redirect.

use http::uri::PathAndQuery;
use http::{HeaderValue, Uri};
use hyper::rt::{Read, Write};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connection, HttpConnector, proxy::Tunnel};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use octocrab::service::middleware::base_uri::BaseUriLayer;
use octocrab::{AuthState, OctoBody, Octocrab, OctocrabBuilder};
use std::sync::Arc;
use std::time::Duration;

use super::config::{ClientError, Timeouts};

/// Idle connections are closed by us before GitHub closes them, so that no request meets a closed one.
const IDLE: Duration = Duration::from_secs(45);

/// Through which proxy GitHub is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Proxy {
    /// `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in either case, read when the client is made.
    #[default]
    Environment,
    /// None, whatever the environment says.
    Direct,
    /// This one, such as `http://proxy.example:3128`.
    Url(String),
}

impl Proxy {
    fn toward(&self, base: &Uri) -> Option<(Uri, Option<HeaderValue>)> {
        let matcher = match self {
            Self::Environment => Matcher::from_env(),
            Self::Direct => return None,
            Self::Url(url) => Matcher::builder().all(url.as_str()).build(),
        };
        let hit = matcher.intercept(base)?;
        Some((hit.uri().clone(), hit.basic_auth().cloned()))
    }
}

/// The client without an identity; tokens are added a call.
pub(super) fn build(
    base: &Uri,
    timeouts: Timeouts,
    proxy: &Proxy,
) -> Result<Octocrab, ClientError> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(timeouts.connect));
    let encrypted = base.scheme_str() == Some("https");
    match proxy.toward(base) {
        None if encrypted => Ok(finish(tls(http)?, base, timeouts)),
        None => Ok(finish(http, base, timeouts)),
        Some((uri, auth)) => {
            let mut tunnel = Tunnel::new(uri, http);
            if let Some(auth) = auth {
                tunnel = tunnel.with_auth(auth);
            }
            if encrypted {
                Ok(finish(tls(tunnel)?, base, timeouts))
            } else {
                Ok(finish(tunnel, &with_port(base), timeouts))
            }
        }
    }
}

/// A tunnel takes an address without a port for an encrypted one: plain ones name theirs.
fn with_port(base: &Uri) -> Uri {
    let mut parts = base.clone().into_parts();
    if base.port().is_none()
        && let Some(host) = base.host()
        && let Ok(authority) = format!("{host}:80").parse()
    {
        parts.authority = Some(authority);
    }
    Uri::from_parts(parts).unwrap_or_else(|_| base.clone())
}

/// The host alone: the path is the client's to choose.
fn origin(base: &Uri) -> Uri {
    let mut parts = base.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::from_static("/"));
    Uri::from_parts(parts).unwrap_or_else(|_| base.clone())
}

fn tls<C>(connector: C) -> Result<hyper_rustls::HttpsConnector<C>, ClientError> {
    // Named here: the process-wide default depends on what other crates switch on.
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    Ok(HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(provider)
        .map_err(|error| ClientError::Roots(error.to_string()))?
        .https_only()
        .enable_http1()
        .wrap_connector(connector))
}

fn finish<C>(connector: C, base: &Uri, timeouts: Timeouts) -> Octocrab
where
    C: tower::Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<tower::BoxError>,
{
    let mut connector = TimeoutConnector::new(connector);
    connector.set_connect_timeout(Some(timeouts.connect));
    connector.set_read_timeout(Some(timeouts.read));
    connector.set_write_timeout(Some(timeouts.read));
    // Without this the read timer of a connection that lay idle runs on into the next request.
    connector.set_reset_reader_on_write(true);
    let client = Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        // A request that met a closed connection is our caller's to repeat: it may be a write.
        .retry_canceled_requests(false)
        .build::<_, OctoBody>(connector);
    let built = OctocrabBuilder::new_empty()
        .with_service(client)
        .with_layer(&BaseUriLayer::new(origin(base)))
        .with_auth(AuthState::None)
        .build();
    match built {
        Ok(client) => client,
        Err(never) => match never {},
    }
}
