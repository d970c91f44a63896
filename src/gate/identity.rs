//! Which agent made which commit, by the trailers of the commits.
//!
//! INVARIANT: a commit is left out only when it is proved to merge the base into the branch: all its further parents
//! lie outside a list of commits that is whole, hence on the base.

use crate::domain::{CommitFact, Facts, Known, Sha};
use crate::rules::trailers::{Trailer, parse};
use crate::rules::{clipped, one_line};

/// A tool with its model: the identity whose clock runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Agent {
    /// `Agent-Tool`.
    pub tool: String,
    /// `Agent-Model`.
    pub model: String,
}

impl Agent {
    /// The key of its clock, such as `codex/gpt-5`.
    #[must_use]
    pub fn id(&self) -> String {
        clipped(&format!("{}/{}", self.tool, self.model), 200)
    }
}

/// The agents that the commits name, in order, each once; a commit that names none, or two, adds none.
#[must_use]
pub fn agents(facts: &Facts) -> Known<Vec<Agent>> {
    match own_commits(facts) {
        Known::Unknown(cause) => Known::Unknown(cause),
        Known::Known(commits) => {
            let mut agents = Vec::new();
            for agent in commits.into_iter().filter_map(agent) {
                if !agents.contains(&agent) {
                    agents.push(agent);
                }
            }
            Known::Known(agents)
        }
    }
}

/// The agent of one commit.
pub(super) fn agent(commit: &CommitFact) -> Option<Agent> {
    let trailers = parse(&commit.message);
    Some(Agent {
        tool: only(&trailers, "Agent-Tool")?.to_owned(),
        model: only(&trailers, "Agent-Model")?.to_owned(),
    })
}

/// The one value of a trailer; `None` when it is missing, empty or said differently twice.
fn only<'a>(trailers: &'a [Trailer], key: &str) -> Option<&'a str> {
    let mut values = trailers
        .iter()
        .filter(|trailer| trailer.is(key))
        .map(|trailer| trailer.value.as_str());
    let first = values.next().filter(|value| !value.is_empty())?;
    values.all(|value| value == first).then_some(first)
}

/// The commits that have to say who made them.
pub(super) fn own_commits(facts: &Facts) -> Known<Vec<&CommitFact>> {
    let commits = match &facts.commits {
        Known::Known(commits) => commits,
        Known::Unknown(cause) => {
            return Known::Unknown(format!("the commits are unknown: {}", clipped(cause, 200)));
        }
    };
    if u64::try_from(commits.len()).ok() != Some(facts.commit_count) {
        return Known::Unknown(format!(
            "{} of {} commits were listed",
            commits.len(),
            facts.commit_count
        ));
    }
    let listed = |sha: &Sha| commits.iter().any(|commit| commit.sha == *sha);
    let merges_base = |commit: &CommitFact| {
        let mut further = commit.parents.iter().skip(1).peekable();
        further.peek().is_some() && further.all(|parent| !listed(parent))
    };
    Known::Known(
        commits
            .iter()
            .filter(|commit| !merges_base(commit))
            .collect(),
    )
}

/// A foreign word in backticks.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", clipped(&one_line(text).replace('`', "'"), 80))
}
