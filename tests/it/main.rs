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
//! Integration tests: one binary, one module a subject.

mod audit;
mod audit_cli;
mod inbox;
mod inbox_marker;
//! Integration tests: one binary, one module a topic.

mod architecture;
mod classifier;
mod classifier_reports;
mod classifier_trailers;
mod github_client;
mod github_client_read;
mod github_client_stub;
mod github_client_write;
mod ingress;
mod ingress_events;
// mod journey;
mod store_contract;
mod store_sqlite;
// mod world;
//! Integration tests.

mod fake_github;
