//! What loads as a user rule and what does not, with its place; the digest; `skills.yml`.

use crate::policy::{Compiled, SourceFile, compile, digest};
use proptest::prelude::*;

fn files(own: &[(&str, &str)]) -> Vec<SourceFile> {
    let base = [
        ("owner.yml", "github_login: octo-owner\n"),
        (
            "projects.yml",
            "governance_repo: octo-org/bot\nsupervised_repos: [octo-org/app]\n",
        ),
        ("env.yml", "bot_app_slug: octo-gate\nallow_no_ci: true\n"),
    ];
    base.iter()
        .chain(own)
        .map(|(name, text)| SourceFile::new("c", name, text))
        .collect()
}

fn load(own: &[(&str, &str)]) -> Result<Compiled, Vec<String>> {
    compile("c", &files(own)).map_err(|all| all.iter().map(ToString::to_string).collect())
}

fn rule(when: &str) -> String {
    format!("raise: D\nbecause: so it is\nwhen:\n  {when}\n")
}

#[test]
fn a_mistake_in_a_declared_rule_has_its_place_and_the_way_out() {
    for (when, wanted) in [
        (
            "file: {path: [/src/**]}",
            "4:17: `/src/**` begins with `/`; write `src/**`: paths start at the repository root",
        ),
        (
            "file: {added: ['(']}",
            "4:18: `(` is not a regular expression: error: unclosed group; see the pattern syntax in `docs/rules.md`; look-around and back-references do not exist",
        ),
        (
            "file: {added: ['x*']}",
            "4:18: `x*` matches the empty text, hence every line; write what the line must contain",
        ),
        (
            "file: {paths: [a]}",
            "4:10: unknown key `paths`; did you mean `path`?",
        ),
        (
            "all: [{not: {file: {status: [deleted]}}}]",
            "4:32: an item of `status` must be one of `added`, `modified`, `removed`, `renamed`, `copied`, `changed`, `unchanged`, found `deleted`",
        ),
        (
            "any: [{not: {all: [{author: octocat}]}}]",
            "4:31: `author` must be a list, found `octocat`; write `[octocat]`",
        ),
        ("any: []", "4:8: `any` must not be an empty list"),
        (
            "file: {}",
            "4:9: nothing is asked of the file; write what a file must be, such as `path`; `files` bounds their number",
        ),
        (
            "not: {}",
            "4:8: the condition is empty; write what must hold; see `docs/user-rules.md`",
        ),
        (
            "files: {}",
            "4:10: `files` has no bound; write `more_than` or `less_than`, or both",
        ),
        (
            "files: {more_than: 4, less_than: 5}",
            "4:10: no number is more than 4 and less than 5; write `more_than` or `less_than`, or both",
        ),
        (
            "files: {more_than: -1}",
            "4:22: `more_than` must be a whole number, found `-1`",
        ),
        (
            "every_file: {path: [a], at_least: 2}",
            "4:37: `at_least` has no meaning under `every_file`; remove it, or write `file`",
        ),
        (
            "commit: {value: [x]}",
            "4:19: `value` of which trailer?; name the trailer in `trailer`",
        ),
        (
            "repo: [octo]",
            "4:10: `octo` is no repository; write `owner/name`",
        ),
    ] {
        let text = rule(when);
        let found = load(&[("skills/classifier/a.yml", &text)])
            .map(|_| ())
            .expect_err(when);
        assert_eq!(
            found,
            [format!("c/skills/classifier/a.yml:{wanted}")],
            "{when}"
        );
    }
    for (text, wanted) in [
        (
            "raise: A\nbecause: x\nwhen: {draft: true}\n",
            "1:8: `raise` must be one of `C`, `B`, `D`, found `A`",
        ),
        (
            "raise: D\nwhen: {draft: true}\n",
            "1:1: the key `because` is missing",
        ),
        (
            "raise: D\nbecause: ' '\nwhen: {draft: true}\n",
            "2:10: `because` says nothing",
        ),
        ("", "1:1: the key `because` is missing"),
    ] {
        let found = load(&[("skills/classifier/a.yml", text)])
            .map(|_| ())
            .expect_err(text);
        assert!(
            found.contains(&format!("c/skills/classifier/a.yml:{wanted}")),
            "{found:?}"
        );
    }
}

#[test]
fn a_script_that_cannot_be_read_has_its_place() {
    for (text, wanted) in [
        ("let x = ;", "1:9: not readable as a script: unexpected ';'"),
        (
            "// fine\nlet x = 1\nlet y = 2;",
            "3:1: not readable as a script: expecting ';' to terminate this statement",
        ),
        (
            "factz.files",
            "1:1: not readable as a script: undefined variable: factz",
        ),
        (
            "raise(E, \"x\")",
            "1:7: not readable as a script: undefined variable: E",
        ),
        (
            "eval(\"1\")",
            "1:1: not readable as a script: reserved keyword 'eval' is disabled",
        ),
        (
            "import \"x\" as y;",
            "1:1: not readable as a script: 'import' is a reserved keyword",
        ),
        (
            "let f = |x| x;",
            "1:9: not readable as a script: unexpected '|'",
        ),
    ] {
        let found = load(&[("skills/classifier/a.rhai", text)])
            .map(|_| ())
            .expect_err(text);
        let wanted = format!("c/skills/classifier/a.rhai:{wanted}; see `docs/user-rules.md`");
        assert_eq!(found, [wanted], "{text}");
    }
    for (text, wanted) in [
        (
            "let m = #{};\nm.k = 1;",
            "2:5: only a variable can be assigned to, not a part of a value; use `push` of an array or `set` of a map",
        ),
        (
            "if facts.draft { rais(D, \"x\") }",
            "1:18: there is no function `rais`; did you mean `raise`?",
        ),
        (
            "facts.titel",
            "1:7: there is no property `titel`; see `docs/user-rules.md` for what a rule can ask",
        ),
    ] {
        let found = load(&[("skills/classifier/a.rhai", text)])
            .map(|_| ())
            .expect_err(text);
        assert_eq!(
            found,
            [format!("c/skills/classifier/a.rhai:{wanted}")],
            "{text}"
        );
    }
}

#[test]
fn deep_and_long_sources_are_refused_or_read_on_a_small_stack() {
    let deep: Vec<String> = vec![
        "(".repeat(30_000),
        "[".repeat(30_000),
        "!".repeat(30_000),
        "-".repeat(30_000),
        "if true {".repeat(7_000),
        "{".repeat(30_000),
        "1+".repeat(30_000) + "1",
        format!("facts{}", ".a".repeat(30_000)),
        format!("facts{}", "[0]".repeat(20_000)),
        "x(".repeat(30_000),
        "`${".repeat(20_000),
        "#{a:".repeat(15_000),
        "a=".repeat(30_000) + "1",
        "/*".repeat(30_000),
        "true && ".repeat(8_000) + "true",
        "switch 1 { 1 => ".repeat(4_000),
        "1;".repeat(30_000),
    ];
    // No more than a thread of the server has.
    let small = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    let thread = small.spawn(move || {
        for text in &deep {
            let _ = load(&[("skills/classifier/a.rhai", text)]);
        }
    });
    thread.unwrap().join().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn no_text_at_all_makes_reading_a_rule_panic(pieces in proptest::collection::vec(piece(), 0..40)) {
        let text = pieces.concat();
        for name in ["skills/classifier/a.rhai", "skills/classifier/a.yml"] {
            let _ = load(&[(name, &text)]);
        }
    }
}

/// Pieces of both languages, and letters of none.
fn piece() -> impl Strategy<Value = String> {
    static PIECES: &[&str] = &[
        "raise: D\n",
        "because: x\n",
        "when:\n",
        "  file:\n",
        "    path: [",
        "]\n",
        "'(?i)",
        "&a ",
        "*a",
        "- ",
        "facts",
        ".files",
        "[0]",
        "(",
        ")",
        "{",
        "}",
        "#{",
        "a: ",
        "fn f(x) ",
        "let x = ",
        "if ",
        "for x in ",
        "loop ",
        "`",
        "${",
        "\"",
        "#\"",
        "\"#",
        "'",
        "\\",
        "/*",
        "*/",
        "//",
        "\n",
        ";",
        "..",
        "..=",
        "=>",
        "+=",
        "1",
        "raise(D, ",
        "\u{feff}",
        "\u{0}",
        "\u{e9}",
    ];
    let known = proptest::sample::select(PIECES).prop_map(str::to_owned);
    prop_oneof![8 => known, 1 => any::<char>().prop_map(String::from)]
}

#[test]
fn what_is_no_rule_is_refused_and_what_is_no_file_of_ours_is_not() {
    let fine = rule("draft: true");
    for (name, wanted) in [
        (
            "skills/classifier/no_todos.py",
            "a user rule is a `.yml` or a `.rhai` file; write it anew as described in `docs/user-rules.md`, or remove it: it would not be enforced",
        ),
        (
            "skills/classifier/a.yml~",
            "a user rule is a `.yml` or a `.rhai` file; write it anew as described in `docs/user-rules.md`, or remove it: it would not be enforced",
        ),
        (
            "skills/classifier/sub/a.yml",
            "user rules stand in `skills/classifier/` itself; move the file up: its name is the name of the rule",
        ),
        (
            "skills/validator/a.yml",
            "user rules are read from `skills/classifier/` only; remove the file: it would not be enforced",
        ),
        (
            "skills/classifier/No Todo.yml",
            "the name of a user rule has small letters, digits, `_` and `-`, at most 60; rename the file: `user.` and its name stand in every audit line",
        ),
        (
            "skills/classifier/-a.rhai",
            "the name of a user rule has small letters, digits, `_` and `-`, at most 60; rename the file: `user.` and its name stand in every audit line",
        ),
    ] {
        let found = load(&[(name, &fine)]).expect_err(name);
        assert_eq!(found, [format!("c/{name}:1:1: {wanted}")], "{name}");
    }
    let twice = [
        ("skills/classifier/a.rhai", "()"),
        ("skills/classifier/a.yml", fine.as_str()),
    ];
    let wanted = "c/skills/classifier/a.yml:1:1: a second rule of the name `user.a`; the first one is `c/skills/classifier/a.rhai`; rename one of them";
    assert_eq!(load(&twice).expect_err("twice"), [wanted]);
    let harmless = [
        ("skills/classifier/README.md", "text"),
        ("skills/classifier/.a.yml.swp", "text"),
        ("skills/classifier/..data/a.yml", "text"),
    ];
    let loaded = load(&harmless).expect("loads");
    assert!(loaded.policy.user_rules.is_empty());
    assert_eq!(loaded.policy.digest, digest(&files(&[])));
}

#[test]
fn the_digest_covers_rules_by_name_and_text() {
    let of = |name: &str, text: &str| digest(&files(&[(name, text)]));
    let one = of("skills/classifier/a.rhai", "()");
    assert_ne!(one, digest(&files(&[])));
    assert_ne!(one, of("skills/classifier/b.rhai", "()"));
    assert_ne!(one, of("skills/classifier/a.rhai", "() "));
    assert_ne!(one, of("skills/classifier/a.yml", "()"));
}

#[test]
fn skills_switch_rules_off_and_their_names_must_be_right() {
    let fine = rule("draft: true");
    let load = |skills: &str| {
        load(&[
            ("skills/classifier/no_todo.yml", &fine),
            ("skills/classifier/b.rhai", "()"),
            ("skills.yml", skills),
        ])
    };
    let names = |loaded: &Compiled| -> Vec<String> {
        loaded
            .policy
            .user_rules
            .iter()
            .map(|rule| rule.name.clone())
            .collect()
    };
    let loaded = load("enabled: [user.b]\n").expect("loads");
    assert_eq!(
        names(&loaded),
        ["b", "no_todo"],
        "`enabled` says what must be there"
    );
    let loaded = load("disabled: [user.no_todo]\n").expect("loads");
    assert_eq!(names(&loaded), ["b"]);
    let shown: Vec<String> = loaded
        .effective
        .iter()
        .filter(|row| row.key.starts_with("user."))
        .map(|row| format!("{} = {} ({})", row.key, row.value, row.origin))
        .collect();
    assert_eq!(
        shown,
        [
            "user.b = \"runs\" (c/skills/classifier/b.rhai:1:1)",
            "user.no_todo = \"disabled\" (c/skills/classifier/no_todo.yml:1:1)",
        ]
    );
    let problems = load("enabled: [user.no_todos]\n").err();
    let wanted = "c/skills.yml:1:11: there is no rule `user.no_todos` in `skills/classifier/`; did you mean `user.no_todo`?";
    assert_eq!(problems, Some(vec![wanted.to_owned()]));
    let problems = load("enabled: [user.b]\ndisabled: [user.b]\n").err();
    assert_eq!(
        problems,
        Some(vec![
            "c/skills.yml:1:11: `user.b` is also under `disabled`; decide for one of the two"
                .to_owned()
        ])
    );
    let loaded = load("disabled: [user.todo]\nseverity_overrides: {user.b: P3}\n").expect("loads");
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert!(
        warnings
            .iter()
            .any(|warning| warning.contains("there is no rule `user.todo`")),
        "{warnings:?}"
    );
    assert!(
        warnings
            .iter()
            .any(|warning| warning.contains("it votes and has no severity")),
        "{warnings:?}"
    );
    // A rule that is off must be readable all the same.
    let broken = [
        ("skills/classifier/b.rhai", "let"),
        ("skills.yml", "disabled: [user.b]\n"),
    ];
    assert!(super::tests::load(&broken).is_err());
}
