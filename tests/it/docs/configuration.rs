//! Configuration that a page shows loads: a block of YAML says in its first line which file it is, and what is shown is
//! accepted by that file's schema and by the loader. Blocks of JSON are JSON.

use super::page::{Block, Page, ROOT, pages};
use quadgate::policy::SourceFile;
use quadgate::settings;
use serde_json::{Map, Value};
use std::path::Path;

/// What every configuration needs, for blocks that show a part.
const NEEDED: [(&str, &[(&str, &str)]); 3] = [
    ("owner.yml", &[("github_login", "octo-owner")]),
    (
        "projects.yml",
        &[("governance_repo", "octo-org/governance")],
    ),
    ("env.yml", &[("bot_app_slug", "quadgate")]),
];

/// The file that a block says it is: a comment in its first line, as `# env.yml: what it shows` or as editors want it.
fn file_of(block: &Block) -> Option<String> {
    let first = block.text.lines().next()?.strip_prefix("# ")?;
    if let Some((_, schema)) = first.split_once("$schema=") {
        let (_, name) = schema.rsplit_once('/')?;
        let stem = name.strip_suffix(".schema.json")?;
        return Some(match stem {
            "user_rule" => "skills/classifier/example.yml".to_owned(),
            stem => format!("{stem}.yml"),
        });
    }
    let name = first.split([' ', ':', ',']).next()?;
    let named = name.contains('.') || name.contains('/');
    named.then(|| name.strip_prefix("config/").unwrap_or(name).to_owned())
}

fn check(block: &Block) -> Result<(), String> {
    match block.language.as_str() {
        "yaml" | "yml" => yaml(block),
        "json" => json(&block.text),
        _ => Ok(()),
    }
}

fn yaml(block: &Block) -> Result<(), String> {
    let Some(file) = file_of(block) else {
        return Err("the first line does not say which file it is (`# env.yml`)".to_owned());
    };
    let schemas = settings::schemas();
    let schema = schemas
        .iter()
        .find(|(stem, _)| file == format!("{stem}.yml"));
    let file = file.as_str();
    let Some((_, schema)) = schema else {
        if file.starts_with("skills/") {
            return load(file, &block.text);
        }
        let read: Result<Value, _> = serde_yaml::from_str(&block.text);
        return read.map(drop).map_err(|error| format!("no YAML: {error}"));
    };
    let written: Value = serde_yaml::from_str(&block.text).map_err(|error| error.to_string())?;
    let written = written.as_object().cloned().unwrap_or_default();
    let missing = missing(file, &written);
    let mut whole = written;
    let mut text = block.text.clone();
    for (key, value) in missing {
        whole.insert(key.to_owned(), value.into());
        text.extend(["\n", key, ": ", value, "\n"]);
    }
    let validator = jsonschema::validator_for(schema).expect("a schema");
    if let Some(error) = validator.iter_errors(&Value::Object(whole)).next() {
        return Err(format!("{}: {error}", error.instance_path()));
    }
    load(file, &text)
}

/// What this file needs and the block leaves out.
fn missing(file: &str, written: &Map<String, Value>) -> Vec<(&'static str, &'static str)> {
    let needed = NEEDED.iter().find(|(name, _)| *name == file);
    let keys = needed
        .into_iter()
        .flat_map(|(_, keys)| keys.iter().copied());
    keys.filter(|(key, _)| !written.contains_key(*key))
        .collect()
}

/// Loads a directory of this file beside what is needed.
fn load(file: &str, text: &str) -> Result<(), String> {
    let mut files: Vec<SourceFile> = NEEDED
        .iter()
        .filter(|(name, _)| *name != file)
        .map(|(name, keys)| {
            let lines: String = keys.iter().map(|(k, v)| format!("{k}: {v}\n")).collect();
            SourceFile::new("config", name, &lines)
        })
        .collect();
    files.push(SourceFile::new("config", file, text));
    match settings::load_files("config", &files) {
        Ok(_) => Ok(()),
        Err(problems) => Err(problems
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ")),
    }
}

/// One document, or one a line.
fn json(text: &str) -> Result<(), String> {
    let whole: Result<Value, _> = serde_json::from_str(text);
    let Err(error) = whole else { return Ok(()) };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let all = lines
        .map(serde_json::from_str::<Value>)
        .all(|line| line.is_ok());
    if all { Ok(()) } else { Err(error.to_string()) }
}

fn wrong(pages: &[Page]) -> Vec<String> {
    let mut wrong = Vec::new();
    for page in pages {
        for block in &page.blocks {
            if let Err(why) = check(block) {
                wrong.push(format!("{}:{}: {why}", page.path, block.line));
            }
        }
    }
    wrong
}

#[test]
fn configuration_that_is_shown_loads() {
    let pages = pages(Path::new(ROOT));
    let shown = pages.iter().flat_map(|page| &page.blocks);
    let count = shown.filter(|block| file_of(block).is_some()).count();
    assert!(count > 15, "only {count} files were found");
    let wrong = wrong(&pages);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn configuration_that_does_not_load_is_found() {
    let page = Page::new(
        "x.md",
        concat!(
            "```yaml\n# env.yml\nmerge:\n  enabled: true\n```\n",
            "```yaml\n# env.yml\nmerge:\n  enabeld: true\n```\n",
            "```yaml\n# classifier_rules.yml: a glob that can match nothing\nnon_critical: [\"/docs/**\"]\n```\n",
            "```yaml\nmerge: {}\n```\n",
            "```yaml\n# server.yml\ntimeouts:\n  connect_seconds: 0\n```\n",
            "```json\n{\"a\": 1,}\n```\n",
            "```json\n{\"a\": 1}\n{\"b\": 2}\n```\n",
        ),
    );
    let found: Vec<String> = wrong(&[page])
        .iter()
        .map(|line| line.chars().take(30).collect())
        .collect();
    assert_eq!(found.len(), 5, "{found:?}");
    for (line, start) in found
        .iter()
        .zip(["x.md:6:", "x.md:11:", "x.md:15:", "x.md:18:", "x.md:23:"])
    {
        assert!(line.starts_with(start), "{line} {start}");
    }
}
