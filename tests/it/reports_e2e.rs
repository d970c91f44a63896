//! Cases from reports about other bots, through the front door; each is named by its id.

use crate::journey::spec_of;
use crate::world::{REPO, World};
use fake_github::{FaultAnswer, FaultKind, FaultRule, FileSpec, PullSpec};
use serde_json::json;
use std::time::Duration;

const JUDGE: u64 = 42;

fn last_entry(world: &World) -> serde_json::Value {
    let log = world.log_of("classification");
    log.last().expect("an entry").clone()
}

fn examples(count: usize) -> Vec<FileSpec> {
    (0..count)
        .map(|number| FileSpec::added(&format!("examples/{number}.md"), "x\n"))
        .collect()
}

struct Size {
    id: &'static str,
    files: Vec<FileSpec>,
    /// What the pull request says it changes, if that is not the truth.
    says_files: Option<u64>,
    commits: Vec<String>,
    says_commits: Option<u64>,
    quadrant: &'static str,
    mentions: &'static [&'static str],
}

impl Size {
    fn of(id: &'static str, quadrant: &'static str) -> Self {
        Self {
            id,
            files: examples(1),
            says_files: None,
            commits: vec!["Change".to_owned()],
            says_commits: None,
            quadrant,
            mentions: &[],
        }
    }
}

fn commits(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("Step {number}")).collect()
}

#[tokio::test]
async fn sizes() {
    let renames = (0..1700).map(|n| {
        let (from, to) = (format!("docs/a{n}.md"), format!("docs/b{n}.md"));
        FileSpec::renamed(&from, &to, "text\n")
    });
    let mut malformed = commits(30);
    malformed.push("Last step\n\nAgent-Session: not a session".to_owned());
    let cases = [
        Size {
            files: examples(3000),
            says_files: Some(3001),
            mentions: &["3001", "3000"],
            ..Size::of("limits-001-3001-files", "D")
        },
        // The old paths are gone, which a revert brings back but a reader of the old path does not: C by our rules.
        Size {
            files: renames.collect(),
            ..Size::of("limits-003-1700-renames", "C")
        },
        Size {
            commits: commits(250),
            says_commits: Some(251),
            mentions: &["251", "250"],
            ..Size::of("limits-006-251-commits", "D")
        },
        Size {
            commits: commits(250),
            ..Size::of("limits-007-250-commits-complete", "A")
        },
        Size {
            commits: malformed,
            mentions: &["Agent-Session"],
            ..Size::of("limits-008-31-commits-two-pages", "D")
        },
    ];
    for case in cases {
        let world = World::start().await;
        let spec = PullSpec::new("A change")
            .files(case.files)
            .commits(case.commits);
        let number = world.github.open_pull(REPO, &spec);
        world.github.lie_about_files(REPO, number, case.says_files);
        world
            .github
            .lie_about_commits(REPO, number, case.says_commits);
        world.settle().await;
        let entry = last_entry(&world);
        assert_eq!(entry["quadrant"], case.quadrant, "{}", case.id);
        let check = world.check(number);
        let said = format!("{}\n{}\n{entry}", check.summary, check.text);
        for word in case.mentions {
            assert!(said.contains(word), "{}: `{word}` in {entry}", case.id);
        }
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn published_verdicts() {
    let done = Some("success");
    let cases = [
        (
            "verdict-001-canonical",
            vec![(JUDGE, done, "quadrant: B")],
            "B",
        ),
        (
            "verdict-002-other-app-same-name",
            vec![(99, done, "quadrant: A")],
            "D",
        ),
        (
            "verdict-004-same-slug-other-id",
            vec![(4242, done, "quadrant: A")],
            "D",
        ),
        (
            "verdict-009-in-progress",
            vec![(JUDGE, None, "quadrant: B")],
            "A",
        ),
        (
            "verdict-010-rerun-pending-hides-old-success",
            vec![(JUDGE, done, "quadrant: A"), (JUDGE, None, "running")],
            "A",
        ),
        (
            "verdict-011-two-canonical-newer-higher",
            vec![(JUDGE, done, "quadrant: A"), (JUDGE, done, "quadrant: D")],
            "D",
        ),
    ];
    for (id, runs, quadrant) in cases {
        let mut world = World::arranged().await;
        let env = world.config.get_mut("env.yml").expect("it is there");
        env.push_str("classifier_publisher_slug: judgment-app\nclassifier_publisher_app_id: 42\n");
        world.github.add_app(JUDGE, "judgment-app");
        world.github.add_app(99, "other-app");
        world.github.add_app(4242, "judgment-app");
        world.serve().await.expect("the server starts");
        let number = world.github.open_pull(REPO, &spec_of('A'));
        world.settle().await;
        let head = world.github.pull(REPO, number).head_sha;
        for (app, conclusion, title) in runs {
            let output = json!({"title": title, "summary": ""});
            let name = "classifier-judgment";
            let github = &world.github;
            github.post_check_run(REPO, app, &head, name, conclusion, Some(output));
        }
        world.settle().await;
        assert_eq!(last_entry(&world)["quadrant"], quadrant, "{id}");
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn verdict_038_base_retargeted() {
    let world = World::start().await;
    world.github.add_branch(REPO, "develop", "main");
    let number = world.github.open_pull(REPO, &spec_of('D'));
    world.settle().await;
    let asked = world.issue();
    world.github.retarget(REPO, number, "develop");
    world.settle().await;
    assert_eq!(last_entry(&world)["base_ref"], "develop");
    assert_ne!(world.issue().number, asked.number, "asked anew");
    assert_eq!(world.check(number).conclusion.as_deref(), Some("failure"));
    world.assert_clean().await;
}

#[tokio::test]
async fn verdict_047_own_repo_case() {
    let mut world = World::arranged().await;
    let projects = world.config.get_mut("projects.yml").expect("it is there");
    *projects = projects.replace("octo-org/bot", "Octo-Org/Widgets");
    world.serve().await.expect("the server starts");
    world.github.open_pull(REPO, &spec_of('A'));
    world.settle().await;
    assert_eq!(last_entry(&world)["quadrant"], "D");
    world.assert_clean().await;
}

/// Waits that GitHub asks for are kept, also over a restart.
#[tokio::test]
async fn waits() {
    let path = "/repos/{owner}/{repo}/pulls/{pull_number}";
    for (id, seconds, primary) in [
        ("limits-020-403-secondary-body-only", 60, false),
        ("limits-023-primary-limit-reset", 900, true),
    ] {
        let mut world = World::start().await;
        let now = world.github.now();
        let date = now.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let reset = now.timestamp() + 900;
        let limit = if primary {
            FaultAnswer::primary_limit(reset).header("date", &date)
        } else {
            FaultAnswer::secondary_limit()
        };
        world.github.fail(FaultRule::answer("GET", path, limit));
        let number = world.github.open_pull(REPO, &spec_of('A'));
        world.settle().await;
        world.crash().await;
        let wait = world.next_wait().await.expect("it waits");
        assert!(wait >= Duration::from_secs(seconds), "{id}: {wait:?}");
        world.github.clear_requests();
        world.advance(wait - Duration::from_secs(1));
        world.work().await;
        assert_eq!(world.github.requests().len(), 0, "{id}: it keeps away");
        world.settle().await;
        assert_eq!(
            world.check(number).conclusion.as_deref(),
            Some("success"),
            "{id}"
        );
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn limits_021_403_permission() {
    let world = World::start().await;
    let path = "/repos/{owner}/{repo}/check-runs";
    world
        .github
        .fail(FaultRule::answer("POST", path, FaultAnswer::permission()).always());
    world.github.open_pull(REPO, &spec_of('A'));
    world
        .settle_within(Duration::from_hours(5))
        .await
        .expect("no crash");
    let operation = format!("POST {path}");
    assert_eq!(world.github.count(&operation), 1, "not again and again");
    let dead = world.app().bench().store.dead_letters().await;
    let dead = dead.expect("store");
    assert!(dead[0].reason.contains("permission"), "{}", dead[0].reason);
}

#[tokio::test]
async fn limits_025_post_check_run_502() {
    let world = World::start().await;
    let made = FaultKind::AnswerAfter(FaultAnswer::html(502));
    let path = "/repos/{owner}/{repo}/check-runs";
    world.github.fail(FaultRule::new("POST", path, made));
    let number = world.github.open_pull(REPO, &spec_of('B'));
    world.settle().await;
    // `check` fails when there are two.
    assert_eq!(world.check(number).conclusion.as_deref(), Some("success"));
    assert_eq!(world.github.count(&format!("POST {path}")), 1);
    world.assert_clean().await;
}
