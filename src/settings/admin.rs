//! How the admin pages are reached: their public address, and whether people sign in.
//!
//! INVARIANT: pages that can be reached from outside without a sign-in do not come out of here.

use super::server::ServerFile;
use crate::policy::Problem;
use crate::policy::shape::Written;
use std::fmt;
use std::net::SocketAddr;

/// How the admin pages are served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminPages {
    /// Where people reach them.
    pub url: Option<Origin>,
    /// The App's client id; `None`: nobody signs in, who reaches the pages sees everything.
    pub client_id: Option<String>,
}

/// Scheme, host and port of an address, without anything behind them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    text: String,
    host: String,
}

impl Origin {
    /// Reads `https://HOST` or `http://HOST:PORT`; a slash at the end is dropped.
    fn read(text: &str) -> Option<Self> {
        let text = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
        let uri: http::Uri = text.parse().ok()?;
        let authority = uri.authority()?.as_str();
        let whole = format!("{}://{authority}", uri.scheme_str()?);
        let known = matches!(uri.scheme_str(), Some("https" | "http"));
        let plain = known && !authority.contains('@') && whole == text;
        plain.then(|| Self {
            host: uri.host().unwrap_or_default().to_owned(),
            text,
        })
    }

    /// `https://HOST[:PORT]`, without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host without its port, lower case; IPv6 in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Is the way there encrypted?
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.text.starts_with("https://")
    }

    fn is_loopback(&self) -> bool {
        matches!(self.host(), "127.0.0.1" | "localhost" | "[::1]")
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What `server.yml` says of the admin pages; `None`: they are not served.
pub(super) fn compile(
    file: &Written<ServerFile>,
    listen: Option<SocketAddr>,
    problems: &mut Vec<Problem>,
    warnings: &mut Vec<Problem>,
) -> Option<AdminPages> {
    let value = &file.value;
    let url = value.admin_url.as_deref().and_then(|text| {
        let origin = Origin::read(text);
        if origin.is_none() {
            let message = format!("`{text}` is not the address of the admin pages");
            let hint = "write `https://HOST` or `https://HOST:PORT`, without a path";
            problems.push(file.problem(&["admin_url"], message).hint(hint));
        }
        origin
    });
    let client_id = value.github_client_id.clone();
    if let Some(id) = &client_id
        && !is_client_id(id)
    {
        let message = format!("`{id}` is not the client id of a GitHub App");
        let hint = "copy it from the App's settings page";
        problems.push(file.problem(&["github_client_id"], message).hint(hint));
    }
    let listen = listen.filter(|_| value.admin_pages)?;
    if client_id.is_some() {
        if value.admin_url.is_none() {
            let message = "people who sign in are sent back to `admin_url`, which is not set";
            let hint = "write the address at which they reach the admin pages";
            problems.push(file.problem(&["github_client_id"], message).hint(hint));
        }
    } else if !listen.ip().is_loopback() {
        let message =
            format!("the admin pages at `{listen}` can be reached from outside without a sign-in");
        let hint = "set `github_client_id` and `admin_url`, listen on loopback, or write `admin_pages: false` to serve \
                    health and metrics alone";
        problems.push(file.problem(&["admin_listen"], message).hint(hint));
    }
    if let Some(url) = url.as_ref().filter(|url| !url.is_loopback()) {
        if client_id.is_none() {
            let message = format!("whoever reaches `{url}` sees everything: nobody has to sign in");
            let hint = "set `github_client_id`, unless your proxy asks who comes";
            warnings.push(file.problem(&["admin_url"], message).hint(hint));
        } else if !url.is_https() {
            let message = format!("`{url}` is not encrypted: sessions travel in the clear");
            warnings.push(file.problem(&["admin_url"], message));
        }
    }
    Some(AdminPages { url, client_id })
}

fn is_client_id(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    (1..=64).contains(&text.len()) && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::Origin;

    #[test]
    fn an_origin_is_a_scheme_and_a_host() {
        let read = |text| Origin::read(text).map(|origin| (origin.to_string(), origin.host));
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(
            read("https://Gate.example.com/"),
            pair("https://gate.example.com", "gate.example.com")
        );
        assert_eq!(
            read("http://[::1]:3001"),
            pair("http://[::1]:3001", "[::1]")
        );
        for bad in [
            "",
            "gate.example.com",
            "https://gate.example.com/pages",
            "https://a@gate.example.com",
            "https://gate.example.com?x",
            "javascript:alert(1)",
            "ftp://gate.example.com",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
