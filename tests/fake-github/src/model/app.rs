//! Apps and their installations on accounts.

use super::{Time, World, account::AccountKind};
use crate::refusal::Refusal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The events an App subscribes to unless it is told otherwise.
const EVENTS: [&str; 9] = [
    "check_run",
    "check_suite",
    "issue_comment",
    "issues",
    "merge_group",
    "pull_request",
    "push",
    "repository",
    "status",
];

/// A GitHub App: ours, or another one that posts check-runs.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) id: u64,
    pub(crate) slug: String,
    pub(crate) owner: u64,
    /// The account `slug[bot]`.
    pub(crate) bot: u64,
    pub(crate) permissions: BTreeMap<String, String>,
    pub(crate) events: Vec<String>,
    pub(crate) created_at: Time,
}

/// Our App on one account.
#[derive(Debug, Clone)]
pub(crate) struct Installation {
    pub(crate) id: u64,
    pub(crate) account: u64,
    pub(crate) repos: BTreeSet<u64>,
    pub(crate) permissions: BTreeMap<String, String>,
    pub(crate) suspended_at: Option<Time>,
    pub(crate) created_at: Time,
}

impl World {
    pub(crate) fn register_app(
        &mut self,
        id: u64,
        slug: &str,
        permissions: &BTreeMap<String, String>,
    ) {
        let owner = self.account_named("app-makers").map(|account| account.id);
        let owner =
            owner.unwrap_or_else(|| self.add_account("app-makers", AccountKind::Organization));
        let bot = self.add_account(&format!("{slug}[bot]"), AccountKind::Bot);
        let app = App {
            id,
            slug: slug.into(),
            owner,
            bot,
            permissions: permissions.clone(),
            events: EVENTS.map(str::to_owned).into(),
            created_at: self.now(),
        };
        self.apps.insert(id, app);
    }

    pub(crate) fn app(&self, id: u64) -> Result<&App, Refusal> {
        self.apps.get(&id).ok_or_else(Refusal::not_found)
    }

    /// The account our App acts as.
    pub(crate) fn own_bot(&self) -> u64 {
        self.apps.get(&self.own_app).map_or(0, |app| app.bot)
    }

    /// The App that acts through this account, if it is one.
    pub(crate) fn app_of_bot(&self, account: u64) -> Option<&App> {
        self.apps.values().find(|app| app.bot == account)
    }

    pub(crate) fn installation(&self, id: u64) -> Result<&Installation, Refusal> {
        self.installations.get(&id).ok_or_else(Refusal::not_found)
    }

    pub(crate) fn installation_mut(&mut self, id: u64) -> Result<&mut Installation, Refusal> {
        self.installations
            .get_mut(&id)
            .ok_or_else(Refusal::not_found)
    }

    pub(crate) fn installation_of_repo(&self, repo: u64) -> Option<&Installation> {
        self.installations
            .values()
            .find(|installation| installation.repos.contains(&repo))
    }

    pub(crate) fn installation_of_account(&self, account: u64) -> Option<&Installation> {
        self.installations
            .values()
            .find(|installation| installation.account == account)
    }

    /// Installs our App on an account; the repositories are added one by one.
    pub(crate) fn install(&mut self, account: u64) -> Result<u64, Refusal> {
        let permissions = self.app(self.own_app)?.permissions.clone();
        let id = self.ids.small();
        let now = self.now();
        self.installations.insert(
            id,
            Installation {
                id,
                account,
                repos: BTreeSet::new(),
                permissions,
                suspended_at: None,
                created_at: now,
            },
        );
        self.announce_installation(
            id,
            "installation",
            "created",
            account,
            json!({"repositories": []}),
        );
        Ok(id)
    }

    pub(crate) fn uninstall(&mut self, id: u64) -> Result<(), Refusal> {
        let account = self.installation(id)?.account;
        self.announce_installation(
            id,
            "installation",
            "deleted",
            account,
            json!({"repositories": []}),
        );
        self.installations.remove(&id);
        Ok(())
    }

    pub(crate) fn set_suspended(&mut self, id: u64, suspended: bool) -> Result<(), Refusal> {
        let now = self.now();
        let installation = self.installation_mut(id)?;
        installation.suspended_at = suspended.then_some(now);
        let account = installation.account;
        let action = if suspended { "suspend" } else { "unsuspend" };
        self.announce_installation(
            id,
            "installation",
            action,
            account,
            json!({"repositories": []}),
        );
        Ok(())
    }

    pub(crate) fn add_to_installation(&mut self, id: u64, repo: u64) -> Result<(), Refusal> {
        let installation = self.installation_mut(id)?;
        installation.repos.insert(repo);
        let account = installation.account;
        let rows = json!([self.repo_row(repo)]);
        let body = json!({"repositories_added": rows, "repositories_removed": [], "repository_selection": "selected", "requester": null});
        self.announce_installation(id, "installation_repositories", "added", account, body);
        Ok(())
    }

    pub(crate) fn remove_from_installation(&mut self, id: u64, repo: u64) -> Result<(), Refusal> {
        let installation = self.installation_mut(id)?;
        installation.repos.remove(&repo);
        let account = installation.account;
        let rows = json!([self.repo_row(repo)]);
        let body = json!({"repositories_added": [], "repositories_removed": rows, "repository_selection": "selected", "requester": null});
        self.announce_installation(id, "installation_repositories", "removed", account, body);
        Ok(())
    }

    fn repo_row(&self, repo: u64) -> Value {
        self.repos.get(&repo).map_or(Value::Null, |repo| {
            json!({"id": repo.id, "node_id": format!("R_{}", repo.id), "name": repo.name,
                   "full_name": self.full_name(repo), "private": repo.private})
        })
    }
}
