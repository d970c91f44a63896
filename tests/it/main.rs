//! Integration tests: one binary, one module a topic.
// Clippy's permissions for tests reach only functions marked as tests; here everything is one.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

mod ingress;
mod ingress_events;
mod store_contract;
mod store_sqlite;
