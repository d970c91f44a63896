//! `quadgate doctor` against the stand-in: nothing wrong, and one thing wrong at a time, each with its way out.

use crate::cli::write_files;
use crate::journey::spec_of;
use crate::visitor::{Ended, quadgate};
use crate::world::{ENVIRONMENT, INBOX, REPO, World};
use fake_github::{Config, TEST_KEY_PEM};
use quadgate::github::needs::{self, Features};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const OUR_APP: u64 = 12_345;
const JUDGING: Features = Features {
    merge: false,
    revert: false,
};

/// An App that was made by the table, installed, required and reached by webhooks; and the files on this machine.
async fn well() -> World {
    let permissions = needs::permissions(JUDGING).into_values();
    let config = Config {
        permissions: permissions
            .map(|permission| {
                (
                    permission.name.to_owned(),
                    permission.level.as_str().to_owned(),
                )
            })
            .collect(),
        ..Config::default()
    };
    let mut world = World::arranged_as(config).await;
    world.config.insert(
        "env.yml",
        "bot_app_slug: quadgate\nrequired_checks: [build]\n".to_owned(),
    );
    let events = needs::events(JUDGING);
    let names: Vec<&str> = events.iter().map(|event| event.name).collect();
    world.github.set_app_events(&names);
    world.github.rule_check(REPO, "L1.C3", Some(OUR_APP));
    world.github.open_pull(REPO, &spec_of('A'));
    world.github.drop_deliveries();
    world
}

/// The world's configuration and secrets as files.
fn write(world: &World, key: &str) {
    let dir = world.dir.path();
    let server = world.server_yml();
    let secret = |name: &str| {
        let found = ENVIRONMENT.iter().find(|(key, _)| *key == name);
        found.map_or("", |(_, value)| *value).to_owned()
    };
    let env = format!(
        "QUADGATE_APP_ID={}\nQUADGATE_WEBHOOK_SECRET={}\nQUADGATE_PRIVATE_KEY_PATH=key.pem\n",
        secret("QUADGATE_APP_ID"),
        secret("QUADGATE_WEBHOOK_SECRET"),
    );
    let mut files: Vec<(String, &str)> = world
        .config
        .iter()
        .map(|(name, text)| (format!("config/{name}"), text.as_str()))
        .collect();
    files.push(("config/server.yml".to_owned(), &server));
    files.push(("key.pem".to_owned(), key));
    if !dir.join(".env").exists() {
        files.push((".env".to_owned(), &env));
    }
    let files: Vec<_> = files.iter().map(|(name, text)| (&**name, *text)).collect();
    write_files(dir, &files);
    set_mode(&dir.join("key.pem"), 0o600);
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("a mode");
}

async fn doctor(world: &World, more: &[&str]) -> Ended {
    let mut arguments = vec!["doctor", "--config", "config"];
    arguments.extend(more);
    quadgate(world.dir.path(), &arguments).await
}

/// The findings that are not `ok`, as `state check: message`.
async fn wrong(world: &World) -> Vec<String> {
    write(world, TEST_KEY_PEM);
    let ended = doctor(world, &["--json"]).await;
    let document = ended.json();
    let failures = document["counts"]["fail"].as_u64().expect("a count");
    assert_eq!(ended.code, i32::from(failures > 0), "{document:#}");
    let wrong = told(&document);
    world.github.assert_no_violations();
    wrong
}

fn told(document: &Value) -> Vec<String> {
    let findings = document["findings"].as_array().expect("findings").iter();
    let not_ok = findings.filter(|finding| finding["state"] != "ok");
    not_ok
        .map(|finding| {
            let text = |name: &str| finding[name].as_str().unwrap_or_default();
            assert!(!text("mend").is_empty(), "no way out: {finding}");
            assert!(!text("mend").contains('\n') && !text("message").contains('\n'));
            format!("{} {}: {}", text("state"), text("check"), text("message"))
        })
        .collect()
}

/// Exactly one finding that begins so.
#[track_caller]
fn only(wrong: &[String], begins: &str) {
    assert!(
        wrong.len() == 1 && wrong[0].starts_with(begins),
        "{begins} alone, not {wrong:#?}"
    );
}

#[tokio::test]
async fn all_is_well_and_every_thing_is_named() {
    let world = well().await;
    write(&world, TEST_KEY_PEM);
    let ended = doctor(&world, &[]).await;
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    for check in [
        "config",
        "data-dir",
        "audit-dir",
        "secrets",
        "app-key",
        "clock",
        "permissions",
        "events",
        "webhook",
        "deliveries",
        "installations",
        "repository",
        "issues",
        "required-check",
        "labels",
    ] {
        let line = format!("ok    {check} ");
        assert!(ended.out.contains(&line), "{check}:\n{}", ended.out);
    }
    assert!(ended.out.contains("0 to mend"), "{}", ended.out);
    assert!(!ended.out.contains('\u{1b}'), "no colours in a pipe");
    assert!(!world.dir.path().join("data").exists(), "nothing is made");
    let document = doctor(&world, &["--json"]).await.json();
    assert_eq!(document["kind"], "doctor");
    assert_eq!(told(&document), Vec::<String>::new());
    world.github.assert_no_violations();
}

#[tokio::test]
async fn permissions_and_events_that_are_missing_or_too_many() {
    let world = well().await;
    let installation = world.github.installation_of(REPO);
    world
        .github
        .set_permission(installation, "checks", Some("read"));
    only(
        &wrong(&world).await,
        "fail permissions: `checks: write` is missing",
    );
    world
        .github
        .set_permission(installation, "checks", Some("write"));

    world.github.set_app_permission("issues", None);
    only(
        &wrong(&world).await,
        "fail permissions: `issues: write` is missing",
    );
    world.github.set_app_permission("issues", Some("write"));

    world
        .github
        .set_app_permission("administration", Some("write"));
    only(
        &wrong(&world).await,
        "warn permissions: more than needed: `administration: write`",
    );
    world.github.set_app_permission("administration", None);

    let subscribed: Vec<_> = needs::events(JUDGING)
        .iter()
        .map(|event| event.name)
        .filter(|name| *name != "pull_request")
        .collect();
    world.github.set_app_events(&subscribed);
    let missing = wrong(&world).await;
    assert_eq!(
        missing.len(),
        2,
        "the App and its installation: {missing:#?}"
    );
    for line in missing {
        assert!(
            line.starts_with("fail events: no `pull_request` events"),
            "{line}"
        );
    }
}

#[tokio::test]
async fn merging_needs_more() {
    let mut world = well().await;
    world.config.insert(
        "env.yml",
        "bot_app_slug: quadgate\nrequired_checks: [build]\nmerge: {enabled: true}\n".to_owned(),
    );
    let wrong = wrong(&world).await;
    for begins in [
        "fail permissions: `contents: write` is missing",
        "warn permissions: `workflows: write` is missing",
        "fail events: no `push` events",
        "warn labels: there is no label `ready-to-merge`",
    ] {
        assert!(
            wrong.iter().any(|line| line.starts_with(begins)),
            "{begins}: {wrong:#?}"
        );
    }
}

#[tokio::test]
async fn a_wrong_key_leaves_the_rest_unknown_and_unknown_is_not_well() {
    let world = well().await;
    write(&world, include_str!("data/github/app-pkcs8.pem"));
    let ended = doctor(&world, &["--json"]).await;
    assert_eq!(ended.code, 1);
    let document = ended.json();
    let wrong = told(&document);
    assert!(
        wrong[0].starts_with("fail app-key: not known: GET app: not authorised (HTTP 401)"),
        "{wrong:#?}"
    );
    for check in [
        "permissions",
        "events",
        "webhook",
        "deliveries",
        "repository",
    ] {
        let line = format!("fail {check}: not known: GitHub does not take the App's key");
        assert!(wrong.contains(&line), "{check}: {wrong:#?}");
    }
    assert!(
        ended.out.contains("QUADGATE_PRIVATE_KEY_PATH"),
        "the way out"
    );

    let env = world.dir.path().join(".env");
    let text = std::fs::read_to_string(&env).expect("there");
    std::fs::write(&env, text.replace("12345", "54321")).expect("written");
    write(&world, TEST_KEY_PEM);
    let ended = doctor(&world, &[]).await;
    assert_eq!(ended.code, 1);
    assert!(ended.out.contains("QUADGATE_APP_ID"), "{}", ended.out);
}

#[tokio::test]
async fn a_github_that_is_not_there_is_told_for_each_check() {
    let mut world = well().await;
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = nobody.local_addr().expect("an address");
    drop(nobody);
    write(&world, TEST_KEY_PEM);
    let file = world.dir.path().join("config/server.yml");
    let text = std::fs::read_to_string(&file).expect("there");
    let gone = text.replace(&world.github.url(), &format!("http://{address}"));
    std::fs::write(&file, gone).expect("written");
    let ended = doctor(&world, &["--json"]).await;
    assert_eq!(ended.code, 1);
    let wrong = told(&ended.json());
    assert_eq!(wrong.len(), 7 + 2, "{wrong:#?}");
    assert!(wrong.iter().all(|line| line.contains(": not known: ")));
    world.stop().await;
}

#[tokio::test]
async fn what_stands_in_the_way_in_repositories() {
    let world = well().await;
    world.github.set_has_issues(INBOX, false);
    only(&wrong(&world).await, "fail issues: Issues are switched off");
    world.github.set_has_issues(INBOX, true);

    world.github.rule_check(REPO, "L1.C3", None);
    only(
        &wrong(&world).await,
        "warn required-check: `main` requires `L1.C3`, but from anybody",
    );
    world.github.rule_check(REPO, "L1.C3", Some(99));
    only(
        &wrong(&world).await,
        "fail required-check: `main` requires `L1.C3` from another App",
    );
    // The older protection of a branch counts like a ruleset.
    world.github.require_checks(REPO, &["L1.C3"]);
    world.github.protect_check(REPO, "L1.C3", OUR_APP);
    assert_eq!(wrong(&world).await, Vec::<String>::new());

    world.github.archive_repo(REPO);
    world.github.drop_deliveries();
    only(&wrong(&world).await, "warn repository: is archived");

    world.github.remove_from_installation(REPO);
    world.github.drop_deliveries();
    only(
        &wrong(&world).await,
        "fail repository: the App is not installed there",
    );

    let installation = world.github.installation_of(INBOX);
    world.github.suspend(installation);
    let wrong = wrong(&world).await;
    assert!(
        wrong
            .iter()
            .any(|line| line.starts_with("fail installations: is suspended")),
        "{wrong:#?}"
    );
}

#[tokio::test]
async fn the_webhook_and_what_became_of_deliveries() {
    let world = well().await;
    world
        .github
        .set_hook(Some("https://gate.example.org/webhook"), "form", true);
    only(
        &wrong(&world).await,
        "fail webhook: the content type is not JSON",
    );
    world
        .github
        .set_hook(Some("https://gate.example.org/webhook"), "json", false);
    only(&wrong(&world).await, "fail webhook: no secret is set");
    world.github.set_hook(None, "json", true);
    only(&wrong(&world).await, "fail webhook: no address");
    world
        .github
        .set_hook(Some("https://gate.example.org/elsewhere"), "json", true);
    only(&wrong(&world).await, "warn webhook: goes to");
    world
        .github
        .set_hook(Some("https://gate.example.org/webhook"), "json", true);

    world.github.open_pull(REPO, &spec_of('A'));
    for webhook in world.github.deliveries() {
        world.github.record_delivery(webhook.delivery_id, 401);
    }
    only(
        &wrong(&world).await,
        "fail deliveries: the newest was not taken",
    );
}

#[tokio::test]
async fn one_repository_and_files_of_this_machine() {
    let world = well().await;
    write(&world, TEST_KEY_PEM);
    let document = doctor(&world, &["--json", "--repo", INBOX]).await.json();
    let about: Vec<&str> = document["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(|finding| finding["check"] == "repository")
        .filter_map(|finding| finding["about"].as_str())
        .collect();
    assert_eq!(about, [INBOX]);
    let ended = doctor(&world, &["--repo", "octo-org/elsewhere"]).await;
    assert_eq!(ended.code, 1);
    assert!(ended.out.contains("supervised_repos"), "{}", ended.out);

    set_mode(&world.dir.path().join("key.pem"), 0o644);
    let ended = doctor(&world, &[]).await;
    assert_eq!(ended.code, 0, "a warning");
    assert!(
        ended.out.contains("mend: chmod 600 key.pem"),
        "{}",
        ended.out
    );

    std::fs::write(world.dir.path().join("data"), "in the way").expect("written");
    let ended = doctor(&world, &[]).await;
    assert_eq!(ended.code, 1);
    assert!(ended.out.contains("it is no directory"), "{}", ended.out);

    std::fs::write(world.dir.path().join("config/env.yml"), "bot_ap: x\n").expect("written");
    let ended = doctor(&world, &[]).await;
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("env.yml:1:1"), "{}", ended.err);
}
