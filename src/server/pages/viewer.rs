//! Who looks, and what they may see.
//!
//! INVARIANT: what belongs to no repository, or to an unknown one, is shown to nobody who had to sign in.

use super::Desk;
use super::error::PageError;
use super::sign_in;
use crate::domain::RepoId;
use axum::extract::{FromRequestParts, OriginalUri};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Redirect, Response};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Somebody who looks.
pub(super) struct Viewer {
    /// Who signed in; `None` where nobody has to.
    pub(super) person: Option<SignedIn>,
    sees: Sees,
}

/// What the pages show of a session.
pub(super) struct SignedIn {
    pub(super) login: String,
    /// Proves that a form comes from this session's pages.
    pub(super) form_token: String,
}

#[derive(Clone)]
pub(super) enum Sees {
    Everything,
    These(Arc<BTreeSet<RepoId>>),
}

impl Sees {
    /// May this repository be shown?
    pub(super) fn repo(&self, repo: Option<RepoId>) -> bool {
        match self {
            Self::Everything => true,
            Self::These(repos) => repo.is_some_and(|repo| repos.contains(&repo)),
        }
    }
}

impl Viewer {
    pub(super) fn sees(&self, repo: Option<RepoId>) -> bool {
        self.sees.repo(repo)
    }

    /// Is nothing hidden? Then also what belongs to no repository is shown.
    pub(super) fn sees_everything(&self) -> bool {
        matches!(self.sees, Sees::Everything)
    }

    /// The same for work on another thread.
    pub(super) fn eyes(&self) -> Sees {
        self.sees.clone()
    }

    pub(super) fn everybody() -> Self {
        Self {
            person: None,
            sees: Sees::Everything,
        }
    }

    pub(super) fn signed_in(person: SignedIn, repos: Arc<BTreeSet<RepoId>>) -> Self {
        Self {
            person: Some(person),
            sees: Sees::These(repos),
        }
    }
}

impl FromRequestParts<Arc<Desk>> for Viewer {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        desk: &Arc<Desk>,
    ) -> Result<Self, Self::Rejection> {
        let Some(doors) = &desk.doors else {
            return Ok(Self::everybody());
        };
        match doors.viewer(&parts.headers, (desk.now)()).await {
            Ok(viewer) => Ok(viewer),
            Err(sign_in::Closed::NoSession) => {
                let wanted = parts
                    .extensions
                    .get::<OriginalUri>()
                    .map_or_else(|| parts.uri.clone(), |uri| uri.0.clone());
                Err(Redirect::to(&sign_in::door_to(&wanted)).into_response())
            }
            Err(sign_in::Closed::NobodyKnows) => Err(PageError::NobodyKnows.into_response()),
        }
    }
}
