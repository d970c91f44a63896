//! Which grammar reads a file, by the ending of its path.
//!
//! Endings are compared with case: to recognise a language lowers criticality, so doubt is "unknown".

use tree_sitter::Language as Grammar;

/// A language whose comments can be told from its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// JavaScript, with JSX.
    JavaScript,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C, and headers that may be C++.
    C,
    /// C++.
    Cpp,
    /// C#.
    CSharp,
    /// Ruby.
    Ruby,
    /// Bash and POSIX shell.
    Bash,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 12] = [
        Self::Rust,
        Self::Python,
        Self::JavaScript,
        Self::TypeScript,
        Self::Tsx,
        Self::Go,
        Self::Java,
        Self::C,
        Self::Cpp,
        Self::CSharp,
        Self::Ruby,
        Self::Bash,
    ];

    /// The language of a file; `None` when no grammar is known for it.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next()?;
        let (stem, ending) = name.rsplit_once('.')?;
        if stem.is_empty() {
            return None;
        }
        match ending {
            "rs" => Some(Self::Rust),
            "py" | "pyi" => Some(Self::Python),
            "js" | "mjs" | "cjs" | "jsx" => Some(Self::JavaScript),
            "ts" | "mts" | "cts" => Some(Self::TypeScript),
            "tsx" => Some(Self::Tsx),
            "go" => Some(Self::Go),
            "java" => Some(Self::Java),
            "c" | "h" => Some(Self::C),
            "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => Some(Self::Cpp),
            "cs" => Some(Self::CSharp),
            "rb" => Some(Self::Ruby),
            "sh" | "bash" => Some(Self::Bash),
            _ => None,
        }
    }

    /// The name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::TypeScript => "TypeScript",
            Self::Tsx => "TSX",
            Self::Go => "Go",
            Self::Java => "Java",
            Self::C => "C",
            Self::Cpp => "C++",
            Self::CSharp => "C#",
            Self::Ruby => "Ruby",
            Self::Bash => "Bash",
        }
    }

    /// The grammars that must all agree. A `.h` file may be C or C++: both are asked.
    pub(super) fn grammars(self, path: &str) -> Vec<Grammar> {
        match self {
            Self::Rust => vec![tree_sitter_rust::LANGUAGE.into()],
            Self::Python => vec![tree_sitter_python::LANGUAGE.into()],
            Self::JavaScript => vec![tree_sitter_javascript::LANGUAGE.into()],
            Self::TypeScript => vec![tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()],
            Self::Tsx => vec![tree_sitter_typescript::LANGUAGE_TSX.into()],
            Self::Go => vec![tree_sitter_go::LANGUAGE.into()],
            Self::Java => vec![tree_sitter_java::LANGUAGE.into()],
            Self::C if path.rsplit('.').next() == Some("h") => {
                vec![
                    tree_sitter_c::LANGUAGE.into(),
                    tree_sitter_cpp::LANGUAGE.into(),
                ]
            }
            Self::C => vec![tree_sitter_c::LANGUAGE.into()],
            Self::Cpp => vec![tree_sitter_cpp::LANGUAGE.into()],
            Self::CSharp => vec![tree_sitter_c_sharp::LANGUAGE.into()],
            Self::Ruby => vec![tree_sitter_ruby::LANGUAGE.into()],
            Self::Bash => vec![tree_sitter_bash::LANGUAGE.into()],
        }
    }

    /// Does a line end mean something between two tokens (statements, preprocessor lines)?
    pub(super) fn line_ends_matter(self) -> bool {
        match self {
            Self::Rust | Self::Java => false,
            Self::Python
            | Self::JavaScript
            | Self::TypeScript
            | Self::Tsx
            | Self::Go
            | Self::C
            | Self::Cpp
            | Self::CSharp
            | Self::Ruby
            | Self::Bash => true,
        }
    }

    /// Can the line be blank or hold a comment? Wrong only in the direction of "no".
    pub(super) fn may_be_comment(self, line: &str) -> bool {
        let line = line.trim();
        if line.is_empty() {
            return true;
        }
        match self {
            Self::Python | Self::Ruby | Self::Bash => line.contains('#'),
            Self::Rust
            | Self::JavaScript
            | Self::TypeScript
            | Self::Tsx
            | Self::Go
            | Self::Java
            | Self::C
            | Self::Cpp
            | Self::CSharp => {
                line.contains("//") || line.starts_with('*') || self.block_marker(line)
            }
        }
    }

    /// Does the line open or close a block comment?
    pub(super) fn block_marker(self, line: &str) -> bool {
        match self {
            Self::Python | Self::Bash => false,
            Self::Ruby => line.starts_with("=begin") || line.starts_with("=end"),
            Self::Rust
            | Self::JavaScript
            | Self::TypeScript
            | Self::Tsx
            | Self::Go
            | Self::Java
            | Self::C
            | Self::Cpp
            | Self::CSharp => line.contains("/*") || line.contains("*/"),
        }
    }
}
