//! People who sign in: the web flow on GitHub's pages, and what their tokens can read.
//!
//! The App never acts in a person's name: a person's token only asks who they are and which repositories of the App's
//! installations they can read. INVARIANT: a list that was not read to its end is an error, never a shorter list.

use super::call::{Call, Reply, Who, read_json};
use super::config::{ClientError, Timeouts, base_uri};
use super::page::next_link;
use super::path::ApiPath;
use super::transport::{self, Proxy};
use super::{ApiError, GitHub, wire};
use crate::domain::{InstallationId, RepoId};
use http::Uri;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use octocrab::{OctoBody, Octocrab};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

/// More pages than any person's list has.
const MOST_PAGES: usize = 100;

/// A person's token.
#[derive(Debug, Clone)]
pub struct UserToken {
    /// The token.
    pub token: SecretString,
    /// How long it lasts, where GitHub says so.
    pub lasts: Option<Duration>,
}

/// The sign-in of one App on GitHub's pages.
#[derive(Clone)]
pub struct OAuth {
    http: Octocrab,
    base: Uri,
    client_id: String,
    client_secret: SecretString,
    timeouts: Timeouts,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Granted {
    access_token: Option<String>,
    expires_in: Option<u64>,
    error: Option<String>,
}

impl OAuth {
    /// For the App with this client id, on these pages (`https://github.com`, or an Enterprise Server's host). Nothing is
    /// sent yet.
    ///
    /// # Errors
    /// The address or the machine's root certificates cannot be used.
    pub fn new(
        web_base: &str,
        client_id: &str,
        client_secret: SecretString,
        timeouts: Timeouts,
    ) -> Result<Self, ClientError> {
        let base = base_uri(web_base)?;
        Ok(Self {
            http: transport::build(&base, timeouts, &Proxy::default())?,
            base,
            client_id: client_id.to_owned(),
            client_secret,
            timeouts,
        })
    }

    /// Where a person agrees. `challenge` is the S256 challenge of the flow's verifier.
    #[must_use]
    pub fn authorize_url(&self, redirect_uri: &str, state: &str, challenge: &str) -> String {
        let query = form(&[
            ("client_id", &self.client_id),
            ("redirect_uri", redirect_uri),
            ("state", state),
            ("code_challenge", challenge),
            ("code_challenge_method", "S256"),
            ("allow_signup", "false"),
        ]);
        let base = self.base.to_string();
        format!(
            "{}/login/oauth/authorize?{query}",
            base.trim_end_matches('/')
        )
    }

    /// Exchanges a code. A code is good once.
    pub async fn token(
        &self,
        code: &str,
        verifier: &str,
        redirect_uri: &str,
    ) -> Result<UserToken, ApiError> {
        const NAME: &str = "POST user token";
        let body = form(&[
            ("client_id", &self.client_id),
            ("client_secret", self.client_secret.expose_secret()),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", verifier),
        ]);
        let path = ApiPath::root()
            .seg("login")
            .seg("oauth")
            .seg("access_token");
        let call = Call::write(NAME, Who::Person, http::Method::POST, path, None);
        let request = http::Request::builder()
            .method(http::Method::POST)
            .uri(call.path.as_str())
            .header(USER_AGENT, concat!("quadgate/", env!("CARGO_PKG_VERSION")))
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(OctoBody::from(body))
            .map_err(|_| ApiError::unreadable(NAME, "the request cannot be built"))?;
        let exchange = super::call::talk(&self.http, request, &call);
        let reply = match tokio::time::timeout(self.timeouts.total, exchange).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(broken)) => return Err(broken.error(NAME)),
            Err(_) => return Err(ApiError::transient(NAME, "no whole answer in time")),
        };
        granted(NAME, &call, &reply)
    }
}

/// GitHub answers a refusal with 200 and a word.
fn granted(name: &'static str, call: &Call, reply: &Reply) -> Result<UserToken, ApiError> {
    if !reply.status.is_success() {
        return Err(call.gives_up_on(reply, SystemTime::now()));
    }
    let granted: Granted = read_json(name, reply)?;
    if let Some(word) = granted.error {
        let message: String = word.chars().filter(|c| !c.is_control()).take(80).collect();
        return Err(ApiError::Unauthorized {
            call: name,
            clock_skew: None,
            message,
        });
    }
    let token = granted.access_token.filter(|token| !token.is_empty());
    Ok(UserToken {
        token: token
            .map(SecretString::from)
            .ok_or_else(|| ApiError::unreadable(name, "an answer without a token"))?,
        lasts: granted.expires_in.map(Duration::from_secs),
    })
}

fn form(pairs: &[(&str, &str)]) -> String {
    let encode = |text| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let pairs = pairs
        .iter()
        .map(|(name, value)| format!("{name}={}", encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

impl GitHub {
    /// The login of the person whose token this is.
    pub async fn person(&self, token: &SecretString) -> Result<String, ApiError> {
        const NAME: &str = "GET signed-in user";
        let call = Call::get(NAME, Who::Person, ApiPath::root().seg("user"));
        let reply = self.as_person(token, &call).await?;
        let user: wire::User = read_json(NAME, &reply)?;
        user.login
            .ok_or_else(|| ApiError::unreadable(NAME, "an answer without a login"))
    }

    /// The repositories of the App's installations that the person can read.
    pub async fn readable_by(&self, token: &SecretString) -> Result<BTreeSet<RepoId>, ApiError> {
        let path = ApiPath::root().seg("user").seg("installations");
        let installations = self
            .all_of_person::<wire::UserInstallations>("GET user installations", token, path)
            .await?;
        let mut readable = BTreeSet::new();
        for id in installations {
            readable.extend(self.readable_in(token, InstallationId(id)).await?);
        }
        Ok(readable.into_iter().map(RepoId).collect())
    }

    async fn readable_in(
        &self,
        token: &SecretString,
        installation: InstallationId,
    ) -> Result<Vec<u64>, ApiError> {
        let path = ApiPath::root()
            .seg("user")
            .seg("installations")
            .seg(installation)
            .seg("repositories");
        self.all_of_person::<wire::UserRepositories>("GET user repositories", token, path)
            .await
    }

    /// The ids of a list, read to its end.
    async fn all_of_person<B: wire::Ids>(
        &self,
        name: &'static str,
        token: &SecretString,
        path: ApiPath,
    ) -> Result<Vec<u64>, ApiError> {
        let mut path = path.query("per_page", 100);
        let mut ids = Vec::new();
        for _page in 0..MOST_PAGES {
            let reply = self
                .as_person(token, &Call::get(name, Who::Person, path))
                .await?;
            let (total, page) = read_json::<B>(name, &reply)?
                .ids()
                .ok_or_else(|| ApiError::unreadable(name, "a page without a list or its length"))?;
            ids.extend(page);
            let Some(link) = next_link(&reply) else {
                return if u64::try_from(ids.len()) == Ok(total) {
                    Ok(ids)
                } else {
                    Err(ApiError::unreadable(
                        name,
                        "the list is not as long as it says",
                    ))
                };
            };
            path = self
                .same_host(&link)
                .map_err(|problem| ApiError::unreadable(name, problem))?;
        }
        Err(ApiError::unreadable(name, "the list has no end"))
    }
}
