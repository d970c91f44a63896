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
            world.github.open_pull(REPO, &spec_of('D'));
            world.settle().await;
        }
        sweep(&world).await;
        world.github.clear_requests();
        sweep(&world).await;
        let made = world.github.requests();
        assert_eq!(made.len(), 1, "{open} open Issues: {made:?}");
        assert_eq!(made[0].status, 304, "free of rate");
    }
    world.assert_clean().await;
}
