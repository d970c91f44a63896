//! `quadgate audit replay`: the demo's four decisions, decided again under this policy and another.

use crate::cli::{Run, quadgate};
use crate::decisions::config;
use crate::journey::spec_of;
use crate::world::{REPO, World};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A server that has decided one pull request of each quadrant, in this order.
async fn four() -> World {
    let world = World::start().await;
    for quadrant in ['A', 'B', 'C', 'D'] {
        world.github.open_pull(REPO, &spec_of(quadrant));
        world.settle().await;
    }
    world
}

/// Another configuration: the same with these rules for paths.
fn other(world: &World, rules: &str) -> PathBuf {
    let dir = world.dir.path().join("other");
    fs::create_dir_all(&dir).expect("a folder");
    for entry in fs::read_dir(config(world)).expect("a folder") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), dir.join(entry.file_name())).expect("copied");
    }
    fs::write(dir.join("classifier_rules.yml"), rules).expect("written");
    dir
}

fn replay(config: &Path, more: &[&str]) -> Run {
    let mut words = vec![
        "audit",
        "replay",
        "--config",
        config.to_str().expect("text"),
    ];
    words.extend(more);
    quadgate(&words)
}

/// The documents of `--json`.
fn documents(run: &Run) -> Vec<Value> {
    let lines = run.out.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}

#[tokio::test]
async fn under_the_policy_of_then_nothing_changes() {
    let mut world = four().await;
    let config = config(&world);
    for running in [true, false] {
        if !running {
            world.stop().await;
        }
        let run = replay(&config, &[]);
        assert_eq!(run.code, 0, "{}{}", run.out, run.err);
        assert!(
            run.out
                .starts_with("4 decisions judged again under sha256:"),
            "{}",
            run.out
        );
        assert!(run.out.contains("4 would stay"), "{}", run.out);
        assert_eq!(run.err, "");
    }
}

#[tokio::test]
async fn under_another_policy_exactly_the_changed_ones_are_listed() {
    let world = four().await;
    let rules = "irreversible: [\"src/**\"]\ncritical: [\"docs/**\"]\n";
    let other = other(&world, rules);
    let run = replay(&other, &["--json"]);
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    let documents = documents(&run);
    let changes: Vec<(&str, &str, &str, &str)> = documents[..documents.len() - 1]
        .iter()
        .map(|one| {
            let text = |name: &str| one[name].as_str().expect(name);
            (text("kind"), text("pr"), text("was"), text("would"))
        })
        .collect();
    let (second, third) = (format!("{REPO}#2"), format!("{REPO}#3"));
    assert_eq!(
        changes,
        [
            ("change", second.as_str(), "B", "D"),
            ("change", third.as_str(), "C", "D")
        ]
    );
    assert_eq!(documents[0]["votes"][0]["rule"], "path_classifier_default");
    let log = world.log_of("classification");
    assert_eq!(documents[0]["seq"], log[1]["seq"]);
    assert_eq!(documents[0]["reasoning_was"], log[1]["reasoning"]);
    let sums = documents.last().expect("the sums");
    assert_eq!(sums["kind"], "audit_replay");
    for (name, number) in [("judged", 4), ("same", 2), ("changed", 2), ("no_facts", 0)] {
        assert_eq!(sums[name], number, "{name}");
    }
    let rule = serde_json::json!([
        {"rule": "path_classifier_default", "was": "C", "would": "D", "count": 1},
        {"rule": "path_classifier_default", "was": "B", "would": "D", "count": 1},
    ]);
    assert_eq!(sums["by_rule"], rule);

    let run = replay(&other, &[]);
    assert_eq!(run.code, 1);
    let page = include_str!("../../docs/audit-log.md");
    for line in run.out.lines().filter(|line| !line.contains("sha256:")) {
        let shown = page.contains(&format!("{line}\n"));
        assert!(shown, "not in the docs: `{line}`\n{}", run.out);
    }
    assert!(
        run.out.contains(&format!("B -> D  {second} at ")),
        "{}",
        run.out
    );
    assert!(
        run.out.contains(&format!("C -> D  {third} at ")),
        "{}",
        run.out
    );
    assert!(
        !run.out.contains("#1") && !run.out.contains("#4"),
        "{}",
        run.out
    );
    assert!(
        run.out
            .contains("  from B           .       .       .       1\n"),
        "{}",
        run.out
    );
    assert!(!run.out.contains('\u{1b}'));

    // Only what the filters admit.
    let run = replay(&other, &["--since", "2030-01-01", "--json"]);
    assert_eq!((run.code, &documents_len(&run)), (0, &1), "{}", run.out);
    let run = replay(&other, &["--repo", "octo-org/gadgets"]);
    assert!(run.out.starts_with("0 decisions"), "{}", run.out);
    // The configuration in force still changes nothing.
    assert_eq!(replay(&config(&world), &[]).code, 0);
}

fn documents_len(run: &Run) -> usize {
    documents(run).len()
}

#[tokio::test]
async fn other_votes_for_the_same_quadrant_are_told_apart() {
    let world = four().await;
    let other = other(&world, "extends: default\n");
    let projects = world.config["projects.yml"].replace("octo-org/bot", REPO);
    fs::write(other.join("projects.yml"), projects).expect("written");
    // Every pull request of the bot's own repository is a D; the last one was a D before.
    let run = replay(&other, &["--json"]);
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    let documents = documents(&run);
    let sums = documents.last().expect("the sums");
    assert_eq!(
        (&sums["changed"], &sums["other_votes"]),
        (&3.into(), &1.into())
    );
    let last = &documents[3];
    assert_eq!((&last["was"], &last["would"]), (&"D".into(), &"D".into()));
    let vote = serde_json::json!([{"rule": "bot_self_repo", "was": null, "would": "D"}]);
    assert_eq!(last["votes"], vote);
    let run = replay(&other, &[]);
    let told = "3 would be of another quadrant, 1 of the same by other votes";
    assert!(run.out.contains(told), "{}", run.out);
    assert!(
        run.out.contains("bot_self_repo: no vote -> D"),
        "{}",
        run.out
    );
}

#[tokio::test]
async fn decisions_without_facts_are_counted_and_named() {
    let mut world = World::arranged().await;
    world.server_lines = "retention: {decision_days: 0}\n".to_owned();
    world.serve().await.expect("the server starts");
    world.github.open_pull(REPO, &spec_of('A'));
    world.settle().await;
    let run = replay(&config(&world), &[]);
    assert_eq!(run.code, 2, "none could be judged: {}", run.out);
    assert!(run.err.contains("retention.decision_days"), "{}", run.err);

    world.stop().await;
    world.server_lines = String::new();
    world.serve().await.expect("the server starts");
    world.github.open_pull(REPO, &spec_of('B'));
    world.settle().await;
    world.github.open_pull(REPO, &spec_of('C'));
    world.settle().await;
    let config = config(&world);
    let run = replay(&config, &[]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("2 decisions judged again"), "{}", run.out);
    assert!(
        run.out.contains("1 decision could not be judged again:"),
        "{}",
        run.out
    );
    assert!(run.out.contains(&format!("  {REPO}#1 at ")), "{}", run.out);
    assert!(run.out.contains("its facts are not kept"), "{}", run.out);

    // What is damaged is named, not passed over.
    world.stop().await;
    sql(
        &world,
        "UPDATE decision SET facts = x'789c00' WHERE number = 2",
    )
    .await;
    let run = replay(&config, &["--json"]);
    assert_eq!(run.code, 0);
    let documents = documents(&run);
    let named: Vec<_> = documents
        .iter()
        .map(|one| (&one["kind"], &one["pr"]))
        .collect();
    assert_eq!(
        named[..2],
        [
            (&"no_facts".into(), &format!("{REPO}#1").into()),
            (&"no_facts".into(), &format!("{REPO}#2").into()),
        ]
    );
    assert!(
        documents[1]["because"]
            .as_str()
            .expect("why")
            .contains("damaged")
    );
}

#[tokio::test]
async fn another_verdict_under_the_same_policy_is_told_loudly() {
    let mut world = four().await;
    world.stop().await;
    // As if the program of then had judged the second one milder.
    let file = world.dir.path().join("bot-state/classifier_audit.jsonl");
    let text = fs::read_to_string(&file).expect("the log");
    let milder = text.replacen(
        "\"quadrant\":\"B\",\"reasoning\"",
        "\"quadrant\":\"A\",\"reasoning\"",
        1,
    );
    assert_ne!(text, milder);
    fs::write(&file, milder).expect("written");
    let config = config(&world);
    let run = replay(&config, &[]);
    assert_eq!(run.code, 1, "{}", run.out);
    assert!(run.out.contains("DIFFERENCE OF THE PROGRAM"), "{}", run.out);
    assert!(
        run.out.contains(&format!("A -> B  {REPO}#2")),
        "{}",
        run.out
    );
    assert!(
        run.err
            .contains("judges otherwise than the one that decided"),
        "{}",
        run.err
    );
    let documents = documents(&replay(&config, &["--json"]));
    assert_eq!(documents[0]["kind"], "program_difference");
    assert_eq!(
        documents.last().expect("the sums")["program_differences"],
        1
    );
}

#[tokio::test]
async fn what_cannot_be_used_is_said() {
    let world = World::arranged().await;
    let run = replay(&config(&world), &[]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("audit log"), "{}", run.err);
    let nowhere = world.dir.path().join("nowhere");
    let run = replay(&nowhere, &[]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("--config DIR"), "{}", run.err);
}

async fn sql(world: &World, text: &'static str) {
    use sqlx::{Connection, Executor};
    let file = world.dir.path().join("data/quadgate.sqlite3");
    let url = format!("sqlite://{}?mode=rw", file.display());
    let mut conn = sqlx::SqliteConnection::connect(&url).await.expect("opens");
    conn.execute(text).await.expect("sql");
    conn.close().await.expect("closes");
}
