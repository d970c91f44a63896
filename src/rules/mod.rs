//! The ordered registry of rules and the fold of their votes.

mod verdict;

pub use verdict::{Because, FileRow, Finding, RuleName, RuleReport, UserResult, Verdict};
