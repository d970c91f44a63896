//! Commits and branches. A commit keeps only what it changed; contents are found by walking to the parents.

use super::{Time, World, repo::Repo};
use crate::refusal::Refusal;
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

/// What a commit did to paths; `None` is a removal.
pub(crate) type Changes = BTreeMap<String, Option<Arc<[u8]>>>;

#[derive(Debug, Clone)]
pub(crate) struct Commit {
    pub(crate) sha: String,
    pub(crate) parents: Vec<String>,
    pub(crate) message: String,
    pub(crate) author: u64,
    pub(crate) at: Time,
    pub(crate) changes: Changes,
}

impl Repo {
    /// The commit that a SHA, branch name or `refs/heads/…` stands for.
    pub(crate) fn resolve(&self, name: &str) -> Option<&Commit> {
        let branch = name
            .strip_prefix("refs/heads/")
            .or_else(|| name.strip_prefix("heads/"))
            .unwrap_or(name);
        let sha = self.branches.get(branch).map_or(name, String::as_str);
        self.commits.get(sha)
    }

    /// The commit itself and everything behind it.
    pub(crate) fn ancestors(&self, sha: &str) -> HashSet<String> {
        let mut seen = HashSet::new();
        let mut todo = vec![sha.to_owned()];
        while let Some(next) = todo.pop() {
            if let Some(commit) = self.commits.get(&next)
                && seen.insert(next)
            {
                todo.extend(commit.parents.iter().cloned());
            }
        }
        seen
    }

    /// Commits of `head` that `base` does not have, oldest first.
    pub(crate) fn ahead(&self, base: &str, head: &str) -> Vec<String> {
        let known = self.ancestors(base);
        let mut order = Vec::new();
        let mut seen = HashSet::new();
        // Depth first, parents before children: an explicit stack, since histories can be long.
        let mut todo = vec![(head.to_owned(), false)];
        while let Some((sha, expanded)) = todo.pop() {
            if expanded {
                order.push(sha);
            } else if !known.contains(&sha)
                && let Some(commit) = self.commits.get(&sha)
                && seen.insert(sha.clone())
            {
                todo.push((sha, true));
                todo.extend(
                    commit
                        .parents
                        .iter()
                        .rev()
                        .map(|parent| (parent.clone(), false)),
                );
            }
        }
        order
    }

    /// The nearest common ancestor along the first parents of `base`.
    pub(crate) fn merge_base(&self, base: &str, head: &str) -> Option<String> {
        let of_head = self.ancestors(head);
        let mut todo = std::collections::VecDeque::from([base.to_owned()]);
        let mut seen = HashSet::new();
        while let Some(sha) = todo.pop_front() {
            if of_head.contains(&sha) {
                return Some(sha);
            }
            if let Some(commit) = self.commits.get(&sha)
                && seen.insert(sha)
            {
                todo.extend(commit.parents.iter().cloned());
            }
        }
        None
    }

    /// The bytes of a path at a commit.
    pub(crate) fn content(&self, sha: &str, path: &str) -> Option<Arc<[u8]>> {
        let mut next = self.commits.get(sha);
        while let Some(commit) = next {
            if let Some(change) = commit.changes.get(path) {
                return change.clone();
            }
            next = commit
                .parents
                .first()
                .and_then(|parent| self.commits.get(parent));
        }
        None
    }

    /// All paths at a commit.
    pub(crate) fn paths(&self, sha: &str) -> BTreeSet<String> {
        let mut decided: BTreeMap<String, bool> = BTreeMap::new();
        let mut next = self.commits.get(sha);
        while let Some(commit) = next {
            for (path, change) in &commit.changes {
                decided.entry(path.clone()).or_insert(change.is_some());
            }
            next = commit
                .parents
                .first()
                .and_then(|parent| self.commits.get(parent));
        }
        decided
            .into_iter()
            .filter_map(|(path, there)| there.then_some(path))
            .collect()
    }

    /// What the commits changed together, the last one winning.
    pub(crate) fn changes_of(&self, shas: &[String]) -> Changes {
        let commits = shas.iter().filter_map(|sha| self.commits.get(sha));
        commits.flat_map(|commit| commit.changes.clone()).collect()
    }
}

impl World {
    pub(crate) fn add_commit(
        &mut self,
        repo: u64,
        message: &str,
        author: u64,
        parents: &[String],
        changes: Changes,
    ) -> Result<String, Refusal> {
        let sha = self.ids.sha();
        let at = self.now();
        let commit = Commit {
            sha: sha.clone(),
            parents: parents.to_vec(),
            message: message.into(),
            author,
            at,
            changes,
        };
        self.repo_mut(repo)?.commits.insert(sha.clone(), commit);
        Ok(sha)
    }

    /// Puts a branch on a commit and tells the world (`push`, `check_suite requested`).
    pub(crate) fn set_branch(
        &mut self,
        repo: u64,
        branch: &str,
        sha: &str,
        actor: u64,
    ) -> Result<(), Refusal> {
        let now = self.now();
        let held = self.repo_mut(repo)?;
        held.pushed_at = now;
        let before = held.branches.insert(branch.into(), sha.into());
        let zeros = "0".repeat(40);
        let from = before.clone().unwrap_or_else(|| zeros.clone());
        let forced = before.as_ref().is_some_and(|old| {
            !self
                .repos
                .get(&repo)
                .is_some_and(|r| r.ancestors(sha).contains(old))
        });
        let head = self.push_commit_json(repo, sha);
        let commits: Vec<_> = self
            .repo(repo)?
            .ahead(&from, sha)
            .iter()
            .rev()
            .take(20)
            .rev()
            .map(|sha| self.push_commit_json(repo, sha))
            .collect();
        self.announce(
            repo,
            "push",
            None,
            actor,
            json!({
                "ref": format!("refs/heads/{branch}"), "before": from, "after": sha,
                "created": before.is_none(), "deleted": false, "forced": forced, "base_ref": null,
                "compare": format!("{}/compare/{from}...{sha}", self.base),
                "commits": commits, "head_commit": head,
                "pusher": {"name": self.login(actor), "email": null},
            }),
        );
        self.suite_on_push(repo, sha, Some(branch), actor)
    }

    pub(crate) fn create_ref(
        &mut self,
        repo: u64,
        name: &str,
        sha: &str,
        actor: u64,
    ) -> Result<(), Refusal> {
        self.writable(repo)?;
        let Some(branch) = name.strip_prefix("refs/heads/") else {
            return Err(Refusal::invalid(
                "Reference name must start with `refs/heads/` here",
            ));
        };
        let held = self.repo(repo)?;
        if held.branches.contains_key(branch) {
            return Err(Refusal::invalid("Reference already exists"));
        }
        if !held.commits.contains_key(sha) {
            return Err(Refusal::invalid("Object does not exist"));
        }
        self.set_branch(repo, branch, sha, actor)
    }

    pub(crate) fn delete_ref(&mut self, repo: u64, branch: &str) -> Result<(), Refusal> {
        self.writable(repo)?;
        match self.repo_mut(repo)?.branches.remove(branch) {
            Some(_) => Ok(()),
            None => Err(Refusal::invalid("Reference does not exist")),
        }
    }
}
