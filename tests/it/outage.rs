//! Two hours without the server: what happened meanwhile is made right after the start, by itself, at a known price.

use crate::journey::spec_of;
use crate::world::{INBOX, REPO, World};
use fake_github::FileSpec;
use quadgate::clock::Clock;
use std::collections::BTreeMap;
use std::time::Duration;

/// Of each quadrant, before and during the outage.
const EACH: u64 = 4;

/// Every webhook fails, as at a server that is down.
fn fail_all(world: &World) {
    for webhook in world.github.deliveries() {
        world.github.record_delivery(webhook.delivery_id, 0);
    }
}

/// Until a tick that began after the start has ended, and nothing is left to do or to be heard.
async fn recovered(world: &World) {
    let store = &world.app().bench().store;
    let begun = world.clock.now();
    loop {
        let ticked = store.meta(quadgate::tick::LAST).await.expect("store");
        let ticked = ticked.and_then(|at| at.parse().ok());
        world.until_idle().await;
        let rest = world.github.waiting_deliveries() == 0
            && store.queue_depth().await.expect("store") == 0;
        if rest && ticked.is_some_and(|at: quadgate::domain::Timestamp| at >= begun) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn calls(world: &World) -> BTreeMap<String, usize> {
    let mut calls = BTreeMap::new();
    for request in world.github.requests() {
        *calls.entry(request.operation()).or_default() += 1;
    }
    calls
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hours_are_made_up_for() {
    let mut world = World::start().await;
    let github = std::sync::Arc::clone(&world.github);
    let before: Vec<u64> = "ABCD"
        .repeat(usize::try_from(EACH).expect("small"))
        .chars()
        .map(|quadrant| github.open_pull(REPO, &spec_of(quadrant)))
        .collect();
    world.settle().await;
    // The Issue of each D, in the order of the pull requests.
    let ds: Vec<u64> = before.iter().copied().skip(3).step_by(4).collect();
    let issue_about = |world: &World, pull: u64| {
        let about = world.issues_about(pull);
        about.first().map(|issue| issue.number)
    };
    let asked: Vec<u64> = ds.iter().filter_map(|d| issue_about(&world, *d)).collect();
    assert_eq!(asked.len() as u64, EACH);
    world.stop().await;

    // The first hour: every webhook is sent and fails.
    world.advance(Duration::from_mins(60));
    let owner = github.as_user("octo-owner");
    owner.comment(INBOX, asked[0], "/approve A");
    owner.react(INBOX, asked[1], "+1");
    owner.comment(INBOX, asked[2], "/reject");
    let added = |quadrant: char| github.open_pull(REPO, &spec_of(quadrant));
    let during: Vec<(u64, char)> = "ABCD"
        .chars()
        .map(|quadrant| (added(quadrant), quadrant))
        .collect();
    // An A becomes a D, a D is closed.
    let workflow = [FileSpec::added(".github/workflows/late.yml", "on: push\n")];
    github.force_push(REPO, before[0], &["Late"], &workflow);
    github.as_user("octo-dev").close(REPO, ds[3]);
    fail_all(&world);
    // The second hour: some were never sent at all.
    world.advance(Duration::from_mins(60));
    let unsent: Vec<(u64, char)> = "ABCD"
        .chars()
        .map(|quadrant| (added(quadrant), quadrant))
        .collect();
    github.force_push(REPO, before[4], &["Later"], &workflow);
    github.drop_deliveries();

    github.clear_requests();
    world.workers = 2;
    world.serve().await.expect("the server starts");
    github.auto_deliver(true);
    recovered(&world).await;

    let conclusion = |number: u64| world.check(number).conclusion.unwrap_or_default();
    for (number, quadrant) in during.iter().chain(&unsent) {
        let expected = if *quadrant == 'D' {
            "failure"
        } else {
            "success"
        };
        assert_eq!(conclusion(*number), expected, "#{number}, a {quadrant}");
    }
    for number in [before[0], before[4]] {
        assert_eq!(conclusion(number), "failure", "#{number} is a D now");
    }
    // Answers by comment and by reaction count, a rejection closes.
    assert_eq!(conclusion(ds[0]), "success");
    assert_eq!(conclusion(ds[1]), "success");
    assert!(!github.pull(REPO, ds[2]).open);
    assert_eq!(
        issue_about(&world, ds[3]),
        None,
        "of a closed one nothing is asked"
    );
    let open = github.open_issues(INBOX);
    let pending = open.iter().filter(|issue| {
        issue
            .labels
            .iter()
            .any(|label| label == "decision:pending-owner")
    });
    assert_eq!(
        pending.count(),
        4,
        "two pushed, two opened meanwhile: {open:#?}"
    );
    world.assert_clean().await;

    let calls = calls(&world);
    let all: usize = calls.values().sum();
    eprintln!("{all} calls for the recovery: {calls:#?}");
    let repeated = calls["POST /app/hook/deliveries/{delivery_id}/attempts"];
    assert!(repeated > 0);
    // Ten heads are judged, three answered, one closed; all that is beside them is finding it out.
    assert!(all - repeated <= 200, "{all} calls: {calls:#?}");

    // The next hour finds nothing more to do.
    github.clear_requests();
    world.advance(Duration::from_mins(61));
    recovered(&world).await;
    let again = self::calls(&world);
    assert!(
        !again
            .keys()
            .any(|call| call.starts_with("POST") && !call.contains("access_tokens")),
        "{again:#?}"
    );
    world.assert_clean().await;
}
