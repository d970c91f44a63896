//! Integration tests: one binary, one module a topic.
// The lints are for the product; a test that meets the unexpected shall panic, in its helper functions too.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod classifier;
mod classifier_reports;
mod classifier_trailers;
mod cli;
mod cli_config;
mod cli_git_range;
mod cli_verdicts;
mod config_errors;
mod config_policy;
mod config_secrets;
