//! `C3`: the quadrant lets it merge, or an owner approved this very head.

use super::GateInput;
use super::condition::Finding;
use crate::domain::Quadrant;

pub(super) fn judge(input: &GateInput<'_>) -> Finding {
    match (input.quadrant, input.approved) {
        (Quadrant::A | Quadrant::B | Quadrant::C, _) => Finding::holds(format!(
            "quadrant {} merges without a question",
            input.quadrant
        )),
        (Quadrant::D, true) => Finding::holds("an owner approved this head"),
        (Quadrant::D, false) => {
            Finding::fails("quadrant D: an owner must approve this head in the decision Issue")
        }
    }
}
