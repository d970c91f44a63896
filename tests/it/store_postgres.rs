//! What only the PostgreSQL store has: replicas on one database, seats, a server that goes away.
//!
//! Needs a server: `scripts/ci/postgres` starts one and runs these.

use crate::database::Database;
use crate::store_contract::{
    Chain, Given, LEASE, at, claimed, deep, delivery, nothing_due, plan, pull, run,
};
use quadgate::store::postgres::{PostgresBeside, PostgresOptions, PostgresStore, Role, Seat};
use quadgate::store::*;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::Duration;

mod contract {
    use super::given;
    crate::store_contract::contract!(given(); #[ignore = "needs PostgreSQL: scripts/ci/postgres"]);
}

/// The wake-up of work that others took in would disturb tests that count wake-ups.
fn quiet(database: &Database) -> PostgresOptions {
    PostgresOptions {
        look: Duration::from_hours(1),
        ..PostgresOptions::new(database.secret())
    }
}

async fn given() -> Given {
    let database = Database::new().await;
    let store = PostgresStore::open(&quiet(&database)).await.unwrap();
    Given {
        store: Arc::new(store),
        _keep: Box::new(database),
    }
}

async fn replica(database: &Database) -> PostgresStore {
    PostgresStore::open(&PostgresOptions::new(database.secret()))
        .await
        .unwrap()
}

#[test]
#[ignore = "needs PostgreSQL: scripts/ci/postgres"]
fn replicas_that_start_together_make_one_schema() {
    run(async {
        let database = Database::new().await;
        let opening = (0..6).map(|_| {
            let options = quiet(&database);
            tokio::spawn(async move { PostgresStore::open(&options).await.map(drop) })
        });
        for opened in opening.collect::<Vec<_>>() {
            opened.await.unwrap().unwrap();
        }
        let versions = database
            .number("SELECT COUNT(*) - COUNT(DISTINCT version) FROM schema_version")
            .await;
        assert_eq!(versions, 0, "no version was applied twice");
    });
}

#[test]
#[ignore = "needs PostgreSQL: scripts/ci/postgres"]
fn a_replica_that_starts_ends_nobodys_lease_and_takes_over_what_ran_out() {
    run(async {
        let database = Database::new().await;
        let first = replica(&database).await;
        first.enqueue(deep(pull(12)), at(0)).await.unwrap();
        let claim = claimed(&first, 1).await;
        first.save_plan(&claim, &plan(2)).await.unwrap();
        let second = replica(&database).await;
        assert!(nothing_due(&second, 2).await, "the first one works on it");
        first
            .renew(&claim, at(30), LEASE)
            .await
            .expect("still its own");
        assert!(nothing_due(&second, 89).await);
        let taken = claimed(&second, 91).await;
        assert_eq!((taken.attempts, taken.plan.unwrap().effects.len()), (1, 2));
        let late = first.finish(&claim, Finish::new(None, at(92))).await;
        assert!(matches!(late, Err(StoreError::LeaseLost { .. })));
    });
}

#[test]
#[ignore = "needs PostgreSQL: scripts/ci/postgres"]
fn work_that_one_replica_takes_in_wakes_the_others() {
    run(async {
        let database = Database::new().await;
        let (first, second) = (replica(&database).await, replica(&database).await);
        let mut wake = second.wakeup();
        wake.mark_unchanged();
        let new = delivery("d-1", 0, vec![deep(pull(1))]);
        first.accept(new).await.unwrap();
        tokio::time::timeout(Duration::from_secs(1), wake.changed())
            .await
            .expect("within a second")
            .unwrap();
        assert_eq!(claimed(&second, 1).await.subject, pull(1));
    });
}

#[test]
#[ignore = "needs PostgreSQL: scripts/ci/postgres"]
fn a_seat_has_one_holder_and_is_free_when_it_is_gone() {
    run(async {
        let database = Database::new().await;
        let seat = |role| Seat::new(&database.secret(), role).unwrap();
        let (mut first, mut second) = (seat(Role::Tick), seat(Role::Tick));
        let mut other = seat(Role::Audit);
        assert!(first.hold().await && first.hold().await);
        assert!(!second.hold().await);
        assert!(other.hold().await, "another seat");
        drop(first);
        let free = async { while !second.hold().await {} };
        tokio::time::timeout(Duration::from_secs(5), free)
            .await
            .expect("taken over");
        // The server ends the holder's connection: it no longer has the seat, and may take it again.
        database
            .sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()")
            .await;
        assert!(!second.hold().await, "it was lost");
        assert!(second.hold().await, "and was free");
    });
}

#[test]
#[ignore = "needs PostgreSQL: scripts/ci/postgres"]
fn a_lost_connection_is_unavailable_once_and_then_made_anew() {
    run(async {
        let database = Database::new().await;
        let store = PostgresStore::open(&quiet(&database)).await.unwrap();
        store.bump("x", 1).await.unwrap();
        database
            .sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()")
            .await;
        // The pool notices by itself, or the one call fails.
        match store.bump("x", 1).await {
            Ok(_) | Err(StoreError::Unavailable(_)) => {}
            Err(error) => panic!("{error}"),
        }
        store.bump("x", 1).await.expect("a new connection");
        store.close().await;
        assert!(matches!(
            store.bump("x", 1).await,
            Err(StoreError::Unavailable(_))
        ));
    });
}

#[test]
#[ignore = "needs PostgreSQL: scripts/ci/postgres"]
fn a_newer_schema_is_refused_unless_it_says_that_this_program_may_go_on() {
    run(async {
        let database = Database::new().await;
        replica(&database).await.close().await;
        let known = database
            .number("SELECT MAX(version) FROM schema_version")
            .await;
        let next = known + 1;
        database
            .sql(&format!(
                "INSERT INTO schema_version (version, compatible_from) VALUES ({next}, {known})"
            ))
            .await;
        let store = replica(&database).await;
        store.bump("x", 1).await.expect("works");
        PostgresBeside::look(&database.secret())
            .await
            .expect("commands too")
            .counters()
            .await
            .unwrap();
        database
            .sql(&format!(
                "INSERT INTO schema_version (version, compatible_from) VALUES ({}, {next})",
                next + 1
            ))
            .await;
        let error = PostgresStore::open(&quiet(&database)).await.err().unwrap();
        assert!(matches!(error, StoreError::NewerSchema { .. }), "{error}");
    });
}

#[test]
#[ignore = "needs PostgreSQL: scripts/ci/postgres"]
fn counters_raised_in_any_order_do_not_lock_each_other_out() {
    run(async {
        let database = Database::new().await;
        let store = Arc::new(replica(&database).await);
        let raising = (0..40_u64).map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                store.enqueue(deep(pull(n)), at(0)).await.unwrap();
                let claim = claimed(&*store, 1).await;
                let (a, b) = ("a".to_owned(), "b".to_owned());
                let finish = Finish {
                    count: if n % 2 == 0 { vec![a, b] } else { vec![b, a] },
                    ..Finish::new(None, at(2))
                };
                store.finish(&claim, finish).await.unwrap();
            })
        });
        for raised in raising.collect::<Vec<_>>() {
            raised.await.unwrap();
        }
        let counters = store.counters().await.unwrap();
        assert_eq!((counters["a"], counters["b"]), (40, 40));
    });
}

#[test]
#[ignore = "needs PostgreSQL: scripts/ci/postgres"]
fn work_that_others_are_in_the_way_of_is_done_again() {
    run(async {
        let database = Arc::new(Database::new().await);
        let store = Arc::new(replica(&database).await);
        store.bump("x", 1).await.unwrap();
        // Longer than a lock is waited for.
        let holding = {
            let database = database.clone();
            tokio::spawn(async move {
                database
                    .sql("BEGIN; UPDATE counter SET value = value; SELECT pg_sleep(6); COMMIT")
                    .await;
            })
        };
        while database
            .number("SELECT COUNT(*) FROM pg_locks WHERE relation = 'counter'::regclass")
            .await
            == 0
        {}
        assert_eq!(store.bump("x", 1).await.unwrap(), 2);
        holding.await.unwrap();
    });
}

#[test]
#[ignore = "needs PostgreSQL: scripts/ci/postgres"]
fn many_replicas_append_one_chain() {
    run(async {
        let database = Database::new().await;
        let first = replica(&database).await;
        first.open_chain(None, "start").await.unwrap();
        let appending = (0..4).map(|r| {
            let options = PostgresOptions::new(database.secret());
            tokio::spawn(async move {
                let store = PostgresStore::open(&options).await.unwrap();
                for n in 0..25 {
                    let decision = format!("{r}-{n}");
                    let entry: Arc<dyn Chained> = Arc::new(Chain(decision));
                    store.append_audit(vec![entry]).await.unwrap();
                }
            })
        });
        for appended in appending.collect::<Vec<_>>() {
            appended.await.unwrap();
        }
        let lines = first.chain_behind(0, 1000).await.unwrap();
        assert_eq!(lines.len(), 100);
        let mut prev = "start".to_owned();
        for (line, seq) in lines.iter().zip(1..) {
            assert_eq!(line.at.seq, seq);
            assert!(
                line.line.ends_with(&format!("after {prev}\n")),
                "{}",
                line.line
            );
            prev.clone_from(&line.at.hash);
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL: scripts/ci/postgres"]
fn no_message_holds_the_password() {
    run(async {
        for url in [
            "postgres://quadgate:hunter2@127.0.0.1:1/nowhere",
            "postgres://quadgate:hunter2@no host/nowhere",
            "mysql://quadgate:hunter2@127.0.0.1/nowhere",
            "postgres://quadgate:hunter2@127.0.0.1:99999/nowhere",
        ] {
            let options = PostgresOptions {
                patience: Duration::ZERO,
                ..PostgresOptions::new(SecretString::from(url))
            };
            let error = PostgresStore::open(&options).await.err().unwrap();
            assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
            assert!(!format!("{options:?}").contains("hunter2"));
        }
    });
}
