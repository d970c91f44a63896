//! Store and audit log as the settings name them: a SQLite file with the log beside it, or a database for several replicas.

use super::StartError;
use super::scribe::Duty;
use crate::audit::{self, AuditLog};
use crate::settings::Server;
use crate::store::Store;
use crate::store::postgres::{PostgresOptions, PostgresStore, Role, Seat};
use crate::store::sqlite::{SqliteOptions, SqliteStore};
use crate::worker::AuditWriter;
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the store keeps a digest of the replicas' receipt key.
const RECEIPT_KEY: &str = "receipt_key_digest";

/// What is open.
pub(super) struct Opened {
    pub(super) store: Arc<dyn Store>,
    pub(super) audit: AuditWriter,
    /// The log's files behind a database.
    pub(super) scribe: Option<Duty>,
    /// For whose turn it is to sweep; `None`: always ours.
    pub(super) tick: Option<Seat>,
}

impl Opened {
    pub(super) async fn by(server: &Server, accept_loss: bool) -> Result<Self, StartError> {
        match &server.database_url {
            None => in_file(server, accept_loss).await,
            Some(url) => in_database(server, url, accept_loss).await,
        }
    }
}

async fn in_file(server: &Server, accept_loss: bool) -> Result<Opened, StartError> {
    let store = SqliteStore::open(&SqliteOptions::new(&server.data_dir)).await?;
    let tail = store.audit_tail().await?;
    let log = open_log(&server.audit_dir, options(server)).await?;
    let found = log.last().map_or(0, |witness| witness.seq);
    if let Some(known) = tail
        && known.seq > found
    {
        if !accept_loss {
            return Err(StartError::AuditLoss {
                dir: server.audit_dir.display().to_string(),
                found,
                known: known.seq,
            });
        }
        tracing::error!(
            found,
            known = known.seq,
            "the audit log lost entries; going on as told"
        );
        store.reset_audit_tail(log.last()).await?;
    }
    Ok(Opened {
        store: Arc::new(store),
        audit: AuditWriter::new(log),
        scribe: None,
        tick: None,
    })
}

async fn in_database(
    server: &Server,
    url: &SecretString,
    accept_loss: bool,
) -> Result<Opened, StartError> {
    let store = PostgresStore::open(&PostgresOptions::new(url.clone())).await?;
    let store: Arc<dyn Store> = Arc::new(store);
    let mut scribe = Duty::new(
        Arc::clone(&store),
        Seat::new(url, Role::Audit)?,
        server.audit_dir.clone(),
        options(server),
    );
    scribe.first(accept_loss).await?;
    Ok(Opened {
        audit: AuditWriter::in_store(Arc::clone(&store), scribe.appended()),
        store,
        scribe: Some(scribe),
        tick: Some(Seat::new(url, Role::Tick)?),
    })
}

fn options(server: &Server) -> audit::Options {
    audit::Options {
        max_bytes: server.limits.audit_file_bytes,
        ..audit::Options::default()
    }
}

/// Opens the log's files; says what had to be put right.
pub(super) async fn open_log(dir: &Path, options: audit::Options) -> Result<AuditLog, StartError> {
    let dir: PathBuf = dir.to_owned();
    let opened = tokio::task::spawn_blocking(move || AuditLog::open(&dir, options));
    let (log, warnings) = opened
        .await
        .map_err(|error| StartError::Metrics(error.to_string()))??;
    for warning in warnings {
        tracing::warn!(%warning, "the audit log was put right");
    }
    Ok(log)
}

/// Replicas with different keys would not know each other's ballots. A key that was given for all to see replaces the
/// known one; one that this replica made for itself does not.
pub(super) async fn same_receipt_key(
    store: &dyn Store,
    key: &SecretSlice<u8>,
    given: bool,
) -> Result<(), StartError> {
    let digest = Sha256::new()
        .chain_update(b"quadgate receipt key ")
        .chain_update(key.expose_secret())
        .finalize();
    let digest = hex::encode(digest);
    match store.meta(RECEIPT_KEY).await? {
        Some(known) if known == digest => return Ok(()),
        Some(_) if !given => return Err(StartError::OtherReceiptKey),
        Some(_) => tracing::warn!(
            "the receipt key is another one than before: ballots that were opened with the old one are not known any \
             more, and every replica needs the new one"
        ),
        None => {}
    }
    store.set_meta(RECEIPT_KEY, &digest).await?;
    Ok(())
}
