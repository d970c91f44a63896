//! `merge.mode`: `auto` and `queue` hand the pull request over to GitHub.

use crate::merging::{
    MESSAGE, arranged, ci, merge_calls, merged, merging_with, ripe, says, signed,
};
use crate::world::{REPO, World};
use fake_github::FileSpec;
use std::sync::{Arc, Mutex};

/// GitHub itself asks for a review that is not there, so that auto-merge can be switched on.
async fn waiting_for_github(mode: &str) -> World {
    let world = merging_with(&format!("  mode: {mode}\n")).await;
    world.github.require_checks(REPO, &["review"]);
    world
}

#[tokio::test]
async fn auto_merge_is_switched_on_and_off_again() {
    let world = waiting_for_github("auto").await;
    let number = ripe(&world, &signed('A')).await;
    world.settle().await;
    assert!(world.github.auto_merge(REPO, number));
    assert!(!merged(&world, number));
    let entry = &world.log_of("merged")[0];
    assert_eq!(entry["merge_mode"], "auto");
    assert_eq!(entry["merge_method"], "squash");

    // A look that changes nothing leaves it so.
    world.github.clear_requests();
    ci(&world, number, "lint", Some("success"));
    world.settle().await;
    assert_eq!(world.github.count("POST /graphql"), 0);

    // CI turns red: it is switched off again.
    ci(&world, number, "build", Some("failure"));
    world.settle().await;
    assert!(!world.github.auto_merge(REPO, number));
    assert!(says(&world, number).contains("switched off again"));
    let because = world.log_of("merge_refused")[0]["refused_because"].to_string();
    assert!(
        because.contains("C2") && because.contains("auto-merge"),
        "{because}"
    );
    world.assert_clean().await;
}

#[tokio::test]
async fn auto_merge_of_what_is_clean_merges_at_once() {
    let world = merging_with("  mode: auto\n").await;
    let number = ripe(&world, &signed('A')).await;
    world.settle().await;
    assert!(merged(&world, number));
    assert_eq!(merge_calls(&world), 1);
    world.assert_clean().await;
}

#[tokio::test]
async fn what_a_person_switched_off_is_not_switched_on_again() {
    let world = waiting_for_github("auto").await;
    let number = ripe(&world, &signed('A')).await;
    world.settle().await;
    world.github.switch_auto_merge_off(REPO, number);
    quadgate::tick::look_for_missed(world.app().bench())
        .await
        .expect("a sweep");
    world.settle().await;
    assert!(!world.github.auto_merge(REPO, number));
    assert!(says(&world, number).contains("no longer has"));
    world.assert_clean().await;
}

#[tokio::test]
async fn the_merge_queue_is_entered_once() {
    let world = waiting_for_github("queue").await;
    let number = ripe(&world, &signed('A')).await;
    world.settle().await;
    assert!(world.github.queued(REPO, number));
    let entry = &world.log_of("merged")[0];
    assert_eq!(entry["merge_mode"], "queue");
    assert!(entry["merge_method"].is_null());

    // The queue drops it: it does not enter again by itself.
    world.github.dequeue(REPO, number);
    quadgate::tick::look_for_missed(world.app().bench())
        .await
        .expect("a sweep");
    world.settle().await;
    assert!(!world.github.queued(REPO, number));
    assert_eq!(world.log_of("merged").len(), 1);

    let run = world.check(number).id;
    world.github.as_user("octo-owner").rerequest(REPO, run);
    world.settle().await;
    assert!(world.github.queued(REPO, number));
    assert_eq!(world.log_of("merged").len(), 2);
    world.assert_clean().await;
}

#[tokio::test]
async fn a_push_between_judgement_and_auto_merge_switches_nothing_on() {
    let mut world = arranged("  mode: auto\n").await;
    world.github.require_checks(REPO, &["review"]);
    let github = Arc::clone(&world.github);
    let armed = Arc::new(Mutex::new(false));
    let trigger = Arc::clone(&armed);
    world.fault_point = Arc::new(move |at| {
        if at == "plan-saved" && std::mem::take(&mut *trigger.lock().expect("whole")) {
            let file = FileSpec::added(".github/workflows/x.yml", "on: push\n");
            github.push(REPO, 1, MESSAGE, &[file]);
        }
    });
    world.serve().await.expect("the server starts");
    let number = ripe(&world, &signed('A')).await;
    *armed.lock().expect("whole") = true;
    world.settle().await;
    assert!(!world.github.auto_merge(REPO, number));
    assert_eq!(
        world.log_of("merged").len(),
        world.log_of("merge_refused").len()
    );
    world.assert_clean().await;
}
