//! Calls that are not made: what an event cannot change is not looked at.

use crate::answers::{asked, conclusion};
use crate::journey::spec_of;
use crate::merging::{ci, merging, opened, signed};
use crate::world::{INBOX, REPO, World};
use fake_github::{FaultAnswer, FaultRule, WebhookRequest};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const UNRELATED: usize = 10_000;

/// The webhook of an end of a check that nobody requires, for the present head.
fn unrelated(world: &World, number: u64) -> WebhookRequest {
    ci(world, number, "lint", Some("success"));
    let mut webhooks = world.github.deliveries();
    let at = webhooks
        .iter()
        .position(|webhook| {
            webhook.event == "check_run" && webhook.action.as_deref() == Some("completed")
        })
        .expect("the end of a check is told");
    webhooks.swap_remove(at)
}

/// The same news again, as another delivery.
fn another(webhook: &WebhookRequest, number: usize) -> WebhookRequest {
    let guid = format!("00000000-0000-4000-8000-{number:012x}");
    let mut copy = webhook.clone();
    for (name, value) in &mut copy.headers {
        if name.eq_ignore_ascii_case("x-github-delivery") {
            value.clone_from(&guid);
        }
    }
    copy.guid = guid;
    copy
}

fn evaluations(world: &World) -> u64 {
    let text = world.app().bench().metrics.text().expect("metrics");
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("quadgate_evaluation_duration_seconds_count "));
    line.expect("the figure").parse().expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_unrelated_checks_cause_no_evaluation() {
    let world = merging().await;
    let number = opened(&world, &signed('A')).await;
    let webhook = unrelated(&world, number);
    let evaluated = evaluations(&world);
    assert!(evaluated > 0);
    world.github.clear_requests();

    let next = AtomicUsize::new(0);
    let send = || async {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= UNRELATED {
                return;
            }
            assert_eq!(world.send(&another(&webhook, number)).await, 204);
        }
    };
    tokio::join!(send(), send(), send(), send());
    assert!(!world.step().await.expect("no crash"), "nothing is to do");
    assert_eq!(evaluations(&world), evaluated);
    assert!(world.github.requests().is_empty());

    // The one that counts is looked at.
    ci(&world, number, "build", Some("success"));
    world.settle().await;
    assert!(!world.github.requests().is_empty());
    world.assert_clean().await;
}

#[tokio::test]
async fn checks_of_a_pull_request_that_is_not_ready_cost_one_call_and_no_evaluation() {
    let world = merging().await;
    let number = opened(&world, &signed('A')).await;
    let evaluated = evaluations(&world);
    for conclusion in ["failure", "success"] {
        world.github.clear_requests();
        ci(&world, number, "build", Some(conclusion));
        world.settle().await;
        assert_eq!(world.github.requests().len(), 1, "{conclusion}");
    }
    assert_eq!(evaluations(&world), evaluated);
    world.assert_clean().await;
}

#[tokio::test]
async fn the_last_calls_of_an_hour_are_for_the_owners_answers() {
    let (world, asked, issue) = asked().await;
    let installation = world.github.installation_of(REPO);
    world.github.set_rate_remaining(installation, 100);
    let owner = world.github.as_user("octo-owner");
    owner.comment(INBOX, issue, "/approve A");
    world.settle().await;
    assert_eq!(conclusion(&world, asked), "success", "an answer is heard");

    world.github.clear_requests();
    let number = world.github.open_pull(REPO, &spec_of('A'));
    world.settle().await;
    let head = world.github.pull(REPO, number).head_sha;
    assert!(
        world.check_on(&head).is_none(),
        "it waits, and merges nothing"
    );
    assert!(world.github.requests().is_empty());
    let store = &world.app().bench().store;
    assert_eq!(store.queue_depth().await.expect("store"), 1);

    world
        .settle_within(Duration::from_secs(3700))
        .await
        .expect("no crash");
    assert_eq!(conclusion(&world, number), "success", "the next hour");
    world.assert_clean().await;
}

#[tokio::test]
async fn a_refusal_for_the_rate_keeps_the_whole_installation_away() {
    let world = World::start().await;
    world.github.fail(FaultRule::answer(
        "POST",
        "/repos/*/*/check-runs",
        FaultAnswer::secondary_limit_for(90),
    ));
    let first = world.github.open_pull(REPO, &spec_of('A'));
    world.settle().await;
    world.github.clear_requests();
    let second = world.github.open_pull(REPO, &spec_of('A'));
    world
        .settle_within(Duration::from_secs(60))
        .await
        .expect("no crash");
    assert!(world.github.requests().is_empty(), "GitHub is left alone");

    world
        .settle_within(Duration::from_secs(120))
        .await
        .expect("no crash");
    for number in [first, second] {
        assert_eq!(conclusion(&world, number), "success");
    }
    world.assert_clean().await;
}

/// Looks at everything again, as the re-run button does; how many answers were "not modified", and how many calls there were.
async fn again(world: &World, number: u64) -> (usize, usize) {
    world.github.clear_requests();
    let run = world.check(number).id;
    world.github.as_user("octo-dev").rerequest(REPO, run);
    world.settle().await;
    let made = world.github.requests();
    let free = made.iter().filter(|request| request.status == 304).count();
    (free, made.len())
}

#[tokio::test]
async fn kept_answers_outlive_a_restart_and_altered_ones_do_not() {
    let mut world = World::start().await;
    let number = opened(&world, &signed('A')).await;
    again(&world, number).await;
    let (free, made) = again(&world, number).await;
    assert!(free >= 3, "{free} of {made}");

    world.stop().await;
    world.serve().await.expect("the server starts again");
    let (kept, _) = again(&world, number).await;
    assert!(kept >= 3, "{kept} after a restart");

    world.stop().await;
    let file = world.dir.path().join("data/kept-answers");
    let mut document = std::fs::read(&file).expect("the file");
    *document.last_mut().expect("bytes") ^= 1;
    std::fs::write(&file, document).expect("written");
    world
        .serve()
        .await
        .expect("an altered file does not stop it");
    let (kept, _) = again(&world, number).await;
    assert_eq!(kept, 0, "nothing of it is believed");
    world.assert_clean().await;
}
