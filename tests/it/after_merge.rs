//! After the merge: a merged commit that fails its required checks gets one Issue, and where it is allowed and proved
//! safe, a pull request that takes it back, which is judged like every other.

use crate::crashes::Steps;
use crate::world::{INBOX, REPO, World};
use fake_github::{FaultAnswer, FaultRule, FileSpec, IssueSeen, PullSpec};
use quadgate::tick;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// GitHub Actions' own id.
const ACTIONS: u64 = 15_368;
const INCIDENT: &str = "decision:post-merge-revalidation";
const REVERT: &str = "decision:auto-revert";

const MINUTE: Duration = Duration::from_mins(1);

fn env(lines: &str) -> String {
    format!("bot_app_slug: quadgate\nrequired_checks: [build]\n{lines}")
}

async fn world(lines: &str) -> World {
    let mut world = World::arranged().await;
    world.config.insert("env.yml", env(lines));
    world.github.add_app(ACTIONS, "github-actions");
    world.serve().await.expect("the server starts");
    world
}

fn spec() -> PullSpec {
    PullSpec::new("Tidy the engine").files([
        FileSpec::modified("src/engine.rs", "fn a() { 1 }\n", "fn a() { 2 }\n"),
        FileSpec::added("src/new.rs", "fn b() {}\n"),
        FileSpec::removed("src/old.rs", "fn c() {}\n"),
    ])
}

/// A by its content, in both directions.
fn calm() -> PullSpec {
    PullSpec::new("Fix a typo").file(FileSpec::modified(
        "README.md",
        "# Teh widgets\n",
        "# The widgets\n",
    ))
}

/// Opens a pull request and merges it by hand; number and merged commit.
async fn merged(world: &World, spec: &PullSpec, method: &str) -> (u64, String) {
    let number = world.github.open_pull(REPO, spec);
    world.settle().await;
    let commit = world
        .github
        .as_user("octo-owner")
        .merge(REPO, number, method);
    world.settle().await;
    (number, commit)
}

/// A run of CI that takes a minute.
fn runs(world: &World, commit: &str, name: &str, conclusion: &str) {
    let run = world
        .github
        .post_check_run(REPO, ACTIONS, commit, name, None, None);
    world.advance(MINUTE);
    world.github.finish_check_run(REPO, run, conclusion);
}

async fn sweep(world: &World) {
    tick::sweep_merged(world.app().bench())
        .await
        .expect("the sweep ends");
    world.settle().await;
}

fn incidents(world: &World) -> Vec<IssueSeen> {
    let mut all = world.github.issues(INBOX);
    all.retain(|issue| issue.labels.iter().any(|label| label == INCIDENT));
    all
}

/// The open pull request from the branch of a revert.
fn revert_of(world: &World, commit: &str) -> Option<u64> {
    let branch = format!("quadgate/revert-{}", &commit[..16]);
    world.github.pull_from(REPO, &branch)
}

#[tokio::test]
async fn a_merged_commit_that_fails_opens_one_issue() {
    let world = world("").await;
    let (number, commit) = merged(&world, &spec(), "squash").await;
    assert!(incidents(&world).is_empty());
    runs(&world, &commit, "build", "failure");
    world.settle().await;

    let found = incidents(&world);
    assert_eq!(found.len(), 1);
    let issue = &found[0];
    assert!(issue.open);
    assert!(
        issue.title.contains(&format!("{REPO}#{number}")),
        "{issue:?}"
    );
    assert!(issue.body.contains(&commit));
    assert!(
        issue.body.contains("`build` concluded `failure`"),
        "{}",
        issue.body
    );
    assert!(
        issue.body.contains("`auto_revert_pr` is off"),
        "{}",
        issue.body
    );
    assert_eq!(revert_of(&world, &commit), None);
    let entries = world.log_of("issue_opened");
    let entry = entries.last().expect("an entry");
    assert_eq!(entry["issue_kind"], "post_merge");
    assert_eq!(entry["head_sha"], commit);
    assert_eq!(entry["pr"], format!("{REPO}#{number}"));

    // However often it fails, and whatever the sweep does: one Issue, also after it was closed.
    let before = world.log().len();
    runs(&world, &commit, "build", "timed_out");
    world.settle().await;
    world
        .github
        .as_user("octo-owner")
        .close(INBOX, issue.number);
    runs(&world, &commit, "build", "failure");
    world.settle().await;
    world.advance(Duration::from_hours(1));
    sweep(&world).await;
    assert_eq!(incidents(&world).len(), 1);
    assert_eq!(world.log().len(), before);
    world.assert_clean().await;
}

#[tokio::test]
async fn a_failing_status_counts_and_an_unrequired_check_does_not() {
    let world = world("").await;
    let (_, commit) = merged(&world, &spec(), "squash").await;
    runs(&world, &commit, "lint", "failure");
    world.settle().await;
    assert!(incidents(&world).is_empty());
    world
        .github
        .post_status(REPO, &commit, "build", "pending", "ci-bot");
    world
        .github
        .post_status(REPO, &commit, "build", "error", "ci-bot");
    world.settle().await;
    assert_eq!(incidents(&world).len(), 1);
    world.assert_clean().await;
}

#[tokio::test]
async fn what_ci_explains_away_opens_nothing() {
    for conclusion in ["cancelled", "skipped", "success", "neutral"] {
        let world = world("auto_revert_pr: true\n").await;
        let (_, commit) = merged(&world, &spec(), "squash").await;
        runs(&world, &commit, "build", conclusion);
        world.settle().await;
        assert!(incidents(&world).is_empty(), "{conclusion}");
        assert_eq!(revert_of(&world, &commit), None);
    }
    // A failure that took no time at all did not look at the commit.
    let world = world("auto_revert_pr: true\n").await;
    let (_, commit) = merged(&world, &spec(), "squash").await;
    world
        .github
        .post_check_run(REPO, ACTIONS, &commit, "build", Some("failure"), None);
    world.settle().await;
    assert!(incidents(&world).is_empty());
    // Run again, it fails for real.
    runs(&world, &commit, "build", "failure");
    world.settle().await;
    assert_eq!(incidents(&world).len(), 1);
    world.assert_clean().await;
}

#[tokio::test]
async fn the_revert_puts_every_file_back() {
    let world = world("auto_revert_pr: true\n").await;
    let (number, commit) = merged(&world, &spec(), "squash").await;
    // Somebody else's merge in between, of other files.
    let later = world.github.commit_on(
        REPO,
        "main",
        "Unrelated",
        &[FileSpec::added("docs/later.md", "later\n")],
    );
    runs(&world, &commit, "build", "failure");
    world.settle().await;

    let revert = revert_of(&world, &commit).expect("a revert");
    let seen = world.github.pull(REPO, revert);
    assert_eq!(seen.labels, [REVERT]);
    assert_eq!(seen.base_ref, "main");
    let (parents, message) = world.github.commit(REPO, &seen.head_sha);
    assert_eq!(parents, [later]);
    assert!(
        message.contains(&format!("This reverts commit {commit}.")),
        "{message}"
    );
    assert!(
        message.contains(&format!("Task-Ref: PR#{number}")),
        "{message}"
    );
    let at = |path: &str| world.github.file_at(REPO, &seen.head_sha, path);
    assert_eq!(at("src/engine.rs").as_deref(), Some("fn a() { 1 }\n"));
    assert_eq!(at("src/new.rs"), None);
    assert_eq!(at("src/old.rs").as_deref(), Some("fn c() {}\n"));
    assert_eq!(
        at("docs/later.md").as_deref(),
        Some("later\n"),
        "others stay"
    );

    let reverted = world.log_of("reverted");
    assert_eq!(reverted.len(), 1);
    assert_eq!(reverted[0]["reverts"], commit);
    assert_eq!(
        reverted[0]["failed_checks"][0],
        "`build` concluded `failure`"
    );

    let issue = &incidents(&world)[0];
    assert_eq!(issue.comments.len(), 1, "{issue:?}");
    assert!(issue.comments[0].body.contains(&format!("{REPO}#{revert}")));

    // Nothing more comes of it.
    let writes = world.github.writes();
    runs(&world, &commit, "build", "failure");
    world.settle().await;
    world.advance(Duration::from_hours(1));
    sweep(&world).await;
    assert_eq!(world.github.writes(), writes);
    world.assert_clean().await;
}

#[tokio::test]
async fn the_revert_lands_as_c_when_its_webhook_is_worked() {
    let world = world("auto_revert_pr: true\n").await;
    let (_, commit) = merged(&world, &calm(), "squash").await;
    runs(&world, &commit, "build", "failure");
    world.settle().await;
    let revert = revert_of(&world, &commit).expect("a revert");
    assert_eq!(world.check(revert).conclusion.as_deref(), Some("success"));
    let entries = world.log_of("classification");
    let entry = entries.last().expect("an entry");
    assert_eq!(entry["pr"], format!("{REPO}#{revert}"));
    assert_eq!(entry["quadrant"], "C");
    assert!(
        entry["rules_fired"]
            .to_string()
            .contains("`decision:auto-revert` set by `quadgate[bot]`"),
        "{entry}"
    );
    world.assert_clean().await;
}

#[tokio::test]
async fn a_revert_that_is_d_by_content_stays_d() {
    let world = world("auto_revert_pr: true\n").await;
    let spec = PullSpec::new("Change the pipeline").file(FileSpec::modified(
        ".github/workflows/ci.yml",
        "on: push\n",
        "on: pull_request_target\n",
    ));
    let (_, commit) = merged(&world, &spec, "squash").await;
    runs(&world, &commit, "build", "failure");
    world.settle().await;
    let revert = revert_of(&world, &commit).expect("a revert");
    assert_eq!(world.check(revert).conclusion.as_deref(), Some("failure"));
    assert_eq!(
        world.log_of("classification").last().expect("one")["quadrant"],
        "D"
    );
    world.assert_clean().await;
}

/// The Issue alone, with this reason in it.
async fn issue_only(world: &World, commit: &str, reason: &str) {
    runs(world, commit, "build", "failure");
    world.settle().await;
    let found = incidents(world);
    assert_eq!(found.len(), 1, "{reason}");
    assert!(
        found[0].body.contains(reason),
        "{reason}: {}",
        found[0].body
    );
    assert!(found[0].body.contains(&format!("git revert {commit}")));
    assert_eq!(revert_of(world, commit), None, "{reason}");
    assert!(world.log_of("reverted").is_empty());
    world.assert_clean().await;
}

#[tokio::test]
async fn only_what_is_proved_is_reverted() {
    let on = "auto_revert_pr: true\n";
    let several = world(on).await;
    let (_, commit) = merged(&several, &spec(), "merge").await;
    issue_only(&several, &commit, "the commit has 2 parents").await;

    let rebased = world(on).await;
    let two = spec().commits(["First half", "Second half"]);
    let (_, commit) = merged(&rebased, &two, "rebase").await;
    issue_only(&rebased, &commit, "put on the base one by one").await;

    let changed = world(on).await;
    let (_, commit) = merged(&changed, &spec(), "squash").await;
    let again = FileSpec::modified("src/engine.rs", "fn a() { 2 }\n", "fn a() { 3 }\n");
    changed.github.commit_on(REPO, "main", "Go on", &[again]);
    issue_only(&changed, &commit, "`src/engine.rs` was changed again").await;

    let wide = world(on).await;
    let many = (0..301).map(|n| FileSpec::added(&format!("src/f{n}.rs"), "fn f() {}\n"));
    let (_, commit) = merged(&wide, &PullSpec::new("Many").files(many), "squash").await;
    issue_only(&wide, &commit, "more than 300 files").await;
}

#[tokio::test]
async fn a_squash_of_several_commits_and_a_rebase_of_one_are_whole() {
    for (spec, method) in [
        (spec().commits(["First half", "Second half"]), "squash"),
        (spec(), "rebase"),
    ] {
        let world = world("auto_revert_pr: true\n").await;
        let (_, commit) = merged(&world, &spec, method).await;
        runs(&world, &commit, "build", "failure");
        world.settle().await;
        assert!(revert_of(&world, &commit).is_some(), "{method}");
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn a_revert_is_not_reverted() {
    let world = world("auto_revert_pr: true\n").await;
    let (_, commit) = merged(&world, &spec(), "squash").await;
    runs(&world, &commit, "build", "failure");
    world.settle().await;
    let revert = revert_of(&world, &commit).expect("a revert");
    let back = world
        .github
        .as_user("octo-owner")
        .merge(REPO, revert, "squash");
    world.settle().await;
    runs(&world, &back, "build", "failure");
    world.settle().await;
    let found = incidents(&world);
    assert_eq!(found.len(), 2);
    assert!(
        found[1].body.contains("is a revert itself"),
        "{}",
        found[1].body
    );
    assert_eq!(world.log_of("reverted").len(), 1);
    world.assert_clean().await;
}

#[tokio::test]
async fn a_foreign_branch_of_that_name_is_not_used() {
    let world = world("auto_revert_pr: true\n").await;
    let (_, commit) = merged(&world, &spec(), "squash").await;
    let branch = format!("quadgate/revert-{}", &commit[..16]);
    world.github.add_branch(REPO, &branch, "main");
    world.github.commit_on(
        REPO,
        &branch,
        "Slip something in",
        &[FileSpec::added("src/evil.rs", "fn evil() {}\n")],
    );
    world.github.drop_deliveries();
    runs(&world, &commit, "build", "failure");
    world.settle().await;
    assert_eq!(revert_of(&world, &commit), None);
    let issue = &incidents(&world)[0];
    assert!(
        issue.comments[0].body.contains("holds something else"),
        "{issue:?}"
    );
    world.assert_clean().await;
}

#[tokio::test]
async fn without_the_permission_the_issue_says_so() {
    let world = world("auto_revert_pr: true\n").await;
    let (_, commit) = merged(&world, &spec(), "squash").await;
    let installation = world.github.installation_of(REPO);
    world
        .github
        .set_permission(installation, "contents", Some("read"));
    world.github.expire_tokens();
    runs(&world, &commit, "build", "failure");
    world.settle().await;
    assert_eq!(revert_of(&world, &commit), None);
    let issue = &incidents(&world)[0];
    assert_eq!(issue.comments.len(), 1);
    assert!(
        issue.comments[0].body.contains("could not be opened"),
        "{issue:?}"
    );
}

#[tokio::test]
async fn an_issue_that_could_not_be_opened_is_tried_again() {
    let world = world("").await;
    let (_, commit) = merged(&world, &spec(), "squash").await;
    world.github.set_has_issues(INBOX, false);
    runs(&world, &commit, "build", "failure");
    world.settle().await;
    sweep(&world).await;
    world.github.set_has_issues(INBOX, true);
    assert!(incidents(&world).is_empty());
    world.advance(Duration::from_mins(10));
    sweep(&world).await;
    assert_eq!(incidents(&world).len(), 1);
    let opened = world.log_of("issue_opened");
    let own = opened
        .iter()
        .filter(|entry| entry["issue_kind"] == "post_merge");
    assert_eq!(own.count(), 1, "the entry is found again");
    world.assert_clean().await;
}

#[tokio::test]
async fn while_github_does_not_answer_nothing_is_opened() {
    let world = world("auto_revert_pr: true\n").await;
    let (_, commit) = merged(&world, &spec(), "squash").await;
    for list in ["**/check-runs", "**/git/trees/*"] {
        world
            .github
            .fail(FaultRule::answer("GET", list, FaultAnswer::server_error(502)).times(3));
    }
    runs(&world, &commit, "build", "failure");
    world.settle().await;
    assert_eq!(incidents(&world).len(), 1);
    assert!(revert_of(&world, &commit).is_some());
    world.assert_clean().await;
}

#[tokio::test]
async fn only_gated_bases_are_watched_and_only_for_a_while() {
    let world = world("").await;
    world.github.add_branch(REPO, "release", "main");
    let (_, commit) = merged(&world, &spec().base("release"), "squash").await;
    runs(&world, &commit, "build", "failure");
    world.settle().await;
    assert!(incidents(&world).is_empty(), "not the default branch");

    let (_, commit) = merged(&world, &spec(), "squash").await;
    world.advance(Duration::from_hours(49));
    runs(&world, &commit, "build", "failure");
    world.settle().await;
    sweep(&world).await;
    assert!(incidents(&world).is_empty(), "too late");

    // A commit that no merge made, and one of a closed pull request.
    let pushed = world
        .github
        .commit_on(REPO, "main", "Straight", &[FileSpec::added("x.rs", "\n")]);
    runs(&world, &pushed, "build", "failure");
    world.settle().await;
    assert!(incidents(&world).is_empty());
    world.assert_clean().await;
}

#[tokio::test]
async fn a_repository_that_is_only_watched_gets_its_incidents_and_nothing_else() {
    let mut world = World::arranged().await;
    world.config.insert("env.yml", env(""));
    world.config.insert(
        "projects.yml",
        format!(
            "governance_repo: octo-org/bot\nsupervised_repos: [octo-org/other]\naudit_only_repos: [{REPO}]\n\
             decision_inbox:\n  repository: {INBOX}\n"
        ),
    );
    world.github.add_app(ACTIONS, "github-actions");
    world.serve().await.expect("the server starts");
    let (_, commit) = merged(&world, &spec(), "squash").await;
    assert!(world.log().is_empty(), "nothing is classified");
    runs(&world, &commit, "build", "failure");
    world.settle().await;
    assert_eq!(incidents(&world).len(), 1);
    world.assert_clean().await;
}

#[tokio::test]
async fn a_lost_event_is_made_up_for_by_the_sweep() {
    let world = world("auto_revert_pr: true\n").await;
    let (_, commit) = merged(&world, &spec(), "squash").await;
    runs(&world, &commit, "build", "failure");
    world.github.drop_deliveries();
    world.advance(Duration::from_mins(10));
    sweep(&world).await;
    assert_eq!(incidents(&world).len(), 1);
    assert!(revert_of(&world, &commit).is_some());
    world.assert_clean().await;

    // A green commit is looked at once more by the clock and then left alone.
    let (_, green) = merged(
        &world,
        &PullSpec::new("More").file(FileSpec::added("m.rs", "\n")),
        "squash",
    )
    .await;
    runs(&world, &green, "build", "success");
    world.github.drop_deliveries();
    world.advance(Duration::from_mins(10));
    sweep(&world).await;
    world.github.clear_requests();
    world.advance(Duration::from_mins(10));
    sweep(&world).await;
    assert_eq!(world.github.requests().len(), 0);
    // An event of a later failure still counts.
    runs(&world, &green, "build", "failure");
    world.settle().await;
    assert_eq!(incidents(&world).len(), 2);
}

/// Indices of the steps to crash at: of each kind the first few, which are those of the incident.
fn worth_a_crash(steps: &[&'static str]) -> Vec<usize> {
    let mut seen = BTreeMap::new();
    let few = |step: &str| if step.starts_with("effect-") { 5 } else { 2 };
    let picked = steps.iter().enumerate().filter(|(_, step)| {
        let count = seen.entry(**step).or_insert(0);
        *count += 1;
        *count <= few(step)
    });
    picked.map(|(at, _)| at).collect()
}

#[tokio::test]
async fn a_crash_at_any_step_leaves_one_issue_and_one_revert() {
    let steps = failing_with_a_crash(None).await;
    let picked = worth_a_crash(&steps);
    assert!(picked.len() > 20, "{steps:?}");
    for at in picked {
        failing_with_a_crash(Some(at)).await;
    }
}

/// The steps it took.
async fn failing_with_a_crash(at: Option<usize>) -> Vec<&'static str> {
    let steps = Arc::new(Steps::default());
    let mut world = World::arranged().await;
    world
        .config
        .insert("env.yml", env("auto_revert_pr: true\n"));
    world.github.add_app(ACTIONS, "github-actions");
    world.fault_point = steps.point();
    world.serve().await.expect("the server starts");
    let (_, commit) = merged(&world, &calm(), "squash").await;
    runs(&world, &commit, "build", "failure");
    steps.arm(at);
    if world.settle_or_crash().await.is_err() {
        world.crash().await;
    }
    world.settle().await;
    world.advance(Duration::from_mins(10));
    sweep(&world).await;

    let taken = steps.taken();
    let what = at.map_or("quiet", |at| taken[at]);
    let found = incidents(&world);
    assert_eq!(found.len(), 1, "{what}");
    assert_eq!(found[0].comments.len(), 1, "{what}");
    let revert = revert_of(&world, &commit).expect("a revert");
    assert_eq!(world.github.pull(REPO, revert).labels, [REVERT], "{what}");
    assert_eq!(world.log_of("reverted").len(), 1, "{what}");
    let opened = world.log_of("issue_opened");
    let own = opened
        .iter()
        .filter(|entry| entry["issue_kind"] == "post_merge");
    assert_eq!(own.count(), 1, "{what}");
    assert_eq!(
        world.check(revert).conclusion.as_deref(),
        Some("success"),
        "{what}"
    );
    world.assert_clean().await;
    taken
}
