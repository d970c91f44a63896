//! Integration tests: one binary, one module a subject.

mod audit;
mod audit_cli;
mod inbox;
mod inbox_marker;
