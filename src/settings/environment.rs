//! The environment as a value: the process's variables over those of a `.env` file.

use std::collections::BTreeMap;
use std::path::Path;

/// Variables by name.
pub type Environment = BTreeMap<String, String>;

/// The variables of this process, over those of `.env` in `directory` if there is one (development).
///
/// # Errors
/// `.env` is there and cannot be read or understood.
pub fn from_process(directory: &Path) -> Result<Environment, String> {
    let path = directory.join(".env");
    let mut all = match std::fs::read_to_string(&path) {
        Ok(text) => parse_dotenv(&text)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Environment::new(),
        Err(error) => return Err(format!("`.env` cannot be read: {error}")),
    };
    let process = std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)));
    all.extend(process);
    Ok(all)
}

/// Reads the text of a `.env` file: `NAME=value` lines, `#` comments, an optional `export`, values in single
/// or double quotes, which may run over several lines.
///
/// # Errors
/// Names the line that is no assignment, or where a quote opens that is never closed. Values are not shown.
pub fn parse_dotenv(text: &str) -> Result<Environment, String> {
    let assigned = pieces(text)?.into_iter().filter_map(|piece| piece.assigns);
    Ok(assigned.collect())
}

/// The text of a `.env` file without the assignments of these variables.
///
/// # Errors
/// Those of [`parse_dotenv`].
pub fn without_variables(text: &str, names: &[&str]) -> Result<String, String> {
    let stays = |piece: &Piece| {
        let name = piece.assigns.as_ref().map(|(name, _)| name.as_str());
        name.is_none_or(|name| !names.contains(&name))
    };
    let rest = pieces(text)?.into_iter().filter(stays);
    Ok(rest.map(|piece| piece.lines).collect())
}

/// A comment, an empty line, or an assignment.
struct Piece {
    /// As it stands, each line with its end.
    lines: String,
    assigns: Option<(String, String)>,
}

fn pieces(text: &str) -> Result<Vec<Piece>, String> {
    let mut all = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, whole)) = lines.next() {
        let mut piece = Piece {
            lines: format!("{whole}\n"),
            assigns: None,
        };
        let line = whole.trim();
        if line.is_empty() || line.starts_with('#') {
            all.push(piece);
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, value)) = line.split_once('=') else {
            return Err(format!(
                ".env:{}:1: not of the form `NAME=value`",
                index + 1
            ));
        };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let value = match quote {
            None => value.split(" #").next().unwrap_or(value).trim().to_owned(),
            Some(quote) => {
                let mut rest = value.strip_prefix(quote).unwrap_or(value).to_owned();
                while !rest.contains(quote) {
                    let Some((_, next)) = lines.next() else {
                        return Err(format!(".env:{}:1: the quote is never closed", index + 1));
                    };
                    rest.push('\n');
                    rest.push_str(next);
                    piece.lines.push_str(next);
                    piece.lines.push('\n');
                }
                rest.split(quote).next().unwrap_or_default().to_owned()
            }
        };
        piece.assigns = Some((name.trim().to_owned(), value));
        all.push(piece);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::{parse_dotenv, without_variables};

    #[test]
    fn reads_assignments_quotes_and_keys_over_several_lines() {
        let text =
            "# a comment\n\nexport A=1\nB = \"two words\" # no\nC='x\ny'\nD=plain # note\nE=\n";
        let all = parse_dotenv(text).expect("reads");
        let get = |name: &str| all.get(name).map(String::as_str);
        assert_eq!(get("A"), Some("1"));
        assert_eq!(get("B"), Some("two words"));
        assert_eq!(get("C"), Some("x\ny"));
        assert_eq!(get("D"), Some("plain"));
        assert_eq!(get("E"), Some(""));
    }

    #[test]
    fn names_the_line_and_never_the_value() {
        let error = parse_dotenv("A=1\nhunter2\n").expect_err("no assignment");
        assert_eq!(error, ".env:2:1: not of the form `NAME=value`");
        let error = parse_dotenv("A=\"hunter2\n").expect_err("open quote");
        assert!(error.starts_with(".env:1:1:") && !error.contains("hunter2"));
    }

    #[test]
    fn variables_are_taken_out_and_the_rest_stays_as_it_is() {
        let text = "# mine\nA=1\nexport KEY='x\ny'\nB = \"2\" # two\n";
        let rest = without_variables(text, &["KEY", "C"]).expect("reads");
        assert_eq!(rest, "# mine\nA=1\nB = \"2\" # two\n");
    }
}
