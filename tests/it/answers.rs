//! Owners answer a D through every channel; check-run, labels, Issue, pull request and log follow.

use crate::journey::spec_of;
use crate::world::{INBOX, REPO, World};
use fake_github::FileSpec;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A D that waits for its answer: the pull request and its Issue.
pub async fn asked() -> (World, u64, u64) {
    let world = World::start().await;
    let number = world.github.open_pull(REPO, &spec_of('D'));
    world.settle().await;
    let issue = world.issue().number;
    assert_eq!(conclusion(&world, number), "failure");
    // Answers come later than questions.
    world.advance(Duration::from_mins(1));
    (world, number, issue)
}

pub fn conclusion(world: &World, number: u64) -> String {
    world.check(number).conclusion.unwrap_or_default()
}

fn kinds(world: &World) -> Vec<String> {
    world
        .log()
        .iter()
        .map(|entry| entry["kind"].as_str().expect("a kind").to_owned())
        .collect()
}

#[tokio::test]
async fn approved_by_a_comment() {
    for (body, label, answer) in [
        ("/approve A", "decision:approved-A", "approve_a"),
        ("/approve B", "decision:approved-B", "approve_b"),
        ("APPROVE", "decision:approved-A", "approve_a"),
    ] {
        let (world, number, issue) = asked().await;
        let comment = world
            .github
            .as_user("octo-owner")
            .comment(INBOX, issue, body);
        world.settle().await;

        assert_eq!(conclusion(&world, number), "success", "{body}");
        let closed = world.github.issue(INBOX, issue);
        assert!(!closed.open);
        assert!(closed.labels.contains(&label.to_owned()), "{closed:?}");
        assert_eq!(closed.comments.len(), 1, "no reply: {closed:?}");
        assert_eq!(world.github.open_issues(INBOX).len(), 0);
        assert_eq!(
            kinds(&world),
            [
                "classification",
                "issue_opened",
                "owner_answer",
                "issue_closed"
            ]
        );
        let entry = &world.log_of("owner_answer")[0];
        assert_eq!(entry["answer"], answer);
        assert_eq!(entry["actor"], "octo-owner");
        assert_eq!(entry["actor_id"], world.github.account_id("octo-owner"));
        assert_eq!(entry["signal"], format!("comment/{comment}"));
        assert_eq!(entry["head_sha"], world.github.pull(REPO, number).head_sha);
        assert_eq!(entry["nonce"].as_str().map(str::len), Some(32));
        let hash = entry["hash"].as_str().expect("a hash");
        assert!(world.check(number).summary.contains(hash));
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn approved_by_a_button() {
    let (world, number, issue) = asked().await;
    let run = world.check(number).id;
    world.github.as_user("octo-dev").press(REPO, run, "approve");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure", "the author's press");
    world
        .github
        .as_user("octo-owner")
        .press(REPO, run, "approve");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "success");
    assert!(!world.github.issue(INBOX, issue).open);
    let entry = &world.log_of("owner_answer")[0];
    assert!(
        entry["signal"]
            .as_str()
            .expect("text")
            .starts_with("button/")
    );
    world.assert_clean().await;
}

#[tokio::test]
async fn deferred_then_approved() {
    let (world, number, issue) = asked().await;
    let owner = world.github.as_user("octo-owner");
    owner.comment(INBOX, issue, "/approve C");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure");
    let deferred = world.issue();
    assert_eq!(deferred.number, issue);
    assert!(deferred.labels.contains(&"decision:deferred".to_owned()));

    world.advance(Duration::from_mins(1));
    owner.comment(INBOX, issue, "/approve B");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "success");
    let labels = world.github.labels(INBOX, issue);
    assert!(
        labels.contains(&"decision:approved-B".to_owned()),
        "{labels:?}"
    );
    assert!(
        !labels.contains(&"decision:deferred".to_owned()),
        "{labels:?}"
    );
    let answers: Vec<_> = world
        .log_of("owner_answer")
        .iter()
        .map(|entry| entry["answer"].clone())
        .collect();
    assert_eq!(answers, ["defer", "approve_b"]);
    world.assert_clean().await;
}

#[tokio::test]
async fn rejected() {
    let (world, number, issue) = asked().await;
    world
        .github
        .as_user("octo-owner")
        .comment(INBOX, issue, "/reject");
    world.settle().await;
    assert!(!world.github.pull(REPO, number).open);
    assert_eq!(conclusion(&world, number), "failure");
    let closed = world.github.issue(INBOX, issue);
    assert!(!closed.open);
    assert!(closed.labels.contains(&"decision:rejected".to_owned()));
    assert_eq!(
        world.github.comments(REPO, number).len(),
        1,
        "the author is told why"
    );
    world.assert_clean().await;
}

#[tokio::test]
async fn an_approval_dies_with_its_head() {
    let (world, number, issue) = asked().await;
    let owner = world.github.as_user("octo-owner");
    owner.comment(INBOX, issue, "/approve A");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "success");

    world.github.push(
        REPO,
        number,
        "One more step",
        &[FileSpec::added(".github/workflows/x.yml", "on: push\n")],
    );
    world.settle().await;
    assert_eq!(
        conclusion(&world, number),
        "failure",
        "the new head was not approved"
    );
    let second = world.issue();
    assert_ne!(second.number, issue);

    // A late word on the old question approves nothing either.
    world.advance(Duration::from_mins(1));
    owner.comment(INBOX, issue, "/approve A");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure");
    assert_eq!(world.log_of("owner_answer").len(), 1);
    world.assert_clean().await;
}

/// The Issue is there for everybody before the evaluation that opened it has ended; an answer in between counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn an_answer_that_is_faster_than_the_end_of_the_question_counts() {
    let (reached, is_reached) = std::sync::mpsc::channel();
    let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
    let once = Mutex::new(Some((reached, may_go_on)));
    let mut world = World::arranged().await;
    world.fault_point = Arc::new(move |step| {
        if step == "effects-done" {
            let held = once.lock().expect("whole").take();
            if let Some((reached, may_go_on)) = held {
                reached.send(()).expect("the test waits");
                may_go_on.recv().expect("the test goes on");
            }
        }
    });
    world.serve().await.expect("the server starts");
    let number = world.github.open_pull(REPO, &spec_of('D'));
    world.github.deliver_all(&world.webhook_url()).await;
    let bench = Arc::clone(world.app().bench());
    let asking =
        tokio::spawn(
            async move { while bench.work_once("asking").await.expect("the store works") {} },
        );
    tokio::task::spawn_blocking(move || is_reached.recv())
        .await
        .expect("ends")
        .expect("the effects are done");

    world.advance(Duration::from_secs(5));
    let owner = world.github.as_user("octo-owner");
    owner.comment(INBOX, world.issue().number, "/approve A");
    world.github.deliver_all(&world.webhook_url()).await;
    world.work().await;
    go_on.send(()).expect("it waits");
    asking.await.expect("ends");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "success");
    world.assert_clean().await;
}

/// Between an answer and the merge the head is pushed away and back to the very same SHA: who pushes may have had any
/// reason, and what was answered is asked again.
#[tokio::test]
async fn an_approval_does_not_come_back_with_its_head() {
    let (world, number, issue) = asked().await;
    let owner = world.github.as_user("octo-owner");
    owner.comment(INBOX, issue, "/approve A");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "success");
    let approved = world.github.pull(REPO, number).head_sha;

    world.advance(Duration::from_mins(1));
    let file = FileSpec::added(".github/workflows/x.yml", "on: push\n");
    world.github.force_push(REPO, number, &["Other"], &[file]);
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure");
    world.advance(Duration::from_mins(1));
    assert_eq!(world.github.push_back(REPO, number), approved);
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure", "asked anew");
    let third = world.issue();
    assert!(third.number > issue && third.body.contains(&approved));
    assert_eq!(world.log_of("owner_answer").len(), 1);

    world.advance(Duration::from_mins(1));
    owner.comment(INBOX, third.number, "/approve A");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "success");
    let answers = world.log_of("owner_answer");
    assert_eq!(answers.len(), 2);
    assert_ne!(answers[0]["nonce"], answers[1]["nonce"]);
    world.assert_clean().await;
}

/// Two owners do not agree: the newest signal counts, of two of the same second the more careful one, and of two
/// different approvals of the same second neither.
#[tokio::test]
async fn two_owners_at_once() {
    for (first, then, apart, ends) in [
        ("/approve A", "/reject", 0, "rejected"),
        ("/reject", "/approve A", 0, "rejected"),
        ("/approve A", "/approve B", 0, "pending"),
        ("/approve A", "/reject", 1, "rejected"),
        ("/approve C", "/approve A", 1, "approved"),
        ("/approve A", "/approve C", 1, "deferred"),
    ] {
        let mut world = World::arranged().await;
        world.github.add_user("octo-second");
        world.config.insert(
            "owner.yml",
            "github_login: octo-owner\nallowlisted_actors: [octo-second]\n".to_owned(),
        );
        world.serve().await.expect("the server starts");
        let number = world.github.open_pull(REPO, &spec_of('D'));
        world.settle().await;
        world.advance(Duration::from_mins(1));
        let issue = world.issue().number;
        world
            .github
            .as_user("octo-owner")
            .comment(INBOX, issue, first);
        world.advance(Duration::from_secs(apart));
        world
            .github
            .as_user("octo-second")
            .comment(INBOX, issue, then);
        world.settle().await;
        let asked = world.github.issue(INBOX, issue);
        let label = |name: &str| asked.labels.iter().any(|label| label.contains(name));
        assert!(label(ends), "{first}, {then}: {asked:?}");
        let passes = if ends == "approved" {
            "success"
        } else {
            "failure"
        };
        assert_eq!(conclusion(&world, number), passes, "{first}, {then}");
        assert_eq!(
            asked.open,
            ["deferred", "pending"].contains(&ends),
            "{first}, {then}"
        );
        assert_eq!(world.github.pull(REPO, number).open, ends != "rejected");
        world.assert_clean().await;
    }
}

/// An answer that comes after the pull request was merged by somebody changes nothing.
#[tokio::test]
async fn an_answer_after_the_merge_does_nothing() {
    let (world, number, issue) = asked().await;
    world
        .github
        .as_user("octo-dev")
        .merge(REPO, number, "merge");
    world.settle().await;
    assert!(!world.github.issue(INBOX, issue).open);
    world.advance(Duration::from_mins(1));
    let writes = world.github.writes();
    let owner = world.github.as_user("octo-owner");
    owner.comment(INBOX, issue, "/approve A");
    owner.comment(INBOX, issue, "/reject");
    world.settle().await;
    assert_eq!(world.github.writes(), writes);
    assert_eq!(conclusion(&world, number), "failure");
    assert!(world.log_of("owner_answer").is_empty());
    world.assert_clean().await;
}

#[tokio::test]
async fn a_later_reject_overrides_an_approval_until_the_merge() {
    let (world, number, issue) = asked().await;
    let owner = world.github.as_user("octo-owner");
    owner.comment(INBOX, issue, "/approve A");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "success");
    world.advance(Duration::from_mins(1));
    owner.comment(INBOX, issue, "/reject");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure");
    assert!(!world.github.pull(REPO, number).open);
    assert!(world.github.open_issues(INBOX).is_empty());
    world.assert_clean().await;
}

#[tokio::test]
async fn an_approval_that_is_deleted_or_edited_by_somebody_else_is_withdrawn() {
    for deleted in [true, false] {
        let (world, number, issue) = asked().await;
        let comment = world
            .github
            .as_user("octo-owner")
            .comment(INBOX, issue, "/approve A");
        world.settle().await;
        assert_eq!(conclusion(&world, number), "success");
        world.advance(Duration::from_mins(1));
        if deleted {
            world
                .github
                .as_user("octo-owner")
                .delete_comment(INBOX, comment);
        } else {
            world
                .github
                .as_user("octo-dev")
                .edit_comment(INBOX, comment, "/approve B");
        }
        world.settle().await;
        assert_eq!(conclusion(&world, number), "failure");
        assert_ne!(world.issue().number, issue, "it is asked again");
        assert_eq!(world.log_of("answer_withdrawn").len(), 1);
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn the_end_of_an_installation_is_in_the_log() {
    let (world, _, _) = asked().await;
    let installation = world.github.installation_of(REPO);
    world.github.uninstall(installation);
    world.settle().await;
    let entries = world.log_of("installation_removed");
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["installation"], installation);
}
