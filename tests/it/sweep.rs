//! The tick: what has no webhook, or whose webhook was lost, is found by looking.

use crate::answers::{asked, conclusion};
use crate::journey::spec_of;
use crate::world::{INBOX, REPO, World};
use quadgate::tick;
use std::time::Duration;

async fn sweep(world: &World) {
    tick::sweep_inbox(world.app().bench())
        .await
        .expect("the sweep ends");
    world.settle().await;
}

#[tokio::test]
async fn a_reaction_is_an_answer_until_it_is_taken_back() {
    let (world, number, issue) = asked().await;
    world.github.as_user("octo-dev").react(INBOX, issue, "+1");
    sweep(&world).await;
    assert_eq!(
        conclusion(&world, number),
        "failure",
        "the author's reaction"
    );

    let reaction = world.github.as_user("octo-owner").react(INBOX, issue, "+1");
    world.settle().await;
    assert_eq!(
        conclusion(&world, number),
        "failure",
        "reactions have no webhook"
    );
    sweep(&world).await;
    assert_eq!(conclusion(&world, number), "success");
    assert_eq!(
        world.log_of("owner_answer")[0]["signal"],
        format!("reaction/{reaction}")
    );

    world
        .github
        .as_user("octo-owner")
        .unreact(INBOX, issue, reaction);
    world.advance(Duration::from_mins(1));
    sweep(&world).await;
    assert_eq!(conclusion(&world, number), "failure");
    assert_eq!(world.log_of("answer_withdrawn").len(), 1);
    assert_eq!(world.github.open_issues(INBOX).len(), 1);
    world.assert_clean().await;
}

#[tokio::test]
async fn a_thumb_down_rejects() {
    let (world, number, issue) = asked().await;
    world.github.as_user("octo-owner").react(INBOX, issue, "-1");
    sweep(&world).await;
    assert!(!world.github.pull(REPO, number).open);
    assert!(
        world
            .github
            .labels(INBOX, issue)
            .contains(&"decision:rejected".to_owned())
    );
    world.assert_clean().await;
}

#[tokio::test]
async fn a_comment_whose_webhook_was_lost_is_found() {
    let (world, number, issue) = asked().await;
    world
        .github
        .as_user("octo-owner")
        .comment(INBOX, issue, "/approve A");
    world.github.drop_deliveries();
    sweep(&world).await;
    assert_eq!(conclusion(&world, number), "success");
    world.assert_clean().await;
}

#[tokio::test]
async fn a_trail_closes_by_itself_after_seven_days_unless_an_owner_spoke() {
    for spoke in [false, true] {
        let world = World::start().await;
        world.github.open_pull(REPO, &spec_of('B'));
        world.settle().await;
        let issue = world.issue().number;
        if spoke {
            world
                .github
                .as_user("octo-owner")
                .comment(INBOX, issue, "Keep this.");
        } else {
            world
                .github
                .as_user("octo-dev")
                .comment(INBOX, issue, "Keep this?");
        }
        world.settle().await;
        world.advance(Duration::from_hours(7 * 24) - Duration::from_secs(60));
        sweep(&world).await;
        assert!(world.github.issue(INBOX, issue).open, "not before its time");
        world.advance(Duration::from_secs(61));
        sweep(&world).await;
        assert_eq!(world.github.issue(INBOX, issue).open, spoke);
        assert_eq!(world.log_of("issue_closed").len(), usize::from(!spoke));
        world.github.clear_requests();
        sweep(&world).await;
        assert_eq!(
            world.github.requests().len(),
            0,
            "it is not looked at again"
        );
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn the_tick_costs_one_conditional_request_for_a_hundred_issues() {
    let world = World::start().await;
    for open in [10, 100] {
        while world.github.open_issues(INBOX).len() < open {
            // No faster than Issues may be made.
            world.advance(Duration::from_secs(1));
            world.github.open_pull(REPO, &spec_of('D'));
            world.settle().await;
        }
        sweep(&world).await;
        world.github.clear_requests();
        sweep(&world).await;
        let made = world.github.requests();
        assert_eq!(made.len(), 1, "{open} open Issues: {made:?}");
        assert_eq!(made[0].status, 304, "{open} open Issues: free of rate");
    }
    world.assert_clean().await;
}

/// A delivery that nobody took, such as an answer of an owner while the server was down, is asked for once.
#[tokio::test]
async fn deliveries_that_nobody_took_are_repeated_once() {
    let world = World::start().await;
    let number = world.github.open_pull(REPO, &spec_of('A'));
    for webhook in world.github.deliveries() {
        world.github.record_delivery(webhook.delivery_id, 502);
    }
    let bench = world.app().bench();
    let missed = tick::repeat_missed(bench).await.expect("GitHub answers");
    assert!(missed > 0);
    let asked = "POST /app/hook/deliveries/{delivery_id}/attempts";
    assert_eq!(world.github.count(asked) as u64, missed);
    world.settle().await;
    assert_eq!(world.check(number).conclusion.as_deref(), Some("success"));
    for _ in 0..2 {
        world.advance(Duration::from_secs(3600));
        let again = tick::repeat_missed(bench).await.expect("GitHub answers");
        assert_eq!(again, 0, "once");
    }
    // What failed again is not repeated for ever.
    world.github.open_pull(REPO, &spec_of('A'));
    for round in 0..3 {
        for webhook in world.github.deliveries() {
            world.github.record_delivery(webhook.delivery_id, 0);
        }
        world.advance(Duration::from_secs(600));
        let again = tick::repeat_missed(bench).await.expect("GitHub answers");
        assert_eq!(again > 0, round == 0, "round {round}");
    }
    world.github.assert_no_violations();
}
