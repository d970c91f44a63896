//! The merge gate and the evidence: what a ledger must carry before the server merges.

use crate::evidence_pull::{cart, case, ledger};
use crate::merging::{MESSAGE, arranged, ci, merge_calls, merged, ready, ripe, says};
use crate::world::{REPO, World};
use std::time::Duration;

async fn merging(mode: &str) -> World {
    let mut world = arranged("").await;
    let env = world.config.get_mut("env.yml").expect("env");
    env.extend(["evidence:\n  mode: ", mode, "\n"]);
    world.serve().await.expect("the server starts");
    world
}

#[tokio::test]
async fn a_ledger_that_claims_too_much_holds_the_merge_up_until_it_is_mended() {
    for language in ["en", "ko"] {
        let world = merging("required").await;
        let bad = case(language, "eg011-pass-without-obs");
        let spec = cart().commits([MESSAGE]).file(ledger("cart-total", &bad));
        let number = ripe(&world, &spec).await;
        world.settle().await;
        assert!(!merged(&world, number));
        let said = says(&world, number);
        assert!(said.contains("**evidence** (P1)"), "{said}");
        assert!(said.contains("BLOCKED_EVIDENCE"), "{said}");

        let good = case(language, "clean-medium-complete-list");
        world
            .github
            .push(REPO, number, MESSAGE, &[ledger("cart-total", &good)]);
        world.settle().await;
        world.advance(Duration::from_mins(1));
        ci(&world, number, "build", Some("success"));
        let owner = world.github.as_user("octo-owner");
        owner.unlabel(REPO, number, "ready-to-merge");
        ready(&world, number);
        world.settle().await;
        assert!(merged(&world, number), "{}", says(&world, number));
        world.assert_clean().await;
    }
}

#[tokio::test]
async fn advisory_evidence_warns_and_does_not_hold_the_merge_up() {
    let world = merging("advisory").await;
    let bad = case("en", "eg011-pass-without-obs");
    let spec = cart().commits([MESSAGE]).file(ledger("cart-total", &bad));
    let number = ripe(&world, &spec).await;
    world.settle().await;
    assert!(merged(&world, number), "{}", says(&world, number));
    let entry = world.log_of("merged").pop().expect("an entry");
    let warnings = entry["warnings"].to_string();
    assert!(warnings.contains("BLOCKED_EVIDENCE"), "{warnings}");
    world.assert_clean().await;
}

#[tokio::test]
async fn the_gates_own_check_run_is_no_ci() {
    let world = merging("required").await;
    let good = case("en", "clean-medium-complete-list");
    let spec = cart().commits([MESSAGE]).file(ledger("cart-total", &good));
    let number = crate::merging::opened(&world, &spec).await;
    ready(&world, number);
    world.settle().await;
    let head = world.github.pull(REPO, number).head_sha;
    let own = world.github.check_run(REPO, &head, "evidence-gate");
    assert_eq!(own.expect("one").conclusion.as_deref(), Some("success"));
    assert_eq!(merge_calls(&world), 0, "`build` has not run");
    world.assert_clean().await;
}
