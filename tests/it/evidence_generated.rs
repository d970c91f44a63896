//! Generated ledgers and generated noise: what is written is read back, and no text makes the reader panic.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use quadgate::evidence::{
    Approval, Assumption, Checkpoint, CheckpointRecord, CheckpointStatus, Claim, Context,
    Disposition, EvidenceType, Extra, Item, Language, Ledger, Mandatory, Needed, Other, Phase,
    Place, Record, Remark, Risk, RiskSection, Section, Stated, Status, Text, Vocabulary, json,
    judge, markdown,
};

/// Texts that mean something to Markdown, to the reader of ledgers, or to both.
const PIECES: [&str; 64] = [
    "`",
    "``",
    "```",
    "````",
    "`` C1 -> seen",
    " -> ",
    " → ",
    " -> a -> b -> c -> d",
    " — ",
    " - ",
    ": ",
    "：",
    ":",
    "|",
    "\\|",
    "**",
    "__",
    "***",
    "# ",
    "## ",
    "#",
    " #",
    "- ",
    "+ ",
    "1. ",
    "1) ",
    "12\\. ",
    "> ",
    "<!-- ",
    " -->",
    "<!---->",
    "<div>",
    "</",
    "\\",
    "\\\\",
    "\\`",
    "&#110;",
    "&#32;",
    "&#",
    "&amp;",
    ";",
    "[x]: ",
    "[x](y)",
    "![",
    "---",
    "===",
    "~~~",
    "\0",
    "\u{1}",
    "\u{1f}",
    "\u{200b}",
    "\u{2060}",
    "\u{202e}",
    "\u{ad}",
    "none",
    "없음",
    "PASS",
    "HIGH",
    "PENDING",
    "Status: ",
    "Claim: ",
    "증거 계약",
    "Approval covers:",
    "Evidence ledger: ",
];

/// Any line, the characters that mean something more often than chance has them; may be empty, or a word for "none".
fn maybe_line() -> impl Strategy<Value = Text> {
    let piece = prop_oneof![
        3 => "[a-zA-Z가-힣0-9 ]{1,12}",
        2 => "[-#>*+_`~|<\\[\\]()!\\\\:.=1&;' ]{1,5}",
        4 => prop::sample::select(PIECES.as_slice()).prop_map(str::to_owned),
        1 => "\\PC{1,4}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| Text::new(&pieces.concat()))
}

fn line() -> impl Strategy<Value = Text> {
    maybe_line().prop_filter("says something", |text| !text.is_empty())
}

/// A sentence that is not a label, a chain or a word of a vocabulary.
fn prose() -> impl Strategy<Value = Text> {
    "[a-z가-힣]{2,8}( [a-z]{3,8}){1,5}".prop_map(|text| Text::new(&format!("Note {text}")))
}

fn item() -> impl Strategy<Value = Item> {
    maybe_line().prop_map(|text| Item {
        text,
        at: Place::default(),
    })
}

/// Fields without a name here; in tables their labels may be any text, or none, or a name that stands twice.
fn other() -> impl Strategy<Value = Vec<Other>> {
    let label = prop_oneof![
        3 => maybe_line(),
        1 => prop::sample::select(vec!["Status", "ID", "주장", "Title", "Owner"]).prop_map(Text::from),
    ];
    let other = (label, maybe_line()).prop_map(|(label, text)| Other { label, text });
    prop::collection::vec(other, 0..3)
}

fn list() -> impl Strategy<Value = Option<Vec<Item>>> {
    prop::option::of(prop::collection::vec(item(), 0..4))
}

fn word<T: Vocabulary>() -> impl Strategy<Value = Option<Stated<T>>> {
    let known = prop::sample::select(T::ALL).prop_map(Stated::from);
    // An unknown word stays as written.
    let odd = line().prop_map(|text| Stated::read(text.as_str(), Place::default()));
    prop::option::of(prop_oneof![4 => known, 1 => odd])
}

fn scalar<T: Vocabulary>() -> impl Strategy<Value = Option<Stated<T>>> {
    let known = prop::sample::select(T::ALL).prop_map(Stated::from);
    let odd = maybe_line().prop_map(|text| Stated::read(text.as_str(), Place::default()));
    prop::option::of(prop_oneof![4 => known, 1 => odd])
}

fn claim() -> impl Strategy<Value = Claim> {
    (
        maybe_line(),
        maybe_line(),
        maybe_line(),
        maybe_line(),
        word::<EvidenceType>(),
        word::<Status>(),
        word::<Mandatory>(),
        word::<Needed>(),
        other(),
    )
        .prop_map(
            |(
                subject,
                id,
                required_evidence,
                consequence,
                evidence_type,
                status,
                mandatory,
                needed,
                other,
            )| Claim {
                subject,
                id,
                required_evidence,
                evidence_type,
                consequence,
                status,
                mandatory,
                needed,
                other,
                ..Claim::default()
            },
        )
}

fn record() -> impl Strategy<Value = Record> {
    (
        maybe_line(),
        maybe_line(),
        maybe_line(),
        maybe_line(),
        maybe_line(),
        maybe_line(),
        word::<EvidenceType>(),
        word::<Status>(),
        word::<Mandatory>(),
        other(),
    )
        .prop_map(
            |(
                subject,
                id,
                observed,
                artifact,
                method,
                limitation,
                evidence_type,
                status,
                mandatory,
                other,
            )| Record {
                subject,
                id,
                observed,
                artifact,
                method,
                evidence_type,
                limitation,
                status,
                mandatory,
                other,
                ..Record::default()
            },
        )
}

fn records() -> impl Strategy<Value = Option<Vec<Record>>> {
    prop::option::of(prop::collection::vec(record(), 0..3))
}

fn checkpoint_record() -> impl Strategy<Value = Option<CheckpointRecord>> {
    prop::option::of(
        prop::collection::vec(line(), 1..6).prop_map(|lines| CheckpointRecord {
            lines,
            at: Place::default(),
        }),
    )
}

fn checkpoint() -> impl Strategy<Value = Option<Checkpoint>> {
    let approval = (
        maybe_line(),
        maybe_line(),
        maybe_line(),
        checkpoint_record(),
    )
        .prop_map(|(reply, by, when, record)| Approval {
            reply,
            by,
            when,
            record,
            ..Approval::default()
        });
    let checkpoint = (
        word::<CheckpointStatus>(),
        checkpoint_record(),
        prop::option::of(approval),
    )
        .prop_map(|(status, record, approval)| Checkpoint {
            status,
            record,
            approval,
        });
    prop::option::of(checkpoint)
}

fn risk() -> impl Strategy<Value = Option<RiskSection>> {
    prop::option::of(
        (scalar::<Risk>(), prop::collection::vec(item(), 0..3))
            .prop_map(|(level, reasons)| RiskSection { level, reasons }),
    )
}

fn ledger() -> impl Strategy<Value = Ledger> {
    let id = prop::option::of(prop_oneof![
        "[a-z][a-z0-9-]{0,12}".prop_map(|id| Item::from(id.as_str())),
        item(),
    ]);
    let assumption = (maybe_line(), word::<Status>(), maybe_line(), other()).prop_map(
        |(subject, status, support, other)| Assumption {
            subject,
            status,
            support,
            other,
            ..Assumption::default()
        },
    );
    let head = (
        id,
        scalar::<Phase>(),
        scalar::<Disposition>(),
        scalar::<Disposition>(),
        risk(),
    );
    let lists = (
        list(),
        list(),
        list(),
        list(),
        list(),
        list(),
        list(),
        list(),
        list(),
    );
    let tables = (
        prop::option::of(prop::collection::vec(assumption, 0..3)),
        prop::option::of(prop::collection::vec(claim(), 0..3)),
        records(),
        records(),
        records(),
        checkpoint(),
    );
    let rest = (
        maybe_line(),
        prop::collection::vec(line(), 0..3),
        prop::collection::vec(extra(), 0..3),
        prop::collection::vec((prop::sample::select(REMARKED.as_slice()), line()), 0..4),
    );
    (head, lists, tables, rest).prop_map(|(head, lists, tables, rest)| {
        let (change_id, phase, disposition, final_disposition, risk) = head;
        let (
            requested_action,
            authorized_scope,
            out_of_scope,
            scope_limits,
            execution_log,
            limitations,
            missing,
            conflicting,
            unresolved,
        ) = lists;
        let (assumptions, contract, records, baseline, verifications, checkpoint) = tables;
        let (title, preamble, extras, remarks) = rest;
        let mut ledger = Ledger {
            title,
            preamble,
            change_id,
            phase,
            disposition,
            requested_action,
            authorized_scope,
            out_of_scope,
            scope_limits,
            risk,
            assumptions,
            contract,
            records,
            baseline,
            checkpoint,
            execution_log,
            verifications,
            limitations,
            missing,
            conflicting,
            unresolved,
            final_disposition,
            extras,
            ..Ledger::default()
        };
        let mut remarks: Vec<_> = remarks
            .into_iter()
            .filter(|(section, _)| is_value(*section) || ledger.says(*section))
            .map(|(section, text)| Remark { section, text })
            .collect();
        remarks.sort_by_key(|remark| remark.section);
        ledger.remarks = remarks;
        ledger
    })
}

/// The sections that can hold prose beside what they are for.
const REMARKED: [Section; 10] = [
    Section::ChangeId,
    Section::Phase,
    Section::Disposition,
    Section::FinalDisposition,
    Section::Assumptions,
    Section::Contract,
    Section::Records,
    Section::Baseline,
    Section::Checkpoint,
    Section::Verifications,
];

/// These may hold prose without a value.
fn is_value(section: Section) -> bool {
    matches!(
        section,
        Section::ChangeId | Section::Phase | Section::Disposition | Section::FinalDisposition
    )
}

fn extra() -> impl Strategy<Value = Extra> {
    (maybe_line(), prop::collection::vec(prose(), 0..3), any::<bool>()).prop_map(
        |(heading, lines, deep)| {
            let mut lines: Vec<_> = lines
                .iter()
                .map(|line| format!("- {line}\n  continued"))
                .collect();
            if deep {
                lines.push("### Deeper\n\n```sh\n# Risk\n```\n\n> `` a\n\n| a | b |\n|---|---|\n| `c | d\\".to_owned());
            }
            Extra {
                heading,
                body: lines.join("\n\n"),
            }
        },
    )
}

/// Text in the shape of ledgers: headings, labels and words thrown together.
fn noise() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "## Risk\n",
            "## 체크포인트\n",
            "# Evidence contract\n",
            "- Claim: ",
            "  - Status: PASS\n",
            "| Claim | Status |\n|---|---|\n",
            "| a | b |\n",
            "> ",
            "```\n",
            "---\n",
            "CHECKPOINT APPROVAL REQUIRED\n",
            "Approval covers:\n",
            "- Reply: APPROVE\n",
            "a -> b -> c -> d -> e\n",
            "**Phase**: DRAFT\n",
            "## 제한 사항/누락/충돌/미해결\n",
            "\r\n",
            "\n\n",
            "1. ",
            "<!-- ",
            "-->",
            "\\",
            "`",
            "    ",
            "\t",
            "\u{feff}",
            "## Execution log\n",
            "edited `",
            "승인 범위:\n",
            "`` C1 -> seen -> `cmd` -> run -> none -> PASS\n",
            "    C1 -> seen -> `cmd` -> run -> none\n",
            "| Status | | Status: x | `a: b` |\n|---|---|---|---|\n| PASS | `` | a -> b | c |\n",
            "## Verification records\n",
            "## Phase\n\nnone\n\nprose\n",
            "**a: b** — c\n",
            "&#110;one\n",
            "# Evidence ledger: x\n",
            "### \n",
            "Phase: ",
            "NOT_REQUIRED\n",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,8}",
        "[\\x00-\\x7f]{0,6}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// The written form of what would be misread, pinned: it renders as the text it stands for.
#[test]
fn what_would_be_misread_is_written_as_a_literal_text() {
    let record = Record {
        subject: Text::new("`` C1"),
        observed: Text::new("a -> b -> c -> d -> e"),
        limitation: Text::new("none"),
        other: vec![Other {
            label: Text::new("Status: old"),
            text: Text::new("| x"),
        }],
        ..Record::default()
    };
    let ledger = Ledger {
        title: Text::new("Risk"),
        requested_action: Some(vec![Item::from("- run `` it \\")]),
        missing: Some(vec![Item::from("none")]),
        unresolved: Some(vec![Item::from("&#110;one"), Item::from("none")]),
        records: Some(vec![record]),
        ..Ledger::default()
    };
    let written = "\
# &#82;isk

## Requested action

- \\- run `` it \\

## Evidence records

- Claim: `` C1
  - Observed fact: &#97; -> b -> c -> d -> e
  - Limitation: none
  - &#83;tatus&#58; old: | x

## Missing

- &#110;one

## Unresolved

- &#38;#110;one
- none
";
    assert_eq!(markdown::write(&ledger, Language::En), written);
    assert_eq!(markdown::read(written), ledger);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(20_260_525), ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back(ledger in ledger()) {
        for language in [Language::En, Language::Ko] {
            let text = markdown::write(&ledger, language);
            prop_assert_eq!(&markdown::read(&text), &ledger, "{}", text);
        }
        let text = json::write(&ledger).expect("writes");
        prop_assert_eq!(json::read(&text).expect("reads"), ledger);
    }

    #[test]
    fn no_text_makes_the_reader_or_the_judge_panic(text in noise()) {
        let ledger = markdown::read(&text);
        let changed = ["src/a.rs"];
        let judgement = judge(&ledger, &Context { changed_files: Some(&changed), ..Context::default() });
        let lines = u32::try_from(text.replace("\r\n", "\n").replace('\r', "\n").split('\n').count()).expect("few lines");
        for finding in judgement.findings {
            prop_assert!(finding.line >= 1 && finding.line <= lines && finding.column >= 1, "{:?}", finding);
        }
        for language in [Language::En, Language::Ko] {
            let written = markdown::write(&ledger, language);
            prop_assert_eq!(&markdown::read(&written), &ledger, "{:?}\n{}", text, written);
        }
        // Noise never earns anything.
        prop_assert!(judgement.effective.permits() == 0, "{} from {}", judgement.effective, text);
    }
}
