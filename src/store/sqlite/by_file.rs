//! One connection to the store's file, for commands beside a server that may be running.

use super::files;
use crate::store::StoreError;
use crate::store::migrate;
use crate::store::sql::Doing;
use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, Connection, Executor};
use std::path::Path;
use std::str::FromStr;
use tokio::sync::Mutex;

/// Opens the file that is there with a mode of SQLite's (`ro`, `rw`) and these settings.
///
/// # Errors
/// There is no file, it cannot be opened, or another version of the program made it.
pub(super) async fn open(
    directory: &Path,
    mode: &str,
    settings: &'static str,
) -> Result<Mutex<AnyConnection>, StoreError> {
    sqlx::any::install_default_drivers();
    let file = files::there(directory)?;
    let options = AnyConnectOptions::from_str(&files::url(&file, mode)?)?;
    let mut conn = AnyConnection::connect_with(&options).await?;
    conn.execute(settings).await?;
    migrate::check(&mut conn).await?;
    Ok(Mutex::new(conn))
}

/// Reads in a transaction of its own, which ends without a trace.
pub(super) async fn read<T, F>(conn: &Mutex<AnyConnection>, work: F) -> Result<T, StoreError>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut AnyConnection) -> Doing<'c, T> + Send + 'static,
{
    let mut conn = conn.lock().await;
    let mut tx = conn.begin().await?;
    let result = work(&mut tx).await;
    tx.rollback().await?;
    result
}
