//! How a stand-in is set up. The defaults suit most tests.

use crate::model::{Clock, Time};
use chrono::{TimeDelta, TimeZone, Utc};
use std::collections::BTreeMap;

/// The private key that goes with the stand-in's App, as PKCS#1 PEM; made for tests, opens nothing.
pub const TEST_KEY_PEM: &str = include_str!("../data/test-app.pem");
/// Its public half.
pub const TEST_PUBLIC_KEY_PEM: &str = include_str!("../data/test-app.pub.pem");

/// How the stand-in starts.
#[derive(Debug, Clone)]
pub struct Config {
    /// The App's id, which is also the `iss` of its JWTs.
    pub app_id: u64,
    /// The App's slug; its account is `slug[bot]`.
    pub app_slug: String,
    /// What the App may do, by GitHub's permission names (`read` or `write`).
    pub permissions: BTreeMap<String, String>,
    /// Signs the webhooks.
    pub webhook_secret: String,
    /// The secret with which people's codes are exchanged.
    pub client_secret: String,
    /// Where [`auto_deliver`](crate::FakeGitHub::auto_deliver) posts to.
    pub webhook_url: Option<String>,
    /// Where the virtual clock starts; `None` follows the machine's clock (for the demo).
    pub now: Option<Time>,
    /// How far the JWT check's clock is from the machine's clock.
    pub jwt_skew: TimeDelta,
    /// Life of an installation token.
    pub token_life: TimeDelta,
    /// Does adding a repository also install the App on its owner's account?
    pub auto_install: bool,
    /// Requests an hour and installation before the primary limit answers 403.
    pub rate_limit: u64,
    /// Is every request, and every success answer of our own, checked against GitHub's description?
    pub check_contract: bool,
    /// Listen on this port of 127.0.0.1; 0 takes a free one.
    pub port: u16,
}

impl Config {
    /// The App's client id.
    #[must_use]
    pub fn client_id(&self) -> String {
        client_id(self.app_id)
    }
}

pub(crate) fn client_id(app: u64) -> String {
    format!("Iv23{app:016}")
}

impl Default for Config {
    fn default() -> Self {
        let permissions = [
            ("actions", "read"),
            ("checks", "write"),
            ("contents", "write"),
            ("issues", "write"),
            ("members", "read"),
            ("metadata", "read"),
            ("pull_requests", "write"),
            ("statuses", "write"),
        ];
        Self {
            app_id: 12_345,
            app_slug: "quadgate".into(),
            permissions: permissions
                .map(|(name, level)| (name.to_owned(), level.to_owned()))
                .into(),
            webhook_secret: "test-webhook-secret".into(),
            client_secret: "test-client-secret".into(),
            webhook_url: None,
            now: Utc.with_ymd_and_hms(2026, 1, 5, 9, 0, 0).single(),
            jwt_skew: TimeDelta::zero(),
            token_life: TimeDelta::hours(1),
            auto_install: true,
            rate_limit: 15_000,
            check_contract: true,
            port: 0,
        }
    }
}

impl Config {
    pub(crate) fn clock(&self) -> Clock {
        self.now
            .map_or(Clock::Running(TimeDelta::zero()), Clock::Set)
    }
}
