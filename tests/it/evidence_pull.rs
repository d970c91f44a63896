//! The evidence gate on pull requests, end to end: a head with ledgers goes in, the check-run `evidence-gate` comes out.
//!
//! The ledgers are cases of the checker and the examples of the documentation, in both languages.

use crate::crashes::Steps;
use crate::evidence::root;
use crate::journey::spec_of;
use crate::world::{CHECK, REPO, World};
use fake_github::{CheckRunSeen, FaultAnswer, FaultKind, FaultRule, FileSpec, PullSpec};
use quadgate::domain::{Known, PullNumber, PullState, RepoId};
use quadgate::evidence::{Language, markdown};
use std::fs;
use std::sync::Arc;
use std::time::Duration;

const GATE: &str = "evidence-gate";
const CONTENTS: &str = "GET /repos/{owner}/{repo}/contents/{path}";
const POST: &str = "POST /repos/{owner}/{repo}/check-runs";
const FOLDER: &str = "docs/evidence-gated";

/// A server in this mode, that writes this language.
async fn world(mode: &str, language: &str) -> World {
    let mut world = arranged(mode, language).await;
    world.serve().await.expect("the server starts");
    world
}

async fn arranged(mode: &str, language: &str) -> World {
    let mut world = World::arranged().await;
    let env = format!("bot_app_slug: quadgate\nallow_no_ci: true\nevidence:\n  mode: {mode}\n");
    world.config.insert("env.yml", env);
    let projects = world.config.get_mut("projects.yml").expect("projects");
    projects.extend(["  language: ", language, "\n"]);
    world
}

/// A ledger of the checker's cases.
pub fn case(language: &str, name: &str) -> String {
    let path = root().join(format!("tests/it/data/evidence/{language}/{name}.md"));
    fs::read_to_string(path).expect("a case")
}

fn example(name: &str) -> String {
    fs::read_to_string(root().join("docs/examples").join(name)).expect("an example")
}

/// A B: rounds the total of the cart.
pub fn cart() -> PullSpec {
    PullSpec::new("Round half up").file(FileSpec::modified(
        "src/cart/total.rs",
        "fn total() { 1 }\n",
        "fn total() { 2 }\n",
    ))
}

/// A D: drops a table.
fn coupons() -> PullSpec {
    let sql = FileSpec::added("migrations/0007_drop_coupons.sql", "drop table coupons;\n");
    PullSpec::new("Drop the coupons").file(sql)
}

pub fn ledger(name: &str, text: &str) -> FileSpec {
    FileSpec::added(&format!("{FOLDER}/{name}.md"), text)
}

/// The gate's check-run on the present head; fails when there is more than one.
fn gate(world: &World, number: u64) -> Option<CheckRunSeen> {
    let head = world.github.pull(REPO, number).head_sha;
    let runs = world.github.check_runs(REPO, &head);
    let mut ours: Vec<_> = runs.into_iter().filter(|run| run.name == GATE).collect();
    assert!(ours.len() <= 1, "{} check-runs named {GATE}", ours.len());
    ours.pop()
}

fn conclusion(check: &CheckRunSeen) -> &str {
    check.conclusion.as_deref().expect("it has ended")
}

/// The codes of the remarks, in order.
fn remarked(check: &CheckRunSeen) -> Vec<String> {
    let title = |remark: &serde_json::Value| {
        let title = remark["title"].as_str().expect("a title");
        title.split(' ').next().expect("a code").to_owned()
    };
    check.annotations.iter().map(title).collect()
}

async fn state(world: &World, number: u64) -> PullState {
    let log = world.log_of("classification");
    let repo = log.last().expect("an entry")["repo_id"]
        .as_u64()
        .expect("an id");
    let store = &world.app().bench().store;
    let state = store.pull_state(RepoId(repo), PullNumber(number)).await;
    state.expect("the store works").expect("a state")
}

async fn against(world: &World, number: u64) -> Known<Vec<String>> {
    let state = state(world, number).await;
    state.evidence_against(&state.head_sha)
}

#[tokio::test]
async fn a_good_ledger_passes_and_the_owner_is_asked_for_its_verifications() {
    for language in ["en", "ko"] {
        for mode in ["advisory", "required"] {
            let world = world(mode, language).await;
            let text = case(language, "clean-high-complete-list");
            let spec = coupons().file(ledger("drop-coupons", &text));
            let number = world.github.open_pull(REPO, &spec);
            world.settle().await;

            let check = gate(&world, number).expect("a check-run");
            assert_eq!(conclusion(&check), "success", "{}", check.summary);
            assert!(check.title.starts_with("COMPLETE"), "{}", check.title);
            assert_eq!(check.annotations, Vec::<serde_json::Value>::new());
            assert!(!check.text.is_empty(), "an update could not empty it");

            let must_hold = if language == "en" {
                "- `cargo test cart` passes"
            } else {
                "- `cargo test cart` 통과"
            };
            let body = world.issue().body;
            let record = body.find("CHECKPOINT").expect("the record");
            assert!(body[record..].contains(must_hold), "{body}");

            let entry = world.log_of("classification").pop().expect("an entry");
            let evidence = &entry["evidence"];
            assert_eq!(evidence["mode"], mode);
            assert_eq!(evidence["effective"], "COMPLETE");
            assert_eq!(evidence["risk"], "HIGH");
            assert_eq!(evidence["against"], serde_json::json!([]));
            let read = &evidence["ledgers"][0];
            assert_eq!(read["path"], format!("{FOLDER}/drop-coupons.md"));
            assert_eq!(read["digest"].as_str().expect("a digest").len(), 71);
            assert!(
                check
                    .summary
                    .contains(entry["hash"].as_str().expect("a hash"))
            );
            assert_eq!(against(&world, number).await, Known::Known(vec![]));
            world.assert_clean().await;
        }
    }
}

#[tokio::test]
async fn an_answer_covers_the_verifications_and_stays_in_force() {
    let world = world("required", "en").await;
    let text = case("en", "clean-high-complete-list");
    let spec = coupons().file(ledger("drop-coupons", &text));
    let number = world.github.open_pull(REPO, &spec);
    world.settle().await;
    let issue = world.issue().number;
    let owner = world.github.as_user("octo-owner");
    owner.comment(crate::world::INBOX, issue, "/approve A");
    world.settle().await;
    assert_eq!(world.check(number).conclusion.as_deref(), Some("success"));
    let run = gate(&world, number).expect("a check-run").id;
    world.github.as_user("octo-dev").rerequest(REPO, run);
    world.settle().await;
    assert_eq!(world.check(number).conclusion.as_deref(), Some("success"));
    assert!(world.github.open_issues(crate::world::INBOX).is_empty());
    world.assert_clean().await;
}

/// Case, change, effective disposition, codes.
type Claim = (
    &'static str,
    fn() -> PullSpec,
    &'static str,
    &'static [&'static str],
);

const CLAIMS: [Claim; 4] = [
    (
        "eg019-verification-unverified",
        cart,
        "BLOCKED_EVIDENCE",
        &["EG019"],
    ),
    (
        "eg011-pass-without-obs",
        cart,
        "BLOCKED_EVIDENCE",
        &["EG011", "EG019"],
    ),
    (
        "eg012-runtime-claim-read-in-source",
        cart,
        "BLOCKED_EVIDENCE",
        &["EG012", "EG019"],
    ),
    (
        "eg025-go-ahead",
        coupons,
        "BLOCKED_CLARIFICATION",
        &["EG025", "EG031", "EG032"],
    ),
];

#[tokio::test]
async fn a_ledger_that_claims_more_than_it_carries_is_told_line_by_line() {
    for language in ["en", "ko"] {
        for mode in ["advisory", "required"] {
            let world = world(mode, language).await;
            for (name, change, effective, codes) in CLAIMS {
                let text = case(language, name);
                let id = if name == "eg025-go-ahead" {
                    "drop-coupons"
                } else {
                    "cart-total"
                };
                let number = world
                    .github
                    .open_pull(REPO, &change().file(ledger(id, &text)));
                world.settle().await;

                let check = gate(&world, number).expect("a check-run");
                let wanted = if mode == "required" {
                    "failure"
                } else {
                    "neutral"
                };
                assert_eq!(conclusion(&check), wanted, "{language} {name}");
                assert!(
                    check.title.starts_with(effective),
                    "{name}: {}",
                    check.title
                );
                assert!(check.summary.contains(&format!("**`{effective}`**")));
                let mut found = remarked(&check);
                found.sort();
                found.dedup();
                assert_eq!(found, codes, "{language} {name}");
                for remark in &check.annotations {
                    assert_eq!(remark["path"], format!("{FOLDER}/{id}.md"));
                    assert!(remark["start_line"].as_u64().expect("a line") >= 1);
                    let level = &remark["annotation_level"];
                    assert_eq!(
                        level,
                        if mode == "required" {
                            "failure"
                        } else {
                            "warning"
                        }
                    );
                    let code = remark["title"].as_str().expect("a title");
                    assert!(check.text.contains(&code[..5]), "{}", check.text);
                }
                let held = against(&world, number).await;
                let held = held.known().expect("known").join("\n");
                assert!(
                    held.contains(effective) && held.contains(codes[0]),
                    "{held}"
                );
                // The verdict is another matter.
                let evidence = &world.log_of("classification").pop().expect("one")["evidence"];
                assert_eq!(evidence["ledgers"][0]["findings"], serde_json::json!(codes));
                assert!(world.check_on(&check.head_sha).is_some());
            }
            world.assert_clean().await;
        }
    }
}

#[tokio::test]
async fn a_phrase_of_assent_is_told_where_the_approval_stands() {
    for (language, phrase) in [("en", "go ahead"), ("ko", "계속 진행")] {
        let world = world("required", language).await;
        let text = case(language, "eg025-go-ahead");
        assert!(text.contains(phrase));
        let number = world
            .github
            .open_pull(REPO, &coupons().file(ledger("drop-coupons", &text)));
        world.settle().await;
        let check = gate(&world, number).expect("a check-run");
        let remark = check
            .annotations
            .iter()
            .find(|remark| {
                remark["title"]
                    .as_str()
                    .is_some_and(|t| t.starts_with("EG025"))
            })
            .expect("a remark");
        let at = usize::try_from(remark["start_line"].as_u64().expect("a line")).expect("small");
        let heading = text.lines().nth(at - 1).expect("that line");
        assert!(heading.starts_with("### "), "{heading}");
        let reply = text.lines().skip(at).find(|line| !line.is_empty());
        assert!(reply.expect("the reply").contains(phrase), "{at}");
    }
}

#[tokio::test]
async fn each_file_outside_the_scope_is_named() {
    for language in ["en", "ko"] {
        let world = world("required", language).await;
        let text = case(language, "clean-high-complete-list");
        let spec = coupons()
            .file(ledger("drop-coupons", &text))
            .file(FileSpec::modified("src/tax/rate.rs", "a\n", "b\n"))
            .file(FileSpec::modified("src/cart/total.rs", "a\n", "b\n"))
            .file(FileSpec::renamed("src/cart/a.rs", "src/b|`x`.rs", "a\n"));
        let number = world.github.open_pull(REPO, &spec);
        world.settle().await;
        let check = gate(&world, number).expect("a check-run");
        assert_eq!(conclusion(&check), "failure");
        assert!(check.title.starts_with("BLOCKED_CLARIFICATION"));
        for path in ["- `src/tax/rate.rs`", "- ``src/b|`x`.rs``"] {
            assert!(check.summary.contains(path), "{path}: {}", check.summary);
        }
        assert!(!check.summary.contains("src/cart/total.rs"));
        assert!(!check.summary.contains("- `docs/evidence-gated"));
        assert_eq!(remarked(&check), ["EG027", "EG027", "EG019"]);
        let evidence = &world.log_of("classification").pop().expect("one")["evidence"];
        assert_eq!(evidence["outside_scope_count"], 2);
        assert_eq!(evidence["outside_scope"][0], "src/tax/rate.rs");
        let held = against(&world, number).await;
        let held = held.known().expect("known").join("\n");
        assert!(held.contains("`src/tax/rate.rs` is outside"), "{held}");
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn ledgers_of_one_head_share_its_files_and_must_all_pass() {
    let world = world("required", "en").await;
    let both = coupons()
        .file(FileSpec::modified("src/session/store.rs", "a\n", "b\n"))
        .file(ledger(
            "drop-coupons",
            &case("en", "clean-high-complete-list"),
        ))
        .file(ledger("drop-legacy-sessions", &example("ledger-good.md")));
    let number = world.github.open_pull(REPO, &both);
    world.settle().await;
    let check = gate(&world, number).expect("a check-run");
    assert_eq!(conclusion(&check), "success", "{}", check.summary);
    world.github.push(
        REPO,
        number,
        "Another",
        &[ledger("rotate-signing-key", &example("ledger-bad.md"))],
    );
    world.settle().await;
    assert_eq!(conclusion(&gate(&world, number).expect("one")), "failure");
    world.assert_clean().await;
}

#[tokio::test]
async fn without_a_ledger_only_high_risk_is_held() {
    let login = PullSpec::new("Change the login").file(FileSpec::modified(
        "src/auth/login.rs",
        "fn a() { 1 }\n",
        "fn a() { 2 }\n",
    ));
    let comment = PullSpec::new("Say more").file(FileSpec::modified(
        "src/auth/login.rs",
        "// teh door\nfn a() {}\n",
        "// the door\nfn a() {}\n",
    ));
    for language in ["en", "ko"] {
        for (spec, high) in [
            (spec_of('A'), false),
            (comment.clone(), false),
            (spec_of('B'), false),
            (spec_of('C'), false),
            (spec_of('D'), true),
            (login.clone(), true),
        ] {
            let lax = world("advisory", language).await;
            let number = lax.github.open_pull(REPO, &spec);
            lax.settle().await;
            let check = gate(&lax, number);
            assert_eq!(check.is_some(), high, "{spec:?}");
            if let Some(check) = check {
                assert_eq!(conclusion(&check), "neutral");
            }
            let entry = lax.log_of("classification").pop().expect("one");
            assert_eq!(entry.get("evidence").is_some(), high);
            lax.assert_clean().await;

            let strict = world("required", language).await;
            let number = strict.github.open_pull(REPO, &spec);
            strict.settle().await;
            let check = gate(&strict, number).expect("it may be required");
            let wanted = if high { "failure" } else { "success" };
            assert_eq!(conclusion(&check), wanted, "{}", check.summary);
            let held = against(&strict, number).await;
            assert_eq!(held.known().expect("known").is_empty(), !high);
            strict.assert_clean().await;
        }
    }
}

#[tokio::test]
async fn high_risk_says_why_and_the_operator_adds_domains() {
    let mut world = arranged("required", "en").await;
    let env = world.config.get_mut("env.yml").expect("env");
    env.push_str("  high_risk:\n    payments: [\"src/engine.rs\"]\n");
    world.serve().await.expect("starts");
    let number = world.github.open_pull(REPO, &spec_of('B'));
    world.settle().await;
    let check = gate(&world, number).expect("a check-run");
    assert_eq!(conclusion(&check), "failure");
    assert!(
        check.summary.contains("`HIGH` (quadrant B, payments)"),
        "{}",
        check.summary
    );
    // A policy that comes with the pull request is none.
    let off = FileSpec::modified("config/env.yml", "x\n", "evidence: {mode: off}\n");
    world.github.push(REPO, number, "Switch it off", &[off]);
    world.settle().await;
    assert_eq!(conclusion(&gate(&world, number).expect("one")), "failure");
}

#[tokio::test]
async fn off_asks_and_says_nothing() {
    let world = world("off", "en").await;
    world.github.open_pull(REPO, &spec_of('A'));
    world.settle().await;
    world.github.clear_requests();
    let text = case("en", "eg025-go-ahead");
    let spec = coupons().file(ledger("drop-coupons", &text));
    let number = world.github.open_pull(REPO, &spec);
    world.settle().await;
    assert_eq!(gate(&world, number), None);
    assert_eq!(world.github.count(CONTENTS), 0);
    assert_eq!(world.github.count(POST), 1, "the verdict's own");
    let entry = world.log_of("classification").pop().expect("one");
    assert_eq!(entry.get("evidence"), None);
    assert_eq!(state(&world, number).await.evidence, None);
    assert!(!world.issue().body.contains("cargo test cart"));
    world.assert_clean().await;
}

#[tokio::test]
async fn a_head_from_before_the_gate_is_looked_at_again() {
    let mut world = world("off", "en").await;
    let number = world.github.open_pull(REPO, &spec_of('D'));
    world.settle().await;
    world.stop().await;
    let env = world.config.get_mut("env.yml").expect("env");
    *env = env.replace("mode: off", "mode: required");
    world.serve().await.expect("starts");
    let tick = quadgate::tick::look_for_missed(world.app().bench()).await;
    tick.expect("the sweep ends");
    world.settle().await;
    assert_eq!(conclusion(&gate(&world, number).expect("one")), "failure");
    assert_eq!(world.github.open_issues(crate::world::INBOX).len(), 1);
    world.assert_clean().await;
}

#[tokio::test]
async fn a_ledger_costs_one_call_to_read_and_one_to_say() {
    let world = world("advisory", "en").await;
    world.github.open_pull(REPO, &spec_of('D'));
    world.settle().await;
    world.github.clear_requests();
    let text = case("en", "eg011-pass-without-obs");
    let number = world
        .github
        .open_pull(REPO, &cart().file(ledger("cart-total", &text)));
    world.settle().await;
    assert_eq!(world.github.count(CONTENTS), 1);
    assert_eq!(world.github.count(POST), 2);
    let annotations = "GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations";
    assert_eq!(world.github.count(annotations), 0);
    // Nothing changed: nothing is read, nothing is said.
    world.github.clear_requests();
    for webhook in &world.github.deliveries() {
        world.send(webhook).await;
    }
    world.github.as_user("octo-dev").label(REPO, number, "x");
    world.settle().await;
    assert_eq!(world.github.writes(), 0);
    world.assert_clean().await;
}

#[tokio::test]
async fn a_commit_may_name_its_ledger() {
    let text = case("en", "clean-medium-complete-list");
    let base = [FileSpec::added("notes/cart-total.md", &text)];
    let named = |trailers: &str| {
        let message = format!("Round half up\n\nBecause.\n\n{trailers}");
        cart().commits([message])
    };
    for (trailers, wanted, says) in [
        (
            "Evidence-Ledger: notes/cart-total.md",
            "success",
            "notes/cart-total.md",
        ),
        (
            "evidence-ledger: `./notes/cart-total.md`",
            "success",
            "notes/cart-total.md",
        ),
        (
            "Evidence-Ledger: notes/absent.md",
            "failure",
            "is not there at this head",
        ),
        ("Evidence-Ledger: ../x.md", "failure", "names no path"),
        (
            "Evidence-Ledger: src/cart/total.rs",
            "failure",
            "neither Markdown nor JSON",
        ),
    ] {
        let world = world("required", "en").await;
        world.github.commit_on(REPO, "main", "Notes", &base);
        let number = world.github.open_pull(REPO, &named(trailers));
        world.settle().await;
        let check = gate(&world, number).expect("a check-run");
        assert_eq!(conclusion(&check), wanted, "{trailers}: {}", check.summary);
        assert!(
            check.summary.contains(says),
            "{trailers}: {}",
            check.summary
        );
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn what_cannot_be_used_never_passes() {
    let long = format!("{}\n{}", example("ledger-good.md"), "x\n".repeat(40_000));
    let json = FileSpec::added(&format!("{FOLDER}/cart-total.json"), "{\"change_id\": 7}");
    let binary = FileSpec::binary(&format!("{FOLDER}/cart-total.md"), "added", &[0xff, 0, 1]);
    let many: Vec<FileSpec> = (0..11)
        .map(|n| {
            let text = case("en", "clean-medium-complete-list");
            let id = format!("cart-{n}");
            ledger(&id, &text.replace("cart-total", &id))
        })
        .collect();
    for (files, says) in [
        (vec![ledger("cart-total", &long)], "is larger than 64 KiB"),
        (vec![binary], "is no UTF-8 text"),
        (vec![json], "is not a ledger in JSON"),
        (
            vec![ledger("cart-total", "# Shopping\n\n- milk\n")],
            "has no section of a ledger",
        ),
        (many, "1 more ledgers were not read"),
    ] {
        for mode in ["advisory", "required"] {
            let world = world(mode, "en").await;
            let number = world.github.open_pull(REPO, &cart().files(files.clone()));
            world.settle().await;
            let check = gate(&world, number).expect("a check-run");
            let wanted = if mode == "required" {
                "failure"
            } else {
                "neutral"
            };
            assert_eq!(conclusion(&check), wanted, "{says}: {}", check.summary);
            assert!(
                check.title.starts_with("BLOCKED_EVIDENCE"),
                "{}",
                check.title
            );
            assert!(check.summary.contains(says), "{says}: {}", check.summary);
            assert!(
                !against(&world, number)
                    .await
                    .known()
                    .expect("known")
                    .is_empty()
            );
            world.assert_clean().await;
        }
    }
}

#[tokio::test]
async fn json_ledgers_and_active_ones_are_read_too() {
    let world = world("required", "en").await;
    let text = case("en", "clean-medium-complete-list");
    let json = quadgate::evidence::json::write(&markdown::read(&text)).expect("JSON");
    let spec = cart().file(FileSpec::added(
        ".evidence-gated/archive/cart-total.json",
        &json,
    ));
    let number = world.github.open_pull(REPO, &spec);
    world.settle().await;
    let check = gate(&world, number).expect("a check-run");
    assert_eq!(conclusion(&check), "success", "{}", check.summary);
    let spec = cart().file(FileSpec::added(
        ".evidence-gated/active/cart-total.md",
        &text,
    ));
    let number = world.github.open_pull(REPO, &spec);
    world.settle().await;
    let check = gate(&world, number).expect("a check-run");
    assert_eq!(remarked(&check), ["EG029"], "an active ledger is committed");
    // A ledger that the head takes away is none of it.
    let gone = cart().file(FileSpec::removed(&format!("{FOLDER}/cart-total.md"), &text));
    let number = world.github.open_pull(REPO, &gone);
    world.settle().await;
    let check = gate(&world, number).expect("a check-run");
    assert!(
        check.title.ends_with("has no evidence ledger"),
        "{}",
        check.title
    );
    world.assert_clean().await;
}

#[tokio::test]
async fn korean_words_are_written_where_korean_is_asked_for() {
    let world = world("required", "ko").await;
    let good = markdown::write(&markdown::read(&example("ledger-good.md")), Language::Ko);
    let spec = PullSpec::new("Drop the sessions")
        .file(FileSpec::added(
            "migrations/0042_drop_legacy_sessions.sql",
            "drop table legacy_sessions;\n",
        ))
        .file(ledger("drop-legacy-sessions", &good));
    let number = world.github.open_pull(REPO, &spec);
    world.settle().await;
    let check = gate(&world, number).expect("a check-run");
    assert_eq!(conclusion(&check), "success", "{}", check.summary);
    assert!(
        check.title.contains("증거가 머지를 뒷받침함"),
        "{}",
        check.title
    );
    assert!(check.summary.contains("필수 검증"), "{}", check.summary);
}

#[tokio::test]
async fn a_ledger_that_github_does_not_give_is_unknown_and_read_again() {
    let world = world("required", "en").await;
    let text = case("en", "clean-high-complete-list");
    let path = "/repos/octo-org/widgets/contents/docs/evidence-gated/**";
    let broken = FaultRule::answer("GET", path, FaultAnswer::server_error(502));
    world.github.fail(broken.always());
    let spec = coupons().file(ledger("drop-coupons", &text));
    let number = world.github.open_pull(REPO, &spec);
    world.settle().await;
    assert_eq!(gate(&world, number), None, "it may pass yet");
    for _ in 0..12 {
        world.advance(Duration::from_mins(15));
        world.settle().await;
    }
    let check = gate(&world, number).expect("a check-run");
    assert_eq!(conclusion(&check), "failure");
    assert_eq!(check.title, "The evidence could not be read");
    assert!(against(&world, number).await.cause().is_some());
    assert_eq!(world.check(number).conclusion.as_deref(), Some("failure"));

    world.github.clear_faults();
    let run = world.check(number).id;
    world.github.as_user("octo-dev").rerequest(REPO, run);
    world.settle().await;
    let check = gate(&world, number).expect("a check-run");
    assert_eq!(conclusion(&check), "success", "{}", check.summary);
    assert_eq!(
        world.log_of("classification").len(),
        2,
        "each state has its line"
    );
    assert!(world.issue().body.contains("`cargo test cart` passes"));
    world.assert_clean().await;
}

/// A ledger with so many claims without a record.
fn gappy(claims: usize) -> String {
    let text = case("en", "eg011-pass-without-obs");
    let (before, after) = text.split_once("## Evidence records").expect("sections");
    let more: Vec<String> = (0..claims)
        .map(|n| format!("{}. **Claim:** D{n}: it holds\n   - **Required evidence:** a look\n   - **Evidence type:** static\n   - **Consequence if unsupported:** stop\n   - **Status:** PASS\n", n + 3))
        .collect();
    format!(
        "{}\n{}\n## Evidence records{after}",
        before.trim_end(),
        more.concat()
    )
}

#[tokio::test]
async fn more_than_fifty_remarks_go_in_several_requests_each_once() {
    for (claims, remarks) in [(60, 62), (150, 100)] {
        for lost in [None, Some(0), Some(1)] {
            let world = world("advisory", "en").await;
            if let Some(skip) = lost {
                // An answer is lost: what it had done is found.
                let (method, path) = if skip == 0 {
                    ("POST", "/repos/octo-org/widgets/check-runs")
                } else {
                    ("PATCH", "/repos/octo-org/widgets/check-runs/*")
                };
                let rule = FaultRule::new(method, path, FaultKind::DropAfter);
                world.github.fail(rule.after(u32::from(skip == 0)));
            }
            let spec = cart().file(ledger("cart-total", &gappy(claims)));
            let number = world.github.open_pull(REPO, &spec);
            world.settle().await;
            let check = gate(&world, number).expect("a check-run");
            assert_eq!(check.annotations.len(), remarks, "{claims} {lost:?}");
            let mut distinct: Vec<String> =
                check.annotations.iter().map(ToString::to_string).collect();
            distinct.sort();
            distinct.dedup();
            assert_eq!(distinct.len(), remarks, "{claims} {lost:?}");
            assert_eq!(
                check.text.contains("without a remark on their line"),
                claims == 150
            );
            assert!(check.text.contains("`D149") == (claims == 150) || check.text.contains("D149"));
            world.assert_clean().await;
        }
    }
}

#[tokio::test]
async fn a_crash_at_any_step_leaves_one_check_run_with_each_remark_once() {
    let text = case("en", "eg025-go-ahead");
    let spec = coupons().file(ledger("drop-coupons", &text));
    let run = async |crash_at: Option<usize>| {
        let steps = Arc::new(Steps::default());
        let mut world = arranged("required", "en").await;
        world.fault_point = steps.point();
        world.serve().await.expect("starts");
        steps.arm(crash_at);
        let number = world.github.open_pull(REPO, &spec);
        if world.settle_or_crash().await.is_err() {
            world.crash().await;
            world.settle().await;
        }
        world.assert_clean().await;
        let check = gate(&world, number).expect("a check-run");
        let verdict = world.check(number);
        let log = world.log();
        let hash = log[0]["hash"].as_str().expect("a hash");
        assert!(check.summary.contains(hash) && verdict.summary.contains(hash));
        let seen = (
            check.conclusion,
            check.title,
            check.text,
            check.annotations.len(),
        );
        (steps.taken().len(), (seen, log.len(), verdict.conclusion))
    };
    let (steps, quiet) = run(None).await;
    assert!(steps > 15, "{steps}");
    for index in 0..steps {
        let (_, crashed) = run(Some(index)).await;
        assert_eq!(crashed, quiet, "step {index}");
    }
}

#[tokio::test]
async fn another_verdict_on_the_same_head_changes_what_was_said() {
    let world = world("advisory", "en").await;
    let number = world.github.open_pull(REPO, &spec_of('D'));
    world.settle().await;
    let first = gate(&world, number).expect("a check-run");
    assert_eq!(conclusion(&first), "neutral");
    world.github.as_user("octo-dev").rerequest(REPO, first.id);
    world.settle().await;
    assert_eq!(gate(&world, number).expect("the same"), first);
    // The next head needs no ledger, and nothing is said of it.
    let files = [FileSpec::modified(
        "src/engine.rs",
        "fn a() { 1 }\n",
        "fn a() { 2 }\n",
    )];
    world
        .github
        .force_push(REPO, number, &["Tidy instead"], &files);
    world.settle().await;
    assert_eq!(gate(&world, number), None);
    assert_eq!(world.check(number).name, CHECK);
    world.assert_clean().await;
}

#[tokio::test]
async fn hostile_words_stay_in_their_place() {
    let world = world("required", "en").await;
    let text = case("en", "eg011-pass-without-obs").replace(
        "C1: only the cart computes totals",
        "C1: </td> @octo-team `x` | [a](https://evil.example) <!-- quadgate:late witness en --> ![](x)",
    );
    let spec = cart()
        .file(ledger("cart-total", &text))
        .file(FileSpec::modified(
            "src/@octo-team <!-- x -->.rs",
            "a\n",
            "b\n",
        ));
    let number = world.github.open_pull(REPO, &spec);
    world.settle().await;
    let check = gate(&world, number).expect("a check-run");
    for said in [&check.summary, &check.text] {
        let mut in_code = 0;
        for event in pulldown_cmark::Parser::new_ext(said, pulldown_cmark::Options::all()) {
            match event {
                pulldown_cmark::Event::Code(code) => {
                    in_code += usize::from(code.contains("octo-team"));
                }
                pulldown_cmark::Event::Text(text) => assert!(!text.contains("octo-team"), "{text}"),
                pulldown_cmark::Event::Html(html) | pulldown_cmark::Event::InlineHtml(html) => {
                    panic!("{html} in {said}")
                }
                _ => {}
            }
        }
        assert!(in_code > 0, "{said}");
    }
    world.assert_clean().await;
}
