//! Entries as lines for people, and how people write what they look for.

use crate::audit::Record;
use crate::domain::{Quadrant, RepoName, Timestamp, TimestampError, Witness, is_unseen};

/// One entry on one line.
pub(in crate::cli) fn line(record: &Record) -> String {
    let who = record.actor.as_ref().or(record.author.as_ref());
    let quadrant = record
        .quadrant
        .map_or_else(|| "-".to_owned(), |quadrant| quadrant.to_string());
    format!(
        "{} {} {} {} {quadrant} {} {}",
        record.seq,
        record.ts,
        shown(&record.kind),
        shown(record.pr.as_deref().unwrap_or("-")),
        shown(who.map_or("-", String::as_str)),
        shown(&record.says().unwrap_or_default()),
    )
}

/// Text from the log on a terminal: nothing that could move the cursor or reorder what is read.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unseen(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// `41:sha256:…`
pub(super) fn witness(text: &str) -> Result<Witness, String> {
    let wrong = || format!("`{text}` is not of the form `41:sha256:…` with 64 hexadecimal digits");
    let (seq, hash) = text.split_once(':').ok_or_else(wrong)?;
    let digits = hash.strip_prefix("sha256:").unwrap_or(hash);
    if digits.len() != 64 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    Ok(Witness {
        seq: seq.parse().map_err(|_| wrong())?,
        hash: format!("sha256:{}", digits.to_ascii_lowercase()),
    })
}

/// `owner/repo#123`
pub(super) fn pull(text: &str) -> Result<String, String> {
    let wrong = || format!("`{text}` is not of the form `owner/repo#123`");
    let (name, number) = text.split_once('#').ok_or_else(wrong)?;
    name.parse::<RepoName>().map_err(|_| wrong())?;
    let number: u64 = number.parse().map_err(|_| wrong())?;
    Ok(format!("{name}#{number}"))
}

pub(super) fn repo(text: &str) -> Result<RepoName, String> {
    text.parse::<RepoName>().map_err(|error| error.to_string())
}

/// A letter in either case.
pub(super) fn quadrant(text: &str) -> Result<Quadrant, String> {
    let mut letters = text.chars();
    match (
        letters.next().and_then(Quadrant::from_letter),
        letters.next(),
    ) {
        (Some(quadrant), None) => Ok(quadrant),
        _ => Err(format!("`{text}` is not one of A, B, C, D")),
    }
}

/// A day, which begins at midnight UTC, or a moment.
pub(super) fn time(text: &str) -> Result<Timestamp, String> {
    let day = format!("{text}T00:00:00Z");
    text.parse()
        .or_else(|error: TimestampError| day.parse().map_err(|_| error))
        .map_err(|error| error.to_string())
}
