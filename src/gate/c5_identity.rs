//! `C5`: every commit says which tool, model, session and machine made it, and for which task. Commits that merge the
//! base into the branch are left out: GitHub makes them.

use super::GateInput;
use super::condition::{Finding, listed};
use super::identity::{own_commits, quoted};
use crate::domain::{CommitFact, Known, is_unseen};
use crate::rules::trailers::{is_agent_session, is_task_ref, lookalikes, parse};

/// Is a value well formed?
type Format = fn(&str) -> bool;

/// The trailers, each with what a value must be.
const TRAILERS: [(&str, Format); 5] = [
    ("Agent-Tool", is_word),
    ("Agent-Model", is_word),
    ("Agent-Session", is_agent_session),
    ("Agent-Machine", is_word),
    ("Task-Ref", is_task_ref),
];

pub(super) fn judge(input: &GateInput<'_>) -> Finding {
    let commits = match own_commits(input.facts) {
        Known::Known(commits) => commits,
        Known::Unknown(cause) => return Finding::unknown(cause),
    };
    if commits.is_empty() {
        // Nothing but merges: what they bring in beyond the base has nobody's name on it.
        return Finding::fails("no commit says who made it: there are only merges of the base");
    }
    let faults: Vec<String> = commits
        .iter()
        .filter_map(|commit| {
            let faults = faults(commit);
            (!faults.is_empty()).then(|| format!("{}: {}", commit.sha.short(), faults.join(", ")))
        })
        .collect();
    if faults.is_empty() {
        return Finding::holds("every commit says who made it");
    }
    Finding::fails(listed(&faults))
}

/// What is wrong with the trailers of one commit: what is missing first, in one clause.
fn faults(commit: &CommitFact) -> Vec<String> {
    let trailers = parse(&commit.message);
    let mut missing = Vec::new();
    let mut faults = Vec::new();
    for (key, well_formed) in TRAILERS {
        let mut values = trailers
            .iter()
            .filter(|trailer| trailer.is(key))
            .map(|trailer| trailer.value.as_str());
        let Some(first) = values.next() else {
            if lookalikes(&commit.message, key).is_empty() {
                missing.push(format!("`{key}`"));
            } else {
                faults.push(format!("`{key}` does not stand in a block of trailers"));
            }
            continue;
        };
        let rest: Vec<&str> = values.collect();
        if let Some(bad) = std::iter::once(first)
            .chain(rest.iter().copied())
            .find(|value| !well_formed(value))
        {
            faults.push(format!("`{key}` is {}, which is malformed", quoted(bad)));
        } else if let Some(other) = rest.iter().find(|value| **value != first) {
            faults.push(format!(
                "`{key}` is both {} and {}",
                quoted(first),
                quoted(other)
            ));
        }
    }
    if !missing.is_empty() {
        faults.insert(0, format!("lacks {}", missing.join(", ")));
    }
    faults
}

/// One to a hundred visible characters.
fn is_word(value: &str) -> bool {
    (1..=100).contains(&value.chars().count()) && !value.chars().any(is_unseen)
}
