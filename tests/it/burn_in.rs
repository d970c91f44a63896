//! The clocks of agent identities in the running server: met, rejected, promoted once, never blocking by accident.

use crate::journey::spec_of;
use crate::store_sqlite::sql;
use crate::world::{Crash, INBOX, REPO, World};
use fake_github::PullSpec;
use quadgate::tick;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const DAY: Duration = Duration::from_hours(24);
const AGENT: &str = "codex/gpt-5";

fn by_agent(spec: PullSpec) -> PullSpec {
    spec.commits([
        "Change a thing\n\nAgent-Tool: codex\nAgent-Model: gpt-5\nAgent-Session: s_ab12-cd\n\
                   Agent-Machine: box-1\nTask-Ref: Issue#7\n",
    ])
}

async fn promote(world: &World) {
    tick::promote(world.app().bench())
        .await
        .expect("the tick ends");
}

/// What the store keeps.
async fn kept(world: &World) -> Value {
    let kept = world.app().bench().store.meta("l4_burn_in").await;
    kept.expect("store").map_or(Value::Null, |text| {
        serde_json::from_str(&text).expect("JSON")
    })
}

fn file(world: &World) -> PathBuf {
    world.dir.path().join("bot-state/tick_metrics.json")
}

fn shown(world: &World) -> Value {
    let text = std::fs::read_to_string(file(world)).expect("the file");
    serde_json::from_str(&text).expect("JSON")
}

#[tokio::test]
async fn an_identity_that_is_met_is_promoted_once_its_time_is_over() {
    let world = World::start().await;
    world.github.open_pull(REPO, &by_agent(spec_of('B')));
    world.settle().await;
    let clocks = kept(&world).await;
    assert_eq!(clocks[AGENT]["started_at"], "2026-01-05T09:00:00Z");

    world.advance(59 * DAY);
    promote(&world).await;
    assert_eq!(world.log_of("promoted").len(), 0, "a day too early");
    assert_eq!(shown(&world), json!({"l4_burn_in": kept(&world).await}));

    world.advance(DAY);
    for _ in 0..3 {
        promote(&world).await;
    }
    let entries = world.log_of("promoted");
    assert_eq!(entries.len(), 1, "one entry, however often the tick looks");
    assert_eq!(entries[0]["agent"], AGENT);
    assert_eq!(entries[0]["clock_started_at"], "2026-01-05T09:00:00Z");
    assert!(kept(&world).await[AGENT]["promoted_at"].is_string());
    assert_eq!(shown(&world)["l4_burn_in"], kept(&world).await);
    world.assert_clean().await;
}

#[tokio::test]
async fn an_owners_rejection_starts_the_clock_again() {
    let world = World::start().await;
    let number = world.github.open_pull(REPO, &by_agent(spec_of('D')));
    world.settle().await;
    let issue = world.issue().number;
    world.advance(40 * DAY);
    world
        .github
        .as_user("octo-owner")
        .comment(INBOX, issue, "/reject");
    world.settle().await;
    assert!(!world.github.pull(REPO, number).open);
    let clock = kept(&world).await[AGENT].clone();
    assert_eq!(clock["started_at"], clock["last_rejection_at"]);
    assert_ne!(clock["started_at"], "2026-01-05T09:00:00Z");

    world.advance(59 * DAY);
    promote(&world).await;
    assert_eq!(world.log_of("promoted").len(), 0);
    world.advance(DAY);
    promote(&world).await;
    assert_eq!(world.log_of("promoted").len(), 1);
}

#[tokio::test]
async fn an_approval_or_another_ones_pull_request_leaves_the_clock_alone() {
    let world = World::start().await;
    world.github.open_pull(REPO, &by_agent(spec_of('B')));
    world.github.open_pull(REPO, &spec_of('D'));
    world.settle().await;
    world.advance(Duration::from_mins(1));
    let issue = world
        .github
        .open_issues(INBOX)
        .into_iter()
        .find(|issue| issue.labels == ["decision:pending-owner"])
        .expect("asked");
    world
        .github
        .as_user("octo-owner")
        .comment(INBOX, issue.number, "/reject");
    world.settle().await;
    assert_eq!(
        kept(&world).await,
        json!({AGENT: {"started_at": "2026-01-05T09:00:00Z", "last_rejection_at": null, "promoted_at": null}})
    );
}

#[tokio::test]
async fn zero_days_promote_nobody() {
    let mut world = World::arranged().await;
    let env = "bot_app_slug: quadgate\nallow_no_ci: true\nl4_burn_in_days: 0\n";
    world.config.insert("env.yml", env.to_owned());
    world.serve().await.expect("the server starts");
    world.github.open_pull(REPO, &by_agent(spec_of('B')));
    world.settle().await;
    world.advance(3_000 * DAY);
    promote(&world).await;
    assert_eq!(world.log_of("promoted").len(), 0);
}

#[tokio::test]
async fn a_crash_between_entry_and_promotion_writes_no_second_entry() {
    let armed = Arc::new(AtomicBool::new(true));
    for step in ["promotion-audited", "promotion-kept"] {
        armed.store(true, Ordering::SeqCst);
        let mut world = World::arranged().await;
        let once = Arc::clone(&armed);
        world.fault_point = Arc::new(move |at| {
            if at == step && once.swap(false, Ordering::SeqCst) {
                std::panic::resume_unwind(Box::new(Crash));
            }
        });
        world.serve().await.expect("the server starts");
        world.github.open_pull(REPO, &by_agent(spec_of('B')));
        world.settle().await;
        world.advance(60 * DAY);
        let bench = Arc::clone(world.app().bench());
        let ended = tokio::spawn(async move { tick::promote(&bench).await }).await;
        assert!(ended.expect_err("a crash").into_panic().is::<Crash>());

        world.crash().await;
        world.advance(DAY);
        promote(&world).await;
        assert_eq!(world.log_of("promoted").len(), 1, "{step}");
        assert!(kept(&world).await[AGENT]["promoted_at"].is_string());
    }
}

#[tokio::test]
async fn unreadable_clocks_start_again() {
    for (broken, left) in [
        ("not json", false),
        ("[]", false),
        (r#"{"codex/gpt-5":{"started_at":"yesterday"}}"#, true),
        (
            r#"{"codex/gpt-5":{"started_at":"2031-01-01T00:00:00Z"}}"#,
            true,
        ),
    ] {
        let world = World::start().await;
        let store = &world.app().bench().store;
        store.set_meta("l4_burn_in", broken).await.expect("store");
        world.advance(100 * DAY);
        promote(&world).await;
        assert_eq!(world.log_of("promoted").len(), 0, "{broken}");
        let clocks = kept(&world).await;
        assert_eq!(clocks.get(AGENT).is_some(), left, "{broken}: {clocks}");
        world.advance(60 * DAY);
        promote(&world).await;
        assert_eq!(
            world.log_of("promoted").len(),
            usize::from(left),
            "{broken}"
        );
    }
}

#[tokio::test]
async fn the_clocks_of_the_reference_implementation_are_taken_over_once() {
    let mut world = World::arranged().await;
    let dir = world.dir.path().join("bot-state");
    std::fs::create_dir_all(&dir).expect("a folder");
    let before = json!({"quadrant_d_count": 7, "l4_burn_in": {
        AGENT: {"started_at": "2025-12-01T00:00:00Z"}, "odd/one": {"since": 3}}});
    std::fs::write(dir.join("tick_metrics.json"), before.to_string()).expect("written");
    world.serve().await.expect("the server starts");
    promote(&world).await;
    let clocks = kept(&world).await;
    assert_eq!(clocks[AGENT]["started_at"], "2025-12-01T00:00:00Z");
    assert_eq!(clocks["odd/one"]["started_at"], "2026-01-05T09:00:00Z");
    assert_eq!(
        shown(&world)["quadrant_d_count"],
        7,
        "the rest of the file stays"
    );

    // From now on the store counts.
    std::fs::write(file(&world), r#"{"l4_burn_in": {}}"#).expect("written");
    promote(&world).await;
    assert_eq!(kept(&world).await, clocks);
    assert_eq!(shown(&world)["l4_burn_in"], clocks);

    // A file that is something else is left alone.
    std::fs::write(file(&world), "mine").expect("written");
    promote(&world).await;
    assert_eq!(
        std::fs::read_to_string(file(&world)).expect("the file"),
        "mine"
    );
}

/// A store that does not answer once is no reason for any clock to start again.
#[tokio::test]
async fn clocks_that_cannot_be_read_for_a_moment_stay_as_they_are() {
    let world = World::start().await;
    world.github.open_pull(REPO, &by_agent(spec_of('B')));
    world.settle().await;
    let clocks = kept(&world).await;
    world.advance(DAY);

    let data = world.dir.path().join("data");
    sql(&data, "ALTER TABLE meta RENAME TO meta_away").await;
    let told = tick::promote(world.app().bench()).await;
    assert!(told.is_err(), "the tick says that it could not look");
    let other = spec_of('B').commits(["Change it\n\nAgent-Tool: codex\nAgent-Model: other\n"]);
    world.github.open_pull(REPO, &other);
    world.work().await;
    sql(&data, "ALTER TABLE meta_away RENAME TO meta").await;

    assert_eq!(kept(&world).await, clocks);
    world.settle().await;
    world.assert_clean().await;
}
