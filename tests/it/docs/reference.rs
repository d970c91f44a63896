//! What the program says of itself, as Markdown: rules and built-in lists from their registries, keys from the schemas,
//! commands from the command line's own description, figures from the metrics' registry.

use super::page::{ROOT, pages};
use crate::classifier;
use clap::{Arg, Command};
use quadgate::domain::{Facts, Quadrant};
use quadgate::github::needs::{EVENTS, PERMISSIONS};
use quadgate::policy::paths::{BUILT_IN_GLOBS, BUILT_IN_PATTERNS};
use quadgate::rules::BUILT_IN;
use quadgate::server::Metrics;
use quadgate::settings;
use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

const CASES: &str = include_str!("../data/classifier/cases.json");
const RULE_CASES: &str = include_str!("../data/classifier/rules.json");

/// The language of a page.
#[derive(Default)]
pub struct Speech {
    korean: Option<BTreeMap<String, String>>,
    pub used: BTreeSet<String>,
    pub missing: BTreeSet<String>,
}

impl Speech {
    pub fn english() -> Self {
        Self::default()
    }

    pub fn korean(texts: BTreeMap<String, String>) -> Self {
        Self {
            korean: Some(texts),
            ..Self::default()
        }
    }

    /// A text of the program in the language of the page.
    fn say(&mut self, text: &str) -> String {
        let Some(korean) = self.korean.as_ref().filter(|_| !text.is_empty()) else {
            return text.to_owned();
        };
        if let Some(said) = korean.get(text) {
            self.used.insert(text.to_owned());
            said.clone()
        } else {
            self.missing.insert(text.to_owned());
            text.to_owned()
        }
    }

    /// A word of the frame around those texts, in both languages.
    fn either(&self, english: &str, korean: &str) -> String {
        match self.korean {
            None => english.to_owned(),
            Some(_) => korean.to_owned(),
        }
    }
}

/// The part of this name; `None` when there is none.
pub fn part(name: &str, speech: &mut Speech) -> Option<String> {
    Some(match name {
        "rules" => rules(speech),
        "built-in-globs" => built_in_globs(speech),
        "built-in-patterns" => built_in_patterns(speech),
        "configuration" => configuration(speech),
        "commands" => commands(speech),
        "exit-codes" => exit_codes(speech),
        "metrics" => metrics(speech),
        "permissions" => permissions(speech),
        "events" => events(speech),
        _ => return None,
    })
}

/// A table; `|` in a cell is escaped, also in code.
fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| cell.replace('|', r"\|").replace('\n', " "))
            .collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut out = line(head);
    let _ = writeln!(out, "|{}", "---|".repeat(head.len()));
    for row in rows {
        out.push_str(&line(row));
    }
    out
}

fn code(text: &str) -> String {
    if text.contains('`') {
        format!("`` {text} ``")
    } else {
        format!("`{text}`")
    }
}

fn rules(speech: &mut Speech) -> String {
    let head = [
        speech.either("rule", "규칙"),
        speech.either("votes", "표"),
        speech.either("when", "조건"),
    ];
    let rows: Vec<Vec<String>> = BUILT_IN
        .iter()
        .map(|rule| {
            let votes: Vec<&str> = rule.votes.iter().map(|vote| vote.letter()).collect();
            let link = format!("[`{0}`](#{0})", rule.id);
            vec![link, votes.join(" "), speech.say(rule.when)]
        })
        .collect();
    table(&head, &rows)
}

/// What the schema of `classifier_rules.yml` says about a list.
fn about_list(key: &str) -> String {
    let schemas = settings::schemas();
    let (_, schema) = schemas
        .iter()
        .find(|(stem, _)| *stem == "classifier_rules")
        .expect("a schema");
    let text = schema["properties"][key]["description"].as_str();
    text.expect("every list is described").to_owned()
}

fn built_in_globs(speech: &mut Speech) -> String {
    let mut out = String::new();
    for (key, globs) in BUILT_IN_GLOBS {
        let about = speech.say(&about_list(key));
        let _ = writeln!(
            out,
            "### {key}\n\n{about}\n\n```text\n{}\n```\n",
            globs.join("\n")
        );
    }
    out
}

fn built_in_patterns(speech: &mut Speech) -> String {
    let mut out = String::new();
    for (key, patterns) in BUILT_IN_PATTERNS {
        let about = speech.say(&about_list(key));
        let lines: Vec<String> = patterns
            .iter()
            .map(|(what, pattern)| format!("{what}: {pattern}"))
            .collect();
        let _ = writeln!(
            out,
            "### {key}\n\n{about}\n\n```text\n{}\n```\n",
            lines.join("\n")
        );
    }
    out
}

fn configuration(speech: &mut Speech) -> String {
    let mut out = String::new();
    for (stem, schema) in settings::schemas() {
        let about = schema["description"].as_str().unwrap_or_default();
        let file = match stem {
            "user_rule" => "skills/classifier/NAME.yml".to_owned(),
            stem => format!("{stem}.yml"),
        };
        let _ = writeln!(out, "## {file}\n\n{}\n", speech.say(about));
        let head = [
            speech.either("key", "키"),
            speech.either("type", "타입"),
            speech.either("default", "기본값"),
            speech.either("bounds", "범위"),
            speech.either("text", "설명"),
        ];
        let mut rows = Vec::new();
        keys(&schema, "", speech, &mut rows);
        let _ = writeln!(out, "{}", table(&head, &rows));
    }
    out
}

/// One row a key, those of inner mappings after it.
fn keys(schema: &Value, above: &str, speech: &mut Speech, rows: &mut Vec<Vec<String>>) {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema["properties"].as_object();
    for (key, about) in properties.into_iter().flatten() {
        let path = format!("{above}{key}");
        rows.push(vec![
            code(&path),
            kind(about, speech),
            default(about, required.contains(&key.as_str()), speech),
            bounds(about, speech),
            described(about, speech),
        ]);
        keys(about, &format!("{path}."), speech, rows);
        let others = &about["additionalProperties"];
        if others.is_object() && others["properties"].is_object() {
            keys(others, &format!("{path}.NAME."), speech, rows);
        }
    }
}

fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several
            .iter()
            .filter_map(Value::as_str)
            .filter(|name| *name != "null")
            .collect(),
        _ => Vec::new(),
    }
}

/// The words that a value may be, with what each means.
fn words(schema: &Value) -> Vec<(String, Option<String>)> {
    let branches = ["oneOf", "anyOf"].into_iter();
    let branches = branches.filter_map(|key| schema[key].as_array()).flatten();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut all: Vec<(String, Option<String>)> = branches
        .flat_map(|branch| match text(&branch["const"]) {
            Some(word) => vec![(word, text(&branch["description"]))],
            None => words(branch),
        })
        .collect();
    let listed = schema["enum"].as_array().into_iter().flatten();
    all.extend(listed.filter_map(|word| Some((text(word)?, None))));
    all
}

fn kind(schema: &Value, speech: &Speech) -> String {
    let words = words(schema);
    if !words.is_empty() {
        let words: Vec<String> = words.iter().map(|(word, _)| code(word)).collect();
        return words.join(", ");
    }
    match types(schema).first().copied() {
        Some("string") => speech.either("text", "문자열"),
        Some("boolean") => "`true`, `false`".to_owned(),
        Some("integer") => speech.either("whole number", "정수"),
        Some("array") => list(&schema["items"], speech),
        Some("object") => {
            let others = &schema["additionalProperties"];
            let mapping = speech.either("mapping", "매핑");
            if others.is_object() && others["properties"].is_null() {
                let by_name = speech.either("by name: ", "이름별: ");
                format!("{mapping}, {by_name}{}", kind(others, speech))
            } else {
                mapping
            }
        }
        // A condition that holds conditions.
        _ if schema["$ref"].is_string() => speech.either("mapping", "매핑"),
        _ => speech.either("anything", "무엇이든"),
    }
}

fn list(items: &Value, speech: &Speech) -> String {
    if types(items) == ["string"] && words(items).is_empty() {
        return speech.either("list of text", "문자열 목록");
    }
    let of = kind(items, speech);
    speech.either(&format!("list: {of}"), &format!("목록: {of}"))
}

fn default(schema: &Value, required: bool, speech: &Speech) -> String {
    if required {
        return speech.either("**required**", "**필수**");
    }
    match &schema["default"] {
        Value::Null => String::new(),
        // The keys of an inner mapping have rows, and defaults, of their own.
        Value::Object(members) if !members.is_empty() => String::new(),
        Value::String(text) => code(text),
        other => code(&other.to_string()),
    }
}

fn bounds(schema: &Value, speech: &Speech) -> String {
    let number = |key: &str| schema[key].as_u64();
    let mut all = Vec::new();
    match (number("minimum"), number("maximum")) {
        (Some(least), Some(most)) => all.push(format!("{least} – {most}")),
        (Some(least), None) if least > 0 => all.push(format!("≥ {least}")),
        _ => {}
    }
    match (number("minLength"), number("maxLength")) {
        (_, Some(most)) => all.push(speech.either(
            &format!("at most {most} characters"),
            &format!("{most}자 이하"),
        )),
        (Some(_), None) => all.push(speech.either("not empty", "비울 수 없음")),
        (None, None) => {}
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        all.push(code(pattern));
    }
    if number("minItems").is_some() {
        all.push(speech.either("not empty", "비울 수 없음"));
    }
    if schema["uniqueItems"] == true {
        all.push(speech.either("no repeats", "중복 없음"));
    }
    all.join(", ")
}

fn described(schema: &Value, speech: &mut Speech) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let mut all = vec![speech.say(&text.replace('\n', " "))];
    let own = words(schema);
    let words = if own.is_empty() {
        words(&schema["additionalProperties"])
    } else {
        own
    };
    for (word, meaning) in words {
        if let Some(meaning) = meaning {
            let meaning = speech.say(&meaning);
            all.push(format!("{}: {meaning}", code(&word)));
        }
    }
    if let Some(why) = schema["x-unused"].as_str() {
        let accepted = speech.either("Accepted, not used", "받아들이지만 쓰지 않음");
        let why = speech.say(why);
        all.push(format!("{accepted}: {why}."));
    }
    all.join(" ")
}

fn commands(speech: &mut Speech) -> String {
    let mut root = quadgate::cli::command();
    root.build();
    let mut out = String::new();
    for command in below(&root) {
        describe(command, &mut vec!["quadgate".to_owned()], speech, &mut out);
    }
    out
}

fn below(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help" && !sub.is_hide_set())
}

fn describe(command: &Command, path: &mut Vec<String>, speech: &mut Speech, out: &mut String) {
    path.push(command.get_name().to_owned());
    let level = "#".repeat(path.len());
    let about = command.get_about().map(ToString::to_string);
    let about = speech.say(about.unwrap_or_default().trim());
    let _ = writeln!(out, "{level} {}\n\n{about}\n", path.join(" "));
    if command.has_subcommands() && below(command).next().is_some() {
        for sub in below(command) {
            describe(sub, path, speech, out);
        }
    } else {
        let usage = command.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage:").trim();
        let _ = writeln!(out, "```text\n{usage}\n```\n");
        let head = [
            speech.either("argument", "인자"),
            speech.either("default", "기본값"),
            speech.either("what it does", "하는 일"),
        ];
        let mut rows = Vec::new();
        let shown =
            |arg: &&Arg| !arg.is_hide_set() && !matches!(arg.get_id().as_str(), "help" | "version");
        for arg in command.get_arguments().filter(shown) {
            rows.push(argument(arg, speech));
        }
        if !rows.is_empty() {
            let _ = writeln!(out, "{}", table(&head, &rows));
        }
        let after = command.get_after_help().map(ToString::to_string);
        // The codes that `classify` and `explain` share with the whole program have a part of their own.
        for line in after
            .iter()
            .filter(|after| !after.contains("\n  10 "))
            .flat_map(|after| after.lines())
        {
            let _ = writeln!(out, "{}\n", speech.say(line.trim()));
        }
    }
    path.pop();
}

fn argument(arg: &Arg, speech: &mut Speech) -> Vec<String> {
    let takes = arg.get_action().takes_values();
    let name = match (arg.get_long(), arg.get_short()) {
        (Some(long), Some(short)) => format!("-{short}, --{long} "),
        (Some(long), None) => format!("--{long} "),
        (None, Some(short)) => format!("-{short} "),
        (None, None) => String::new(),
    };
    let values = arg.get_value_names().filter(|_| takes).unwrap_or_default();
    let values: Vec<String> = values.iter().map(|value| format!("<{value}>")).collect();
    let name = format!("{name}{}", values.join(" "));
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let mut text = speech.say(help.trim());
    let possible = arg.get_possible_values();
    if takes && !possible.is_empty() {
        let words: Vec<String> = possible.iter().map(|word| code(word.get_name())).collect();
        let _ = write!(text, " ({})", words.join(", "));
    }
    if let Some(variable) = arg.get_env() {
        let _ = write!(text, " [{}]", code(&variable.to_string_lossy()));
    }
    let defaults: Vec<String> = arg
        .get_default_values()
        .iter()
        .filter(|_| takes)
        .map(|value| code(&value.to_string_lossy()))
        .collect();
    let default = if arg.is_required_set() {
        speech.either("**required**", "**필수**")
    } else {
        defaults.join(", ")
    };
    vec![code(name.trim()), default, text]
}

fn exit_codes(speech: &mut Speech) -> String {
    let root = quadgate::cli::command();
    let help = root.get_after_help().expect("exit codes").to_string();
    let head = [
        speech.either("code", "코드"),
        speech.either("meaning", "뜻"),
    ];
    let rows: Vec<Vec<String>> = help
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_once(' '))
        .map(|(number, text)| vec![number.to_owned(), speech.say(text.trim())])
        .collect();
    table(&head, &rows)
}

fn metrics(speech: &mut Speech) -> String {
    let metrics = Metrics::new().expect("figures");
    let head = [
        speech.either("name", "이름"),
        speech.either("type", "타입"),
        speech.either("labels", "라벨"),
        speech.either("meaning", "뜻"),
    ];
    let rows: Vec<Vec<String>> = metrics
        .figures()
        .iter()
        .map(|figure| {
            let labels: Vec<String> = figure.labels.iter().map(|label| code(label)).collect();
            vec![
                code(&figure.name),
                figure.kind.to_owned(),
                labels.join(", "),
                speech.say(&figure.help),
            ]
        })
        .collect();
    table(&head, &rows)
}

fn permissions(speech: &mut Speech) -> String {
    let head = [
        speech.either("permission", "권한"),
        speech.either("access", "접근"),
        speech.either("when", "언제"),
        speech.either("for", "쓰는 곳"),
    ];
    let rows: Vec<Vec<String>> = PERMISSIONS
        .iter()
        .map(|permission| {
            vec![
                permission.title.to_owned(),
                speech.say(permission.level.title()),
                speech.say(permission.when.title()),
                speech.say(permission.why),
            ]
        })
        .collect();
    table(&head, &rows)
}

fn events(speech: &mut Speech) -> String {
    let head = [
        speech.either("event", "이벤트"),
        speech.either("when", "언제"),
        speech.either("tells of", "알려 주는 것"),
    ];
    let rows: Vec<Vec<String>> = EVENTS
        .iter()
        .map(|event| {
            vec![
                event.title.to_owned(),
                speech.say(event.when.title()),
                speech.say(event.why),
            ]
        })
        .collect();
    table(&head, &rows)
}

#[test]
fn the_registries_are_whole() {
    let keys: BTreeSet<String> = {
        let schemas = settings::schemas();
        let (_, schema) = schemas
            .iter()
            .find(|(stem, _)| *stem == "classifier_rules")
            .expect("a schema");
        let all = schema["properties"].as_object().expect("keys").keys();
        all.filter(|key| *key != "extends").cloned().collect()
    };
    let globs = BUILT_IN_GLOBS.iter().map(|(key, _)| (*key).to_owned());
    let patterns = BUILT_IN_PATTERNS.iter().map(|(key, _)| (*key).to_owned());
    assert_eq!(globs.chain(patterns).collect::<BTreeSet<_>>(), keys);
    let metrics = Metrics::new().expect("figures");
    let names: BTreeSet<&str> = metrics.figures().iter().map(|f| f.name.as_str()).collect();
    let text = metrics.text().expect("writes");
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').expect("a type");
        let figure = metrics.figures().iter().find(|f| f.name == name);
        assert_eq!(figure.map(|figure| figure.kind), Some(kind), "{name}");
    }
    assert!(
        names.contains("quadgate_deliveries_total"),
        "one without a sample"
    );
}

#[test]
fn every_figure_that_a_page_names_exists() {
    let metrics = Metrics::new().expect("figures");
    let named = Regex::new(r"\bquadgate_[a-z_]+[a-z]").expect("a pattern");
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages(Path::new(ROOT)) {
        let blocks = page.blocks.iter().map(|block| (block.line, &block.text));
        let spans = page.spans.iter().map(|(line, text)| (*line, text));
        for (line, text) in blocks.chain(spans) {
            for name in named.find_iter(text).map(|found| found.as_str()) {
                let series = ["_bucket", "_sum", "_count"];
                let known = metrics.figures().iter().any(|figure| {
                    let rest = name.strip_prefix(figure.name.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || series.contains(&rest))
                });
                count += 1;
                if !known {
                    wrong.push(format!("{}:{line}: `{name}` is no figure", page.path));
                }
            }
        }
    }
    assert!(count > 30, "only {count} names were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rules_vote_as_their_registry_says() {
    let policy = classifier::policy();
    let cases: Value = serde_json::from_str(CASES).expect("cases");
    let kinds: Value = serde_json::from_str(RULE_CASES).expect("cases of rules");
    let given = cases["cases"].as_array().expect("a list").iter();
    let mut all: Vec<Facts> = given.map(|case| classifier::read(&case["given"])).collect();
    let kinds = kinds.as_object().expect("an object").values();
    let kinds = kinds.flat_map(|kinds| kinds.as_object().expect("kinds").values());
    all.extend(kinds.map(|case| classifier::facts_with(&case["facts"])));
    let mut seen: BTreeMap<&str, BTreeSet<Quadrant>> = BTreeMap::new();
    for given in &all {
        let verdict = quadgate::rules::evaluate(given, &policy);
        for (rule, report) in BUILT_IN.iter().zip(verdict.rules_fired()) {
            assert_eq!(report.rule.as_str(), rule.id);
            if let Some(vote) = report.finding.vote() {
                assert!(rule.votes.contains(&vote), "{} votes {vote}", rule.id);
                seen.entry(rule.id).or_default().insert(vote);
            }
        }
    }
    assert_eq!(seen.len(), BUILT_IN.len(), "not every rule voted: {seen:?}");
}
