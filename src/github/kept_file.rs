//! Kept answers across restarts: one sealed document, which the caller stores.
//!
//! INVARIANT: what was not sealed with the same key for the same GitHub is not believed: an altered answer would be taken
//! for GitHub's own as soon as GitHub says "not modified".

use super::GitHub;
use super::call::Who;
use super::etag::StoredAnswer;
use crate::domain::InstallationId;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::io::{Read, Write};

/// Of the format below; another one is not read.
const VERSION: u32 = 1;
/// Bytes of the seal at the head of the document.
const SEAL: usize = 32;
/// Bytes that a document may unfold to: twice what is kept, since JSON inside JSON is longer.
const UNFOLDED: u64 = 96 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Shelf {
    version: u32,
    base: String,
    answers: Vec<Line>,
}

/// One answer, with the installation that it was given to; `None`: the App itself.
#[derive(Serialize, Deserialize)]
struct Line {
    installation: Option<u64>,
    target: String,
    etag: String,
    link: Option<String>,
    content_type: Option<String>,
    body: String,
}

impl GitHub {
    /// The kept answers as one document, sealed with `key` (32 bytes). Takes a while for many: not for an async thread.
    ///
    /// # Errors
    /// They cannot be written as JSON, or not be compressed; says why.
    pub fn kept_answers(&self, key: &[u8]) -> Result<Vec<u8>, String> {
        let answers = self
            .inner
            .kept
            .stored()
            .into_iter()
            .filter_map(line)
            .collect();
        let all = Shelf {
            version: VERSION,
            base: self.inner.base.to_string(),
            answers,
        };
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        let packed = serde_json::to_vec(&all)
            .map_err(std::io::Error::from)
            .and_then(|text| encoder.write_all(&text))
            .and_then(|()| encoder.finish())
            .map_err(|error| error.to_string())?;
        let mut document = mac(key)?
            .chain_update(&packed)
            .finalize()
            .into_bytes()
            .to_vec();
        document.extend_from_slice(&packed);
        Ok(document)
    }

    /// Takes kept answers back; how many. Before the first call, or they replace newer ones.
    ///
    /// # Errors
    /// The document is damaged, was altered, or belongs to another key or another GitHub; nothing is taken from it.
    pub fn keep_answers(&self, key: &[u8], document: &[u8]) -> Result<usize, String> {
        let (seal, packed) = document.split_at_checked(SEAL).ok_or("it is too short")?;
        mac(key)?
            .chain_update(packed)
            .verify_slice(seal)
            .map_err(|_| "its seal does not fit")?;
        let mut text = Vec::new();
        let read = ZlibDecoder::new(packed)
            .take(UNFOLDED + 1)
            .read_to_end(&mut text)
            .map_err(|error| error.to_string())?;
        if u64::try_from(read).unwrap_or(u64::MAX) > UNFOLDED {
            return Err(format!("it unfolds to more than {UNFOLDED} bytes"));
        }
        let all: Shelf = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        if all.version != VERSION || all.base != self.inner.base.to_string() {
            return Err("it is of another version, or another GitHub".to_owned());
        }
        let answers: Vec<StoredAnswer> = all.answers.into_iter().map(answer).collect();
        let number = answers.len();
        self.inner.kept.restore(answers);
        Ok(number)
    }
}

fn mac(key: &[u8]) -> Result<Hmac<Sha256>, String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(|error| error.to_string())?;
    // The same key seals ballots: this is another use of it.
    mac.update(b"quadgate kept answers\0");
    Ok(mac)
}

fn line(answer: StoredAnswer) -> Option<Line> {
    let installation = match answer.who {
        Who::App => None,
        Who::Installation(id) => Some(id.0),
        Who::Person => return None,
    };
    Some(Line {
        installation,
        target: answer.target,
        etag: answer.etag,
        link: answer.link,
        content_type: answer.content_type,
        body: String::from_utf8(answer.body).ok()?,
    })
}

fn answer(line: Line) -> StoredAnswer {
    StoredAnswer {
        who: line
            .installation
            .map_or(Who::App, |id| Who::Installation(InstallationId(id))),
        target: line.target,
        etag: line.etag,
        link: line.link,
        content_type: line.content_type,
        body: line.body.into_bytes(),
    }
}
