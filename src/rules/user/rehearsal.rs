//! Every script is run once when the configuration is loaded, on facts made for it: most mistakes of a script show
//! only when it runs, and a server must not start with them.
//!
//! INVARIANT: the samples are complete facts, so that a script that fails on one of them is wrong and not unlucky.

use super::Ended;
use super::script;
use super::view::View;
use crate::domain::{Facts, FactsError};
use crate::policy::user_rules::Body;
use crate::policy::{Place, Policy, Problem};
use serde_json::{Value, json};
use std::sync::Arc;

/// Runs all scripts of a policy on the samples: what is wrong with them, one problem a script.
#[must_use]
pub fn rehearse(policy: &Policy) -> Vec<Problem> {
    let scripts: Vec<_> = policy
        .user_rules
        .iter()
        .filter_map(|rule| match &rule.body {
            Body::Script(script) => Some((rule, script)),
            Body::Declared(_) => None,
        })
        .collect();
    let Some((first, _)) = scripts.first() else {
        return Vec::new();
    };
    let samples = match samples() {
        Ok(samples) => samples,
        // A test reads them. A script that nobody could try is not let in all the same.
        Err(error) => {
            let message = format!("cannot be tried: {error}");
            return vec![Problem::new(&first.file, Place::START, message)];
        }
    };
    let views: Vec<_> = samples
        .iter()
        .map(|facts| Arc::new(View::of(facts, policy)))
        .collect();
    let tried = scripts.iter().filter_map(|(rule, script)| {
        let failed = views
            .iter()
            .find_map(|view| match script::run(script, Arc::clone(view)) {
                (Ended::Failed(why), place) => Some((place, why)),
                (Ended::Passed | Ended::Raised(..), _) => None,
            });
        let (place, why) = failed?;
        let own_place = format!("line {}: ", place.line);
        let why = why.strip_prefix(&own_place).unwrap_or(&why);
        let problem = Problem::new(&rule.file, place, format!("fails on sample facts: {why}"));
        Some(problem.hint("see `docs/user-rules.md` for what a rule can ask"))
    });
    tried.collect()
}

/// Nothing changed; one of everything; many files.
fn samples() -> Result<Vec<Facts>, FactsError> {
    let many: Vec<Value> = (0..40)
        .map(|at| {
            file(
                &format!("src/part_{at}.rs"),
                "modified",
                "@@ -1 +1 @@\n-a\n+b",
                1,
                1,
            )
        })
        .collect();
    [
        facts(&[], &[]),
        facts(
            &one_of_everything(),
            &["Say what it does\n\nTask-Ref: none\n", "x"],
        ),
        facts(&many, &["Tidy up\n"]),
    ]
    .iter()
    .map(|sample| Facts::from_json(sample.to_string().as_bytes()))
    .collect()
}

fn facts(files: &[Value], messages: &[&str]) -> Value {
    let sha = |at: usize| format!("{at:040x}");
    let commits: Vec<Value> = messages
        .iter()
        .enumerate()
        .map(|(at, message)| json!({"sha": sha(at + 3), "message": message}))
        .collect();
    json!({
        "repo": "octo-org/sample", "number": 1, "author": "octocat", "base_ref": "main",
        "base_sha": sha(1), "head_sha": sha(2), "head_since": "2026-01-01T00:00:00Z",
        "changed_files": files.len(), "commit_count": commits.len(),
        "labels": if files.is_empty() { json!([]) } else { json!(["sample"]) },
        "files": files, "commits": commits,
    })
}

fn one_of_everything() -> Vec<Value> {
    let mut renamed = file("docs/new.md", "renamed", "@@ -1 +1 @@\n-old\n+new", 1, 1);
    if let Some(members) = renamed.as_object_mut() {
        members.insert("previous_path".to_owned(), json!("docs/old.md"));
    }
    vec![
        file("README.md", "modified", "@@ -1 +1 @@\n-Teh\n+The", 1, 1),
        file(
            "src/main.rs",
            "modified",
            "@@ -1 +1,2 @@\n-fn a() {}\n+fn b() {}\n+// a note",
            2,
            1,
        ),
        file(
            "db/migrations/0001_sample.up.sql",
            "added",
            "@@ -0,0 +1 @@\n+CREATE TABLE sample (id INT);",
            1,
            0,
        ),
        file("src/gone.py", "removed", "@@ -1 +0,0 @@\n-pass", 0, 1),
        file(
            "Cargo.toml",
            "modified",
            "@@ -1 +1,2 @@\n [dependencies]\n+sample = \"1\"",
            1,
            0,
        ),
        renamed,
    ]
}

fn file(path: &str, status: &str, diff: &str, additions: u64, deletions: u64) -> Value {
    json!({
        "path": path, "status": status, "patch": diff,
        "additions": additions, "deletions": deletions,
    })
}
