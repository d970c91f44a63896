//! Tests of the log: what a crash, a full disk or a torn line leaves is put right, the chain goes on.

use super::*;
use crate::audit::Body;
use crate::domain::Quadrant;
use std::sync::{Arc, Mutex};

fn draft(decision: &str) -> EntryDraft {
    EntryDraft {
        ts: "2026-05-25T12:34:56Z".parse().unwrap(),
        decision: decision.into(),
        about: None,
        body: Body::Classification {
            rules_fired: vec![],
            quadrant: Quadrant::A,
            reasoning: "r".into(),
            base_ref: "main".into(),
            author: None,
            evidence: None,
        },
        policy: "sha256:0".into(),
        delivery: None,
        version: "0".into(),
    }
}

/// A disk with room for so many bytes.
struct SmallDisk {
    bytes: Arc<Mutex<Vec<u8>>>,
    room: Arc<Mutex<usize>>,
}

impl Medium for SmallDisk {
    fn write_whole(&mut self, new: &[u8]) -> io::Result<()> {
        let mut bytes = self.bytes.lock().unwrap();
        let room = *self.room.lock().unwrap() - bytes.len();
        bytes.extend_from_slice(&new[..new.len().min(room)]);
        if new.len() > room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.bytes
            .lock()
            .unwrap()
            .truncate(usize::try_from(len).unwrap());
        Ok(())
    }
}

#[test]
fn a_full_disk_publishes_nothing_and_leaves_no_torn_line() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = AuditLog::open(dir.path(), Options::default()).unwrap();
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let room = Arc::new(Mutex::new(500));
    log.active = Box::new(SmallDisk {
        bytes: bytes.clone(),
        room: room.clone(),
    });
    log.append(&draft("one")).unwrap();
    let whole = bytes.lock().unwrap().clone();
    let error = log.append(&draft("two")).unwrap_err();
    assert!(
        error.to_string().contains("nothing is published"),
        "{error}"
    );
    assert_eq!(*bytes.lock().unwrap(), whole);
    assert!(log.find_decision("two").is_none());
    *room.lock().unwrap() = 5000;
    assert_eq!(log.append(&draft("two")).unwrap().seq, 2);
    assert_eq!(bytes.lock().unwrap().split(|b| *b == b'\n').count(), 3);
}

#[test]
fn entries_that_come_together_are_on_disk_together_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = AuditLog::open(dir.path(), Options::default()).unwrap();
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let room = Arc::new(Mutex::new(700));
    log.active = Box::new(SmallDisk {
        bytes: bytes.clone(),
        room: room.clone(),
    });
    log.append(&draft("one")).unwrap();
    let whole = bytes.lock().unwrap().clone();
    let mut batch = log.batch();
    assert_eq!(batch.add(&draft("two")).unwrap().seq, 2);
    assert_eq!(batch.add(&draft("three")).unwrap().seq, 3);
    assert_eq!(batch.find("two").unwrap().seq, 2);
    batch.write().unwrap_err();
    assert_eq!(*bytes.lock().unwrap(), whole, "no half of it stays");
    assert_eq!(log.last().unwrap().seq, 1);
    assert!(log.find_decision("two").is_none());
    *room.lock().unwrap() = 5000;
    // What was gathered and not written leaves no trace.
    log.batch().add(&draft("dropped")).unwrap();
    let mut batch = log.batch();
    batch.add(&draft("two")).unwrap();
    let last = batch.add(&draft("three")).unwrap();
    batch.write().unwrap();
    assert_eq!(log.last(), Some(&last));
    assert_eq!(log.find_decision("two").unwrap().seq, 2);
    assert_eq!(bytes.lock().unwrap().split(|b| *b == b'\n').count(), 4);
}

#[test]
fn a_batch_that_fills_a_file_goes_on_in_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        max_bytes: 1000,
        ..Options::default()
    };
    let (mut log, _) = AuditLog::open(dir.path(), options).unwrap();
    let mut batch = log.batch();
    for name in ["one", "two", "three", "four", "five"] {
        batch.add(&draft(name)).unwrap();
    }
    batch.write().unwrap();
    assert_eq!(log.last().unwrap().seq, 5);
    drop(log);
    let files = full_files(dir.path()).unwrap().len();
    assert!(files > 0, "it was rotated");
    let (log, warnings) = AuditLog::open(dir.path(), options).unwrap();
    assert_eq!((log.last().unwrap().seq, warnings), (5, vec![]));
}

#[test]
fn the_newest_decisions_are_found() {
    let mut recent = Recent::new(2);
    let at = |seq| Witness {
        seq,
        hash: String::new(),
    };
    recent.add("a".into(), at(1));
    recent.add("b".into(), at(2));
    recent.add("c".into(), at(3));
    assert!(!recent.by_decision.contains_key("a"));
    assert_eq!(recent.by_decision.len(), 2);
}
