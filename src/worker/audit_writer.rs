//! The audit log as the worker writes it: files behind a queue, off the async threads, or the chain in a database that
//! replicas share.
//!
//! INVARIANT: a caller hears of a place only after what put its entries there is durable, and each decision stands in the
//! log once.

use super::WorkError;
use crate::audit::{AuditError, AuditLog, Batch, Body, EntryDraft};
use crate::domain::Witness;
use crate::store::{Chained, Store};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, oneshot};

/// Writes the audit log; cheap to clone.
#[derive(Clone)]
pub struct AuditWriter {
    log: Log,
}

#[derive(Clone)]
enum Log {
    /// Its files; this process is the one that writes them.
    Files(Files),
    /// The chain in the store; one replica writes the files behind it, and is told if it is this one.
    Chain(Arc<dyn Store>, Arc<Notify>),
}

/// The open log and what waits for it.
#[derive(Clone)]
struct Files {
    log: Arc<Mutex<AuditLog>>,
    queue: Arc<Mutex<Queue>>,
}

/// What is handed in while something is being written.
#[derive(Default)]
struct Queue {
    waiting: Vec<Waiting>,
    is_worked_off: bool,
}

/// The entries of one caller.
struct Waiting {
    entries: Vec<Arc<EntryDraft>>,
    reply: oneshot::Sender<Result<Vec<Witness>, String>>,
}

/// Where the entries of one plan stand.
pub(crate) struct Places {
    /// The last entry that says what was decided, which the check-run names; the last of all when none does.
    pub(crate) deciding: Witness,
    /// The entry of the verdict, where there is one.
    pub(crate) classification: Option<Witness>,
    /// The last entry.
    pub(crate) last: Witness,
}

impl AuditWriter {
    /// Takes the open log.
    #[must_use]
    pub fn new(log: AuditLog) -> Self {
        Self {
            log: Log::Files(Files {
                log: Arc::new(Mutex::new(log)),
                queue: Arc::default(),
            }),
        }
    }

    /// Appends to the chain in the store, and tells whoever writes its files here.
    #[must_use]
    pub fn in_store(store: Arc<dyn Store>, appended: Arc<Notify>) -> Self {
        Self {
            log: Log::Chain(store, appended),
        }
    }

    /// Writes the entries that are not in the log yet, in order; returns their places once all are on disk. `None` when
    /// there are none to write. What several callers hand in at the same time is written with one sync.
    ///
    /// # Errors
    /// An entry is not on disk. Those before it may be; a second call skips them.
    pub(crate) async fn append(
        &self,
        entries: Vec<EntryDraft>,
    ) -> Result<Option<Places>, WorkError> {
        if entries.is_empty() {
            return Ok(None);
        }
        let entries: Vec<Arc<EntryDraft>> = entries.into_iter().map(Arc::new).collect();
        let witnesses = match &self.log {
            Log::Files(files) => files.append(entries.clone()).await?,
            Log::Chain(store, told) => {
                let waiting = entries.iter().map(|entry| {
                    let entry: Arc<dyn Chained> = Arc::<EntryDraft>::clone(entry);
                    entry
                });
                let appended = store.append_audit(waiting.collect()).await;
                let appended = appended.map_err(|error| WorkError::Audit(error.to_string()))?;
                told.notify_one();
                appended
            }
        };
        Ok(places(&entries, witnesses))
    }
}

impl Files {
    /// Where the entries stand once they are on disk.
    async fn append(&self, entries: Vec<Arc<EntryDraft>>) -> Result<Vec<Witness>, WorkError> {
        let (reply, written) = oneshot::channel();
        let begin = {
            let mut queue = lock(&self.queue);
            queue.waiting.push(Waiting { entries, reply });
            !std::mem::replace(&mut queue.is_worked_off, true)
        };
        if begin {
            let files = self.clone();
            tokio::task::spawn_blocking(move || files.work_off());
        }
        let lost = |_| WorkError::Audit("the writer of the log ended".to_owned());
        written.await.map_err(lost)?.map_err(WorkError::Audit)
    }

    /// Writes what waits, all of it together, until nothing does.
    fn work_off(&self) {
        // Also when this ends by a panic, the next caller is to begin again.
        let _turn = Turn(&self.queue);
        loop {
            let waiting = {
                let mut queue = lock(&self.queue);
                if queue.waiting.is_empty() {
                    queue.is_worked_off = false;
                    return;
                }
                std::mem::take(&mut queue.waiting)
            };
            // A panic elsewhere cannot leave the log half changed: the next append looks at the file first.
            let written = write(&mut lock(&self.log), &waiting);
            match written {
                Ok(places) => {
                    for (waiting, places) in waiting.into_iter().zip(places) {
                        // A caller whose lease was lost went away.
                        let _ = waiting.reply.send(Ok(places));
                    }
                }
                Err(error) => {
                    for waiting in waiting {
                        let _ = waiting.reply.send(Err(error.to_string()));
                    }
                }
            }
        }
    }
}

/// Writes the entries of all callers with one sync, or of none.
fn write(log: &mut AuditLog, waiting: &[Waiting]) -> Result<Vec<Vec<Witness>>, AuditError> {
    let mut batch = log.batch();
    let witnesses = waiting
        .iter()
        .map(|waiting| add(&mut batch, &waiting.entries))
        .collect::<Result<_, _>>()?;
    batch.write()?;
    Ok(witnesses)
}

/// Where the entries of one caller stand, or will stand.
fn add(batch: &mut Batch<'_>, entries: &[Arc<EntryDraft>]) -> Result<Vec<Witness>, AuditError> {
    let mut place = |entry: &Arc<EntryDraft>| match batch.find(&entry.decision) {
        Some(witness) => Ok(witness.clone()),
        None => batch.add(entry),
    };
    entries.iter().map(&mut place).collect()
}

/// Gives the turn back when it is dropped.
struct Turn<'a>(&'a Mutex<Queue>);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut queue = lock(self.0);
            queue.is_worked_off = false;
            // Their callers see that nobody answers.
            queue.waiting.clear();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn places(entries: &[Arc<EntryDraft>], witnesses: Vec<Witness>) -> Option<Places> {
    let mut places: Option<Places> = None;
    for (entry, witness) in entries.iter().zip(witnesses) {
        let (before, earlier) = match places.take() {
            Some(before) => (Some(before.deciding), before.classification),
            None => (None, None),
        };
        let deciding = match before {
            Some(before) if !entry.decides() => before,
            Some(_) | None => witness.clone(),
        };
        let classifies = matches!(entry.body, Body::Classification { .. });
        places = Some(Places {
            deciding,
            classification: if classifies {
                Some(witness.clone())
            } else {
                earlier
            },
            last: witness,
        });
    }
    places
}

impl Chained for EntryDraft {
    fn decision(&self) -> &str {
        &self.decision
    }

    fn line(&self, seq: u64, prev: &str) -> std::io::Result<(String, Witness)> {
        let (line, place) = self.encode(seq, prev)?;
        let line = String::from_utf8(line).map_err(std::io::Error::other)?;
        Ok((line, place))
    }
}
