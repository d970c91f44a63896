//! What holds for every page: the right host, and headers that leave a browser nothing to run or to leak.
//!
//! INVARIANT: a name that an attacker points at this machine (DNS rebinding) is not answered with anything.

use super::Desk;
use super::error::PageError;
use crate::settings::Origin;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use std::sync::Arc;

/// No script at all; styles, pictures and forms of our own alone.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

pub(super) async fn guard(State(desk): State<Arc<Desk>>, request: Request, next: Next) -> Response {
    let ours = desk.settings.url.as_ref().map(Origin::host);
    let mut response = if is_ours(request.headers(), request.uri().host(), ours) {
        next.run(request).await
    } else {
        PageError::Misdirected.into_response()
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        (
            "permissions-policy",
            "camera=(), geolocation=(), microphone=()",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Does the request name this machine or the configured address? One that names no host is no browser's.
fn is_ours(headers: &HeaderMap, target: Option<&str>, ours: Option<&str>) -> bool {
    let mut named = headers.get_all(header::HOST).iter();
    let host = match (target, named.next(), named.next()) {
        (Some(target), ..) => Some(target),
        (None, Some(one), None) => one.to_str().ok().map(without_port),
        (None, _, _) => None,
    };
    host.is_some_and(|host| {
        is_loopback(host) || ours.is_some_and(|ours| host.eq_ignore_ascii_case(ours))
    })
}

/// The host before its port; IPv6 stands in brackets.
fn without_port(authority: &str) -> &str {
    let name = authority
        .rsplit_once(':')
        .map_or(authority, |(name, port)| {
            if port.bytes().all(|b| b.is_ascii_digit()) {
                name
            } else {
                authority
            }
        });
    if name.starts_with('[') && !name.ends_with(']') {
        authority
    } else {
        name
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || bare
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(host: &str, ours: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).expect("a header"));
        is_ours(&headers, None, ours)
    }

    #[test]
    fn loopback_and_the_configured_host_are_ours() {
        for host in [
            "localhost",
            "LOCALHOST:3001",
            "127.0.0.1:9",
            "127.8.8.8",
            "[::1]:3001",
            "[::1]",
        ] {
            assert!(asked(host, None), "{host}");
        }
        for host in [
            "gate.example.com",
            "localhost.evil.example:3001",
            "127.0.0.1.evil.example",
            "10.0.0.1:3001",
            "0.0.0.0:3001",
            "[::2]",
            "",
            ":3001",
        ] {
            assert!(!asked(host, None), "{host}");
        }
        assert!(asked("Gate.example.com:443", Some("gate.example.com")));
        assert!(!asked("gate.example.com.evil", Some("gate.example.com")));
    }

    #[test]
    fn a_request_without_a_host_or_with_two_is_not() {
        assert!(!is_ours(&HeaderMap::new(), None, None));
        let mut two = HeaderMap::new();
        two.append(header::HOST, HeaderValue::from_static("localhost"));
        two.append(header::HOST, HeaderValue::from_static("evil.example"));
        assert!(!is_ours(&two, None, None));
    }
}
