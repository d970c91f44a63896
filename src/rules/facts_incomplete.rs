//! `facts_incomplete`: what was not seen could be anything, so it is D, with the cause.

use super::text::clipped;
use super::{Finding, Outcome, Rule};
use crate::domain::{Facts, Known, Quadrant};
use crate::policy::Policy;
use foldhash::fast::RandomState;
use std::collections::HashSet;

pub(super) const RULE: Rule = Rule {
    id: "facts_incomplete",
    votes: &[Quadrant::D],
    when: "something the rules look at could not be read to its end",
    run,
};

fn run(facts: &Facts, _: &Policy) -> Outcome {
    let causes: Vec<String> = [head(facts), files(facts), commits(facts), check_runs(facts)]
        .into_iter()
        .flatten()
        .collect();
    if causes.is_empty() {
        Finding::abstain().into()
    } else {
        Finding::vote_for(Quadrant::D, causes.join("; ")).into()
    }
}

fn head(facts: &Facts) -> Option<String> {
    let moved_to = facts.head_moved_to.as_ref()?;
    Some(format!(
        "the head moved from {} to {} while it was read",
        facts.head_sha.short(),
        moved_to.short()
    ))
}

fn files(facts: &Facts) -> Option<String> {
    let files = match &facts.files {
        Known::Known(files) => files,
        Known::Unknown(cause) => return Some(format!("files unknown: {}", clipped(cause, 200))),
    };
    // Pages that shifted while they were read list one file twice and another never.
    let distinct: HashSet<_, RandomState> = files
        .iter()
        .map(|file| (file.path.as_str(), &file.status))
        .collect();
    if distinct.len() < files.len() {
        return Some(format!(
            "{} files listed, {} of them different: the list shifted while it was read",
            files.len(),
            distinct.len()
        ));
    }
    mismatch("files", files.len(), "changes", facts.changed_files)
}

fn commits(facts: &Facts) -> Option<String> {
    let commits = match &facts.commits {
        Known::Known(commits) => commits,
        Known::Unknown(cause) => return Some(format!("commits unknown: {}", clipped(cause, 200))),
    };
    let distinct: HashSet<_> = commits.iter().map(|commit| &commit.sha).collect();
    mismatch("commits", distinct.len(), "has", facts.commit_count)
}

/// Fewer than announced is unseen; more is another state than the one that was counted.
fn mismatch(what: &str, listed: usize, verb: &str, announced: u64) -> Option<String> {
    let same = u64::try_from(listed).is_ok_and(|listed| listed == announced);
    (!same).then(|| format!("{listed} {what} listed, the pull request says it {verb} {announced}"))
}

fn check_runs(facts: &Facts) -> Option<String> {
    let cause = facts.check_runs.cause()?;
    Some(format!("check-runs unknown: {}", clipped(cause, 200)))
}
