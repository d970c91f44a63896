//! `quadgate audit export`: a part of the log in other hands, which verifies by itself or names what was done to it.

use super::audit::{draft, log_of};
use crate::cli::{Run, quadgate};
use quadgate::audit::{AuditLog, Manifest, Options};
use quadgate::domain::Quadrant;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A log of twelve entries in several files.
fn log(dir: &Path) {
    let options = Options {
        max_bytes: 1_500,
        ..Options::default()
    };
    log_of(dir, 12, options);
}

fn export(log: &Path, out: &Path, more: &[&str]) -> Run {
    let (log, out) = (log.to_str().unwrap(), out.to_str().unwrap());
    let mut words = vec!["audit", "export", out, "--log", log];
    words.extend(more);
    quadgate(&words)
}

fn verify(export: &Path) -> Run {
    quadgate(&["audit", "verify", export.to_str().unwrap()])
}

fn names(dir: &Path) -> Vec<String> {
    let listed = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = listed
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_range_verifies_by_itself_as_directory_and_as_file() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("bot-state");
    log(&source);
    for name in ["part", "part.jsonl"] {
        let out = dir.path().join(name);
        let run = export(&source, &out, &["--from", "4", "--to", "9"]);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.out.starts_with("6 entries are in"), "{}", run.out);
        let manifest = Manifest::of(&out).unwrap().expect("a manifest");
        assert_eq!((manifest.first.seq, manifest.last.seq), (4, 9));
        assert_eq!(manifest.before.as_ref().map(|before| before.seq), Some(3));
        assert_eq!(manifest.entries, 6);
        // Anywhere: what it came from is not needed.
        let elsewhere = tempfile::tempdir().unwrap();
        for made in names(dir.path())
            .iter()
            .filter(|made| made.starts_with(name))
        {
            copy(&dir.path().join(made), &elsewhere.path().join(made));
        }
        let run = verify(&elsewhere.path().join(name));
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(
            run.out.starts_with("intact: 6 entries, the last is 9:"),
            "{}",
            run.out
        );
        assert!(run.out.contains("from entry 4 on"), "{}", run.out);
        let shown = elsewhere.path().join(name);
        let run = quadgate(&["audit", "query", "--log", shown.to_str().unwrap()]);
        assert_eq!(run.out.lines().count(), 6, "{}", run.err);
    }
    let made = names(dir.path());
    assert_eq!(
        made,
        [
            "bot-state",
            "part",
            "part.jsonl",
            "part.jsonl.manifest.json"
        ]
    );
    assert_eq!(
        names(&dir.path().join("part")),
        ["classifier_audit.000001.jsonl", "manifest.json"]
    );

    // All of it, and an export of an export.
    let all = dir.path().join("all");
    let run = export(&source, &all, &["--json"]);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(
        (&document["entries"], &document["before"]),
        (&12.into(), &Value::Null)
    );
    let again = dir.path().join("again");
    assert_eq!(export(&all, &again, &["--from", "12"]).code, 0);
    assert_eq!(verify(&again).code, 0);
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for name in names(from) {
            copy(&from.join(&name), &to.join(&name));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

#[test]
fn what_is_done_to_an_export_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("bot-state");
    log(&source);
    let out = dir.path().join("part.jsonl");
    assert_eq!(export(&source, &out, &["--from", "4", "--to", "9"]).code, 0);
    let text = fs::read_to_string(&out).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let whole = fs::read_to_string(source.join("classifier_audit.jsonl")).unwrap();
    let later = fs::read_dir(&source)
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .chain([whole])
        .flat_map(|text| {
            text.lines()
                .map(|line| format!("{line}\n"))
                .collect::<Vec<_>>()
        })
        .find(|line| line.starts_with("{\"seq\":10,"))
        .unwrap();
    let cases = [
        (
            text.replace("because d-5", "because d-6"),
            "entry 5 was edited",
        ),
        (lines[1..].concat(), "entry 4 is missing"),
        (lines[..5].concat(), "lines were cut off the end"),
        (
            [&lines[..2], &lines[3..]].concat().concat(),
            "entry 6 is missing",
        ),
        (
            [lines[0], lines[2], lines[1]].concat(),
            "entry 5 is missing",
        ),
        (
            format!("{text}{later}"),
            "entry 10 follows, but the export ends with entry 9",
        ),
    ];
    for (changed, said) in cases {
        fs::write(&out, changed).unwrap();
        let run = verify(&out);
        assert_eq!(run.code, 1, "{said}: {}", run.out);
        assert!(run.err.contains(said), "{said}: {}", run.err);
    }
    fs::write(&out, &text).unwrap();
    assert_eq!(verify(&out).code, 0);

    // A manifest that names files elsewhere is not followed.
    let manifest = PathBuf::from(format!("{}.manifest.json", out.display()));
    let kept = fs::read_to_string(&manifest).unwrap();
    fs::write(
        &manifest,
        kept.replace("\"part.jsonl\"", "\"../part.jsonl\""),
    )
    .unwrap();
    let run = verify(&out);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("no plain name"), "{}", run.err);
}

#[test]
fn nothing_is_exported_from_a_broken_log_or_over_something() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("bot-state");
    log(&source);
    let out = dir.path().join("part");
    for empty in [
        &["--from", "13"][..],
        &["--since", "2027-01-01"],
        &["--to", "0"],
    ] {
        let run = export(&source, &out, empty);
        assert_eq!(run.code, 2, "{empty:?}");
        assert!(run.err.contains("no entry in that range"), "{}", run.err);
    }
    fs::write(&out, "mine").unwrap();
    let run = export(&source, &out, &[]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("there already"), "{}", run.err);
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
    fs::remove_file(&out).unwrap();

    // The fault lies behind the range: the export would not be worth its manifest all the same.
    let file = source.join("classifier_audit.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("because d-12", "because d-99")).unwrap();
    let run = export(&source, &out, &["--to", "3"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("nothing is exported"), "{}", run.err);
    assert_eq!(names(dir.path()), ["bot-state"], "nothing is left behind");
}

#[test]
fn a_range_by_time_is_one_run_of_entries() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("bot-state");
    let (mut log, _) = AuditLog::open(&source, Options::default()).unwrap();
    for (number, day) in (1..).zip([1, 2, 3, 2, 3, 4]) {
        let mut entry = draft(&format!("d-{number}"), number, Quadrant::A);
        entry.ts = format!("2026-05-{day:02}T00:00:00Z").parse().unwrap();
        log.append(&entry).unwrap();
    }
    let out = dir.path().join("part");
    let run = export(
        &source,
        &out,
        &["--since", "2026-05-02", "--until", "2026-05-04"],
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let manifest = Manifest::of(&out).unwrap().unwrap();
    assert_eq!((manifest.first.seq, manifest.last.seq), (2, 5));
    assert_eq!(verify(&out).code, 0);
}
