//! Declared rules on facts: what raises, what passes, and what cannot be decided.

use super::*;
use crate::domain::{FileChange, FileStatus, Known};
use crate::policy::SourceFile;

/// The policy with these user rules, by file name and text.
pub(super) fn policy(rules: &[(&str, &str)]) -> Policy {
    let base = [
        ("owner.yml", "github_login: octo-owner\n"),
        (
            "projects.yml",
            "governance_repo: octo-org/bot\nsupervised_repos: [octo-org/app]\n",
        ),
        ("env.yml", "bot_app_slug: octo-gate\n"),
    ];
    let base = base
        .iter()
        .map(|(name, text)| SourceFile::new("config", name, text));
    let own = rules
        .iter()
        .map(|(name, text)| SourceFile::new("config", &format!("skills/classifier/{name}"), text));
    let files: Vec<_> = base.chain(own).collect();
    crate::policy::compile("config", &files)
        .unwrap_or_else(|problems| panic!("{problems:#?}"))
        .policy
}

pub(super) fn file(path: &str, diff: &str) -> FileChange {
    let count = |mark: char| {
        let lines = diff.lines().filter(|line| line.starts_with(mark));
        u64::try_from(lines.count()).unwrap()
    };
    FileChange {
        path: path.to_owned(),
        previous_path: None,
        status: FileStatus::Modified,
        additions: count('+'),
        deletions: count('-'),
        patch: Some(diff.to_owned()).filter(|diff| !diff.is_empty()),
        base_content: None,
        head_content: None,
    }
}

pub(super) fn facts(files: Vec<FileChange>) -> Facts {
    let sha = "0123456789abcdef0123456789abcdef01234567";
    let text = format!(
        r#"{{"repo":"octo-org/app","number":7,"author":"Octocat","base_ref":"release/2","base_sha":"{sha}",
            "head_sha":"{sha}","changed_files":{},"commit_count":1,"labels":["Urgent"],
            "commits":[{{"sha":"{sha}","message":"Fix it\n\nSigned-off-by: Octo <o@example.org>\n"}}]}}"#,
        files.len()
    );
    let mut facts = Facts::from_json(text.as_bytes()).unwrap();
    facts.files = Known::Known(files);
    facts
}

const EDIT: &str = "@@ -1,2 +1,3 @@\n-let a = 1;\n+let a = 2;\n+// TODO: name it\n let b = 3;";

fn sample() -> Facts {
    let mut renamed = file("lib/new.rs", "@@ -1 +1 @@\n-a\n+b");
    renamed.status = FileStatus::Renamed;
    renamed.previous_path = Some("src/old.rs".to_owned());
    facts(vec![
        file("src/a.rs", EDIT),
        renamed,
        file("docs/a.md", "@@ -1 +1 @@\n-x\n+y"),
    ])
}

/// The result word and the reason of one declared rule.
fn judge(when: &str, facts: &Facts) -> (UserResult, String) {
    let text = format!("raise: D\nbecause: so it is\nwhen: {when}\n");
    let reports = reports(facts, &policy(&[("rule.yml", &text)]));
    let [report] = reports.as_slice() else {
        panic!("{reports:?}")
    };
    assert_eq!(report.rule.as_str(), "user.rule");
    match &report.finding {
        Finding::User {
            result,
            quadrant,
            reason,
        } => {
            assert_eq!(quadrant.is_none(), *result == UserResult::Pass, "{when}");
            (*result, reason.clone().unwrap_or_default())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_condition_holds_where_it_should_and_nowhere_else() {
    let facts = sample();
    let holds = [
        (
            "{file: {path: [src/**]}}",
            "so it is: src/a.rs, src/old.rs -> lib/new.rs",
        ),
        (
            "{file: {path: [SRC/**], not_path: [src/a.rs]}}",
            "so it is: src/old.rs -> lib/new.rs",
        ),
        // An exception must cover both paths of a rename, and with case.
        (
            "{file: {path: [src/**], not_path: [src/**, SRC/**]}}",
            "so it is: src/old.rs -> lib/new.rs",
        ),
        (
            "{file: {path: ['**'], at_least: 3}}",
            "so it is: src/a.rs, src/old.rs -> lib/new.rs, docs/a.md",
        ),
        (
            "{file: {status: [renamed]}}",
            "so it is: src/old.rs -> lib/new.rs",
        ),
        (r"{file: {added: ['\bTODO\b']}}", "so it is: src/a.rs"),
        ("{file: {removed: ['^let a']}}", "so it is: src/a.rs"),
        (
            "{file: {additions: {more_than: 1}, deletions: {less_than: 2}}}",
            "so it is: src/a.rs",
        ),
        ("{every_file: {changes: {less_than: 4}}}", "so it is"),
        (
            "{files: {more_than: 2}, commits: {less_than: 2}}",
            "so it is",
        ),
        (
            "{additions: {more_than: 3}, deletions: {more_than: 2}, changes: {more_than: 6}}",
            "so it is",
        ),
        ("{author: [octocat]}", "so it is: `Octocat`"),
        ("{label: [urgent]}", "so it is: label `Urgent`"),
        ("{base: [release/*]}", "so it is"),
        ("{repo: [octo-org/app], draft: false}", "so it is"),
        ("{commit: {message: ['^Fix']}}", "so it is: commit 0123456"),
        (
            "{every_commit: {trailer: signed-off-by, value: ['example\\.org']}}",
            "so it is",
        ),
        ("{not: {author: [somebody]}}", "so it is"),
        (
            "{any: [{draft: true}, {file: {path: [docs/**]}}]}",
            "so it is: docs/a.md",
        ),
        (
            "{all: [{not: {label: [reviewed]}}, {file: {path: [docs/**]}}]}",
            "so it is: docs/a.md",
        ),
    ];
    for (when, reason) in holds {
        assert_eq!(
            judge(when, &facts),
            (UserResult::Raise, reason.to_owned()),
            "{when}"
        );
    }
    let fails = [
        "{file: {path: [app/**]}}",
        "{file: {path: [docs/**], added: [TODO]}}",
        "{file: {path: ['**'], at_least: 4}}",
        "{file: {status: [removed, added]}}",
        "{every_file: {path: [src/**]}}",
        "{files: {more_than: 3}}",
        "{changes: {less_than: 7}}",
        "{author: [octo]}",
        "{label: [urgent-not]}",
        "{base: [main]}",
        "{repo: [octo-org/bot]}",
        "{draft: true}",
        "{commit: {trailer: Task-Ref}}",
        "{not: {every_commit: {trailer: Signed-off-by}}}",
        "{author: [octocat], draft: true}",
        "{not: {any: [{draft: true}, {author: [octocat]}]}}",
    ];
    for when in fails {
        assert_eq!(judge(when, &facts).0, UserResult::Pass, "{when}");
    }
}

#[test]
fn what_is_asked_for_and_not_known_is_d() {
    let mut facts = sample();
    facts.files = Known::Unknown("HTTP 502".to_owned());
    facts.changed_files = 0;
    for when in [
        "{file: {path: [src/**]}}",
        "{not: {file: {path: [src/**]}}}",
        "{every_file: {path: [src/**]}}",
        "{files: {less_than: 100}}",
        "{any: [{draft: true}, {additions: {more_than: 5}}]}",
    ] {
        let (result, reason) = judge(when, &facts);
        assert_eq!(result, UserResult::Error, "{when}");
        assert_eq!(
            reason, "cannot be decided: files unknown: HTTP 502",
            "{when}"
        );
    }
    // What is known decides by itself, whatever the rest would be.
    assert_eq!(
        judge("{draft: true, file: {path: [src/**]}}", &facts).0,
        UserResult::Pass
    );
    assert_eq!(
        judge("{any: [{draft: false}, {file: {path: [a]}}]}", &facts).0,
        UserResult::Raise
    );
    facts.author = None;
    let gone = "cannot be decided: the author's account is gone".to_owned();
    assert_eq!(
        judge("{not: {author: [octocat]}}", &facts),
        (UserResult::Error, gone)
    );
}

#[test]
fn a_list_that_is_cut_shows_what_is_in_it_and_not_what_is_not() {
    let mut facts = sample();
    facts.changed_files = 9;
    facts.commit_count = 2;
    let cut = "cannot be decided: 3 files listed, the pull request says 9".to_owned();
    assert_eq!(
        judge("{file: {path: [src/**]}}", &facts).0,
        UserResult::Raise
    );
    assert_eq!(
        judge("{file: {path: [app/**]}}", &facts),
        (UserResult::Error, cut.clone())
    );
    assert_eq!(
        judge("{every_file: {path: ['**']}}", &facts),
        (UserResult::Error, cut)
    );
    assert_eq!(
        judge("{every_file: {path: [src/**]}}", &facts).0,
        UserResult::Pass
    );
    assert_eq!(
        judge("{commit: {message: [Fix]}}", &facts).0,
        UserResult::Raise
    );
    assert_eq!(
        judge("{commit: {message: [nothing]}}", &facts).0,
        UserResult::Error
    );
    assert_eq!(
        judge("{every_commit: {trailer: Signed-off-by}}", &facts).0,
        UserResult::Error
    );
}

#[test]
fn lines_that_were_not_given_are_unknown_only_where_they_are_asked_for() {
    let mut unseen = file("src/big.rs", "");
    unseen.additions = 5_000;
    let mut odd = file("src/odd.rs", EDIT);
    odd.status = FileStatus::Other("teleported".to_owned());
    let facts = facts(vec![unseen, odd, file("logo.png", "")]);
    let (result, reason) = judge("{file: {path: [src/**], added: [nowhere]}}", &facts);
    assert_eq!(result, UserResult::Error);
    assert_eq!(reason, "cannot be decided: src/big.rs: diff not given");
    assert_eq!(
        judge("{file: {path: ['*.png'], added: [TODO]}}", &facts).0,
        UserResult::Pass
    );
    assert_eq!(
        judge("{file: {path: [docs/**], added: [TODO]}}", &facts).0,
        UserResult::Pass
    );
    assert_eq!(
        judge("{file: {path: [src/**], added: [TODO]}}", &facts).0,
        UserResult::Raise
    );
    assert_eq!(
        judge("{file: {additions: {more_than: 4000}}}", &facts).0,
        UserResult::Raise
    );
    let (result, reason) = judge("{file: {path: [src/odd.rs], status: [added]}}", &facts);
    assert_eq!(result, UserResult::Error);
    assert_eq!(reason, "cannot be decided: src/odd.rs: unknown status");
}

#[test]
fn a_user_rule_raises_and_never_lowers() {
    let rule = |to: &str| format!("raise: {to}\nbecause: so it is\nwhen: {{draft: false}}\n");
    let readme = facts(vec![file(
        "README.md",
        "@@ -1 +1 @@\n-# Teh thing\n+# The thing",
    )]);
    let workflow = facts(vec![file(
        ".github/workflows/ci.yml",
        "@@ -1 +1 @@\n-a\n+b",
    )]);
    let verdict = |facts: &Facts, to: &str| {
        crate::rules::evaluate(facts, &policy(&[("rule.yml", &rule(to))])).quadrant()
    };
    for to in [Quadrant::C, Quadrant::B, Quadrant::D] {
        assert_eq!(verdict(&readme, to.letter()), to);
        assert_eq!(verdict(&workflow, to.letter()), Quadrant::D);
    }
}

#[test]
fn rules_run_in_the_order_of_their_names_after_the_built_in_ones() {
    let rule = "raise: B\nbecause: so it is\nwhen: {draft: false}\n";
    let policy = policy(&[
        ("b.yml", rule),
        ("a.rhai", "raise(C, \"first\")"),
        ("c.yaml", rule),
    ]);
    let verdict = crate::rules::evaluate(&sample(), &policy);
    let names: Vec<&str> = verdict
        .rules_fired()
        .iter()
        .map(|report| report.rule.as_str())
        .collect();
    assert_eq!(names.len(), 11);
    assert_eq!(names[8..], ["user.a", "user.b", "user.c"]);
    let json = serde_json::to_value(&verdict.rules_fired()[8]).unwrap();
    let wanted = serde_json::json!({"rule": "user.a", "result": "raise", "quadrant": "C", "reason": "first"});
    assert_eq!(json, wanted);
}

#[test]
fn a_rule_that_panics_is_d() {
    let panic = catch_unwind(|| -> Ended { panic!("out of order\nreally") }).unwrap_err();
    let finding = finding(Ended::Failed(words(&*panic)));
    assert_eq!(finding.vote(), Some(Quadrant::D));
    assert_eq!(
        finding.reason(),
        Some("the rule failed: out of order\\nreally")
    );
}
