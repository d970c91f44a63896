//! GitHub's kept answers in a file of the data directory, so that a restart does not cost the hour's budget.
//!
//! Only thrift hangs on it: without the file, or with one that is not ours, everything is asked for anew.

use crate::clock::Clock;
use crate::github::GitHub;
use secrecy::{ExposeSecret, SecretSlice};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The file's name in the data directory.
const FILE: &str = "kept-answers";
/// The file is written this often, and at the end.
const EVERY: Duration = Duration::from_mins(10);

/// What is kept, and where.
pub(super) struct Answers {
    github: GitHub,
    file: PathBuf,
    key: SecretSlice<u8>,
}

impl Answers {
    pub(super) fn new(github: GitHub, data_dir: &Path, key: SecretSlice<u8>) -> Self {
        Self {
            github,
            file: data_dir.join(FILE),
            key,
        }
    }

    /// Takes back what the last process kept.
    pub(super) fn load(&self) {
        let document = match fs::read(&self.file) {
            Ok(document) => document,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => {
                tracing::warn!(file = %self.file.display(), %error, "kept answers cannot be read; GitHub is asked anew");
                return;
            }
        };
        match self
            .github
            .keep_answers(self.key.expose_secret(), &document)
        {
            Ok(answers) => tracing::info!(answers, "answers of the last run are kept"),
            Err(why) => {
                tracing::warn!(file = %self.file.display(), why, "kept answers are left aside; GitHub is asked anew");
            }
        }
    }

    /// Writes the file again and again, and once more at the end.
    pub(super) async fn keep(self, clock: Arc<dyn Clock>, mut stop: watch::Receiver<bool>) {
        let this = Arc::new(self);
        loop {
            let over = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => true,
                () = clock.sleep(EVERY) => false,
            };
            let writer = Arc::clone(&this);
            let written = tokio::task::spawn_blocking(move || writer.save()).await;
            if let Ok(Err(why)) = written {
                tracing::warn!(file = %this.file.display(), why, "kept answers are not written; the next start asks anew");
            }
            if over {
                return;
            }
        }
    }

    fn save(&self) -> Result<(), String> {
        let document = self.github.kept_answers(self.key.expose_secret())?;
        // Replicas may share the directory: each writes beside it what then takes the file's place.
        let beside = self.file.with_extension(std::process::id().to_string());
        replace(&beside, &self.file, &document).map_err(|error| error.to_string())
    }
}

/// The whole file or the one from before. Not synced: an answer that is lost is asked for.
fn replace(beside: &Path, file: &Path, document: &[u8]) -> io::Result<()> {
    private(beside)?.write_all(document)?;
    fs::rename(beside, file)
}

fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
