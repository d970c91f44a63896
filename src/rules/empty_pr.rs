//! `empty_pr`: a pull request that changes no file but asks to be merged is worth a question.

use super::{Finding, Outcome, Rule};
use crate::domain::{Facts, Known, Quadrant};
use crate::policy::Policy;

pub(super) const RULE: Rule = Rule {
    id: "empty_pr",
    votes: &[Quadrant::D],
    when: "no file is changed",
    run,
};

fn run(facts: &Facts, _: &Policy) -> Outcome {
    match &facts.files {
        Known::Known(files) if files.is_empty() => {
            Finding::vote_for(Quadrant::D, "no file is changed")
        }
        Known::Known(_) => Finding::abstain(),
        Known::Unknown(_) if facts.changed_files == 0 => {
            Finding::vote_for(Quadrant::D, "the pull request says that it changes no file")
        }
        // `facts_incomplete` votes D for unknown files.
        Known::Unknown(_) => Finding::abstain_because("files unknown"),
    }
    .into()
}
