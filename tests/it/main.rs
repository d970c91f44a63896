//! The integration tests: one binary, one module a subject.

mod architecture;
mod journey;
mod world;
//! Integration tests: one binary, one module a topic.

mod classifier;
mod classifier_reports;
mod classifier_trailers;
//! Integration tests.
mod github_client;
mod github_client_read;
mod github_client_stub;
mod github_client_write;
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
