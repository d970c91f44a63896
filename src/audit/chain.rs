//! One line as a link of the chain, and links in a row. Reads no file; knows only what linking needs, so that entries
//! with members of a later version are still checked.

use super::entry::digest;
use crate::domain::Witness;
use serde::Deserialize;
use std::borrow::Cow;

/// The `prev` of the first entry.
pub const GENESIS: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

const HASH_HEAD: &[u8] = b",\"hash\":\"";
const HASH_LENGTH: usize = 71;
const HASH_TAIL: &[u8] = b"\"}";

/// What one line says about its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    /// Its number and stated hash.
    pub at: Witness,
    /// The stated hash of the entry before it.
    pub prev: String,
    /// The decision it records.
    pub decision: Option<String>,
    /// Is the stated hash the hash of what is written?
    pub sound: bool,
}

/// Why a line is no link.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoLink {
    #[error("does not end with its hash")]
    NoHash,
    #[error("is not an entry: {0}")]
    NotJson(String),
}

#[derive(Deserialize)]
struct Members<'a> {
    seq: u64,
    #[serde(borrow)]
    prev: Cow<'a, str>,
    #[serde(default)]
    decision: Option<String>,
}

/// Reads a line without its line end.
pub(super) fn link(line: &[u8]) -> Result<Link, NoLink> {
    let (body, hash) = split(line).ok_or(NoLink::NoHash)?;
    let mut canonical = Vec::with_capacity(body.len() + 1);
    canonical.extend_from_slice(body);
    canonical.push(b'}');
    let members: Members<'_> =
        serde_json::from_slice(&canonical).map_err(|error| NoLink::NotJson(error.to_string()))?;
    Ok(Link {
        sound: digest(&canonical) == hash,
        at: Witness {
            seq: members.seq,
            hash: hash.to_owned(),
        },
        prev: members.prev.into_owned(),
        decision: members.decision,
    })
}

/// Is this line, without its end, an entry with the hash that it states? Whether the chain holds is for `verify`.
#[must_use]
pub fn is_sound(line: &[u8]) -> bool {
    link(line).is_ok_and(|link| link.sound)
}

/// The line before `,"hash":…` and the stated hash.
fn split(line: &[u8]) -> Option<(&[u8], &str)> {
    let line = line.strip_suffix(HASH_TAIL)?;
    let (line, hash) = line.split_at_checked(line.len().checked_sub(HASH_LENGTH)?)?;
    let body = line.strip_suffix(HASH_HEAD)?;
    let hash = std::str::from_utf8(hash).ok()?;
    let digits = hash.strip_prefix("sha256:")?;
    digits
        .bytes()
        .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        .then_some((body, hash))
}
