//! The documentation as data: links lead somewhere, both languages have the same shape, what is shown of commands and
//! configuration exists, and the references are what the program says of itself.
//!
//! `QUADGATE_WRITE_DOCS=1 cargo test --test it docs::` writes the generated parts anew.

mod commands;
mod configuration;
mod generated;
mod links;
mod page;
mod reference;
mod siblings;
mod worked_example;
