//! The world changes while the server works: pushes, closes, renames, owners that are not who they were.

use crate::bad_days::sweep;
use crate::crashes::STEPS;
use crate::journey::spec_of;
use crate::world::{INBOX, REPO, World};
use fake_github::{FakeGitHub, FaultKind, FaultRule, FileSpec};
use quadgate::app::StartError;
use quadgate::worker::FaultPoint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Does something at GitHub when the work first comes to a step.
fn meanwhile(world: &World, at: &'static str, act: fn(&FakeGitHub)) -> FaultPoint {
    let (github, done) = (Arc::clone(&world.github), AtomicBool::new(false));
    Arc::new(move |step| {
        if step == at && !done.swap(true, Ordering::SeqCst) {
            act(&github);
        }
    })
}

/// A world in which something happens in the middle of the first evaluation.
async fn world_with(at: &'static str, act: fn(&FakeGitHub)) -> World {
    let mut world = World::arranged().await;
    world.fault_point = meanwhile(&world, at, act);
    world.serve().await.expect("the server starts");
    world
}

fn pipeline() -> FileSpec {
    FileSpec::added(".github/workflows/x.yml", "on: push\n")
}

/// verdict-032-head-moved-before-post
#[tokio::test]
async fn a_push_in_the_middle() {
    for step in STEPS {
        let world = world_with(step, |github| {
            github.force_push(REPO, 1, &["Another way"], &[pipeline()]);
        })
        .await;
        world.github.open_pull(REPO, &spec_of('A'));
        let old = world.github.pull(REPO, 1).head_sha;
        world.settle().await;
        let check = world.check(1);
        assert_ne!(check.head_sha, old);
        assert_eq!(
            check.conclusion.as_deref(),
            Some("failure"),
            "push at {step}"
        );
        assert_eq!(
            world.issue().labels,
            ["decision:pending-owner"],
            "push at {step}"
        );
        // What was said of the old head is about the old head.
        let entries = world.log_of("classification");
        for entry in &entries {
            let expected = if entry["head_sha"] == *old { "A" } else { "D" };
            assert_eq!(entry["quadrant"], expected, "push at {step}");
        }
        let last = entries.last().expect("an entry");
        assert_eq!(last["head_sha"], *check.head_sha);
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn a_safe_push_over_a_dangerous_head_in_the_middle() {
    for step in STEPS {
        let world = world_with(step, |github| {
            let files = [FileSpec::added("examples/x.md", "An example.\n")];
            github.force_push(REPO, 1, &["Another way"], &files);
        })
        .await;
        world.github.open_pull(REPO, &spec_of('D'));
        let old = world.github.pull(REPO, 1).head_sha;
        world.settle().await;
        let conclusion = world.check(1).conclusion;
        assert_eq!(conclusion.as_deref(), Some("success"), "push at {step}");
        if let Some(check) = world.check_on(&old) {
            assert_eq!(
                check.conclusion.as_deref(),
                Some("failure"),
                "push at {step}"
            );
        }
        assert!(world.github.open_issues(INBOX).is_empty(), "push at {step}");
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn a_close_in_the_middle() {
    for step in STEPS {
        let world = world_with(step, |github| github.as_user("octo-dev").close(REPO, 1)).await;
        world.github.open_pull(REPO, &spec_of('D'));
        world.settle().await;
        assert!(
            world.github.open_issues(INBOX).is_empty(),
            "close at {step}"
        );
        assert!(world.log_of("classification").len() <= 1, "close at {step}");
        world.assert_clean().await;

        // Opened again it is asked about again.
        world.github.as_user("octo-dev").reopen(REPO, 1);
        world.settle().await;
        assert_eq!(world.check(1).conclusion.as_deref(), Some("failure"));
        assert_eq!(
            world.issue().labels,
            ["decision:pending-owner"],
            "close at {step}"
        );
        world.assert_clean().await;
    }
}

/// limits-034-reads-behind-webhook, limits-005-list-shrinks-between-pages: the lists can be of the new head while the
/// pull request still shows the old one.
#[tokio::test]
async fn github_shows_the_old_head_for_a_while() {
    for reads in [1, 2] {
        let world = World::start().await;
        let number = world.github.open_pull(REPO, &spec_of('A'));
        world.settle().await;
        let old = world.github.pull(REPO, number).head_sha;
        let path = "/repos/{owner}/{repo}/pulls/{pull_number}";
        let stale = FaultRule::new("GET", path, FaultKind::StaleHead).times(reads);
        world.github.fail(stale);
        world.github.push(REPO, number, "More", &[pipeline()]);
        world.settle().await;
        assert_eq!(world.check(number).conclusion.as_deref(), Some("failure"));
        let before = world.check_on(&old).expect("it stays").conclusion;
        assert_eq!(before.as_deref(), Some("success"));
        assert_eq!(
            world.log_of("classification").len(),
            2,
            "{reads} stale reads"
        );
        world.assert_clean().await;
    }
}

/// The owner follows a rename in the configuration; what was asked stays asked.
#[tokio::test]
async fn a_renamed_repository_keeps_its_state() {
    for transferred in [false, true] {
        let mut world = World::start().await;
        world.github.open_pull(REPO, &spec_of('D'));
        world.settle().await;
        let asked = world.issue();

        let name = if transferred {
            // The App is installed there, too.
            world.github.add_repo("contributor-org/another");
            world.github.transfer_repo(REPO, "contributor-org");
            "contributor-org/widgets"
        } else {
            world.github.rename_repo(REPO, "gadgets");
            "octo-org/gadgets"
        };
        let projects = world.config.get_mut("projects.yml").expect("it is there");
        *projects = projects.replace(REPO, name);
        world.stop().await;
        world.serve().await.expect("the server starts");
        world.github.push(name, 1, "More", &[pipeline()]);
        world.settle().await;

        assert!(!world.github.issue(INBOX, asked.number).open, "asked anew");
        assert_eq!(world.issue().title, format!("Decision pending: {name}#1"));
        let log = world.log_of("classification");
        assert_eq!(log.len(), 2);
        assert_eq!(log[0]["repo_id"], log[1]["repo_id"]);
        world.assert_clean().await;
    }
}

/// The name is not the repository: neither state nor waiting work goes over to another one that took the name.
#[tokio::test]
async fn another_repository_under_the_old_name() {
    let world = World::start().await;
    world.github.open_pull(REPO, &spec_of('D'));
    world.settle().await;
    let asked = world.issue();
    let labelled = |label| world.github.as_user("octo-dev").label(REPO, 1, label);
    labelled("documentation");
    // Accepted, and not worked on before the name changes hands.
    for webhook in world.github.deliveries() {
        world.send(&webhook).await;
    }
    world.github.rename_repo(REPO, "gadgets");
    world.github.add_repo(REPO);
    let number = world.github.open_pull(REPO, &spec_of('A'));
    assert_eq!(number, 1);
    world.settle().await;

    assert_eq!(world.check(1).conclusion.as_deref(), Some("success"));
    assert!(
        world.github.issue(INBOX, asked.number).open,
        "it asks about the other"
    );
    let log = world.log_of("classification");
    assert_eq!(log.len(), 2);
    assert_ne!(log[0]["repo_id"], log[1]["repo_id"]);
    world.assert_clean().await;
}

/// config-013-owner-login-not-found
#[tokio::test]
async fn an_owner_that_nobody_is() {
    let mut world = World::arranged().await;
    let owner = "github_login: octo-owner-typo\n".to_owned();
    world.config.insert("owner.yml", owner);
    let refused = world.serve().await.expect_err("it must not start");
    assert!(matches!(refused, StartError::Owner(_)), "{refused}");
    assert!(refused.to_string().contains("octo-owner-typo"), "{refused}");
}

#[tokio::test]
async fn an_owners_login_that_another_account_took() {
    let mut world = World::start().await;
    world.github.rename_user("octo-owner", "octo-elder");
    world.github.add_user("octo-owner");
    world.stop().await;
    world.serve().await.expect("the server starts");
    let number = world.github.open_pull(REPO, &spec_of('A'));
    world.settle().await;
    let label = |login: &str| {
        let user = world.github.as_user(login);
        user.label(REPO, number, "decision:auto-revert");
    };
    label("octo-owner");
    world.settle().await;
    let log = world.log_of("classification");
    assert_eq!(log.last().expect("one")["quadrant"], "A", "not the owner's");
    world.assert_clean().await;
}

#[tokio::test]
async fn an_installation_that_is_suspended_waits() {
    let mut world = World::start().await;
    let installation = world.github.installation_of(REPO);
    let number = world.github.open_pull(REPO, &spec_of('D'));
    world.github.suspend(installation);
    world.settle().await;
    let head = world.github.pull(REPO, number).head_sha;
    assert_eq!(world.check_on(&head), None);
    world.github.unsuspend(installation);
    world.settle().await;
    sweep(&mut world).await;
    assert_eq!(world.check(number).conclusion.as_deref(), Some("failure"));
    assert_eq!(world.log_of("classification").len(), 1);
    world.assert_clean().await;
}
