//! What must not approve anything, with the outcome that each has.

use crate::answers::{asked, conclusion};
use crate::world::{INBOX, REPO, World};
use fake_github::AccountKind;
use std::time::Duration;

fn replies(world: &World, issue: u64) -> usize {
    let comments = world.github.comments(INBOX, issue);
    comments
        .iter()
        .filter(|comment| comment.author == "quadgate[bot]")
        .count()
}

#[tokio::test]
async fn strangers_authors_and_bots_are_ignored() {
    let (world, number, issue) = asked().await;
    world.github.add_account("octo-bot", AccountKind::Bot);
    for login in ["octo-dev", "octo-stranger", "octo-bot"] {
        world
            .github
            .as_user(login)
            .comment(INBOX, issue, "/approve A");
        world.github.as_user(login).comment(INBOX, issue, "LGTM");
    }
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure");
    assert_eq!(replies(&world, issue), 0);
    assert!(world.log_of("owner_answer").is_empty());
    world.assert_clean().await;
}

#[tokio::test]
async fn a_login_that_belongs_to_somebody_else_now_does_not_count() {
    let (world, number, issue) = asked().await;
    world.github.rename_user("octo-owner", "octo-renamed");
    world
        .github
        .as_user("octo-owner")
        .comment(INBOX, issue, "/approve A");
    world.settle().await;
    assert_eq!(
        conclusion(&world, number),
        "failure",
        "a new account with the old login"
    );
    world
        .github
        .as_user("octo-renamed")
        .comment(INBOX, issue, "/approve A");
    world.settle().await;
    assert_eq!(
        conclusion(&world, number),
        "success",
        "the owner under another login"
    );
    world.assert_clean().await;
}

#[tokio::test]
async fn nearly_an_answer_is_answered_once_with_the_exact_ones() {
    for body in [
        "/approve",
        "/approve D",
        "/approve A please",
        "LGTM",
        "go ahead",
        "your call",
        "계속 진행",
        "[/approve A](https://example.org)",
        "/approve A\n/reject",
        "/approve A\n\n/approve B",
    ] {
        let (world, number, issue) = asked().await;
        world
            .github
            .as_user("octo-owner")
            .comment(INBOX, issue, body);
        world.settle().await;
        world
            .github
            .as_user("octo-dev")
            .comment(INBOX, issue, "hello");
        world.settle().await;
        assert_eq!(conclusion(&world, number), "failure", "{body}");
        let comments = world.github.comments(INBOX, issue);
        assert_eq!(replies(&world, issue), 1, "{body}: {comments:?}");
        assert!(comments[1].body.contains("BLOCKED_CLARIFICATION"), "{body}");
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn what_is_no_command_is_no_answer_and_gets_no_reply() {
    let (world, number, issue) = asked().await;
    let owner = world.github.as_user("octo-owner");
    for body in [
        "> /approve A\n\nWhy?",
        "```\n/approve A\n```",
        "    /approve A",
        "`/approve A`",
        "<!-- /approve A -->",
        "I would /approve A if the tests passed",
    ] {
        owner.comment(INBOX, issue, body);
    }
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure");
    assert_eq!(replies(&world, issue), 0);
    world.assert_clean().await;
}

#[tokio::test]
async fn an_edited_comment_counts_only_by_its_author() {
    for (editor, lost, expect) in [
        ("octo-owner", false, "success"),
        ("octo-dev", false, "failure"),
        ("octo-owner", true, "failure"),
    ] {
        let (world, number, issue) = asked().await;
        let comment = world
            .github
            .as_user("octo-owner")
            .comment(INBOX, issue, "Let me see.");
        world.settle().await;
        world.advance(Duration::from_mins(1));
        world
            .github
            .as_user(editor)
            .edit_comment(INBOX, comment, "/approve A");
        if lost {
            world.github.drop_deliveries();
            world.github.as_user("octo-dev").comment(INBOX, issue, "?");
        }
        world.settle().await;
        assert_eq!(conclusion(&world, number), expect, "{editor}, lost: {lost}");
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn a_changed_ballot_is_not_honoured() {
    let (world, number, issue) = asked().await;
    let body = world
        .issue()
        .body
        .replace("merge of", "merge and deployment of");
    world
        .github
        .as_user("octo-dev")
        .edit_body(INBOX, issue, &body);
    world.settle().await;
    let owner = world.github.as_user("octo-owner");
    owner.comment(INBOX, issue, "/approve A");
    world.settle().await;
    owner.comment(INBOX, issue, "/approve A");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure");
    let seen = world.github.issue(INBOX, issue);
    assert!(
        seen.labels
            .contains(&"decision:inbox-integrity-failed".to_owned())
    );
    assert_eq!(replies(&world, issue), 1, "said once");

    // The check-run was not changed: its buttons answer.
    owner.press(REPO, world.check(number).id, "approve");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "success");
    world.assert_clean().await;
}

#[tokio::test]
async fn a_copied_marker_makes_no_ballot() {
    let (world, number, _) = asked().await;
    let body = world.issue().body;
    let copy = world
        .github
        .as_user("octo-dev")
        .open_issue(INBOX, "Decision pending", &body);
    world
        .github
        .as_user("octo-owner")
        .comment(INBOX, copy, "/approve A");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure");
    world.assert_clean().await;
}

#[tokio::test]
async fn an_answer_to_an_old_head_is_stale() {
    let (world, number, issue) = asked().await;
    world.github.push(
        REPO,
        number,
        "More",
        &[fake_github::FileSpec::added(
            ".github/workflows/x.yml",
            "on: push\n",
        )],
    );
    world.settle().await;
    world.advance(Duration::from_mins(1));
    world
        .github
        .as_user("octo-owner")
        .comment(INBOX, issue, "/approve A");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure");
    let old = world.github.issue(INBOX, issue);
    assert!(
        old.labels.contains(&"decision:stale-approval".to_owned()),
        "{old:?}"
    );
    assert_eq!(replies(&world, issue), 2, "superseded, stale");
    world.assert_clean().await;
}

#[tokio::test]
async fn closed_by_hand_approves_nothing_and_reopening_brings_the_question_back() {
    let (world, number, issue) = asked().await;
    let owner = world.github.as_user("octo-owner");
    owner.close(INBOX, issue);
    world.settle().await;
    world.advance(Duration::from_mins(1));
    owner.comment(INBOX, issue, "/approve A");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure");
    assert!(world.check(number).summary.contains("reopen"));
    assert!(
        world.github.open_issues(INBOX).is_empty(),
        "not opened again"
    );
    owner.reopen(INBOX, issue);
    world.settle().await;
    assert_eq!(conclusion(&world, number), "success");
    world.assert_clean().await;
}

#[tokio::test]
async fn a_deleted_or_transferred_issue_is_asked_again() {
    for transferred in [false, true] {
        let (world, number, issue) = asked().await;
        let owner = world.github.as_user("octo-owner");
        if transferred {
            owner.transfer_issue(INBOX, issue, "octo-org/bot");
        } else {
            owner.delete_issue(INBOX, issue);
        }
        world.settle().await;
        assert_eq!(conclusion(&world, number), "failure");
        let again = world.issue().number;
        assert_ne!(again, issue);
        world.advance(Duration::from_mins(1));
        owner.comment(INBOX, again, "/approve A");
        world.settle().await;
        assert_eq!(conclusion(&world, number), "success");
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn a_locked_issue_can_still_be_answered_by_its_owner() {
    let (world, number, issue) = asked().await;
    world
        .github
        .as_user("octo-dev")
        .set_locked(INBOX, issue, true);
    let run = world.check(number).id;
    world
        .github
        .as_user("octo-owner")
        .press(REPO, run, "approve");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "success");
    world.assert_clean().await;
}

#[tokio::test]
async fn a_button_for_another_base_does_not_count() {
    let (world, number, _) = asked().await;
    world.github.add_branch(REPO, "release", "main");
    let run = world.check(number).id;
    world
        .github
        .as_user("octo-owner")
        .press(REPO, run, "approve");
    world.github.retarget(REPO, number, "release");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure");
    assert_eq!(world.github.open_issues(INBOX).len(), 1);
    world.assert_clean().await;
}

#[tokio::test]
async fn without_issues_the_buttons_answer() {
    let world = World::start().await;
    world.github.set_has_issues(INBOX, false);
    let number = world.github.open_pull(REPO, &crate::journey::spec_of('D'));
    world.settle().await;
    assert_eq!(conclusion(&world, number), "failure");
    world.advance(Duration::from_mins(1));
    world
        .github
        .as_user("octo-owner")
        .press(REPO, world.check(number).id, "approve");
    world.settle().await;
    assert_eq!(conclusion(&world, number), "success");
    assert_eq!(
        world.log_of("owner_answer")[0]["nonce"],
        serde_json::Value::Null
    );
    world.assert_clean().await;
}

#[tokio::test]
async fn answers_after_the_end_do_nothing() {
    let (world, number, issue) = asked().await;
    world.github.as_user("octo-dev").close(REPO, number);
    world.settle().await;
    world.advance(Duration::from_mins(1));
    let writes = world.github.writes();
    world
        .github
        .as_user("octo-owner")
        .comment(INBOX, issue, "/approve A");
    world.settle().await;
    assert_eq!(world.github.writes(), writes);
    assert_eq!(conclusion(&world, number), "failure");
    assert!(world.log_of("owner_answer").is_empty());
    world.assert_clean().await;
}
