//! Where the Issues go: the configured repository, found once by its name.

use super::{Bench, WorkError};
use crate::domain::RepoRef;
use crate::github::ApiError;
use crate::policy::Policy;
use std::sync::PoisonError;

impl Bench {
    /// The repository for Issues about `repo`, or the reason why there is none that the App reaches.
    pub(super) async fn inbox_repo(
        &self,
        repo: &RepoRef,
        policy: &Policy,
    ) -> Result<Result<RepoRef, String>, WorkError> {
        let name = &policy.inbox.repository;
        if *name == repo.name {
            return Ok(Ok(repo.clone()));
        }
        let known = self
            .inboxes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .cloned();
        if let Some(known) = known {
            return Ok(Ok(known));
        }
        let found = async {
            let installation = self.github.repo_installation(name).await?;
            self.github.repo(name, installation.id).await
        };
        match found.await {
            Ok(view) => {
                self.inboxes
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(name.clone(), view.repo.clone());
                Ok(Ok(view.repo))
            }
            Err(error @ (ApiError::Gone { .. } | ApiError::Refused { .. })) => Ok(Err(format!(
                "the App cannot reach `{name}`, where Issues are to be opened; install it there ({error})"
            ))),
            Err(error) => Err(error.into()),
        }
    }
}
