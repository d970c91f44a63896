//! `C1`: an owner has set `ready-to-merge` for the present head. Not the bot: nobody may say of his own work that it
//! is ready.

use super::condition::Finding;
use super::{GateInput, READY_LABEL};
use crate::domain::Known;
use crate::rules::label_provenance::{Authority, Provenance, honoured};

pub(super) fn judge(input: &GateInput<'_>) -> Finding {
    let again = format!("an owner must set `{READY_LABEL}` again");
    match honoured(READY_LABEL, input.facts, input.policy) {
        Provenance::Verified {
            actor,
            by: Authority::Owner,
            at,
        } => Finding::holds(format!("`{READY_LABEL}` was set by `{actor}` at {at}")),
        Provenance::Verified {
            actor,
            by: Authority::Bot,
            ..
        } => Finding::fails(format!(
            "`{READY_LABEL}` was set by `{actor}`, the bot itself: {again}"
        )),
        Provenance::Absent => {
            Finding::fails(format!("an owner must set the label `{READY_LABEL}`"))
        }
        Provenance::Unverified { reason } => {
            let found = match &input.facts.label_events {
                Known::Known(_) => Finding::fails,
                Known::Unknown(_) => Finding::unknown,
            };
            found(format!(
                "`{READY_LABEL}` is not honoured: {reason}; {again}"
            ))
        }
    }
}
