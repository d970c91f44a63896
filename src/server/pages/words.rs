//! Numbers, spans and the log's own words as people read them.

use crate::domain::{Quadrant, is_unseen};
use std::borrow::Cow;
use std::time::Duration;

/// `1 entry`, `2 entries`.
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        grouped(number),
        if number == 1 { one } else { many }
    )
}

/// Digits in groups of three.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A span in its largest whole unit.
pub(super) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..60 => count(seconds, "second", "seconds"),
        60..3_600 => count(seconds / 60, "minute", "minutes"),
        3_600..172_800 => count(seconds / 3_600, "hour", "hours"),
        _ => count(seconds / 86_400, "day", "days"),
    }
}

/// A part of a whole in whole per cent; `None` of nothing.
pub(super) fn percent(part: u64, whole: u64) -> Option<u64> {
    (part.saturating_mul(200).saturating_add(whole)).checked_div(whole.saturating_mul(2))
}

/// Text from outside: nothing in it is unseen or reorders what is read. Markup is escaped where it is written.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_unseen(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unseen(c) && c != '\n' {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// What a quadrant means for the pull request.
pub(super) fn meaning(quadrant: Quadrant) -> &'static str {
    match quadrant {
        Quadrant::A => "reversible and non-critical: approved",
        Quadrant::B => "reversible and critical: approved, with a trail in the inbox",
        Quadrant::C => "irreversible and non-critical: approved, with a trail in the inbox",
        Quadrant::D => "irreversible and critical: an owner must answer",
    }
}

/// The kinds of entries in the order of a pull request's life, with their names for people.
pub(super) const KINDS: [(&str, &str); 12] = [
    ("classification", "Verdict"),
    ("issue_opened", "Issue opened"),
    ("owner_answer", "Answer"),
    ("answer_withdrawn", "Answer withdrawn"),
    ("superseded", "Issue superseded"),
    ("issue_closed", "Issue closed"),
    ("merged", "Merge ordered"),
    ("merge_refused", "Merge refused"),
    ("merge_group", "Merge group"),
    ("reverted", "Revert ordered"),
    ("promoted", "Agent promoted"),
    ("installation_removed", "App uninstalled"),
];

/// The name of a kind; a kind of a later version keeps its word.
pub(super) fn kind(word: &str) -> Cow<'_, str> {
    match KINDS.iter().find(|(known, _)| *known == word) {
        Some((_, name)) => Cow::Borrowed(*name),
        None => shown(word),
    }
}

/// An owner's answer.
pub(super) fn answer(word: &str) -> Cow<'_, str> {
    match word {
        "approve_a" => Cow::Borrowed("approved as proposed"),
        "approve_b" => Cow::Borrowed("approved with the alternate"),
        "defer" => Cow::Borrowed("deferred"),
        "reject" => Cow::Borrowed("rejected"),
        other => shown(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(count(1, "entry", "entries"), "1 entry");
        assert_eq!(span(Duration::from_secs(7_300)), "2 hours");
        assert_eq!(
            (percent(1, 3), percent(2, 3), percent(0, 0)),
            (Some(33), Some(67), None)
        );
    }

    #[test]
    fn what_is_not_seen_is_spelt_out() {
        assert_eq!(shown("a\u{202e}b\nc"), "a\\u{202e}b\nc");
        assert!(matches!(shown("plain <b>"), Cow::Borrowed(_)));
    }
}
