//! `classifier_publisher_invalid`: somebody else published under the name of the verdict. That is D, whatever
//! it says and whether or not it is completed.

use super::publisher::{CHECK_NAME, is_canonical};
use super::text::clipped;
use super::{Finding, Outcome, Rule};
use crate::domain::{CheckRunFact, Facts, Known, Quadrant};
use crate::policy::Policy;

pub(super) const RULE: Rule = Rule {
    id: "classifier_publisher_invalid",
    votes: &[Quadrant::D],
    when: "a check-run `classifier-judgment` on the head is by another App, or by an unknown one",
    run,
};

fn run(facts: &Facts, policy: &Policy) -> Outcome {
    let runs = match &facts.check_runs {
        Known::Known(runs) => runs,
        // `facts_incomplete` votes D for unknown check-runs.
        Known::Unknown(_) => return Finding::abstain_because("check-runs unknown").into(),
    };
    // Without a configured publisher every App is another App.
    let foreign = runs
        .iter()
        .filter(|run| run.name == CHECK_NAME)
        .find(|run| {
            policy
                .publisher
                .as_ref()
                .is_none_or(|publisher| !is_canonical(run, publisher))
        });
    match foreign {
        Some(run) => Finding::vote_for(
            Quadrant::D,
            format!(
                "`{CHECK_NAME}` is published by {}, not by the configured App",
                publisher_of(run)
            ),
        ),
        None => Finding::abstain(),
    }
    .into()
}

fn publisher_of(run: &CheckRunFact) -> String {
    match (&run.app_slug, run.app_id) {
        (Some(slug), Some(id)) => format!("App `{}` ({id})", clipped(slug, 60)),
        (Some(slug), None) => format!("App `{}` (id unknown)", clipped(slug, 60)),
        (None, Some(id)) => format!("App {id}"),
        (None, None) => "an unknown App".to_owned(),
    }
}
