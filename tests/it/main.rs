//! Integration tests.

mod fake_github;
