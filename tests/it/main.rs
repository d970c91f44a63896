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
