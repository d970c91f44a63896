//! The evidence of a head, judged from texts: what is read, what passes, what is unknown.

use super::*;
use crate::plan::tests::{facts, verdict};
use crate::policy::high_risk::HighRiskFile;
use crate::policy::paths::Extends;
use serde_json::json;

const GOOD: &str = include_str!("../../../docs/examples/ledger-good.md");
const PATH: &str = "docs/evidence-gated/drop-legacy-sessions.md";

fn facts_of(files: serde_json::Value, messages: &[&str]) -> Facts {
    let commits: Vec<_> = messages
        .iter()
        .enumerate()
        .map(|(at, message)| json!({"sha": format!("{at:040x}"), "message": message}))
        .collect();
    let count = files.as_array().map_or(0, Vec::len);
    let mut value = serde_json::to_value(facts('a', "main")).unwrap();
    value["files"] = files;
    value["changed_files"] = json!(count);
    value["commit_count"] = json!(commits.len());
    value["commits"] = json!(commits);
    serde_json::from_value(value).unwrap()
}

fn changed(path: &str) -> serde_json::Value {
    json!({"path": path, "status": "modified"})
}

fn text(path: &str, text: &str) -> LedgerRead {
    LedgerRead {
        path: path.to_owned(),
        text: LedgerText::Text(text.to_owned()),
    }
}

fn nowhere() -> HighRisk {
    HighRisk::compile(&HighRiskFile {
        extends: Extends::None,
        ..HighRiskFile::default()
    })
    .unwrap()
}

fn judged(
    quadrant: Quadrant,
    facts: &Facts,
    ledgers: &[LedgerRead],
    prior: Option<&EvidenceState>,
) -> Evidence {
    Evidence::judge(&EvidenceInput {
        mode: EvidenceMode::Required,
        facts,
        verdict: &verdict(quadrant),
        high_risk: &nowhere(),
        wanted: &Wanted::of(facts),
        ledgers,
        prior,
    })
}

#[test]
fn ledgers_are_wanted_once_in_order_and_within_bounds() {
    let facts = facts_of(
        json!([
            {"path": ".evidence-gated/archive/a.md", "status": "renamed", "previous_path": ".evidence-gated/active/a.md"},
            {"path": "docs/evidence-gated/gone.md", "status": "removed"},
            changed("src/a.rs"),
        ]),
        &[
            "One\n\nEvidence-Ledger: notes/b.md\nEvidence-Ledger: notes/b.md",
            "Two\n\nEVIDENCE-LEDGER: ./.evidence-gated/archive/a.md",
            "Three\n\nEvidence-Ledger: not a line of trailers\n\nbut of prose",
        ],
    );
    let wanted = Wanted::of(&facts);
    assert_eq!(wanted.paths, [".evidence-gated/archive/a.md", "notes/b.md"]);
    assert_eq!(wanted.problems, Vec::<String>::new());

    let many: Vec<_> = (0..MOST_LEDGERS + 2)
        .map(|at| changed(&format!("docs/evidence-gated/{at}.md")))
        .collect();
    let wanted = Wanted::of(&facts_of(json!(many), &["x"]));
    assert_eq!(wanted.paths.len(), MOST_LEDGERS);
    assert!(wanted.problems[0].starts_with("2 more"));

    for odd in ["/etc/x.md", "a/../x.md", "a\\x.md", "a//x.md", "x", ""] {
        let message = format!("One\n\nEvidence-Ledger: {odd}");
        let wanted = Wanted::of(&facts_of(json!([]), &[&message]));
        assert_eq!(wanted.paths, Vec::<String>::new(), "{odd}");
        assert_eq!(wanted.problems.len(), 1, "{odd}");
    }
}

#[test]
fn both_paths_of_a_rename_are_compared_and_the_source_of_a_copy_is_not() {
    let facts = facts_of(
        json!([
            {"path": "src/session/b.rs", "status": "renamed", "previous_path": "src/a.rs"},
            {"path": "src/session/c.rs", "status": "copied", "previous_path": "src/d.rs"},
            changed(PATH),
        ]),
        &["x"],
    );
    let evidence = judged(Quadrant::D, &facts, &[text(PATH, GOOD)], None);
    assert_eq!(evidence.outside, ["src/a.rs"]);
    assert_eq!(evidence.effective, Some(Disposition::BlockedClarification));
    assert!(!evidence.passes());
}

#[test]
fn completion_that_is_earned_permits_whether_it_is_declared_or_not() {
    let facts = facts_of(json!([changed("src/session/store.rs")]), &["x"]);
    let undeclared = GOOD
        .replace(
            "## Disposition\n\nCOMPLETE",
            "## Disposition\n\nALLOW_WITH_VERIFICATION",
        )
        .replace("## Final disposition\n\nCOMPLETE\n\n", "");
    let evidence = judged(Quadrant::D, &facts, &[text(PATH, &undeclared)], None);
    assert_eq!(evidence.effective, Some(Disposition::AllowWithVerification));
    assert!(evidence.passes(), "{:?}", evidence.against);
    // The same with an outstanding verification: the work may go on, the merge not.
    let (before, after) = undeclared.rsplit_once("  - Status: PASS").unwrap();
    let outstanding = format!("{before}  - Status: UNVERIFIED{after}");
    let evidence = judged(Quadrant::D, &facts, &[text(PATH, &outstanding)], None);
    assert_eq!(evidence.effective, Some(Disposition::AllowWithVerification));
    let against = evidence.against.known().unwrap().join("\n");
    assert!(against.contains("ALLOW_WITH_VERIFICATION"), "{against}");
}

#[test]
fn what_is_not_known_is_not_empty_and_keeps_what_it_asked_for() {
    let facts = facts_of(json!([changed("src/session/store.rs")]), &["x"]);
    let unread = LedgerRead {
        path: PATH.to_owned(),
        text: LedgerText::Unknown("HTTP 502".to_owned()),
    };
    let good = judged(Quadrant::D, &facts, &[text(PATH, GOOD)], None);
    let state = good.state(&facts, None, None);
    assert_eq!(state.verifications.len(), 2);
    let evidence = judged(
        Quadrant::D,
        &facts,
        std::slice::from_ref(&unread),
        Some(&state),
    );
    assert!(evidence.against.cause().unwrap().contains("HTTP 502"));
    assert_eq!(evidence.verifications(), state.verifications);
    assert!(!evidence.passes() && evidence.speaks());

    for (member, what) in [("files", "files unknown"), ("commits", "commits unknown")] {
        let mut value = serde_json::to_value(&facts).unwrap();
        value[member] = json!({"unknown": "HTTP 500"});
        let facts: Facts = serde_json::from_value(value).unwrap();
        let evidence = judged(Quadrant::D, &facts, &[], None);
        assert!(evidence.against.cause().unwrap().contains(what));
    }
    let mut cut = facts;
    cut.changed_files = 4_000;
    let evidence = judged(Quadrant::D, &cut, &[text(PATH, GOOD)], None);
    let against = evidence.against.known().unwrap();
    assert!(
        against[0].starts_with("1 of 4000 files are listed"),
        "{against:?}"
    );
}

#[test]
fn the_risk_comes_from_the_quadrant_and_from_domains_and_is_never_lowered() {
    let facts = facts_of(json!([changed("src/gate.rs")]), &["x"]);
    for (quadrant, risk, passes) in [
        (Quadrant::A, Risk::Low, true),
        (Quadrant::B, Risk::Medium, true),
        (Quadrant::C, Risk::Medium, true),
        (Quadrant::D, Risk::High, false),
    ] {
        let evidence = judged(quadrant, &facts, &[], None);
        assert_eq!((evidence.risk, evidence.passes()), (risk, passes));
    }
    let gate = HighRisk::compile(&HighRiskFile {
        payments: vec!["src/gate.rs".to_owned()],
        ..HighRiskFile::default()
    })
    .unwrap();
    // The file of an A is harmless by itself: no domain makes it a risk.
    for (quadrant, risk) in [(Quadrant::A, Risk::Low), (Quadrant::B, Risk::High)] {
        let evidence = Evidence::judge(&EvidenceInput {
            mode: EvidenceMode::Advisory,
            facts: &facts,
            verdict: &verdict(quadrant),
            high_risk: &gate,
            wanted: &Wanted::default(),
            ledgers: &[],
            prior: None,
        });
        assert_eq!(evidence.risk, risk);
        assert_eq!(evidence.speaks(), risk == Risk::High);
    }
    let low = GOOD.replace("- Level: HIGH", "- Level: LOW");
    let scope = facts_of(json!([changed("src/session/store.rs")]), &["x"]);
    let evidence = judged(Quadrant::D, &scope, &[text(PATH, &low)], None);
    assert_eq!(evidence.risk, Risk::High);
    assert!(
        evidence.ledgers[0]
            .entry()
            .findings
            .contains(&"EG009".to_owned())
    );
}

#[test]
fn two_active_ledgers_about_one_change_are_told() {
    let facts = facts_of(json!([changed("src/session/store.rs")]), &["x"]);
    let active = |name: &str| text(&format!(".evidence-gated/active/{name}.md"), GOOD);
    let evidence = judged(Quadrant::D, &facts, &[active("a"), active("b")], None);
    let codes: Vec<_> = evidence
        .ledgers
        .iter()
        .map(|one| one.entry().findings)
        .collect();
    assert!(!codes[0].contains(&"EG028".to_owned()));
    assert!(codes[1].contains(&"EG028".to_owned()));
}

#[test]
fn many_files_outside_are_counted_where_room_is_scarce() {
    let files: Vec<_> = (0..3_000)
        .map(|at| changed(&format!("other/{at}.rs")))
        .collect();
    let facts = facts_of(json!(files), &["x"]);
    let evidence = judged(Quadrant::D, &facts, &[text(PATH, GOOD)], None);
    assert_eq!(evidence.outside.len(), 3_000);
    let entry = evidence.entry().unwrap();
    assert_eq!(
        (entry.outside_scope.len(), entry.outside_scope_count),
        (50, 3_000)
    );
    let against = evidence.against.known().unwrap();
    assert_eq!(against.len(), 52);
    assert_eq!(
        against[51],
        "2950 more files are outside the authorized scope"
    );
}
