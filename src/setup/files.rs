//! What is kept of a new App: its secrets, the `.env` that names them, and a starting configuration.
//!
//! INVARIANT: every file here is made with mode 0600, whole or not at all, and one that is there already is replaced only
//! when that was asked for.

use crate::domain::RepoName;
use crate::github::NewApp;
use crate::settings::without_variables;
use secrecy::ExposeSecret;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The directory of the secrets, below the one that was named.
const SECRETS: &str = "secrets";
/// The variables that are set here.
const VARIABLES: [&str; 9] = [
    "QUADGATE_APP_ID",
    "QUADGATE_APP_ID_FILE",
    "QUADGATE_PRIVATE_KEY",
    "QUADGATE_PRIVATE_KEY_FILE",
    "QUADGATE_PRIVATE_KEY_PATH",
    "QUADGATE_WEBHOOK_SECRET",
    "QUADGATE_WEBHOOK_SECRET_FILE",
    "QUADGATE_CLIENT_SECRET",
    "QUADGATE_CLIENT_SECRET_FILE",
];

/// The shipped files, by name; what a person must replace in them is replaced when they are written.
const DEFAULTS: [(&str, &str); 7] = [
    ("owner.yml", include_str!("../../config/owner.yml")),
    ("projects.yml", include_str!("../../config/projects.yml")),
    ("env.yml", include_str!("../../config/env.yml")),
    ("server.yml", include_str!("../../config/server.yml")),
    ("skills.yml", include_str!("../../config/skills.yml")),
    (
        "classifier_rules.yml",
        include_str!("../../config/classifier_rules.yml"),
    ),
    (
        "agent_registry.yml",
        include_str!("../../config/agent_registry.yml"),
    ),
];

/// Files that were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file that commands read when they are started in its directory.
    pub env_file: PathBuf,
    /// The App's private key.
    pub private_key: PathBuf,
    /// All of them.
    pub all: Vec<PathBuf>,
}

/// The files that [`keep`] writes below a directory: the `.env` last.
fn paths(directory: &Path) -> [PathBuf; 5] {
    let secrets = directory.join(SECRETS);
    [
        secrets.join("app-id"),
        secrets.join("private-key.pem"),
        secrets.join("webhook-secret"),
        secrets.join("client-secret"),
        directory.join(".env"),
    ]
}

/// The files of [`keep`] that are there already.
#[must_use]
pub fn standing(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::from(paths(directory));
    all.retain(|path| path.symlink_metadata().is_ok());
    all
}

/// Writes the App's secrets and the `.env` that names them. Other variables of a `.env` that is there stay as they are.
///
/// # Errors
/// What cannot be written, or is there already while `force` is off; what was written before it stays.
pub fn keep(app: &NewApp, directory: &Path, force: bool) -> Result<Written, String> {
    let failed =
        |path: &Path, error: &io::Error| format!("`{}` cannot be written: {error}", path.display());
    let directory = std::path::absolute(directory).map_err(|error| failed(directory, &error))?;
    let [id, key, webhook, client, env] = paths(&directory);
    make_private_directory(&directory.join(SECRETS))
        .map_err(|error| failed(&directory.join(SECRETS), &error))?;
    let number = app.id.to_string();
    let texts = [
        (&id, number.as_str()),
        (&key, app.private_key.expose_secret()),
        (&webhook, app.webhook_secret.expose_secret()),
        (&client, app.client_secret.expose_secret()),
    ];
    for (path, text) in texts {
        write_private(path, text.as_bytes(), force).map_err(|error| failed(path, &error))?;
    }
    let mut text = match fs::read_to_string(&env) {
        Ok(text) => without_variables(&text, &VARIABLES)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(&env, &error)),
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "# The GitHub App `{}`, written by `quadgate setup`. Read by commands started in this directory.\n\
         QUADGATE_APP_ID={}\nQUADGATE_PRIVATE_KEY_PATH={}\nQUADGATE_WEBHOOK_SECRET_FILE={}\n\
         QUADGATE_CLIENT_SECRET_FILE={}\n",
        app.slug.escape_debug(),
        app.id,
        quoted(&key)?,
        quoted(&webhook)?,
        quoted(&client)?,
    );
    write_private(&env, text.as_bytes(), force).map_err(|error| failed(&env, &error))?;
    Ok(Written {
        env_file: env.clone(),
        private_key: key.clone(),
        all: vec![id, key, webhook, client, env],
    })
}

/// A path as a `.env` file takes it.
fn quoted(path: &Path) -> Result<String, String> {
    let refuse = || {
        format!(
            "`{}` cannot stand in a `.env` file: use a directory with a plain name",
            path.display()
        )
    };
    let text = path.to_str().ok_or_else(refuse)?;
    if text.contains(['"', '\n', '\r']) {
        return Err(refuse());
    }
    let plain = text
        .chars()
        .all(|c| c.is_alphanumeric() || "/-_.~+@".contains(c));
    Ok(if plain {
        text.to_owned()
    } else {
        format!("\"{text}\"")
    })
}

fn make_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Whole or not at all: beside the place first, then put there.
fn write_private(path: &Path, bytes: &[u8], force: bool) -> io::Result<()> {
    if !force && path.symlink_metadata().is_ok() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "it is there already; `--force` replaces it",
        ));
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = path.with_file_name(name);
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

/// What a starting configuration is filled with.
#[derive(Debug, Clone)]
pub struct Start {
    /// Who answers.
    pub owner: String,
    /// The repositories that are gated; at least one.
    pub repos: Vec<RepoName>,
    /// Where decisions are asked for.
    pub governance: RepoName,
    /// The App's slug.
    pub slug: String,
    /// The base of the API, unless it is github.com's.
    pub api: Option<String>,
}

/// Writes the shipped configuration, filled in, into a directory that is not there.
///
/// # Errors
/// The directory is there, or cannot be written.
pub fn write_config(directory: &Path, start: &Start) -> Result<Vec<PathBuf>, String> {
    let failed =
        |path: &Path, error: &io::Error| format!("`{}` cannot be written: {error}", path.display());
    if let Some(parent) = directory.parent() {
        fs::create_dir_all(parent).map_err(|error| failed(parent, &error))?;
    }
    fs::create_dir(directory).map_err(|error| failed(directory, &error))?;
    let mut all = Vec::new();
    for (name, text) in config_texts(start) {
        let path = directory.join(name);
        fs::write(&path, text).map_err(|error| failed(&path, &error))?;
        all.push(path);
    }
    Ok(all)
}

/// The files of a starting configuration.
#[must_use]
pub fn config_texts(start: &Start) -> Vec<(&'static str, String)> {
    let mut repos = String::new();
    for repo in &start.repos {
        let _ = writeln!(repos, "  - {repo}");
    }
    let governance = start.governance.to_string();
    let mut replaced = vec![
        (
            "github_login: your-login\n",
            format!("github_login: {}\n", start.owner),
        ),
        (
            "\ngovernance_repo: your-login/governance\n",
            format!("\ngovernance_repo: {governance}\n"),
        ),
        ("  - your-login/your-project\n", repos),
        (
            "\nbot_app_slug: your-app\n",
            format!("\nbot_app_slug: {}\n", start.slug),
        ),
    ];
    if let Some(api) = &start.api {
        replaced.push((
            "\ngithub_url: https://api.github.com\n",
            format!("\ngithub_url: {api}\n"),
        ));
    }
    DEFAULTS
        .into_iter()
        .map(|(name, text)| {
            // The first lines point an editor at schemas that are not beside these files.
            let text = text
                .split_once("#\n")
                .filter(|(head, _)| head.starts_with("# yaml-language-server"))
                .map_or(text, |(_, rest)| rest);
            let filled = replaced.iter().fold(text.to_owned(), |text, (from, to)| {
                text.replacen(*from, to, 1)
            });
            (name, filled)
        })
        .collect()
}
