//! `L1.C3` on a merge group: the worst of its members.

use crate::answers::asked;
use crate::journey::spec_of;
use crate::world::{INBOX, REPO, World};
use std::time::Duration;

fn conclusion_on(world: &World, sha: &str) -> (String, String) {
    let check = world.check_on(sha).expect("a check-run on the group");
    (check.conclusion.unwrap_or_default(), check.summary)
}

#[tokio::test]
async fn a_group_passes_with_its_members_and_fails_with_one_of_them() {
    let (world, pending, issue) = asked().await;
    let fine = world.github.open_pull(REPO, &spec_of('A'));
    world.settle().await;

    let group = world.github.merge_group(REPO, "main", &[fine]);
    world.settle().await;
    assert_eq!(conclusion_on(&world, &group).0, "success");

    let group = world.github.merge_group(REPO, "main", &[pending, fine]);
    world.settle().await;
    let (conclusion, summary) = conclusion_on(&world, &group);
    assert_eq!(conclusion, "failure");
    assert!(summary.contains(&format!("#{pending}")), "{summary}");

    world.advance(Duration::from_mins(1));
    world
        .github
        .as_user("octo-owner")
        .comment(INBOX, issue, "/approve A");
    world.settle().await;
    let group = world.github.merge_group(REPO, "main", &[fine, pending]);
    world.settle().await;
    assert_eq!(conclusion_on(&world, &group).0, "success");
    assert_eq!(world.log_of("merge_group").len(), 3);
    world.assert_clean().await;
}

#[tokio::test]
async fn an_unknown_member_or_another_head_fails_the_group() {
    let world = World::start().await;
    let unknown = world.github.open_pull(REPO, &spec_of('A'));
    world.github.drop_deliveries();
    let group = world.github.merge_group(REPO, "main", &[unknown]);
    world.settle().await;
    assert_eq!(conclusion_on(&world, &group).0, "failure");

    let known = world.github.open_pull(REPO, &spec_of('A'));
    world.settle().await;
    let group = world.github.merge_group(REPO, "main", &[known]);
    world.github.push(REPO, known, "More", &[]);
    world.github.deliver_all(&world.webhook_url()).await;
    world.settle().await;
    assert_eq!(conclusion_on(&world, &group).0, "failure");
    world.assert_clean().await;
}
