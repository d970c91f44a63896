//! The admin pages: what was decided, what waits, what the log says. Made on the server, without a script.
//!
//! Reads the store and the audit log, changes neither, and never calls GitHub: who signs in is asked through
//! [`Identity`]. INVARIANT: nothing of a repository is shown to somebody who is not known to read it, and every page
//! has an end: of rows, of bytes read, of time.

mod asked;
mod decision;
mod entry;
mod error;
mod guard;
mod inbox;
mod layout;
mod log;
mod overview;
mod parts;
mod record;
mod search;
mod sign_in;
mod style;
mod viewer;
mod words;

pub use sign_in::{Identity, IdentityError, Person};

use super::Clock;
use crate::settings::AdminPages;
use crate::store::Store;
use axum::Router;
use axum::middleware;
use axum::routing::{get, post};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What the pages are made of.
pub struct Pages {
    /// How they are reached.
    pub settings: AdminPages,
    /// Home of the audit log.
    pub audit_dir: PathBuf,
    /// Base of GitHub's pages, such as `https://github.com`.
    pub web_base: String,
    /// Asks GitHub who somebody is; `None`: nobody signs in, and everybody sees everything.
    pub identity: Option<Arc<dyn Identity>>,
}

/// What every handler works with.
struct Desk {
    settings: AdminPages,
    web_base: String,
    store: Arc<dyn Store>,
    log: log::Log,
    figures: Arc<Mutex<overview::Figures>>,
    doors: Option<sign_in::Doors>,
    now: Clock,
}

/// The routes of the pages.
pub(super) fn router(pages: Pages, store: Arc<dyn Store>, now: Clock) -> Router {
    let Pages {
        settings,
        audit_dir,
        web_base,
        identity,
    } = pages;
    let desk = Arc::new(Desk {
        doors: identity.map(|identity| sign_in::Doors::new(identity, &settings)),
        settings,
        web_base,
        store,
        log: log::Log::new(audit_dir),
        figures: Arc::default(),
        now,
    });
    Router::new()
        .route("/", get(overview::page))
        .route("/inbox", get(inbox::page))
        .route("/pulls/{owner}/{name}/{number}", get(decision::page))
        .route("/audit", get(search::page))
        .route("/audit/{seq}", get(entry::page))
        .route("/audit/{seq}/{hash}", get(entry::permalink))
        .route("/sign-in", get(sign_in::page))
        .route("/sign-in/start", get(sign_in::start))
        .route("/sign-in/callback", get(sign_in::callback))
        .route("/sign-out", post(sign_in::sign_out))
        .route(style::PATH, get(style::sheet))
        .route(style::ICON, get(style::icon))
        .fallback(error::nothing_here)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&desk),
            guard::guard,
        ))
        .with_state(desk)
}
