//! Integration tests: one module a subject, one binary, so that the crate is linked once.
// The lints are for the product; a test that meets the unexpected shall panic, in its helper functions too.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod cli;
mod cli_config;
mod cli_git_range;
mod config_errors;
mod config_policy;
mod config_secrets;
