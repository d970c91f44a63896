//! What the commands that act on a store share: the store beside its server, names for what was given up, and the
//! operators' log.
//!
//! INVARIANT: nothing is changed before its line is in `operator.jsonl` of the data directory.

use crate::clock::{Clock, SystemClock};
use crate::domain::{Subject, Timestamp};
use crate::settings::Loaded;
use crate::store::Store;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The operators' log, in the data directory.
pub(super) const LOG: &str = "operator.jsonl";

/// The store of a configuration, for one command.
pub(super) struct Desk {
    pub store: Arc<dyn Store>,
    pub now: Timestamp,
    log: PathBuf,
}

impl Desk {
    /// Opens the store, also while its server runs.
    pub async fn open(loaded: &Loaded) -> Result<Self, String> {
        let directory = &loaded.server.data_dir;
        let store = super::store::beside(&loaded.server).await?;
        Ok(Self {
            store,
            now: SystemClock.now(),
            log: directory.join(LOG),
        })
    }

    /// Notes what is about to be done, on disk.
    pub fn note(&self, command: &str, about: &Value) -> Result<(), String> {
        let who = ["SUDO_USER", "USER", "LOGNAME"]
            .iter()
            .find_map(|name| std::env::var(name).ok());
        let mut line =
            json!({"at": self.now, "by": who, "command": command, "about": about}).to_string();
        line.push('\n');
        let is_new = !self.log.exists();
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // Beside a database the directory may be empty, or not there.
        let directory = self.log.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(directory)
            .and_then(|()| options.open(&self.log))
            .and_then(|mut file| {
                if is_new {
                    hand_over(&self.log);
                }
                file.write_all(line.as_bytes())?;
                file.sync_data()
            })
            .map_err(|error| {
                format!(
                    "nothing was done: `{}` cannot be written: {error}",
                    self.log.display()
                )
            })
    }
}

/// A log that root begins belongs to the directory's owner all the same, who goes on with it.
#[cfg(unix)]
fn hand_over(log: &Path) {
    use std::os::unix::fs::{MetadataExt, chown};
    if let Some(Ok(directory)) = log.parent().map(std::fs::metadata) {
        // Only root may; for everybody else it is right already.
        let _ = chown(log, Some(directory.uid()), Some(directory.gid()));
    }
}

#[cfg(not(unix))]
fn hand_over(_: &Path) {}

/// A subject as people name it.
pub(super) fn name(subject: &Subject) -> String {
    match subject {
        Subject::Pull { repo, number } => format!("{}#{number}", repo.name),
        Subject::Issue { repo, number } => format!("Issue {}#{number}", repo.name),
        Subject::Head { repo, sha } | Subject::Commit { repo, sha } => {
            format!("{}@{}", repo.name, sha.short())
        }
        Subject::Repo { repo } => repo.name.to_string(),
        Subject::Installation { installation } => format!("installation {installation}"),
        Subject::MergeGroup { repo, head_ref, .. } => format!("{} {head_ref}", repo.name),
    }
}
