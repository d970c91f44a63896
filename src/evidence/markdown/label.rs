//! `Label: value` in the ways people write it. A literal line has no label.

use super::literal::is_literal;

/// A line split at its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Labelled<'a> {
    /// The label without dress and colon.
    pub label: &'a str,
    /// What follows; may be empty.
    pub value: &'a str,
    /// Is the label dressed (bold, emphasised, code)?
    pub strong: bool,
    /// Is there a separator: a colon with a blank or nothing behind it?
    pub clear: bool,
}

/// What stands behind a label.
pub(super) const COLONS: [char; 2] = [':', '：'];

/// Splits `Label: value`, `**Label:** value`, `**Label**: value`, `**Label** — value` and `**Label: value**`.
pub(super) fn split(line: &str) -> Option<Labelled<'_>> {
    let line = line.trim();
    if is_literal(line) {
        return None;
    }
    match ["**", "__", "*", "_", "`"]
        .into_iter()
        .find_map(|mark| dressed(line, mark))
    {
        Some(labelled) => Some(labelled),
        None => plain(line),
    }
}

fn dressed<'a>(line: &'a str, mark: &str) -> Option<Labelled<'a>> {
    let (inside, after) = line.strip_prefix(mark)?.split_once(mark)?;
    if inside.is_empty() {
        return None;
    }
    let strong = true;
    // A line of code is a value, not a label with one: only what follows the code span makes it a label.
    let code = mark == "`";
    if let Some(label) = inside.trim_end().strip_suffix(COLONS).filter(|_| !code) {
        return Some(Labelled {
            label: label.trim(),
            value: after.trim(),
            strong,
            clear: true,
        });
    }
    let rest = after.trim_start();
    let dash = ["— ", "– ", "- "]
        .into_iter()
        .find_map(|dash| rest.strip_prefix(dash));
    if let Some(value) = rest.strip_prefix(COLONS).or(dash) {
        return Some(Labelled {
            label: inside.trim(),
            value: value.trim(),
            strong,
            clear: true,
        });
    }
    if rest.is_empty() && !code {
        return match inside.split_once(COLONS) {
            Some((label, value)) => Some(Labelled {
                label: label.trim(),
                value: value.trim(),
                strong,
                clear: true,
            }),
            None => Some(Labelled {
                label: inside.trim(),
                value: "",
                strong,
                clear: false,
            }),
        };
    }
    None
}

fn plain(line: &str) -> Option<Labelled<'_>> {
    let (label, value) = line.split_once(COLONS)?;
    let fits = !label.trim().is_empty() && label.chars().count() <= 60 && !label.contains('`');
    let wide = line
        .get(label.len()..)
        .is_some_and(|rest| rest.starts_with('：'));
    fits.then(|| Labelled {
        label: label.trim(),
        value: value.trim(),
        strong: false,
        clear: wide || value.is_empty() || value.starts_with(' '),
    })
}

/// Could an unknown label be meant as one? Short, without the marks of a sentence.
pub(super) fn plausible(labelled: &Labelled<'_>) -> bool {
    let sentence = labelled.label.contains(['.', '!', '?', ',', ';', '`', '|']);
    labelled.clear && !sentence && labelled.label.chars().count() <= 40
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_in_every_dress() {
        for line in [
            "Status: PASS",
            "**Status:** PASS",
            "**Status**: PASS",
            "**Status** — PASS",
            "**Status: PASS**",
            "`Status`: PASS",
            "Status：PASS",
            "_Status_: PASS",
        ] {
            let found = split(line).map(|found| (found.label, found.value));
            assert_eq!(found, Some(("Status", "PASS")), "{line}");
        }
        assert_eq!(split("`a:b` is a ratio"), None);
        assert_eq!(split("no label here"), None);
    }
}
