//! The integration tests: one binary, one module a subject.

mod architecture;
mod evidence;
mod evidence_cli;
mod evidence_generated;
