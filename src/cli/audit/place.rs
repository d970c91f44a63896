//! Where the log is, which files of it are meant, and what the store knows of its end.

use super::Stop;
use crate::audit::{Expected, LogFile, Manifest, log_files};
use crate::cli::Io;
use crate::cli::input::{ConfigArgument, load};
use crate::domain::Witness;
use crate::settings::Server;
use clap::Args;
use std::path::{Path, PathBuf};

/// The log when nothing else is named.
const DEFAULT: &str = "bot-state";

/// Where the log is, for commands that take it as an option.
#[derive(Debug, Args)]
pub(super) struct LogArgument {
    /// The log's directory or file, or an export [default: as configured, else `bot-state`]
    #[arg(long, value_name = "FILE or DIR")]
    log: Option<PathBuf>,

    #[command(flatten)]
    config: ConfigArgument,
}

impl LogArgument {
    pub(super) fn find(&self, io: &mut Io<'_>) -> Result<Log, Stop> {
        Log::find(self.log.as_deref(), &self.config, io)
    }
}

/// A log that was found.
pub(super) struct Log {
    /// Its directory or file.
    pub(super) path: PathBuf,
    /// Its files in the order of the chain.
    pub(super) files: Vec<LogFile>,
    /// What must hold of it: of an export, what its manifest says; of the configured log, what the store knows.
    pub(super) expected: Expected,
    /// What the store knows of the log's end; `None`: it was not asked.
    pub(super) store: Option<Result<Option<Witness>, String>>,
    /// Is it an export?
    pub(super) export: bool,
}

impl Log {
    /// The log that is named, or the configured one. The store is asked for the log's end only with
    /// [`Log::find_with_store`].
    pub(super) fn find(
        named: Option<&Path>,
        config: &ConfigArgument,
        io: &mut Io<'_>,
    ) -> Result<Self, Stop> {
        let path = match (named, config.directory()) {
            (Some(named), _) => named.to_owned(),
            (None, Some(directory)) => load(&directory, io).ok_or(Stop::Said)?.server.audit_dir,
            (None, None) => PathBuf::from(DEFAULT),
        };
        Self::at(path)
    }

    /// The same, with the store asked first, where the log is that of the configuration.
    pub(super) fn find_with_store(
        named: Option<&Path>,
        config: &ConfigArgument,
        io: &mut Io<'_>,
    ) -> Result<Self, Stop> {
        let server = match config.directory() {
            Some(directory) => match crate::settings::load(&directory) {
                Ok(loaded) => Some(loaded.server),
                // A log that is named can be checked without a configuration.
                Err(_) if named.is_some() => None,
                Err(_) => {
                    load(&directory, io);
                    return Err(Stop::Said);
                }
            },
            None => None,
        };
        let path = match (named, &server) {
            (Some(named), _) => named.to_owned(),
            (None, Some(server)) => server.audit_dir.clone(),
            (None, None) => PathBuf::from(DEFAULT),
        };
        // Before the files are listed: what the store knows then is in them.
        let store = server
            .filter(|server| is_log_of(&path, server))
            .map(|server| tail(&server));
        let mut log = Self::at(path)?;
        if let Some(Ok(Some(tail))) = &store {
            log.expected.witnesses.push(tail.clone());
        }
        log.store = store;
        Ok(log)
    }

    fn at(path: PathBuf) -> Result<Self, Stop> {
        let manifest = Manifest::of(&path).map_err(|error| Stop::Unusable(error.to_string()))?;
        let (files, expected, export) = match manifest {
            Some(manifest) => {
                let files = manifest.files(directory(&path));
                (files, manifest.expected(), true)
            }
            None => (files(&path)?, Expected::default(), false),
        };
        Ok(Self {
            path,
            files,
            expected,
            store: None,
            export,
        })
    }
}

/// The directory itself, or that of the file.
fn directory(path: &Path) -> &Path {
    if path.is_dir() {
        return path;
    }
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        Some(_) | None => Path::new("."),
    }
}

/// Is it the directory where this server writes, or the file it writes to?
fn is_log_of(path: &Path, server: &Server) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let active = server.audit_dir.join(crate::audit::ACTIVE_FILE);
    let log = real(path);
    log.is_some() && (log == real(&server.audit_dir) || log == real(&active))
}

fn tail(server: &Server) -> Result<Option<Witness>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime does not start: {error}"))?;
    runtime.block_on(async {
        let store = crate::cli::store::look(server).await?;
        crate::cli::store::end_on_disk(&*store)
            .await
            .map_err(|error| error.to_string())
    })
}

/// The files to read: of a directory all, of a file of a log that one and those before it.
fn files(log: &Path) -> Result<Vec<LogFile>, Stop> {
    let unusable = |why: &str| Stop::Unusable(format!("audit log `{}` {why}", log.display()));
    if log.is_dir() {
        let files = log_files(log)?;
        if files.is_empty() {
            return Err(unusable("holds no log"));
        }
        return Ok(files);
    }
    if !log.is_file() {
        return Err(unusable("does not exist; name its directory or file"));
    }
    let mut files = log_files(directory(log))?;
    let place = files
        .iter()
        .position(|file| file.path().file_name() == log.file_name());
    match place {
        Some(place) => {
            files.truncate(place + 1);
            Ok(files)
        }
        None => Ok(vec![LogFile::from(log.to_owned())]),
    }
}
