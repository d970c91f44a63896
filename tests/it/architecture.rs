//! House rules that matter are tests: who may name whom, how large a module may be, what may not be in the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which top-level modules a module may name besides itself (docs/design.md, "Layout").
/// A module that is not listed here is wiring and may name everything but `app` and `cli`.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("policy", &["domain"]),
    ("diff", &["domain"]),
    ("rules", &["domain", "policy", "diff"]),
    ("inbox", &["domain", "policy"]),
    ("evidence", &["domain", "policy"]),
    ("gate", &["domain", "policy", "rules", "inbox", "evidence"]),
    (
        "plan",
        &[
            "domain", "policy", "diff", "rules", "inbox", "evidence", "gate", "audit",
        ],
    ),
    ("audit", &["domain", "rules", "inbox"]),
    ("github", &["domain"]),
    ("store", &["domain"]),
    ("server", &["domain", "store", "audit", "settings"]),
];

/// Modules that decide: no I/O, no async, no clock, no environment.
const PURE: &[&str] = &[
    "domain", "policy", "diff", "rules", "inbox", "evidence", "gate", "plan",
];

/// Words that a pure module's code must not hold.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "SystemTime",
    "Instant::now",
    "Utc::now",
    "Local::now",
    "tokio::",
    "octocrab",
    "sqlx",
    "axum",
    "async fn",
    ".await",
    "getrandom",
];

/// Lines of code a file may have, its `#[cfg(test)]` tail aside.
const MAX_LINES: usize = 550;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(dir: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("directory entry").path();
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            into.push(path);
        }
    }
}

/// Every source file: its top-level module, its path, its code without comments and without the test tail.
fn sources() -> Vec<(String, PathBuf, String)> {
    let src = root().join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    files.sort();
    files
        .into_iter()
        .filter(|path| path.file_name().is_none_or(|name| name != "tests.rs"))
        .map(|path| {
            let relative = path.strip_prefix(&src).expect("below src").to_owned();
            let first = relative.components().next().expect("a component");
            let module = Path::new(&first).file_stem().expect("a stem");
            let text = fs::read_to_string(&path).expect("source is readable");
            let code: String = text
                .split("\n#[cfg(test)]\nmod ")
                .next()
                .unwrap_or_default()
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
                .map(|line| format!("{line}\n"))
                .collect();
            (module.to_string_lossy().into_owned(), relative, code)
        })
        .collect()
}

/// The top-level modules that code names as `crate::x` or in `use crate::{x, y}`.
fn named_modules(code: &str) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with('$') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0_i32;
            let mut word = String::new();
            for c in group.chars() {
                match c {
                    '{' => {
                        if depth == 0 && !word.is_empty() {
                            named.insert(std::mem::take(&mut word));
                        }
                        depth += 1;
                    }
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' | ':' if depth == 0 => {
                        if !word.is_empty() {
                            named.insert(std::mem::take(&mut word));
                        }
                        if c == ':' {
                            depth += 1000; // inside `x::y` until the next comma at this level
                        }
                    }
                    ',' if depth >= 1000 => depth -= 1000,
                    c if depth == 0 && (c.is_alphanumeric() || c == '_') => word.push(c),
                    _ => {}
                }
            }
            if !word.is_empty() {
                named.insert(word);
            }
        } else {
            named.insert(
                rest.chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect(),
            );
        }
    }
    named
}

#[test]
fn modules_name_only_what_the_design_allows() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_NAME.iter().copied().collect();
    let tops: BTreeSet<String> = sources()
        .iter()
        .map(|(module, ..)| module.clone())
        .collect();
    let mut wrong = Vec::new();
    for (module, path, code) in sources() {
        if matches!(module.as_str(), "app" | "cli" | "main" | "lib") {
            continue;
        }
        for named in named_modules(&code) {
            if named == module || !tops.contains(&named) {
                continue;
            }
            let fine = match allowed.get(module.as_str()) {
                Some(list) => list.contains(&named.as_str()),
                None => !matches!(named.as_str(), "app" | "cli"),
            };
            if !fine {
                wrong.push(format!("{} names `{named}`", path.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "imports against docs/design.md:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn pure_modules_are_pure() {
    let mut wrong = Vec::new();
    for (module, path, code) in sources() {
        if PURE.contains(&module.as_str()) {
            for word in IMPURE {
                if code.contains(word) {
                    wrong.push(format!("{} holds `{word}`", path.display()));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "pure modules reach outside:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn sql_stands_only_in_the_store() {
    let mut wrong = Vec::new();
    for (module, path, code) in sources() {
        let sql = ["SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM", "sqlx::"];
        if module != "store" && sql.iter().any(|word| code.contains(word)) {
            wrong.push(path.display().to_string());
        }
    }
    assert!(wrong.is_empty(), "SQL outside src/store: {wrong:?}");
}

#[test]
fn globs_are_built_only_in_the_policy() {
    let wrong: Vec<_> = sources()
        .into_iter()
        .filter(|(module, _, code)| module != "policy" && code.contains("globset"))
        .map(|(_, path, _)| path)
        .collect();
    assert!(wrong.is_empty(), "globs outside src/policy: {wrong:?}");
}

#[test]
fn files_are_of_a_few_screens() {
    let mut large = Vec::new();
    for (_, path, code) in sources() {
        let lines = code.lines().count();
        if lines > MAX_LINES {
            large.push(format!("{}: {lines} lines", path.display()));
        }
    }
    assert!(
        large.is_empty(),
        "look for the second noun in:\n{}",
        large.join("\n")
    );
}

#[test]
fn every_file_says_what_lives_in_it() {
    let mut files = Vec::new();
    for dir in [
        "src",
        "tests/it",
        "tests/fake-github/src",
        "examples",
        "benches",
    ] {
        rust_files(&root().join(dir), &mut files);
    }
    let silent: Vec<_> = files
        .iter()
        .filter(|path| {
            let text = fs::read_to_string(path).expect("source is readable");
            !text.starts_with("//!") && !text.starts_with("#!")
        })
        .collect();
    assert!(silent.is_empty(), "no module doc: {silent:?}");
}

#[test]
fn nothing_is_left_for_later() {
    // Written in two halves so that this file does not find itself.
    let words = [
        concat!("to", "do!("),
        concat!("unimplem", "ented!("),
        concat!("FIX", "ME"),
        concat!("XX", "X "),
    ];
    let mut files = Vec::new();
    for dir in ["src", "tests", "examples", "benches"] {
        rust_files(&root().join(dir), &mut files);
    }
    for path in files {
        let text = fs::read_to_string(&path).expect("source is readable");
        for word in words {
            assert!(!text.contains(word), "{} holds `{word}`", path.display());
        }
    }
}

#[test]
fn one_crypto_backend_and_one_tls_stack() {
    // The lock file also lists what is switched off, so cargo itself is asked what is built.
    let tree = std::process::Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--workspace",
            "--edges",
            "all",
            "--prefix",
            "none",
        ])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(
        tree.status.success(),
        "{}",
        String::from_utf8_lossy(&tree.stderr)
    );
    let tree = String::from_utf8_lossy(&tree.stdout);
    for refused in ["openssl", "openssl-sys", "native-tls", "ring", "rusqlite"] {
        let found = tree
            .lines()
            .find(|line| line.split(' ').next() == Some(refused));
        assert_eq!(found, None, "`{refused}` is built");
    }
    assert!(tree.lines().any(|line| line.starts_with("aws-lc-rs v")));
}

#[test]
fn names_are_read_from_every_form_of_import() {
    let code = "use crate::domain::{Sha, Facts};\nuse crate::{policy::Policy, rules, plan::{a, b}};\nfn f() { crate::store::open() }";
    let named: Vec<_> = named_modules(code).into_iter().collect();
    assert_eq!(named, ["domain", "plan", "policy", "rules", "store"]);
}
