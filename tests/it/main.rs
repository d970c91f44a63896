//! Integration tests: one binary, one module a topic.

mod classifier;
mod classifier_reports;
mod classifier_trailers;
