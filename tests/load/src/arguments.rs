//! The command line: a command, options with a value each, and the rest.

use std::collections::HashMap;
use std::str::FromStr;

/// What was asked for.
pub struct Arguments {
    command: Option<String>,
    options: HashMap<String, String>,
    rest: Vec<String>,
}

impl Arguments {
    /// Those of this process.
    pub fn of_process() -> Self {
        let mut all = std::env::args().skip(1);
        let command = all.next();
        let (mut options, mut rest) = (HashMap::new(), Vec::new());
        while let Some(word) = all.next() {
            match word.strip_prefix("--") {
                Some(name) => {
                    options.insert(name.to_owned(), all.next().unwrap_or_default());
                }
                None => rest.push(word),
            }
        }
        Self {
            command,
            options,
            rest,
        }
    }

    pub fn command(&self) -> Option<&str> {
        self.command.as_deref()
    }

    pub fn rest(&self) -> &[String] {
        &self.rest
    }

    /// An option that must be there.
    pub fn text(&self, name: &str) -> Result<&str, String> {
        self.options
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| format!("`--{name}` is missing"))
    }

    pub fn text_or<'a>(&'a self, name: &str, otherwise: &'a str) -> &'a str {
        self.text(name).unwrap_or(otherwise)
    }

    pub fn number<T: FromStr>(&self, name: &str, otherwise: T) -> Result<T, String> {
        Ok(self.maybe(name)?.unwrap_or(otherwise))
    }

    pub fn maybe<T: FromStr>(&self, name: &str) -> Result<Option<T>, String> {
        self.options
            .get(name)
            .map(|text| {
                text.parse()
                    .map_err(|_| format!("`--{name} {text}` is no number"))
            })
            .transpose()
    }
}
