//! Integration tests.
mod github_client;
mod github_client_read;
mod github_client_stub;
mod github_client_write;
