//! Integration tests: one module a subject, one binary, so that the crate is linked once.

mod cli;
mod cli_config;
mod cli_git_range;
mod config_errors;
