//! `quadgate evidence` from its arguments to its exit code and output, on files in a temporary folder.

use clap::Parser;
use quadgate::cli::Io;
use quadgate::cli::evidence::{self, EvidenceArgs};
use std::fs;
use std::path::Path;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: EvidenceArgs,
}

struct Ran {
    code: u8,
    out: String,
    err: String,
}

fn run(root: &Path, args: &[&str]) -> Ran {
    let root = root.to_str().expect("UTF-8");
    let all = ["evidence", "--root", root]
        .into_iter()
        .chain(args.iter().copied());
    let cli = Cli::try_parse_from(all).unwrap_or_else(|error| panic!("{error}"));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut io = Io {
        out: &mut out,
        err: &mut err,
        colour: false,
        progress: false,
    };
    let code = evidence::run(&cli.args, &mut io).code();
    Ran {
        code,
        out: String::from_utf8(out).expect("UTF-8"),
        err: String::from_utf8(err).expect("UTF-8"),
    }
}

fn example(name: &str) -> String {
    let path = crate::evidence::root().join("docs/examples").join(name);
    fs::read_to_string(path).expect("example")
}

/// A folder with the good example as an active ledger, changed as told.
fn with_active(change: impl Fn(String) -> String) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("folder");
    let active = dir.path().join(".evidence-gated/active");
    fs::create_dir_all(&active).expect("folder");
    let file = active.join("drop-legacy-sessions.md");
    let text = example("ledger-good.md");
    let changed = change(text.clone());
    fs::write(&file, changed).expect("writes");
    (dir, file.to_str().expect("UTF-8").to_owned())
}

#[test]
fn a_new_ledger_is_honest_about_being_empty() {
    let dir = tempfile::tempdir().expect("folder");
    for (id, risk, lang, action) in [
        ("a-low", "LOW", "en", None),
        ("b-high", "high", "ko", Some("테이블 삭제")),
    ] {
        let mut args = vec!["new", "--change-id", id, "--risk", risk, "--lang", lang];
        args.extend(action.iter().flat_map(|action| ["--action", action]));
        let made = run(dir.path(), &args);
        assert_eq!((made.code, made.err.as_str()), (0, ""));
        let again = run(dir.path(), &args);
        assert_eq!(again.code, 2);
        assert!(
            again.err.contains("has an active ledger already"),
            "{}",
            again.err
        );
    }
    let lint = run(dir.path(), &["lint"]);
    assert_eq!(lint.code, 0, "{}", lint.out);
    assert!(
        lint.out
            .contains("a-low.md: effective BLOCKED_CLARIFICATION")
    );
    assert!(
        lint.out.contains(
            "b-high.md: effective BLOCKED_EVIDENCE (declared BLOCKED_EVIDENCE), risk HIGH"
        )
    );
    assert_eq!(
        run(dir.path(), &["new", "--change-id", "../x", "--risk", "LOW"]).code,
        2
    );
}

#[test]
fn complete_with_an_unverified_mandatory_verification_is_blocked() {
    let (dir, _) = with_active(|text| {
        let at = text.rfind("  - Status: PASS").expect("last status");
        format!(
            "{}  - Status: UNVERIFIED{}",
            &text[..at],
            &text[at + "  - Status: PASS".len()..]
        )
    });
    let lint = run(dir.path(), &["lint"]);
    assert_eq!(lint.code, 1);
    assert!(
        lint.out.contains("EG019 complete-not-earned"),
        "{}",
        lint.out
    );
    assert!(
        lint.out
            .contains("effective BLOCKED_EVIDENCE (declared COMPLETE)"),
        "{}",
        lint.out
    );
    let finalize = run(
        dir.path(),
        &[
            "finalize",
            dir.path()
                .join(".evidence-gated/active/drop-legacy-sessions.md")
                .to_str()
                .expect("UTF-8"),
        ],
    );
    assert_eq!(finalize.code, 1);
    assert!(finalize.out.contains("not earned"));
    assert!(!dir.path().join(".evidence-gated/archive").exists());
}

#[test]
fn a_pass_without_an_observation_is_unverified() {
    let (dir, _) =
        with_active(|text| text.replace("  - Observed fact: HTTP 200 and a session cookie\n", ""));
    let lint = run(dir.path(), &["lint"]);
    assert_eq!(lint.code, 1);
    assert!(
        lint.out.contains("EG011 pass-without-observation"),
        "{}",
        lint.out
    );
    assert!(lint.out.contains("is UNVERIFIED"), "{}", lint.out);
}

#[test]
fn a_runtime_claim_with_a_source_inspection_is_not_supported() {
    let (dir, _) = with_active(|text| {
        text.replace(
            "request to the running server | runtime |",
            "reading `src/session` | static |",
        )
    });
    let lint = run(dir.path(), &["lint"]);
    assert_eq!(lint.code, 1);
    assert!(
        lint.out.contains("EG012 runtime-claim-static-evidence"),
        "{}",
        lint.out
    );
    assert!(
        lint.out.contains("effective BLOCKED_EVIDENCE"),
        "{}",
        lint.out
    );
}

#[test]
fn general_assent_approves_nothing_in_both_languages() {
    for phrase in ["go ahead", "계속 진행"] {
        let (dir, _) =
            with_active(|text| text.replace("- Reply: APPROVE", &format!("- Reply: {phrase}")));
        let lint = run(dir.path(), &["lint"]);
        assert_eq!(lint.code, 1);
        assert!(lint.out.contains("EG025 general-assent"), "{}", lint.out);
        assert!(
            lint.out.contains("effective BLOCKED_CLARIFICATION"),
            "{}",
            lint.out
        );
    }
}

#[test]
fn a_file_outside_the_scope_is_named() {
    let (dir, _) = with_active(|text| text);
    let inside = run(
        dir.path(),
        &["lint", "--changed-file", "src/session/store.rs"],
    );
    assert_eq!(inside.code, 0, "{}", inside.out);
    let changed = dir.path().join("changed.txt");
    fs::write(
        &changed,
        "src/session/store.rs\nsrc/session/tokens.rs\nsrc/main.rs\n",
    )
    .expect("writes");
    let lint = run(
        dir.path(),
        &[
            "lint",
            "--json",
            "--changed-files-from",
            changed.to_str().expect("UTF-8"),
        ],
    );
    assert_eq!(lint.code, 1);
    let told: serde_json::Value = serde_json::from_str(&lint.out).expect("JSON");
    assert_eq!(
        told["files"][0]["outside_scope"],
        serde_json::json!(["src/session/tokens.rs", "src/main.rs"])
    );
    assert_eq!(told["files"][0]["findings"][0]["code"], "EG027");
    assert_eq!(told["files"][0]["effective"], "BLOCKED_CLARIFICATION");
}

/// The same ledgers that tests/it/evidence_pull.rs puts on pull requests, in both languages.
#[test]
fn what_is_claimed_too_much_is_told_in_both_languages() {
    for (name, id, effective, codes) in [
        (
            "eg019-verification-unverified",
            "cart-total",
            "BLOCKED_EVIDENCE",
            &["EG019"][..],
        ),
        (
            "eg011-pass-without-obs",
            "cart-total",
            "BLOCKED_EVIDENCE",
            &["EG011", "EG019"],
        ),
        (
            "eg012-runtime-claim-read-in-source",
            "cart-total",
            "BLOCKED_EVIDENCE",
            &["EG012", "EG019"],
        ),
        (
            "eg025-go-ahead",
            "drop-coupons",
            "BLOCKED_CLARIFICATION",
            &["EG025", "EG031", "EG032"],
        ),
    ] {
        for language in ["en", "ko"] {
            let dir = tempfile::tempdir().expect("folder");
            let folder = dir.path().join("docs/evidence-gated");
            fs::create_dir_all(&folder).expect("folder");
            let case = format!("tests/it/data/evidence/{language}/{name}.md");
            let text = fs::read_to_string(crate::evidence::root().join(case)).expect("a case");
            let file = folder.join(format!("{id}.md"));
            fs::write(&file, text).expect("writes");
            let file = file.to_str().expect("UTF-8");
            let lint = run(dir.path(), &["lint", "--committed", "--json", file]);
            assert_eq!(lint.code, 1, "{language} {name}");
            let told: serde_json::Value = serde_json::from_str(&lint.out).expect("JSON");
            assert_eq!(
                told["files"][0]["effective"], effective,
                "{language} {name}"
            );
            let findings = told["files"][0]["findings"].as_array().expect("findings");
            let mut found: Vec<_> = findings
                .iter()
                .map(|one| one["code"].as_str().expect("a code"))
                .collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, codes, "{language} {name}");
        }
    }
}

#[test]
fn ledgers_are_no_work_that_needs_a_scope() {
    let (dir, file) = with_active(|text| text);
    let lint = run(
        dir.path(),
        &[
            "lint",
            &file,
            "--changed-file",
            ".evidence-gated/active/drop-legacy-sessions.md",
            "--changed-file",
            "docs/evidence-gated/another.md",
            "--changed-file",
            "docs/evidence-gated/run.sh",
        ],
    );
    assert_eq!(lint.out.matches("EG027").count(), 1, "{}", lint.out);
    assert!(
        lint.out.contains("docs/evidence-gated/run.sh"),
        "{}",
        lint.out
    );
}

#[test]
fn a_record_is_presented_answered_and_compared() {
    let dir = tempfile::tempdir().expect("folder");
    let made = run(
        dir.path(),
        &[
            "new",
            "--change-id",
            "x",
            "--risk",
            "HIGH",
            "--action",
            "drop it",
            "--lang",
            "ko",
        ],
    );
    let file = made.out.trim();
    assert_eq!(run(dir.path(), &["approve", file]).code, 1);
    let shown = run(
        dir.path(),
        &[
            "approve",
            file,
            "--covers",
            "테이블 `a` 삭제",
            "--consequence",
            "행이 사라짐",
            "--verification",
            "`make check`",
        ],
    );
    assert_eq!(shown.code, 0, "{}", shown.out);
    assert!(
        shown.out.starts_with(
            "CHECKPOINT 승인 필요\n\n승인 범위:\n- 테이블 `a` 삭제\n\n되돌릴 수 없는 결과:\n"
        ),
        "{}",
        shown.out
    );
    let refused = run(
        dir.path(),
        &[
            "approve",
            file,
            "--reply",
            "계속 진행",
            "--by",
            "octocat",
            "--at",
            "2026-05-25T12:00:00Z",
        ],
    );
    assert_eq!(refused.code, 1);
    assert!(refused.out.contains("EG025"), "{}", refused.out);
    let approved = run(
        dir.path(),
        &[
            "approve",
            file,
            "--reply",
            "APPROVE",
            "--by",
            "octocat",
            "--at",
            "2026-05-25T12:00:00Z",
        ],
    );
    assert_eq!(approved.code, 0, "{}", approved.out);
    let text = fs::read_to_string(file).expect("reads");
    assert!(
        text.contains("- 회신: APPROVE\n- 승인자: octocat\n- 시각: 2026-05-25T12:00:00Z"),
        "{text}"
    );
    // The presented record changes after the answer.
    fs::write(
        file,
        text.replacen("- 테이블 `a` 삭제", "- 테이블 `a`와 `b` 삭제", 1),
    )
    .expect("writes");
    let lint = run(dir.path(), &["lint"]);
    assert!(
        lint.out.contains("EG026 approval-not-the-record: line 3"),
        "{}",
        lint.out
    );
}

#[test]
fn an_earned_ledger_moves_to_the_archive_and_keeps_its_words() {
    let (dir, file) = with_active(|text| text.replace("## Final disposition\n\nCOMPLETE\n\n", ""));
    let done = run(dir.path(), &["finalize", &file, "--quadrant", "D"]);
    assert_eq!(done.code, 0, "{}", done.out);
    assert!(!Path::new(&file).exists());
    let archived = dir
        .path()
        .join(".evidence-gated/archive/drop-legacy-sessions.md");
    let text = fs::read_to_string(&archived).expect("archived");
    assert!(text.contains("## Final disposition\n\nCOMPLETE\n"));
    // What the step is not about stays as its author wrote it.
    assert!(
        text.contains("| C1 | 3 hits, all below `src/session` |"),
        "{text}"
    );
    let lint = run(
        dir.path(),
        &["lint", "--committed", archived.to_str().expect("UTF-8")],
    );
    assert_eq!(lint.code, 0, "{}", lint.out);
}

#[test]
fn blocked_is_final_too_when_it_is_true() {
    let dir = tempfile::tempdir().expect("folder");
    let made = run(
        dir.path(),
        &[
            "new",
            "--change-id",
            "x",
            "--risk",
            "LOW",
            "--action",
            "look",
        ],
    );
    let file = made.out.trim();
    assert_eq!(run(dir.path(), &["finalize", file]).code, 0);
    assert!(dir.path().join(".evidence-gated/archive/x.md").exists());
}

#[test]
fn unusable_input_is_told_apart_from_findings() {
    let dir = tempfile::tempdir().expect("folder");
    let prose = dir.path().join("prose.md");
    fs::write(&prose, "# Shopping\n\n- milk\n").expect("writes");
    let binary = dir.path().join("binary.md");
    fs::write(&binary, [0xff, 0xfe, 0x00]).expect("writes");
    let good = dir.path().join("good.md");
    fs::write(&good, example("ledger-good.md")).expect("writes");
    let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    for unusable in [
        path(&prose),
        path(&binary),
        path(&dir.path().join("absent.md")),
    ] {
        let lint = run(dir.path(), &["lint", &path(&good), &unusable]);
        assert_eq!(lint.code, 2, "{unusable}");
        assert!(lint.err.contains(&unusable), "{}", lint.err);
        assert!(
            lint.out.contains("good.md: effective COMPLETE"),
            "the others are linted: {}",
            lint.out
        );
    }
    assert_eq!(run(dir.path(), &["lint"]).code, 0);
}

#[test]
fn json_goes_both_ways() {
    let dir = tempfile::tempdir().expect("folder");
    let (markdown, json) = (dir.path().join("a.md"), dir.path().join("a.json"));
    fs::write(&markdown, example("ledger-good.md")).expect("writes");
    let converted = run(
        dir.path(),
        &["convert", markdown.to_str().expect("UTF-8"), "--to", "json"],
    );
    fs::write(&json, &converted.out).expect("writes");
    let lint = run(dir.path(), &["lint", json.to_str().expect("UTF-8")]);
    assert_eq!(lint.code, 0, "{}", lint.out);
    let back = run(
        dir.path(),
        &[
            "convert",
            json.to_str().expect("UTF-8"),
            "--to",
            "markdown",
            "--lang",
            "ko",
        ],
    );
    assert!(
        back.out.contains("## 위험 분류\n\n- 등급: HIGH"),
        "{}",
        back.out
    );
    fs::write(&json, "{\"change_id\": 7}").expect("writes");
    assert_eq!(
        run(dir.path(), &["lint", json.to_str().expect("UTF-8")]).code,
        2
    );
}

#[test]
fn sarif_has_the_shape_code_scanning_reads() {
    let dir = tempfile::tempdir().expect("folder");
    fs::create_dir_all(dir.path().join("docs/evidence gated")).expect("folder");
    let file = dir.path().join("docs/evidence gated/rotate-signing-key.md");
    fs::write(&file, example("ledger-bad.md")).expect("writes");
    let lint = run(
        dir.path(),
        &[
            "lint",
            "--sarif",
            "--docs-url",
            "https://docs.example/evidence",
            file.to_str().expect("UTF-8"),
        ],
    );
    assert_eq!(lint.code, 1);
    let log: serde_json::Value = serde_json::from_str(&lint.out).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    assert!(
        log["$schema"]
            .as_str()
            .expect("schema")
            .contains("sarif-2.1.0")
    );
    let rules = log["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .expect("rules");
    assert!(rules.iter().all(|rule| {
        rule["helpUri"]
            .as_str()
            .is_some_and(|uri| uri.starts_with("https://docs.example/evidence#eg"))
    }));
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 6);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("index")).expect("small");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(
            place["artifactLocation"]["uri"],
            "docs/evidence%20gated/rotate-signing-key.md"
        );
        assert!(place["region"]["startLine"].as_u64().expect("line") >= 1);
    }
}

#[test]
fn status_tells_where_a_ledger_stands() {
    let (dir, _) = with_active(|text| text);
    let status = run(dir.path(), &["status"]);
    assert_eq!(status.code, 0, "{}", status.out);
    for told in [
        "effective   COMPLETE",
        "risk        HIGH",
        "must hold   `cargo test session` passes",
    ] {
        assert!(status.out.contains(told), "{told}: {}", status.out);
    }
    let committed = run(dir.path(), &["status", "--committed", "--json"]);
    assert_eq!(committed.code, 1);
    assert!(committed.out.contains("EG029"));
}

#[test]
fn many_ledgers_are_linted_in_one_run() {
    let dir = tempfile::tempdir().expect("folder");
    let text = example("ledger-good.md");
    let files: Vec<String> = (0..100)
        .map(|n| {
            let path = dir.path().join(format!("change-{n}.md"));
            let text = text.replace("drop-legacy-sessions", &format!("change-{n}"));
            fs::write(&path, text).expect("writes");
            path.to_str().expect("UTF-8").to_owned()
        })
        .collect();
    let args: Vec<&str> = std::iter::once("lint")
        .chain(files.iter().map(String::as_str))
        .collect();
    let lint = run(dir.path(), &args);
    assert_eq!(lint.code, 0, "{}", lint.out);
    assert_eq!(lint.out.lines().count(), 100);
}

#[test]
fn two_active_ledgers_for_one_change_are_told() {
    let (dir, file) = with_active(|text| text);
    fs::copy(&file, dir.path().join(".evidence-gated/active/z-again.md")).expect("copies");
    let lint = run(dir.path(), &["lint"]);
    assert_eq!(lint.code, 1);
    let told = "z-again.md:5:1: error EG028 duplicate-ledger: `drop-legacy-sessions` has an active ledger already: `.evidence-gated/active/drop-legacy-sessions.md`";
    assert!(lint.out.contains(told), "{}", lint.out);
}
