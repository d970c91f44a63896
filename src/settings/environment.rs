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
    let mut all = Environment::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
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
                }
                rest.split(quote).next().unwrap_or_default().to_owned()
            }
        };
        all.insert(name.trim().to_owned(), value);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::parse_dotenv;

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
}
