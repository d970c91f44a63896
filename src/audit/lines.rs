//! Lines of a file of any size, one buffer, forwards with their numbers and byte offsets, or backwards from the end.

use std::io::{self, BufRead, Read, Seek, SeekFrom};

/// Longer than any entry this program writes; what is longer is no log.
pub(super) const MAX_LINE: u64 = 16 * 1024 * 1024;
/// Bytes that are read at a time from the end.
const BLOCK: u64 = 64 * 1024;

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
        let mut read = self.read_on()?;
        // A line that a server is writing at this moment may be there in part: a second look finds the rest.
        while read > 0 && !self.buffer.ends_with(b"\n") {
            let more = self.read_on()?;
            if more == 0 {
                break;
            }
            read += more;
        }
        if read == 0 {
            return Ok(None);
        }
        let (bytes, terminated) = match self.buffer.strip_suffix(b"\n") {
            Some(bytes) => (bytes, true),
            None => (self.buffer.as_slice(), false),
        };
        self.number += 1;
        self.end += read;
        Ok(Some(Line {
            bytes,
            number: self.number,
            end: self.end,
            terminated,
        }))
    }

    /// Reads up to the line's end; how many bytes.
    fn read_on(&mut self) -> io::Result<u64> {
        let there = u64::try_from(self.buffer.len()).unwrap_or(u64::MAX);
        let read = self
            .input
            .by_ref()
            .take(MAX_LINE.saturating_sub(there))
            .read_until(b'\n', &mut self.buffer)?;
        let read = u64::try_from(read).unwrap_or(u64::MAX);
        if !self.buffer.ends_with(b"\n") && there.saturating_add(read) >= MAX_LINE {
            return Err(too_long(&format!("line {}", self.number + 1)));
        }
        Ok(read)
    }
}

fn too_long(which: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("{which} is longer than any entry"),
    )
}

/// A cursor over lines from the last to the first.
pub(super) struct LinesBack<R> {
    input: R,
    /// Offset of the first byte in `buffer`.
    start: u64,
    /// What is read and not handed out yet, from `start` on.
    buffer: Vec<u8>,
}

/// One line, read from the end.
pub(super) struct LineBack {
    /// Without the line end.
    pub bytes: Vec<u8>,
    /// Offset of its first byte.
    pub start: u64,
    /// Did a line end follow?
    pub terminated: bool,
}

impl<R: Read + Seek> LinesBack<R> {
    /// # Errors
    /// The input has no end that can be sought.
    pub(super) fn new(mut input: R) -> io::Result<Self> {
        let start = input.seek(SeekFrom::End(0))?;
        Ok(Self {
            input,
            start,
            buffer: Vec::new(),
        })
    }

    /// The line before, or `None` at the start.
    ///
    /// # Errors
    /// The file cannot be read, or a line is longer than any entry.
    pub(super) fn next(&mut self) -> io::Result<Option<LineBack>> {
        loop {
            let terminated = self.buffer.ends_with(b"\n");
            let body = self
                .buffer
                .strip_suffix(b"\n")
                .unwrap_or(self.buffer.as_slice());
            let before = memchr::memrchr(b'\n', body).map(|at| at + 1);
            let begins = match before {
                Some(at) => Some(at),
                None if self.start == 0 => Some(0),
                None => None,
            };
            if let Some(at) = begins {
                if self.buffer.is_empty() {
                    return Ok(None);
                }
                let mut bytes = self.buffer.split_off(at);
                if terminated {
                    bytes.pop();
                }
                let start = self.start.saturating_add(u64::try_from(at).unwrap_or(0));
                return Ok(Some(LineBack {
                    bytes,
                    start,
                    terminated,
                }));
            }
            self.read_block()?;
        }
    }

    fn read_block(&mut self) -> io::Result<()> {
        if u64::try_from(self.buffer.len()).unwrap_or(u64::MAX) >= MAX_LINE {
            return Err(too_long(&format!("the line before byte {}", self.start)));
        }
        let size = BLOCK.min(self.start);
        self.start -= size;
        self.input.seek(SeekFrom::Start(self.start))?;
        let mut block = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
        self.input.read_exact(&mut block)?;
        block.append(&mut self.buffer);
        self.buffer = block;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn back(text: &str) -> Vec<(String, u64, bool)> {
        let mut lines = LinesBack::new(Cursor::new(text.as_bytes())).expect("sought");
        let mut found = Vec::new();
        while let Some(line) = lines.next().expect("read") {
            let text = String::from_utf8(line.bytes).expect("text");
            found.push((text, line.start, line.terminated));
        }
        found
    }

    #[test]
    fn backwards_gives_the_same_lines() {
        let line = |text: &str, start, terminated| (text.to_owned(), start, terminated);
        assert_eq!(back(""), []);
        assert_eq!(back("a\n"), [line("a", 0, true)]);
        assert_eq!(
            back("a\n\nbc"),
            [line("bc", 3, false), line("", 2, true), line("a", 0, true)]
        );
        // Longer than a block, and line ends at its borders.
        let long: Vec<String> = (0..3000_usize).map(|n| "x".repeat(n % 131)).collect();
        let text = long.join("\n") + "\n";
        let mut found: Vec<String> = back(&text).into_iter().map(|line| line.0).collect();
        found.reverse();
        assert_eq!(found, long);
    }

    #[test]
    fn a_line_that_is_still_being_written_is_read_to_its_end() {
        /// Shows the end of the file once before the rest is there.
        struct Growing(Vec<&'static [u8]>);
        impl Read for Growing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                unreachable!("lines are read through the buffer")
            }
        }
        impl BufRead for Growing {
            fn fill_buf(&mut self) -> io::Result<&[u8]> {
                if self.0.first().is_some_and(|part| part.is_empty()) {
                    self.0.remove(0);
                    return Ok(&[]);
                }
                Ok(self.0.first().copied().unwrap_or_default())
            }
            fn consume(&mut self, amount: usize) {
                if let Some(part) = self.0.first_mut() {
                    *part = part.get(amount..).unwrap_or_default();
                    if part.is_empty() && self.0.len() > 1 {
                        self.0.remove(0);
                    }
                }
            }
        }
        let mut lines = Lines::new(Growing(vec![b"{\"seq\"", b"", b":1}\n"]));
        let line = lines.next().expect("read").expect("a line");
        assert_eq!(
            (line.bytes, line.terminated),
            (b"{\"seq\":1}".as_slice(), true)
        );
        assert!(lines.next().expect("read").is_none());
    }
}
