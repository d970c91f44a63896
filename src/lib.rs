//! quadgate answers one question for each pull request: may this merge by itself, or must the owner be
//! asked first? `docs/design.md` says where everything lives and which module may name which.
#![forbid(unsafe_code)]

pub mod app;
pub mod audit;
pub mod cli;
pub mod clock;
pub mod diff;
pub mod doctor;
pub mod domain;
pub mod evidence;
pub mod gate;
pub mod git_range;
pub mod github;
pub mod inbox;
pub mod plan;
pub mod policy;
pub mod rules;
pub mod server;
pub mod settings;
pub mod setup;
pub mod store;
pub mod tick;
pub mod worker;
