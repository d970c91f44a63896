//! Merges that GitHub refuses, that are overtaken, or that a crash interrupts: one merge at most, and a log that is true.

use crate::crashes::Steps;
use crate::merging::{
    MERGE, MESSAGE, arranged, ci, merge_calls, merged, merging, opened, ready, ripe, says, signed,
    status,
};
use crate::world::{Crash, INBOX, REPO, World};
use fake_github::{FaultAnswer, FaultKind, FaultRule, FileSpec};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[tokio::test]
async fn a_push_between_judgement_and_merge_does_not_merge() {
    for step in ["gate-read", "plan-saved", "effect-started"] {
        let mut world = arranged("").await;
        let github = Arc::clone(&world.github);
        let armed = Arc::new(Mutex::new(false));
        let trigger = Arc::clone(&armed);
        world.fault_point = Arc::new(move |at| {
            if at == step && std::mem::take(&mut *trigger.lock().expect("whole")) {
                let file = FileSpec::added(".github/workflows/x.yml", "on: push\n");
                github.push(REPO, 1, MESSAGE, &[file]);
            }
        });
        world.serve().await.expect("the server starts");
        let number = ripe(&world, &signed('A')).await;
        *armed.lock().expect("whole") = true;
        world.settle().await;
        assert!(!*armed.lock().expect("whole"), "{step} was not reached");
        assert!(!merged(&world, number), "push at {step}");
        assert!(says(&world, number).contains("**C3** (P0)"), "a D by now");
        // The log takes back what it said was ordered.
        assert_eq!(
            world.log_of("merged").len(),
            world.log_of("merge_refused").len(),
            "{step}"
        );
        world.assert_clean().await;
    }
}

fn refusing(world: &World, status: u16, message: &str, times: u32) {
    let answer = FaultAnswer::new(status, message);
    world
        .github
        .fail(FaultRule::answer("PUT", MERGE, answer).times(times));
}

#[tokio::test]
async fn a_refusal_is_said_and_logged_once_and_not_tried_in_a_loop() {
    for (status, words) in [
        (405, "Required status check is expected"),
        (422, "Cannot be carried out"),
        (403, "Resource not accessible by integration"),
    ] {
        let world = merging().await;
        let number = ripe(&world, &signed('A')).await;
        refusing(&world, status, words, u32::MAX);
        world.settle().await;
        assert!(!merged(&world, number));
        assert_eq!(merge_calls(&world), 1, "{status}");
        assert!(
            says(&world, number).contains(words),
            "{}",
            says(&world, number)
        );
        assert_eq!(world.log_of("merged").len(), 1);
        let refused = world.log_of("merge_refused");
        assert_eq!(refused.len(), 1, "{status}");
        assert!(
            refused[0]["refused_because"][0]
                .as_str()
                .expect("text")
                .contains(words)
        );

        // The same ground: a look changes nothing.
        quadgate::tick::look_for_missed(world.app().bench())
            .await
            .expect("a sweep");
        world.settle().await;
        assert_eq!(merge_calls(&world), 1, "{status}");
        assert_eq!(world.log_of("merge_refused").len(), 1);

        // Something changes: it is tried again, and the log tells both.
        world.github.clear_faults();
        ci(&world, number, "build", Some("success"));
        world.settle().await;
        assert!(merged(&world, number), "{status}");
        let kinds: Vec<_> = world.log().iter().map(|e| e["kind"].clone()).collect();
        assert_eq!(
            kinds,
            ["classification", "merged", "merge_refused", "merged"]
        );
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn the_re_run_button_tries_a_refused_merge_again() {
    let world = merging().await;
    let number = ripe(&world, &signed('A')).await;
    refusing(&world, 403, "Resource not accessible by integration", 1);
    world.settle().await;
    assert!(!merged(&world, number));
    let run = world.check(number).id;
    world.github.as_user("octo-owner").rerequest(REPO, run);
    world.settle().await;
    assert!(merged(&world, number));
    world.assert_clean().await;
}

#[tokio::test]
async fn a_conflict_starts_over_from_fresh_facts() {
    let world = merging().await;
    let number = ripe(&world, &signed('A')).await;
    refusing(&world, 409, "Base branch was modified", 1);
    world.settle().await;
    assert!(merged(&world, number));
    assert_eq!(merge_calls(&world), 2);
    let kinds: Vec<_> = world.log().iter().map(|e| e["kind"].clone()).collect();
    assert_eq!(
        kinds,
        ["classification", "merged", "merge_refused", "merged"]
    );

    // Without end it is a refusal.
    let number = ripe(&world, &signed('A')).await;
    refusing(&world, 409, "Base branch was modified", u32::MAX);
    world.github.clear_requests();
    world
        .settle_within(Duration::from_mins(30))
        .await
        .expect("no crash");
    assert_eq!(merge_calls(&world), 3);
    assert!(says(&world, number).contains("Base branch was modified"));
    world.assert_clean().await;
}

#[tokio::test]
async fn a_merge_whose_answer_was_lost_is_recognised() {
    let world = merging().await;
    let number = ripe(&world, &signed('A')).await;
    let lost = FaultRule::new("PUT", MERGE, FaultKind::DropAfter);
    world.github.fail(lost);
    world.settle().await;
    assert!(merged(&world, number));
    assert_eq!(merge_calls(&world), 1);
    assert_eq!(world.log_of("merged").len(), 1);
    assert_eq!(world.log_of("merge_refused").len(), 0);
    world.assert_clean().await;
}

/// What is left of a merge: the entries, the comments, whether it merged, and the counters.
type Left = (Vec<String>, usize, bool, Vec<(String, u64)>);

async fn left(world: &World, number: u64) -> Left {
    let log = world.log();
    let kinds = log.iter().map(|entry| entry["kind"].to_string()).collect();
    let counters = world.app().bench().store.counters().await.expect("store");
    let comments = world.github.comments(REPO, number).len();
    let merged = merged(world, number);
    (kinds, comments, merged, counters.into_iter().collect())
}

/// A D with a status comment and an approval turns green; the steps from there on, and what is left.
async fn run(crash_at: Option<usize>) -> (Vec<&'static str>, Left) {
    let steps = Arc::new(Steps::default());
    let mut world = arranged("").await;
    world.fault_point = steps.point();
    world.serve().await.expect("the server starts");
    let number = opened(&world, &signed('D')).await;
    ready(&world, number);
    world.settle().await;
    world.advance(Duration::from_mins(1));
    let issue = world.issue().number;
    let owner = world.github.as_user("octo-owner");
    owner.comment(INBOX, issue, "/approve A");
    world.settle().await;
    steps.arm(crash_at);
    ci(&world, number, "build", Some("success"));
    let ended = world.settle_or_crash().await;
    assert_eq!(ended.is_err(), crash_at.is_some());
    if ended.is_err() {
        world.crash().await;
        world.settle().await;
    }
    assert_eq!(world.log_of("merged").len(), 1, "{crash_at:?}");
    assert!(status(&world, number).is_some());
    world.assert_clean().await;
    (steps.taken(), left(&world, number).await)
}

#[tokio::test]
async fn a_crash_at_any_step_leaves_one_merge_one_comment_one_entry() {
    let (steps, quiet) = run(None).await;
    assert!(quiet.2, "it merges");
    for step in [
        "gate-read",
        "remembered",
        "audit-written",
        "effect-started",
        "effect-applied",
    ] {
        assert!(steps.contains(&step), "never came to {step}");
    }
    for (index, step) in steps.iter().enumerate() {
        let (_, crashed) = run(Some(index)).await;
        assert_eq!(crashed, quiet, "crash at {step} ({index})");
    }
}

#[tokio::test]
async fn an_order_that_a_crash_interrupted_is_judged_anew() {
    let armed = Arc::new(Mutex::new(false));
    let mut world = arranged("").await;
    let (trigger, github) = (Arc::clone(&armed), Arc::clone(&world.github));
    world.fault_point = Arc::new(move |step| {
        let begun = github
            .comments(REPO, 1)
            .iter()
            .any(|c| c.body.contains("merged now"));
        if step == "effect-started" && begun && std::mem::take(&mut *trigger.lock().expect("whole"))
        {
            std::panic::resume_unwind(Box::new(Crash));
        }
    });
    world.serve().await.expect("the server starts");
    let number = opened(&world, &signed('A')).await;
    ready(&world, number);
    world.settle().await;
    world.advance(Duration::from_mins(1));
    *armed.lock().expect("whole") = true;
    let run = ci(&world, number, "build", Some("success"));
    assert!(world.settle_or_crash().await.is_err());
    assert_eq!(world.log_of("merged").len(), 1, "it was ordered");

    // While the server is down CI turns red.
    world.github.finish_check_run(REPO, run, "failure");
    world.crash().await;
    world.settle().await;
    assert!(!merged(&world, number));
    assert!(says(&world, number).contains("`build` concluded `failure`"));
    let refused = world.log_of("merge_refused");
    assert_eq!(refused.len(), 1, "the log takes the order back");
    let because = refused[0]["refused_because"].to_string();
    assert!(
        because.contains("interrupted") && because.contains("C2"),
        "{because}"
    );

    ci(&world, number, "build", Some("success"));
    world.settle().await;
    assert!(merged(&world, number), "{}", says(&world, number));
    assert_eq!(world.log_of("merged").len(), 2);
    world.assert_clean().await;
}
