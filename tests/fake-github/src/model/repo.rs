//! Repositories: names and redirects, settings, and everything that lives inside one.

use super::{
    Time, World,
    check::{CheckRun, CheckSuite},
    commit::Commit,
    issue::Issue,
    label::Label,
    status::Status,
};
use crate::refusal::Refusal;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Debug)]
pub(crate) struct Repo {
    pub(crate) id: u64,
    pub(crate) owner: u64,
    pub(crate) name: String,
    pub(crate) private: bool,
    pub(crate) archived: bool,
    pub(crate) has_issues: bool,
    pub(crate) default_branch: String,
    pub(crate) methods: MergeMethods,
    /// Names of checks that branch protection requires before a merge.
    pub(crate) required_checks: Vec<String>,
    pub(crate) created_at: Time,
    pub(crate) pushed_at: Time,
    pub(crate) commits: HashMap<String, Commit>,
    pub(crate) branches: BTreeMap<String, String>,
    /// Issues and pull requests by number.
    pub(crate) issues: BTreeMap<u64, Issue>,
    /// Numbers whose Issue was deleted or moved away (410 instead of 404).
    pub(crate) gone: BTreeSet<u64>,
    pub(crate) next_number: u64,
    pub(crate) labels: Vec<Label>,
    pub(crate) suites: BTreeMap<u64, CheckSuite>,
    pub(crate) runs: BTreeMap<u64, CheckRun>,
    pub(crate) statuses: Vec<Status>,
    /// `admin`, `maintain`, `write`, `triage`, `read` by account.
    pub(crate) permissions: HashMap<u64, String>,
}

/// Which buttons the repository offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeMethods {
    /// A merge commit.
    pub merge: bool,
    /// One squashed commit.
    pub squash: bool,
    /// The commits one by one.
    pub rebase: bool,
}

impl Default for MergeMethods {
    fn default() -> Self {
        Self {
            merge: true,
            squash: true,
            rebase: true,
        }
    }
}

impl World {
    pub(crate) fn full_name(&self, repo: &Repo) -> String {
        format!("{}/{}", self.login(repo.owner), repo.name)
    }

    /// Now so named; compared without case.
    pub(crate) fn repo_named(&self, owner: &str, name: &str) -> Option<u64> {
        let wanted = format!("{owner}/{name}");
        self.repos
            .values()
            .find(|repo| self.full_name(repo).eq_ignore_ascii_case(&wanted))
            .map(|repo| repo.id)
    }

    /// A new repository with one commit on `main`.
    pub(crate) fn add_repo(&mut self, owner: u64, name: &str) -> Result<u64, Refusal> {
        let id = self.ids.small();
        let now = self.now();
        self.repos.insert(
            id,
            Repo {
                id,
                owner,
                name: name.into(),
                private: false,
                archived: false,
                has_issues: true,
                default_branch: "main".into(),
                methods: MergeMethods::default(),
                required_checks: Vec::new(),
                created_at: now,
                pushed_at: now,
                commits: HashMap::new(),
                branches: BTreeMap::new(),
                issues: BTreeMap::new(),
                gone: BTreeSet::new(),
                next_number: 1,
                labels: Vec::new(),
                suites: BTreeMap::new(),
                runs: BTreeMap::new(),
                statuses: Vec::new(),
                permissions: HashMap::from([(owner, "admin".into())]),
            },
        );
        let root = self.add_commit(id, "Initial commit", owner, &[], BTreeMap::new())?;
        self.repo_mut(id)?.branches.insert("main".into(), root);
        Ok(id)
    }

    pub(crate) fn rename_repo(&mut self, id: u64, name: &str, actor: u64) -> Result<(), Refusal> {
        let old = self.full_name(self.repo(id)?);
        self.old_names.insert(old.to_ascii_lowercase(), id);
        let from = std::mem::replace(&mut self.repo_mut(id)?.name, name.into());
        let changes = json!({"changes": {"repository": {"name": {"from": from}}}});
        self.announce(id, "repository", Some("renamed"), actor, changes);
        Ok(())
    }

    pub(crate) fn transfer_repo(&mut self, id: u64, owner: u64, actor: u64) -> Result<(), Refusal> {
        let repo = self.repo(id)?;
        let (old_name, old_owner) = (self.full_name(repo), repo.owner);
        self.old_names.insert(old_name.to_ascii_lowercase(), id);
        let from = self.account_json(old_owner);
        let repo = self.repo_mut(id)?;
        repo.owner = owner;
        repo.permissions.insert(owner, "admin".into());
        // The App follows only to an account where it is installed; the event goes to the new installation.
        let old = self.installation_of_repo(id).map(|found| found.id);
        if let Some(old) = old {
            self.installation_mut(old)?.repos.remove(&id);
        }
        if let Some(new) = self.installation_of_account(owner).map(|found| found.id) {
            self.installation_mut(new)?.repos.insert(id);
        }
        self.announce(
            id,
            "repository",
            Some("transferred"),
            actor,
            json!({"changes": {"owner": {"from": {"user": from}}}}),
        );
        Ok(())
    }

    pub(crate) fn archive_repo(&mut self, id: u64, actor: u64) -> Result<(), Refusal> {
        self.repo_mut(id)?.archived = true;
        self.announce(id, "repository", Some("archived"), actor, json!({}));
        Ok(())
    }

    /// An archived repository refuses every change.
    pub(crate) fn writable(&self, id: u64) -> Result<(), Refusal> {
        if self.repo(id)?.archived {
            return Err(Refusal::new(
                403,
                "Repository was archived so is read-only.",
            ));
        }
        Ok(())
    }

    /// The account's permission in GitHub's coarse words, with the finer role name.
    pub(crate) fn permission_of(
        &self,
        id: u64,
        account: u64,
    ) -> Result<(&'static str, String), Refusal> {
        let repo = self.repo(id)?;
        let role = repo
            .permissions
            .get(&account)
            .cloned()
            .unwrap_or_else(|| if repo.private { "none" } else { "read" }.into());
        let coarse = match role.as_str() {
            "admin" => "admin",
            "maintain" | "write" => "write",
            "none" => "none",
            _ => "read",
        };
        Ok((coarse, role))
    }
}
