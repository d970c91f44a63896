//! Comments and sequences of signals with the right reading, as data an owner could read.

use crate::cli::{quadgate_in, write_files};
use quadgate::cli::Io;
use quadgate::cli::inbox::{InboxArgs, read_from};
use quadgate::domain::*;
use quadgate::inbox::*;
use quadgate::policy::Owners;
use serde::Deserialize;
use std::time::{Duration, Instant};

#[derive(Deserialize)]
struct CommentFile {
    owners: Vec<String>,
    cases: Vec<CommentCase>,
}

#[derive(Deserialize)]
struct CommentCase {
    id: String,
    comment: serde_json::Value,
    expect: String,
}

#[derive(clap::Parser)]
struct Cli {
    #[command(flatten)]
    args: InboxArgs,
}

/// Through the command, so that the document and the words of the answer are tested too.
fn read_by_command(comment: &serde_json::Value, owners: &Owners) -> serde_json::Value {
    let cli = <Cli as clap::Parser>::parse_from(["inbox", "read", "--json"]);
    let text = comment.to_string();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut io = Io {
        out: &mut out,
        err: &mut err,
        colour: false,
        progress: false,
    };
    let exit = read_from(&cli.args, owners, &mut text.as_bytes(), &mut io);
    assert_eq!(exit.code(), 0, "{}", String::from_utf8_lossy(&err));
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn every_comment_is_read_as_its_case_says() {
    let file: CommentFile = serde_json::from_str(include_str!("data/inbox/comments.json")).unwrap();
    assert!(file.cases.len() >= 120);
    let owners = Owners {
        logins: file.owners,
        pinned: vec![],
    };
    let mut wrong = Vec::new();
    for case in &file.cases {
        let said = read_by_command(&case.comment, &owners);
        if said["reading"] != *case.expect {
            wrong.push(format!("{}: {said}, not {}", case.id, case.expect));
        }
        assert!(said["why"].as_str().is_some_and(|why| !why.is_empty()));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The same through the program, as an owner would ask it.
#[test]
fn the_program_reads_every_comment_too() {
    let text = include_str!("data/inbox/comments.json");
    let file: CommentFile = serde_json::from_str(text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let owner = format!("github_login: {}\n", file.owners[0]);
    let projects = "governance_repo: octo-org/bot\nsupervised_repos: [octo-org/app]\n";
    write_files(
        folder.path(),
        &[
            ("config/owner.yml", &owner),
            ("config/projects.yml", projects),
            ("config/env.yml", "bot_app_slug: quadgate\n"),
        ],
    );
    for case in &file.cases {
        let arguments = ["inbox", "read", "--json", "--config", "config"];
        let run = quadgate_in(folder.path(), &arguments, &case.comment.to_string());
        assert_eq!(run.code, 0, "{}: {}", case.id, run.err);
        let said: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(said["reading"], *case.expect, "{}: {said}", case.id);
    }
}

#[test]
fn a_document_that_is_none_is_refused() {
    let cli = <Cli as clap::Parser>::parse_from(["inbox", "read"]);
    let owners = Owners {
        logins: vec!["o".into()],
        pinned: vec![],
    };
    for bad in [
        "",
        "[]",
        r#"{"body":"x","author":"o","on":"elsewhere"}"#,
        r#"{"body":"x","author":"o","on":"pending_issue","x":1}"#,
    ] {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut io = Io {
            out: &mut out,
            err: &mut err,
            colour: false,
            progress: false,
        };
        let exit = read_from(&cli.args, &owners, &mut bad.as_bytes(), &mut io);
        assert_eq!(exit.code(), 2);
        assert!(out.is_empty() && !err.is_empty());
    }
}

fn owner() -> Speaker {
    Speaker {
        login: "octo-owner".into(),
        id: Some(AccountId(1001)),
        kind: AccountType::User,
    }
}

fn owners() -> Owners {
    Owners {
        logins: vec!["octo-owner".into(), "octo-second".into()],
        pinned: vec![
            ("octo-owner".into(), AccountId(1001)),
            ("octo-second".into(), AccountId(1002)),
        ],
    }
}

fn comment(body: &str) -> Comment {
    Comment {
        body: Some(body.into()),
        author: Some(owner()),
        edit: Edit::Never,
        on: Place::PendingIssue,
    }
}

#[test]
fn a_command_at_the_end_of_the_longest_comment_is_read_and_fast() {
    for filler in [
        "x".repeat(65_000),
        "x\n".repeat(32_000),
        "> quote\n".repeat(8_000),
        "[a](b) ".repeat(9_000),
    ] {
        let body = format!("{filler}\n\n/approve B");
        let start = Instant::now();
        let read = read(&comment(&body), &owners());
        assert_eq!(read.reading, Reading::ApproveB);
        assert!(start.elapsed() < Duration::from_secs(5), "not quadratic");
    }
}

#[derive(Deserialize)]
struct SequenceFile {
    head: Sha,
    cases: Vec<Sequence>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sequence {
    id: String,
    signals: Vec<Given>,
    expect: String,
    #[serde(rename = "why")]
    _why: String,
    #[serde(default)]
    head: Option<Sha>,
    #[serde(default)]
    seal: Option<String>,
    #[serde(default)]
    clarify: Vec<u64>,
    #[serde(default)]
    impostors: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Given {
    Comment {
        comment: u64,
        at: Timestamp,
        body: String,
        by: Option<String>,
        updated: Option<Timestamp>,
        edited_by: Option<String>,
    },
    Reaction {
        reaction: u64,
        at: Timestamp,
        content: String,
        by: Option<String>,
    },
    Button {
        button: String,
        at: Timestamp,
        identifier: String,
        by: Option<String>,
        head: Sha,
    },
}

fn speaker(name: &str) -> Speaker {
    let (login, id) = match name {
        "octo-owner" => (name, 1001),
        "octo-second" => (name, 1002),
        "impostor:octo-owner" => ("octo-owner", 6666),
        "renamed:octo-owner" => ("octo-renamed", 1001),
        other => (other, 50_000),
    };
    Speaker {
        login: login.into(),
        id: Some(AccountId(id)),
        kind: if name.ends_with("[bot]") {
            AccountType::Bot
        } else {
            AccountType::User
        },
    }
}

fn signal(given: &Given) -> Signal {
    let who = |by: &Option<String>| by.as_deref().map(speaker);
    match given {
        Given::Comment {
            comment,
            at,
            body,
            by,
            updated,
            edited_by,
        } => Signal::Comment {
            id: CommentId(*comment),
            comment: Comment {
                body: Some(body.clone()),
                author: who(by),
                edit: edited_by
                    .as_deref()
                    .map_or(Edit::Never, |by| Edit::By(speaker(by))),
                on: Place::PendingIssue,
            },
            created_at: *at,
            updated_at: updated.unwrap_or(*at),
        },
        Given::Reaction {
            reaction,
            at,
            content,
            by,
        } => Signal::Reaction {
            id: *reaction,
            reaction: Reaction::from_content(content),
            by: who(by),
            at: *at,
        },
        Given::Button {
            button,
            at,
            identifier,
            by,
            head,
        } => Signal::Button {
            delivery: button.clone(),
            identifier: identifier.clone(),
            by: who(by),
            at: *at,
            head: head.clone(),
        },
    }
}

fn sealed(head: &Sha) -> Result<Sealed, MarkerError> {
    let repo = RepoRef {
        id: RepoId(7),
        name: "octo-org/widgets".parse().unwrap(),
        installation: InstallationId(1),
    };
    let key = ReceiptKey::new(&[1; 32]).unwrap();
    let stamp = Stamp {
        repo: &repo,
        number: PullNumber(12),
        head,
        nonce: "abc",
    };
    verify(
        &seal("text", stamp, &key),
        &key,
        repo.id,
        PullNumber(12),
        Some("abc"),
    )
}

#[test]
fn every_sequence_resolves_as_its_case_says() {
    let file: SequenceFile =
        serde_json::from_str(include_str!("data/inbox/sequences.json")).unwrap();
    let good = sealed(&file.head);
    let broken = Err(MarkerError::Changed);
    let mut wrong = Vec::new();
    for case in &file.cases {
        let signals: Vec<_> = case.signals.iter().map(signal).collect();
        let ballot = match case.seal.as_deref() {
            None => Ballot::Issue(&good),
            Some("broken") => Ballot::Issue(&broken),
            Some("none") => Ballot::CheckRunOnly,
            Some(other) => panic!("{other}"),
        };
        let head = case.head.as_ref().unwrap_or(&file.head);
        let resolution = resolve(&signals, &owners(), ballot, head);
        let word = match &resolution.outcome {
            Resolved::Nothing => "nothing",
            Resolved::Answer(answer) => answer.choice().as_str(),
            Resolved::Refused { why, .. } => match why {
                Unhonoured::Integrity(_) => "integrity",
                Unhonoured::Stale { .. } => "stale",
                Unhonoured::NoBallot => "no_ballot",
            },
        };
        let clarify: Vec<u64> = resolution.clarify.iter().map(|c| c.comment.0).collect();
        if word != case.expect || clarify != case.clarify || resolution.impostors != case.impostors
        {
            wrong.push(format!("{}: {resolution:?}, not {}", case.id, case.expect));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_same_signal_has_the_same_key_whatever_is_edited_around_it() {
    let file_head: Sha = "a".repeat(40).parse().unwrap();
    let good = sealed(&file_head);
    let key = |body: &str, updated: i64| {
        let signal = Signal::Comment {
            id: CommentId(5_000_000_001),
            comment: Comment {
                edit: Edit::By(owner()),
                ..comment(body)
            },
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(updated),
        };
        match resolve(&[signal], &owners(), Ballot::Issue(&good), &file_head).outcome {
            Resolved::Answer(answer) => answer.key(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        key("/approve B\n\n(fixd a typo)", 1),
        "comment/5000000001/approve_b"
    );
    assert_eq!(
        key("/approve B\n\n(fixed a typo)", 2),
        "comment/5000000001/approve_b"
    );
    assert_ne!(key("/approve A", 3), key("/approve B", 4));
}
