//! Texts that mean nothing but themselves: the way out for what would be read as something else.
//!
//! A text whose first character is a decimal character reference (`&#110;one`) is literal: no label, no chain, no
//! word for "nothing". Every decimal reference in it is decoded. It looks the same when rendered. INVARIANT:
//! `decode(encode(text)) == text`; a text that does not begin so is its own source, byte for byte.

use crate::evidence::text::Text;
use std::fmt::Write as _;

/// Is the text literal?
pub(super) fn is_literal(text: &str) -> bool {
    reference(text).is_some()
}

/// The text that a line or value stands for.
pub(super) fn decode(text: &str) -> Text {
    if !is_literal(text) {
        return Text::new(text);
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("&#") {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        decoded.push_str(before);
        if let Some((c, after)) = reference(from) {
            decoded.push(c);
            rest = after;
        } else {
            decoded.push_str("&#");
            rest = from.strip_prefix("&#").unwrap_or_default();
        }
    }
    decoded.push_str(rest);
    Text::new(&decoded)
}

/// Makes a text literal; `also` names further characters that may not stand in it as they are.
pub(super) fn encode(text: &str, also: impl Fn(char) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len() + 8);
    for (index, c) in text.char_indices() {
        let taken = text.get(index..).is_some_and(is_literal);
        if index == 0 || taken || also(c) {
            let _ = write!(encoded, "&#{};", u32::from(c));
        } else {
            encoded.push(c);
        }
    }
    if encoded.is_empty() {
        // A blank, which is nothing at the end of a text.
        encoded.push_str("&#32;");
    }
    encoded
}

/// The decimal character reference that the text begins with, and what follows it.
fn reference(text: &str) -> Option<(char, &str)> {
    let from = text.strip_prefix("&#")?;
    let digits = from.bytes().take(7).take_while(u8::is_ascii_digit).count();
    let (number, rest) = from.split_at_checked(digits)?;
    let number = number.parse().ok()?;
    Some((char::from_u32(number)?, rest.strip_prefix(';')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        for text in [
            "",
            "none",
            "&#110;one",
            "a: b：c",
            "`` x",
            "#",
            "&",
            "&#;",
            "&&#35;#35;",
            "없음",
            "\0",
            "x &#32; y",
            "&#99999999;",
            "&#1114112;",
        ] {
            let encoded = encode(text, |c| matches!(c, ':' | '：'));
            assert!(is_literal(&encoded), "{text}");
            assert!(!encoded.contains([':', '：']), "{encoded}");
            assert_eq!(decode(&encoded).as_str(), text, "{encoded}");
        }
    }

    #[test]
    fn other_texts_are_their_own_source() {
        for text in ["none &#110;", "&amp;", "&#x6e;one", "& #110;", "&#1114112;"] {
            assert!(!is_literal(text), "{text}");
            assert_eq!(decode(text).as_str(), text);
        }
    }
}
