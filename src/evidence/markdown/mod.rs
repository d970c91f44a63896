//! Ledgers as Markdown: read whatever agents write, write one canonical form.
//!
//! INVARIANT: reading never fails and never panics; what is written is read back as the same model. Sections are
//! found by name in either language, in any order and at any level; unknown sections are kept byte for byte.

mod blocks;
mod checkpoint;
mod content;
mod entries;
mod label;
mod literal;
mod patch;
mod read;
mod write;

pub use patch::{language_of, patch};
pub use read::read;
pub use write::{section, write};
