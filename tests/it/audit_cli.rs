//! `quadgate audit` as people use it.

use super::audit::{draft, log_of, open};
use clap::Parser;
use quadgate::audit::{Body, EntryDraft, Options};
use quadgate::cli::audit::{AuditArgs, run};
use quadgate::domain::{AccountId, Choice, EvidenceEntry, Known, Quadrant, Timestamp};
use std::fs;
use std::path::Path;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: AuditArgs,
}

pub fn audit(args: &[&str], dir: &Path) -> (u8, String) {
    let mut words = vec!["audit"];
    words.extend(args);
    let log = dir.display().to_string();
    if args[0] == "verify" {
        words.push(&log);
    } else {
        words.extend(["--log", &log]);
    }
    let cli = Cli::try_parse_from(words).unwrap();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = run(&cli.args, false, &mut out, &mut err);
    out.extend(err);
    (code, String::from_utf8(out).unwrap())
}

fn answer(decision: &str) -> EntryDraft {
    EntryDraft {
        body: Body::OwnerAnswer {
            answer: Choice::ApproveA,
            actor: "octo-owner".into(),
            actor_id: Some(AccountId(1001)),
            signal: "comment/5".into(),
            answered_at: Timestamp::from_millis(0),
            nonce: Some("n".into()),
            quadrant: Quadrant::D,
        },
        ..draft(decision, 2, Quadrant::D)
    }
}

fn small_log(dir: &Path) {
    let (mut log, _) = open(dir);
    log.append(&draft("d-1", 1, Quadrant::A)).unwrap();
    log.append(&draft("d-2", 2, Quadrant::D)).unwrap();
    log.append(&answer("d-2/answer")).unwrap();
    let mut evil = draft("d-3", 3, Quadrant::B);
    evil.body = Body::Classification {
        rules_fired: vec![],
        quadrant: Quadrant::B,
        reasoning: "=HYPERLINK(\"x\"),\u{1b}[31m \u{202e}".into(),
        base_ref: "main".into(),
        author: None,
        evidence: None,
    };
    log.append(&evil).unwrap();
}

#[test]
fn verify_says_intact_or_names_the_line() {
    let dir = tempfile::tempdir().unwrap();
    let last = log_of(dir.path(), 3, Options::default());
    let tail = format!("{}:{}", last.seq, last.hash);
    let (code, said) = audit(&["verify", "--tail", &tail], dir.path());
    assert_eq!(
        (code, said.trim()),
        (0, format!("intact: 3 entries, the last is {tail}").as_str())
    );

    let file = dir.path().join("classifier_audit.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let cut: String = text.split_inclusive('\n').take(2).collect();
    fs::write(&file, cut).unwrap();
    assert_eq!(
        audit(&["verify"], dir.path()).0,
        0,
        "a cut end needs a witness"
    );
    let (code, said) = audit(&["verify", "--tail", &tail], dir.path());
    assert_eq!(code, 1);
    assert!(
        said.contains("classifier_audit.jsonl:3: the log ends at entry 2"),
        "{said}"
    );

    fs::write(&file, text.replace("because d-2", "because d-9")).unwrap();
    let (code, said) = audit(&["verify"], &file);
    assert_eq!(code, 1);
    assert!(
        said.contains("classifier_audit.jsonl:2: entry 2 was edited"),
        "{said}"
    );

    let (code, said) = audit(&["verify"], &dir.path().join("nowhere"));
    assert_eq!(code, 2, "{said}");
    assert!(Cli::try_parse_from(["audit", "verify", "--tail", "41:abc"]).is_err());
}

#[test]
fn why_answers_on_one_screen() {
    let dir = tempfile::tempdir().unwrap();
    small_log(dir.path());
    let (code, said) = audit(&["why", "Octo-Org/widgets#2"], dir.path());
    assert_eq!(code, 0);
    assert!(
        said.contains("quadrant D") && said.contains("because d-2"),
        "{said}"
    );
    assert!(
        said.contains("owner_answer") && said.contains("octo-owner"),
        "{said}"
    );
    assert!(said.lines().count() < 25);
    let (code, said) = audit(&["why", "octo-org/widgets#77"], dir.path());
    assert_eq!(code, 1, "{said}");
}

#[test]
fn why_tells_what_the_evidence_gate_held_against_it() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path());
    let mut entry = draft("d-1", 1, Quadrant::D);
    let Body::Classification { evidence, .. } = &mut entry.body else {
        panic!("a classification");
    };
    *evidence = Some(EvidenceEntry {
        mode: "required".into(),
        effective: Some("BLOCKED_EVIDENCE".into()),
        risk: "HIGH".into(),
        risk_because: vec!["quadrant D".into()],
        ledgers: vec![],
        outside_scope: vec![],
        outside_scope_count: 0,
        against: Known::Known((0..9).map(|n| format!("gap {n}\u{1b}")).collect()),
    });
    log.append(&entry).unwrap();
    drop(log);
    let (code, said) = audit(&["why", "octo-org/widgets#1"], dir.path());
    assert_eq!(code, 0);
    assert!(
        said.contains("evidence BLOCKED_EVIDENCE at risk HIGH (required)"),
        "{said}"
    );
    assert!(said.contains("evidence gap 3") && said.contains("evidence and 5 more"));
    assert!(!said.contains("gap 4") && !said.contains('\u{1b}'));
    assert_eq!(audit(&["verify"], dir.path()).0, 0);
}

#[test]
fn query_filters_and_writes_three_forms() {
    let dir = tempfile::tempdir().unwrap();
    small_log(dir.path());
    let count = |args: &[&str]| {
        let mut words = vec!["query"];
        words.extend(args);
        let (code, said) = audit(&words, dir.path());
        assert_eq!(code, 0, "{said}");
        said.lines().count()
    };
    assert_eq!(count(&[]), 4);
    assert_eq!(count(&["--quadrant", "d"]), 2);
    assert_eq!(count(&["--kind", "owner_answer"]), 1);
    assert_eq!(count(&["--actor", "Octo-Owner"]), 1);
    assert_eq!(count(&["--repo", "octo-org/Widgets"]), 4);
    assert_eq!(count(&["--repo", "octo-org/widget"]), 0);
    assert_eq!(count(&["--since", "2026-05-26"]), 0);
    assert_eq!(count(&["--until", "2026-05-26"]), 4);
    assert_eq!(count(&["--pr", "octo-org/widgets#1"]), 1);
    assert_eq!(count(&["--rule", "empty_pr"]), 0);

    let (_, json) = audit(&["query", "--format", "json"], dir.path());
    let file = fs::read_to_string(dir.path().join("classifier_audit.jsonl")).unwrap();
    assert_eq!(json, file, "JSON is the log's own lines");

    let (_, csv) = audit(&["query", "--format", "csv", "--quadrant", "B"], dir.path());
    assert!(csv.starts_with("seq,ts,kind,pr,"));
    assert!(csv.contains("\"'=HYPERLINK(\"\"x\"\"),"), "{csv}");

    let (_, text) = audit(&["query", "--quadrant", "B"], dir.path());
    assert!(
        !text.contains('\u{1b}') && !text.contains('\u{202e}'),
        "{text}"
    );
}
