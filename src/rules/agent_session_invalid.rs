//! `agent_session_invalid`: a commit that names its session must name it in the one right form. Absence is
//! not malformed; the merge gate asks for presence.

use super::text::clipped;
use super::trailers::{is_agent_session, lookalikes, parse};
use super::{Finding, Outcome, Rule};
use crate::domain::{CommitFact, Facts, Known, Quadrant};
use crate::policy::Policy;

pub(super) const RULE: Rule = Rule {
    id: "agent_session_invalid",
    votes: &[Quadrant::D],
    when: "a commit carries a malformed `Agent-Session` trailer",
    run,
};

const KEY: &str = "Agent-Session";

fn run(facts: &Facts, _: &Policy) -> Outcome {
    let commits = match &facts.commits {
        Known::Known(commits) => commits,
        // `facts_incomplete` votes D for unknown commits.
        Known::Unknown(_) => return Finding::abstain_because("commits unknown").into(),
    };
    let mut faults = commits
        .iter()
        .filter_map(|commit| Some((commit, fault(commit)?)));
    let Some((commit, fault)) = faults.next() else {
        return Finding::abstain().into();
    };
    let more = match faults.count() {
        0 => String::new(),
        more => format!(" (and {more} more commits)"),
    };
    Finding::vote_for(
        Quadrant::D,
        format!("commit {}: {fault}{more}", commit.sha.short()),
    )
    .into()
}

/// What is wrong with the session of one commit.
fn fault(commit: &CommitFact) -> Option<String> {
    if let Some(line) = lookalikes(&commit.message, KEY).first() {
        return Some(format!(
            "`{}` does not stand in a trailer block, git does not read it",
            clipped(line, 80)
        ));
    }
    let trailers = parse(&commit.message);
    let mut values = trailers
        .iter()
        .filter(|trailer| trailer.is(KEY))
        .map(|trailer| trailer.value.as_str());
    let first = values.next()?;
    if let Some(bad) = std::iter::once(first)
        .chain(values.clone())
        .find(|value| !is_agent_session(value))
    {
        return Some(format!("`{KEY}: {}` is malformed", clipped(bad, 80)));
    }
    let other = values.find(|value| *value != first)?;
    Some(format!("`{KEY}` is both `{first}` and `{other}`"))
}
