//! The seal of a ballot: a hidden last line with a nonce, the head and a MAC over all that the owner was shown.
//!
//! INVARIANT: a [`Sealed`] exists only for a body that this server wrote for that pull request, unchanged to the last
//! visible character. Line ends are not part of it: GitHub's editor rewrites them.

use crate::domain::{IdError, PullNumber, RepoId, RepoName, RepoRef, Sha};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

const HEAD: &str = "<!-- quadgate:ballot ";
const TAIL: &str = " -->";
const VERSION: &str = "1";

/// The key that only this server has. Never printed.
#[derive(Clone)]
pub struct ReceiptKey(Vec<u8>);

/// The key is too short to be one.
#[derive(Debug, thiserror::Error)]
#[error(
    "the receipt key has {0} bytes, 32 or more are needed; remove it and a new one is made at the next start"
)]
pub struct BadKey(usize);

impl ReceiptKey {
    /// From at least 32 random bytes.
    ///
    /// # Errors
    /// Fewer bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, BadKey> {
        if bytes.len() < 32 {
            return Err(BadKey(bytes.len()));
        }
        Ok(Self(bytes.to_vec()))
    }

    /// `None` never happens: HMAC takes keys of any length.
    fn mac(&self) -> Option<Hmac<Sha256>> {
        Hmac::new_from_slice(&self.0).ok()
    }
}

impl std::fmt::Debug for ReceiptKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReceiptKey(..)")
    }
}

/// What a ballot is bound to, beside its text.
#[derive(Debug, Clone, Copy)]
pub struct Stamp<'a> {
    /// The base repository.
    pub repo: &'a RepoRef,
    /// The pull request.
    pub number: PullNumber,
    /// The head that was asked about.
    pub head: &'a Sha,
    /// Random, new for each ballot; letters and digits.
    pub nonce: &'a str,
}

/// A ballot whose seal holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    head: Sha,
    nonce: String,
}

impl Sealed {
    /// The head that was asked about.
    #[must_use]
    pub fn head(&self) -> &Sha {
        &self.head
    }

    /// The nonce of this ballot.
    #[must_use]
    pub fn nonce(&self) -> &str {
        &self.nonce
    }
}

/// The seal does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MarkerError {
    /// There is none.
    #[error("the ballot has no seal")]
    Missing,
    /// More than one.
    #[error("the ballot has more than one seal")]
    Several,
    /// Something follows it.
    #[error("text follows the ballot's seal")]
    NotLast,
    /// It is not of the form this server writes.
    #[error("the ballot's seal is not readable")]
    Unreadable,
    /// It belongs to another pull request or another ballot.
    #[error("the ballot's seal belongs to another ballot")]
    Foreign,
    /// The text or the seal was changed, or another key made it.
    #[error("the ballot was changed after it was sealed")]
    Changed,
}

/// The visible text with its seal as the last line.
#[must_use]
pub fn seal(visible: &str, stamp: Stamp<'_>, key: &ReceiptKey) -> String {
    let visible = visible_record(visible);
    let fields = Fields {
        repo_id: stamp.repo.id,
        repo: &stamp.repo.name,
        number: stamp.number,
        head: stamp.head,
        nonce: stamp.nonce,
    };
    let tag = key.mac().map(|mac| fields.feed(mac, &visible).finalize());
    let mac = tag.map_or_else(String::new, |tag| hex::encode(tag.as_bytes()));
    let Stamp {
        repo, head, nonce, ..
    } = stamp;
    let name = &repo.name;
    format!("{visible}\n{HEAD}v={VERSION} repo={name} nonce={nonce} head={head} mac={mac}{TAIL}\n")
}

/// Checks the seal of an Issue body. `nonce`: of the ballot that the server remembers, if it does.
///
/// The repository is compared by id, so that a rename between asking and answering does no harm; the name that the owner
/// was shown is under the MAC all the same.
///
/// # Errors
/// Says what does not hold; no answer on such a ballot may be honoured.
pub fn verify(
    body: &str,
    key: &ReceiptKey,
    repo_id: RepoId,
    number: PullNumber,
    nonce: Option<&str>,
) -> Result<Sealed, MarkerError> {
    let body = body.replace("\r\n", "\n");
    let (visible, rest) = body.rsplit_once(HEAD).ok_or(MarkerError::Missing)?;
    if visible.contains(HEAD.trim_end()) {
        return Err(MarkerError::Several);
    }
    let (marker, after) = rest.split_once(TAIL).ok_or(MarkerError::Unreadable)?;
    if !after.trim().is_empty() {
        return Err(MarkerError::NotLast);
    }
    let marker = Marker::read(marker).ok_or(MarkerError::Unreadable)?;
    if nonce.is_some_and(|nonce| nonce != marker.nonce) {
        return Err(MarkerError::Foreign);
    }
    let fields = Fields {
        repo_id,
        repo: &marker.repo,
        number,
        head: &marker.head,
        nonce: &marker.nonce,
    };
    let mac = key.mac().ok_or(MarkerError::Changed)?;
    fields
        .feed(mac, &visible_record(visible))
        .verify_slice(&marker.mac)
        .map_err(|_| MarkerError::Changed)?;
    Ok(Sealed {
        head: marker.head,
        nonce: marker.nonce,
    })
}

/// The text as it is digested: LF, nothing after its last line.
fn visible_record(text: &str) -> String {
    text.replace("\r\n", "\n").trim_end().to_owned()
}

struct Fields<'a> {
    repo_id: RepoId,
    repo: &'a RepoName,
    number: PullNumber,
    head: &'a Sha,
    nonce: &'a str,
}

impl Fields<'_> {
    /// Each field with its length before it, so that no two sets of fields run together into the same bytes.
    fn feed(&self, mut mac: Hmac<Sha256>, visible: &str) -> Hmac<Sha256> {
        let mut field = |bytes: &[u8]| {
            mac.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
            mac.update(bytes);
        };
        field(b"quadgate ballot");
        field(VERSION.as_bytes());
        field(&self.repo_id.0.to_be_bytes());
        field(self.repo.as_str().to_ascii_lowercase().as_bytes());
        field(&self.number.0.to_be_bytes());
        field(self.head.as_str().as_bytes());
        field(self.nonce.as_bytes());
        field(&Sha256::digest(visible.as_bytes()));
        mac
    }
}

/// The hidden line as written.
struct Marker {
    repo: RepoName,
    nonce: String,
    head: Sha,
    mac: Vec<u8>,
}

impl Marker {
    fn read(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut member = |name: &str| words.next()?.strip_prefix(name)?.strip_prefix('=');
        if member("v")? != VERSION {
            return None;
        }
        let repo: Result<RepoName, IdError> = member("repo")?.parse();
        let marker = Self {
            repo: repo.ok()?,
            nonce: member("nonce")?.to_owned(),
            head: member("head")?.parse().ok()?,
            mac: bytes_of_hex(member("mac")?)?,
        };
        words.next().is_none().then_some(marker)
    }
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let lower = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if !lower || text.len() != 64 {
        return None;
    }
    hex::decode(text).ok()
}
