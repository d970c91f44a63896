//! How an App comes to be: the manifest that asks for what is needed and no more, the local page that takes it to GitHub
//! and waits for the answer ([`page`]), and the files that are kept of it ([`files`]).
//!
//! INVARIANT: nothing that GitHub answers is believed unless it carries the state of this run, and secrets go to files of
//! mode 0600 and nowhere else.

pub mod files;
pub mod page;

use crate::github::needs::{self, Features};
use serde_json::{Map, Value, json};
use std::str::FromStr;

/// The longest name of an App.
pub const NAME_LIMIT: usize = 34;
/// Where GitHub sends people back to who sign in on the admin pages.
const SIGN_IN: &str = "/sign-in/callback";

/// A GitHub: where its pages are, and its API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Such as `https://github.com`.
    pub web: String,
    /// Such as `https://api.github.com`.
    pub api: String,
}

impl Place {
    /// github.com itself?
    #[must_use]
    pub fn is_public(&self) -> bool {
        self.web == "https://github.com"
    }
}

impl FromStr for Place {
    type Err = String;

    /// Takes the address of the pages or of the API.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("{why}; write `https://github.com` or `https://HOST`");
        let web = text.trim_end_matches('/').trim_end_matches("/api/v3");
        let uri: http::Uri = web.parse().map_err(|_| wrong("not an address"))?;
        let host = uri.host().unwrap_or_default();
        let bare = uri.path() == "/" && uri.query().is_none() && !web.contains('@');
        match uri.scheme_str() {
            Some("https") if bare => {}
            Some("http") if bare && is_loopback(host) => {}
            Some("http") => return Err(wrong("the secrets would travel in the clear")),
            Some(_) | None => return Err(wrong("not the address of a GitHub")),
        }
        if matches!(host, "github.com" | "www.github.com" | "api.github.com") {
            return Ok(Self {
                web: "https://github.com".to_owned(),
                api: "https://api.github.com".to_owned(),
            });
        }
        Ok(Self {
            web: web.to_owned(),
            api: format!("{web}/api/v3"),
        })
    }
}

/// Does the host part of an address name this machine?
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost"
        || bare
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}

/// What is to be made.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Where.
    pub place: Place,
    /// The organisation that is to own the App; `None`: the person at the browser.
    pub org: Option<String>,
    /// The App's name.
    pub name: String,
    /// Where GitHub sends webhooks.
    pub webhook_url: String,
    /// Scheme and host under which people reach the admin pages, if they are to sign in there.
    pub admin_url: Option<String>,
    /// What the server is to do.
    pub features: Features,
}

impl Wanted {
    /// GitHub's page that takes the manifest, with the state that it hands back.
    #[must_use]
    pub fn page_of_github(&self, state: &str) -> String {
        let web = &self.place.web;
        match &self.org {
            Some(org) => format!("{web}/organizations/{org}/settings/apps/new?state={state}"),
            None => format!("{web}/settings/apps/new?state={state}"),
        }
    }

    /// The manifest: what [`needs`] lists, and no more.
    #[must_use]
    pub fn manifest(&self, redirect_url: &str) -> Value {
        let permissions: Map<String, Value> = needs::permissions(self.features)
            .into_values()
            .map(|permission| (permission.name.to_owned(), json!(permission.level.as_str())))
            .collect();
        let events: Vec<&str> = needs::events(self.features)
            .iter()
            .map(|event| event.name)
            .collect();
        let callbacks: Vec<String> = self
            .admin_url
            .iter()
            .map(|url| format!("{url}{SIGN_IN}"))
            .collect();
        json!({
            "name": self.name,
            "url": origin(&self.webhook_url),
            "description": "Decides for each pull request: may this merge by itself, or must the owner be asked first?",
            "public": false,
            "hook_attributes": {"url": self.webhook_url, "active": true},
            "redirect_url": redirect_url,
            "callback_urls": callbacks,
            "default_permissions": permissions,
            "default_events": events,
        })
    }
}

/// Scheme and host of an address: what the App's page on GitHub links to.
fn origin(url: &str) -> String {
    let parts = url.splitn(4, '/').take(3);
    parts.collect::<Vec<_>>().join("/")
}

/// 64 hexadecimal digits that nobody guesses.
///
/// # Errors
/// The machine has no randomness.
pub fn new_state() -> Result<String, String> {
    let mut random = [0_u8; 32];
    getrandom::fill(&mut random).map_err(|error| format!("no randomness: {error}"))?;
    Ok(hex::encode(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_from_both_addresses() {
        let read = |text: &str| text.parse::<Place>();
        for public in [
            "https://github.com",
            "https://github.com/",
            "https://api.github.com",
        ] {
            let place = read(public).expect("public");
            assert_eq!(place.api, "https://api.github.com");
            assert!(place.is_public());
        }
        for own in [
            "https://git.example.org",
            "https://git.example.org/api/v3",
            "https://git.example.org/api/v3/",
        ] {
            let place = read(own).expect("own");
            assert_eq!(place.web, "https://git.example.org");
            assert_eq!(place.api, "https://git.example.org/api/v3");
        }
        assert!(read("http://127.0.0.1:8080").is_ok());
        for wrong in [
            "http://git.example.org",
            "github.com",
            "https://u:p@h",
            "https://h/x",
            "",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
