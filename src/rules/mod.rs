//! The ordered registry of rules and the fold of their votes.

mod verdict;

pub use verdict::{Because, FileRow, Finding, RuleName, RuleReport, UserResult, Verdict};

/// Placeholder.
pub fn evaluate(_: &crate::domain::Facts, _: &crate::policy::Policy) -> Verdict {
    Verdict::fold(Vec::new(), Vec::new(), String::new())
}
