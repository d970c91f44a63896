//! `quadgate status` beside a running server, on a store that is not there, and on one of another version.

use crate::answers::asked;
use crate::cli::{Run, quadgate};
use crate::world::{INBOX, REPO, World};
use quadgate::tick;
use serde_json::Value;
use std::path::PathBuf;

/// The world's configuration as a directory.
fn config(world: &World) -> PathBuf {
    let dir = world.dir.path().join("config");
    std::fs::create_dir_all(&dir).expect("a folder");
    for (name, text) in &world.config {
        std::fs::write(dir.join(name), text).expect("written");
    }
    std::fs::write(dir.join("server.yml"), world.server_yml()).expect("written");
    dir
}

fn status(world: &World, more: &[&str]) -> Run {
    let dir = config(world);
    let mut arguments = vec!["status", "--config", dir.to_str().expect("text")];
    arguments.extend(more);
    quadgate(&arguments)
}

fn files(world: &World) -> Vec<(String, u64)> {
    let listed = std::fs::read_dir(world.dir.path().join("data")).expect("a folder");
    let mut files: Vec<_> = listed
        .map(|entry| {
            let entry = entry.expect("an entry");
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, entry.metadata().expect("known").len())
        })
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn how_things_stand_beside_a_running_server_and_after_it() {
    let (mut world, number, issue) = asked().await;
    tick::promote(world.app().bench()).await.expect("the tick");
    for running in [true, false] {
        if !running {
            world.stop().await;
        }
        let before = files(&world);
        let run = status(&world, &["--json"]);
        // This machine's clock is far from that of the test: no tick was seen for long.
        assert_eq!(run.code, 1, "{}{}", run.out, run.err);
        assert!(run.err.contains("tick"), "{}", run.err);
        let document: Value = serde_json::from_str(&run.out).expect("JSON");
        assert_eq!(document["queue"]["depth"], 0);
        assert_eq!(document["dead_letters"], serde_json::json!([]));
        let pending = &document["pending_decisions"][0];
        assert_eq!(pending["pr"], format!("{REPO}#{number}"));
        assert_eq!(pending["issue"], format!("{INBOX}#{issue}"));
        assert_eq!(document["installations"][0]["status"], "active");
        let last = world.log().last().expect("entries").clone();
        assert_eq!(document["audit_tail"]["seq"], last["seq"]);
        assert_eq!(document["audit_tail"]["hash"], last["hash"]);

        let run = status(&world, &[]);
        assert_eq!(run.code, 1);
        assert!(run.out.contains("pending        1 decision"), "{}", run.out);
        assert!(run.out.contains("queue          empty"), "{}", run.out);
        assert!(!run.out.contains('\u{1b}'), "no colours in a pipe");
        let same_size = |files: Vec<(String, u64)>| -> Vec<_> {
            files
                .into_iter()
                .filter(|(name, _)| name == "quadgate.sqlite3")
                .collect()
        };
        assert_eq!(
            same_size(before),
            same_size(files(&world)),
            "nothing is written"
        );
    }
    // It takes no lock: the server starts again at once.
    world.serve().await.expect("the server starts");
}

#[tokio::test]
async fn without_a_store_it_says_what_to_do() {
    let world = World::arranged().await;
    let run = status(&world, &[]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("has the server run"), "{}", run.err);
    assert!(!world.dir.path().join("data").exists(), "nothing is made");
}

#[tokio::test]
async fn the_store_of_another_version_is_left_alone() {
    let mut world = World::start().await;
    world.stop().await;
    for (version, expected) in [
        (99, "newer program"),
        (1, "start this version's server once"),
    ] {
        set_version(&world, version).await;
        let run = status(&world, &[]);
        assert_eq!(run.code, 2, "{}", run.out);
        assert!(run.err.contains(expected), "{}", run.err);
    }
}

async fn set_version(world: &World, version: i64) {
    use sqlx::Connection;
    sqlx::any::install_default_drivers();
    let file = world.dir.path().join("data/quadgate.sqlite3");
    let url = format!("sqlite://{}?mode=rw", file.display());
    let mut conn = sqlx::AnyConnection::connect(&url).await.expect("opens");
    sqlx::query("DELETE FROM schema_version")
        .execute(&mut conn)
        .await
        .expect("sql");
    sqlx::query("INSERT INTO schema_version (version) VALUES ($1)")
        .bind(version)
        .execute(&mut conn)
        .await
        .expect("sql");
    conn.close().await.expect("closes");
}
