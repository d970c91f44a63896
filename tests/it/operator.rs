//! `replay` and `deadletter` beside a running server, which goes on as if they were its own.

use crate::cli::write_files;
use crate::journey::spec_of;
use crate::visitor::{Ended, quadgate};
use crate::world::{ENVIRONMENT, REPO, World};
use fake_github::{FaultAnswer, FaultRule};
use serde_json::Value;

/// The world's configuration and secrets as files, so that commands find its store.
async fn command(world: &World, arguments: &[&str]) -> Ended {
    let dir = world.dir.path();
    let server = world.server_yml();
    let env: String = ENVIRONMENT
        .iter()
        .map(|(name, value)| format!("{name}=\"{value}\"\n"))
        .collect();
    let mut files: Vec<(String, &str)> = world
        .config
        .iter()
        .map(|(name, text)| (format!("config/{name}"), text.as_str()))
        .collect();
    files.push(("config/server.yml".to_owned(), &server));
    files.push((".env".to_owned(), &env));
    let files: Vec<_> = files.iter().map(|(name, text)| (&**name, *text)).collect();
    write_files(dir, &files);
    let mut all = arguments.to_vec();
    all.extend(["--config", "config"]);
    quadgate(dir, &all).await
}

fn log(world: &World) -> Vec<Value> {
    let text = std::fs::read_to_string(world.dir.path().join("data/operator.jsonl"));
    text.unwrap_or_default()
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}

/// A pull request whose work was given up, because GitHub refused to show it.
async fn given_up() -> (World, u64, String) {
    let world = World::start().await;
    let number = world.github.open_pull(REPO, &spec_of('A'));
    let route = "/repos/{owner}/{repo}/pulls/{pull_number}";
    let refused = FaultAnswer::permission();
    world
        .github
        .fail(FaultRule::answer("GET", route, refused).always());
    world.settle().await;
    world.github.clear_faults();
    let letters = world.app().bench().store.dead_letters().await;
    let guid = letters.expect("store")[0].deliveries[0].as_str().to_owned();
    (world, number, guid)
}

#[tokio::test]
async fn what_was_given_up_is_listed_and_tried_again() {
    let (world, number, _) = given_up().await;
    let about = format!("{REPO}#{number}");
    let listed = command(&world, &["deadletter", "list"]).await;
    assert_eq!(listed.code, 1, "{listed:?}");
    assert!(listed.out.contains(&about), "{}", listed.out);
    assert!(listed.out.contains("not accessible"), "{}", listed.out);
    let listed = command(&world, &["deadletter", "list", "--json"]).await;
    let letter = &listed.json()["dead_letters"][0];
    assert_eq!(letter["about"], about);

    let wrong = command(&world, &["deadletter", "retry", "pull/1/1"]).await;
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("deadletter list"), "{}", wrong.err);
    let retried = command(&world, &["deadletter", "retry", &about]).await;
    assert_eq!(retried.code, 0, "{retried:?}");
    world.settle().await;
    assert_eq!(world.check(number).conclusion.as_deref(), Some("success"));
    world.assert_clean().await;
    let listed = command(&world, &["deadletter", "list"]).await;
    assert_eq!(listed.code, 0);
    let log = log(&world);
    assert_eq!(log.len(), 1);
    assert_eq!(log[0]["command"], "deadletter retry");
    assert_eq!(log[0]["by"], "op");
    assert_eq!(log[0]["about"]["about"], about);
}

#[tokio::test]
async fn dropping_wants_a_yes_and_leaves_a_line() {
    let (world, number, guid) = given_up().await;
    let asked = command(&world, &["deadletter", "drop", "--all"]).await;
    assert_eq!(asked.code, 2, "{asked:?}");
    assert!(asked.err.contains("--yes"), "{}", asked.err);
    assert_eq!(log(&world).len(), 0, "nothing was done");
    let dropped = command(&world, &["deadletter", "drop", "--all", "--yes", "--json"]).await;
    assert_eq!(dropped.code, 0, "{dropped:?}");
    assert_eq!(dropped.json()["ids"].as_array().map(Vec::len), Some(1));
    let log = log(&world);
    assert_eq!(log[0]["command"], "deadletter drop");
    assert!(log[0]["about"]["deliveries"].to_string().contains(&guid));
    world.assert_clean().await;
    // Dropped is not forgotten: the delivery can still be put back.
    let replayed = command(&world, &["replay", &guid]).await;
    assert_eq!(replayed.code, 0, "{replayed:?}");
    world.settle().await;
    assert_eq!(world.check(number).conclusion.as_deref(), Some("success"));
}

#[tokio::test]
async fn a_delivery_is_replayed_out_of_the_store() {
    let mut world = World::start().await;
    let number = world.github.open_pull(REPO, &spec_of('A'));
    world.settle().await;
    let entries = world.log().len();
    let rows = world.app().bench().store.recent_deliveries(10).await;
    let row = rows.expect("store").into_iter().next().expect("one");
    let replayed = command(&world, &["replay", row.id.as_str(), "--json"]).await;
    assert_eq!(replayed.code, 0, "{replayed:?}");
    assert_eq!(replayed.json()["subjects"][0], format!("{REPO}#{number}"));
    let depth = world.app().bench().store.queue_depth().await;
    assert_eq!(depth.expect("store"), 1, "the running server sees it");
    world.settle().await;
    world.assert_clean().await;
    assert_eq!(
        world.log().len(),
        entries,
        "nothing new is said of nothing new"
    );

    let unknown = command(&world, &["replay", "00000000-0000-0000-0000-000000000000"]).await;
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("--from-github"), "{}", unknown.err);

    world.stop().await;
    let replayed = command(&world, &["replay", row.id.as_str()]).await;
    assert_eq!(replayed.code, 0, "without a server too: {replayed:?}");
    world.serve().await.expect("the server starts");
    let depth = world.app().bench().store.queue_depth().await;
    assert_eq!(depth.expect("store"), 1, "it is done at the next start");
}

#[tokio::test]
async fn github_is_asked_to_send_a_delivery_again() {
    let world = World::start().await;
    let number = world.github.open_pull(REPO, &spec_of('A'));
    let webhooks = world.github.deliveries();
    for webhook in &webhooks {
        world.github.record_delivery(webhook.delivery_id, 0);
    }
    let opened = webhooks
        .iter()
        .find(|webhook| webhook.name() == "pull_request.opened");
    let guid = &opened.expect("one").guid;
    let asked = command(&world, &["replay", guid, "--from-github", "--json"]).await;
    assert_eq!(asked.code, 0, "{asked:?}");
    assert_eq!(asked.json()["last_status"], 0);
    world.settle().await;
    assert_eq!(world.check(number).conclusion.as_deref(), Some("success"));
    let unknown = [
        "replay",
        "00000000-0000-0000-0000-000000000000",
        "--from-github",
    ];
    let unknown = command(&world, &unknown).await;
    assert_eq!(unknown.code, 1, "{unknown:?}");
    world.github.assert_no_violations();
}

#[tokio::test]
async fn without_a_store_there_is_nothing_to_act_on() {
    let world = World::arranged().await;
    for arguments in [
        &["deadletter", "list"][..],
        &["deadletter", "retry", "--all"],
        &["replay", "d-1"],
    ] {
        let ended = command(&world, arguments).await;
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.err.contains("has the server run"), "{}", ended.err);
    }
    assert!(!world.dir.path().join("data").exists(), "nothing is made");
    assert_eq!(command(&world, &["replay", "a b"]).await.code, 2);
}
