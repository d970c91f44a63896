//! Placeholder until the server answers.
fn main() {}
