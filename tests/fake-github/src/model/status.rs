//! Commit statuses, and how they combine.

use super::{Time, World};
use crate::refusal::Refusal;
use serde_json::json;

#[derive(Debug, Clone)]
pub(crate) struct Status {
    pub(crate) id: u64,
    pub(crate) sha: String,
    pub(crate) context: String,
    pub(crate) state: String,
    pub(crate) description: Option<String>,
    pub(crate) target_url: Option<String>,
    pub(crate) creator: u64,
    pub(crate) at: Time,
}

impl World {
    pub(crate) fn add_status(
        &mut self,
        repo: u64,
        sha: &str,
        context: &str,
        state: &str,
        texts: (Option<&str>, Option<&str>),
        creator: u64,
    ) -> Result<Status, Refusal> {
        self.writable(repo)?;
        if !self.repo(repo)?.commits.contains_key(sha) {
            return Err(Refusal::invalid(format!("No commit found for SHA: {sha}")));
        }
        let (description, target_url) = texts;
        let status = Status {
            id: self.ids.small(),
            sha: sha.into(),
            context: context.into(),
            state: state.into(),
            description: description.map(Into::into),
            target_url: target_url.map(Into::into),
            creator,
            at: self.now(),
        };
        self.repo_mut(repo)?.statuses.push(status.clone());
        let held = self.repo(repo)?;
        let branches: Vec<_> = held
            .branches
            .iter()
            .filter(|(_, tip)| *tip == sha)
            .map(|(name, tip)| json!({"name": name, "commit": {"sha": tip}, "protected": false}))
            .collect();
        self.announce(repo, "status", None, creator, json!({
            "id": status.id, "sha": sha, "name": self.full_name(held), "context": context, "state": state,
            "description": status.description, "target_url": status.target_url, "branches": branches,
            "commit": self.commit_json(repo, sha),
            "created_at": super::stamp(status.at), "updated_at": super::stamp(status.at),
        }));
        Ok(status)
    }

    /// The latest status of each context, and the state of them all.
    pub(crate) fn combined(
        &self,
        repo: u64,
        sha: &str,
    ) -> Result<(&'static str, Vec<Status>), Refusal> {
        let mut latest: Vec<Status> = Vec::new();
        for status in self
            .repo(repo)?
            .statuses
            .iter()
            .rev()
            .filter(|status| status.sha == sha)
        {
            if !latest.iter().any(|seen| seen.context == status.context) {
                latest.push(status.clone());
            }
        }
        let any = |states: &[&str]| {
            latest
                .iter()
                .any(|status| states.contains(&status.state.as_str()))
        };
        let state = if any(&["failure", "error"]) {
            "failure"
        } else if latest.is_empty() || any(&["pending"]) {
            "pending"
        } else {
            "success"
        };
        Ok((state, latest))
    }
}
