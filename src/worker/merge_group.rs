//! `L1.C3` on a merge group: the worst of what its member pull requests have.
//!
//! INVARIANT: a group passes only when every commit on its first-parent line brings in one known pull request, whose
//! present head is the one that was judged, and whose own `L1.C3` is a success. Whatever is not known fails it.

use super::{Bench, Done, WorkError};
use crate::audit::{About, Body, EntryDraft};
use crate::domain::{
    CheckConclusion, CheckOutput, CheckRunEffect, Choice, Effect, PullNumber, PullState, Quadrant,
    RepoRef, Sha,
};
use crate::github::{ApiError, GroupCommit, Seen};
use crate::plan::{CHECK_RUN_NAME, render};
use crate::store::Claim;
use std::collections::BTreeSet;

/// What one commit on the first-parent line brings in.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// A merge of this head.
    Merge(Sha),
    /// A squash of this pull request, as its subject says.
    Squash(PullNumber),
}

impl Bench {
    /// Judges a group and posts the check-run on its head.
    pub(super) async fn merge_group(
        &self,
        claim: &Claim,
        repo: &RepoRef,
        head: &Sha,
        head_ref: &str,
    ) -> Result<Done, WorkError> {
        let policy = self.policy();
        if !policy.is_gated(&repo.name) {
            return Ok(Done::nothing());
        }
        let mut members = BTreeSet::new();
        let verdict = self.judge_group(repo, head, head_ref, &mut members).await?;
        let last = named(head_ref).map_or(PullNumber(0), |(number, _)| number);
        let reason = verdict.err();
        let entry = EntryDraft {
            ts: self.clock.now(),
            decision: format!(
                "g-{}/{head}/{}/{}",
                repo.id,
                if reason.is_none() { "passes" } else { "fails" },
                claim.generation
            ),
            about: Some(About {
                repo_id: repo.id,
                repo: repo.name.clone(),
                number: last,
                head_sha: head.clone(),
            }),
            body: Body::MergeGroup {
                head_ref: head_ref.to_owned(),
                members: members.iter().copied().collect(),
                passes: reason.is_none(),
                because: reason.clone(),
            },
            policy: policy.digest.clone(),
            delivery: claim.deliveries.first().cloned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        if let Some(places) = self.audit.append(vec![entry]).await? {
            self.store.set_audit_tail(&places.last).await?;
            self.metrics.audited(1);
        }
        self.at("group-audited");
        let members: Vec<PullNumber> = members.into_iter().collect();
        let (title, summary) =
            render::merge_group(&members, reason.as_deref(), policy.inbox.language);
        let check = CheckRunEffect {
            repo: repo.clone(),
            head_sha: head.clone(),
            name: CHECK_RUN_NAME.to_owned(),
            external_id: format!("{}/group/{head}", repo.id),
            known: None,
            conclusion: Some(if reason.is_none() {
                CheckConclusion::Success
            } else {
                CheckConclusion::Failure
            }),
            output: CheckOutput {
                title,
                summary,
                text: String::new(),
                annotations: Vec::new(),
            },
            actions: Vec::new(),
            details_url: None,
            names_issue: false,
        };
        self.github
            .apply_with(&Effect::CheckRun(check), &Seen::nothing())
            .await?;
        Ok(Done::nothing())
    }

    /// `Err`: why the group does not pass.
    async fn judge_group(
        &self,
        repo: &RepoRef,
        head: &Sha,
        head_ref: &str,
        members: &mut BTreeSet<PullNumber>,
    ) -> Result<Result<(), String>, WorkError> {
        let Some((last, base)) = named(head_ref) else {
            return Ok(Err(format!(
                "the group's ref `{head_ref}` does not name a pull request and a base"
            )));
        };
        let commits = match self.github.group_commits(repo, &base, head).await {
            Ok(commits) => commits,
            Err(
                error @ (ApiError::Gone { .. }
                | ApiError::Refused { .. }
                | ApiError::Unreadable { .. }
                | ApiError::Unprocessable { .. }),
            ) => return Ok(Err(format!("the group's commits cannot be read: {error}"))),
            Err(error) => return Err(error.into()),
        };
        let steps = match steps(&commits, &base, head) {
            Ok(steps) => steps,
            Err(reason) => return Ok(Err(reason)),
        };
        for step in &steps {
            let found = match step {
                Step::Merge(sha) => self.store.pulls_with_head(repo.id, sha).await?,
                Step::Squash(number) => self
                    .store
                    .pull_state(repo.id, *number)
                    .await?
                    .into_iter()
                    .collect(),
            };
            let open: Vec<PullState> = found.into_iter().filter(|state| !state.closed).collect();
            if open.is_empty() {
                return Ok(Err(match step {
                    Step::Merge(sha) => {
                        format!("`{sha}` is not the judged head of any open pull request")
                    }
                    Step::Squash(number) => format!("#{number} was not judged here"),
                }));
            }
            for state in open {
                members.insert(state.number);
                if let Err(reason) = self.member(repo, &state).await? {
                    return Ok(Err(reason));
                }
            }
        }
        Ok(if members.contains(&last) {
            Ok(())
        } else {
            Err(format!(
                "the group is for #{last}, which none of its commits brings in"
            ))
        })
    }

    async fn member(
        &self,
        repo: &RepoRef,
        state: &PullState,
    ) -> Result<Result<(), String>, WorkError> {
        let number = state.number;
        let pull = self.github.pull(repo, number).await?;
        if pull.head.sha != state.head_sha {
            return Ok(Err(format!(
                "#{number} has another head by now than the one that was judged"
            )));
        }
        let judged = state.quadrant.filter(|_| state.decision.is_some());
        let choice = state.answered.as_ref().map(|answered| answered.choice);
        Ok(match (judged, choice) {
            (None, _) => Err(format!("#{number} was not judged here")),
            (Some(Quadrant::A | Quadrant::B | Quadrant::C), _)
            | (Some(Quadrant::D), Some(Choice::ApproveA | Choice::ApproveB)) => Ok(()),
            (Some(Quadrant::D), Some(Choice::Reject)) => {
                Err(format!("#{number} is D and was rejected"))
            }
            (Some(Quadrant::D), Some(Choice::Defer) | None) => {
                Err(format!("#{number} is D and no owner has approved its head"))
            }
        })
    }
}

/// `refs/heads/gh-readonly-queue/main/pr-12-<sha>` to the pull request and the group's base.
fn named(head_ref: &str) -> Option<(PullNumber, Sha)> {
    let (_, last) = head_ref.rsplit_once("/pr-")?;
    let (number, base) = last.split_once('-')?;
    Some((PullNumber(number.parse().ok()?), base.parse().ok()?))
}

/// What stands on the first-parent line, newest first.
fn steps(commits: &[GroupCommit], base: &Sha, head: &Sha) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut at = head.clone();
    while at != *base {
        let commit = commits
            .iter()
            .find(|commit| commit.sha == at)
            .filter(|_| steps.len() < commits.len())
            .ok_or_else(|| format!("`{at}` is not among the group's commits"))?;
        let mut parents = commit.parents.iter();
        let first = parents
            .next()
            .ok_or_else(|| format!("`{at}` has no parent"))?;
        steps.push(match (parents.next(), parents.next()) {
            (Some(merged), None) => Step::Merge(merged.clone()),
            (Some(_), Some(_)) => return Err(format!("`{at}` merges several heads at once")),
            (None, _) => Step::Squash(
                squashed(&commit.subject)
                    .ok_or_else(|| format!("`{at}` does not say which pull request it is of"))?,
            ),
        });
        at = first.clone();
    }
    if steps.is_empty() {
        return Err("the group has no commits".to_owned());
    }
    Ok(steps)
}

/// `Title (#12)`: GitHub's own ending of a squash commit's subject.
fn squashed(subject: &str) -> Option<PullNumber> {
    let (_, last) = subject.trim_end().strip_suffix(')')?.rsplit_once("(#")?;
    last.parse().ok().map(PullNumber)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sha(c: char) -> Sha {
        c.to_string().repeat(40).parse().unwrap()
    }

    fn commit(at: char, parents: &[char], subject: &str) -> GroupCommit {
        GroupCommit {
            sha: sha(at),
            parents: parents.iter().map(|c| sha(*c)).collect(),
            subject: subject.into(),
        }
    }

    #[test]
    fn each_step_of_the_first_parent_line_brings_in_one_pull_request() {
        let commits = [
            commit('1', &['0', 'a'], "Merge pull request #1"),
            commit('a', &['0'], "work (#9)"),
            commit('2', &['1'], "Tidy (#3) (#2)"),
        ];
        assert_eq!(
            steps(&commits, &sha('0'), &sha('2')),
            Ok(vec![Step::Squash(PullNumber(2)), Step::Merge(sha('a'))])
        );
        let rebased = [commit('1', &['0'], "work")];
        assert!(steps(&rebased, &sha('0'), &sha('1')).is_err());
        assert!(steps(&[], &sha('0'), &sha('1')).is_err());
        assert!(steps(&[], &sha('0'), &sha('0')).is_err());
    }

    #[test]
    fn a_ref_names_the_last_pull_request_and_the_base() {
        let base = "b".repeat(40);
        let name = format!("refs/heads/gh-readonly-queue/release/pr-1/pr-12-{base}");
        assert_eq!(named(&name), Some((PullNumber(12), sha('b'))));
        assert_eq!(named("refs/heads/gh-readonly-queue/main/pr-x-1"), None);
    }
}
