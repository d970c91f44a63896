//! Integration tests: one binary, one module a topic.
// The lints are for the product; a test that meets the unexpected shall panic, in its helper functions too.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod audit;
mod audit_cli;
mod classifier;
mod classifier_reports;
mod classifier_trailers;
mod inbox;
mod inbox_marker;
mod plan;
mod plan_passive;
