//! The merge gate: may this head be merged now, and if not, what is missing (docs/merge-gate.md).
//!
//! One file a condition. Pure: what was read comes in as values, "now" included. INVARIANT: a fact that is unknown
//! never holds; nothing is planned unless every blocking condition holds, and the plan names the head that was judged.

pub mod burn_in;
mod c1_ready;
mod c2_ci;
mod c3_approval;
mod c4_base;
mod c5_identity;
mod condition;
mod evidence;
mod facts;
mod identity;
mod l4_registry;
pub mod merge;
mod mergeable;
pub mod revalidation;
pub mod revert;

pub use condition::{Condition, ConditionId, Conditions, State};
pub use facts::GateFacts;
pub use identity::{Agent, agents};

use crate::domain::{Facts, Quadrant, Timestamp};
use crate::policy::{Policy, Severity};
use burn_in::BurnIn;
use condition::Finding;

/// The label by which an owner says that a pull request is ready.
pub const READY_LABEL: &str = "ready-to-merge";

/// Everything a judgement is made of.
#[derive(Debug, Clone, Copy)]
pub struct GateInput<'a> {
    /// What the rules looked at.
    pub facts: &'a Facts,
    /// What only the gate asks for.
    pub gate: &'a GateFacts,
    /// The verdict on `facts.head_sha`.
    pub quadrant: Quadrant,
    /// Did an owner approve exactly this head and question?
    pub approved: bool,
    /// The operator's configuration.
    pub policy: &'a Policy,
    /// The clocks of the agents.
    pub burn_in: &'a BurnIn,
    /// The present moment.
    pub now: Timestamp,
}

/// Judges every condition; none hides another.
#[must_use]
pub fn judge(input: &GateInput<'_>) -> Conditions {
    let all = ConditionId::ALL
        .into_iter()
        .map(|id| {
            let (finding, own) = one(id, input);
            let severity = id.severity(&input.policy.skills, own);
            if id.is_disabled(&input.policy.skills) {
                return Condition::new(id, severity, Finding::off("switched off in `skills.yml`"));
            }
            Condition::new(id, severity, finding)
        })
        .collect();
    Conditions::new(input.facts.head_sha.clone(), all)
}

/// What a condition found, and how much it weighs unless the operator says otherwise.
fn one(id: ConditionId, input: &GateInput<'_>) -> (Finding, Severity) {
    match id {
        ConditionId::Mergeable => (mergeable::judge(input), Severity::P0),
        ConditionId::Ready => (c1_ready::judge(input), Severity::P0),
        ConditionId::Ci => (c2_ci::judge(input), Severity::P0),
        ConditionId::Approval => (c3_approval::judge(input), Severity::P0),
        ConditionId::Base => (c4_base::judge(input), Severity::P0),
        ConditionId::Identity => (c5_identity::judge(input), Severity::P0),
        ConditionId::Registry => l4_registry::judge(input),
        ConditionId::Evidence => evidence::judge(input),
    }
}
