//! The last guard before GitHub's limits on texts. Renderers cut nicely; what comes here too long is cut anyhow.

use std::borrow::Cow;

/// Bytes of one field of a check-run's output.
pub(super) const CHECK_FIELD: usize = 65_535;
/// Characters of a remark's title.
pub(super) const REMARK_TITLE: usize = 255;
/// Bytes of a remark.
pub(super) const REMARK: usize = 64 * 1024;
/// Bytes of an Issue's or comment's text.
pub(super) const BODY: usize = 65_536;

const CUT: &str = "\n\n… (truncated)";

/// The text in at most `limit` bytes, cut between characters; a cut text ends in a note that says so.
pub(super) fn bytes(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let room = limit.saturating_sub(CUT.len());
    let end = text.floor_char_boundary(room);
    let (kept, _) = text.split_at(end);
    Cow::Owned(format!("{kept}{CUT}"))
}

/// At most `limit` characters.
pub(super) fn chars(text: &str, limit: usize) -> String {
    text.chars().take(limit).collect()
}

/// The hidden line by which a text of ours is found again.
pub(super) fn marker(key: &str) -> String {
    format!("<!-- quadgate:key={key} -->")
}

/// The text within [`BODY`], with its marker whatever was cut.
pub(super) fn keyed(text: &str, key: &str) -> String {
    let marker = marker(key);
    if text.len() <= BODY && text.contains(&marker) {
        return text.to_owned();
    }
    let room = BODY.saturating_sub(marker.len() + 2);
    let kept = bytes(text, room);
    if kept.contains(&marker) {
        return kept.into_owned();
    }
    format!("{kept}\n\n{marker}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_bytes_between_characters() {
        let rockets = "🚀".repeat(16_384);
        let cut = bytes(&rockets, CHECK_FIELD);
        assert!(cut.len() <= CHECK_FIELD, "{}", cut.len());
        assert!(cut.ends_with("(truncated)"));
        assert_eq!(bytes("short", CHECK_FIELD), "short");
        let fits = "x".repeat(CHECK_FIELD);
        assert_eq!(bytes(&fits, CHECK_FIELD), fits);
    }

    #[test]
    fn a_cut_text_keeps_its_marker() {
        let long = format!("{}\n{}", "가".repeat(40_000), marker("k"));
        let cut = keyed(&long, "k");
        assert!(cut.len() <= BODY);
        assert!(cut.ends_with("<!-- quadgate:key=k -->"));
        assert_eq!(keyed("x", "k"), "x\n\n<!-- quadgate:key=k -->");
        let whole = format!("x\n{}", marker("k"));
        assert_eq!(keyed(&whole, "k"), whole);
    }
}
