//! The audit log: typed entries, an append-only chain of JSON lines, and its readers.
//!
//! Files only: no network, no store, no clock ("now" comes with the draft). May name `domain` and the types of
//! `rules` and `inbox`. INVARIANT: an entry is whole on disk before [`AuditLog::append`] returns its witness,
//! and no entry is ever written over. The format is a promise, see `docs/audit-log.md`.

mod chain;
mod entry;
mod export;
mod filter;
mod lines;
mod log;
mod place;
mod query;
mod record;
mod segments;
mod verify;

pub use chain::{GENESIS, is_sound};
pub use entry::{About, Body, Closing, EntryDraft, text_of_bytes};
pub use export::{ExportError, MANIFEST, Manifest, Range, export};
pub use filter::{Filter, Sieve};
pub use log::{AuditError, AuditLog, Batch, Options, Warning};
pub use place::{Back, Onward, Place, entry_at, seq_of};
pub use query::{ReadError, Records, newest};
pub use record::Record;
pub use segments::{ACTIVE_FILE, LogFile, log_files};
pub use verify::{Expected, Fault, Finding, Intact, Progress, VerifyError, verify, verify_chain};
