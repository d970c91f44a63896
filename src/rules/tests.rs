//! Tests of the registry and the fold.

use super::*;
use crate::domain::{Known, RepoName};
use crate::policy::{Bot, Owners};
use proptest::prelude::*;

fn policy() -> Policy {
    Policy {
        owners: Owners {
            logins: vec!["octo-owner".to_owned()],
            pinned: Vec::new(),
        },
        bot: Bot {
            app_slug: "quadgate-test".to_owned(),
            repo: repo("octo-org/bot"),
            repo_id: None,
        },
        publisher: None,
        ..Policy::built_in().expect("built in")
    }
}

fn repo(name: &str) -> RepoName {
    name.parse().expect("a name")
}

fn facts() -> Facts {
    let json = format!(
        r#"{{"repo":"octo-org/widgets","number":1,"base_ref":"main","base_sha":"{0}","head_sha":"{0}","changed_files":1,"commit_count":0,
            "files":[{{"path":"README.md","status":"modified","additions":1,"patch":"@@ -1 +1,2 @@\n a\n+b"}}]}}"#,
        "a".repeat(40)
    );
    Facts::from_json(json.as_bytes()).expect("facts")
}

fn voting(quadrant: Quadrant) -> RuleReport {
    RuleReport {
        rule: RuleName::built_in("test"),
        finding: Finding::vote_for(quadrant, "because"),
    }
}

fn silent() -> RuleReport {
    RuleReport {
        rule: RuleName::built_in("test"),
        finding: Finding::abstain(),
    }
}

fn fold(reports: Vec<RuleReport>) -> Quadrant {
    Verdict::fold(reports, Vec::new(), String::new()).quadrant()
}

#[test]
fn a_rule_that_panics_votes_d_and_the_others_still_run() {
    const FAILING: Rule = Rule {
        id: "failing",
        votes: &[Quadrant::D],
        when: "always",
        run: |_, _| panic!("index\nout of bounds"),
    };
    let chain = [FAILING, path_classifier_default::RULE];
    let verdict = evaluate_with(&chain, &facts(), &policy());
    assert_eq!(verdict.quadrant(), Quadrant::D);
    assert_eq!(verdict.rules_fired().len(), 2);
    assert!(verdict.axes().is_some());
    assert!(
        verdict
            .reasoning()
            .starts_with("failing: the rule failed: index\\nout of bounds"),
        "{}",
        verdict.reasoning()
    );
}

#[test]
fn no_votes_are_d() {
    assert_eq!(fold(Vec::new()), Quadrant::D);
    assert_eq!(fold(vec![silent(), silent()]), Quadrant::D);
    assert_eq!(
        evaluate_with(&[], &facts(), &policy()).quadrant(),
        Quadrant::D
    );
    assert_eq!(
        evaluate_with(&[empty_pr::RULE], &facts(), &policy()).reasoning(),
        "no rule voted"
    );
}

#[test]
fn unknown_facts_are_never_empty_ones() {
    let policy = policy();
    let unknown = || Known::Unknown("HTTP 502".to_owned());
    let known = evaluate(&facts(), &policy).quadrant();
    assert_eq!(known, Quadrant::A);
    for spoil in [
        (|facts, cause| facts.files = Known::Unknown(cause)) as fn(&mut Facts, String),
        |facts, cause| facts.commits = Known::Unknown(cause),
        |facts, cause| facts.check_runs = Known::Unknown(cause),
    ] {
        let mut facts = facts();
        spoil(&mut facts, "HTTP 502".to_owned());
        let verdict = evaluate(&facts, &policy);
        assert_eq!(verdict.quadrant(), Quadrant::D);
        assert!(
            verdict.reasoning().contains("HTTP 502"),
            "{}",
            verdict.reasoning()
        );
    }
    let mut facts = facts();
    facts.label_events = unknown();
    assert_eq!(
        evaluate(&facts, &policy).quadrant(),
        Quadrant::A,
        "a label nobody set decides nothing"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_vote_more_never_lowers_and_order_is_irrelevant(
        votes in proptest::collection::vec(proptest::option::of(0_usize..4), 0..8),
        more in 0_usize..4,
    ) {
        let report = |vote: &Option<usize>| vote.and_then(|at| Quadrant::ALL.get(at).copied()).map_or_else(silent, voting);
        let reports: Vec<RuleReport> = votes.iter().map(report).collect();
        let before = fold(reports.clone());
        prop_assert_eq!(fold(reports.iter().rev().cloned().collect()), before);
        let mut grown = reports;
        grown.push(report(&Some(more)));
        let after = fold(grown);
        // Only the D of a chain without votes may give way to the first vote.
        prop_assert!(after >= before || votes.iter().all(Option::is_none));
        prop_assert!(after >= *Quadrant::ALL.get(more).expect("four"));
    }
}

/// Many files are shared among threads; each file is judged as it is alone, and the rows keep their order.
#[test]
fn a_large_change_is_judged_file_by_file() {
    let one = facts();
    let template = one.files.known().expect("files").first().expect("one");
    let files: Vec<_> = (0..1_200)
        .map(|at| {
            let mut file = template.clone();
            let (path, line) = match at % 5 {
                0 => (format!("src/a{at}.rs"), "+// a comment"),
                1 => (format!("docs/guide/{at}.md"), "+You must not."),
                2 => (format!("db/migrations/{at}.sql"), "+drop table a;"),
                3 => (format!("src/b{at}.py"), "+import smtplib"),
                _ => (format!("tests/c{at}.rs"), "+let a = 1;"),
            };
            if at % 5 == 0 {
                file.base_content = Some("fn a() {}\n".to_owned());
                file.head_content = Some("fn a() {}\n// a comment\n".to_owned());
            }
            file.path = path;
            file.patch = Some(format!("@@ -1 +1,2 @@\n fn a() {{}}\n{line}"));
            file
        })
        .collect();
    let judged = |files: &[crate::domain::FileChange]| {
        let mut facts = facts();
        facts.files = Known::Known(files.to_vec());
        evaluate(&facts, &policy()).files().to_vec()
    };
    let alone: Vec<_> = files.chunks(1).flat_map(judged).collect();
    assert_eq!(judged(&files), alone);
    let comments = alone
        .iter()
        .filter(|row| row.cr_because.0.contains("comment-only"));
    assert_eq!(comments.count(), 240);
}
