//! The log against crashes, other hands and growth.

use quadgate::audit::*;
use quadgate::domain::*;
use std::fs;
use std::path::{Path, PathBuf};

pub fn draft(decision: &str, number: u64, quadrant: Quadrant) -> EntryDraft {
    EntryDraft {
        ts: "2026-05-25T12:34:56Z".parse().unwrap(),
        decision: decision.into(),
        about: Some(About {
            repo_id: RepoId(7),
            repo: "octo-org/widgets".parse().unwrap(),
            number: PullNumber(number),
            head_sha: "a".repeat(40).parse().unwrap(),
        }),
        body: Body::Classification {
            rules_fired: vec![],
            quadrant,
            reasoning: format!("because {decision}"),
            base_ref: "main".into(),
            author: Some("octocat".into()),
            evidence: None,
        },
        policy: "sha256:00".into(),
        delivery: Some("00000000-0000-4000-8000-00000000000a".parse().unwrap()),
        version: "0.1.0".into(),
    }
}

pub fn open(dir: &Path) -> (AuditLog, Vec<Warning>) {
    AuditLog::open(dir, Options::default()).unwrap()
}

/// A log of so many entries.
pub fn log_of(dir: &Path, entries: u64, options: Options) -> Witness {
    let (mut log, warnings) = AuditLog::open(dir, options).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    for at in 1..=entries {
        let witness = log
            .append(&draft(&format!("d-{at}"), at, Quadrant::B))
            .unwrap();
        assert_eq!(witness.seq, at);
    }
    log.last().cloned().unwrap()
}

fn check(dir: &Path, tail: Option<&Witness>) -> Result<Intact, VerifyError> {
    verify(&log_files(dir).unwrap(), tail, |_| {})
}

fn finding(dir: &Path, tail: Option<&Witness>) -> Finding {
    match check(dir, tail) {
        Err(VerifyError::Broken(finding)) => finding,
        other => panic!("{other:?}"),
    }
}

fn active(dir: &Path) -> PathBuf {
    dir.join(ACTIVE_FILE)
}

#[test]
fn appended_entries_are_lines_and_verify() {
    let dir = tempfile::tempdir().unwrap();
    let last = log_of(dir.path(), 3, Options::default());
    let text = fs::read_to_string(active(dir.path())).unwrap();
    assert!(text.ends_with('\n') && text.lines().count() == 3);
    let mut seen = 0;
    let intact = verify(&log_files(dir.path()).unwrap(), Some(&last), |n| seen = n).unwrap();
    assert_eq!((intact.entries, seen), (3, 3));
    assert_eq!(intact.last, Some(last));
}

#[test]
fn a_crash_at_any_byte_of_the_last_line_keeps_the_chain_and_the_numbers() {
    let dir = tempfile::tempdir().unwrap();
    log_of(dir.path(), 3, Options::default());
    let whole = fs::read(active(dir.path())).unwrap();
    let start = whole[..whole.len() - 1]
        .iter()
        .rposition(|b| *b == b'\n')
        .unwrap()
        + 1;
    for end in start..=whole.len() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(active(dir.path()), &whole[..end]).unwrap();
        let (mut log, warnings) = open(dir.path());
        let torn = dir.path().join(format!("{ACTIVE_FILE}.torn"));
        let kept = end + 1 >= whole.len();
        assert_eq!(log.last().unwrap().seq, if kept { 3 } else { 2 }, "{end}");
        assert_eq!(log.find_decision("d-3").is_some(), kept);
        assert_eq!(torn.exists(), !kept && end > start);
        assert_eq!(warnings.is_empty(), end == start || end == whole.len());
        if torn.exists() {
            let aside = fs::read(torn).unwrap();
            assert_eq!(&aside[..aside.len() - 1], &whole[start..end]);
        }
        let next = log.append(&draft("d-next", 9, Quadrant::D)).unwrap();
        assert_eq!(next.seq, if kept { 4 } else { 3 });
        assert_eq!(check(dir.path(), Some(&next)).unwrap().entries, next.seq);
    }
}

#[test]
fn a_line_of_zeros_or_rubbish_is_moved_aside() {
    for rubbish in [
        &b"\0\0\0\0\0\0"[..],
        b"\0\0\0\n",
        b"{\"seq\":4}\n",
        b"\xff\xfe\n{\n",
    ] {
        let dir = tempfile::tempdir().unwrap();
        log_of(dir.path(), 2, Options::default());
        let mut bytes = fs::read(active(dir.path())).unwrap();
        bytes.extend_from_slice(rubbish);
        fs::write(active(dir.path()), &bytes).unwrap();
        let (mut log, warnings) = open(dir.path());
        assert!(matches!(warnings[..], [Warning::TornMovedAside { .. }]));
        assert_eq!(log.append(&draft("d-3", 3, Quadrant::A)).unwrap().seq, 3);
        assert!(check(dir.path(), None).is_ok());
    }
}

#[test]
fn an_edited_last_entry_is_kept_and_told() {
    let dir = tempfile::tempdir().unwrap();
    log_of(dir.path(), 2, Options::default());
    let text = fs::read_to_string(active(dir.path())).unwrap();
    fs::write(
        active(dir.path()),
        text.replace("because d-2", "because d-x"),
    )
    .unwrap();
    let (mut log, warnings) = open(dir.path());
    assert!(matches!(
        warnings[..],
        [Warning::LastEntryUnsound { seq: 2, .. }]
    ));
    log.append(&draft("d-3", 3, Quadrant::A)).unwrap();
    assert_eq!(finding(dir.path(), None).fault, Fault::Edited(2));
}

#[test]
fn decisions_are_found_again_after_a_restart_and_over_files() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        max_bytes: 1_000,
        index_from: 1,
        ..Options::default()
    };
    let last = log_of(dir.path(), 12, options);
    assert!(log_files(dir.path()).unwrap().len() > 3);
    let (log, warnings) = AuditLog::open(dir.path(), options).unwrap();
    assert!(warnings.is_empty());
    assert_eq!(log.last(), Some(&last));
    assert_eq!(log.find_decision("d-12"), Some(&last));
    assert_eq!(log.find_decision("d-1").unwrap().seq, 1);
    assert_eq!(log.find_decision("d-99"), None);
}

#[test]
fn rotation_keeps_the_chain() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        max_bytes: 1_500,
        ..Options::default()
    };
    log_of(dir.path(), 7, options);
    // A restart right after a rotation finds an empty file and goes on.
    let files = log_files(dir.path()).unwrap();
    assert!(
        files[0].path().ends_with("classifier_audit.000001.jsonl"),
        "{files:?}"
    );
    let number = files.len();
    fs::rename(
        active(dir.path()),
        dir.path()
            .join(format!("classifier_audit.{number:06}.jsonl")),
    )
    .unwrap();
    let (mut log, _) = AuditLog::open(dir.path(), options).unwrap();
    let next = log.append(&draft("d-8", 8, Quadrant::C)).unwrap();
    assert_eq!(next.seq, 8);
    assert_eq!(check(dir.path(), Some(&next)).unwrap().entries, 8);
    for file in log_files(dir.path()).unwrap() {
        assert!(file.bytes() <= 1_500);
    }
}

#[test]
fn a_file_that_is_put_aside_while_the_log_is_read_is_not_missed() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        max_bytes: 1_500,
        ..Options::default()
    };
    let (mut log, _) = AuditLog::open(dir.path(), options).unwrap();
    let mut append = |at: u64| {
        log.append(&draft(&format!("d-{at}"), at, Quadrant::B))
            .unwrap()
    };
    let mut last = append(1);
    let listed = log_files(dir.path()).unwrap();
    for at in 2..=9 {
        last = append(at);
    }
    // The file that was written to when it was listed has a number now; what it held then is read all the same.
    let first = verify(&listed, None, |_| {}).unwrap();
    assert!((1..9).contains(&first.entries), "{first:?}");
    let found = Records::new(listed).map(|record| record.unwrap().seq);
    assert!(found.eq(1..=first.entries));
    assert_eq!(check(dir.path(), Some(&last)).unwrap().entries, 9);
}

#[test]
fn newest_first_is_the_same_backwards_through_all_files() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        max_bytes: 1_500,
        ..Options::default()
    };
    log_of(dir.path(), 9, options);
    let files = || log_files(dir.path()).unwrap();
    let forwards: Vec<_> = Records::new(files()).map(Result::unwrap).collect();
    let mut backwards: Vec<_> = Records::newest_first(files()).map(Result::unwrap).collect();
    backwards.reverse();
    assert_eq!(forwards, backwards);
    assert_eq!(forwards.len(), 9);
    let filter = Filter {
        text: Some("BECAUSE D-7".into()),
        ..Filter::default()
    };
    let found = Records::newest_first(files()).matching(filter);
    let found: Vec<u64> = found.map(|record| record.unwrap().seq).collect();
    assert_eq!(found, [7]);

    // A line that is no entry is named where it begins; one without an end is being written.
    let file = active(dir.path());
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}no entry\n{{\"seq\":")).unwrap();
    let errors: Vec<String> = Records::newest_first(files())
        .filter_map(|record| record.err().map(|error| error.to_string()))
        .collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    let place = format!(
        "classifier_audit.jsonl:byte {}: not an audit entry",
        text.len()
    );
    assert!(errors[0].contains(&place), "{errors:?}");
}

#[test]
fn one_writer_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path());
    let error = AuditLog::open(dir.path(), Options::default()).unwrap_err();
    assert!(matches!(error, AuditError::Locked { .. }), "{error}");
    drop(log);
    open(dir.path());
}

#[test]
fn an_unusable_directory_is_named_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bot-state");
    fs::write(&file, "not a directory").unwrap();
    let error = AuditLog::open(&file, Options::default()).unwrap_err();
    assert!(error.to_string().contains("bot-state"), "{error}");
}

#[test]
fn a_missing_directory_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("a/bot-state");
    let (mut log, _) = open(&deep);
    log.append(&draft("d", 1, Quadrant::A)).unwrap();
    assert!(active(&deep).is_file());
}

/// All logs that differ from a good one by one act of another hand, with the line that is to be named.
#[test]
fn every_edit_deletion_swap_and_cut_is_found_at_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let last = log_of(dir.path(), 5, Options::default());
    let text = fs::read_to_string(active(dir.path())).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let found = |lines: &[&str]| {
        let changed = tempfile::tempdir().unwrap();
        let text = lines.join("\n") + "\n";
        fs::write(active(changed.path()), text).unwrap();
        finding(changed.path(), Some(&last))
    };
    for at in 0..lines.len() {
        let number = u64::try_from(at).unwrap() + 1;
        let edited = lines[at].replace("\"quadrant\":\"B\"", "\"quadrant\":\"A\"");
        let mut changed = lines.clone();
        changed[at] = &edited;
        assert_eq!(
            (found(&changed).line, found(&changed).fault),
            (number, Fault::Edited(number))
        );

        let mut changed = lines.clone();
        changed.remove(at);
        let fault = found(&changed);
        assert_eq!(fault.line, number, "deleted {number}");

        let mut changed = lines.clone();
        changed.insert(at, lines[at]);
        assert_eq!(found(&changed).line, number + 1, "repeated {number}");

        for other in at + 1..lines.len() {
            let mut changed = lines.clone();
            changed.swap(at, other);
            assert_eq!(found(&changed).line, number, "swapped {at} {other}");
        }
        if at > 0 {
            let fault = found(&lines[..at]);
            assert!(
                matches!(fault.fault, Fault::Truncated { known: 5, .. }),
                "{fault}"
            );
            assert_eq!(fault.line, number);
        }
    }
}

#[test]
fn every_changed_byte_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let last = log_of(dir.path(), 3, Options::default());
    let good = fs::read(active(dir.path())).unwrap();
    let changed = tempfile::tempdir().unwrap();
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        fs::write(active(changed.path()), &bytes).unwrap();
        assert!(check(changed.path(), Some(&last)).is_err(), "byte {at}");
    }
}

#[test]
fn a_rewritten_chain_is_found_by_its_witness() {
    let dir = tempfile::tempdir().unwrap();
    let last = log_of(dir.path(), 3, Options::default());
    let other = tempfile::tempdir().unwrap();
    let (mut log, _) = open(other.path());
    for at in 1..=4 {
        log.append(&draft(&format!("forged-{at}"), at, Quadrant::A))
            .unwrap();
    }
    assert!(
        check(other.path(), None).is_ok(),
        "a chain by itself cannot tell"
    );
    assert_eq!(
        finding(other.path(), Some(&last)).fault,
        Fault::Rewritten(3)
    );
}

#[test]
fn a_missing_file_in_the_middle_is_a_gap() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        max_bytes: 1_000,
        ..Options::default()
    };
    log_of(dir.path(), 9, options);
    fs::remove_file(dir.path().join("classifier_audit.000002.jsonl")).unwrap();
    assert!(matches!(finding(dir.path(), None).fault, Fault::Gap { .. }));
}

/// One of every kind; a new kind that is missing here does not compile into `kind_is_here`.
fn one_of_each() -> Vec<Body> {
    let sha: Sha = "b".repeat(40).parse().unwrap();
    let inbox: RepoName = "octo-org/inbox".parse().unwrap();
    let at: Timestamp = "2026-05-25T12:00:00Z".parse().unwrap();
    vec![
        draft("d", 1, Quadrant::B).body,
        Body::OwnerAnswer {
            answer: Choice::ApproveA,
            actor: "octo-owner".into(),
            actor_id: Some(AccountId(1)),
            signal: "comment/1".into(),
            answered_at: at,
            nonce: None,
            quadrant: Quadrant::D,
        },
        Body::IssueOpened {
            issue_kind: IssueKind::PendingOwner,
            inbox,
            issue_key: "1/2/d".into(),
            nonce: Some("n".into()),
        },
        Body::IssueClosed {
            issue_kind: IssueKind::AuditB,
            issue: "octo-org/inbox#1".into(),
            issue_key: "1/2/b".into(),
            because: Closing::Passive,
        },
        Body::Superseded {
            issue_kind: IssueKind::AuditC,
            issue: "octo-org/inbox#1".into(),
            issue_key: "1/2/c".into(),
            old_head_sha: sha.clone(),
            quadrant: Quadrant::A,
        },
        Body::AnswerWithdrawn {
            answer: Choice::ApproveB,
            signal: "reaction/1".into(),
        },
        Body::MergeGroup {
            head_ref: "refs/heads/gh-readonly-queue/main/pr-1".into(),
            members: vec![PullNumber(1)],
            passes: false,
            because: None,
        },
        Body::InstallationRemoved {
            installation: InstallationId(1),
        },
        Body::Merged {
            merge_mode: "direct".into(),
            merge_method: None,
            base_ref: "main".into(),
            quadrant: Quadrant::A,
            warnings: Vec::new(),
        },
        Body::MergeRefused {
            refused_because: Vec::new(),
        },
        Body::Promoted {
            agent: "tool/model".into(),
            clock_started_at: at,
        },
        Body::Reverted {
            reverts: sha,
            failed_checks: Vec::new(),
        },
    ]
}

fn kind_is_here(body: &Body) {
    match body {
        Body::Classification { .. }
        | Body::OwnerAnswer { .. }
        | Body::IssueOpened { .. }
        | Body::IssueClosed { .. }
        | Body::Superseded { .. }
        | Body::AnswerWithdrawn { .. }
        | Body::MergeGroup { .. }
        | Body::InstallationRemoved { .. }
        | Body::Merged { .. }
        | Body::MergeRefused { .. }
        | Body::Promoted { .. }
        | Body::Reverted { .. } => {}
    }
}

#[test]
fn a_draft_of_every_kind_is_read_back_as_it_was() {
    let mut kinds = std::collections::BTreeSet::new();
    for body in one_of_each() {
        kind_is_here(&body);
        kinds.insert(body.kind());
        let mut draft = draft("d", 1, Quadrant::A);
        draft.body = body;
        let stored = serde_json::to_value(&draft).unwrap();
        let read: EntryDraft = serde_json::from_value(stored.clone()).unwrap();
        assert_eq!(read, draft);

        let mut other = stored;
        other["kind"] = "another".into();
        let error = serde_json::from_value::<EntryDraft>(other).unwrap_err();
        assert!(error.to_string().contains("another"), "{error}");
    }
    assert_eq!(kinds.len(), 12);
}
