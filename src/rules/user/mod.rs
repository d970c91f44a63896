//! Runs the user rules, after the built-in ones.
//!
//! What a rule may look at is in [`view`], conditions are in [`declared`], scripts in [`script`]. INVARIANT: a rule
//! passes, raises, or votes D because it failed: for an error, a bound that was reached, a panic, or a fact that is
//! not known and that it asks for.

mod declared;
mod rehearsal;
mod script;
mod view;

pub use rehearsal::rehearse;

use super::text::{clipped, one_line};
use super::verdict::{Finding, RuleName, RuleReport, UserResult};
use crate::domain::{Facts, Quadrant};
use crate::policy::Policy;
use crate::policy::user_rules::{Body, UserRule};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use view::View;

/// The most characters of what a rule says.
const MAX_REASON: usize = 400;

/// How a rule ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Ended {
    /// It has nothing to say.
    Passed,
    /// It votes.
    Raised(Quadrant, String),
    /// It could not be run to its end, or a fact is missing.
    Failed(String),
}

/// Runs every user rule in order. Empty when there are none.
pub(super) fn reports(facts: &Facts, policy: &Policy) -> Vec<RuleReport> {
    let view = OnceLock::new();
    let rules = policy.user_rules.iter();
    rules
        .map(|rule| {
            let seen = || Arc::clone(view.get_or_init(|| Arc::new(View::of(facts, policy))));
            // Rules are pure: nothing of theirs survives a panic, so nothing can be left half done.
            let ended = catch_unwind(AssertUnwindSafe(|| run(rule, &seen())));
            RuleReport {
                rule: RuleName::user(&rule.name),
                finding: finding(ended.unwrap_or_else(|panic| Ended::Failed(words(&*panic)))),
            }
        })
        .collect()
}

fn run(rule: &UserRule, view: &Arc<View>) -> Ended {
    match &rule.body {
        Body::Declared(declared) => declared::run(declared, view),
        Body::Script(script) => script::run(script, Arc::clone(view)).0,
    }
}

fn finding(ended: Ended) -> Finding {
    let (result, quadrant, reason) = match ended {
        Ended::Passed => (UserResult::Pass, None, None),
        Ended::Raised(quadrant, why) => (UserResult::Raise, Some(quadrant), Some(why)),
        Ended::Failed(why) => (UserResult::Error, Some(Quadrant::D), Some(why)),
    };
    Finding::User {
        result,
        quadrant,
        reason: reason.map(|reason| clipped(&reason, MAX_REASON)),
    }
}

/// What a panic said.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let why = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    format!("the rule failed: {}", one_line(why))
}

#[cfg(test)]
mod tests;
