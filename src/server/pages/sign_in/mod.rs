//! Sign-in with GitHub: the web flow of the App with state and PKCE, sessions in memory, sign-out by a form.
//!
//! GitHub itself is behind [`Identity`]. INVARIANT: a session begins only with a code that answers a flow which the same
//! browser began, and its repositories are what GitHub said within the last minute; else nothing is shown.

mod flow;
mod sessions;

use super::Desk;
use super::asked::Asked;
use super::error::PageError;
use super::layout;
use super::viewer::{SignedIn, Viewer};
use crate::domain::{RepoId, Timestamp};
use crate::settings::{AdminPages, Origin};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use flow::{Begun, Cookies};
use maud::html;
use secrecy::SecretString;
use serde::Deserialize;
use sessions::Sessions;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Somebody whom GitHub has named to us.
#[derive(Debug, Clone)]
pub struct Person {
    /// Login of the moment.
    pub login: String,
    /// Asks GitHub in this person's name.
    pub token: SecretString,
    /// How long the token lasts, where GitHub says so.
    pub lasts: Option<Duration>,
}

/// Why GitHub does not tell.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// It refuses: the code or the token is not, or no longer, good.
    #[error("GitHub refuses: {0}")]
    Refused(String),
    /// It does not answer.
    #[error("GitHub does not answer: {0}")]
    Unavailable(String),
}

/// GitHub as the pages know it.
#[async_trait::async_trait]
pub trait Identity: Send + Sync + 'static {
    /// Where a browser is sent to begin. `challenge` is the S256 challenge of the flow's verifier.
    fn authorize_url(&self, redirect_uri: &str, state: &str, challenge: &str) -> String;
    /// Turns a code into a person.
    async fn person(
        &self,
        code: &str,
        verifier: &str,
        redirect_uri: &str,
    ) -> Result<Person, IdentityError>;
    /// The repositories of the App's installations that the person can read: all of them, or an error.
    async fn readable(&self, token: &SecretString) -> Result<BTreeSet<RepoId>, IdentityError>;
}

/// Why somebody is not let in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Closed {
    /// Not signed in, or no longer.
    NoSession,
    /// Signed in, but GitHub does not say what may be shown.
    NobodyKnows,
}

/// What signing in needs.
pub(super) struct Doors {
    identity: Arc<dyn Identity>,
    redirect_uri: String,
    cookies: Cookies,
    sessions: Sessions,
}

impl Doors {
    pub(super) fn new(identity: Arc<dyn Identity>, settings: &AdminPages) -> Self {
        let base = settings.url.as_ref().map_or("", Origin::as_str);
        Self {
            identity,
            redirect_uri: format!("{base}/sign-in/callback"),
            cookies: Cookies::new(settings.url.as_ref().is_some_and(Origin::is_https)),
            sessions: Sessions::default(),
        }
    }

    /// Who looks, with what they may see.
    pub(super) async fn viewer(
        &self,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> Result<Viewer, Closed> {
        let cookie = self.cookies.session(headers).ok_or(Closed::NoSession)?;
        let session = self.sessions.find(&cookie, now).ok_or(Closed::NoSession)?;
        let repos = match session.repos(&*self.identity, now).await {
            Ok(repos) => repos,
            Err(IdentityError::Refused(cause)) => {
                tracing::info!(%cause, login = %session.login, "admin pages: a session ended early");
                self.sessions.end(&cookie);
                return Err(Closed::NoSession);
            }
            Err(IdentityError::Unavailable(cause)) => {
                tracing::warn!(%cause, "admin pages: what somebody can read is not known");
                return Err(Closed::NobodyKnows);
            }
        };
        let person = SignedIn {
            login: session.login.clone(),
            form_token: session.form_token.clone(),
        };
        Ok(Viewer::signed_in(person, repos))
    }
}

/// The page of the sign-in, which leads to the wanted one.
pub(super) fn door_to(wanted: &Uri) -> String {
    let wanted = wanted.path_and_query().map_or("/", |path| path.as_str());
    if wanted == "/" {
        return "/sign-in".to_owned();
    }
    format!("/sign-in?to={}", flow::encoded(wanted))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    to: Option<String>,
}

/// `GET /sign-in`
pub(super) async fn page(State(desk): State<Arc<Desk>>, Asked(wanted): Asked<Wanted>) -> Response {
    if desk.doors.is_none() {
        return Redirect::to("/").into_response();
    }
    let start = match wanted.to.as_deref().and_then(flow::local) {
        Some(to) => format!("/sign-in/start?to={}", flow::encoded(to)),
        None => "/sign-in/start".to_owned(),
    };
    let body = html! {
        h1 { "Sign in" }
        p.lead { "You see the decisions of the repositories that you can read on GitHub. Nothing is written there in your name." }
        p { a.button href=(start) { "Sign in with GitHub" } }
    };
    layout::page("Sign in", None, None, &body).into_response()
}

/// `GET /sign-in/start`: sends the browser to GitHub.
pub(super) async fn start(
    State(desk): State<Arc<Desk>>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Response, PageError> {
    let doors = desk.doors.as_ref().ok_or(PageError::NotFound)?;
    let begun = Begun::now(wanted.to.as_deref())
        .ok_or_else(|| PageError::unavailable("the system's random source", &"no bytes"))?;
    let there = doors
        .identity
        .authorize_url(&doors.redirect_uri, &begun.state, &begun.challenge());
    let mut response = Redirect::to(&there).into_response();
    set_cookie(&mut response, &doors.cookies.begin(&begun));
    Ok(response)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Returned {
    code: Option<String>,
    state: Option<String>,
    error: Option<String>,
}

/// `GET /sign-in/callback`: GitHub sends the browser back.
pub(super) async fn callback(
    State(desk): State<Arc<Desk>>,
    headers: HeaderMap,
    Asked(returned): Asked<Returned>,
) -> Result<Response, PageError> {
    let doors = desk.doors.as_ref().ok_or(PageError::NotFound)?;
    let state = returned.state.unwrap_or_default();
    let begun = doors
        .cookies
        .begun(&headers)
        .filter(|begun| flow::same(&begun.state, &state))
        .ok_or(PageError::SignIn(
            "This browser did not begin this sign-in, or began it more than ten minutes ago.",
        ))?;
    let Some(code) = returned.code.filter(|_| returned.error.is_none()) else {
        return Err(PageError::SignIn(
            "GitHub says that the sign-in was not agreed to.",
        ));
    };
    let person = doors
        .identity
        .person(&code, &begun.verifier, &doors.redirect_uri)
        .await
        .map_err(|cause| {
            tracing::warn!(%cause, "admin pages: a sign-in failed");
            match cause {
                IdentityError::Refused(_) => PageError::SignIn(
                    "GitHub did not accept it. A code is good once and for ten minutes; operators find the cause in the server's log.",
                ),
                IdentityError::Unavailable(_) => {
                    PageError::SignIn("GitHub does not answer. Wait a minute.")
                }
            }
        })?;
    tracing::info!(login = %person.login, "admin pages: signed in");
    let cookie = doors
        .sessions
        .open(person, (desk.now)())
        .ok_or_else(|| PageError::unavailable("the system's random source", &"no bytes"))?;
    let mut response = Redirect::to(&begun.to).into_response();
    set_cookie(&mut response, &doors.cookies.open(&cookie));
    set_cookie(&mut response, &doors.cookies.begun_no_more());
    Ok(response)
}

/// `POST /sign-out`, from a page of the same session.
pub(super) async fn sign_out(
    State(desk): State<Arc<Desk>>,
    headers: HeaderMap,
    form: Bytes,
) -> Result<Response, PageError> {
    let doors = desk.doors.as_ref().ok_or(PageError::NotFound)?;
    let session = doors.cookies.session(&headers);
    let found =
        session.and_then(|cookie| Some((doors.sessions.find(&cookie, (desk.now)())?, cookie)));
    if let Some((session, cookie)) = found {
        let token = std::str::from_utf8(&form)
            .ok()
            .and_then(|form| form.strip_prefix("token="));
        if !token.is_some_and(|token| flow::same(token, &session.form_token)) {
            return Err(PageError::Forged);
        }
        doors.sessions.end(&cookie);
    }
    let mut response = Redirect::to("/sign-in").into_response();
    set_cookie(&mut response, &doors.cookies.close());
    Ok(response)
}

fn set_cookie(response: &mut Response, cookie: &str) {
    if let Ok(value) = HeaderValue::from_str(cookie) {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
}
