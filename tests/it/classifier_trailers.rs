//! Trailers against git itself: thousands of generated messages, each read by both.

use quadgate::rules::trailers;
use std::io::Write;
use std::process::{Command, Stdio};

/// A small generator with a fixed seed (the numbers of Numerical Recipes' 64-bit mixer): the same messages on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len())]
    }
}

const LINES: &[&str] = &[
    "Agent-Session: s_ab12-cd",
    "Agent-Session : s_ab12-cd",
    "agent-session:s_ab12-cd",
    "Agent-Session:",
    "Agent-Session:\t s_x \t",
    "Signed-off-by: A Dev <a@example.com>",
    "Signed-off-by: ",
    "Signed-off-by:x",
    "signed-off-by: low",
    "Co-authored-by: B <b@example.com>",
    "(cherry picked from commit 1111111111111111111111111111111111111111)",
    "(cherry picked from nowhere)",
    "Task-Ref: Issue#12",
    " continued value",
    "\tcontinued by tab",
    "  ",
    "\t",
    "",
    "",
    "",
    "# a comment",
    "#",
    " # not a comment",
    "---",
    "--- a/file",
    "-- ",
    "diff --git a/x b/x",
    "Just some prose.",
    "Prose with a colon: yes",
    "https://example.com/x: y",
    "https://example.com",
    "key_with_underscore: v",
    "Key With Space: v",
    "Schl\u{fc}ssel: wert",
    "\u{d0a4}: \u{ac12}",
    "key: \u{ac12} \u{1f680}",
    "Key\u{a0}: nbsp",
    ": no key",
    ":",
    "-: dash",
    "a: b: c",
    "Reviewed-by: X\r",
    "\r",
    "x\ry: z",
    "> quoted: line",
    "* bullet: item",
    "Conflicts:",
    "\tconflicted/path",
    "Bug: 1",
    "Bug= 2",
    "Bug #3",
    "123: digits",
    "=: eq",
    "Fixes: \u{b}vt",
    "Fixes: \u{c}ff",
    "\u{c}",
    "# ------------------------ >8 ------------------------",
    "------------------------ >8 ------------------------",
    "END",
    "Key : : x",
    "K  \t : y",
];

fn message(dice: &mut Dice) -> String {
    let mut text = String::new();
    if dice.roll(8) > 0 {
        text.push_str(dice.pick(&["subject", "fix: a thing", "# odd", "", "Merge branch 'x'"]));
        text.push_str(dice.pick(&[
            "\n\n",
            "\n\n",
            "\n\n",
            "\n",
            "\r\n\r\n",
            "\n \n",
            "\n\nBody text.\n\n",
        ]));
    }
    let crlf = dice.roll(10) == 0;
    let paragraphs = 1 + dice.roll(3);
    for paragraph in 0..paragraphs {
        // The last paragraph holds trailers more often than not.
        let trailer_like = paragraph + 1 == paragraphs && dice.roll(3) > 0;
        for _ in 0..=dice.roll(7) {
            let line = if trailer_like && dice.roll(4) > 0 {
                LINES[dice.roll(15)]
            } else {
                LINES[dice.roll(LINES.len())]
            };
            text.push_str(line);
            text.push_str(if crlf { "\r\n" } else { "\n" });
        }
        if paragraph + 1 < paragraphs {
            text.push_str(dice.pick(&["\n", "\n\n", " \n", ""]));
        }
    }
    match dice.roll(4) {
        0 => text.truncate(text.trim_end_matches('\n').len()),
        1 => text.push_str("\n\n"),
        _ => {}
    }
    text
}

fn by_git(message: &str) -> String {
    let mut child = Command::new("git")
        .args(["interpret-trailers", "--parse", "--no-divider"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_DIR", "/nonexistent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("git runs");
    child
        .stdin
        .take()
        .expect("piped")
        .write_all(message.as_bytes())
        .expect("written");
    let output = child.wait_with_output().expect("git ends");
    assert!(output.status.success(), "{message:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn by_us(message: &str) -> String {
    let trailers = trailers::parse(message);
    trailers
        .iter()
        .flat_map(|trailer| {
            [
                trailer.key.as_str(),
                ": ",
                trailer.value.as_str(),
                "
",
            ]
        })
        .collect()
}

#[test]
fn thousands_of_messages_are_read_as_git_reads_them() {
    const EACH: usize = 2_600;
    let workers: Vec<_> = (0..2_u64)
        .map(|worker| {
            std::thread::spawn(move || {
                let mut dice = Dice(0x5eed_0000 + worker);
                let mut with_trailers = 0;
                for _ in 0..EACH {
                    let message = message(&mut dice);
                    let (git, ours) = (by_git(&message), by_us(&message));
                    assert_eq!(ours, git, "message {message:?}");
                    with_trailers += usize::from(!git.is_empty());
                }
                with_trailers
            })
        })
        .collect();
    let with_trailers: usize = workers
        .into_iter()
        .map(|worker| worker.join().expect("agrees"))
        .sum();
    // Both sides of the question must be met often for the comparison to mean something.
    assert!(
        (1_000..2 * EACH - 1_000).contains(&with_trailers),
        "{with_trailers}"
    );
}

#[test]
fn formats() {
    for good in ["s_ab12", "s_ab12-cd", "s_0123456789abcdef", "s_a--b"] {
        assert!(trailers::is_agent_session(good), "{good}");
    }
    for bad in [
        "",
        "s_",
        "s_abc",
        "s_ABCD",
        "s_abc-",
        "s_-abc",
        "s_0123456789abcdefg",
        "s_ab cd",
        "s_ab12\n",
        "ab12",
        "s_ab\u{e9}d",
    ] {
        assert!(!trailers::is_agent_session(bad), "{bad:?}");
    }
    for good in [
        "Issue#1",
        "issue#12",
        "PR#345",
        "none",
        "round-3/topic",
        "bot/sync-mirror",
    ] {
        assert!(trailers::is_task_ref(good), "{good}");
    }
    for bad in [
        "",
        "ISSUE#1",
        "pr#1",
        "Issue#",
        "Issue #1",
        "None",
        "round-/x",
        "round-3/",
        "bot/",
        "bot",
        "Issue#1 and more",
        "none\n",
    ] {
        assert!(!trailers::is_task_ref(bad), "{bad:?}");
    }
}
