//! Foreign text (paths, trailers, logins) made safe to stand in one line of a log or an explanation.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with control characters, line separators and direction marks escaped, so that a file name cannot
/// forge a second line or show another order than it has.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    let is_plain = |text: &str| text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain(text) || !text.chars().any(must_be_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            c if must_be_escaped(c) => {
                // Writing into a string cannot fail.
                let _ = write!(escaped, "\\u{{{:x}}}", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

/// The text in one line of at most `max` characters; what is left out is marked.
#[must_use]
pub fn clipped(text: &str, max: usize) -> String {
    let line = one_line(text);
    if line.chars().count() <= max {
        return line.into_owned();
    }
    line.chars()
        .take(max.saturating_sub(1))
        .chain(['…'])
        .collect()
}

fn must_be_escaped(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{61c}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_line() {
        assert_eq!(one_line("src/a.rs"), "src/a.rs");
        assert_eq!(
            one_line("a\nb\t\u{1b}[2J\u{202e}"),
            "a\\nb\\t\\u{1b}[2J\\u{202e}"
        );
        assert_eq!(clipped("abcdef", 4), "abc…");
    }
}
