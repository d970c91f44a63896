//! The machine's bad days: a full disk, a log with a broken or lost end, a configuration that is not right.

use crate::crashes_program::Program;
use crate::journey::spec_of;
use crate::world::{INBOX, REPO, World};
use quadgate::app::StartError;
use quadgate::audit::{AuditLog, Body, EntryDraft, Options};
use quadgate::domain::Quadrant;
use std::io::Write;
use std::path::PathBuf;

fn log_file(world: &World) -> PathBuf {
    world.dir.path().join("bot-state/classifier_audit.jsonl")
}

/// What a crash or a full disk can leave behind the last line.
#[tokio::test]
async fn a_broken_end_of_the_log_is_set_aside() {
    for tail in [
        &b"{\"seq\":2,\"ts\":\"2026-01-0"[..],
        b"\0\0\0\0\0\0\0\0",
        b"\xff\xfe{",
        b"not an entry\n",
    ] {
        let mut world = World::start().await;
        world.github.open_pull(REPO, &spec_of('D'));
        world.settle().await;
        world.stop().await;
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(log_file(&world))
            .expect("the log");
        file.write_all(tail).expect("written");
        drop(file);

        world.serve().await.expect("the server starts");
        world.github.open_pull(REPO, &spec_of('B'));
        world.settle().await;
        let log = world.log();
        assert_eq!(world.log_of("classification").len(), 2);
        for (entry, seq) in log.iter().zip(1..) {
            assert_eq!(entry["seq"], seq, "no gap");
        }
        let aside = std::fs::read_dir(world.dir.path().join("bot-state"))
            .expect("the folder")
            .filter_map(|file| file.expect("a file").file_name().into_string().ok())
            .find(|name| name.contains(".torn"))
            .expect("a .torn file");
        let path = world.dir.path().join("bot-state").join(aside);
        let kept = std::fs::read(path).expect("readable");
        let whole = kept.windows(tail.len()).any(|window| window == tail);
        assert!(whole, "nothing is thrown away: {kept:?}");
        world.assert_clean().await;
    }
}

/// audit-013-directory-missing-or-readonly: at the start, not at the first decision.
#[tokio::test]
async fn a_log_that_has_no_place_stops_the_start() {
    let mut world = World::arranged().await;
    std::fs::write(world.dir.path().join("bot-state"), "a file").expect("written");
    let refused = world.serve().await.expect_err("it must not start");
    assert!(refused.to_string().contains("bot-state"), "{refused}");
}

#[tokio::test]
async fn a_log_that_lost_entries_stops_the_start_until_it_is_accepted() {
    let mut world = World::start().await;
    world.github.open_pull(REPO, &spec_of('D'));
    world.settle().await;
    world.github.open_pull(REPO, &spec_of('C'));
    world.settle().await;
    world.stop().await;
    let text = std::fs::read_to_string(log_file(&world)).expect("the log");
    let first = text.lines().next().expect("a line");
    let written = text.lines().count() as u64;
    std::fs::write(log_file(&world), format!("{first}\n")).expect("written");

    let refused = world.serve().await.expect_err("it must not start");
    let StartError::AuditLoss { found, known, .. } = refused else {
        panic!("{refused}")
    };
    assert_eq!((found, known), (1, written));
    let text = refused.to_string();
    assert!(
        text.contains("--accept-audit-loss") && text.contains("bot-state"),
        "{text}"
    );

    world.die().await;
    world.accept_audit_loss = true;
    world.serve().await.expect("it goes on as told");
    world.github.open_pull(REPO, &spec_of('B'));
    world.settle().await;
    assert_eq!(world.log_of("classification").len(), 2);
    world.stop().await;
    world.accept_audit_loss = false;
    world
        .serve()
        .await
        .expect("the loss was accepted once for all");
    world.assert_clean().await;
}

/// A log that fills the disk up to its last byte.
fn fill(world: &World) -> u64 {
    let dir = world.dir.path().join("bot-state");
    let (mut log, _) = AuditLog::open(&dir, Options::default()).expect("the log opens");
    for number in 0..12 {
        let draft = EntryDraft {
            ts: "2026-01-05T08:00:00Z".parse().expect("a time"),
            decision: format!("filler-{number}"),
            about: None,
            body: Body::Classification {
                rules_fired: Vec::new(),
                quadrant: Quadrant::D,
                reasoning: "x".repeat(1024 * 1024),
                base_ref: "main".to_owned(),
                author: None,
                evidence: None,
            },
            policy: "sha256:00".to_owned(),
            delivery: None,
            version: "0.0.0".to_owned(),
        };
        log.append(&draft).expect("written");
    }
    std::fs::metadata(log_file(world)).expect("the log").len()
}

/// The real program under a limit on the size of files, which the log has reached.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_publishes_nothing_until_there_is_room() {
    let world = World::arranged().await;
    let blocks = fill(&world).div_ceil(512);
    let number = world.github.open_pull(REPO, &spec_of('A'));
    let program = Program::start_limited(&world, blocks).await;
    for webhook in world.github.deliveries() {
        assert!(
            program.accepts(&world, &webhook).await,
            "accepted is stored"
        );
    }
    program.until_it_says("nothing was published").await;
    let head = world.github.pull(REPO, number).head_sha;
    assert_eq!(world.check_on(&head), None);
    assert!(world.github.issues(INBOX).is_empty());
    assert_eq!(world.log().len(), 12, "and no torn line");

    program.lift_limit().await;
    program.finish(&world, &[number]).await;
    program.stop().await;
    assert_eq!(world.check(number).conclusion.as_deref(), Some("success"));
    assert_eq!(world.log().len(), 13);
}

/// Each is wrong in one place; what is said names it.
#[tokio::test]
async fn a_wrong_configuration_stops_the_program() {
    let cases = [
        ("owner.yml", "github_logins: []\n", "owner"),
        ("owner.yml", "", "owner"),
        (
            "projects.yml",
            "supervised_repos: octo-org/widgets\n",
            "projects.yml",
        ),
        ("projects.yml", "governance_repo: [\n", "projects.yml"),
        ("env.yml", "bot_app_slag: quadgate\n", "bot_app_slag"),
        (
            "classifier_rules.yml",
            "critical: {paths: 3}\n",
            "classifier_rules.yml",
        ),
    ];
    for (name, text, named) in cases {
        let mut world = World::arranged().await;
        world.config.insert(name, text.to_owned());
        let said = Program::refuses(&world).await;
        assert!(said.contains(named), "{name} `{text}`: {said}");
    }
}
