//! What is kept of each decision: the facts it was computed from, its explanation, its place in the log.

use crate::cli::quadgate;
use crate::journey::spec_of;
use crate::world::{Crash, REPO, World};
use quadgate::domain::{PullNumber, RepoId};
use quadgate::rules::{Basis, Explanation};
use quadgate::store::{Decision, DecisionRow};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The world's configuration as a directory.
pub fn config(world: &World) -> PathBuf {
    let dir = world.dir.path().join("config");
    std::fs::create_dir_all(&dir).expect("a folder");
    for (name, text) in &world.config {
        std::fs::write(dir.join(name), text).expect("written");
    }
    std::fs::write(dir.join("server.yml"), world.server_yml()).expect("written");
    dir
}

fn repo_id(world: &World) -> RepoId {
    let entry = world.log().first().expect("an entry").clone();
    RepoId(entry["repo_id"].as_u64().expect("an id"))
}

async fn rows(world: &World, number: u64) -> Vec<DecisionRow> {
    let store = &world.app().bench().store;
    store
        .decisions_of(repo_id(world), PullNumber(number), 10)
        .await
        .expect("the store works")
}

async fn whole(world: &World, id: &str) -> Decision {
    let store = &world.app().bench().store;
    let found = store.decision(id).await.expect("the store works");
    found.expect("kept")
}

#[tokio::test]
async fn each_decision_is_kept_with_facts_explanation_and_entry() {
    let world = World::start().await;
    let config = config(&world);
    for (number, quadrant) in (1..).zip(['A', 'B', 'C', 'D']) {
        world.github.open_pull(REPO, &spec_of(quadrant));
        world.settle().await;
        let log = world.log_of("classification");
        let entry = log.last().expect("an entry");
        let rows = rows(&world, number).await;
        let [row] = rows.as_slice() else {
            panic!("one decision: {rows:?}");
        };
        assert_eq!(row.quadrant.letter(), quadrant.to_string());
        assert_eq!(entry["decision"], row.id.as_str());
        let place = row.entry.clone().expect("it is in the log");
        assert_eq!(
            (&entry["seq"], &entry["hash"]),
            (&place.seq.into(), &place.hash.into())
        );
        assert_eq!(entry["policy"], row.policy.as_str());

        let decision = whole(&world, &row.id).await;
        let basis: Basis = decision.facts.read("facts").expect("read").expect("kept");
        assert_eq!(basis.owners.len(), 1, "the owner that was pinned");
        let kept: Explanation = decision
            .explanation
            .read("the explanation")
            .expect("read")
            .expect("kept");
        assert_eq!(kept.files.len(), basis.facts.files.items().len());
        // The same facts at the command line are explained with the same document.
        let file = world.dir.path().join("facts.json");
        std::fs::write(&file, serde_json::to_vec(&basis.facts).expect("JSON")).expect("written");
        let run = quadgate(&[
            "explain",
            "--json",
            "--facts",
            file.to_str().expect("text"),
            "--config",
            config.to_str().expect("text"),
        ]);
        let printed: Value = serde_json::from_str(&run.out).expect(&run.err);
        assert_eq!(printed, serde_json::to_value(&kept).expect("JSON"));
    }
    world.assert_clean().await;
}

#[tokio::test]
async fn a_crash_between_plan_and_log_leaves_one_decision_with_its_entry() {
    for step in ["plan-saved", "audit-written", "audit-noted"] {
        let mut world = World::arranged().await;
        let armed = Arc::new(AtomicBool::new(true));
        let point = Arc::clone(&armed);
        world.fault_point = Arc::new(move |at| {
            if at == step && point.swap(false, Ordering::SeqCst) {
                std::panic::resume_unwind(Box::new(Crash));
            }
        });
        world.serve().await.expect("the server starts");
        world.github.open_pull(REPO, &spec_of('D'));
        assert!(world.settle_or_crash().await.is_err(), "{step}");
        world.crash().await;
        world.settle().await;
        let log = world.log_of("classification");
        let rows = rows(&world, 1).await;
        assert_eq!((log.len(), rows.len()), (1, 1), "{step}");
        let entry = rows[0].entry.clone().expect(step);
        assert_eq!(log[0]["decision"], rows[0].id.as_str());
        assert_eq!(log[0]["hash"], entry.hash, "{step}");
    }
}

#[tokio::test]
async fn every_head_has_its_own_and_a_repeated_look_adds_none() {
    let world = World::start().await;
    world.github.open_pull(REPO, &spec_of('B'));
    world.settle().await;
    world.advance(Duration::from_secs(60));
    let more = [fake_github::FileSpec::modified(
        "src/engine.rs",
        "fn a() { 1 }\n",
        "fn a() { 3 }\n",
    )];
    world.github.push(REPO, 1, "More", &more);
    world.settle().await;
    world.github.add_label(REPO, "question", "cc0000", "");
    world.github.as_user("octo-dev").label(REPO, 1, "question");
    world.settle().await;
    let rows = rows(&world, 1).await;
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(
        rows[0].head_sha.as_str(),
        world.github.pull(REPO, 1).head_sha
    );
    assert!(rows[0].at > rows[1].at);
}

#[tokio::test]
async fn what_is_not_to_be_kept_is_not() {
    let mut world = World::arranged().await;
    world.server_lines = "retention: {decision_days: 0}\n".to_owned();
    world.serve().await.expect("the server starts");
    world.github.open_pull(REPO, &spec_of('D'));
    world.settle().await;
    assert_eq!(world.log_of("classification").len(), 1);
    assert_eq!(rows(&world, 1).await, []);
}

#[tokio::test]
async fn the_sweep_forgets_decisions_whose_time_is_over() {
    let mut world = World::start().await;
    for quadrant in ['A', 'D'] {
        world.github.open_pull(REPO, &spec_of(quadrant));
        world.settle().await;
    }
    world.stop().await;
    world.advance(Duration::from_secs(181 * 86_400));
    world.workers = 1;
    world.serve().await.expect("the server starts");
    let forgotten = async {
        while !rows(&world, 1).await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), forgotten)
        .await
        .expect("the sweep forgets it");
    assert_eq!(rows(&world, 2).await.len(), 1, "its Issue is open");
    assert_eq!(
        world.log_of("classification").len(),
        2,
        "the log is kept for good"
    );
    world.stop().await;
}
