//! What only the SQLite store has: a file, a lock, a schema, a disk that fills, `kill -9`.

use crate::store_contract::{Given, LEASE, at, claimed, deep, delivery, plan, pull, run, shallow};
use quadgate::store::sqlite::{SqliteOptions, SqliteStore};
use quadgate::store::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

mod contract {
    use super::given;
    crate::store_contract::contract!(given());
}

async fn given() -> Given {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&SqliteOptions::new(dir.path()))
        .await
        .unwrap();
    Given {
        store: Arc::new(store),
        _keep: Box::new(dir),
    }
}

#[test]
fn everything_survives_a_reopening() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let options = SqliteOptions::new(dir.path());
        let store = SqliteStore::open(&options).await.unwrap();
        store
            .accept(delivery("d-1", 0, vec![deep(pull(12))]))
            .await
            .unwrap();
        let claim = claimed(&store, 1).await;
        store.save_plan(&claim, &plan(2)).await.unwrap();
        store.close().await;
        assert!(matches!(
            store.queue_depth().await,
            Err(StoreError::Unavailable(_))
        ));
        assert!(matches!(
            store.bump("x", 1).await,
            Err(StoreError::Unavailable(_))
        ));

        let store = SqliteStore::open(&options).await.unwrap();
        let claim = claimed(&store, 2).await;
        assert_eq!(claim.attempts, 1, "the lease of a dead process is over");
        assert_eq!(claim.plan.unwrap().effects.len(), 2);
    });
}

#[test]
fn one_process_owns_the_file() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let options = SqliteOptions::new(dir.path());
        let _first = SqliteStore::open(&options).await.unwrap();
        let error = SqliteStore::open(&options).await.err().unwrap();
        assert!(matches!(error, StoreError::InUse { .. }), "{error}");
        assert!(error.to_string().contains("in use by another process"));
    });
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let options = SqliteOptions::new(dir.path());
        SqliteStore::open(&options).await.unwrap().close().await;
        sql(
            dir.path(),
            "INSERT INTO schema_version (version) VALUES (999)",
        )
        .await;
        let error = SqliteStore::open(&options).await.err().unwrap();
        assert!(
            matches!(error, StoreError::NewerSchema { found: 999, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("run the newer program"));
    });
}

/// Runs one statement on the file, past the store.
pub(crate) async fn sql(dir: &std::path::Path, text: &'static str) {
    use sqlx::{Connection, Executor};
    let url = format!("sqlite://{}/quadgate.sqlite3", dir.display());
    let mut conn = sqlx::SqliteConnection::connect(&url).await.unwrap();
    conn.execute(text).await.unwrap();
    conn.close().await.unwrap();
}

#[test]
fn an_unusable_directory_is_named() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("nowhere");
        let error = SqliteStore::open(&SqliteOptions::new(&missing))
            .await
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains(missing.to_str().unwrap()), "{error}");
        assert!(error.contains("create it"), "{error}");

        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = SqliteStore::open(&SqliteOptions::new(&file)).await.err();
        assert!(error.unwrap().to_string().contains(file.to_str().unwrap()));

        std::fs::write(
            dir.path().join("quadgate.sqlite3"),
            "no database".repeat(500),
        )
        .unwrap();
        let error = SqliteStore::open(&SqliteOptions::new(dir.path()))
            .await
            .err();
        let error = error.unwrap().to_string();
        assert!(error.contains("quadgate.sqlite3"), "{error}");
    });
}

#[test]
fn odd_names_of_directories_work() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let odd = dir.path().join("a b%20c?d#é");
        std::fs::create_dir(&odd).unwrap();
        let store = SqliteStore::open(&SqliteOptions::new(&odd)).await.unwrap();
        store.bump("x", 1).await.unwrap();
        assert!(odd.join("quadgate.sqlite3-wal").exists());
    });
}

#[cfg(unix)]
#[test]
fn files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("quadgate.sqlite3");
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        let store = SqliteStore::open(&SqliteOptions::new(dir.path()))
            .await
            .unwrap();
        store.bump("x", 1).await.unwrap();
        for name in ["", "-wal", "-shm"] {
            let path = dir.path().join(format!("quadgate.sqlite3{name}"));
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        }
    });
}

#[test]
fn a_full_disk_is_unavailable_and_heals() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let tight = SqliteOptions {
            max_bytes: Some(512 * 1024),
            ..SqliteOptions::new(dir.path())
        };
        let store = SqliteStore::open(&tight).await.unwrap();
        let mut kept = 0;
        let error = loop {
            let id = format!("d-{kept}");
            match store.accept(delivery(&id, 0, vec![deep(pull(kept))])).await {
                Ok(accepted) => assert_eq!(accepted, Accepted::New),
                Err(error) => break error,
            }
            kept += 1;
            assert!(kept < 100_000, "the ceiling does not hold");
        };
        assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
        assert!(kept > 100);
        // What was acknowledged is there, the refused one is not, and reading goes on.
        assert_eq!(store.queue_depth().await.unwrap(), kept);
        store.close().await;

        let store = SqliteStore::open(&SqliteOptions::new(dir.path()))
            .await
            .unwrap();
        let again = delivery(&format!("d-{kept}"), 1, vec![deep(pull(kept))]);
        assert_eq!(store.accept(again).await.unwrap(), Accepted::New);
    });
}

#[test]
fn a_failed_job_does_not_spoil_its_batch() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&SqliteOptions::new(dir.path()))
            .await
            .unwrap();
        store.enqueue(deep(pull(1)), at(0)).await.unwrap();
        let stale = claimed(&store, 0).await;
        store.release(&stale).await.unwrap();
        let (good, bad, also_good) = tokio::join!(
            store.bump("x", 1),
            store.finish(&stale, Finish::new(None, at(1))),
            store.bump("x", 1),
        );
        assert_eq!((good.unwrap(), also_good.unwrap()), (1, 2));
        assert!(matches!(bad, Err(StoreError::LeaseLost { .. })));
        assert_eq!(store.counters().await.unwrap()["x"], 2);
    });
}

#[test]
fn an_unreadable_row_blocks_nobody() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let options = SqliteOptions::new(dir.path());
        let store = SqliteStore::open(&options).await.unwrap();
        store.enqueue(deep(pull(1)), at(0)).await.unwrap();
        store.enqueue(deep(pull(2)), at(1)).await.unwrap();
        store.close().await;
        sql(
            dir.path(),
            "UPDATE subject SET body = '{' WHERE key = 'pull/555/1'",
        )
        .await;
        let store = SqliteStore::open(&options).await.unwrap();
        assert_eq!(claimed(&store, 2).await.subject, pull(2));
        assert!(store.claim("w", at(3), LEASE).await.unwrap().is_none());
        assert_eq!(store.queue_depth().await.unwrap(), 2, "still in sight");
        // The next trigger writes the row anew.
        store.enqueue(shallow(pull(1)), at(4)).await.unwrap();
        assert!(store.claim("w", at(3700), LEASE).await.unwrap().is_some());
    });
}

/// Not a test by itself: the process that [`kill_9_loses_no_accepted_delivery`] kills. Run by hand it ends at once.
#[test]
#[ignore = "the child process of another test"]
fn child_that_accepts_until_killed() {
    let mut dir = String::new();
    std::io::stdin().read_line(&mut dir).unwrap();
    let dir = dir.trim();
    if dir.is_empty() {
        return;
    }
    run(async {
        let store = Arc::new(SqliteStore::open(&SqliteOptions::new(dir)).await.unwrap());
        let accepting = (0..4).map(|worker| {
            let store = store.clone();
            tokio::spawn(async move {
                for n in 0..100_000 {
                    let id = format!("d-{worker}-{n}");
                    let new = delivery(&id, n, vec![deep(pull(u64::try_from(n % 50).unwrap()))]);
                    store.accept(new).await.unwrap();
                    // One write a line: a torn line is not counted by the parent.
                    std::io::stdout()
                        .write_all(format!("accepted {id}\n").as_bytes())
                        .unwrap();
                }
            })
        });
        for task in accepting.collect::<Vec<_>>() {
            task.await.unwrap();
        }
    });
}

#[test]
fn kill_9_loses_no_accepted_delivery() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "store_sqlite::child_that_accepts_until_killed",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{}", dir.path().display()).unwrap();
    let mut acknowledged = Vec::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines.by_ref() {
        // libtest writes its own words before the first line, without a line end.
        if let Some((_, id)) = line.unwrap().split_once("accepted ") {
            acknowledged.push(id.to_owned());
        }
        if acknowledged.len() == 300 {
            child.kill().unwrap(); // SIGKILL on Unix
        }
    }
    child.wait().unwrap();
    assert!(acknowledged.len() >= 300, "{}", acknowledged.len());
    run(async {
        let store = SqliteStore::open(&SqliteOptions::new(dir.path()))
            .await
            .unwrap();
        for id in &acknowledged {
            let seconds = id.rsplit('-').next().unwrap().parse().unwrap();
            let accepted = store.accept(delivery(id, seconds, Vec::new())).await;
            assert_eq!(accepted.unwrap(), Accepted::Requeued, "{id} was lost");
        }
        assert_eq!(store.queue_depth().await.unwrap(), 50);
    });
}
