//! The main job, end to end: a signed webhook goes in; check-run, Issue and audit line come out.

use crate::world::{CHECK, INBOX, REPO, World};
use fake_github::{FileSpec, PullSpec};
use std::time::Duration;

/// One pull request of each quadrant.
pub fn spec_of(quadrant: char) -> PullSpec {
    match quadrant {
        'A' => PullSpec::new("Fix a typo").file(FileSpec::modified(
            "README.md",
            "# Teh widgets\n",
            "# The widgets\n",
        )),
        'B' => PullSpec::new("Tidy the engine").file(FileSpec::modified(
            "src/engine.rs",
            "fn a() { 1 }\n",
            "fn a() { 2 }\n",
        )),
        'C' => {
            PullSpec::new("Drop a stale document").file(FileSpec::removed("docs/old.md", "text\n"))
        }
        'D' => PullSpec::new("Change the pipeline").file(FileSpec::modified(
            ".github/workflows/ci.yml",
            "on: push\n",
            "on: pull_request_target\n",
        )),
        other => panic!("no quadrant {other}"),
    }
}

#[tokio::test]
async fn each_quadrant_gets_its_check_run_issue_and_audit_line() {
    let world = World::start().await;
    let expected = [
        ('A', "success", None),
        (
            'B',
            "success",
            Some("decision:auto-approved-critical-reversible"),
        ),
        (
            'C',
            "success",
            Some("decision:auto-approved-irreversible-non-critical"),
        ),
        ('D', "failure", Some("decision:pending-owner")),
    ];
    for (quadrant, conclusion, label) in expected {
        let before = world.github.open_issues(INBOX).len();
        let number = world.github.open_pull(REPO, &spec_of(quadrant));
        world.settle().await;

        let check = world.check(number);
        assert_eq!(check.conclusion.as_deref(), Some(conclusion), "{quadrant}");
        assert_eq!(check.app_id, 12_345);
        assert!(check.title.contains(quadrant), "{}", check.title);

        let issues = world.github.open_issues(INBOX);
        let opened = &issues[..issues.len() - before];
        match label {
            None => assert!(opened.is_empty(), "{opened:?}"),
            Some(label) => {
                assert_eq!(opened.len(), 1);
                let issue = issues
                    .iter()
                    .find(|issue| issue.labels == [label])
                    .expect("labelled");
                assert!(
                    issue.body.contains(&format!("{REPO}#{number}"))
                        || issue.title.contains(&format!("#{number}"))
                );
            }
        }

        let entries = world.log_of("classification");
        let entry = entries.last().expect("an entry");
        assert_eq!(entry["quadrant"], quadrant.to_string());
        assert_eq!(entry["pr"], format!("{REPO}#{number}"));
        assert_eq!(entry["head_sha"], check.head_sha);
        let rules: Vec<_> = entry["rules_fired"]
            .as_array()
            .expect("rules")
            .iter()
            .map(|r| r["rule"].clone())
            .collect();
        assert_eq!(rules.len(), 8, "every rule is in the entry: {rules:?}");
        let hash = entry["hash"].as_str().expect("a hash");
        assert!(
            check.summary.contains(hash),
            "GitHub is a witness of the log"
        );
    }
    assert_eq!(world.log_of("classification").len(), 4);
    world.assert_clean().await;
}

#[tokio::test]
async fn the_d_issue_asks_in_the_exact_shape() {
    let world = World::start().await;
    let number = world.github.open_pull(REPO, &spec_of('D'));
    world.settle().await;
    let issue = world.issue();
    let head = world.github.pull(REPO, number).head_sha;
    assert_eq!(issue.title, format!("Decision pending: {REPO}#{number}"));
    assert_eq!(issue.author, "quadgate[bot]");
    let record = issue
        .body
        .find("CHECKPOINT APPROVAL REQUIRED")
        .expect("the record");
    let after = &issue.body[record..];
    for part in [
        "Approval covers:\n- merge of ",
        &head,
        "Irreversible consequences:\n- ",
        "Required verification:\n",
        "Reply APPROVE to authorize exactly the actions above.",
        "<!--",
    ] {
        assert!(
            after.contains(part),
            "{part:?} is missing in:\n{}",
            issue.body
        );
    }
}

#[tokio::test]
async fn calls_are_counted() {
    let world = World::start().await;
    // The first evaluation of an installation also buys a token; the budget is that of every one after it.
    world.github.open_pull(REPO, &spec_of('A'));
    world.settle().await;

    world.github.clear_requests();
    let number = world.github.open_pull(REPO, &spec_of('A'));
    world.settle().await;
    assert_eq!(calls(&world).len(), 5, "a fresh A: {:?}", calls(&world));

    world.github.clear_requests();
    world
        .github
        .as_user("octo-dev")
        .label(REPO, number, "documentation");
    world.settle().await;
    world.github.clear_requests();
    world.github.set_draft(REPO, number, false);
    let again = world.github.deliveries();
    for webhook in &again {
        world.send(webhook).await;
    }
    world.work().await;
    assert!(
        calls(&world).len() <= 1,
        "nothing changed: {:?}",
        calls(&world)
    );
}

#[tokio::test]
async fn calls_of_a_d_are_counted() {
    let world = World::start().await;
    // The first D and its answer also make the labels, and its installation buys a token.
    world.github.open_pull(REPO, &spec_of('D'));
    world.settle().await;
    world.advance(Duration::from_mins(1));
    let owner = world.github.as_user("octo-owner");
    owner.comment(INBOX, world.issue().number, "/approve A");
    world.settle().await;

    world.github.clear_requests();
    let number = world.github.open_pull(REPO, &spec_of('D'));
    world.settle().await;
    let asked = calls(&world);
    // Seven without the evidence gate: a D that has no ledger is told so (`evidence.mode: advisory`).
    assert!(asked.len() <= 7, "a fresh D: {asked:#?}");

    let issue = world.issue().number;
    world.advance(Duration::from_mins(1));
    world.github.clear_requests();
    owner.comment(INBOX, issue, "/approve A");
    world.settle().await;
    assert_eq!(world.check(number).conclusion.as_deref(), Some("success"));
    let answered = calls(&world);
    assert!(answered.len() <= 10, "an answered D: {answered:?}");
}

fn calls(world: &World) -> Vec<String> {
    world
        .github
        .requests()
        .iter()
        .map(fake_github::RequestRecord::operation)
        .collect()
}

#[tokio::test]
async fn a_new_head_with_another_quadrant_supersedes_the_issue() {
    let world = World::start().await;
    let number = world.github.open_pull(REPO, &spec_of('D'));
    world.settle().await;
    let first = world.issue();
    let files = [FileSpec::modified(
        "src/engine.rs",
        "fn a() { 1 }\n",
        "fn a() { 2 }\n",
    )];
    let old_head = world.github.pull(REPO, number).head_sha;
    world
        .github
        .force_push(REPO, number, &["Tidy instead"], &files);
    world.settle().await;

    let second = world.issue();
    assert_ne!(first.number, second.number);
    assert_eq!(
        second.labels,
        ["decision:auto-approved-critical-reversible"]
    );
    let closed = world.github.issue(INBOX, first.number);
    assert!(!closed.open);
    assert_eq!(closed.comments.len(), 1);
    assert!(
        closed.comments[0].body.contains('B'),
        "{}",
        closed.comments[0].body
    );
    assert_eq!(world.check(number).conclusion.as_deref(), Some("success"));
    assert_eq!(
        world
            .check_on(&old_head)
            .expect("it stays")
            .conclusion
            .as_deref(),
        Some("failure")
    );
    world.assert_clean().await;
}

#[tokio::test]
async fn closing_the_pull_request_closes_its_pending_issue() {
    for merged in [false, true] {
        let world = World::start().await;
        let number = world.github.open_pull(REPO, &spec_of('D'));
        world.settle().await;
        let issue = world.issue();
        if merged {
            world
                .github
                .as_user("octo-owner")
                .merge(REPO, number, "squash");
        } else {
            world.github.as_user("octo-dev").close(REPO, number);
        }
        world.settle().await;
        let closed = world.github.issue(INBOX, issue.number);
        assert!(!closed.open);
        assert_eq!(closed.comments.len(), 1);
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn a_repeated_delivery_changes_nothing() {
    let world = World::start().await;
    world.github.open_pull(REPO, &spec_of('D'));
    let webhooks = world.github.deliveries();
    for webhook in &webhooks {
        let first = world.send(webhook).await;
        assert!(matches!(first, 202 | 204), "{} {first}", webhook.name());
    }
    world.settle().await;
    let (entries, writes) = (world.log().len(), world.github.writes());
    for webhook in &webhooks {
        let again = world.send(webhook).await;
        assert!(matches!(again, 200 | 204), "{} {again}", webhook.name());
    }
    world.settle().await;
    assert_eq!(world.log().len(), entries);
    assert_eq!(world.github.writes(), writes);
    world.assert_clean().await;
}

#[tokio::test]
async fn late_deliveries_never_overwrite_a_newer_head() {
    let world = World::start().await;
    let number = world.github.open_pull(REPO, &spec_of('A'));
    let opened = world.github.deliveries();
    world.github.push(
        REPO,
        number,
        "Change the pipeline",
        &[FileSpec::added(".github/workflows/x.yml", "on: push\n")],
    );
    let pushed = world.github.deliveries();
    for webhook in pushed.iter().chain(&opened) {
        world.send(webhook).await;
        world.work().await;
    }
    world.settle().await;
    let check = world.check(number);
    assert_eq!(check.conclusion.as_deref(), Some("failure"));
    assert_eq!(world.issue().labels, ["decision:pending-owner"]);
    world.assert_clean().await;
}

#[tokio::test]
async fn many_deliveries_for_one_pull_request_are_one_evaluation() {
    let world = World::start().await;
    let number = world.github.open_pull(REPO, &spec_of('A'));
    for label in ["one", "two", "three", "four"] {
        world.github.as_user("octo-dev").label(REPO, number, label);
    }
    world.settle().await;
    assert_eq!(world.log_of("classification").len(), 1);
    assert_eq!(
        world
            .github
            .count("GET /repos/{owner}/{repo}/pulls/{pull_number}/files"),
        1
    );
    world.assert_clean().await;
}

#[tokio::test]
async fn the_re_run_button_judges_again_and_other_repositories_are_left_alone() {
    let world = World::start().await;
    let number = world.github.open_pull(REPO, &spec_of('B'));
    world.settle().await;
    world.github.clear_requests();
    let run = world.check(number).id;
    world.github.as_user("octo-dev").rerequest(REPO, run);
    world.settle().await;
    assert_eq!(
        world
            .github
            .count("GET /repos/{owner}/{repo}/pulls/{pull_number}/files"),
        1
    );

    world.github.add_repo("octo-org/other");
    world.github.clear_requests();
    world.github.open_pull("octo-org/other", &spec_of('D'));
    world.settle().await;
    assert_eq!(world.github.writes(), 0, "unsupervised");
    world.assert_clean().await;
}

#[tokio::test]
async fn a_head_pushed_away_and_back_is_as_young_as_its_last_push() {
    let world = World::start().await;
    let number = world.github.open_pull(REPO, &spec_of('A'));
    world.settle().await;
    let owner = world.github.as_user("octo-owner");
    owner.label(REPO, number, "decision:auto-revert");
    world.settle().await;
    assert_eq!(
        world.log_of("classification").last().expect("one")["quadrant"],
        "C",
        "verified"
    );
    world.advance(Duration::from_mins(5));
    world.github.push(
        REPO,
        number,
        "More",
        &[FileSpec::added("examples/x.md", "x\n")],
    );
    world.settle().await;
    assert_eq!(
        world.log_of("classification").last().expect("one")["quadrant"],
        "A",
        "older than the head"
    );
    assert!(world.check(number).name == CHECK);
}
