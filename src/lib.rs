//! quadgate answers one question for each pull request: may this merge by itself, or must the owner be
//! asked first? `docs/design.md` says where everything lives and which module may name which.
#![forbid(unsafe_code)]

pub mod cli;
pub mod diff;
pub mod domain;
pub mod github;
pub mod audit;
/// The commands; one file a command.
pub mod cli {
    pub mod audit;
    pub mod inbox;
}
pub mod diff;
pub mod domain;
pub mod inbox;
pub mod plan;
pub mod policy;
pub mod rules;
pub mod server;
pub mod store;
pub mod git_range;
pub mod policy;
pub mod rules;
pub mod settings;
