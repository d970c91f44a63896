//! Integration tests.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops where something is not as it should be, in its helpers too"
)]

mod github_client;
mod github_client_read;
mod github_client_stub;
mod github_client_write;
