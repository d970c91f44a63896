//! The formats that `git` writes: raw changes, patches, blobs.
//!
//! INVARIANT: a path that is not UTF-8 becomes text that no path of a repository can be (it has an empty
//! component), so that it matches no narrowing list and is never taken for another path.

use std::collections::HashMap;
use std::fmt::Write;

/// A file mode as six octal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mode(String);

impl Mode {
    /// The kind of a regular file.
    pub const FILE: &'static str = "100";

    /// Regular file, symbolic link, submodule: the digits without the permissions.
    pub fn kind(&self) -> &str {
        self.0.get(..3).unwrap_or_default()
    }
}

/// One record of `git diff-tree --raw -z`.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub old_mode: Mode,
    pub new_mode: Mode,
    pub old_id: String,
    pub new_id: String,
    /// `A`, `M`, `D`, `R`, `C`, `T`, …
    pub letter: char,
    pub path: String,
    pub previous_path: Option<String>,
}

/// Reads `--raw -z`; `None` when it is not that.
pub(super) fn parse(output: &[u8]) -> Option<Vec<Change>> {
    let output = output.strip_suffix(b"\0").unwrap_or(output);
    let mut changes = Vec::new();
    if output.is_empty() {
        return Some(changes);
    }
    let mut fields = output.split(|byte| *byte == 0);
    while let Some(header) = fields.next() {
        let header = std::str::from_utf8(header).ok()?.strip_prefix(':')?;
        let mut words = header.split(' ');
        let mut word = || words.next().map(str::to_owned);
        let (old_mode, new_mode) = (Mode(word()?), Mode(word()?));
        let (old_id, new_id) = (word()?, word()?);
        let letter = word()?.chars().next()?;
        let first = path(fields.next()?);
        let (path, previous_path) = match letter {
            'R' | 'C' => (path(fields.next()?), Some(first)),
            _ => (first, None),
        };
        changes.push(Change {
            old_mode,
            new_mode,
            old_id,
            new_id,
            letter,
            path,
            previous_path,
        });
    }
    Some(changes)
}

/// A path as text. One that is not UTF-8 has its odd bytes written as `\xHH` and its last component set off by
/// an empty one: the directory and the ending still meet the widening lists.
fn path(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    match text.rsplit_once('/') {
        Some((directory, name)) => format!("{directory}//{name}"),
        None => format!("/{text}"),
    }
}

/// The sections of a patch, one a `diff --git` line. Lines of hunks start with a sign, so none can pass for it.
pub(super) fn sections(output: &[u8]) -> Vec<&[u8]> {
    const START: &[u8] = b"diff --git ";
    let mut starts = Vec::new();
    let mut at = 0;
    for line in output.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(START) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([output.len()]);
    starts
        .iter()
        .zip(ends)
        .filter_map(|(start, end)| output.get(*start..end))
        .collect()
}

/// A section from its first hunk on, without the last line end, as GitHub gives patches; `None`: no hunk.
pub(super) fn hunks(section: &[u8]) -> Option<&[u8]> {
    let mut at = 0;
    for line in section.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"@@ ") {
            let hunks = section.get(at..)?;
            return Some(hunks.strip_suffix(b"\n").unwrap_or(hunks));
        }
        at += line.len();
    }
    None
}

/// Reads `cat-file --batch`: the texts by id. What is missing or not UTF-8 is left out.
pub(super) fn blobs(mut output: &[u8]) -> Option<HashMap<String, String>> {
    let mut texts = HashMap::new();
    while !output.is_empty() {
        let end = output.iter().position(|byte| *byte == b'\n')?;
        let (header, rest) = output.split_at_checked(end)?;
        let header = std::str::from_utf8(header).ok()?;
        let rest = rest.get(1..)?;
        let mut words = header.split(' ');
        let (id, kind) = (words.next()?, words.next()?);
        if kind == "missing" {
            output = rest;
            continue;
        }
        let size: usize = words.next()?.parse().ok()?;
        let (content, after) = rest.split_at_checked(size)?;
        if let Ok(text) = std::str::from_utf8(content) {
            texts.insert(id.to_owned(), text.to_owned());
        }
        output = after.strip_prefix(b"\n")?;
    }
    Some(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_not_text_stays_apart() {
        assert_eq!(path(b"docs/caf\xc3\xa9.md"), "docs/café.md");
        assert_eq!(path(b"docs/caf\xe9.md"), "docs//caf\\xE9.md");
        assert_eq!(path(b"caf\xe9.md"), "/caf\\xE9.md");
    }

    #[test]
    fn sections_are_not_forged_by_content() {
        let patch = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+diff --git a/y b/y\n+@@ -1 +1 @@\ndiff --git a/z b/z\nold mode 100644\nnew mode 100755\n";
        let all = sections(patch);
        assert_eq!(all.len(), 2);
        let first = hunks(all[0]).expect("hunks");
        assert!(first.starts_with(b"@@ -1 +1 @@\n-a") && first.ends_with(b"+1 @@"));
        assert!(hunks(all[1]).is_none());
    }

    #[test]
    fn what_is_not_the_format_is_no_empty_list() {
        assert!(parse(b"fatal: no").is_none());
        assert!(parse(b":100644 100644 a b R100\0only-one").is_none());
        assert!(blobs(b"abc blob 10\nshort").is_none());
    }
}
