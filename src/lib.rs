//! quadgate answers one question for each pull request: may this merge by itself, or must the owner be
//! asked first? `docs/design.md` says where everything lives and which module may name which.
#![forbid(unsafe_code)]

pub mod cli;
pub mod domain;
pub mod evidence;
pub mod policy;
pub mod rules;
