//! Places and walks over a log of several files, with short, long and unfinished lines.

use super::*;
use std::fmt::Write as _;
use std::io::Write as _;

/// A log of `files` files with ten entries each; the fifth of each is longer than a block.
fn log(files: u64) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("folder");
    for file in 0..files {
        let name = if file + 1 == files {
            "classifier_audit.jsonl".to_owned()
        } else {
            format!("classifier_audit.{:06}.jsonl", file + 1)
        };
        let mut text = String::new();
        for place in 1..=10 {
            let seq = file * 10 + place;
            let filler = if place == 5 { 200_000 } else { 20 };
            let at = Timestamp::from_millis(i64::try_from(seq).expect("small") * 1_000);
            writeln!(
                text,
                "{{\"seq\":{seq},\"ts\":\"{at}\",\"x\":\"{}\"}}",
                "x".repeat(filler)
            )
            .expect("a string");
        }
        std::fs::write(dir.path().join(name), text).expect("written");
    }
    dir
}

fn back(dir: &Path, place: Place) -> Vec<u64> {
    let mut walk = Back::from(dir, place).expect("opens");
    let mut seen = Vec::new();
    while let Some(line) = walk.next_line().expect("reads") {
        seen.push(seq_of(line).expect("an entry"));
    }
    seen
}

fn onward(dir: &Path, place: Place) -> Vec<u64> {
    let mut walk = Onward::from(dir, place).expect("opens");
    let mut seen = Vec::new();
    while let Some(line) = walk.next_line().expect("reads") {
        seen.push(seq_of(line).expect("an entry"));
    }
    seen
}

#[test]
fn every_place_parts_the_log_in_two() {
    let dir = log(3);
    for seq in 1..=31 {
        let place = Place::Before(seq);
        let newer: Vec<u64> = (seq..=30).collect();
        let older: Vec<u64> = (1..seq).rev().collect();
        assert_eq!(onward(dir.path(), place), newer, "from {seq} on");
        assert_eq!(back(dir.path(), place), older, "before {seq}");
        let moment = Place::At(Timestamp::from_millis(
            i64::try_from(seq).expect("small") * 1_000,
        ));
        assert_eq!(onward(dir.path(), moment), newer, "from second {seq} on");
    }
    assert_eq!(back(dir.path(), Place::End).len(), 30);
    assert_eq!(onward(dir.path(), Place::Start).len(), 30);
    assert_eq!(back(dir.path(), Place::Start), Vec::<u64>::new());
}

#[test]
fn one_entry_is_found_and_one_that_is_not_there_is_not() {
    let dir = log(2);
    let line = entry_at(dir.path(), 15).expect("reads").expect("there");
    assert_eq!((seq_of(&line), line.len() > 200_000), (Some(15), true));
    assert_eq!(entry_at(dir.path(), 21).expect("reads"), None);
    assert_eq!(entry_at(dir.path(), 0).expect("reads"), None);
    let empty = tempfile::tempdir().expect("folder");
    assert_eq!(entry_at(empty.path(), 1).expect("reads"), None);
    assert_eq!(back(empty.path(), Place::End), Vec::<u64>::new());
}

#[test]
fn a_line_that_is_being_written_is_left_out() {
    let dir = log(1);
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(dir.path().join("classifier_audit.jsonl"))
        .expect("opens");
    file.write_all(b"{\"seq\":11,\"ts\":\"2026-01-0")
        .expect("writes");
    let all: Vec<u64> = (1..=10).collect();
    assert_eq!(onward(dir.path(), Place::Start), all);
    assert_eq!(
        back(dir.path(), Place::End),
        all.iter().rev().copied().collect::<Vec<_>>()
    );
    assert_eq!(entry_at(dir.path(), 11).expect("reads"), None);
}
