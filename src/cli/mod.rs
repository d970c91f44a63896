//! The command line.

pub mod evidence;
