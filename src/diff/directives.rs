//! Comments that are not only for people: compilers, linters, bundlers and test runners read them.
//!
//! A comment with a directive counts as code, its whole block with it. The list is generous: to take prose
//! for a directive makes a change critical, the other way round would hide a change of behaviour.

use super::Language;
use regex::Regex;
use std::sync::LazyLock;

/// Directives of any language.
const ANY: &str = r"(?i)^#!|spdx-|-\*-|\bvim?:|noqa|nosec\b|nosonar|nolint|no-?lint|lint[:=-]|lint-|eslint|tslint|jslint|jshint|pylint|flake8|rubocop|shellcheck|clang-|cppcheck|coverity|codeql|semgrep|gitleaks|trufflehog|pragma|type:|coding[:=]|fmt:|isort:|mypy:|ruff:|pyright:|pyre-|cspell|clippy|allow\(|prettier-|biome-|deno-|istanbul|c8 ignore|v8 ignore|lcov|gcov|codecov|iwyu|formatter:|@generated|code generated|auto-?generated|do not edit|fall-?s?[ -]?thr|noinspection|resharper|checkstyle|nopmd|suppress(warn|-|:)|sourceMappingURL|sourceURL|@ts-|@flow|@jsx|__pure__|__no_side_effects__|webpack|@vite|turbopack|#region|#endregion|<reference|<amd|@license|@preserve|@cc_on|@jest|@vitest|@babel|@swc|```|~~~|>>>|keep-sorted|\$non-nls|frozen_string|typed:";

static ANY_RE: LazyLock<Option<Regex>> = LazyLock::new(|| multi_line(ANY));
static SCRIPT_RE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    multi_line(
        r"@(type|typedef|template|satisfies|import|callback|enum|overload|internal|deprecated|param|returns?|this|extends|implements|public|private|protected|readonly|override)\b",
    )
});
static PYTHON_RE: LazyLock<Option<Regex>> =
    LazyLock::new(|| multi_line(r"(?i)^#\s*(///|%%|cython|distutils|doctest|language)|\btype:"));
static GO_RE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    multi_line(
        r"(?i)^//(go:|export\b|extern\b|line\b|sys\b|[a-z0-9]+:[a-z0-9])|^//\s*\+|^/\*line|^[/*\s]*(unordered )?output:|#cgo|deprecated:",
    )
});
static JAVA_RE: LazyLock<Option<Regex>> =
    LazyLock::new(|| multi_line(r"(?i)\\u|@deprecated|@formatter|<editor-fold"));
static C_RE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    multi_line(
        r"\\\s*$|\?\?/|(?i)^/[/*]!?\s*(line|argsused|notreached|printflike|varargs)|@(encode|end|sa)\b",
    )
});
static CSHARP_RE: LazyLock<Option<Regex>> =
    LazyLock::new(|| multi_line(r"(?i)<inheritdoc|<include\b|<auto-?generated"));
static RUBY_RE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    multi_line(
        r"(?i)^#\s*(encoding|warn_indent|warn_past_scope|shareable_constant_value|rbs|@rbs|sig|steep|sorbet|:nodoc:|:nocov:)|:(nodoc|nocov|stopdoc|startdoc):|^__END__|@!",
    )
});
static RUST_DOC_CODE: LazyLock<Option<Regex>> =
    LazyLock::new(|| multi_line(r"^\s*(///|//!|\*)?( {5,}|\t| ?\t)"));

fn multi_line(pattern: &str) -> Option<Regex> {
    regex::RegexBuilder::new(pattern)
        .multi_line(true)
        .build()
        .ok()
}

/// A pattern that failed to compile matches: then every comment counts as code.
fn hits(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    LazyLock::force(pattern)
        .as_ref()
        .is_none_or(|regex| regex.is_match(text))
}

/// Does this block of comments carry something a tool reads?
pub(super) fn is_directive(language: Language, block: &str) -> bool {
    if hits(&ANY_RE, block) {
        return true;
    }
    match language {
        Language::Rust => is_rust_doc(block) && hits(&RUST_DOC_CODE, block),
        Language::Python => hits(&PYTHON_RE, block),
        Language::JavaScript | Language::TypeScript | Language::Tsx => hits(&SCRIPT_RE, block),
        Language::Go => hits(&GO_RE, block),
        Language::Java => hits(&JAVA_RE, block),
        Language::C | Language::Cpp => hits(&C_RE, block),
        Language::CSharp => hits(&CSHARP_RE, block),
        Language::Ruby => hits(&RUBY_RE, block),
        Language::Bash => false,
    }
}

/// Is it a Rust doc comment, which the compiler turns into an attribute?
pub(super) fn is_rust_doc(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("///")
            || line.starts_with("//!")
            || line.starts_with("/**")
            || line.starts_with("/*!")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for pattern in [
            &ANY_RE,
            &SCRIPT_RE,
            &PYTHON_RE,
            &GO_RE,
            &JAVA_RE,
            &C_RE,
            &CSHARP_RE,
            &RUBY_RE,
            &RUST_DOC_CODE,
        ] {
            assert!(LazyLock::force(pattern).is_some());
        }
    }

    #[test]
    fn prose_is_no_directive() {
        for language in Language::ALL {
            for prose in [
                "// Adds two numbers and returns the sum.",
                "# old words",
                "/* why we do this\n * so */",
            ] {
                assert!(!is_directive(language, prose), "{language:?} {prose}");
            }
        }
        assert!(!is_directive(
            Language::Rust,
            "/// Says hello to everybody."
        ));
    }
}
