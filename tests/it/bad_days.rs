//! GitHub on its bad days: every endpoint that an evaluation asks fails in every way, and the day ends as a quiet one.
//!
//! The endpoints are those that a quiet day asked, so that a new one is covered when it comes.

use crate::crashes::Outcome;
use crate::journey::spec_of;
use crate::world::{CHECK, INBOX, REPO, World};
use fake_github::{Config, FaultAnswer, FaultKind, FaultRule, FileSpec, PullSpec};
use std::collections::BTreeSet;
use std::time::Duration;

const PULL: &str = "/repos/{owner}/{repo}/pulls/{pull_number}";
const FILES: &str = "/repos/{owner}/{repo}/pulls/{pull_number}/files";
const COMMITS: &str = "/repos/{owner}/{repo}/pulls/{pull_number}/commits";
const RUNS: &str = "/repos/{owner}/{repo}/commits/{ref}/check-runs";
const CHECK_RUNS: &str = "/repos/{owner}/{repo}/check-runs";
const ISSUES: &str = "/repos/{owner}/{repo}/issues";

/// Longer than every wait together, shorter than a token's life.
const PATIENCE: Duration = Duration::from_mins(50);

/// A pull request that a D becomes a B of: labels, Issues opened and closed, comments, file texts, check-runs.
async fn supersede(world: &World) {
    world.github.open_pull(REPO, &spec_of('D'));
    world.settle_within(PATIENCE).await.expect("no crash");
    let engine = FileSpec::modified("src/engine.rs", "fn a() { 1 }\n", "fn a() { 2 }\n");
    world.github.force_push(REPO, 1, &["Tidy"], &[engine]);
    world.settle_within(PATIENCE).await.expect("no crash");
}

/// What a quiet day asks and leaves.
async fn quiet_day() -> (BTreeSet<(String, String)>, Outcome) {
    let world = World::start().await;
    supersede(&world).await;
    let asked = world
        .github
        .requests()
        .into_iter()
        .map(|request| (request.method, request.route))
        .collect();
    (asked, Outcome::of(&world).await)
}

/// The same day with each endpoint failing so often; answers how many endpoints that were.
async fn each_endpoint_fails(kind: FaultKind, times: u32) -> usize {
    let (asked, quiet) = quiet_day().await;
    for (method, route) in &asked {
        let world = World::start().await;
        // The second time: the first D is judged on a good day.
        let fault = FaultRule::new(method, route, kind.clone()).times(times);
        world.github.fail(fault);
        supersede(&world).await;
        let outcome = Outcome::of(&world).await;
        assert_eq!(outcome, quiet, "{method} {route}: {kind:?}");
        world.assert_clean().await;
    }
    asked.len()
}

#[tokio::test]
async fn a_token_that_ended_early() {
    let count = each_endpoint_fails(answer(FaultAnswer::new(401, "Bad credentials")), 1).await;
    assert!(count >= 12, "{count} endpoints");
}

#[tokio::test]
async fn a_gateway_that_fails_with_a_page() {
    each_endpoint_fails(answer(FaultAnswer::html(502)), 4).await;
}

#[tokio::test]
async fn a_server_error_after_the_write() {
    each_endpoint_fails(FaultKind::AnswerAfter(FaultAnswer::server_error(500)), 1).await;
}

#[tokio::test]
async fn a_connection_lost_before_the_request() {
    each_endpoint_fails(FaultKind::DropBefore, 1).await;
}

#[tokio::test]
async fn a_connection_lost_after_the_request() {
    each_endpoint_fails(FaultKind::DropAfter, 1).await;
}

#[tokio::test]
async fn half_an_answer() {
    each_endpoint_fails(FaultKind::TruncatedBody, 1).await;
}

#[tokio::test]
async fn a_rate_limit_with_and_without_headers() {
    for limit in [
        FaultAnswer::secondary_limit(),
        FaultAnswer::secondary_limit_for(90),
        FaultAnswer::too_many(30),
    ] {
        each_endpoint_fails(answer(limit), 1).await;
    }
}

fn answer(answer: FaultAnswer) -> FaultKind {
    FaultKind::Answer(answer)
}

#[tokio::test]
async fn silence() {
    for (method, route) in [("GET", FILES), ("POST", ISSUES), ("POST", CHECK_RUNS)] {
        let mut world = World::arranged().await;
        world.server_lines = "timeouts: {request_seconds: 1}\n".to_owned();
        world.serve().await.expect("the server starts");
        let hang = FaultKind::Hang(Duration::from_secs(20));
        world.github.fail(FaultRule::new(method, route, hang));
        let number = world.github.open_pull(REPO, &spec_of('D'));
        world.settle_within(PATIENCE).await.expect("no crash");
        assert_eq!(world.check(number).conclusion.as_deref(), Some("failure"));
        assert_eq!(world.issue().labels, ["decision:pending-owner"]);
        assert_eq!(world.log_of("classification").len(), 1, "{method} {route}");
        world.assert_clean().await;
    }
}

/// Lists that are not whole are read again; what stays short is a D with the figures.
#[tokio::test]
async fn lists_that_are_not_whole() {
    let lies = [
        (FILES, FaultKind::ShortList(1)),
        (FILES, FaultKind::EmptyList),
        (COMMITS, FaultKind::ShortList(1)),
    ];
    for (route, lie) in lies {
        let world = World::start().await;
        world
            .github
            .fail(FaultRule::new("GET", route, lie.clone()).always());
        let number = world.github.open_pull(REPO, &spec_of('A'));
        world.settle_within(PATIENCE).await.expect("no crash");
        let check = world.check(number);
        assert_eq!(
            check.conclusion.as_deref(),
            Some("failure"),
            "{route}: {lie:?}"
        );
        assert_eq!(world.issue().labels, ["decision:pending-owner"]);
        world.assert_clean().await;

        world.github.clear_faults();
        let run = check.id;
        world.github.as_user("octo-dev").rerequest(REPO, run);
        world.settle().await;
        let check = world.check(number);
        assert_eq!(
            check.conclusion.as_deref(),
            Some("success"),
            "{route}: {lie:?}"
        );
        assert!(world.github.open_issues(INBOX).is_empty());
        world.assert_clean().await;
    }
}

/// A read that fails for good: D with the cause, and the sweep makes it right once it works again.
#[tokio::test]
async fn what_cannot_be_read_is_a_d_until_it_can() {
    for route in [FILES, COMMITS] {
        for failing in [FaultAnswer::server_error(500), FaultAnswer::permission()] {
            let mut world = World::start().await;
            let fault = FaultRule::answer("GET", route, failing.clone()).always();
            world.github.fail(fault);
            let number = world.github.open_pull(REPO, &spec_of('A'));
            world.settle_within(PATIENCE).await.expect("no crash");
            let check = world.check(number);
            assert_eq!(check.conclusion.as_deref(), Some("failure"), "{route}");
            let entries = world.log_of("classification");
            assert_eq!(entries.len(), 1, "{route}: judged once");
            let reasoning = entries[0]["reasoning"].as_str().expect("text");
            assert!(reasoning.contains("unknown"), "{reasoning}");
            world.assert_clean().await;

            world.github.clear_faults();
            sweep(&mut world).await;
            assert_eq!(world.check(number).conclusion.as_deref(), Some("success"));
            assert!(world.github.open_issues(INBOX).is_empty());
            world.assert_clean().await;
        }
    }
}

/// verdict-031-total-count-mismatch: check-runs that cannot be read may hold our own, which must not be doubled: nothing is published, the dead letter
/// says why, and the sweep makes it right.
#[tokio::test]
async fn check_runs_that_cannot_be_read() {
    for kind in [
        FaultKind::TotalCount(150),
        answer(FaultAnswer::server_error(500)),
        answer(FaultAnswer::permission()),
    ] {
        let mut world = World::start().await;
        world
            .github
            .fail(FaultRule::new("GET", RUNS, kind.clone()).always());
        let number = world.github.open_pull(REPO, &spec_of('A'));
        world.settle_within(PATIENCE * 3).await.expect("no crash");
        let head = world.github.pull(REPO, number).head_sha;
        assert_eq!(world.check_on(&head), None, "{kind:?}");
        let dead = world.app().bench().store.dead_letters().await;
        let dead = dead.expect("store");
        assert_eq!(dead.len(), 1, "{kind:?}");
        assert!(dead[0].reason.contains("check-runs"), "{}", dead[0].reason);
        let log = world.log_of("classification");
        assert_eq!(log.len(), 1);
        assert_eq!(
            log[0]["quadrant"], "D",
            "what was not seen could be anything"
        );

        world.github.clear_faults();
        sweep(&mut world).await;
        assert_eq!(world.check(number).conclusion.as_deref(), Some("success"));
        assert!(world.github.open_issues(INBOX).is_empty());
        world.assert_clean().await;
    }
}

/// What a tick does: every installation is looked at.
pub async fn sweep(world: &mut World) {
    use quadgate::domain::{InstallationId, Subject, Trigger};
    let installation = InstallationId(world.github.installation_of(REPO));
    let trigger = Trigger {
        subject: Subject::Installation { installation },
        deep: true,
        announces_head: None,
    };
    let store = &world.app().bench().store;
    let now = quadgate::clock::Clock::now(&*world.clock);
    store.enqueue(trigger, now).await.expect("store");
    world.settle_within(PATIENCE).await.expect("no crash");
}

/// A pull request that cannot be read at all, or a check-run that is not allowed: a dead letter that says why, and
/// the same delivery sent again makes it right.
#[tokio::test]
async fn a_permanent_failure_is_a_dead_letter_until_it_is_sent_again() {
    let permanent = [
        ("GET", PULL, FaultAnswer::permission(), "permission"),
        ("GET", PULL, FaultAnswer::not_found(), "not visible"),
        ("POST", CHECK_RUNS, FaultAnswer::permission(), "permission"),
        (
            "POST",
            CHECK_RUNS,
            FaultAnswer::new(422, "Validation Failed"),
            "invalid",
        ),
        ("GET", PULL, FaultAnswer::server_error(500), "HTTP 500"),
    ];
    for (method, route, failing, reason) in permanent {
        let world = World::start().await;
        let fault = FaultRule::answer(method, route, failing).always();
        world.github.fail(fault);
        let number = world.github.open_pull(REPO, &spec_of('D'));
        let opened = world.github.deliveries();
        for webhook in &opened {
            world.send(webhook).await;
        }
        world.settle_within(PATIENCE * 3).await.expect("no crash");
        let store = &world.app().bench().store;
        let dead = store.dead_letters().await.expect("store");
        assert_eq!(dead.len(), 1, "{method} {route}");
        assert!(dead[0].reason.contains(reason), "{}", dead[0].reason);
        let head = world.github.pull(REPO, number).head_sha;
        assert_eq!(world.check_on(&head), None, "nothing is published");

        world.github.clear_faults();
        for webhook in &opened {
            assert!((200..300).contains(&world.send(webhook).await));
        }
        world.settle().await;
        assert_eq!(world.check(number).conclusion.as_deref(), Some("failure"));
        assert_eq!(world.issue().labels, ["decision:pending-owner"]);
        assert_eq!(
            world.log_of("classification").len(),
            1,
            "{method} {route}: one entry"
        );
        world.assert_clean().await;
    }
}

/// Issues switched off, or no permission: the check-run says so, D stays failure, and the Issue comes later.
#[tokio::test]
async fn issues_that_cannot_be_opened() {
    for switched_off in [true, false] {
        let mut world = World::start().await;
        let installation = world.github.installation_of(INBOX);
        let allow = |world: &World, on: bool| {
            if switched_off {
                world.github.set_has_issues(INBOX, on);
            } else {
                let level = on.then_some("write");
                world.github.set_permission(installation, "issues", level);
                world.github.expire_tokens();
            }
        };
        allow(&world, false);
        let number = world.github.open_pull(REPO, &spec_of('D'));
        world.settle().await;
        let check = world.check(number);
        assert_eq!(check.conclusion.as_deref(), Some("failure"));
        let said = format!("{}\n{}", check.summary, check.text);
        assert!(said.contains("could not be opened"), "{said}");
        assert!(
            !check.actions.is_empty(),
            "it can be answered by its buttons"
        );
        assert!(world.github.issues(INBOX).is_empty());
        world.assert_clean().await;

        allow(&world, true);
        sweep(&mut world).await;
        assert_eq!(world.issue().labels, ["decision:pending-owner"]);
        let check = world.check(number);
        assert_eq!(check.conclusion.as_deref(), Some("failure"));
        assert!(check.summary.contains("/issues/"), "{}", check.summary);
        assert_eq!(
            world.log_of("classification").len(),
            1,
            "the decision is the same"
        );
        sweep(&mut world).await;
        assert_eq!(world.github.issues(INBOX).len(), 1);
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn null_users_deleted_forks_and_unknown_words() {
    // Answers that GitHub's description does not allow are the point here.
    let config = Config {
        check_contract: false,
        ..Config::default()
    };
    let mut world = World::arranged_as(config).await;
    world.serve().await.expect("the server starts");
    world.github.add_repo("contributor-org/widgets");
    world.github.drop_deliveries();
    let spec = PullSpec::new("From a fork that goes away")
        .author("passer-by")
        .fork("contributor-org/widgets")
        .file(FileSpec::added("examples/a.md", "An example.\n"));
    let fork = world.github.open_pull(REPO, &spec);
    world.github.delete_fork(REPO, fork);
    world.github.delete_user("passer-by");
    let odd = PullSpec::new("A word from the future").file(
        FileSpec::modified("README.md", "# Teh widgets\n", "# The widgets\n").status("teleported"),
    );
    let odd = world.github.open_pull(REPO, &odd);
    world.settle().await;

    assert_eq!(world.check(fork).conclusion.as_deref(), Some("success"));
    let entries = world.log_of("classification");
    let entry = |number: u64| {
        let about = format!("{REPO}#{number}");
        entries
            .iter()
            .find(|entry| entry["pr"] == *about)
            .expect("an entry")
    };
    assert_eq!(entry(fork)["quadrant"], "A");
    // A README is not critical; a word that nobody knows may be anything, so it cannot be taken back.
    assert_eq!(entry(odd)["quadrant"], "C");
    let reasoning = entry(odd)["reasoning"].as_str().expect("text");
    assert!(reasoning.contains("teleported"), "{reasoning}");
    assert_eq!(world.check(odd).name, CHECK);
    world.assert_clean().await;
}
