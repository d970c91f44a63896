//! Carries out a stored plan: the audit entries first, then the effects in order, each noted before and after.
//!
//! INVARIANT: no effect begins before the plan's entries are on disk. A plan that was interrupted goes on where it
//! stopped; an effect that had begun is looked for before it is done again.

use super::{Bench, WorkError};
use crate::audit::EntryDraft;
use crate::domain::{Effect, Outcome, PullState};
use crate::github::Seen;
use crate::plan;
use crate::store::{Claim, EffectStatus, StoredPlan};

impl Bench {
    /// Does what is left of the plan and returns the state to remember.
    pub(super) async fn carry_out(
        &self,
        claim: &Claim,
        plan: &StoredPlan,
        seen: &Seen,
    ) -> Result<PullState, WorkError> {
        let witness = match &plan.witness {
            Some(witness) => Some(witness.clone()),
            None => {
                let entries: Vec<EntryDraft> = serde_json::from_value(plan.entries.clone())
                    .map_err(|error| WorkError::Broken(format!("a stored plan is not readable: {error}")))?;
                let written = self.audit.append(entries).await?;
                self.at("audit-written");
                if let Some(witness) = &written {
                    self.store.plan_audited(claim, witness).await?;
                    self.metrics.audit_entry();
                }
                self.at("audit-noted");
                written
            }
        };
        let mut outcomes = Vec::with_capacity(plan.effects.len());
        for (index, planned) in plan.effects.iter().enumerate() {
            let outcome = match &planned.status {
                EffectStatus::Done(outcome) => outcome.clone(),
                EffectStatus::Planned | EffectStatus::Started => {
                    let effect = plan::render::finish(&planned.effect, &plan.effects_done(&outcomes), witness.as_ref());
                    self.store.effect_started(claim, index).await?;
                    self.at("effect-started");
                    let outcome = self.apply(&effect, seen).await?;
                    self.at("effect-applied");
                    self.store.effect_done(claim, index, &outcome).await?;
                    self.at("effect-noted");
                    outcome
                }
            };
            outcomes.push(outcome);
        }
        let effects: Vec<&Effect> = plan.effects.iter().map(|planned| &planned.effect).collect();
        Ok(plan::settle(&plan.state_after, &effects, &outcomes, witness.as_ref()))
    }

    async fn apply(&self, effect: &Effect, seen: &Seen) -> Result<Outcome, WorkError> {
        if let Effect::EnsureLabel { repo, label } = effect {
            if self.store.label_ensured(repo.id, &label.name).await? {
                return Ok(Outcome::Done);
            }
            let outcome = self.github.apply_with(effect, seen).await?;
            if outcome == Outcome::Done {
                self.store.set_label_ensured(repo.id, &label.name, true).await?;
            }
            return Ok(outcome);
        }
        let outcome = self.github.apply_with(effect, seen).await?;
        if let Outcome::Refused { reason } = &outcome {
            tracing::warn!(%reason, "GitHub refuses a part of the plan; the rest goes on");
        }
        Ok(outcome)
    }
}
