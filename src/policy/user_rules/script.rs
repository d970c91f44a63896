//! A user rule as a script in Rhai: the language as far as it is let in, and its limits.
//!
//! The engine is bare: no packages, no modules, no `eval`, no closures, no output. INVARIANT: every script ends after
//! at most [`MAX_OPERATIONS`] counted operations, and every value it holds has a bounded size.

use super::tokens;
use crate::policy::source::{Place, Problem, SourceFile};
use crate::policy::yaml::MAX_BYTES;
use rhai::{AST, Engine, OptimizationLevel, Scope};
use std::sync::Arc;

/// The most operations of one run. Functions that look at much count for many.
pub const MAX_OPERATIONS: u64 = 200_000;
/// The most bytes of one string, and of all strings in one array or map.
pub const MAX_STRING: usize = 16 * 1024;
/// The most values in one array, nested ones included.
pub const MAX_ARRAY: usize = 128;
/// The most values in one map, nested ones included.
pub const MAX_MAP: usize = 64;
/// The most variables at one time.
pub const MAX_VARIABLES: usize = 64;
/// How deep functions of the script may call each other.
pub const MAX_CALLS: usize = 8;
/// How deep expressions may be nested.
pub const MAX_DEPTH: usize = 32;
/// The most functions that a script may define.
const MAX_FUNCTIONS: usize = 32;

/// The constants that a script finds: what was read, and the quadrants it can raise to.
pub const CONSTANTS: [&str; 4] = ["facts", "B", "C", "D"];

/// The properties that a rule can ask for.
pub const PROPERTIES: [&str; 24] = [
    "added_lines",
    "additions",
    "author",
    "base",
    "changes",
    "commits",
    "deletions",
    "draft",
    "extension",
    "files",
    "folder",
    "is_empty",
    "labels",
    "len",
    "message",
    "name",
    "number",
    "path",
    "previous_path",
    "removed_lines",
    "repo",
    "sha",
    "status",
    "subject",
];
/// The functions that a rule can call.
pub const FUNCTIONS: [&str; 29] = [
    "adds",
    "after",
    "before",
    "contains",
    "ends_with",
    "find",
    "has_label",
    "is_empty",
    "join",
    "keys",
    "len",
    "lower",
    "matches",
    "matching",
    "parse_int",
    "push",
    "raise",
    "removes",
    "replaced",
    "says",
    "set",
    "split",
    "starts_with",
    "to_string",
    "trailer",
    "trimmed",
    "type_of",
    "upper",
    "with_status",
];
/// Words of the language that may stand before a parenthesis.
pub(super) const KEYWORDS: [&str; 13] = [
    "catch", "do", "else", "for", "if", "in", "let", "loop", "return", "switch", "throw", "until",
    "while",
];

/// Words of the language that are refused when the script is read.
const REFUSED: [&str; 2] = ["eval", "Fn"];

/// A script, compiled once.
#[derive(Debug, Clone)]
pub struct Script {
    tree: Arc<AST>,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// The first place that cannot be read, or a variable that does not exist.
    pub(super) fn compile(file: &SourceFile) -> Result<Self, Problem> {
        let text = file.text.strip_prefix('\u{feff}').unwrap_or(&file.text);
        if text.len() > MAX_BYTES {
            let message = format!("the file has {} bytes, more than {MAX_BYTES}", text.len());
            return Err(Problem::new(&file.shown, Place::START, message));
        }
        // In strict mode a name must be known when the script is read; the values come when it runs.
        let mut scope = Scope::new();
        for name in CONSTANTS {
            scope.push_constant(name, ());
        }
        let tree = engine().compile_with_scope(&scope, text).map_err(|error| {
            let what = lower(&error.err_type().to_string());
            let message = format!("not readable as a script: {what}");
            Problem::new(&file.shown, place(error.position()), message)
                .hint("see `docs/user-rules.md`")
        })?;
        tokens::check(text).map_err(|(place, message, hint)| {
            Problem::new(&file.shown, place, message).hint(hint)
        })?;
        Ok(Self {
            tree: Arc::new(tree),
        })
    }

    /// The compiled script.
    #[must_use]
    pub fn tree(&self) -> &AST {
        &self.tree
    }
}

/// A bare engine with the language and the limits of user rules. It knows no function.
#[must_use]
pub fn engine() -> Engine {
    let mut engine = Engine::new_raw();
    engine
        .set_optimization_level(OptimizationLevel::None)
        .set_strict_variables(true)
        .set_fail_on_invalid_map_property(true)
        .set_allow_anonymous_fn(false)
        // The built-in operators answer `false` for `1 > "a"`; ours are asked first and fail.
        .set_fast_operators(false)
        .set_max_operations(MAX_OPERATIONS)
        .set_max_string_size(MAX_STRING)
        .set_max_array_size(MAX_ARRAY)
        .set_max_map_size(MAX_MAP)
        .set_max_variables(MAX_VARIABLES)
        .set_max_call_levels(MAX_CALLS)
        .set_max_functions(MAX_FUNCTIONS)
        .set_max_expr_depths(MAX_DEPTH, MAX_DEPTH);
    for word in REFUSED {
        engine.disable_symbol(word);
    }
    engine
}

/// A place in a script.
#[must_use]
pub fn place(position: rhai::Position) -> Place {
    Place {
        line: position.line().unwrap_or(1),
        column: position.position().unwrap_or(1),
    }
}

/// The engine's sentences as clauses.
#[must_use]
pub fn lower(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}
