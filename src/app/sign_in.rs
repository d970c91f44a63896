//! GitHub as the admin pages know it: who somebody is, and what they can read.

use crate::domain::RepoId;
use crate::github::{ApiError, GitHub, OAuth};
use crate::server::{Identity, IdentityError, Person};
use secrecy::SecretString;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Puts sign-in and client together.
pub(super) fn identity(oauth: OAuth, github: GitHub) -> Arc<dyn Identity> {
    Arc::new(OnGitHub { oauth, github })
}

struct OnGitHub {
    oauth: OAuth,
    github: GitHub,
}

#[async_trait::async_trait]
impl Identity for OnGitHub {
    fn authorize_url(&self, redirect_uri: &str, state: &str, challenge: &str) -> String {
        self.oauth.authorize_url(redirect_uri, state, challenge)
    }

    async fn person(
        &self,
        code: &str,
        verifier: &str,
        redirect_uri: &str,
    ) -> Result<Person, IdentityError> {
        let granted = self.oauth.token(code, verifier, redirect_uri).await;
        let granted = granted.map_err(|error| refused(&error))?;
        Ok(Person {
            login: self
                .github
                .person(&granted.token)
                .await
                .map_err(|error| refused(&error))?,
            token: granted.token,
            lasts: granted.lasts,
        })
    }

    async fn readable(&self, token: &SecretString) -> Result<BTreeSet<RepoId>, IdentityError> {
        self.github
            .readable_by(token)
            .await
            .map_err(|error| refused(&error))
    }
}

/// What a retry may mend is no refusal.
fn refused(error: &ApiError) -> IdentityError {
    match error {
        ApiError::Unauthorized { .. }
        | ApiError::Refused { .. }
        | ApiError::Gone { .. }
        | ApiError::Unprocessable { .. }
        | ApiError::Suspended { .. }
        | ApiError::MethodNotAllowed { .. } => IdentityError::Refused(error.to_string()),
        ApiError::Conflict { .. }
        | ApiError::RateLimited { .. }
        | ApiError::Transient { .. }
        | ApiError::Unreadable { .. } => IdentityError::Unavailable(error.to_string()),
    }
}
