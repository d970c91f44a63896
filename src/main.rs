//! The quadgate program.
fn main() {}
