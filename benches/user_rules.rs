//! What a user rule costs on a pull request of 3,000 files with patches, and what the worst one can cost.
//!
//! Wanted on two slow cores: a few milliseconds for a rule that people write, under 200 ms for one that is stopped.
#![allow(missing_docs)] // the functions that the macros make
#![allow(clippy::expect_used)] // a benchmark that cannot be set up must not run

use criterion::{Criterion, criterion_group, criterion_main};
use quadgate::domain::{Facts, FileChange, FileStatus, Known};
use quadgate::policy::{Policy, SourceFile};
use quadgate::rules;
use std::fmt::Write;
use std::hint::black_box;

const FILES: usize = 3_000;

/// The examples, and one rule that asks for all there is.
const RULES: [(&str, &str); 6] = [
    (
        "no_todo_in_production.yml",
        include_str!("../examples/rules/no_todo_in_production.yml"),
    ),
    (
        "dependency_added.yml",
        include_str!("../examples/rules/dependency_added.yml"),
    ),
    (
        "large_change.yml",
        include_str!("../examples/rules/large_change.yml"),
    ),
    (
        "protected_author.yml",
        include_str!("../examples/rules/protected_author.yml"),
    ),
    (
        "migration_needs_down.rhai",
        include_str!("../examples/rules/migration_needs_down.rhai"),
    ),
    (
        "loop_over_all.rhai",
        "let n = 0; for file in facts.files { if file.matches(\"src/**\") && file.status == \"modified\" && file.adds(\"\\\\bTODO\\\\b\") { n += file.changes; } } ()",
    ),
];

/// Rules that are stopped by their bounds, each a way to make an operation as dear as it gets.
const STOPPED: [(&str, &str); 10] = [
    ("empty_loop", "loop { }"),
    (
        "copies_of_an_array",
        "let a = []; for n in 0..128 { a.push(n); } loop { let b = a; }",
    ),
    (
        "copies_of_texts",
        "let a = []; for n in 0..128 { a.push(`01234567890123456789012345678901234567890123456789${n}`); } loop { let b = a; }",
    ),
    (
        "copies_of_a_map",
        "let m = #{}; for n in 0..64 { m.set(`a long name that is not kept in place ${n}`, n); } loop { let b = m; }",
    ),
    (
        "an_array_pushed_to",
        "let a = []; for n in 0..127 { a.push(n); } loop { let b = a; b.push(1); }",
    ),
    (
        "long_texts",
        "let s = \"x\"; for n in 0..13 { s += s; } loop { let t = s + s; }",
    ),
    (
        "templates",
        "let s = \"x\"; for n in 0..13 { s += s; } loop { let t = `${s}${s}`; }",
    ),
    (
        "comparing_long_texts",
        "let s = \"x\"; for n in 0..14 { s += s; } let t = s + \"\"; loop { t == s; }",
    ),
    (
        "searching_for_it",
        "let a = []; for n in 0..128 { a.push(`0123456789012345678901234567890123456789012345678901234567890${n}`); } loop { \"x\" in a; }",
    ),
    (
        "patterns_over_all_lines",
        "loop { for file in facts.files { file.adds(\"(?i)(x|y|z)+q\"); } }",
    ),
];

fn policy(rules: &[(&str, &str)]) -> Policy {
    let base = [
        ("owner.yml", "github_login: octo-owner\n"),
        ("projects.yml", "governance_repo: octo-org/bot\n"),
        ("env.yml", "bot_app_slug: octo-gate\n"),
    ];
    let base = base
        .iter()
        .map(|(name, text)| SourceFile::new("config", name, text));
    let own = rules
        .iter()
        .map(|(name, text)| SourceFile::new("config", &format!("skills/classifier/{name}"), text));
    let files: Vec<SourceFile> = base.chain(own).collect();
    quadgate::policy::compile("config", &files)
        .expect("a policy")
        .policy
}

/// Ordinary work: sources, tests, documents and examples, twelve changed lines each.
fn file(at: usize) -> FileChange {
    let path = match at % 4 {
        0 => format!("src/app/module_{at}/widget.py"),
        1 => format!("tests/unit/test_widget_{at}.py"),
        2 => format!("docs/guide/page-{at}.md"),
        _ => format!("packages/core/lib/feature-{at}/index.ts"),
    };
    let mut diff = String::from("@@ -10,8 +10,8 @@ def widget(self):\n");
    for line in 0..6 {
        let _ = writeln!(diff, "-    value_{line} = compute(old_name, offset + {at})");
        let _ = writeln!(diff, "+    value_{line} = compute(new_name, offset + {at})");
    }
    diff.push_str("     return value\n \n");
    FileChange {
        path,
        previous_path: None,
        status: FileStatus::Modified,
        additions: 6,
        deletions: 6,
        patch: Some(diff),
        base_content: None,
        head_content: None,
    }
}

fn facts() -> Facts {
    let sha = "0123456789abcdef0123456789abcdef01234567";
    let json = format!(
        r#"{{"repo":"octo-org/widgets","number":7,"author":"octo-dev","base_ref":"main","base_sha":"{sha}","head_sha":"{sha}","changed_files":{FILES},"commit_count":0}}"#
    );
    let mut facts = Facts::from_json(json.as_bytes()).expect("facts");
    facts.files = Known::Known((0..FILES).map(file).collect());
    facts
}

fn user_rules(criterion: &mut Criterion) {
    let facts = facts();
    let without = policy(&[]);
    criterion.bench_function("without_user_rules", |bencher| {
        bencher.iter(|| rules::evaluate(black_box(&facts), black_box(&without)));
    });
    for (name, text) in RULES {
        let policy = policy(&[(name, text)]);
        criterion.bench_function(&format!("with/{name}"), |bencher| {
            bencher.iter(|| rules::evaluate(black_box(&facts), black_box(&policy)));
        });
    }
    let mut group = criterion.benchmark_group("stopped");
    group.sample_size(10);
    for (name, text) in STOPPED {
        let policy = policy(&[("stopped.rhai", text)]);
        let verdict = rules::evaluate(&facts, &policy);
        assert!(
            verdict.reasoning().contains("operations"),
            "{name}: {}",
            verdict.reasoning()
        );
        group.bench_function(name, |bencher| {
            bencher.iter(|| rules::evaluate(black_box(&facts), black_box(&policy)));
        });
    }
    group.finish();
}

criterion_group!(benches, user_rules);
criterion_main!(benches);
