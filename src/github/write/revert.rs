//! A pull request that puts files back, made of git's own objects: tree, commit, branch, pull request.
//!
//! INVARIANT: one branch a reverted commit. A branch of that name that holds anything else than this very change is
//! never used: it is somebody else's.

use super::issue::by_bot;
use super::{limits, of};
use crate::domain::{IssueNumber, Outcome, PullNumber, RevertEffect, Sha, TreeChange};
use crate::github::call::Call;
use crate::github::path::ApiPath;
use crate::github::read::CommitView;
use crate::github::{ApiError, GitHub, wire};
use http::Method;
use serde_json::{Value, json};

/// Why it was not made.
enum Stop {
    Api(ApiError),
    Refused(String),
}

impl From<ApiError> for Stop {
    fn from(error: ApiError) -> Self {
        match error {
            // What GitHub will not have now it will not have in a minute either.
            ApiError::Unprocessable { .. }
            | ApiError::MethodNotAllowed { .. }
            | ApiError::Refused { .. }
            | ApiError::Gone { .. } => Self::Refused(error.to_string()),
            ApiError::Conflict { .. }
            | ApiError::Suspended { .. }
            | ApiError::Unauthorized { .. }
            | ApiError::RateLimited { .. }
            | ApiError::Transient { .. }
            | ApiError::Unreadable { .. } => Self::Api(error),
        }
    }
}

impl GitHub {
    /// The pull request from this branch by our own account, open or closed; else a new one. Up to eight calls.
    pub(super) async fn open_revert(&self, wanted: &RevertEffect) -> Result<Outcome, ApiError> {
        match self.revert_pull(wanted).await {
            Ok(number) => Ok(Outcome::Pull { number }),
            Err(Stop::Refused(reason)) => Ok(Outcome::Refused { reason }),
            Err(Stop::Api(error)) => Err(error),
        }
    }

    async fn revert_pull(&self, wanted: &RevertEffect) -> Result<PullNumber, Stop> {
        let number = if let Some(number) = self.find_revert(wanted).await? {
            number
        } else {
            self.revert_branch(wanted).await?;
            self.create_revert(wanted).await?
        };
        let labels = [wanted.label.clone()];
        let marked = self
            .add_labels(&wanted.repo, IssueNumber(number.0), &labels)
            .await;
        match marked.map_err(Stop::from) {
            Ok(_) => {}
            // It is there all the same, and is judged without the label.
            Err(Stop::Refused(reason)) => tracing::warn!(%reason, "the revert got no label"),
            Err(Stop::Api(error)) => return Err(Stop::Api(error)),
        }
        Ok(number)
    }

    async fn find_revert(&self, wanted: &RevertEffect) -> Result<Option<PullNumber>, Stop> {
        const NAME: &str = "GET pulls of branch";
        let bot = self.app().await?.bot_login();
        let head = format!("{}:{}", wanted.repo.name.owner(), wanted.branch);
        let path = ApiPath::repo(&wanted.repo.name)
            .seg("pulls")
            .query("head", head)
            .query("state", "all")
            .query("per_page", 100);
        let marker = limits::marker(&wanted.key);
        let pulls: Vec<wire::Pull> = self.json(Call::get(NAME, of(&wanted.repo), path)).await?;
        let found = pulls.into_iter().find(|pull| {
            let author = pull.user.clone().and_then(wire::User::account);
            let body = pull.body.as_deref().unwrap_or_default();
            by_bot(author.as_ref(), &bot) && body.contains(&marker)
        });
        Ok(found.and_then(|pull| pull.number).map(PullNumber))
    }

    /// The branch with the change on it, which may be there from an earlier try.
    async fn revert_branch(&self, wanted: &RevertEffect) -> Result<(), Stop> {
        let tree = self.create_tree(wanted).await?;
        let mut standing = self.branch_tip(&wanted.repo, &wanted.branch).await?;
        if standing.is_none() {
            let commit = self.create_commit(wanted, &tree).await?;
            match self.create_branch(wanted, &commit).await {
                Ok(()) => return Ok(()),
                // Somebody was faster: a try of ours whose answer was lost, perhaps.
                Err(error @ ApiError::Unprocessable { .. }) => {
                    standing = self.branch_tip(&wanted.repo, &wanted.branch).await?;
                    if standing.is_none() {
                        return Err(error.into());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        let Some(tip) = standing else { return Ok(()) };
        let commit = self.commit(&wanted.repo, &tip).await?;
        if commit.tree == tree && commit.parents.as_slice() == [wanted.base_tip.clone()] {
            Ok(())
        } else {
            Err(Stop::Refused(format!(
                "the branch `{}` is there already and holds something else",
                wanted.branch
            )))
        }
    }

    async fn create_tree(&self, wanted: &RevertEffect) -> Result<Sha, ApiError> {
        const NAME: &str = "POST git tree";
        let path = ApiPath::repo(&wanted.repo.name).seg("git").seg("trees");
        let tree: Vec<Value> = wanted.changes.iter().map(entry).collect();
        let body = json!({"base_tree": wanted.base_tree, "tree": tree});
        let call = Call::write(NAME, of(&wanted.repo), Method::POST, path, Some(body));
        let made: wire::CommitRef = self.json(call).await?;
        named(NAME, made.sha)
    }

    /// Without author and committer, so that GitHub signs it.
    async fn create_commit(&self, wanted: &RevertEffect, tree: &Sha) -> Result<Sha, ApiError> {
        const NAME: &str = "POST git commit";
        let path = ApiPath::repo(&wanted.repo.name).seg("git").seg("commits");
        let body = json!({
            "message": wanted.message, "tree": tree, "parents": [wanted.base_tip],
        });
        let call = Call::write(NAME, of(&wanted.repo), Method::POST, path, Some(body));
        let made: wire::GitCommit = self.json(call).await?;
        Ok(CommitView::read(NAME, made)?.sha)
    }

    async fn create_branch(&self, wanted: &RevertEffect, commit: &Sha) -> Result<(), ApiError> {
        let path = ApiPath::repo(&wanted.repo.name).seg("git").seg("refs");
        let body = json!({"ref": format!("refs/heads/{}", wanted.branch), "sha": commit});
        let call = Call::write("POST ref", of(&wanted.repo), Method::POST, path, Some(body));
        self.send(call).await.map(|_| ())
    }

    async fn create_revert(&self, wanted: &RevertEffect) -> Result<PullNumber, ApiError> {
        const NAME: &str = "POST pull";
        let path = ApiPath::repo(&wanted.repo.name).seg("pulls");
        let body = json!({
            "title": limits::chars(&wanted.title, 256),
            "body": limits::keyed(&wanted.body, &wanted.key),
            "head": wanted.branch,
            "base": wanted.base_ref,
        });
        let call = Call::write(NAME, of(&wanted.repo), Method::POST, path, Some(body));
        let pull: wire::Pull = self.json(call).await?;
        pull.number
            .map(PullNumber)
            .ok_or_else(|| ApiError::unreadable(NAME, "an answer without `number`"))
    }
}

/// One entry of a tree; without an object the path is removed.
fn entry(change: &TreeChange) -> Value {
    let mode = change.to.as_ref().map_or("100644", |blob| &blob.mode);
    let kind = if mode == "160000" { "commit" } else { "blob" };
    let object = change.to.as_ref().map(|blob| &blob.sha);
    json!({"path": change.path, "mode": mode, "type": kind, "sha": object})
}

fn named(name: &'static str, sha: Option<String>) -> Result<Sha, ApiError> {
    sha.and_then(|sha| sha.parse().ok())
        .ok_or_else(|| ApiError::unreadable(name, "an answer without `sha`"))
}
