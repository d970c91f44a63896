//! The local page: a form that posts the manifest to GitHub, and the address to which GitHub sends the browser back.
//!
//! No script, nothing from elsewhere. INVARIANT: a code is exchanged only when it comes with the state of this run, by a
//! browser that asked for this machine by name (no rebound DNS name), and only one at a time.

use super::files::Written;
use super::{Wanted, is_loopback};
use crate::github::{ApiError, ConversionError, NewApp};
use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// How a setup ended.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The App is there and its secrets are kept.
    Made(Box<Made>),
    /// The person stopped here, or GitHub sent the browser back without a code.
    Refused(String),
    /// The App is there, but its code is spent or too old: its secrets are lost.
    Spent(String),
    /// The App is there, but its secrets could not be kept.
    NotKept(String),
}

/// What a setup made.
#[derive(Debug, Clone)]
pub struct Made {
    /// The App, with its secrets.
    pub app: NewApp,
    /// The files.
    pub written: Written,
}

/// Exchanges a code for the App.
pub type Exchange = Arc<
    dyn Fn(String) -> Pin<Box<dyn Future<Output = Result<NewApp, ConversionError>> + Send>>
        + Send
        + Sync,
>;
/// Keeps the App's secrets.
pub type Keep = Arc<dyn Fn(&NewApp) -> Result<Written, String> + Send + Sync>;

/// One run of the setup.
pub struct Flow {
    /// What is to be made.
    pub wanted: Wanted,
    /// Where this page is.
    pub address: SocketAddr,
    /// Goes to GitHub and must come back.
    pub state: String,
    /// Exchanges a code.
    pub exchange: Exchange,
    /// Keeps the secrets.
    pub keep: Keep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Waiting,
    Exchanging,
    Over,
}

struct Shared {
    flow: Flow,
    phase: Mutex<Phase>,
    outcome: watch::Sender<Option<Outcome>>,
}

/// The page's routes, and where the outcome appears.
pub fn router(flow: Flow) -> (Router, watch::Receiver<Option<Outcome>>) {
    let (outcome, seen) = watch::channel(None);
    let shared = Arc::new(Shared {
        flow,
        phase: Mutex::new(Phase::Waiting),
        outcome,
    });
    let router = Router::new()
        .route("/", get(start))
        .route("/callback", get(callback))
        .route("/cancel", post(cancel))
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared);
    (router, seen)
}

/// `http://127.0.0.1:PORT`, where a browser finds the page.
#[must_use]
pub fn base_url(address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        return format!("http://127.0.0.1:{}", address.port());
    }
    format!("http://{address}")
}

/// Refuses foreign host names and sets the headers of every page.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let host = request
        .headers()
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .and_then(|host| host.parse::<http::uri::Authority>().ok());
    let own = shared.flow.address.ip().to_string();
    let known = host
        .as_ref()
        .is_some_and(|host| is_loopback(host.host()) || host.host() == own);
    let mut answer = if known {
        next.run(request).await
    } else {
        let text =
            html! { p { "Ask for this page by the address that `quadgate setup` printed." } };
        page(StatusCode::MISDIRECTED_REQUEST, "Not here", &text)
    };
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self' {}; base-uri 'none'; frame-ancestors 'none'",
        shared.flow.wanted.place.web
    );
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy.as_str()),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in headers {
        if let Ok(value) = value.parse() {
            answer.headers_mut().insert(name, value);
        }
    }
    answer
}

async fn start(State(shared): State<Arc<Shared>>) -> Response {
    let flow = &shared.flow;
    let wanted = &flow.wanted;
    let redirect = format!("{}/callback", base_url(flow.address));
    let manifest = wanted.manifest(&redirect).to_string();
    let action = wanted.page_of_github(&flow.state);
    let owner = wanted.org.as_deref().unwrap_or("you");
    let needed = crate::github::needs::permissions(wanted.features);
    let body = html! {
        p { "GitHub will ask you to confirm a new GitHub App, " strong { (wanted.name) } ", that belongs to " strong { (owner) } ". "
            "Its key and secrets are then written to files on this machine; nobody else gets them." }
        form method="post" action=(action) {
            input type="hidden" name="manifest" value=(manifest);
            button type="submit" autofocus { "Create the App on GitHub" }
        }
        form method="post" action={ "/cancel?state=" (flow.state) } {
            button type="submit" class="quiet" { "Stop here" }
        }
        h2 { "What it asks for" }
        table {
            thead { tr { th scope="col" { "Permission" } th scope="col" { "Access" } th scope="col" { "For" } } }
            tbody {
                @for permission in needed.values() {
                    tr { td { (permission.title) } td { (permission.level.title()) } td { (permission.why.replace('`', "")) } }
                }
            }
        }
        p { "Webhooks go to " code { (wanted.webhook_url) } "." }
    };
    page(StatusCode::OK, "Create the GitHub App", &body)
}

#[derive(Deserialize)]
struct Answer {
    state: Option<String>,
    code: Option<String>,
    error: Option<String>,
}

async fn callback(State(shared): State<Arc<Shared>>, Query(answer): Query<Answer>) -> Response {
    if !same(&shared.flow.state, answer.state.as_deref()) {
        return foreign();
    }
    if let Some(answered) = shared.begin() {
        return answered;
    }
    let code = match (answer.code.filter(|code| !code.is_empty()), answer.error) {
        (Some(code), None) => code,
        (_, error) => {
            let words: String = error.unwrap_or_default().chars().take(100).collect();
            let why = if words.is_empty() {
                "GitHub sent the browser back without a code".to_owned()
            } else {
                format!("GitHub sent the browser back: `{}`", words.escape_debug())
            };
            let text = html! { p { (why) ". No App was made. Run " code { "quadgate setup" } " again when you want one." } };
            shared.end(Outcome::Refused(why));
            return page(StatusCode::OK, "No App was made", &text);
        }
    };
    // In a task of its own: a browser that goes away must not lose the secrets half way.
    let task = tokio::spawn(exchange(shared, code));
    task.await.unwrap_or_else(|_| {
        let text = html! { p { "See the terminal." } };
        page(
            StatusCode::INTERNAL_SERVER_ERROR,
            "Something went wrong",
            &text,
        )
    })
}

async fn exchange(shared: Arc<Shared>, code: String) -> Response {
    let app = match (shared.flow.exchange)(code).await {
        Ok(app) => app,
        Err(error) if may_work_again(&error) => {
            shared.set(Phase::Waiting);
            tracing::warn!(%error, "the code could not be exchanged yet");
            let text = html! { p { "GitHub did not answer as it should: " (error) "." }
            p { "The code is good for an hour: reload this page to try again." } };
            return page(
                StatusCode::BAD_GATEWAY,
                "GitHub cannot be reached now",
                &text,
            );
        }
        Err(error) => {
            let why = format!("{error}");
            let text = html! { p { "GitHub no longer takes this code: " (why) "." }
            p { "The App exists, but its key is lost. Delete it in its settings on GitHub and run " code { "quadgate setup" } " again." } };
            shared.end(Outcome::Spent(why));
            return page(StatusCode::GONE, "The code is spent", &text);
        }
    };
    match (shared.flow.keep)(&app) {
        Ok(written) => {
            let answer = finished(&shared, &app);
            let app = Made { app, written };
            shared.end(Outcome::Made(Box::new(app)));
            answer
        }
        Err(why) => {
            let text = html! { p { "The App exists, but its secrets could not be written: " (why) "." }
            p { "Mend that, delete the App in its settings on GitHub, and run " code { "quadgate setup" } " again." } };
            shared.end(Outcome::NotKept(why));
            page(
                StatusCode::INTERNAL_SERVER_ERROR,
                "The secrets were not kept",
                &text,
            )
        }
    }
}

fn finished(shared: &Shared, app: &NewApp) -> Response {
    let place = &shared.flow.wanted.place.web;
    let install = format!("{}/installations/new", app.html_url);
    // A link of GitHub's own, or none.
    let install = install
        .starts_with(place.as_str())
        .then_some(install.as_str());
    let text = html! {
        p { "The App " strong { (app.slug) } " exists and its secrets are on this machine." }
        p { "Next: "
            @if let Some(install) = install {
                a href=(install) { "install it on your repositories" }
            } @else { "install it on your repositories" }
            ". The terminal lists the other steps. You can close this page." }
    };
    page(StatusCode::OK, "Done", &text)
}

#[derive(Deserialize)]
struct Stop {
    state: Option<String>,
}

async fn cancel(State(shared): State<Arc<Shared>>, Query(stop): Query<Stop>) -> Response {
    if !same(&shared.flow.state, stop.state.as_deref()) {
        return foreign();
    }
    if let Some(answered) = shared.begin() {
        return answered;
    }
    shared.end(Outcome::Refused("stopped on the page".to_owned()));
    let text = html! { p { "No App was made. You can close this page." } };
    page(StatusCode::OK, "Stopped", &text)
}

impl Shared {
    /// Takes the one turn there is, or says who has it.
    fn begin(&self) -> Option<Response> {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        match *phase {
            Phase::Waiting => {
                *phase = Phase::Exchanging;
                None
            }
            Phase::Exchanging => {
                let text = html! { p { "This answer of GitHub's is being worked on already." } };
                Some(page(StatusCode::CONFLICT, "One moment", &text))
            }
            Phase::Over => {
                let text = html! { p { "This setup has ended; nothing was done a second time. The terminal says how." } };
                Some(page(StatusCode::GONE, "Already over", &text))
            }
        }
    }

    fn set(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    fn end(&self, outcome: Outcome) {
        self.set(Phase::Over);
        self.outcome.send_replace(Some(outcome));
    }
}

/// Was the code not looked at, as far as can be told?
fn may_work_again(error: &ConversionError) -> bool {
    match error {
        ConversionError::Client(_) => false,
        ConversionError::Api(error) => matches!(
            error,
            ApiError::Transient { .. } | ApiError::RateLimited { .. }
        ),
    }
}

fn foreign() -> Response {
    let text = html! { p { "This answer does not belong to this setup, and nothing was done with it." }
    p { "Start at " a href="/" { "the first page" } "." } };
    page(StatusCode::FORBIDDEN, "Wrong state", &text)
}

/// Compares digests, so that the time taken tells nothing about the state.
fn same(state: &str, given: Option<&str>) -> bool {
    given.is_some_and(|given| Sha256::digest(state) == Sha256::digest(given))
}

const STYLE: &str = "body{font:1rem/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}\
button{font:inherit;padding:.6rem 1rem;margin:.4rem 0;cursor:pointer}.quiet{opacity:.8}\
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem .3rem 0;vertical-align:top;\
border-bottom:1px solid #8886}:root{color-scheme:light dark}";

fn page(status: StatusCode, title: &str, body: &Markup) -> Response {
    let text = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · quadgate" }
                style { (PreEscaped(STYLE)) }
            }
            body { main { h1 { (title) } (body) } }
        }
    };
    let kind = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    (status, kind, text.into_string()).into_response()
}
