//! What is said: snapshots in both languages, and properties of the escaping and cutting.

use super::check::{CheckInput, output};
use super::escape::{cell, code, fenced, shown};
use super::evidence::{EvidenceSaid, LedgerSaid, Stand};
use super::issue::{IssueInput, body, title};
use super::limit::{CHECK_FIELD, ISSUE_BODY, cut};
use super::texts::{Language, fill};
use super::*;
use crate::domain::*;
use crate::inbox::{Stamp, Why, seal};
use crate::plan::tests::{facts, key, verdict};
use crate::rules::{Because, FileRow, Finding, RuleName, RuleReport, Verdict};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

const LANGUAGES: [Language; 2] = [Language::En, Language::Ko];

fn issue_input<'a>(
    kind: IssueKind,
    facts: &'a Facts,
    verdict: &'a Verdict,
    language: Language,
) -> IssueInput<'a> {
    IssueInput {
        kind,
        facts,
        verdict,
        title: "Change the gate (fixes #1) @octo-team",
        url: "https://github.com/octo-org/widgets/pull/12",
        whole: "https://github.com/octo-org/widgets/pull/12/files",
        required_checks: &[],
        verifications: &[],
        passive_close_hours: Some(168),
        key: "7/12/d/aa/bb",
        language,
    }
}

/// Everything the bot says in one language, one after another.
fn everything(language: Language) -> String {
    let facts = facts('a', "main");
    let mut out = String::new();
    let mut say = |what: &str, text: &str| {
        out.extend(["===== ", what, "\n", text, "\n"]);
    };
    for quadrant in Quadrant::ALL {
        let verdict = verdict(quadrant);
        let choices = [
            None,
            Some(Choice::ApproveA),
            Some(Choice::ApproveB),
            Some(Choice::Defer),
            Some(Choice::Reject),
        ];
        for answered in choices {
            if quadrant != Quadrant::D && answered.is_some() {
                continue;
            }
            let output = output(&CheckInput {
                verdict: &verdict,
                answered,
                has_issue: quadrant != Quadrant::A,
                closed_by_hand: answered.is_none(),
                whole: "https://example.test/all",
                language,
            });
            let name = format!("check-run {quadrant} {answered:?}");
            say(&format!("{name} title"), &output.title);
            say(&format!("{name} summary"), &output.summary);
            say(&format!("{name} text"), &output.text);
        }
    }
    say("footer", &check::footer("sha256:0", "0.1.0", language));
    for button in check::buttons(language) {
        say(
            &format!("button {}", button.identifier),
            &format!("{}: {}", button.label, button.description),
        );
    }
    for (kind, quadrant) in [
        (IssueKind::AuditB, Quadrant::B),
        (IssueKind::AuditC, Quadrant::C),
        (IssueKind::PendingOwner, Quadrant::D),
    ] {
        let verdict = verdict(quadrant);
        let input = issue_input(kind, &facts, &verdict, language);
        say(&format!("issue {kind:?} title"), &title(&input));
        say(&format!("issue {kind:?} body"), &body(&input));
    }
    let repo: RepoName = "octo-org/widgets".parse().unwrap();
    let number = PullNumber(12);
    let head: Sha = "b".repeat(40).parse().unwrap();
    say(
        "superseded",
        &superseded(&repo, number, Quadrant::B, &head, "main", "k", language),
    );
    say("merged", &closed(&repo, number, true, "k", language));
    say("closed", &closed(&repo, number, false, "k", language));
    for why in [
        Why::NearCommand,
        Why::SeveralCommands,
        Why::ApproveNotAlone,
        Why::Assent,
    ] {
        say(
            &format!("clarification {why:?}"),
            &clarification(why, "k", language),
        );
    }
    say("passive", &passively_closed(168, "k", language));
    say("integrity", &integrity_failed("k", language));
    say(
        "stale",
        &stale_approval(&facts.head_sha, &head, "k", language),
    );
    say("rejected", &rejected_pull("L1.C3", "k", language));
    for stand in [
        Stand::Passes,
        Stand::NotNeeded,
        Stand::Missing,
        Stand::Held,
        Stand::Unknown,
    ] {
        let output = evidence_of(stand, "it is `so`", language);
        say(&format!("evidence {stand:?} title"), &output.title);
        say(&format!("evidence {stand:?} summary"), &output.summary);
        say(&format!("evidence {stand:?} text"), &output.text);
    }
    out
}

/// What is said of evidence that stands so, with `text` wherever somebody's words can stand.
fn evidence_of(stand: Stand, text: &str, language: Language) -> CheckOutput {
    let ledger =
        crate::evidence::markdown::read(include_str!("../../../docs/examples/ledger-bad.md"));
    let mut findings =
        crate::evidence::judge(&ledger, &crate::evidence::Context::default()).findings;
    for finding in &mut findings {
        finding.message.push_str(text);
    }
    let words = vec![text.to_owned(); 30];
    let without = matches!(stand, Stand::NotNeeded | Stand::Missing);
    let held = stand == Stand::Held;
    let some = |lines: &[String]| if held { lines.to_vec() } else { Vec::new() };
    let said = |problem, findings| LedgerSaid {
        path: text,
        problem,
        effective: Some("BLOCKED_EVIDENCE".to_owned()),
        declared: Some(text),
        risk: Some("HIGH".to_owned()),
        findings,
    };
    let ledgers = match (without, held) {
        (true, _) => vec![],
        (false, true) => vec![said(None, &findings[..]), said(Some(text), &[])],
        (false, false) => vec![said(None, &[])],
    };
    evidence::output(&EvidenceSaid {
        stand,
        required: held,
        risk: "HIGH".to_owned(),
        because: "quadrant D, payments".to_owned(),
        effective: (stand != Stand::NotNeeded).then(|| "BLOCKED_EVIDENCE".to_owned()),
        ledgers,
        outside: &some(&words),
        verifications: &some(&words[..2]),
        problems: &some(&words[..1]),
        cause: (stand == Stand::Unknown).then_some(text),
        unremarked: usize::from(held),
        quadrant: Quadrant::D,
        whole: "https://example.test/all",
        language,
    })
}

#[test]
fn everything_in_english() {
    insta::assert_snapshot!(everything(Language::En));
}

#[test]
fn everything_in_korean() {
    insta::assert_snapshot!(everything(Language::Ko));
}

#[test]
fn the_record_has_exactly_the_specified_shape() {
    let verdict = verdict(Quadrant::D);
    let checks = ["ci / test".to_owned()];
    let english = record(&facts('a', "main"), &verdict, &checks, &[], Language::En);
    let expect = "CHECKPOINT APPROVAL REQUIRED\n\nApproval covers:\n- merge of octo-org/widgets#12 at aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa into main\n- src/gate.rs modified (irreversible, critical)\n\nIrreversible consequences:\n- src/gate.rs: pattern\n\nRequired verification:\n- check ci / test is green at this head\n\nReply APPROVE to authorize exactly the actions above.";
    assert_eq!(english, expect);
    let korean = record(&facts('a', "main"), &verdict, &checks, &[], Language::Ko);
    let shape: Vec<_> = korean
        .lines()
        .filter(|line| !line.starts_with("- "))
        .collect();
    assert_eq!(
        shape,
        [
            "CHECKPOINT 승인 필요",
            "",
            "승인 범위:",
            "",
            "되돌릴 수 없는 결과:",
            "",
            "필수 검증:",
            "",
            "위의 작업을 정확히 승인하려면 APPROVE라고 회신하십시오.",
        ]
    );
}

#[test]
fn buttons_fit_github() {
    for language in LANGUAGES {
        for button in check::buttons(language) {
            assert!(button.label.chars().count() <= 20, "{}", button.label);
            assert!(
                button.description.chars().count() <= 40,
                "{}",
                button.description
            );
            assert!(button.identifier.chars().count() <= 20);
        }
    }
}

#[test]
fn both_languages_fill_the_same_places() {
    let places = |language| {
        let source = match language {
            Language::En => include_str!("texts/en.rs"),
            Language::Ko => include_str!("texts/ko.rs"),
        };
        source
            .lines()
            .filter_map(|line| {
                let (name, text) = line.trim().split_once(": \"")?;
                let mut found: Vec<String> = text
                    .split('{')
                    .skip(1)
                    .filter_map(|rest| Some(rest.split_once('}')?.0.to_owned()))
                    .collect();
                found.sort();
                Some((name.to_owned(), found))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(places(Language::En), places(Language::Ko));
    assert!(places(Language::En).len() > 60);
}

#[test]
fn a_value_is_not_filled_again() {
    assert_eq!(fill("{a}-{b}", &[("a", "{b}"), ("b", "x")]), "{b}-x");
}

/// A verdict over many hostile files.
fn hostile(files: usize, text: &str) -> Verdict {
    let axes = Axes::HIGHEST;
    let rows = (0..files)
        .map(|at| FileRow {
            path: format!("{at}{text}"),
            previous_path: Some(text.to_owned()),
            status: text.to_owned().into(),
            axes,
            ir_because: Because(text.to_owned().into()),
            cr_because: Because(text.to_owned().into()),
        })
        .collect();
    let report = |rule, finding| RuleReport { rule, finding };
    let rules = vec![
        report(
            RuleName::built_in("path_classifier_default"),
            Finding::Axes {
                axes,
                quadrant: Quadrant::D,
            },
        ),
        report(
            RuleName::user("x"),
            Finding::Match {
                matched: true,
                quadrant: Quadrant::D,
                reason: text.to_owned(),
            },
        ),
    ];
    Verdict::for_tests(rules, rows, text)
}

fn check_of(verdict: &Verdict, language: Language) -> CheckOutput {
    output(&CheckInput {
        verdict,
        answered: None,
        has_issue: true,
        closed_by_hand: false,
        whole: "https://example.test/all",
        language,
    })
}

#[test]
fn everything_fits_in_bytes_whatever_the_pull_request_holds() {
    let facts = facts('a', "main");
    let key = key();
    for language in LANGUAGES {
        for text in [
            "🚀".repeat(16_384),
            "`".repeat(70_000),
            "a\n".repeat(40_000),
            "가|".repeat(9_000),
        ] {
            for stand in [Stand::Held, Stand::Unknown, Stand::Passes] {
                let said = evidence_of(stand, &text, language);
                assert!(said.title.len() <= 255);
                assert!(said.summary.len() + 4_096 <= CHECK_FIELD);
                assert!(said.text.len() <= CHECK_FIELD, "{}", said.text.len());
            }
            let verdict = hostile(3_000, &text.chars().take(120).collect::<String>());
            let long = hostile(1, &text);
            for verdict in [&verdict, &long] {
                let said = check_of(verdict, language);
                assert!(said.title.len() <= CHECK_FIELD);
                assert!(
                    said.summary.len() + 4_096 <= CHECK_FIELD,
                    "{}",
                    said.summary.len()
                );
                assert!(said.text.len() <= CHECK_FIELD, "{}", said.text.len());
                let checks: Vec<String> = (0..200).map(|at| format!("{at}{text}")).collect();
                let input = IssueInput {
                    title: &text,
                    required_checks: &checks,
                    verifications: &checks,
                    ..issue_input(IssueKind::PendingOwner, &facts, verdict, language)
                };
                let repo = RepoRef {
                    id: RepoId(7),
                    name: "octo-org/widgets".parse().unwrap(),
                    installation: InstallationId(1),
                };
                let stamp = Stamp {
                    repo: &repo,
                    number: PullNumber(12),
                    head: &facts.head_sha,
                    nonce: "n",
                };
                let sealed = seal(&body(&input), stamp, &key);
                assert!(sealed.len() <= ISSUE_BODY, "{}", sealed.len());
                let record = record(&facts, verdict, &checks, &checks, language);
                assert!(sealed.contains(&record), "the record is whole");
            }
        }
    }
    let text = check_of(&hostile(3_000, "src/some/path.rs"), Language::En).text;
    assert!(text.contains("more lines. All of it: https://example.test/all"));
}

#[test]
fn a_cut_closes_its_fence_and_says_how_much_is_missing() {
    let texts = Language::En.texts();
    let long = format!(
        "verdict: D\n\n````text\n{}````\n\nend",
        "log\n".repeat(20_000)
    );
    let short = cut(&long, CHECK_FIELD, "https://example.test", texts);
    assert!(short.len() <= CHECK_FIELD && short.starts_with("verdict: D"));
    assert!(short.contains("\n````\n\n… "));
    let emoji = cut(
        &"🚀".repeat(16_384),
        CHECK_FIELD,
        "https://example.test",
        texts,
    );
    assert!(emoji.len() <= CHECK_FIELD && emoji.contains("more lines"));
    let fits = "x".repeat(CHECK_FIELD);
    assert_eq!(cut(&fits, CHECK_FIELD, "", texts), fits);
}

/// The text that GitHub would look at for mentions and references: all but code.
pub(super) fn prose(markdown: &str) -> (String, usize) {
    let mut text = String::new();
    let (mut in_code, mut cells) = (false, 0);
    for event in Parser::new_ext(
        markdown,
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH,
    ) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Start(Tag::TableCell) => cells += 1,
            Event::Text(said) if !in_code => text.push_str(&said),
            Event::Html(said) | Event::InlineHtml(said) => {
                text.extend(["[html:", said.trim(), "]"]);
            }
            _ => {}
        }
    }
    (text, cells)
}

pub(super) fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("@octo-team".to_owned()),
        Just("fixes #1".to_owned()),
        Just("<!-- quadgate:ballot v=1 -->".to_owned()),
        Just("<!-- quadgate:late issue pending en -->".to_owned()),
        Just("-->".to_owned()),
        Just("|".to_owned()),
        Just("\\|".to_owned()),
        Just("\\".to_owned()),
        Just("`".to_owned()),
        Just("```".to_owned()),
        Just("~~~".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n\r\n".to_owned()),
        Just("\u{202e}".to_owned()),
        Just("\u{200b}".to_owned()),
        Just(" ".to_owned()),
        Just("<details>".to_owned()),
        Just("[x](https://evil.test)".to_owned()),
        Just("https://evil.test".to_owned()),
        Just("{reasoning}".to_owned()),
        ".{0,6}",
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn code_is_code(text in nasty()) {
        for markdown in [code(&text, 300), format!("- a {} b", code(&text, 300)), fenced(&shown(&text, 300))] {
            let (prose, _) = prose(&markdown);
            prop_assert!(!prose.contains(['@', '#', '`']), "{markdown:?} {prose:?}");
            prop_assert!(!prose.contains("[html:") && !prose.contains("evil"), "{markdown:?}");
            prop_assert!(!markdown.contains("<!--"));
        }
        let shown = shown(&text, 10_000);
        prop_assert!(!shown.chars().any(is_unseen), "{shown:?}");
    }

    #[test]
    fn a_cell_stays_one_cell(text in nasty()) {
        let table = format!("| a | b |\n|---|---|\n| {} | end |\n", cell(&text, 300));
        let (prose, cells) = prose(&table);
        prop_assert_eq!(cells, 4, "{}", table);
        prop_assert!(prose == "abend", "{table:?} {prose:?}");
    }

    #[test]
    fn nothing_of_a_pull_request_is_prose(text in nasty()) {
        let verdict = hostile(3, &text);
        let mut facts = facts('a', "main");
        facts.base_ref.clone_from(&text);
        facts.author = Some(text.clone());
        for language in LANGUAGES {
            let said = check_of(&verdict, language);
            let input = IssueInput { title: &text, ..issue_input(IssueKind::PendingOwner, &facts, &verdict, language) };
            let issue = body(&input);
            let evidence = evidence_of(Stand::Held, &text, language);
            for markdown in [&said.summary, &said.text, &issue, &evidence.summary, &evidence.text] {
                let (prose, _) = prose(markdown);
                let ours = prose.replace("octo-org/widgets#12", "");
                prop_assert!(!ours.contains(['@', '#']) && !ours.contains("evil"), "{ours}");
                prop_assert!(markdown.matches("<!--").count() <= 1, "{markdown}");
                prop_assert!(!prose.contains("<details>"), "{markdown}");
            }
        }
    }

    #[test]
    fn cutting_never_goes_over(text in "(.{0,40}\n|```\n|~~~\n){0,60}", max in 400usize..1_500) {
        let short = cut(&text, max, "https://example.test", Language::Ko.texts());
        prop_assert!(short.len() <= max);
    }

    #[test]
    fn clipping_keeps_characters_whole(text in ".{0,60}", max in 0usize..80) {
        let short = shown(&text, max);
        prop_assert!(short.len() <= max + 32, "{short}");
    }
}
