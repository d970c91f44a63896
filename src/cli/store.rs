//! The store of a configuration, opened for one command beside the server: a SQLite file or a database.

use crate::domain::Witness;
use crate::settings::{self, Server};
use crate::store::postgres::PostgresBeside;
use crate::store::sqlite::{SqliteBeside, SqliteReader};
use crate::store::{Store, StoreError};
use secrecy::SecretString;
use std::path::Path;
use std::sync::Arc;

/// The database that the environment or the settings name; `None`: the SQLite file.
pub(super) fn database(server: &Server) -> Result<Option<SecretString>, String> {
    let environment = settings::from_process(Path::new("."))?;
    settings::database_url(&environment, server.database_url.as_ref())
        .map_err(|error| error.to_string())
}

/// For looking only.
pub(super) async fn look(server: &Server) -> Result<Arc<dyn Store>, String> {
    let said = |error: StoreError| error.to_string();
    Ok(match database(server)? {
        None => Arc::new(SqliteReader::look(&server.data_dir).await.map_err(said)?),
        Some(url) => Arc::new(PostgresBeside::look(&url).await.map_err(said)?),
    })
}

/// For changing something.
pub(super) async fn beside(server: &Server) -> Result<Arc<dyn Store>, String> {
    let said = |error: StoreError| error.to_string();
    Ok(match database(server)? {
        None => Arc::new(SqliteBeside::beside(&server.data_dir).await.map_err(said)?),
        Some(url) => Arc::new(PostgresBeside::beside(&url).await.map_err(said)?),
    })
}

/// The last entry that the audit log's files must hold; those behind it may still be in the database alone.
pub(super) async fn end_on_disk(store: &dyn Store) -> Result<Option<Witness>, StoreError> {
    let seq = store.chain_written().await?;
    let tail = store.audit_tail().await?;
    if store.chain_behind(seq, 1).await?.is_empty() {
        return Ok(tail);
    }
    let hash = store.chain_hash(seq).await?;
    Ok(hash.map(|hash| Witness { seq, hash }))
}
