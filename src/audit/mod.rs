//! The audit log: typed entries, an append-only chain of JSON lines, and its readers.
//!
//! Files only: no network, no store, no clock ("now" comes with the draft). May name `domain` and the types of
//! `rules` and `inbox`. INVARIANT: an entry is whole on disk before [`AuditLog::append`] returns its witness,
//! and no entry is ever written over. The format is a promise, see `docs/audit-log.md`.

mod chain;
mod entry;
mod lines;
mod log;
mod query;
mod segments;
mod verify;

pub use chain::GENESIS;
pub use entry::{About, Body, Closing, EntryDraft, text_of_bytes};
pub use log::{AuditError, AuditLog, Options, Warning};
pub use query::{Columns, Filter, ReadError, Record, Records, newest};
pub use segments::{ACTIVE_FILE, log_files};
pub use verify::{Fault, Finding, Intact, VerifyError, verify};
