//! Trailers of a commit message, as `git interpret-trailers --parse --no-divider` reads them, and the formats
//! of the trailers this program asks for.
//!
//! INVARIANT: for every message the result is git's own (a test compares thousands). The names in this file
//! follow git's: what it calls a title, a trailer block, a separator, a recognised prefix.

use regex::Regex;
use std::sync::LazyLock;

/// One trailer: the key as written and the unfolded value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trailer {
    /// The key as written; compare with [`Trailer::is`].
    pub key: String,
    /// The value in one line.
    pub value: String,
}

impl Trailer {
    /// Is it this trailer? Keys compare without case.
    #[must_use]
    pub fn is(&self, key: &str) -> bool {
        self.key.eq_ignore_ascii_case(key)
    }
}

/// The trailers of a message, in order.
#[must_use]
pub fn parse(message: &str) -> Vec<Trailer> {
    let lines = lines(message);
    let Some(block) = block_start(&lines).and_then(|start| lines.get(start..)) else {
        return Vec::new();
    };
    let mut entries: Vec<String> = Vec::new();
    let mut folds = false; // was the last entry a trailer, which a line with a leading blank continues?
    for line in block {
        let line = format!("{line}\n");
        match entries.last_mut() {
            Some(last) if folds && line.starts_with(is_space) => last.push_str(&line),
            Some(_) | None => {
                folds = separator(&line).is_some();
                entries.push(line);
            }
        }
    }
    entries
        .iter()
        .filter(|entry| !entry.starts_with('#'))
        .filter_map(|entry| {
            let at = separator(entry)?;
            Some(Trailer {
                key: entry.get(..at)?.trim_matches(is_space).to_owned(),
                value: unfold(entry.get(at + 1..)?.trim_matches(is_space)),
            })
        })
        .collect()
}

/// Lines of the last paragraph that git does not take for trailers although `key` stands before a colon at
/// their start: an author meant a trailer and wrote something else. Nothing when that paragraph is a block.
#[must_use]
pub fn lookalikes(message: &str, key: &str) -> Vec<String> {
    let lines = lines(message);
    if block_start(&lines).is_some() {
        return Vec::new();
    }
    lines
        .iter()
        .rev()
        .skip_while(|line| is_blank(line))
        .take_while(|line| !is_blank(line))
        .filter(|line| {
            line.split_once(':')
                .is_some_and(|(before, _)| before.trim().eq_ignore_ascii_case(key))
        })
        .map(|line| line.trim().to_owned())
        .collect()
}

/// Is it a well-formed `Agent-Session` value: `^s_[a-z0-9][a-z0-9-]{2,14}[a-z0-9]$`?
#[must_use]
pub fn is_agent_session(value: &str) -> bool {
    static FORMAT: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\As_[a-z0-9][a-z0-9-]{2,14}[a-z0-9]\z").ok());
    matches(&FORMAT, value)
}

/// Is it a well-formed `Task-Ref` value: `(Issue|issue|PR)#<digits>`, `none`, `round-<digits>/<topic>` or
/// `bot/<topic>`? A topic is one word of letters, digits and `._-/`.
#[must_use]
pub fn is_task_ref(value: &str) -> bool {
    static FORMAT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\A(?:(?:Issue|issue|PR)#[0-9]{1,18}|none|(?:round-[0-9]{1,18}|bot)/[A-Za-z0-9][A-Za-z0-9._/-]{0,99})\z")
            .ok()
    });
    matches(&FORMAT, value)
}

/// A pattern that failed to compile accepts nothing.
fn matches(format: &LazyLock<Option<Regex>>, value: &str) -> bool {
    LazyLock::force(format)
        .as_ref()
        .is_some_and(|regex| regex.is_match(value))
}

/// The lines of the message without what git ignores at its end: comments, blank lines, an old `Conflicts:`
/// block, and everything from a scissors line on.
fn lines(message: &str) -> Vec<&str> {
    const SCISSORS: &str = "# ------------------------ >8 ------------------------";
    let mut lines: Vec<&str> = message
        .strip_suffix('\n')
        .unwrap_or(message)
        .split('\n')
        .collect();
    if let Some(cut) = lines.iter().position(|line| *line == SCISSORS) {
        lines.truncate(cut);
    }
    let mut ignored_from: Option<usize> = None;
    let mut in_conflicts = false;
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with('#') || line.is_empty() {
            // git keeps the start as an offset with 0 for "none": an ignored first line does not count.
            ignored_from = ignored_from.or((at > 0).then_some(at));
        } else if *line == "Conflicts:" {
            in_conflicts = true;
            ignored_from = ignored_from.or((at > 0).then_some(at));
        } else if !(in_conflicts && line.starts_with('\t')) && ignored_from.is_some() {
            ignored_from = None;
            in_conflicts = false;
        }
    }
    lines.truncate(ignored_from.unwrap_or(lines.len()));
    lines
}

/// Index of the first line of the trailer block, or `None` when there is none.
fn block_start(lines: &[&str]) -> Option<usize> {
    // The first paragraph is the title and holds no trailers.
    let title_end = lines
        .iter()
        .position(|line| !line.starts_with('#') && is_blank(line))?;
    let mut tally = Tally::default();
    let mut only_blank = true;
    for (at, line) in lines.iter().enumerate().skip(title_end).rev() {
        if line.starts_with('#') {
            tally.give_up_continuations();
        } else if is_blank(line) {
            if !only_blank {
                tally.give_up_continuations();
                return tally.is_block().then_some(at + 1);
            }
        } else {
            only_blank = false;
            tally.count(line);
        }
    }
    None
}

/// What stands in the paragraph that may be a trailer block, counted from its last line up.
#[derive(Default)]
struct Tally {
    recognised: bool,
    trailers: usize,
    others: usize,
    /// Lines with a leading blank: part of the trailer above them, if a trailer is above them.
    continuations: usize,
}

impl Tally {
    fn count(&mut self, line: &str) {
        let recognised = ["Signed-off-by: ", "(cherry picked from commit "]
            .iter()
            .any(|prefix| line.starts_with(prefix));
        if recognised || (separator(line).is_some() && !line.starts_with(is_space)) {
            self.recognised |= recognised;
            self.trailers += 1;
            self.continuations = 0;
        } else if line.starts_with(is_space) {
            self.continuations += 1;
        } else {
            self.others += 1;
            self.give_up_continuations();
        }
    }

    fn give_up_continuations(&mut self) {
        self.others += std::mem::take(&mut self.continuations);
    }

    /// All trailers, or a recognised one and at least a quarter trailers.
    fn is_block(&self) -> bool {
        (self.recognised && self.trailers * 3 >= self.others)
            || (self.trailers > 0 && self.others == 0)
    }
}

/// Where the colon after the key stands. A key is ASCII letters, digits and hyphens, then perhaps blanks.
fn separator(line: &str) -> Option<usize> {
    let mut blank_seen = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b':' => return (at > 0).then_some(at),
            b' ' | b'\t' if at > 0 => blank_seen = true,
            byte if !blank_seen && (byte.is_ascii_alphanumeric() || byte == b'-') => {}
            _ => return None,
        }
    }
    None
}

/// Joins the lines of a value with single blanks.
fn unfold(value: &str) -> String {
    let mut lines = value.split('\n');
    let mut unfolded = lines.next().unwrap_or_default().to_owned();
    let mut pending = false;
    for line in lines {
        // A line end swallows all white space after it, further line ends included.
        let rest = line.trim_start_matches(is_space);
        if !pending {
            unfolded.push(' ');
        }
        unfolded.push_str(rest);
        pending = rest.is_empty();
    }
    unfolded.trim_matches(is_space).to_owned()
}

fn is_blank(line: &str) -> bool {
    line.chars().all(is_space)
}

/// White space as git sees it.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}
