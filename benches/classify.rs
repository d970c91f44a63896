//! How long one decision takes: a pull request of 3,000 files, with and without patches.
//!
//! Wanted on two slow cores: under 10 ms with patches, under 3 ms without.
#![allow(missing_docs)] // the functions that the macros make
#![allow(clippy::expect_used)] // a benchmark that cannot be set up must not run

use criterion::{Criterion, criterion_group, criterion_main};
use quadgate::domain::{Facts, FileChange, FileStatus, Known};
use quadgate::policy::paths::{ClassifierRulesFile, PathPolicy};
use quadgate::policy::{Bot, Owners, Policy, Publisher};
use quadgate::rules;
use std::fmt::Write;
use std::hint::black_box;

const FILES: usize = 3_000;

fn policy() -> Policy {
    Policy {
        owners: Owners {
            logins: vec!["octo-owner".to_owned()],
            pinned: Vec::new(),
        },
        bot: Bot {
            app_slug: "quadgate-bench".to_owned(),
            repo: "octo-org/bot".parse().expect("a name"),
            repo_id: None,
        },
        publisher: Some(Publisher {
            slug: "github-actions".to_owned(),
            app_id: None,
        }),
        ..Policy::built_in().expect("built in")
    }
}

/// Ordinary work: sources, tests, documents and examples, twelve changed lines each.
fn file(at: usize, with_patch: bool) -> FileChange {
    let path = match at % 6 {
        0 => format!("src/app/module_{at}/widget.py"),
        1 => format!("tests/unit/test_widget_{at}.py"),
        2 => format!("docs/guide/page-{at}.md"),
        3 => format!("examples/demo_{at}/main.rs"),
        4 => format!("packages/core/lib/feature-{at}/index.ts"),
        _ => format!("src/multiagent_protocol/part_{at}.py"),
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
        patch: with_patch.then_some(diff),
        base_content: None,
        head_content: None,
    }
}

fn facts(with_patch: bool) -> Facts {
    let sha = "0123456789abcdef0123456789abcdef01234567";
    let json = format!(
        r#"{{"repo":"octo-org/widgets","number":7,"base_ref":"main","base_sha":"{sha}","head_sha":"{sha}","changed_files":{FILES},"commit_count":0}}"#
    );
    let mut facts = Facts::from_json(json.as_bytes()).expect("facts");
    facts.files = Known::Known((0..FILES).map(|at| file(at, with_patch)).collect());
    facts
}

fn classify(criterion: &mut Criterion) {
    let policy = policy();
    for (name, with_patch) in [
        ("3000_files_with_patches", true),
        ("3000_files_without_patches", false),
    ] {
        let facts = facts(with_patch);
        assert_eq!(rules::evaluate(&facts, &policy).files().len(), FILES);
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| rules::evaluate(black_box(&facts), black_box(&policy)));
        });
    }
    criterion.bench_function("compile_built_in_policy", |bencher| {
        let file = ClassifierRulesFile::default();
        bencher.iter(|| PathPolicy::compile(black_box(&file)));
    });
}

criterion_group!(benches, classify);
criterion_main!(benches);
