//! The files of the store: the lock, the database file and its mode.

use crate::store::StoreError;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The database.
const FILE: &str = "quadgate.sqlite3";

/// A lock outlives its process by a moment where a child that was just being started still holds the file: so often, so
/// long apart, it is tried before another server is suspected.
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Left as they are in the URL that names the file.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'.')
    .remove(b'-')
    .remove(b'_');

/// Takes the lock that keeps a second process out; it is given up when the file is dropped, or the process dies.
pub(super) fn lock(directory: &Path) -> Result<File, StoreError> {
    let path = directory.join("quadgate.lock");
    let file = open_private(&path).map_err(|error| unusable(directory, &error))?;
    for _ in 0..LOOKS {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_LOOKS),
            Err(TryLockError::Error(error)) => return Err(unusable(&path, &error)),
        }
    }
    Err(StoreError::InUse { path })
}

/// Makes the database file, readable by its owner only, before SQLite does; its log files take over the mode.
pub(super) fn create(directory: &Path) -> Result<PathBuf, StoreError> {
    let path = directory.join(FILE);
    let file = open_private(&path).map_err(|error| unusable(&path, &error))?;
    make_private(&file).map_err(|error| unusable(&path, &error))?;
    Ok(path)
}

/// The database file that is there.
pub(super) fn there(directory: &Path) -> Result<PathBuf, StoreError> {
    let path = directory.join(FILE);
    match std::fs::metadata(&path) {
        Ok(found) if found.is_file() => Ok(path),
        Ok(_) => Err(StoreError::Directory {
            path,
            why: "it is no file".into(),
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(StoreError::Directory {
            path: directory.to_owned(),
            why: "it holds no store: has the server run with this configuration?".into(),
        }),
        Err(error) => Err(unusable(&path, &error)),
    }
}

/// The URL by which the driver opens the file; `mode` is `rw` or `ro`.
pub(super) fn url(file: &Path, mode: &str) -> Result<String, StoreError> {
    let path = file.to_str().ok_or_else(|| StoreError::Directory {
        path: file.to_owned(),
        why: "its name is not UTF-8".into(),
    })?;
    let path = utf8_percent_encode(path, PLAIN);
    Ok(format!("sqlite://{path}?mode={mode}"))
}

fn open_private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(unix)]
fn make_private(file: &File) -> std::io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

#[cfg(not(unix))]
fn make_private(_: &File) -> std::io::Result<()> {
    Ok(())
}

fn unusable(path: &Path, error: &std::io::Error) -> StoreError {
    let advice = match error.kind() {
        std::io::ErrorKind::NotFound => ": create it, or set `data_dir`",
        std::io::ErrorKind::PermissionDenied => {
            ": make it writable for the user that runs quadgate"
        }
        _ => "",
    };
    StoreError::Directory {
        path: path.to_owned(),
        why: format!("{error}{advice}"),
    }
}
