//! The status comment: snapshots in both languages, and that nothing foreign in a reason is prose.

use super::escape::sentence;
use super::gate::{Said, status};
use super::tests::{nasty, prose};
use super::texts::Language;
use crate::domain::{CheckRunFact, Known, MergeMethod, Quadrant};
use crate::gate::burn_in::BurnIn;
use crate::gate::merge::{Hold, MergeStep};
use crate::gate::{Conditions, GateFacts, GateInput, judge};
use crate::plan::tests::facts;
use crate::policy::Policy;
use proptest::prelude::*;

fn conditions(check: &str) -> Conditions {
    let facts = facts('a', "main");
    let gate = GateFacts {
        head_sha: facts.head_sha.clone(),
        open: true,
        draft: true,
        archived: false,
        mergeable: Known::Unknown("GitHub has not computed it yet".into()),
        default_branch: Known::Known("main".into()),
        behind_by: Known::Known(2),
        check_runs: Known::Known(vec![CheckRunFact {
            name: check.into(),
            id: None,
            app_slug: Some("github-actions".into()),
            app_id: None,
            status: "completed".into(),
            conclusion: Some("failure".into()),
            external_id: None,
            title: None,
            summary: None,
            text: None,
        }]),
        statuses: Known::Known(Vec::new()),
        allowed_methods: Known::Known(vec![MergeMethod::Squash]),
        may_write: Known::Known(true),
        auto_merge: Known::Known(None),
        queued: Known::Known(false),
        evidence: Known::Known(vec!["`EV-7` has no proof".into()]),
    };
    judge(&GateInput {
        facts: &facts,
        gate: &gate,
        quadrant: Quadrant::D,
        approved: false,
        policy: &Policy::built_in().expect("a policy"),
        burn_in: &BurnIn::default(),
        now: "2026-05-25T12:00:00Z".parse().expect("a time"),
    })
}

fn everything(language: Language) -> String {
    let conditions = conditions("build");
    let sha = conditions.head_sha().clone();
    let method = MergeMethod::Squash;
    let merge = MergeStep::Merge {
        method,
        sha: sha.clone(),
    };
    let steps = [
        MergeStep::Nothing(Hold::Conditions),
        MergeStep::Nothing(Hold::Underway),
        MergeStep::Nothing(Hold::Refused("GitHub refuses `PUT merge`: a rule".into())),
        MergeStep::DryRun(Box::new(merge.clone())),
        merge,
        MergeStep::EnableAuto {
            method,
            sha: sha.clone(),
        },
        MergeStep::DisableAuto,
        MergeStep::Enqueue { sha: sha.clone() },
        MergeStep::UpdateBranch { expected_head: sha },
    ];
    let said = steps.map(|step| {
        let said = Said {
            conditions: &conditions,
            step: &step,
            language,
        };
        format!("===== {step:?}\n{}\n", status(&said, "7/12/gate"))
    });
    said.concat()
}

#[test]
fn the_status_comment_in_english() {
    insta::assert_snapshot!(everything(Language::En));
}

#[test]
fn the_status_comment_in_korean() {
    insta::assert_snapshot!(everything(Language::Ko));
}

#[test]
fn plain_reasons_stay_readable() {
    for text in [
        "required check `build` has not run on 0123abc",
        "3 commits behind `main`: update the branch",
    ] {
        assert_eq!(sentence(text, 500), text);
    }
    assert_eq!(sentence("ask @octo-team", 500), "`ask @octo-team`");
    assert_eq!(sentence("a `b", 500), "``a `b``");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_of_a_reason_is_prose(text in nasty()) {
        for markdown in [sentence(&text, 300), format!("- **C2** (P0): {}", sentence(&format!("`{text}` concluded"), 300))] {
            let (prose, _) = prose(&markdown);
            prop_assert!(!prose.contains(['@', '#', '`']), "{markdown:?} {prose:?}");
            prop_assert!(!prose.contains("[html:") && !prose.contains("evil"), "{markdown:?}");
            prop_assert!(!markdown.contains("<!--"), "{markdown:?}");
        }
        for language in [Language::En, Language::Ko] {
            let conditions = conditions(&text);
            let said = Said { conditions: &conditions, step: &MergeStep::Nothing(Hold::Refused(text.clone())), language };
            let comment = status(&said, "7/12/gate");
            let (prose, _) = prose(&comment);
            prop_assert!(!prose.contains(['@', '#']) && !prose.contains("evil"), "{comment}");
            prop_assert_eq!(comment.matches("<!--").count(), 1);
        }
    }
}
