//! JSON documents as they are kept beside a decision: compressed, and bounded in both directions.
//!
//! INVARIANT: what does not fit is not cut but left out, and says so when it is asked for; nothing that is read back
//! unfolds to more than [`MAX_PLAIN`] bytes.

use super::StoreError;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Serialize, de::DeserializeOwned};
use std::cell::RefCell;
use std::fmt;
use std::io::{self, Read, Write};

/// Bytes of one document as kept; a larger one is not kept.
pub const MAX_KEPT: usize = 8 * 1024 * 1024;
/// Bytes that one document may unfold to; as many as `classify --facts` reads.
pub const MAX_PLAIN: u64 = 256 * 1024 * 1024;

thread_local! {
    /// Its tables are many times as large as most documents: a thread makes them once.
    static ENCODER: RefCell<ZlibEncoder<Bounded>> = RefCell::new(new_encoder());
}

fn new_encoder() -> ZlibEncoder<Bounded> {
    ZlibEncoder::new(Bounded::default(), Compression::fast())
}

/// One JSON document, compressed. [`Document::read`] is dear for large ones: not for an async thread.
#[derive(Clone, PartialEq, Eq)]
pub struct Document(Option<Vec<u8>>);

impl Document {
    /// Compresses a value; over [`MAX_KEPT`] it is left out.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`]: the value cannot be written as JSON.
    pub fn of<T: Serialize>(what: &'static str, value: &T) -> Result<Self, StoreError> {
        ENCODER.with_borrow_mut(|encoder| {
            let written = serde_json::to_writer(io::BufWriter::new(&mut *encoder), value)
                .map_err(io::Error::from)
                .and_then(|()| encoder.reset(Bounded::default()));
            if written.is_err() {
                // What it still holds would go into the next document.
                *encoder = new_encoder();
            }
            match written {
                Ok(Bounded(bytes)) => Ok(Self(Some(bytes))),
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Ok(Self(None)),
                Err(error) => Err(StoreError::unreadable(what, error)),
            }
        })
    }

    pub(in crate::store) fn kept(bytes: Option<Vec<u8>>) -> Self {
        Self(bytes)
    }

    pub(in crate::store) fn bytes(&self) -> Option<&[u8]> {
        self.0.as_deref()
    }

    /// Was it small enough to be kept?
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// The value; `None` when it was too large to be kept. `what` names it in errors.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`]: damaged, too large once unfolded, or not what is asked for.
    pub fn read<T: DeserializeOwned>(&self, what: &'static str) -> Result<Option<T>, StoreError> {
        let Some(bytes) = &self.0 else {
            return Ok(None);
        };
        let text = unfold(bytes).map_err(|why| StoreError::unreadable(what, why))?;
        serde_json::from_slice(&text)
            .map(Some)
            .map_err(|error| StoreError::unreadable(what, error))
    }
}

fn unfold(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let read = ZlibDecoder::new(bytes)
        .take(MAX_PLAIN + 1)
        .read_to_end(&mut text)
        .map_err(|error| format!("it is damaged: {error}"))?;
    if u64::try_from(read).unwrap_or(u64::MAX) > MAX_PLAIN {
        return Err(format!("it unfolds to more than {MAX_PLAIN} bytes"));
    }
    Ok(text)
}

/// Its length only: it may hold what nobody but the repository's readers should see.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Document")
            .field(&self.0.as_ref().map(Vec::len))
            .finish()
    }
}

/// Takes up to [`MAX_KEPT`] bytes.
#[derive(Default)]
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len().saturating_add(bytes.len()) > MAX_KEPT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_back() {
        let document = Document::of("a list", &vec!["x"; 10_000]).expect("fits");
        assert!(document.bytes().expect("kept").len() < 1_000);
        let back: Vec<String> = document.read("a list").expect("whole").expect("kept");
        assert_eq!(back, vec!["x"; 10_000]);
    }

    #[test]
    fn a_document_holds_nothing_of_the_one_before() {
        let mut before = Vec::new();
        for value in ["a", "bb", "a"] {
            let document = Document::of("a text", &value).expect("fits");
            before.push(document.bytes().expect("kept").to_vec());
        }
        assert_eq!(before.first(), before.last());
    }

    #[test]
    fn what_is_too_large_is_left_out_and_says_so() {
        // Numbers of a multiplicative generator: nothing to compress.
        let noise: Vec<u64> = (1..1_000_000_u64)
            .map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31) ^ n.wrapping_mul(n))
            .collect();
        let document = Document::of("noise", &noise).expect("no error");
        assert!(!document.is_kept());
        assert_eq!(document.read::<Vec<u64>>("noise").expect("no error"), None);
        let next = Document::of("a text", &"x").expect("fits");
        let back: Option<String> = next.read("a text").expect("whole");
        assert_eq!(back.as_deref(), Some("x"));
    }

    #[test]
    fn damage_and_bombs_are_errors_with_a_name() {
        let whole = Document::of("facts", &vec![1; 1000]).expect("fits");
        let mut bytes = whole.bytes().expect("kept").to_vec();
        bytes.truncate(bytes.len() - 3);
        let error = Document::kept(Some(bytes)).read::<Vec<u8>>("facts");
        let said = error.expect_err("damaged").to_string();
        assert!(said.contains("facts") && said.contains("damaged"), "{said}");

        let mut bomb = ZlibEncoder::new(Vec::new(), Compression::best());
        let zeros = vec![b' '; 1024 * 1024];
        for _ in 0..=256 {
            bomb.write_all(&zeros).expect("to memory");
        }
        let bomb = Document::kept(Some(bomb.finish().expect("to memory")));
        let said = bomb.read::<Vec<u8>>("facts").expect_err("too much");
        assert!(said.to_string().contains("unfolds to more"), "{said}");
    }
}
