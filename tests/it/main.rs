//! The integration tests: one binary, one module a subject.

mod architecture;
mod journey;
mod world;
//! Integration tests: one binary, one module a topic.

mod classifier;
mod classifier_reports;
mod classifier_trailers;
