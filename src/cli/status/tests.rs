//! What counts as a finding, and how it is said.

use super::*;
use crate::domain::Subject;

fn status() -> Status {
    let now: Timestamp = "2026-05-25T12:00:00Z".parse().unwrap();
    let kept = json!({
        "codex/gpt-5": {"started_at": "2026-05-01T12:00:00Z", "last_rejection_at": "2026-05-01T12:00:00Z"},
        "newbot/m1": {"started_at": "2026-01-01T00:00:00Z", "promoted_at": "2026-03-02T00:00:00Z"},
    });
    Status {
        now,
        queue_depth: 0,
        oldest_waiting: Duration::ZERO,
        dead: Vec::new(),
        pending: Vec::new(),
        merged: Vec::new(),
        installations: Vec::new(),
        last_tick: Some("2026-05-25T11:59:30Z".parse().unwrap()),
        tick: Duration::from_mins(1),
        tail: None,
        on_disk: None,
        database: false,
        newest: Vec::new(),
        clocks: BurnIn::read(&kept, now).0,
        burn_in_days: 60,
    }
}

fn text_of(status: &Status, colour: bool) -> String {
    text::lines(status, Style::new(colour)).join("\n")
}

#[test]
fn nothing_to_look_after_is_no_finding() {
    assert!(findings(&status()).is_empty());
}

#[test]
fn each_trouble_is_a_finding() {
    let subject = Subject::Installation {
        installation: crate::domain::InstallationId(7),
    };
    let letter = DeadLetter {
        id: subject.key(),
        subject,
        reason: "GET pull: HTTP 502\u{1b}[31m".into(),
        attempts: 12,
        at: "2026-05-25T11:00:00Z".parse().unwrap(),
        deliveries: Vec::new(),
    };
    let cases = [
        (
            Status {
                dead: vec![letter],
                ..status()
            },
            "dead letters",
        ),
        (
            Status {
                oldest_waiting: Duration::from_mins(11),
                ..status()
            },
            "waiting for 11 minutes",
        ),
        (
            Status {
                last_tick: None,
                ..status()
            },
            "never ticked",
        ),
        (
            Status {
                last_tick: Some("2026-05-25T11:54:59Z".parse().unwrap()),
                ..status()
            },
            "no tick for 5 minutes",
        ),
        (
            Status {
                tail: Some(Witness {
                    seq: 3,
                    hash: "sha256:x".into(),
                }),
                on_disk: Some(Witness {
                    seq: 3,
                    hash: "sha256:x".into(),
                }),
                ..status()
            },
            "ends at entry 0",
        ),
    ];
    for (status, expected) in cases {
        let found = findings(&status);
        assert_eq!(found.len(), 1, "{expected}: {found:?}");
        assert!(found[0].contains(expected), "{found:?}");
        assert!(!text_of(&status, false).contains('\u{1b}'), "{expected}");
    }
}

#[test]
fn clocks_say_what_is_left_until_the_promotion() {
    let text = text_of(&status(), false);
    assert!(
        text.contains("codex/gpt-5  advisory, 36 days left"),
        "{text}"
    );
    assert!(
        text.contains("newbot/m1  blocks since 2026-03-02"),
        "{text}"
    );
    let document = document(&status());
    let clocks = &document["tick_metrics"]["l4_burn_in"];
    assert_eq!(clocks["codex/gpt-5"]["days_left"], 36);
    assert_eq!(clocks["newbot/m1"]["days_left"], Value::Null);
    let never = Status {
        burn_in_days: 0,
        ..status()
    };
    assert!(text_of(&never, false).contains("never promoted by itself"));
}

#[test]
fn colours_only_where_they_are_wanted() {
    assert!(!text_of(&status(), false).contains('\u{1b}'));
    assert!(text_of(&status(), true).contains("\u{1b}[1mqueue"));
}

#[test]
fn spans_are_told_in_one_unit() {
    for (seconds, expected) in [
        (0, "0 seconds"),
        (1, "1 second"),
        (60, "1 minute"),
        (7_199, "1 hour"),
        (172_800, "2 days"),
    ] {
        assert_eq!(text::span(Duration::from_secs(seconds)), expected);
    }
}
