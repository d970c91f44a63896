//! The exchange of a manifest's code for the App that was made from it: the only call without an identity.
//!
//! INVARIANT: it is sent once. GitHub takes a code once; an answer that was lost is a code that is spent.

use super::call::{Call, Who, read_json, talk};
use super::config::{ClientError, Timeouts, base_uri};
use super::path::ApiPath;
use super::transport::{self, Proxy};
use super::{ApiError, wire};
use crate::domain::AppId;
use http::header::{ACCEPT, USER_AGENT};
use http::{Method, Request};
use octocrab::OctoBody;
use secrecy::SecretString;
use std::time::SystemTime;

const NAME: &str = "POST manifest conversion";

/// An App just made, with its secrets. GitHub shows them this once.
#[derive(Debug, Clone)]
pub struct NewApp {
    /// Its id.
    pub id: AppId,
    /// Its slug.
    pub slug: String,
    /// Its page, where it is installed from.
    pub html_url: String,
    /// The login of the person or organisation that owns it.
    pub owner: Option<String>,
    /// The id for the sign-in of people.
    pub client_id: String,
    /// The secret for the sign-in of people.
    pub client_secret: SecretString,
    /// What signs its webhooks.
    pub webhook_secret: SecretString,
    /// Its private key in PEM.
    pub private_key: SecretString,
}

/// The exchange did not come about.
#[derive(Debug, thiserror::Error)]
pub enum ConversionError {
    /// It could not be sent.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// GitHub did not carry it out, or answered something else.
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// Exchanges the code that GitHub handed to the browser. Must be called inside a tokio runtime.
///
/// # Errors
/// [`ApiError::Gone`] for a code that is unknown, older than an hour or spent.
pub async fn convert(
    api_url: &str,
    code: &str,
    timeouts: Timeouts,
    proxy: &Proxy,
) -> Result<NewApp, ConversionError> {
    let base = base_uri(api_url)?;
    let client = transport::build(&base, timeouts, proxy)?;
    let path = ApiPath::root()
        .seg("app-manifests")
        .seg(code)
        .seg("conversions");
    let target = format!("{}{path}", base.path().trim_end_matches('/'));
    let call = Call::write(NAME, Who::App, Method::POST, path, None);
    let request = Request::builder()
        .method(Method::POST)
        .uri(target)
        .header(USER_AGENT, concat!("quadgate/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, call.accept)
        .header("x-github-api-version", super::client::API_VERSION)
        .body(OctoBody::empty())
        .map_err(|_| ApiError::unreadable(NAME, "the request cannot be built"))?;
    let reply = tokio::time::timeout(timeouts.total, talk(&client, request, &call))
        .await
        .map_err(|_| ApiError::transient(NAME, "no whole answer in time"))?
        .map_err(|broken| broken.error(NAME))?;
    if !reply.status.is_success() {
        return Err(without_code(call.gives_up_on(&reply, SystemTime::now())).into());
    }
    Ok(made(read_json(NAME, &reply)?)?)
}

/// The target holds the code, which is worth the App's secrets for an hour.
fn without_code(error: ApiError) -> ApiError {
    match error {
        ApiError::Gone {
            call,
            status,
            message,
            ..
        } => ApiError::Gone {
            call,
            status,
            what: "the code".to_owned(),
            message,
        },
        other => other,
    }
}

fn made(app: wire::MadeApp) -> Result<NewApp, ApiError> {
    let text = |value: Option<String>, member: &'static str| {
        value
            .filter(|text| !text.is_empty())
            .ok_or_else(|| ApiError::unreadable(NAME, format!("an answer without `{member}`")))
    };
    Ok(NewApp {
        id: app
            .id
            .map(AppId)
            .ok_or_else(|| ApiError::unreadable(NAME, "an answer without `id`"))?,
        slug: text(app.slug, "slug")?,
        html_url: text(app.html_url, "html_url")?,
        owner: app.owner.and_then(|owner| owner.login),
        client_id: text(app.client_id, "client_id")?,
        client_secret: text(app.client_secret, "client_secret")?.into(),
        webhook_secret: text(app.webhook_secret, "webhook_secret")?.into(),
        private_key: text(app.pem, "pem")?.into(),
    })
}
