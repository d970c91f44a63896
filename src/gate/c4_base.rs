//! `C4`: the head contains the base branch's tip, so that what was checked is what will stand on the base.

use super::GateInput;
use super::condition::Finding;
use super::identity::quoted;
use crate::domain::Known;
use crate::rules::clipped;

pub(super) fn judge(input: &GateInput<'_>) -> Finding {
    let base = quoted(&input.facts.base_ref);
    match &input.gate.behind_by {
        Known::Known(0) => Finding::holds(format!("the head contains the tip of {base}")),
        Known::Known(1) => Finding::fails(format!("1 commit behind {base}: update the branch")),
        Known::Known(behind) => {
            Finding::fails(format!("{behind} commits behind {base}: update the branch"))
        }
        Known::Unknown(cause) => Finding::unknown(format!(
            "it is unknown whether the head contains the tip of {base}: {}",
            clipped(cause, 200)
        )),
    }
}
