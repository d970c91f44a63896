//! Labels: created when missing, put on and taken off.

use super::{limits, of};
use crate::domain::{IssueNumber, LabelSpec, Outcome, RepoRef};
use crate::github::call::Call;
use crate::github::client::lock;
use crate::github::path::ApiPath;
use crate::github::{ApiError, GitHub};
use http::Method;
use serde_json::json;

/// Beyond this many remembered labels we look again.
const REMEMBERED: usize = 10_000;

impl GitHub {
    /// Looks for the label and creates it when it is not there. What is there is never changed, and is looked for
    /// once in the life of the client: putting a deleted label on an Issue makes it anew.
    pub(super) async fn ensure_label(
        &self,
        repo: &RepoRef,
        label: &LabelSpec,
    ) -> Result<Outcome, ApiError> {
        let key = (repo.id.0, label.name.to_lowercase());
        if lock(&self.inner.labels).contains(&key) {
            return Ok(Outcome::Done);
        }
        let labels = ApiPath::repo(&repo.name).seg("labels");
        let look = Call::get("GET label", of(repo), labels.clone().seg(&label.name));
        match self.send(look).await {
            Ok(_) => {}
            Err(ApiError::Gone { status: 404, .. }) => {
                let body = json!({
                    "name": label.name,
                    "color": label.color.trim_start_matches('#'),
                    "description": limits::chars(&label.description, 100),
                });
                let create = Call::write("POST label", of(repo), Method::POST, labels, Some(body));
                match self.send(create).await {
                    Ok(_) => {}
                    // Somebody was quicker.
                    Err(ApiError::Unprocessable { codes, .. })
                        if codes.iter().any(|code| code == "already_exists") => {}
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        }
        let mut remembered = lock(&self.inner.labels);
        if remembered.len() >= REMEMBERED {
            remembered.clear();
        }
        remembered.insert(key);
        Ok(Outcome::Done)
    }

    /// Puts labels on; those that are on already stay.
    pub(super) async fn add_labels(
        &self,
        repo: &RepoRef,
        number: IssueNumber,
        labels: &[String],
    ) -> Result<Outcome, ApiError> {
        if labels.is_empty() {
            return Ok(Outcome::Done);
        }
        let path = ApiPath::repo(&repo.name)
            .seg("issues")
            .seg(number)
            .seg("labels");
        let body = json!({"labels": labels});
        let call = Call::write(
            "POST issue labels",
            of(repo),
            Method::POST,
            path,
            Some(body),
        );
        self.send(call).await?;
        Ok(Outcome::Done)
    }

    /// Takes a label off; one that is not on is off.
    pub(super) async fn remove_label(
        &self,
        repo: &RepoRef,
        number: IssueNumber,
        label: &str,
    ) -> Result<Outcome, ApiError> {
        let path = ApiPath::repo(&repo.name)
            .seg("issues")
            .seg(number)
            .seg("labels")
            .seg(label);
        let call = Call::write("DELETE issue label", of(repo), Method::DELETE, path, None);
        match self.send(call).await {
            Ok(_) | Err(ApiError::Gone { .. }) => Ok(Outcome::Done),
            Err(error) => Err(error),
        }
    }
}
