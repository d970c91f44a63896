//! What may reach a terminal: colours where they are wanted, text from a change only with its control
//! characters spelled out (a path can carry escape sequences or turn the reading direction around).

use crate::doctor::State;
use crate::domain::Quadrant;
use std::ffi::OsString;
use std::fmt::Write;

/// Do the variables ask for colours? `NO_COLOR` (not empty) and `TERM=dumb` do not.
pub(super) fn colours_wanted(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let no_color = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = variable("TERM").is_some_and(|value| value == "dumb");
    !no_color && !dumb
}

/// Text of unknown origin, safe to show on one line.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || turns {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// Colours, or none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    colour: bool,
}

impl Style {
    pub fn new(colour: bool) -> Self {
        Self { colour }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    pub fn heading(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Text in the colour of a finding.
    pub fn state(self, state: State, text: &str) -> String {
        let code = match state {
            State::Ok => "32",
            State::Warn => "1;33",
            State::Fail => "1;31",
        };
        self.paint(code, text)
    }

    /// Text in the colour of a quadrant.
    pub fn quadrant(self, quadrant: Quadrant, text: &str) -> String {
        let code = match quadrant {
            Quadrant::A => "1;32",
            Quadrant::B | Quadrant::C => "1;33",
            Quadrant::D => "1;31",
        };
        self.paint(code, text)
    }
}

/// Breaks text at blanks into lines of at most `width` characters; longer words are cut.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let letters: Vec<char> = word.chars().collect();
        for piece in letters.chunks(width.max(1)) {
            match lines.last_mut() {
                Some(line) if line.chars().count() + 1 + letters.len() <= width => {
                    line.push(' ');
                    line.extend(piece);
                }
                _ => lines.push(piece.iter().collect()),
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_spelled_out() {
        assert_eq!(plain("a\u{1b}[31mb\nc"), "a\\u{1b}[31mb\\u{a}c");
        assert_eq!(plain("x\u{202e}y"), "x\\u{202e}y");
        assert_eq!(plain("문서/개요.md"), "문서/개요.md");
    }

    #[test]
    fn no_color_is_honoured_unless_empty() {
        let with = |name: &'static str, value: &'static str| {
            colours_wanted(move |asked| (asked == name).then(|| OsString::from(value)))
        };
        assert!(!with("NO_COLOR", "1"));
        assert!(with("NO_COLOR", ""));
        assert!(!with("TERM", "dumb"));
        assert!(with("TERM", "xterm"));
    }

    #[test]
    fn wraps_at_blanks_and_cuts_long_words() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(
            wrap("x a-long-word b", 4),
            ["x", "a-lo", "ng-w", "ord", "b"]
        );
        assert!(wrap("", 10).is_empty());
    }
}
