//! The merge gate, end to end: what merges, when, and above all what does not.

use crate::crashes::Steps;
use crate::journey::spec_of;
use crate::world::{Crash, INBOX, REPO, World};
use fake_github::{CommentSeen, FaultAnswer, FaultKind, FaultRule, FileSpec, PullSpec};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The App whose checks are CI.
pub const ACTIONS: u64 = 15_368;
const MERGE: &str = "/repos/{owner}/{repo}/pulls/{pull_number}/merge";

/// A commit message with everything that C5 asks for.
pub const MESSAGE: &str = "Change a thing\n\nAgent-Tool: codex\nAgent-Model: gpt-5\nAgent-Session: s_ab12-cd\n\
                           Agent-Machine: box-1\nTask-Ref: Issue#7";

/// A pull request of a quadrant whose commit says who made it.
pub fn signed(quadrant: char) -> PullSpec {
    spec_of(quadrant).commits([MESSAGE])
}

/// A world that merges, with one required check; `more` are further lines of `merge`.
pub async fn arranged(more: &str) -> World {
    let mut world = World::arranged().await;
    world.github.add_app(ACTIONS, "github-actions");
    world.github.drop_deliveries();
    world.config.insert(
        "env.yml",
        format!(
            "bot_app_slug: quadgate\nrequired_checks: [build]\nmerge:\n  enabled: true\n{more}"
        ),
    );
    world
}

pub async fn merging() -> World {
    merging_with("").await
}

async fn merging_with(more: &str) -> World {
    let mut world = arranged(more).await;
    world.serve().await.expect("the server starts");
    world
}

/// CI says something about the present head.
pub fn ci(world: &World, number: u64, name: &str, conclusion: Option<&str>) -> u64 {
    let head = world.github.pull(REPO, number).head_sha;
    world
        .github
        .post_check_run(REPO, ACTIONS, &head, name, conclusion, None)
}

/// An owner says that the pull request is ready.
pub fn ready(world: &World, number: u64) {
    let owner = world.github.as_user("octo-owner");
    owner.label(REPO, number, "ready-to-merge");
}

/// A pull request that was looked at, a minute ago.
async fn opened(world: &World, spec: &PullSpec) -> u64 {
    let number = world.github.open_pull(REPO, spec);
    world.settle().await;
    world.advance(Duration::from_mins(1));
    number
}

/// The same with everything for a merge.
async fn ripe(world: &World, spec: &PullSpec) -> u64 {
    let number = opened(world, spec).await;
    ci(world, number, "build", Some("success"));
    ready(world, number);
    number
}

fn merged(world: &World, number: u64) -> bool {
    world.github.pull(REPO, number).merged
}

/// The status comment; fails when there is more than one.
fn status(world: &World, number: u64) -> Option<CommentSeen> {
    let mut ours: Vec<_> = world
        .github
        .comments(REPO, number)
        .into_iter()
        .filter(|comment| comment.body.contains("/gate -->"))
        .collect();
    assert!(ours.len() <= 1, "{ours:?}");
    ours.pop()
}

fn says(world: &World, number: u64) -> String {
    status(world, number).expect("a status comment").body
}

fn merge_calls(world: &World) -> usize {
    world.github.count(&format!("PUT {MERGE}"))
}

#[tokio::test]
async fn an_a_merges_when_its_last_check_turns_green() {
    let world = merging().await;
    let number = opened(&world, &signed('A')).await;
    let run = ci(&world, number, "build", None);
    ready(&world, number);
    world.settle().await;
    assert!(!merged(&world, number));
    assert!(says(&world, number).contains("`build` has not finished"));

    let head = world.github.pull(REPO, number).head_sha;
    world.github.clear_requests();
    world.github.finish_check_run(REPO, run, "success");
    world.settle().await;
    assert!(merged(&world, number), "{}", says(&world, number));
    assert_eq!(merge_calls(&world), 1);
    let entries = world.log_of("merged");
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["head_sha"], head);
    assert_eq!(entries[0]["merge_mode"], "direct");
    assert_eq!(entries[0]["merge_method"], "squash");
    assert_eq!(entries[0]["base_ref"], "main");
    assert_eq!(entries[0]["quadrant"], "A");
    assert!(entries[0]["delivery"].is_string());
    assert!(says(&world, number).contains("It is merged now (squash)"));
    assert_eq!(world.log_of("merge_refused").len(), 0);
    world.assert_clean().await;
}

#[tokio::test]
async fn commit_statuses_count_and_wake_the_gate() {
    let world = merging().await;
    let number = opened(&world, &signed('A')).await;
    ready(&world, number);
    world.settle().await;
    let head = world.github.pull(REPO, number).head_sha;
    world
        .github
        .post_status(REPO, &head, "build", "success", "octo-dev");
    world.settle().await;
    assert!(merged(&world, number), "{}", says(&world, number));
    world.assert_clean().await;
}

#[tokio::test]
async fn a_strangers_label_does_not_merge() {
    let world = merging().await;
    let number = opened(&world, &signed('A')).await;
    ci(&world, number, "build", Some("success"));
    let author = world.github.as_user("octo-dev");
    author.label(REPO, number, "ready-to-merge");
    world.settle().await;
    assert!(!merged(&world, number));
    assert_eq!(merge_calls(&world), 0);
    assert!(says(&world, number).contains("**C1** (P0)"));
    assert_eq!(world.log_of("merged").len(), 0);

    // The owner takes it off and sets it anew.
    world
        .github
        .as_user("octo-owner")
        .unlabel(REPO, number, "ready-to-merge");
    ready(&world, number);
    world.settle().await;
    assert!(merged(&world, number));
    world.assert_clean().await;
}

#[tokio::test]
async fn a_label_from_before_the_push_does_not_merge() {
    let world = merging().await;
    let number = opened(&world, &signed('A')).await;
    ready(&world, number);
    world.settle().await;
    world.advance(Duration::from_mins(1));
    let file = FileSpec::added("examples/x.md", "x\n");
    world.github.push(REPO, number, MESSAGE, &[file]);
    world.settle().await;
    ci(&world, number, "build", Some("success"));
    world.settle().await;
    assert!(!merged(&world, number));
    assert!(says(&world, number).contains("before the present head became the head"));
    world.assert_clean().await;
}

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

#[tokio::test]
async fn a_red_duplicate_of_a_green_check_does_not_merge() {
    let world = merging().await;
    let number = opened(&world, &signed('A')).await;
    let head = world.github.pull(REPO, number).head_sha;
    ci(&world, number, "build", Some("success"));
    world
        .github
        .post_status(REPO, &head, "build", "failure", "octo-dev");
    ready(&world, number);
    world.settle().await;
    assert!(!merged(&world, number));
    assert!(says(&world, number).contains("`build` has the status `failure`"));
    world.assert_clean().await;
}

#[tokio::test]
async fn a_check_of_another_app_is_no_ci() {
    let world = merging().await;
    world.github.add_app(99, "other-app");
    let number = opened(&world, &signed('A')).await;
    let head = world.github.pull(REPO, number).head_sha;
    world
        .github
        .post_check_run(REPO, 99, &head, "build", Some("success"), None);
    ready(&world, number);
    world.settle().await;
    assert!(!merged(&world, number));
    assert!(says(&world, number).contains("only check-runs of `github-actions` count"));
    world.assert_clean().await;
}

#[tokio::test]
async fn a_d_merges_only_after_the_owners_answer() {
    let world = merging().await;
    let number = ripe(&world, &signed('D')).await;
    world.settle().await;
    assert!(!merged(&world, number));
    assert!(says(&world, number).contains("**C3** (P0): quadrant D"));

    world.advance(Duration::from_mins(1));
    let issue = world.issue().number;
    let comment = |login: &str, text: &str| {
        world.advance(Duration::from_mins(1));
        world.github.as_user(login).comment(INBOX, issue, text);
    };
    comment("octo-dev", "/approve A");
    world.settle().await;
    assert!(!merged(&world, number), "a stranger's answer");
    comment("octo-owner", "/approve C");
    world.settle().await;
    assert!(!merged(&world, number), "deferred");
    comment("octo-owner", "/approve A");
    world.settle().await;
    assert!(merged(&world, number), "{}", says(&world, number));
    let kinds: Vec<_> = world.log().iter().map(|e| e["kind"].clone()).collect();
    let answered = kinds.iter().rposition(|kind| kind == "owner_answer");
    assert!(answered < kinds.iter().position(|kind| kind == "merged"));
    world.assert_clean().await;
}

#[tokio::test]
async fn an_approval_that_is_taken_back_does_not_merge() {
    let world = merging().await;
    let number = opened(&world, &signed('D')).await;
    ready(&world, number);
    world.settle().await;
    world.advance(Duration::from_mins(1));
    let issue = world.issue().number;
    let owner = world.github.as_user("octo-owner");
    let reaction = owner.react(INBOX, issue, "+1");
    quadgate::tick::sweep_inbox(world.app().bench())
        .await
        .expect("a sweep");
    world.settle().await;
    assert_eq!(world.check(number).conclusion.as_deref(), Some("success"));
    // Taken back: no webhook tells.
    owner.unreact(INBOX, issue, reaction);
    ci(&world, number, "build", Some("success"));
    world.settle().await;
    assert!(!merged(&world, number));
    assert_eq!(world.check(number).conclusion.as_deref(), Some("failure"));
    world.assert_clean().await;
}

#[tokio::test]
async fn a_rejected_d_is_closed_and_not_merged() {
    let world = merging().await;
    let number = ripe(&world, &signed('D')).await;
    world.settle().await;
    world.advance(Duration::from_mins(1));
    let issue = world.issue().number;
    world
        .github
        .as_user("octo-owner")
        .comment(INBOX, issue, "/reject");
    world.settle().await;
    let pull = world.github.pull(REPO, number);
    assert!(!pull.open && !pull.merged);
    assert_eq!(merge_calls(&world), 0);
    world.assert_clean().await;
}

#[tokio::test]
async fn drafts_conflicts_closed_and_other_bases_do_not_merge() {
    let world = merging().await;
    let draft = ripe(&world, &signed('A').draft()).await;
    let conflict = ripe(&world, &signed('A')).await;
    world.github.set_mergeable(REPO, conflict, Some(false));
    world.github.add_branch(REPO, "release", "main");
    let elsewhere = ripe(&world, &signed('A').base("release")).await;
    let closed = ripe(&world, &signed('A')).await;
    world.github.as_user("octo-dev").close(REPO, closed);
    world.settle().await;
    for number in [draft, conflict, elsewhere, closed] {
        assert!(!merged(&world, number), "#{number}");
    }
    assert_eq!(merge_calls(&world), 0);
    assert!(says(&world, draft).contains("it is a draft"));
    assert!(says(&world, conflict).contains("it conflicts with `main`"));
    assert!(says(&world, elsewhere).contains("is not a branch that is merged into"));

    world.github.set_draft(REPO, draft, false);
    world.settle().await;
    assert!(merged(&world, draft), "{}", says(&world, draft));
    world.assert_clean().await;
}

#[tokio::test]
async fn the_bots_own_and_archived_repositories_are_not_merged_into() {
    const OWN: &str = "octo-org/bot";
    let mut world = arranged("").await;
    let projects = format!(
        "governance_repo: {OWN}\nsupervised_repos: [{REPO}, {OWN}]\ndecision_inbox:\n  repository: {INBOX}\n"
    );
    world.config.insert("projects.yml", projects);
    world.serve().await.expect("the server starts");
    let number = world.github.open_pull(OWN, &signed('A'));
    world.settle().await;
    world.advance(Duration::from_mins(1));
    let head = world.github.pull(OWN, number).head_sha;
    world
        .github
        .post_check_run(OWN, ACTIONS, &head, "build", Some("success"), None);
    world
        .github
        .as_user("octo-owner")
        .label(OWN, number, "ready-to-merge");
    world.settle().await;
    assert!(!world.github.pull(OWN, number).merged);
    let comments = world.github.comments(OWN, number);
    assert!(
        comments
            .iter()
            .any(|comment| comment.body.contains("own repository")),
        "{comments:?}"
    );

    let number = ripe(&world, &signed('A')).await;
    world.github.archive_repo(REPO);
    world.settle().await;
    assert!(!merged(&world, number));
    assert_eq!(merge_calls(&world), 0);
    world.assert_clean().await;
}

#[tokio::test]
async fn a_dry_run_says_what_it_would_do() {
    let world = merging_with("  dry_run: true\n").await;
    let number = ripe(&world, &signed('A')).await;
    world.settle().await;
    assert!(!merged(&world, number));
    assert_eq!(merge_calls(&world), 0);
    let said = says(&world, number);
    assert!(
        said.contains("Dry run") && said.contains("squash"),
        "{said}"
    );
    let refused = world.log_of("merge_refused");
    assert_eq!(refused.len(), 1);
    assert_eq!(
        refused[0]["refused_because"][0],
        "dry run: would merge by squash"
    );
    ci(&world, number, "other", Some("success"));
    world.settle().await;
    assert_eq!(world.log_of("merge_refused").len(), 1);
    world.assert_clean().await;
}

#[tokio::test]
async fn the_status_comment_lists_everything_and_is_edited_in_place() {
    let world = merging().await;
    let spec = spec_of('D').draft().commits(["No trailers"]);
    let number = opened(&world, &spec).await;
    ci(&world, number, "build", Some("failure"));
    world
        .github
        .commit_on(REPO, "main", "Elsewhere", &[FileSpec::added("x.md", "x\n")]);
    world
        .github
        .as_user("octo-dev")
        .label(REPO, number, "ready-to-merge");
    world.settle().await;
    let first = status(&world, number).expect("one");
    for part in ["mergeable", "C1", "C2", "C3", "C4", "C5"] {
        assert!(
            first.body.contains(&format!("- **{part}** (P0)")),
            "{part} is missing in:\n{}",
            first.body
        );
    }
    world.github.set_draft(REPO, number, false);
    world.settle().await;
    let second = status(&world, number).expect("one");
    assert_eq!(first.id, second.id);
    assert!(!second.body.contains("**mergeable**"), "{}", second.body);
    world.assert_clean().await;
}

#[tokio::test]
async fn nothing_is_posted_when_nothing_changed() {
    let world = merging().await;
    let number = opened(&world, &signed('A')).await;
    ready(&world, number);
    world.settle().await;
    let (entries, said) = (world.log().len(), says(&world, number));
    world.github.clear_requests();
    // Green, but not what is waited for.
    ci(&world, number, "lint", Some("success"));
    world
        .github
        .as_user("octo-dev")
        .label(REPO, number, "documentation");
    world.settle().await;
    world.github.clear_requests();
    ci(&world, number, "docs", Some("success"));
    world.settle().await;
    assert_eq!(world.github.writes(), 0);
    assert_eq!(world.log().len(), entries);
    assert_eq!(says(&world, number), said);
    let calls = world.github.requests().len();
    assert!(calls <= 9, "{calls} calls for one look");
    world.assert_clean().await;
}

#[tokio::test]
async fn a_branch_that_is_behind_is_updated_and_judged_anew() {
    let world = merging().await;
    let number = opened(&world, &signed('A')).await;
    world
        .github
        .commit_on(REPO, "main", "Elsewhere", &[FileSpec::added("x.md", "x\n")]);
    let before = world.github.pull(REPO, number).head_sha;
    ready(&world, number);
    world.settle().await;
    world.advance(Duration::from_mins(1));
    ci(&world, number, "build", Some("success"));
    world.settle().await;
    let after = world.github.pull(REPO, number).head_sha;
    assert_ne!(before, after, "{}", says(&world, number));
    assert!(!merged(&world, number));
    let said = says(&world, number);
    assert!(said.contains("**C1**") && said.contains("**C2**"), "{said}");
    assert!(!said.contains("**C4**"), "{said}");

    world.advance(Duration::from_mins(1));
    ci(&world, number, "build", Some("success"));
    let owner = world.github.as_user("octo-owner");
    owner.unlabel(REPO, number, "ready-to-merge");
    ready(&world, number);
    world.settle().await;
    assert!(merged(&world, number), "{}", says(&world, number));
    world.assert_clean().await;
}

#[tokio::test]
async fn a_push_to_the_base_is_noticed_by_those_that_wait() {
    let world = merging().await;
    let number = opened(&world, &signed('A')).await;
    ready(&world, number);
    world.settle().await;
    assert!(!says(&world, number).contains("**C4**"));
    world
        .github
        .commit_on(REPO, "main", "Elsewhere", &[FileSpec::added("x.md", "x\n")]);
    world.settle().await;
    assert!(
        says(&world, number).contains("**C4**"),
        "{}",
        says(&world, number)
    );
    world.assert_clean().await;
}

#[tokio::test]
async fn conflicts_that_are_not_computed_yet_are_waited_for() {
    let world = merging().await;
    let number = ripe(&world, &signed('A')).await;
    world.github.set_mergeable(REPO, number, None);
    world.github.deliver_all(&world.webhook_url()).await;
    world.work().await;
    assert!(!merged(&world, number));
    world.github.set_mergeable(REPO, number, Some(true));
    world.settle().await;
    assert!(merged(&world, number));

    let never = ripe(&world, &signed('A')).await;
    world.github.set_mergeable(REPO, never, None);
    world
        .settle_within(Duration::from_mins(5))
        .await
        .expect("no crash");
    assert!(!merged(&world, never));
    assert!(says(&world, never).contains("unknown whether it conflicts"));
    world.assert_clean().await;
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

#[tokio::test]
async fn the_repositorys_ways_to_merge_are_respected() {
    let world = merging().await;
    let number = ripe(&world, &signed('A')).await;
    let only_rebase = fake_github::MergeMethods {
        merge: false,
        squash: false,
        rebase: true,
    };
    world.github.set_merge_methods(REPO, only_rebase);
    world.settle().await;
    assert!(merged(&world, number));
    assert_eq!(world.log_of("merged")[0]["merge_method"], "rebase");
    world.assert_clean().await;
}

#[tokio::test]
async fn required_evidence_that_nobody_reads_holds_a_merge_up() {
    let mut world = arranged("").await;
    let env = world.config["env.yml"].clone();
    world
        .config
        .insert("env.yml", format!("{env}evidence:\n  mode: required\n"));
    world.serve().await.expect("the server starts");
    let number = ripe(&world, &signed('A')).await;
    world.settle().await;
    assert!(!merged(&world, number));
    assert!(says(&world, number).contains("**evidence** (P1)"));
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
