//! `bot_self_repo`: the bot does not judge itself. Every pull request to its own repository is D.

use super::{Finding, Outcome, Rule};
use crate::domain::{Facts, Quadrant};
use crate::policy::Policy;

pub(super) const RULE: Rule = Rule {
    id: "bot_self_repo",
    votes: &[Quadrant::D],
    when: "the pull request is to the bot's own repository",
    run,
};

fn run(facts: &Facts, policy: &Policy) -> Outcome {
    // Names compare without case; the id also catches a repository that was renamed since.
    if facts.repo == policy.bot.repo {
        return Finding::vote_for(
            Quadrant::D,
            format!("`{}` is the bot's own repository", facts.repo),
        )
        .into();
    }
    match (policy.bot.repo_id, facts.repo_id) {
        (Some(own), Some(id)) if own == id => Finding::vote_for(
            Quadrant::D,
            format!(
                "repository {id} is the bot's own, now named `{}`",
                facts.repo
            ),
        ),
        (Some(own), None) => Finding::vote_for(
            Quadrant::D,
            format!("the repository's id is unknown, it may be {own}, the bot's own"),
        ),
        (Some(_) | None, Some(_)) | (None, None) => Finding::abstain(),
    }
    .into()
}
