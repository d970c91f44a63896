//! The integration tests: one binary, one module a subject.

mod architecture;
mod journey;
mod world;
