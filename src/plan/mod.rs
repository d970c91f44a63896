//! From decisions and prior state to effects, as plain data. [`render`] holds every sentence the bot says.
//!
//! Pure: "now", the nonce and the key are arguments. INVARIANT: a plan that would change nothing has no entry and no
//! effect; every effect that shows a decision comes with the entry that justifies it, or follows one already written.

mod after_merge;
mod closed;
mod deciding;
mod evaluation;
pub mod evidence;
mod gate;
mod key;
pub mod labels;
mod passive;
pub mod render;
mod settle;

pub use after_merge::{IncidentInput, REVERT_BRANCH, Undo, incident, incident_news};
pub use closed::{ClosedInput, closed};
pub use evaluation::{EvaluationInput, Issues, evaluation};
pub use evidence::{EVIDENCE_CHECK_NAME, Evidence, EvidenceInput, LedgerRead, LedgerText};
pub use gate::{GateInput, gate};
pub use key::check_run as check_run_key;
pub use key::evidence_check_run as evidence_check_run_key;
pub use passive::{PassiveInput, passive_close};
pub use settle::settle;

use crate::audit::EntryDraft;
use crate::domain::{Effect, PullState};

/// The check-run that gates the merge.
pub const CHECK_RUN_NAME: &str = "L1.C3";

/// What is to be written and done, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Our id of the decision; the entries' ids begin with it. The same inputs and prior state give the same id, so that
    /// after a crash the entry is found instead of written again.
    pub decision_id: String,
    /// Audit entries; on disk before the first effect.
    pub entries: Vec<EntryDraft>,
    /// What to make true on GitHub, in order.
    pub effects: Vec<Effect>,
    /// The state once the entries are written; outcomes of effects are added by [`settle`], and the writer adds the
    /// witness of the last entry.
    pub state_after: PullState,
}

impl Plan {
    /// Is there nothing to write and nothing to do?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.effects.is_empty()
    }
}

#[cfg(test)]
mod tests;
