//! Carries out a stored plan: the audit entries first, then the effects in order, each noted before and after.
//!
//! INVARIANT: no effect begins before the plan's entries are on disk. A plan that was interrupted goes on where it
//! stopped; an effect that had begun is looked for before it is done again.

use super::{Bench, WorkError};
use crate::audit::{Body, EntryDraft};
use crate::domain::{Effect, Outcome, PullState, Witness};
use crate::github::Seen;
use crate::plan::{self, render};
use crate::store::{Claim, EffectStatus, StoredPlan};

/// Are the orders of the merge gate in a plan judged now, or at some time before?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Orders {
    Fresh,
    OfThen,
}

impl Bench {
    /// Does what is left of the plan; the state to remember and the counters to raise.
    pub(super) async fn carry_out(
        &self,
        claim: &Claim,
        plan: &StoredPlan,
        seen: &Seen,
    ) -> Result<(PullState, Vec<String>), WorkError> {
        self.work_off(claim, plan, seen, Orders::Fresh).await
    }

    /// Goes on with a plan that was interrupted. What it orders of the merge gate is left undone: it was judged then,
    /// and is judged anew now.
    pub(super) async fn carry_on(
        &self,
        claim: &Claim,
        plan: &StoredPlan,
    ) -> Result<(PullState, Vec<String>), WorkError> {
        let seen = Seen::nothing();
        self.work_off(claim, plan, &seen, Orders::OfThen).await
    }

    async fn work_off(
        &self,
        claim: &Claim,
        plan: &StoredPlan,
        seen: &Seen,
        orders: Orders,
    ) -> Result<(PullState, Vec<String>), WorkError> {
        let entries: Vec<EntryDraft> =
            serde_json::from_value(plan.entries.clone()).map_err(|error| {
                WorkError::Broken(format!("a stored plan is not readable: {error}"))
            })?;
        let count = counters(&entries);
        let mut state = plan.state_after.clone();
        let witness = match &plan.witness {
            Some(witness) => Some(witness.clone()),
            None => self.write_entries(claim, entries).await?,
        };
        if witness.is_some() {
            state.witness.clone_from(&witness);
        }
        let mut issue = render::IssueOutcome::None;
        for (index, planned) in plan.effects.iter().enumerate() {
            let outcome = match &planned.status {
                EffectStatus::Done(outcome) => outcome.clone(),
                EffectStatus::Planned | EffectStatus::Started
                    if orders == Orders::OfThen && planned.effect.rests_on_the_gate() =>
                {
                    continue;
                }
                EffectStatus::Planned | EffectStatus::Started => {
                    let effect = finished(&planned.effect, &issue, state.witness.as_ref());
                    self.governed(&state, &effect)?;
                    // Fenced: whoever lost the lease meanwhile does nothing more, since another one is at it.
                    self.store.effect_started(claim, index).await?;
                    self.at("effect-started");
                    let outcome = self.apply(&effect, seen).await?;
                    self.at("effect-applied");
                    // The last one is noted with the end of the work, which follows: what a crash undoes between the two is
                    // found again.
                    if index + 1 < plan.effects.len() {
                        self.store.effect_done(claim, index, &outcome).await?;
                    }
                    self.at("effect-noted");
                    outcome
                }
            };
            if let Effect::OpenIssue(_) = &planned.effect {
                issue = issue_outcome(&outcome);
            }
            plan::settle(&mut state, &planned.effect, &outcome);
        }
        // A button that is pressed from now on answers the question that stands there now.
        if let Some(asked) = &mut state.inbox.asked {
            asked.at.get_or_insert_with(|| self.clock.now());
        }
        self.at("effects-done");
        Ok((state, count))
    }

    async fn write_entries(
        &self,
        claim: &Claim,
        entries: Vec<EntryDraft>,
    ) -> Result<Option<Witness>, WorkError> {
        let number = entries.len() as u64;
        let written = self.audit.append(entries).await?;
        self.at("audit-written");
        if let Some(places) = &written {
            if places.last != places.deciding {
                self.store.set_audit_tail(&places.last).await?;
            }
            self.store
                .plan_audited(claim, &places.deciding, places.classification.as_ref())
                .await?;
            self.metrics.audited(number);
        }
        self.at("audit-noted");
        Ok(written.map(|places| places.deciding))
    }

    async fn apply(&self, effect: &Effect, seen: &Seen) -> Result<Outcome, WorkError> {
        let outcome = self.github.apply_with(effect, seen).await?;
        match (effect, &outcome) {
            (Effect::EnsureLabel { repo, label }, Outcome::Done) => {
                self.store
                    .set_label_ensured(repo.id, &label.name, true)
                    .await?;
            }
            (_, Outcome::Refused { reason }) => {
                tracing::warn!(%reason, "GitHub refuses a part of the plan; the rest goes on");
            }
            _ => {}
        }
        Ok(outcome)
    }

    fn governed(&self, state: &PullState, effect: &Effect) -> Result<(), WorkError> {
        let now = self.clock.now();
        self.calls.take(state.repo.installation, effect, now)?;
        self.writes
            .take(state.repo.id, state.number, now)
            .map_err(|wait| WorkError::Capped {
                cap: self.writes.cap(),
                wait,
            })
    }
}

/// The effect with what became known after it was planned.
fn finished(effect: &Effect, issue: &render::IssueOutcome, witness: Option<&Witness>) -> Effect {
    match (effect, witness) {
        (Effect::CheckRun(check), Some(witness)) => {
            Effect::CheckRun(render::finish_check_run(check.clone(), issue, witness))
        }
        _ => effect.clone(),
    }
}

fn issue_outcome(outcome: &Outcome) -> render::IssueOutcome {
    match outcome {
        Outcome::Issue { url, .. } => render::IssueOutcome::Opened { url: url.clone() },
        Outcome::Refused { reason } => render::IssueOutcome::Refused {
            reason: reason.clone(),
        },
        Outcome::Done
        | Outcome::CheckRun { .. }
        | Outcome::Comment { .. }
        | Outcome::Pull { .. }
        | Outcome::Stale { .. } => render::IssueOutcome::None,
    }
}

/// `quadrant_a_count` and its like, one for each classification.
fn counters(entries: &[EntryDraft]) -> Vec<String> {
    entries
        .iter()
        .filter_map(|entry| match &entry.body {
            Body::Classification { quadrant, .. } => Some(format!(
                "quadrant_{}_count",
                quadrant.letter().to_ascii_lowercase()
            )),
            Body::OwnerAnswer { .. }
            | Body::IssueOpened { .. }
            | Body::IssueClosed { .. }
            | Body::Superseded { .. }
            | Body::AnswerWithdrawn { .. }
            | Body::MergeGroup { .. }
            | Body::InstallationRemoved { .. }
            | Body::Merged { .. }
            | Body::MergeRefused { .. }
            | Body::Promoted { .. }
            | Body::Reverted { .. } => None,
        })
        .collect()
}
