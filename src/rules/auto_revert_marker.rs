//! `auto_revert_marker`: a verified `decision:auto-revert` label votes C, so that a recovery lands with an
//! audit. It lowers nothing: a revert that is D by its content stays D.

use super::label_provenance::{Provenance, honoured};
use super::{Finding, Outcome, Rule};
use crate::domain::{Facts, Quadrant};
use crate::policy::Policy;

pub(super) const RULE: Rule = Rule {
    id: "auto_revert_marker",
    votes: &[Quadrant::C],
    when: "the label `decision:auto-revert` is present and verified",
    run,
};

/// The label, compared without case as GitHub does.
const LABEL: &str = "decision:auto-revert";

fn run(facts: &Facts, policy: &Policy) -> Outcome {
    match honoured(LABEL, facts, policy) {
        Provenance::Verified { actor, at, .. } => {
            Finding::vote_for(Quadrant::C, format!("`{LABEL}` set by `{actor}` at {at}"))
        }
        Provenance::Absent => Finding::abstain(),
        Provenance::Unverified { reason } => {
            Finding::abstain_because(format!("`{LABEL}` is not honoured: {reason}"))
        }
    }
    .into()
}
