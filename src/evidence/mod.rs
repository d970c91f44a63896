//! The evidence gate: a ledger as types, as Markdown and as JSON, and the judgement of what it carries.
//!
//! Pure: no I/O, no clock. May name `domain` and `policy`. INVARIANT: a ledger is a record, not evidence; no status
//! or disposition it declares is believed further than the record beneath it, and only its content is judged.

mod assent;
mod entry;
pub mod json;
mod judge;
mod ledger;
pub mod markdown;
mod record;
pub mod sarif;
pub mod scope;
mod sections;
mod text;
mod words;

pub use assent::{general_phrase, is_approve};
pub use judge::{Code, Context, Finding, Judgement, Severity, Standing, duplicates, judge};
pub use ledger::{
    Approval, Assumption, Checkpoint, Claim, Extra, Ledger, Other, Record, Remark, RiskSection,
    Span, Spans,
};
pub use record::{CheckpointRecord, RecordParts, ShapeProblem, WORDINGS, Wording};
pub use scope::is_ledger_path;
pub use sections::{Language, Section};
pub use text::{Item, Place, Text};
pub use words::{
    CheckpointStatus, Disposition, EvidenceType, Mandatory, Needed, Phase, Risk, Stated, Status,
    Vocabulary, known,
};
