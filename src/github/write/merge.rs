//! Merging a pull request, and bringing its branch up to date. Both carry the head that was judged.
//!
//! INVARIANT: what was judged and is no more ([`Outcome::Stale`]) is told apart from what GitHub will not have
//! ([`Outcome::Refused`]); a merge whose answer was lost is found by looking first.

use super::of;
use crate::domain::{MergeEffect, Outcome, PullNumber, RepoRef, Sha};
use crate::github::call::Call;
use crate::github::path::ApiPath;
use crate::github::{ApiError, GitHub, PullView};
use http::Method;
use serde_json::json;

impl GitHub {
    /// Merges the pull request if its head is still the one that was judged. Looks first: it may be merged already.
    pub(super) async fn merge(&self, wanted: &MergeEffect) -> Result<Outcome, ApiError> {
        let pull = match self.pull(&wanted.repo, wanted.number).await {
            Ok(pull) => pull,
            Err(error) => return ended(error),
        };
        if let Some(outcome) = overtaken(&pull, &wanted.sha, &wanted.base_ref) {
            return Ok(outcome);
        }
        let path = ApiPath::repo(&wanted.repo.name)
            .seg("pulls")
            .seg(wanted.number)
            .seg("merge");
        let mut body = json!({"sha": wanted.sha, "merge_method": wanted.method});
        if let (Some(members), Some(title)) = (body.as_object_mut(), &wanted.title) {
            members.insert("commit_title".to_owned(), json!(title));
        }
        let call = Call::write("PUT merge", of(&wanted.repo), Method::PUT, path, Some(body));
        match self.send(call).await {
            Ok(_) => Ok(Outcome::Done),
            Err(error) => ended(error),
        }
    }

    /// Merges the base into the branch if its head is still the one that was judged.
    pub(super) async fn update_branch(
        &self,
        repo: &RepoRef,
        number: PullNumber,
        expected_head: &Sha,
    ) -> Result<Outcome, ApiError> {
        let path = ApiPath::repo(&repo.name)
            .seg("pulls")
            .seg(number)
            .seg("update-branch");
        let body = json!({"expected_head_sha": expected_head});
        let call = Call::write("PUT update-branch", of(repo), Method::PUT, path, Some(body));
        match self.send(call).await {
            Ok(_) => Ok(Outcome::Done),
            // Another head, a conflict, or nothing to update: GitHub says 422 to each, and fresh facts tell which.
            Err(error @ ApiError::Unprocessable { .. }) => Ok(Outcome::Stale {
                reason: error.to_string(),
            }),
            Err(error) => ended(error),
        }
    }
}

/// The outcome, if what was judged is no more or is merged already. GitHub takes no base as precondition; the verdict
/// and the answer are about this one.
pub(super) fn overtaken(pull: &PullView, sha: &Sha, base_ref: &str) -> Option<Outcome> {
    let stale = |reason| Some(Outcome::Stale { reason });
    if pull.head.sha != *sha {
        return stale(format!("the head is {} now", pull.head.sha.short()));
    }
    if pull.merged {
        return Some(Outcome::Done);
    }
    if pull.base.reference != base_ref {
        return stale(format!("the base is `{}` now", pull.base.reference));
    }
    None
}

/// What ends the effect becomes its outcome; what is worth another try stays an error.
pub(super) fn ended(error: ApiError) -> Result<Outcome, ApiError> {
    let reason = error.to_string();
    match error {
        ApiError::Conflict { .. } => Ok(Outcome::Stale { reason }),
        ApiError::MethodNotAllowed { .. }
        | ApiError::Unprocessable { .. }
        | ApiError::Refused { .. }
        | ApiError::Gone { .. } => Ok(Outcome::Refused { reason }),
        ApiError::Suspended { .. }
        | ApiError::Unauthorized { .. }
        | ApiError::RateLimited { .. }
        | ApiError::Transient { .. }
        | ApiError::Unreadable { .. } => Err(error),
    }
}
