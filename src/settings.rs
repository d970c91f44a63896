//! Everything that comes from outside the repository of the program: the configuration directory, the
//! server's own settings (`server.yml`) and the secrets in the environment.
//!
//! The only place that reads the directory. The environment is passed in as a map, so that nothing below
//! `main` looks at the process. Secrets have types that do not print.

mod admin;
mod directory;
mod environment;
mod secrets;
mod server;

pub use admin::{AdminPages, Origin};
pub use directory::read_directory;
pub use environment::{Environment, from_process, parse_dotenv, without_variables};
pub use secrets::{SecretError, Secrets, database_url, receipt_key};
pub use server::{Limits, Log, LogFormat, Retention, Server, ServerFile, Timeouts};

use crate::policy::{self, Compiled, Effective, Policy, Problem, SourceFile};
use crate::rules;
use std::path::Path;

/// A configuration directory that can be run.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What decides about pull requests.
    pub policy: Policy,
    /// How the server runs.
    pub server: Server,
    /// What loads and should be looked at all the same.
    pub warnings: Vec<Problem>,
    /// Every value with its origin, for `config show`.
    pub effective: Vec<Effective>,
}

/// Loads a configuration directory.
///
/// # Errors
/// Every problem found, not the first.
pub fn load(directory: &Path) -> Result<Loaded, Vec<Problem>> {
    let files = read_directory(directory)?;
    load_files(&directory.to_string_lossy(), &files)
}

/// Loads a configuration directory that has been read.
///
/// # Errors
/// Every problem found, not the first.
pub fn load_files(directory: &str, files: &[SourceFile]) -> Result<Loaded, Vec<Problem>> {
    let compiled = policy::compile(directory, files).and_then(rehearsed);
    let server = server::compile(files);
    match (compiled, server) {
        (Ok(compiled), Ok((server, mut more_warnings, mut more_values))) => {
            let Compiled {
                policy,
                mut warnings,
                mut effective,
            } = compiled;
            warnings.append(&mut more_warnings);
            warnings.sort();
            effective.append(&mut more_values);
            Ok(Loaded {
                policy,
                server,
                warnings,
                effective,
            })
        }
        (compiled, server) => {
            let mut problems = compiled.err().unwrap_or_default();
            problems.extend(server.err().unwrap_or_default());
            Err(problems)
        }
    }
}

/// A policy whose scripts have run once: most of their mistakes show only then.
fn rehearsed(compiled: Compiled) -> Result<Compiled, Vec<Problem>> {
    let problems = rules::user::rehearse(&compiled.policy);
    if problems.is_empty() {
        Ok(compiled)
    } else {
        Err(problems)
    }
}

/// The JSON Schemas of all configuration files by the stem of their names.
#[must_use]
pub fn schemas() -> Vec<(&'static str, serde_json::Value)> {
    let mut all = policy::schemas();
    all.push(("server", policy::shape::schema::<ServerFile>()));
    all
}
