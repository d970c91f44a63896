//! A configuration file as text, and what is said about a place in it: problems, warnings, origins.
//!
//! Nothing here reads a disk. Every problem names file, line and column and, where there is one, the way out.

use std::fmt;
use std::path::Path;

/// One file of the configuration directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path in the directory with `/`, such as `env.yml` or `skills/classifier/no-todo.yml`.
    pub name: String,
    /// The path as people should see it, such as `config/env.yml`.
    pub shown: String,
    /// The whole text.
    pub text: String,
}

impl SourceFile {
    /// A file `name` of the directory `directory`.
    #[must_use]
    pub fn new(directory: &str, name: &str, text: &str) -> Self {
        let directory = directory.trim_end_matches('/');
        let shown = if directory.is_empty() || directory == "." {
            name.to_owned()
        } else {
            format!("{directory}/{name}")
        };
        Self {
            name: name.to_owned(),
            shown,
            text: text.to_owned(),
        }
    }

    /// Is this YAML by its name, whether or not it is one of ours?
    #[must_use]
    pub fn is_yaml(&self) -> bool {
        is_yaml(&self.name)
    }
}

/// Does a path end like a YAML file?
pub(crate) fn is_yaml(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| {
        ending.eq_ignore_ascii_case("yml") || ending.eq_ignore_ascii_case("yaml")
    })
}

/// A place in a text. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl Place {
    /// The first character of a file; also stands for a file that is missing.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// Something wrong with the configuration (or, in a list of warnings, worth a second look).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file as people should see it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong: a short clause with the user's own words in backticks.
    pub message: String,
    /// The way out.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem at a place, without a hint.
    #[must_use]
    pub fn new(file: &str, place: Place, message: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line: place.line,
            column: place.column,
            message: message.into(),
            hint: None,
        }
    }

    /// The same problem with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            column,
            message,
            hint,
        } = self;
        write!(f, "{file}:{line}:{column}: {message}")?;
        match hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}

/// Where a value of the effective policy comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Written in a file.
    File {
        /// The file as people should see it.
        file: String,
        /// Where the value stands.
        place: Place,
    },
    /// Nobody wrote it: the program's default.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, place } => write!(f, "{file}:{}:{}", place.line, place.column),
            Self::Default => f.write_str("default"),
        }
    }
}

/// One value of the effective policy, for `config show`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// The file's name and the key path, such as `env.yml: merge.enabled`.
    pub key: String,
    /// The value.
    pub value: serde_json::Value,
    /// Who said so.
    pub origin: Origin,
}
