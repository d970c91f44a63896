//! The integration tests: one binary, one module a subject.
// Clippy's permissions for tests reach only functions marked as tests; here everything is one.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

mod architecture;
mod evidence;
mod evidence_cli;
mod evidence_generated;
