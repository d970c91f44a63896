//! Lines of a file of any size, one buffer, with their numbers and byte offsets.

use std::io::{self, BufRead, Read};

/// Longer than any entry this program writes; what is longer is no log.
pub(super) const MAX_LINE: u64 = 16 * 1024 * 1024;

/// A cursor over lines.
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    number: u64,
    end: u64,
}

/// One line.
pub(super) struct Line<'a> {
    /// Without the line end.
    pub bytes: &'a [u8],
    /// From 1.
    pub number: u64,
    /// Offset behind its line end.
    pub end: u64,
    /// Did a line end follow?
    pub terminated: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            number: 0,
            end: 0,
        }
    }

    /// The next line, or `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read, or a line is longer than any entry.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let read = self
            .input
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut self.buffer)?;
        if read == 0 {
            return Ok(None);
        }
        let (bytes, terminated) = match self.buffer.strip_suffix(b"\n") {
            Some(bytes) => (bytes, true),
            None => (self.buffer.as_slice(), false),
        };
        let read = u64::try_from(read).unwrap_or(u64::MAX);
        if !terminated && read >= MAX_LINE {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("line {} is longer than any entry", self.number + 1),
            ));
        }
        self.number += 1;
        self.end += read;
        Ok(Some(Line {
            bytes,
            number: self.number,
            end: self.end,
            terminated,
        }))
    }
}
