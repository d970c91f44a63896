//! Integration tests: one binary, one module a topic.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)] // a test that cannot go on must stop; clippy knows test functions, not what they call

mod classifier;
mod classifier_reports;
mod classifier_trailers;
