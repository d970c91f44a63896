//! The ordered registry of rules and the fold of their votes.
//!
//! One file a rule. INVARIANT: every rule runs and its report is kept; the quadrant is the maximum of the
//! votes; a rule that fails votes D. [`evaluate`] is a pure function of facts and policy.

mod agent_session_invalid;
mod auto_revert_marker;
mod bot_self_repo;
mod classifier_publisher_invalid;
mod empty_pr;
mod facts_incomplete;
pub mod label_provenance;
mod path_classifier_default;
mod published_verdict;
mod publisher;
mod reasoning;
mod record;
mod text;
pub mod trailers;
pub mod user;
mod verdict;

pub use record::{Basis, Difference, Explanation, VoteChange};
pub use text::{clipped, one_line};
pub use verdict::{Because, FileRow, Finding, RuleName, RuleReport, UserResult, Verdict};

use crate::domain::{Facts, Quadrant};
use crate::policy::Policy;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A built-in rule: its id, written once, and what it does.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The word that names it in its file, its cases, its docs heading, the check-run and the log.
    pub id: &'static str,
    /// The quadrants it can vote for.
    pub votes: &'static [Quadrant],
    /// When it votes, in one clause: the rule's line in `docs/rules.md`.
    pub when: &'static str,
    run: fn(&Facts, &Policy) -> Outcome,
}

/// What a rule found, with the rows of the explanation where it looked at files.
struct Outcome {
    finding: Finding,
    files: Vec<FileRow>,
}

impl From<Finding> for Outcome {
    fn from(finding: Finding) -> Self {
        Self {
            finding,
            files: Vec::new(),
        }
    }
}

/// The built-in rules in chain order.
pub const BUILT_IN: &[Rule] = &[
    path_classifier_default::RULE,
    published_verdict::RULE,
    bot_self_repo::RULE,
    empty_pr::RULE,
    auto_revert_marker::RULE,
    agent_session_invalid::RULE,
    classifier_publisher_invalid::RULE,
    facts_incomplete::RULE,
];

/// Runs every rule in chain order and folds the votes.
#[must_use]
pub fn evaluate(facts: &Facts, policy: &Policy) -> Verdict {
    evaluate_with(BUILT_IN, facts, policy)
}

fn evaluate_with(chain: &[Rule], facts: &Facts, policy: &Policy) -> Verdict {
    let mut reports = Vec::with_capacity(chain.len());
    let mut files = Vec::new();
    for rule in chain {
        let outcome = run(rule, facts, policy);
        files.extend(outcome.files);
        reports.push(RuleReport {
            rule: RuleName::built_in(rule.id),
            finding: outcome.finding,
        });
    }
    reports.extend(user::reports(facts, policy));
    let reasoning = reasoning::line(&reports, &files);
    Verdict::fold(reports, files, reasoning)
}

/// A rule that panics votes D: its silence would be a vote for nothing.
fn run(rule: &Rule, facts: &Facts, policy: &Policy) -> Outcome {
    // Rules are pure: nothing of theirs survives a panic, so nothing can be left half done.
    catch_unwind(AssertUnwindSafe(|| (rule.run)(facts, policy))).unwrap_or_else(|panic| {
        let why = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        Finding::vote_for(Quadrant::D, format!("the rule failed: {}", one_line(why))).into()
    })
}

#[cfg(test)]
mod tests;
