//! The merge gate, end to end: what merges, when, and above all what does not.

use crate::audit_cli::audit;
use crate::journey::spec_of;
use crate::world::{INBOX, REPO, World};
use fake_github::{CommentSeen, FileSpec, PullSpec};
use std::time::Duration;

/// The App whose checks are CI.
pub const ACTIONS: u64 = 15_368;
pub const MERGE: &str = "/repos/{owner}/{repo}/pulls/{pull_number}/merge";

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

pub async fn merging_with(more: &str) -> World {
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
pub async fn opened(world: &World, spec: &PullSpec) -> u64 {
    let number = world.github.open_pull(REPO, spec);
    world.settle().await;
    world.advance(Duration::from_mins(1));
    number
}

/// The same with everything for a merge.
pub async fn ripe(world: &World, spec: &PullSpec) -> u64 {
    let number = opened(world, spec).await;
    ci(world, number, "build", Some("success"));
    ready(world, number);
    number
}

pub fn merged(world: &World, number: u64) -> bool {
    world.github.pull(REPO, number).merged
}

/// The status comment; fails when there is more than one.
pub fn status(world: &World, number: u64) -> Option<CommentSeen> {
    let mut ours: Vec<_> = world
        .github
        .comments(REPO, number)
        .into_iter()
        .filter(|comment| comment.body.contains("/gate -->"))
        .collect();
    assert!(ours.len() <= 1, "{ours:?}");
    ours.pop()
}

pub fn says(world: &World, number: u64) -> String {
    status(world, number).expect("a status comment").body
}

pub fn merge_calls(world: &World) -> usize {
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
async fn required_evidence_that_is_missing_holds_a_merge_up() {
    let mut world = arranged("").await;
    let env = world.config["env.yml"].clone();
    world
        .config
        .insert("env.yml", format!("{env}evidence:\n  mode: required\n"));
    world.serve().await.expect("the server starts");
    let number = ripe(&world, &signed('D')).await;
    world.settle().await;
    assert!(!merged(&world, number));
    assert!(says(&world, number).contains("**evidence** (P1)"));
    // At low risk none is needed.
    let number = ripe(&world, &signed('A')).await;
    world.settle().await;
    assert!(merged(&world, number), "{}", says(&world, number));
    world.assert_clean().await;
}

#[tokio::test]
async fn the_log_tells_why_a_d_was_merged() {
    let world = merging().await;
    let number = ripe(&world, &signed('D')).await;
    world.settle().await;
    world.advance(Duration::from_mins(5));
    let issue = world.issue().number;
    world
        .github
        .as_user("octo-owner")
        .comment(INBOX, issue, "/approve A");
    world.settle().await;
    assert!(merged(&world, number));
    let pr = format!("{REPO}#{number}");
    let (code, told) = audit(&["why", &pr], &world.dir.path().join("bot-state"));
    assert_eq!(code, 0, "{told}");
    let order = [
        " quadrant D",
        "  merge    ordered ",
        "squash into main (direct)",
        "history (5 entries",
        " classification ",
        " issue_opened ",
        " owner_answer ",
        " issue_closed ",
        " merged ",
    ];
    let places: Vec<_> = order
        .iter()
        .map(|part| told.find(part).expect(part))
        .collect();
    assert!(places.is_sorted(), "{told}");
    assert!(told.lines().count() <= 24, "one screen: {told}");
}
