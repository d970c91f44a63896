//! Merging, updating a branch, and the merge queue's groups.

use super::{World, file::FileSpec, issue::Event, pull::Head};
use crate::refusal::Refusal;
use serde_json::json;

/// How to merge.
#[derive(Debug, Default)]
pub(crate) struct Merge {
    /// `merge`, `squash` or `rebase`.
    pub(crate) method: String,
    /// The head it must still have.
    pub(crate) sha: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) message: Option<String>,
}

impl World {
    /// Required checks that have no success on the head.
    fn missing_check(&self, repo: u64, sha: &str) -> Result<Option<String>, Refusal> {
        let runs = self.runs_on(repo, sha, true)?;
        let (_, statuses) = self.combined(repo, sha)?;
        let green = |name: &str| {
            runs.iter().any(|run| {
                run.name == name
                    && matches!(
                        run.conclusion.as_deref(),
                        Some("success" | "neutral" | "skipped")
                    )
            }) || statuses
                .iter()
                .any(|status| status.context == name && status.state == "success")
        };
        Ok(self
            .repo(repo)?
            .required_checks
            .iter()
            .find(|name| !green(name))
            .cloned())
    }

    /// The pull request with this GraphQL id: its repository and number.
    pub(crate) fn pull_with_node(&self, node: &str) -> Option<(u64, u64)> {
        let id: u64 = node.strip_prefix("PR_")?.parse().ok()?;
        self.repos.iter().find_map(|(repo, held)| {
            let issue = held.issues.values().find(|issue| issue.id == id)?;
            Some((*repo, issue.number))
        })
    }

    /// Would GitHub merge it at once?
    pub(crate) fn is_clean(&self, repo: u64, number: u64) -> Result<bool, Refusal> {
        let pull = self.pull(repo, number)?;
        let missing = self.missing_check(repo, &pull.head.sha)?;
        Ok(missing.is_none() && pull.mergeable != Some(false))
    }

    /// Merges; `sha` is the precondition. 409 when the head is another, 405 when it cannot be merged.
    pub(crate) fn merge_pull(
        &mut self,
        repo: u64,
        number: u64,
        how: &Merge,
        actor: u64,
    ) -> Result<String, Refusal> {
        self.writable(repo)?;
        let issue = self.issue(repo, number)?;
        let (open, pull_title) = (issue.open, issue.title.clone());
        let pull = self.pull(repo, number)?.clone();
        if how
            .sha
            .as_ref()
            .is_some_and(|wanted| *wanted != pull.head.sha)
        {
            return Err(Refusal::new(
                409,
                "Head branch was modified. Review and try the merge again.",
            ));
        }
        if pull.draft {
            return Err(Refusal::new(405, "Pull Request is still a draft"));
        }
        if !open || pull.mergeable == Some(false) {
            return Err(Refusal::new(405, "Pull Request is not mergeable"));
        }
        let methods = self.repo(repo)?.methods;
        let (allowed, word) = match how.method.as_str() {
            "merge" => (methods.merge, "Merge commits are"),
            "squash" => (methods.squash, "Squash merges are"),
            _ => (methods.rebase, "Rebase merges are"),
        };
        if !allowed {
            return Err(Refusal::new(
                405,
                format!("{word} not allowed on this repository."),
            ));
        }
        if let Some(name) = self.missing_check(repo, &pull.head.sha)? {
            return Err(Refusal::new(
                405,
                format!("Required status check \"{name}\" is expected."),
            ));
        }
        let tip = self
            .repo(repo)?
            .branches
            .get(&pull.base_ref)
            .cloned()
            .ok_or_else(Refusal::not_found)?;
        let changes = self
            .repo(repo)?
            .changes_of(&self.repo(repo)?.ahead(&tip, &pull.head.sha));
        let parents = if how.method == "merge" {
            vec![tip, pull.head.sha.clone()]
        } else {
            vec![tip]
        };
        let title = how
            .title
            .clone()
            .unwrap_or_else(|| format!("{pull_title} (#{number})"));
        let text = how
            .message
            .as_ref()
            .map_or_else(|| title.clone(), |message| format!("{title}\n\n{message}"));
        let merged = self.add_commit(repo, &text, actor, &parents, changes)?;
        self.finish_merge(repo, number, &pull.base_ref, &merged, actor)?;
        Ok(merged)
    }

    fn finish_merge(
        &mut self,
        repo: u64,
        number: u64,
        base: &str,
        merged: &str,
        actor: u64,
    ) -> Result<(), Refusal> {
        let now = self.now();
        let pull = self.pull_mut(repo, number)?;
        pull.merged_at = Some(now);
        pull.merged_by = Some(actor);
        pull.merge_commit = Some(merged.into());
        let id = self.ids.issue();
        let issue = self.issue_mut(repo, number)?;
        issue.events.push(Event {
            id,
            kind: "merged".into(),
            actor,
            at: now,
            detail: Some(merged.into()),
        });
        self.set_branch(repo, base, merged, actor)?;
        self.set_issue_state(repo, number, false, None, actor)
    }

    /// Merges the base into the head branch.
    pub(crate) fn update_branch(
        &mut self,
        repo: u64,
        number: u64,
        expected: Option<&str>,
        actor: u64,
    ) -> Result<(), Refusal> {
        self.writable(repo)?;
        let pull = self.pull(repo, number)?.clone();
        if expected.is_some_and(|sha| sha != pull.head.sha) {
            return Err(Refusal::invalid(
                "expected head sha didn’t match current head ref.",
            ));
        }
        if !self.issue(repo, number)?.open || pull.mergeable == Some(false) {
            return Err(Refusal::invalid("merge conflict between base and head"));
        }
        let held = self.repo(repo)?;
        let tip = held
            .branches
            .get(&pull.base_ref)
            .cloned()
            .ok_or_else(Refusal::not_found)?;
        let news = held.ahead(&pull.head.sha, &tip);
        if news.is_empty() {
            return Err(Refusal::invalid(
                "There are no new commits on the base branch.",
            ));
        }
        let changes = held.changes_of(&news);
        let message = format!("Merge branch '{}' into {}", pull.base_ref, pull.head_ref);
        let sha = self.add_commit(
            repo,
            &message,
            actor,
            &[pull.head.sha.clone(), tip.clone()],
            changes,
        )?;
        let commits = pull
            .head
            .commits
            .iter()
            .cloned()
            .chain([sha.clone()])
            .collect();
        self.pull_mut(repo, number)?.base_sha = tip;
        self.move_head(
            repo,
            number,
            Head {
                sha,
                files: pull.head.files,
                commits,
            },
            actor,
        )
    }

    /// A commit straight on a branch.
    pub(crate) fn commit_on(
        &mut self,
        repo: u64,
        branch: &str,
        message: &str,
        files: &[FileSpec],
        actor: u64,
    ) -> Result<String, Refusal> {
        let tip = self
            .repo(repo)?
            .branches
            .get(branch)
            .cloned()
            .ok_or_else(Refusal::not_found)?;
        let head = self.build_head(repo, &tip, &tip, &[message.to_owned()], files, actor)?;
        self.set_branch(repo, branch, &head.sha, actor)?;
        Ok(head.sha)
    }

    /// The merge queue builds a group of pull requests and asks for its checks.
    pub(crate) fn merge_group(
        &mut self,
        repo: u64,
        base: &str,
        numbers: &[u64],
        actor: u64,
    ) -> Result<String, Refusal> {
        let tip = self
            .repo(repo)?
            .branches
            .get(base)
            .cloned()
            .ok_or_else(Refusal::not_found)?;
        let mut sha = tip.clone();
        for number in numbers {
            let head = self.pull(repo, *number)?.head.sha.clone();
            let changes = self
                .repo(repo)?
                .changes_of(&self.repo(repo)?.ahead(&sha, &head));
            let text = format!("Merge pull request #{number}");
            sha = self.add_commit(repo, &text, actor, &[sha, head], changes)?;
        }
        let last = numbers.last().copied().unwrap_or_default();
        let name = format!("gh-readonly-queue/{base}/pr-{last}-{tip}");
        self.repo_mut(repo)?
            .branches
            .insert(name.clone(), sha.clone());
        self.announce(
            repo,
            "merge_group",
            Some("checks_requested"),
            actor,
            json!({"merge_group": {
                "head_sha": sha, "head_ref": format!("refs/heads/{name}"),
                "base_sha": tip, "base_ref": format!("refs/heads/{base}"),
                "head_commit": self.push_commit_json(repo, &sha),
            }}),
        );
        Ok(sha)
    }
}
