//! The audit log behind a lock, off the async threads.

use super::WorkError;
use crate::audit::{AuditError, AuditLog, EntryDraft};
use crate::domain::Witness;
use std::sync::{Arc, Mutex, PoisonError};

/// The one writer of the audit log; cheap to clone.
#[derive(Clone)]
pub struct AuditWriter {
    log: Arc<Mutex<AuditLog>>,
}

/// Where the entries of one plan stand.
pub(crate) struct Places {
    /// The last entry that says what was decided, which the check-run names; the last of all when none does.
    pub(crate) deciding: Witness,
    /// The last entry.
    pub(crate) last: Witness,
}

impl AuditWriter {
    /// Takes the open log.
    #[must_use]
    pub fn new(log: AuditLog) -> Self {
        Self {
            log: Arc::new(Mutex::new(log)),
        }
    }

    /// Writes the entries that are not in the log yet, in order; returns their places once all are on disk. `None` when
    /// there are none to write.
    ///
    /// # Errors
    /// An entry is not on disk. Those before it may be; a second call skips them.
    pub(crate) async fn append(
        &self,
        entries: Vec<EntryDraft>,
    ) -> Result<Option<Places>, WorkError> {
        let log = Arc::clone(&self.log);
        let written = tokio::task::spawn_blocking(move || {
            // A panic elsewhere cannot leave the log half changed: the next append looks at the file first.
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            let mut places: Option<Places> = None;
            for entry in &entries {
                let witness = match log.find_decision(&entry.decision) {
                    Some(witness) => witness.clone(),
                    None => log.append(entry)?,
                };
                let deciding = match places.take() {
                    Some(before) if !entry.decides() => before.deciding,
                    Some(_) | None => witness.clone(),
                };
                places = Some(Places {
                    deciding,
                    last: witness,
                });
            }
            Ok::<_, AuditError>(places)
        })
        .await
        .map_err(|error| WorkError::Audit(error.to_string()))?;
        written.map_err(|error| WorkError::Audit(error.to_string()))
    }

    /// The last entry of the log.
    #[must_use]
    pub fn last(&self) -> Option<Witness> {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .last()
            .cloned()
    }
}
