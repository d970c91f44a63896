//! What `doctor` looks at on this machine: directories, files with secrets, the store.
//!
//! Changes nothing: whether a directory can be written is tried with a file that is taken away again.

use super::finding::Finding;
use crate::settings::{Environment, Server, database_url};
use crate::store::StoreError;
use crate::store::postgres::PostgresBeside;
use crate::store::sqlite::SqliteReader;
use secrecy::SecretString;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Variables that name a file with a secret in it.
const SECRET_FILES: [&str; 7] = [
    "QUADGATE_DATABASE_URL_FILE",
    "QUADGATE_PRIVATE_KEY_PATH",
    "QUADGATE_PRIVATE_KEY_FILE",
    "QUADGATE_WEBHOOK_SECRET_FILE",
    "QUADGATE_RECEIPT_KEY_FILE",
    "QUADGATE_CLIENT_SECRET_FILE",
    "QUADGATE_APP_ID_FILE",
];

/// A directory that the server writes to.
pub(super) fn directory(check: &'static str, key: &str, path: &Path) -> Finding {
    let shown = path.display().to_string();
    let finding = match fs::metadata(path) {
        Ok(found) if !found.is_dir() => Finding::fail(
            check,
            "it is no directory",
            format!("name a directory in `{key}` of server.yml"),
        ),
        Ok(_) => match try_writing(path) {
            Ok(()) => Finding::ok(check, "can be written"),
            Err(error) => Finding::fail(
                check,
                format!("cannot be written: {error}"),
                format!(
                    "make it writable for the user that runs quadgate, or change `{key}` in server.yml"
                ),
            ),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => absent(check, key, path),
        Err(error) => Finding::fail(
            check,
            format!("cannot be looked at: {error}"),
            format!(
                "make it readable for the user that runs quadgate, or change `{key}` in server.yml"
            ),
        ),
    };
    finding.about(shown)
}

/// It is made at the first start, if its place can be written.
fn absent(check: &'static str, key: &str, path: &Path) -> Finding {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let place = absolute.ancestors().skip(1).find(|place| place.is_dir());
    match place.map(try_writing) {
        Some(Ok(())) => Finding::ok(check, "not there yet: the first start makes it"),
        Some(Err(error)) => Finding::fail(
            check,
            format!("not there, and cannot be made: {error}"),
            format!("create it for the user that runs quadgate, or change `{key}` in server.yml"),
        ),
        None => Finding::fail(
            check,
            "not there, and it has no place",
            format!("create it for the user that runs quadgate, or change `{key}` in server.yml"),
        ),
    }
}

fn try_writing(directory: &Path) -> std::io::Result<()> {
    let path = directory.join(format!(".quadgate-doctor-{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    options.open(&path)?;
    fs::remove_file(&path)
}

/// Files with secrets that others can read.
pub(super) fn secret_files(environment: &Environment) -> Vec<Finding> {
    let named = SECRET_FILES
        .iter()
        .filter_map(|name| environment.get(*name))
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    named
        .filter(|path| others_can_read(path))
        .map(|path| {
            let shown = path.display().to_string();
            let mend = format!("chmod 600 {shown}");
            Finding::warn("secrets", "others on this machine can read the file", mend).about(shown)
        })
        .collect()
}

#[cfg(unix)]
fn others_can_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    // A group may be how a container or a service gets at it; the world is never needed.
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o004 != 0)
}

#[cfg(not(unix))]
fn others_can_read(_: &Path) -> bool {
    false
}

async fn database(check: &'static str, url: &SecretString) -> Finding {
    match PostgresBeside::look(url).await {
        Ok(_) => Finding::ok(check, "can be read"),
        Err(StoreError::OlderSchema { .. }) => Finding::ok(
            check,
            "empty or of an earlier version: the next start brings it up to date",
        ),
        Err(error @ StoreError::NewerSchema { .. }) => {
            Finding::fail(check, error.to_string(), "run the newer program")
        }
        Err(error) => Finding::fail(
            check,
            error.to_string(),
            "start the database, and correct `database_url` or `QUADGATE_DATABASE_URL`",
        ),
    }
}

/// The store, if there is one already.
pub(super) async fn store(server: &Server, environment: &Environment) -> Option<Finding> {
    const CHECK: &str = "store";
    match database_url(environment, server.database_url.as_ref()) {
        Ok(None) => {}
        Ok(Some(url)) => return Some(database(CHECK, &url).await.about("the database")),
        Err(error) => {
            let mend = "correct the variable";
            return Some(Finding::fail(CHECK, error.to_string(), mend));
        }
    }
    let about = server.data_dir.display().to_string();
    let finding = match SqliteReader::look(&server.data_dir).await {
        Ok(_) => Finding::ok(CHECK, "can be read"),
        Err(StoreError::OlderSchema { .. }) => Finding::ok(
            CHECK,
            "of an earlier version: the next start brings it up to date",
        ),
        Err(error @ StoreError::NewerSchema { .. }) => {
            Finding::fail(CHECK, error.to_string(), "run the newer program")
        }
        // None yet.
        Err(StoreError::Directory { .. }) => return None,
        Err(error) => Finding::fail(
            CHECK,
            error.to_string(),
            "restore it from a backup, or move it away: a sweep judges every open pull request again",
        ),
    };
    Some(finding.about(about))
}
