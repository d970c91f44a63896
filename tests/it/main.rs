//! Integration tests: one binary, one module a subject.

mod audit;
mod audit_cli;
mod inbox;
mod inbox_marker;
//! Integration tests: one binary, one module a topic.

mod classifier;
mod classifier_reports;
mod classifier_trailers;
