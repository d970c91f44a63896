//! `quadgate audit` as people use it.

use super::audit::{draft, log_of, open};
use crate::cli::quadgate;
use crate::decisions::config;
use crate::journey::spec_of;
use crate::world::{REPO, World};
use clap::Parser;
use quadgate::audit::{Body, EntryDraft, Options};
use quadgate::cli::Io;
use quadgate::cli::audit::{AuditArgs, run};
use quadgate::domain::{AccountId, Choice, EvidenceEntry, Known, Quadrant, Timestamp};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

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
    let mut io = Io {
        out: &mut out,
        err: &mut err,
        colour: false,
        progress: false,
    };
    let code = run(&cli.args, &mut io).code();
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
    assert_eq!(count(&["--text", "Because D-"]), 2);
    assert_eq!(count(&["--text", "because", "--quadrant", "D"]), 1);
    assert_eq!(count(&["--limit", "3"]), 3);
    assert_eq!(count(&["--limit", "0"]), 0);
    let (_, newest) = audit(&["query", "--newest-first", "--limit", "2"], dir.path());
    let numbers: Vec<_> = newest.lines().map(|line| &line[..2]).collect();
    assert_eq!(numbers, ["4 ", "3 "]);

    let (_, json) = audit(&["query", "--format", "json"], dir.path());
    let file = fs::read_to_string(dir.path().join("classifier_audit.jsonl")).unwrap();
    assert_eq!(json, file, "JSON is the log's own lines");
    assert_eq!(audit(&["query", "--json"], dir.path()).1, file);

    let (_, csv) = audit(&["query", "--format", "csv", "--quadrant", "B"], dir.path());
    assert!(csv.starts_with("seq,ts,kind,pr,"));
    assert!(csv.contains("\"'=HYPERLINK(\"\"x\"\"),"), "{csv}");
    let mut table = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<_> = table.records().map(|row| row.unwrap()).collect();
    assert_eq!((rows.len(), &rows[0][0], &rows[0][5]), (1, "4", "B"));

    let (_, text) = audit(&["query", "--quadrant", "B"], dir.path());
    assert!(
        !text.contains('\u{1b}') && !text.contains('\u{202e}'),
        "{text}"
    );
}

#[test]
fn a_reader_that_goes_away_ends_a_query_in_peace() {
    let dir = tempfile::tempdir().unwrap();
    small_log(dir.path());
    let file = dir.path().join("classifier_audit.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    // Far more than a pipe holds; `query` reads entries, not the chain.
    fs::write(&file, text.repeat(2_000)).unwrap();
    for format in ["text", "json", "csv"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_quadgate"))
            .args(["audit", "query", "--format", format, "--log"])
            .arg(dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut first).unwrap();
        assert!(!first.is_empty(), "{format}");
        drop(out);
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{format}");
        assert_eq!(String::from_utf8(ended.stderr).unwrap(), "", "{format}");
    }
}

#[tokio::test]
async fn the_configured_log_is_compared_with_the_store() {
    let mut world = World::start().await;
    world.github.open_pull(REPO, &spec_of('D'));
    world.settle().await;
    let config = config(&world);
    let config = config.to_str().unwrap();
    let verify = |more: &[&str]| {
        let mut words = vec!["audit", "verify", "--config", config];
        words.extend(more);
        quadgate(&words)
    };
    let log = world.log();
    let last = log.last().unwrap();
    let run = verify(&[]);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{}", run.out);
    let told = format!(
        "the last entry that the store knows, {}, is there",
        last["seq"]
    );
    assert!(run.out.contains(&told), "{}", run.out);
    let document: Value = serde_json::from_str(&verify(&["--json"]).out).unwrap();
    assert_eq!(document["intact"], true);
    assert_eq!(document["store"]["tail"]["hash"], last["hash"]);
    assert_eq!(document["last"], document["store"]["tail"]);
    world.stop().await;

    // The log that is named is the configured one.
    let file = world.dir.path().join("bot-state/classifier_audit.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let cut: String = text.split_inclusive('\n').take(log.len() - 1).collect();
    fs::write(&file, cut).unwrap();
    for named in [&[][..], &[file.to_str().unwrap()]] {
        let run = verify(named);
        assert_eq!(run.code, 1, "{}", run.out);
        assert!(
            run.err.contains("lines were cut off the end"),
            "{}",
            run.err
        );
    }
    let run = verify(&["--json"]);
    assert_eq!(run.code, 1);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document["intact"], false);
    assert_eq!(document["finding"]["fault"], "truncated");
    assert_eq!(document["finding"]["line"], log.len());

    // Another log is not compared with this store.
    let other = tempfile::tempdir().unwrap();
    small_log(other.path());
    assert_eq!(verify(&[other.path().to_str().unwrap()]).code, 0);
    // Without a store that is said, and the chain is checked all the same.
    fs::write(&file, text).unwrap();
    fs::remove_dir_all(world.dir.path().join("data")).unwrap();
    let run = verify(&[]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("the store was not asked"), "{}", run.err);
}

#[tokio::test]
async fn the_files_of_the_log_are_as_large_as_configured() {
    let mut world = World::arranged().await;
    world.server_lines = "limits: {audit_file_bytes: 65536}\n".to_owned();
    world.serve().await.unwrap();
    for _ in 0..40 {
        world.github.open_pull(REPO, &spec_of('D'));
    }
    world.settle().await;
    let dir = world.dir.path().join("bot-state");
    let files = quadgate::audit::log_files(&dir).unwrap();
    assert!(files.len() > 1, "{files:?}");
    assert!(files.iter().all(|file| file.bytes() <= 65_536), "{files:?}");
    let dir = dir.to_str().unwrap();
    assert_eq!(quadgate(&["audit", "verify", dir]).code, 0);
    let kinds = ["query", "--kind", "classification", "--log", dir];
    let run = quadgate(&[&["audit"], &kinds[..]].concat());
    assert_eq!(run.out.lines().count(), 40);
}
