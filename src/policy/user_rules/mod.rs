//! User rules: the operator's own, in `skills/classifier/`, after the built-in ones.
//!
//! A `.yml` file declares a condition ([`Declared`]), a `.rhai` file is a script ([`Script`]). Here they are read and
//! compiled; `rules::user` runs them. INVARIANT: a rule only ever raises, and a file in the folder that is no rule
//! this program can run is a problem, never passed over.

mod condition;
mod paths;
pub mod script;
mod tokens;
mod written;

pub use condition::{Bounds, CommitTest, Declared, FileTest, StatusWord, Test};
pub use paths::PathSet;
pub use script::Script;
pub use written::UserRuleFile;

use super::nearest::nearest;
use super::shape::{self, Written};
use super::source::{Effective, Origin, Place, Problem, SourceFile};
use super::{Skills, is_yaml};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Where user rules stand in the configuration directory.
const FOLDER: &str = "skills/classifier/";
const MAX_NAME: usize = 60;
/// The prefix of a user rule's name wherever it is shown.
const PREFIX: &str = "user.";

/// The user rules in force, in the order of their names.
#[derive(Debug, Clone, Default)]
pub struct UserRules(Arc<[UserRule]>);

/// One user rule.
#[derive(Debug)]
pub struct UserRule {
    /// The file's name without its ending; shown as `user.<name>`.
    pub name: String,
    /// The file as people should see it.
    pub file: String,
    /// What it does.
    pub body: Body,
}

/// What a user rule does.
#[derive(Debug)]
pub enum Body {
    /// A condition in YAML.
    Declared(Box<Declared>),
    /// A script.
    Script(Script),
}

impl UserRules {
    /// The rules in the order in which they run.
    pub fn iter(&self) -> impl Iterator<Item = &UserRule> {
        self.0.iter()
    }

    /// Are there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// May one of them ask for the changed lines of files?
    #[must_use]
    pub fn want_lines(&self) -> bool {
        self.iter().any(|rule| match &rule.body {
            Body::Declared(declared) => declared.when.wants_lines(),
            Body::Script(_) => true,
        })
    }
}

/// How a rule is written, by its file's ending.
#[derive(Debug, Clone, Copy)]
enum Form {
    Yaml,
    Rhai,
}

/// What a file below `skills/` is.
enum Found {
    /// Nothing of ours: a README, a hidden file or one in a hidden folder (mounted configuration has such).
    Nothing,
    Rule(String, Form),
    Wrong(&'static str, &'static str),
}

fn look_at(name: &str) -> Found {
    let last = name.rsplit('/').next().unwrap_or(name);
    if last.starts_with("README") || name.split('/').any(|part| part.starts_with('.')) {
        return Found::Nothing;
    }
    let remove = "remove the file: it would not be enforced";
    let Some(own) = name.strip_prefix(FOLDER) else {
        return Found::Wrong("user rules are read from `skills/classifier/` only", remove);
    };
    if own.contains('/') {
        let hint = "move the file up: its name is the name of the rule";
        return Found::Wrong("user rules stand in `skills/classifier/` itself", hint);
    }
    let path = Path::new(own);
    let form = if is_yaml(own) {
        Form::Yaml
    } else if path.extension().is_some_and(|ending| ending == "rhai") {
        Form::Rhai
    } else {
        let hint = "write it anew as described in `docs/user-rules.md`, or remove it: it would not be enforced";
        return Found::Wrong("a user rule is a `.yml` or a `.rhai` file", hint);
    };
    let stem = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    if is_name(stem) {
        Found::Rule(stem.to_owned(), form)
    } else {
        Found::Wrong(
            "the name of a user rule has small letters, digits, `_` and `-`, at most 60",
            "rename the file: `user.` and its name stand in every audit line",
        )
    }
}

fn is_name(stem: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    stem.len() <= MAX_NAME
        && stem.bytes().next().is_some_and(fits)
        && stem
            .bytes()
            .all(|byte| fits(byte) || matches!(byte, b'_' | b'-'))
}

/// Does a file of the configuration directory hold a user rule, hence policy?
pub(super) fn is_rule(name: &str) -> bool {
    name.starts_with(FOLDER) && matches!(look_at(name), Found::Rule(..))
}

/// What is wrong with a file below `skills/` by its name alone.
pub(super) fn check_name(file: &SourceFile) -> Option<Problem> {
    match look_at(&file.name) {
        Found::Nothing | Found::Rule(..) => None,
        Found::Wrong(message, hint) => {
            Some(Problem::new(&file.shown, Place::START, message).hint(hint))
        }
    }
}

/// What loading the rules came to.
#[derive(Default)]
pub(super) struct Read {
    pub rules: UserRules,
    pub problems: Vec<Problem>,
    pub warnings: Vec<Problem>,
    pub effective: Vec<Effective>,
}

/// Reads all user rules; `skills` says which of them are off.
pub(super) fn read(files: &[SourceFile], skills: Option<&Written<Skills>>) -> Read {
    let mut read = Read::default();
    let mut rules = Vec::new();
    let mut names: BTreeMap<String, &str> = BTreeMap::new();
    let mut sorted: Vec<&SourceFile> = files.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    for file in sorted {
        if !file.name.starts_with("skills/") {
            continue;
        }
        let Found::Rule(name, form) = look_at(&file.name) else {
            continue;
        };
        if let Some(other) = names.insert(name.clone(), &file.shown) {
            let message = format!("a second rule of the name `{PREFIX}{name}`");
            let hint = format!("the first one is `{other}`; rename one of them");
            read.problems
                .push(Problem::new(&file.shown, Place::START, message).hint(hint));
            continue;
        }
        let off = skills.is_some_and(|skills| names_rule(&skills.value.disabled, &name));
        read.show(file, &name, off);
        let body = match form {
            Form::Yaml => read.declared(file),
            Form::Rhai => Script::compile(file)
                .map(Body::Script)
                .map_err(|problem| vec![problem]),
        };
        match body {
            Ok(body) if !off => rules.push(UserRule {
                name,
                file: file.shown.clone(),
                body,
            }),
            Ok(_) => {}
            Err(problems) => read.problems.extend(problems),
        }
    }
    rules.sort_by(|a, b| a.name.cmp(&b.name));
    read.rules = UserRules(rules.into());
    if let Some(skills) = skills {
        let known: Vec<&str> = names.keys().map(String::as_str).collect();
        read.check_skills(skills, &known);
    }
    read
}

impl Read {
    fn declared(&mut self, file: &SourceFile) -> Result<Body, Vec<Problem>> {
        let written = shape::read::<UserRuleFile>(file, &mut self.warnings)?;
        let resolved = serde_json::to_value(&written.value).unwrap_or(Value::Null);
        self.effective.extend(written.effective(&resolved));
        Declared::compile(&written).map(|declared| Body::Declared(Box::new(declared)))
    }

    fn show(&mut self, file: &SourceFile, name: &str, off: bool) {
        self.effective.push(Effective {
            key: format!("{PREFIX}{name}"),
            value: Value::from(if off { "disabled" } else { "runs" }),
            origin: Origin::File {
                file: file.shown.clone(),
                place: Place::START,
            },
        });
    }

    /// Every `user.` name in `skills.yml` must mean a rule that is there.
    fn check_skills(&mut self, skills: &Written<Skills>, known: &[&str]) {
        let stem = |name: &str| name.strip_prefix(PREFIX).map(str::to_owned);
        let absent = |name: &str| {
            let message = format!("there is no rule `{PREFIX}{name}` in `{FOLDER}`");
            let hint = match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{PREFIX}{near}`?"),
                None => "remove the entry, or add the rule".to_owned(),
            };
            (message, hint)
        };
        let Skills {
            enabled,
            disabled,
            severity_overrides,
        } = &skills.value;
        for (index, name) in enabled.iter().enumerate() {
            let Some(name) = stem(name) else { continue };
            let path = ["enabled", &index.to_string()];
            if !known.contains(&name.as_str()) {
                let (message, hint) = absent(&name);
                self.problems
                    .push(skills.problem(&path, message).hint(hint));
            } else if names_rule(disabled, &name) {
                let message = format!("`{PREFIX}{name}` is also under `disabled`");
                self.problems.push(
                    skills
                        .problem(&path, message)
                        .hint("decide for one of the two"),
                );
            }
        }
        for (index, name) in disabled.iter().enumerate() {
            let Some(name) = stem(name) else { continue };
            if !known.contains(&name.as_str()) {
                let (message, hint) = absent(&name);
                let path = ["disabled", &index.to_string()];
                self.warnings
                    .push(skills.problem(&path, message).hint(hint));
            }
        }
        for name in severity_overrides
            .keys()
            .filter(|name| name.starts_with(PREFIX))
        {
            let message = format!("`{name}` is a rule: it votes and has no severity");
            let hint = "change what it raises to in its file";
            let path = ["severity_overrides", name];
            self.warnings
                .push(skills.problem(&path, message).hint(hint));
        }
    }
}

fn names_rule(list: &[String], name: &str) -> bool {
    list.iter()
        .any(|entry| entry.strip_prefix(PREFIX) == Some(name))
}

#[cfg(test)]
mod tests;
