//! The words of the product: ids, axes and quadrants, facts, triggers, state, effects.
//!
//! Plain data, no I/O, no clock, no environment. Every other module may name this one; this one names
//! nobody. A fact that could not be fetched is [`Known::Unknown`] with its cause, never an empty list.

mod effect;
mod evidence;
mod facts;
mod gate_memory;
mod ids;
mod known;
mod merge;
mod quadrant;
mod revert;
mod state;
mod text;
mod time;
mod trigger;

pub use effect::{
    AnnotationLevel, CheckAction, CheckAnnotation, CheckConclusion, CheckOutput, CheckRunEffect,
    CommentEffect, CommentMode, Effect, LabelSpec, MergeEffect, OpenIssueEffect, Outcome,
};
pub use evidence::{EvidenceEntry, EvidenceState, LedgerEntry};
pub use facts::{
    Account, AccountType, CheckRunFact, CommitFact, Facts, FactsError, FileChange, FileStatus,
    LabelAction, LabelEvent,
};
pub use gate_memory::{FailedOrder, GateMemory, Ordered};
pub use ids::{
    AccountId, AppId, CheckRunId, CommentId, DeliveryId, IdError, InstallationId, IssueNumber,
    PullNumber, RepoId, RepoName, RepoRef, Sha,
};
pub use known::Known;
pub use merge::{MergeMethod, StatusFact};
pub use quadrant::{Axes, Criticality, Quadrant, Reversibility};
pub use revert::{AfterMerge, Blob, Incident, RevertEffect, Reverting, Tree, TreeChange};
pub use state::{
    Answered, Asked, Choice, CommentEdit, InboxMemory, IssueKind, IssueRef, Press, PullState,
    Witness,
};
pub use text::is_unseen;
pub use time::{Timestamp, TimestampError};
pub use trigger::{Subject, Trigger};
