//! Every sentence the bot says on GitHub, in English and Korean; nothing is said elsewhere.
//!
//! Pure. May name what `plan` may name. INVARIANT: text of a pull request passes `escape`, every text fits GitHub's
//! limits in bytes, the verdict comes first.

mod after_merge;
pub(crate) mod check;
mod comments;
mod escape;
pub(crate) mod evidence;
pub mod gate;
pub(crate) mod issue;
mod limit;
mod texts;

pub use after_merge::{Merged, TakingBack, incident_body, incident_news, incident_title, revert};
pub use check::{IssueOutcome, finish_check_run};
pub use comments::{
    clarification, closed, integrity_failed, key_marker, merge_group, passively_closed,
    rejected_pull, stale_approval, superseded,
};
pub use issue::record;
pub use texts::Language;

#[cfg(test)]
mod gate_tests;
#[cfg(test)]
mod tests;
