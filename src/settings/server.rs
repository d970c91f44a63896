//! `server.yml`: how the server runs. Decides nothing about a pull request and is not in the policy's digest.

use super::admin::{self, AdminPages};
use super::secrets::is_database;
use crate::audit;
use crate::policy::shape::{self, Written};
use crate::policy::{Effective, Problem, SourceFile};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// How the server runs.
#[derive(Debug, Clone)]
pub struct Server {
    /// Where webhooks come in.
    pub listen: SocketAddr,
    /// Where health, metrics and the admin pages are served; `None`: nowhere.
    pub admin_listen: Option<SocketAddr>,
    /// How the admin pages are served there; `None`: they are not.
    pub admin_pages: Option<AdminPages>,
    /// The path of the webhook, with its leading slash.
    pub webhook_path: String,
    /// Home of the SQLite file and the receipt key.
    pub data_dir: PathBuf,
    /// Home of the audit log.
    pub audit_dir: PathBuf,
    /// PostgreSQL; `None`: SQLite in `data_dir`. May hold a password.
    pub database_url: Option<SecretString>,
    /// Bounds.
    pub limits: Limits,
    /// How long things are kept.
    pub retention: Retention,
    /// What is logged, and how.
    pub log: Log,
    /// Base of GitHub's API without a trailing slash.
    pub github_url: String,
    /// How long we wait for GitHub, and for our own work at shutdown.
    pub timeouts: Timeouts,
}

/// `server.yml` as written: how the server runs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "server.yml")]
pub struct ServerFile {
    /// Address and port for webhooks.
    #[serde(default = "listen")]
    pub listen: String,
    /// Address and port for the admin pages, health and metrics, or `off`.
    #[serde(default = "admin_listen")]
    pub admin_listen: String,
    /// Are the admin pages served there, beside health and metrics?
    #[serde(default = "admin_pages")]
    pub admin_pages: bool,
    /// Where people reach the admin pages, such as `https://gate.example.com`; the check-run's Details lead there.
    #[serde(default)]
    pub admin_url: Option<String>,
    /// The App's client id: people sign in with GitHub and see what they can read there. Needs `admin_url`.
    #[serde(default)]
    pub github_client_id: Option<String>,
    /// Path of the webhook.
    #[serde(default = "webhook_path")]
    pub webhook_path: String,
    /// Directory of the SQLite file and the receipt key.
    #[serde(default = "data_dir")]
    #[schemars(length(min = 1))]
    pub data_dir: String,
    /// Directory of the audit log.
    #[serde(default = "audit_dir")]
    #[schemars(length(min = 1))]
    pub audit_dir: String,
    /// A PostgreSQL database, for several replicas, such as `postgres://user@host/name`; without it the store is a SQLite
    /// file in `data_dir`. With a password it goes into `QUADGATE_DATABASE_URL`, which goes before.
    #[serde(default)]
    pub database_url: Option<String>,
    /// Bounds.
    #[serde(default)]
    pub limits: Limits,
    /// How long things are kept.
    #[serde(default)]
    pub retention: Retention,
    /// What is logged, and how.
    #[serde(default)]
    pub log: Log,
    /// Base of GitHub's API; `https://HOST/api/v3` for an Enterprise Server.
    #[serde(default = "github_url")]
    pub github_url: String,
    /// How long we wait.
    #[serde(default)]
    pub timeouts: Timeouts,
}

/// Bounds of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Requests in flight; more get a 503.
    #[schemars(range(min = 1, max = 100_000))]
    pub max_in_flight: u64,
    /// Bytes of one webhook body; GitHub's own cap is 25 MiB.
    #[schemars(range(min = 1024, max = 26_214_400))]
    pub max_body_bytes: u64,
    /// Pull requests worked on at the same time.
    #[schemars(range(min = 1, max = 256))]
    pub workers: u64,
    /// Writes to GitHub for one pull request in one hour.
    #[schemars(range(min = 1, max = 1000))]
    pub writes_per_hour: u64,
    /// Calls of an installation's hour that are kept for work on D: below them everything else waits for the next hour.
    #[schemars(range(max = 10_000))]
    pub call_reserve: u64,
    /// Issues and comments an installation is given in a minute; GitHub's own bound for all Apps and people together is 80.
    #[schemars(range(min = 1, max = 100_000))]
    pub content_per_minute: u64,
    /// Issues and comments an installation is given in an hour; GitHub's own bound is 500.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub content_per_hour: u64,
    /// Bytes of one file of the audit log; before it grows beyond them it gets a number, and a new one begins.
    #[schemars(range(min = 65_536, max = 1_099_511_627_776_u64))]
    pub audit_file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_in_flight: 256,
            max_body_bytes: 26_214_400,
            workers: 32,
            writes_per_hour: 60,
            call_reserve: 250,
            content_per_minute: 80,
            content_per_hour: 500,
            audit_file_bytes: audit::Options::default().max_bytes,
        }
    }
}

/// How long things are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Days for which each decision is kept with the facts it was computed from; 0 keeps none.
    #[schemars(range(max = 3650))]
    pub decision_days: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { decision_days: 180 }
    }
}

/// What is logged, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// For people or for machines.
    pub format: LogFormat,
    /// `error`, `warn`, `info`, `debug`, `trace`, or a filter such as `info,quadgate=debug`.
    #[schemars(length(min = 1))]
    pub level: String,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            format: LogFormat::Human,
            level: "info".to_owned(),
        }
    }
}

/// The shape of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Lines for people.
    Human,
    /// One JSON object a line.
    Json,
}

/// How long we wait, in seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Timeouts {
    /// For a connection to GitHub.
    #[schemars(range(min = 1, max = 300))]
    pub connect_seconds: u64,
    /// For a whole answer of GitHub.
    #[schemars(range(min = 1, max = 300))]
    pub request_seconds: u64,
    /// For the work in hand when the server stops.
    #[schemars(range(min = 1, max = 600))]
    pub shutdown_seconds: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect_seconds: 10,
            request_seconds: 30,
            shutdown_seconds: 25,
        }
    }
}

impl Timeouts {
    /// For a connection to GitHub.
    #[must_use]
    pub fn connect(&self) -> Duration {
        Duration::from_secs(self.connect_seconds)
    }

    /// For a whole answer of GitHub.
    #[must_use]
    pub fn request(&self) -> Duration {
        Duration::from_secs(self.request_seconds)
    }

    /// For the work in hand when the server stops.
    #[must_use]
    pub fn shutdown(&self) -> Duration {
        Duration::from_secs(self.shutdown_seconds)
    }
}

fn listen() -> String {
    "127.0.0.1:3000".to_owned()
}

fn admin_listen() -> String {
    "127.0.0.1:3001".to_owned()
}

fn admin_pages() -> bool {
    true
}

fn webhook_path() -> String {
    "/webhook".to_owned()
}

fn data_dir() -> String {
    "./quadgate-data".to_owned()
}

fn audit_dir() -> String {
    "bot-state".to_owned()
}

fn github_url() -> String {
    "https://api.github.com".to_owned()
}

/// The settings, what is worth saying about them, and every value with its origin.
type Settled = (Server, Vec<Problem>, Vec<Effective>);

/// The server's settings; the defaults when there is no `server.yml`.
pub(super) fn compile(files: &[SourceFile]) -> Result<Settled, Vec<Problem>> {
    let mut warnings = Vec::new();
    let absent = SourceFile::new("", "server.yml", "");
    let file = files.iter().find(|f| f.name == "server.yml");
    let written = shape::read::<ServerFile>(file.unwrap_or(&absent), &mut warnings)?;
    let mut problems = Vec::new();
    let value = &written.value;
    let listen = address(&written, "listen", &value.listen, &mut problems);
    let admin = match value.admin_listen.as_str() {
        "off" => None,
        text => address(&written, "admin_listen", text, &mut problems),
    };
    check_paths(&written, &mut problems);
    check_urls(&written, &mut problems, &mut warnings);
    let admin_pages = admin::compile(&written, admin, &mut problems, &mut warnings);
    let (Some(listen), true) = (listen, problems.is_empty()) else {
        return Err(problems);
    };
    let server = Server {
        listen,
        admin_listen: admin,
        admin_pages,
        webhook_path: value.webhook_path.clone(),
        data_dir: PathBuf::from(&value.data_dir),
        audit_dir: PathBuf::from(&value.audit_dir),
        database_url: value.database_url.clone().map(SecretString::from),
        limits: value.limits.clone(),
        retention: value.retention.clone(),
        log: value.log.clone(),
        github_url: value.github_url.trim_end_matches('/').to_owned(),
        timeouts: value.timeouts.clone(),
    };
    let mut shown = value.clone();
    if let Some(url) = &mut shown.database_url {
        // It may hold a password: only its kind is shown.
        *url = url.split_once(':').map_or("", |(kind, _)| kind).to_owned() + ":…";
    }
    let values = serde_json::to_value(&shown).unwrap_or_default();
    let effective = written.effective(&values);
    Ok((server, warnings, effective))
}

fn address(
    file: &Written<ServerFile>,
    key: &str,
    text: &str,
    problems: &mut Vec<Problem>,
) -> Option<SocketAddr> {
    let parsed = text.parse().ok();
    if parsed.is_none() {
        let message = format!("`{text}` is not an address with a port");
        let hint = "write for example `127.0.0.1:3000`, `0.0.0.0:3000` or `[::1]:3000`";
        problems.push(file.problem(&[key], message).hint(hint));
    }
    parsed
}

fn check_paths(file: &Written<ServerFile>, problems: &mut Vec<Problem>) {
    let path = &file.value.webhook_path;
    let plain = path
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"/-_.~".contains(&b));
    if !path.starts_with('/') || path.len() < 2 || !plain {
        let message = format!("`{path}` is not a path for the webhook");
        let hint = "write for example `/webhook`";
        problems.push(file.problem(&["webhook_path"], message).hint(hint));
    } else if ["/healthz", "/readyz", "/metrics"].contains(&path.as_str()) {
        let message = format!("`{path}` is taken by the server itself");
        problems.push(file.problem(&["webhook_path"], message));
    }
}

fn check_urls(
    file: &Written<ServerFile>,
    problems: &mut Vec<Problem>,
    warnings: &mut Vec<Problem>,
) {
    let url = &file.value.github_url;
    match url.parse::<http::Uri>() {
        Ok(parsed) if parsed.host().is_some() && parsed.query().is_none() => {
            let host = parsed.host().unwrap_or_default();
            match parsed.scheme_str() {
                Some("https") => {}
                Some("http") if matches!(host, "127.0.0.1" | "localhost" | "[::1]") => {}
                Some("http") => {
                    let message = format!("`{url}` is not encrypted: tokens travel in the clear");
                    warnings.push(file.problem(&["github_url"], message));
                }
                Some(_) | None => {
                    let message = format!("`{url}` does not start with `https://`");
                    problems.push(file.problem(&["github_url"], message));
                }
            }
        }
        Ok(_) | Err(_) => {
            let message = format!("`{url}` is not the base of a GitHub API");
            let hint = "write `https://api.github.com` or `https://HOST/api/v3`";
            problems.push(file.problem(&["github_url"], message).hint(hint));
        }
    }
    if let Some(database) = &file.value.database_url
        && !is_database(database)
    {
        let message = "the database must be `postgres://…`";
        let hint = "without the key the store is a SQLite file in `data_dir`";
        problems.push(file.problem(&["database_url"], message).hint(hint));
    }
}
