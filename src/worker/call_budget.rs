//! What GitHub allows an installation, and who may use the rest of it.
//!
//! Three bounds: after a refusal for the rate nothing is asked until its time is up; below a reserve only work on D goes
//! on; Issues and comments are made no faster than GitHub's secondary limits allow (GitHub docs, "Rate limits for the REST
//! API"). INVARIANT: what is held back keeps its place and comes again; it never counts as judged.

use crate::domain::{Effect, InstallationId, IssueKind, PullState, Quadrant, Subject, Timestamp};
use crate::github::RateLeft;
use crate::store::Claim;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);

/// Bounds, as the operator set them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// Calls of an hour that are kept for work on D.
    pub reserve: u64,
    /// Issues and comments an installation may be given in a minute.
    pub content_per_minute: u64,
    /// And in an hour.
    pub content_per_hour: u64,
}

/// What is known of each installation.
pub struct CallBudget {
    limits: CallLimits,
    installations: Mutex<HashMap<InstallationId, Known>>,
}

#[derive(Default)]
struct Known {
    /// GitHub asked to be left alone until then.
    quiet_until: Option<Timestamp>,
    /// When Issues and comments were made, of the last hour.
    content: VecDeque<Timestamp>,
}

/// Work that asks to begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asks<'a> {
    subject: &'a Subject,
    state: Option<&'a PullState>,
    begun: bool,
}

impl<'a> From<&'a Claim> for Asks<'a> {
    fn from(claim: &'a Claim) -> Self {
        Self {
            subject: &claim.subject,
            state: claim.state.as_ref(),
            begun: claim.plan.is_some(),
        }
    }
}

/// Work that waits for its installation's budget.
#[derive(Debug, PartialEq, Eq)]
pub struct Held {
    /// For how long.
    pub wait: Duration,
    /// Why.
    pub why: String,
}

impl CallBudget {
    /// Nothing was asked yet.
    #[must_use]
    pub fn new(limits: CallLimits) -> Self {
        Self {
            limits,
            installations: Mutex::default(),
        }
    }

    /// GitHub refused for the rate: the whole installation keeps away for so long.
    pub(super) fn refused(&self, id: InstallationId, wait: Duration, now: Timestamp) {
        let mut installations = self.lock();
        let known = installations.entry(id).or_default();
        let until = now.plus(wait.min(HOUR));
        known.quiet_until = known.quiet_until.max(Some(until));
    }

    /// May this work begin? `left` is what GitHub's last answer said.
    pub(super) fn admits(
        &self,
        work: Asks<'_>,
        left: Option<RateLeft>,
        now: Timestamp,
    ) -> Result<(), Held> {
        if let Some(until) = self.quiet_until(work.subject.installation(), now) {
            return Err(Held {
                wait: until.since(now),
                why: "GitHub asked this installation to wait".to_owned(),
            });
        }
        let Some(left) = left.filter(|left| left.reset > now) else {
            return Ok(());
        };
        if left.remaining >= self.limits.reserve || may_use_the_reserve(work) {
            return Ok(());
        }
        let calls = left.remaining;
        Err(Held {
            // By the word of GitHub's clock; ours may be a little behind.
            wait: left.reset.since(now).min(HOUR) + Duration::from_secs(1),
            why: format!("{calls} calls are left this hour, and those are kept for work on D"),
        })
    }

    /// Takes the place of one Issue or comment, if the effect makes one.
    pub(super) fn take(
        &self,
        id: InstallationId,
        effect: &Effect,
        now: Timestamp,
    ) -> Result<(), Held> {
        if !makes_content(effect) {
            return Ok(());
        }
        let mut installations = self.lock();
        let content = &mut installations.entry(id).or_default().content;
        while content
            .front()
            .is_some_and(|first| now.since(*first) >= HOUR)
        {
            content.pop_front();
        }
        let bounds = [
            (self.limits.content_per_minute, MINUTE, "minute"),
            (self.limits.content_per_hour, HOUR, "hour"),
        ];
        for (most, span, word) in bounds {
            // The last fifth is for the questions of a D: trails may wait, an owner is waited for.
            let most = if asks_an_owner(effect) {
                most
            } else {
                most - most / 5
            };
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            // The one that has to be older than the span before there is room again.
            let Some(at) = content
                .len()
                .checked_sub(most)
                .and_then(|at| content.get(at))
            else {
                continue;
            };
            let age = now.since(*at);
            if age < span {
                return Err(Held {
                    wait: span.saturating_sub(age),
                    why: format!(
                        "this installation had its {most} Issues and comments of the {word}"
                    ),
                });
            }
        }
        content.push_back(now);
        Ok(())
    }

    fn quiet_until(&self, id: InstallationId, now: Timestamp) -> Option<Timestamp> {
        let mut installations = self.lock();
        let known = installations.get_mut(&id)?;
        known.quiet_until = known.quiet_until.filter(|until| *until > now);
        known.quiet_until
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<InstallationId, Known>> {
        // A poisoned lock guards plain values here, which are whole at any time.
        self.installations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work that a D waits for: its answers, its pull request, its merge group. Look-ups by commit cost no call as a rule.
fn may_use_the_reserve(work: Asks<'_>) -> bool {
    match work.subject {
        Subject::Issue { .. }
        | Subject::MergeGroup { .. }
        | Subject::Head { .. }
        | Subject::Commit { .. } => true,
        // A plan that was begun is ended: half of it is seen.
        Subject::Pull { .. } => work.begun || work.state.is_some_and(is_d),
        Subject::Repo { .. } | Subject::Installation { .. } => false,
    }
}

fn asks_an_owner(effect: &Effect) -> bool {
    matches!(effect, Effect::OpenIssue(issue) if issue.kind == IssueKind::PendingOwner)
}

fn is_d(state: &PullState) -> bool {
    let asks = |kind: IssueKind| kind == IssueKind::PendingOwner;
    state.quadrant == Some(Quadrant::D)
        || state.issue.as_ref().is_some_and(|issue| asks(issue.kind))
}

fn makes_content(effect: &Effect) -> bool {
    match effect {
        Effect::OpenIssue(_) | Effect::Comment(_) | Effect::OpenRevert(_) => true,
        Effect::CloseIssue { comment, .. } => comment.is_some(),
        Effect::CheckRun(_)
        | Effect::EnsureLabel { .. }
        | Effect::AddLabels { .. }
        | Effect::RemoveLabel { .. }
        | Effect::ClosePull { .. }
        | Effect::Merge(_)
        | Effect::UpdateBranch { .. }
        | Effect::EnableAutoMerge(_)
        | Effect::DisableAutoMerge { .. }
        | Effect::Enqueue { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{IssueNumber, PullNumber, RepoId, RepoRef};

    const OURS: InstallationId = InstallationId(7);

    fn budget() -> CallBudget {
        CallBudget::new(CallLimits {
            reserve: 100,
            content_per_minute: 5,
            content_per_hour: 10,
        })
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_750_000_000_000 + seconds * 1000)
    }

    fn repo() -> RepoRef {
        RepoRef {
            id: RepoId(1),
            name: "o/r".parse().expect("a name"),
            installation: OURS,
        }
    }

    fn asks(subject: &Subject) -> Asks<'_> {
        Asks {
            subject,
            state: None,
            begun: false,
        }
    }

    fn pull() -> Subject {
        Subject::Pull {
            repo: repo(),
            number: PullNumber(1),
        }
    }

    fn answer() -> Subject {
        Subject::Issue {
            repo: repo(),
            number: IssueNumber(1),
        }
    }

    #[test]
    fn a_refusal_holds_the_whole_installation_until_its_time_is_up() {
        let budget = budget();
        budget.refused(OURS, Duration::from_mins(1), at(0));
        budget.refused(OURS, Duration::from_secs(5), at(1));
        for subject in [pull(), answer()] {
            let held = budget
                .admits(asks(&subject), None, at(10))
                .expect_err("held");
            assert_eq!(held.wait, Duration::from_secs(50));
        }
        assert_eq!(budget.admits(asks(&pull()), None, at(60)), Ok(()));
        budget.refused(InstallationId(8), Duration::from_mins(1), at(70));
        assert_eq!(
            budget.admits(asks(&pull()), None, at(71)),
            Ok(()),
            "another one"
        );
    }

    #[test]
    fn the_reserve_is_for_answers_and_what_is_a_d() {
        let budget = budget();
        let left = |remaining| {
            Some(RateLeft {
                remaining,
                limit: Some(5000),
                reset: at(600),
            })
        };
        assert_eq!(budget.admits(asks(&pull()), left(100), at(0)), Ok(()));
        let held = budget
            .admits(asks(&pull()), left(99), at(0))
            .expect_err("held");
        assert_eq!(held.wait, Duration::from_secs(601));
        assert!(held.why.starts_with("99 calls are left"), "{}", held.why);
        assert_eq!(budget.admits(asks(&answer()), left(1), at(0)), Ok(()));
        let begun = pull();
        let begun = Asks {
            begun: true,
            ..asks(&begun)
        };
        assert_eq!(budget.admits(begun, left(1), at(0)), Ok(()));
        assert_eq!(
            budget.admits(asks(&pull()), left(0), at(600)),
            Ok(()),
            "whole again"
        );
        let sweep = Subject::Repo { repo: repo() };
        assert!(budget.admits(asks(&sweep), left(99), at(0)).is_err());
    }

    #[test]
    fn comments_are_spaced_and_other_writes_are_not() {
        let budget = budget();
        let close = Effect::ClosePull {
            repo: repo(),
            number: PullNumber(1),
        };
        let comment = Effect::CloseIssue {
            repo: repo(),
            number: IssueNumber(1),
            comment: Some(crate::domain::CommentEffect {
                repo: repo(),
                number: IssueNumber(1),
                key: "k".to_owned(),
                body: "b".to_owned(),
                mode: crate::domain::CommentMode::Once,
            }),
            not_planned: false,
        };
        for _ in 0..4 {
            assert_eq!(budget.take(OURS, &comment, at(0)), Ok(()));
        }
        let held = budget.take(OURS, &comment, at(20)).expect_err("held");
        assert_eq!(held.wait, Duration::from_secs(40));
        assert_eq!(budget.take(OURS, &close, at(20)), Ok(()));
        for second in 60..64 {
            assert_eq!(budget.take(OURS, &comment, at(second)), Ok(()));
        }
        let held = budget
            .take(OURS, &comment, at(200))
            .expect_err("eight an hour");
        assert_eq!(held.wait, Duration::from_secs(3400));
    }
}
