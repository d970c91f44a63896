//! A tree of YAML against the shape of a Rust type: every mistake with its place, not only the first.
//!
//! The shape is the JSON Schema that `schemars` makes from the type, so that the type is the one source of
//! truth for the program, for editors and for these messages. INVARIANT: a tree without problems here is a
//! JSON value that serde reads into the type.

use super::nearest::nearest;
use super::source::{Effective, Origin, Place, Problem, SourceFile};
use super::yaml::{self, Entry, Kind, Node};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A file as its type, with the place of every key.
#[derive(Debug)]
pub(crate) struct Written<T> {
    pub value: T,
    file: String,
    name: String,
    root: Node,
}

/// Reads one file into its type.
///
/// # Errors
/// Everything that is wrong with it. Keys that this program accepts but does not use go to `warnings`.
pub(crate) fn read<T: DeserializeOwned + JsonSchema>(
    file: &SourceFile,
    warnings: &mut Vec<Problem>,
) -> Result<Written<T>, Vec<Problem>> {
    let root = yaml::parse(file)?;
    let schema = schema::<T>();
    let mut walk = Walk {
        file: &file.shown,
        definitions: schema.get("$defs"),
        problems: Vec::new(),
        warnings: Vec::new(),
    };
    let value = walk.value(&root, &schema, "the file");
    warnings.append(&mut walk.warnings);
    if !walk.problems.is_empty() {
        return Err(walk.problems);
    }
    match serde_json::from_value(value) {
        Ok(value) => Ok(Written {
            value,
            file: file.shown.clone(),
            name: file.name.clone(),
            root,
        }),
        Err(error) => Err(vec![Problem::new(
            &file.shown,
            Place::START,
            error.to_string(),
        )]),
    }
}

/// The JSON Schema of a type, without references except to types that hold themselves.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().into()
}

impl<T> Written<T> {
    /// A problem at the value under `path`, or at the nearest key above it that is written.
    pub fn problem(&self, path: &[&str], message: impl Into<String>) -> Problem {
        Problem::new(&self.file, self.place(path), message)
    }

    /// A problem at the key at the end of `path` instead of its value.
    pub fn key_problem(&self, path: &[&str], message: impl Into<String>) -> Problem {
        let at = path.split_last().and_then(|(last, parents)| {
            let mut node = &self.root;
            for step in parents {
                node = node.get(step)?;
            }
            node.key_place(last)
        });
        Problem::new(&self.file, at.unwrap_or_else(|| self.place(path)), message)
    }

    fn place(&self, path: &[&str]) -> Place {
        let mut node = &self.root;
        for step in path {
            match node.get(step) {
                Some(next) => node = next,
                None => break,
            }
        }
        node.place
    }

    /// Is anything written under this path?
    pub fn is_written(&self, path: &[&str]) -> bool {
        path.iter()
            .try_fold(&self.root, |node, step| node.get(step))
            .is_some_and(|node| !node.is_null())
    }

    /// The values of `resolved` (this file with defaults filled in) with their origins; a list is one value.
    pub fn effective(&self, resolved: &Value) -> Vec<Effective> {
        let mut rows = Vec::new();
        flatten(resolved, &mut Vec::new(), &mut |path, value| {
            let origin = if self.is_written(path) {
                Origin::File {
                    file: self.file.clone(),
                    place: self.place(path),
                }
            } else {
                Origin::Default
            };
            rows.push(Effective {
                key: format!("{}: {}", self.name, path.join(".")),
                value: value.clone(),
                origin,
            });
        });
        rows
    }
}

/// Calls `each` for every value that is not a mapping with keys.
pub(crate) fn flatten<'a>(
    value: &'a Value,
    path: &mut Vec<&'a str>,
    each: &mut impl FnMut(&[&str], &Value),
) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (key, member) in members {
                path.push(key);
                flatten(member, path, each);
                path.pop();
            }
        }
        Value::Object(_)
        | Value::Array(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_) => each(path, value),
    }
}

struct Walk<'a> {
    file: &'a str,
    /// Schemas of types that hold themselves.
    definitions: Option<&'a Value>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl<'a> Walk<'a> {
    /// What a reference stands for; the depth of the tree bounds how often that is asked.
    fn resolved<'s>(&self, schema: &'s Value) -> &'s Value
    where
        'a: 's,
    {
        let name = schema.get("$ref").and_then(Value::as_str);
        let name = name.and_then(|name| name.strip_prefix("#/$defs/"));
        name.and_then(|name| self.definitions?.get(name))
            .unwrap_or(schema)
    }

    /// The value of `node` as the schema wants it; `what` names it in messages. After a problem: anything.
    fn value(&mut self, node: &Node, schema: &Value, what: &str) -> Value {
        let schema = self.resolved(schema);
        let types = types(schema);
        if node.is_null() && (types.contains(&"null") || admits_null(schema)) {
            return Value::Null;
        }
        if let Some(words) = words(schema) {
            return self.word(node, &words, what);
        }
        if let Some(branch) = only_branch(schema) {
            return self.value(node, branch, what);
        }
        let wanted = types.iter().copied().find(|t| *t != "null");
        match (&node.kind, wanted) {
            (Kind::Map(entries), Some("object")) => self.mapping(node, entries, schema, what),
            (Kind::List(items), Some("array")) => self.list(node, items, schema, what),
            (Kind::Scalar { text, plain }, Some(wanted)) if wanted != "object" => {
                self.scalar(node, text, *plain, wanted, schema, what)
            }
            _ => self.mismatch(node, wanted.unwrap_or("nothing"), what),
        }
    }

    fn mapping(&mut self, node: &Node, entries: &[Entry], schema: &Value, what: &str) -> Value {
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        let mut members = Map::new();
        let mut meant = Vec::new();
        for entry in entries {
            let known = properties.and_then(|p| p.get(&entry.key));
            let ((Some(schema), _) | (None, Some(schema @ Value::Object(_)))) = (known, others)
            else {
                meant.extend(self.unknown_key(entry, properties));
                continue;
            };
            if let Some(why) = schema.get("x-unused").and_then(Value::as_str) {
                let message = format!("`{}` is not used: {why}", entry.key);
                self.warnings
                    .push(Problem::new(self.file, entry.place, message));
                continue;
            }
            let what = format!("`{}`", entry.key);
            let value = self.value(&entry.value, schema, &what);
            members.insert(entry.key.clone(), value);
        }
        let required = schema.get("required").and_then(Value::as_array);
        for key in required.into_iter().flatten().filter_map(Value::as_str) {
            if !entries.iter().any(|entry| entry.key == key) && !meant.contains(&key) {
                let message = if what == "the file" {
                    format!("the key `{key}` is missing")
                } else {
                    format!("the key `{key}` is missing in {what}")
                };
                self.problems
                    .push(Problem::new(self.file, node.place, message));
            }
        }
        Value::Object(members)
    }

    /// Notes an unknown key; the known one that was probably meant.
    fn unknown_key<'s>(
        &mut self,
        entry: &Entry,
        properties: Option<&'s Map<String, Value>>,
    ) -> Option<&'s str> {
        let keys = || properties.into_iter().flat_map(Map::keys);
        let problem = Problem::new(
            self.file,
            entry.place,
            format!("unknown key `{}`", entry.key),
        );
        let near = nearest(&entry.key, keys().map(String::as_str));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "known keys: {}",
                keys()
                    .map(|k| format!("`{k}`"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        };
        self.problems.push(problem.hint(hint));
        near
    }

    fn list(&mut self, node: &Node, items: &[Node], schema: &Value, what: &str) -> Value {
        let item_schema = schema.get("items").unwrap_or(&Value::Null);
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        if u64::try_from(items.len()).is_ok_and(|count| count < least) {
            let message = format!("{what} must not be an empty list");
            self.problems
                .push(Problem::new(self.file, node.place, message));
        }
        let one = format!("an item of {what}");
        let values: Vec<Value> = items
            .iter()
            .map(|item| self.value(item, item_schema, &one))
            .collect();
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            self.repeated(items, &values, what);
        }
        Value::Array(values)
    }

    fn repeated(&mut self, items: &[Node], values: &[Value], what: &str) {
        let mut seen: Vec<&Value> = Vec::new();
        for (item, value) in items.iter().zip(values) {
            if seen.contains(&value) {
                let message = format!("{value} stands twice in {what}").replace('"', "`");
                self.problems
                    .push(Problem::new(self.file, item.place, message));
            }
            seen.push(value);
        }
    }

    fn word(&mut self, node: &Node, words: &[&str], what: &str) -> Value {
        if let Kind::Scalar { text, .. } = &node.kind
            && words.contains(&text.as_str())
        {
            return Value::String(text.clone());
        }
        let all = words
            .iter()
            .map(|w| format!("`{w}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let message = format!("{what} must be one of {all}, found {}", found(node));
        let mut problem = Problem::new(self.file, node.place, message);
        if let Kind::Scalar { text, .. } = &node.kind
            && let Some(near) = nearest(text, words.iter().copied())
        {
            problem = problem.hint(format!("did you mean `{near}`?"));
        }
        self.problems.push(problem);
        Value::Null
    }

    fn scalar(
        &mut self,
        node: &Node,
        text: &str,
        plain: bool,
        wanted: &str,
        schema: &Value,
        what: &str,
    ) -> Value {
        let value = match wanted {
            "string" if !plain || is_text(text) => Some(Value::from(text)),
            "boolean" if plain => boolean(text).map(Value::from),
            "integer" if plain => text.parse::<u64>().ok().map(Value::from),
            _ => None,
        };
        let Some(value) = value else {
            return self.mismatch(node, wanted, what);
        };
        self.bounds(node, &value, schema, what);
        value
    }

    fn bounds(&mut self, node: &Node, value: &Value, schema: &Value, what: &str) {
        let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
        let message = match value {
            Value::String(text) => {
                let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
                if limit("minLength").is_some_and(|least| length < least) {
                    Some(format!("{what} must not be empty"))
                } else {
                    limit("maxLength")
                        .filter(|most| length > *most)
                        .map(|most| format!("{what} has {length} characters, at most {most} fit"))
                }
            }
            Value::Number(number) => number.as_u64().and_then(|number| {
                let least = limit("minimum").unwrap_or(0);
                let most = limit("maximum").unwrap_or(u64::MAX);
                let fits = (least..=most).contains(&number);
                (!fits).then(|| format!("{what} must be from {least} to {most}, found `{number}`"))
            }),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        if let Some(message) = message {
            self.problems
                .push(Problem::new(self.file, node.place, message));
        }
    }

    fn mismatch(&mut self, node: &Node, wanted: &str, what: &str) -> Value {
        let expected = match wanted {
            "string" => "text",
            "boolean" => "`true` or `false`",
            "integer" => "a whole number",
            "array" => "a list",
            "object" => "a mapping of keys to values",
            other => other,
        };
        let message = format!("{what} must be {expected}, found {}", found(node));
        let mut problem = Problem::new(self.file, node.place, message);
        problem.hint = match (wanted, &node.kind) {
            ("string", Kind::Scalar { text, plain: true }) if !text.is_empty() => {
                Some(format!("put it in quotes: \"{text}\""))
            }
            ("array", Kind::Scalar { text, .. }) if !text.is_empty() => {
                Some(format!("write `[{text}]`"))
            }
            ("array" | "object", _) if node.is_null() => {
                Some("remove the line, or give it a value".to_owned())
            }
            _ => None,
        };
        self.problems.push(problem);
        Value::Null
    }
}

/// What stands there, for messages. Long text is cut.
fn found(node: &Node) -> String {
    match &node.kind {
        _ if node.is_null() => "nothing".to_owned(),
        Kind::List(_) => "a list".to_owned(),
        Kind::Map(_) => "a mapping".to_owned(),
        Kind::Scalar { text, .. } => {
            let short: String = text.chars().take(60).collect();
            format!("`{short}`")
        }
    }
}

/// YAML 1.2 words, and those of 1.1 that older tools read as booleans: here only a boolean can be meant.
fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Would a YAML reader take this unquoted scalar for text (and not for a number, a boolean or nothing)?
fn is_text(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let like_a_number = lower.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && (text.parse::<f64>().is_ok() || lower.starts_with("0x") || lower.starts_with("0o"));
    !matches!(lower.as_str(), "" | "~" | "null" | "true" | "false") && !like_a_number
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn branches(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"]
        .into_iter()
        .filter_map(|key| schema.get(key).and_then(Value::as_array))
        .flatten()
}

fn admits_null(schema: &Value) -> bool {
    branches(schema).any(|branch| types(branch) == ["null"] || admits_null(branch))
}

/// The one branch of an optional value that is not `null`.
fn only_branch(schema: &Value) -> Option<&Value> {
    let mut real = branches(schema).filter(|branch| types(branch) != ["null"]);
    let first = real.next()?;
    real.next().is_none().then_some(first)
}

/// The words of an enumeration, whichever way `schemars` writes it; `None` when it is none.
fn words(schema: &Value) -> Option<Vec<&str>> {
    if let Some(listed) = schema.get("enum").and_then(Value::as_array) {
        return Some(listed.iter().filter_map(Value::as_str).collect());
    }
    let mut all = Vec::new();
    for branch in branches(schema).filter(|branch| types(branch) != ["null"]) {
        match branch.get("const").and_then(Value::as_str) {
            Some(word) => all.push(word),
            None => all.extend(words(branch)?),
        }
    }
    (!all.is_empty()).then_some(all)
}
