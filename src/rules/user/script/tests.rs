//! Scripts on facts: what they can ask, what stops them, and that nothing they do goes unnoticed.

use super::*;
use crate::domain::{Facts, FileStatus, Known};
use crate::policy::user_rules::Body;
use crate::policy::user_rules::script::MAX_STRING;
use crate::rules::user::tests::{facts, file, policy};

fn sample() -> Facts {
    let mut down = file(
        "db/migrations/0002_b.down.sql",
        "@@ -0,0 +1 @@\n+DROP TABLE b;",
    );
    down.status = FileStatus::Added;
    let mut up = file(
        "db/migrations/0002_b.up.sql",
        "@@ -0,0 +1,2 @@\n+CREATE TABLE b;\n+-- TODO: index",
    );
    up.status = FileStatus::Added;
    let mut renamed = file("lib/new.rs", "@@ -1 +1 @@\n-a\n+b");
    renamed.status = FileStatus::Renamed;
    renamed.previous_path = Some("src/old.rs".to_owned());
    facts(vec![up, down, renamed])
}

fn try_on(text: &str, facts: &Facts) -> (Ended, Place, u64) {
    let policy = policy(&[("rule.rhai", text)]);
    let rule = policy.user_rules.iter().next().unwrap();
    let Body::Script(script) = &rule.body else {
        panic!("a script")
    };
    let run = Arc::new(Run::new(Arc::new(View::of(facts, &policy))));
    let (ended, place) = run_counted(script, &run);
    (ended, place, run.operations())
}

fn on(text: &str) -> Ended {
    try_on(text, &sample()).0
}

/// Does the expression hold on the sample?
fn holds(expression: &str) -> bool {
    let text = format!("if {expression} {{ raise(B, \"yes\") }}");
    match on(&text) {
        Ended::Raised(Quadrant::B, _) => true,
        Ended::Passed => false,
        other => panic!("{expression}: {other:?}"),
    }
}

/// Why the script fails on the sample.
fn fails(text: &str) -> String {
    match on(text) {
        Ended::Failed(why) => why,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn everything_that_is_documented_can_be_asked() {
    for expression in [
        r#"facts.repo == "octo-org/app" && facts.number == 7 && facts.author == "Octocat" && !facts.draft"#,
        r#"facts.base.starts_with("release/") && "Urgent" in facts.labels && facts.has_label("urgent")"#,
        r"facts.files.len == 3 && facts.files.additions == 4 && facts.files.deletions == 1 && facts.files.changes == 5",
        r#"facts.files.matching("DB/**").len == 2 && facts.files.matching(["src/**", "x"]).len == 1"#,
        r#"facts.files.with_status("added").len == 2 && facts.files.with_status("removed").is_empty"#,
        r#"facts.files.find("lib/new.rs").previous_path == "src/old.rs" && facts.files.find("nowhere") == ()"#,
        r#"facts.files.find("lib/new.rs").matches("src/**") && !facts.files.find("lib/new.rs").matches(["docs/**"])"#,
        r#"facts.files.find("db/migrations/0002_b.up.sql").adds("\\bTODO\\b")"#,
        r#"facts.files.find("lib/new.rs").removes("^a$") && !facts.files.find("lib/new.rs").adds("^a$")"#,
        r#"facts.commits.len == 1 && type_of(facts) == "facts" && (7).to_string() == "7""#,
        r#"parse_int(" 42 ") + 1 == 43 && -parse_int("1") < 0 && 7 / 2 == 3 && 7 % 2 == 1"#,
        r#""a/b".split("/").len() == 2 && "a-b".replaced("-", "+") == "a+b" && " x ".trimmed() == "x""#,
        r#""k=v".before("=") == "k" && "k=v".after("=") == "v" && "k".after("=") == ()"#,
        r#""AbC".lower() == "abc" && "AbC".upper() == "ABC" && "abc".contains("b") && "b" in "abc" && "abc".len() == 3"#,
        r#"#{a: 1}.a == 1 && "a" in #{a: 1} && #{a: 1, b: 2}.keys().join("+") == "a+b" && #{}.is_empty()"#,
        r#"[1, 2].len() == 2 && 2 in [1, 2] && !(3 in [1, 2]) && ["a", "b"].join(", ") == "a, b""#,
    ] {
        assert!(holds(expression), "{expression}");
    }
    let all_properties = r#"
        fn words(commit) { commit.subject + "|" + commit.trailer("signed-off-by") }
        let seen = [];
        for file in facts.files {
            seen.push(`${file.name} ${file.folder} ${file.extension} ${file.status} ${file.changes}`);
            for line in file.added_lines { seen.push(line); }
            for line in file.removed_lines { seen.push(line); }
        }
        for commit in facts.commits {
            seen.push(words(commit));
            if commit.says("^Fix") && commit.message.ends_with("\n") { seen.push(commit.sha); }
        }
        raise(C, seen.join(";"))
    "#;
    let wanted = "0002_b.up.sql db/migrations sql added 2;CREATE TABLE b;;-- TODO: index;\
        0002_b.down.sql db/migrations sql added 1;DROP TABLE b;;new.rs lib rs renamed 2;b;a;\
        Fix it|Octo <o@example.org>;0123456789abcdef0123456789abcdef01234567";
    assert_eq!(
        on(all_properties),
        Ended::Raised(Quadrant::C, wanted.to_owned())
    );
}

#[test]
fn every_word_of_the_language_is_tried_here() {
    use crate::policy::user_rules::script::{FUNCTIONS, PROPERTIES};
    let tried = include_str!("tests.rs");
    for word in PROPERTIES {
        assert!(tried.contains(&format!(".{word}")), "{word}");
    }
    for word in FUNCTIONS {
        assert!(tried.contains(&format!("{word}(")), "{word}");
    }
}

#[test]
fn what_was_raised_counts_and_the_highest_wins() {
    assert_eq!(on(""), Ended::Passed);
    assert_eq!(on("let x = 1;"), Ended::Passed);
    let discarded =
        r#"for file in facts.files { raise(C, file.path); raise(B, "b: " + file.name); } ()"#;
    assert_eq!(
        on(discarded),
        Ended::Raised(Quadrant::B, "b: 0002_b.up.sql".to_owned())
    );
    let early = r#"if facts.number == 7 { return raise(D, "seven"); } raise(B, "other")"#;
    assert_eq!(on(early), Ended::Raised(Quadrant::D, "seven".to_owned()));
    // What went wrong after it is D all the same.
    assert!(matches!(on(r#"raise(B, "x"); 1 / 0"#), Ended::Failed(_)));
}

#[test]
fn an_endless_loop_ends_at_the_same_count_everywhere() {
    for text in [
        "loop { }",
        "let n = 0; while true { n += 1; }",
        "for n in 0..9223372036854775807 { }",
        "loop { try { throw 1 } catch { } }",
        "loop { facts.files.matching(\"**\"); }",
        "loop { for file in facts.files { file.adds(\"x\"); } }",
    ] {
        let (ended, _, operations) = try_on(text, &sample());
        let Ended::Failed(why) = ended else {
            panic!("{text}: {ended:?}")
        };
        assert!(
            why.ends_with("more than 200000 operations"),
            "{text}: {why}"
        );
        assert!(
            (MAX_OPERATIONS..MAX_OPERATIONS + 3_000).contains(&operations),
            "{text}: {operations}"
        );
        assert_eq!(try_on(text, &sample()).2, operations, "{text}");
    }
}

#[test]
fn a_huge_allocation_is_refused_before_it_is_made() {
    for (text, bound) in [
        (
            "fn f(n) { f(n + 1) } loop { try { f(0) } catch { } }",
            "functions call each other too deeply",
        ),
        (
            "let s = \"xxxxxxxx\"; loop { s += s; }",
            "length of string is over its bound",
        ),
        (
            "let s = \"xxxxxxxx\"; loop { s = `${s}${s}`; }",
            "length of string is over its bound",
        ),
        (
            "let s = \"xxxxxxxx\"; loop { s = s.replaced(\"x\", \"xxxxxxxxxxxxxxxx\"); }",
            "the text would have more than 16384 bytes",
        ),
        (
            "let a = [0]; loop { a += a; }",
            "size of array/BLOB is over its bound",
        ),
        (
            "let a = []; loop { a.push(0); }",
            "size of array/BLOB is over its bound",
        ),
        (
            "let a = [0]; loop { a = [a, a]; }",
            "size of array/BLOB is over its bound",
        ),
        (
            "let a = []; loop { a.push(\"012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\"); }",
            "length of string is over its bound",
        ),
        (
            "let m = #{}; let n = 0; loop { m.set(`k${n}`, n); n += 1; }",
            "size of object map is over its bound",
        ),
        (
            "let s = \",\"; for n in 0..12 { s += s; } s.split(\",\")",
            "more than 128 pieces",
        ),
        (
            "let n = 0; loop { for m in 0..64 { facts.files.matching(`a${n}`); n += 1; } }",
            "more than 64 globs or patterns in one run",
        ),
        (
            "facts.files.find(\"lib/new.rs\").adds(\"(\\\\pL{1000}){1000}\")",
            "is not a regular expression: Compiled regex exceeds size limit of 262144 bytes.",
        ),
    ] {
        let why = fails(text);
        assert!(why.ends_with(bound), "{text}: {why}");
    }
    let long = "x".repeat(MAX_STRING + 1);
    let facts = facts(vec![file("src/a.js", &format!("@@ -0,0 +1 @@\n+{long}"))]);
    let ask = |text| try_on(text, &facts).0;
    let Ended::Failed(why) =
        ask("for file in facts.files { for line in file.added_lines { line; } }")
    else {
        panic!("a line over the bound")
    };
    assert!(why.contains("a line has 16385 bytes"), "{why}");
    let raised = ask("for file in facts.files { if file.adds(\"^x+$\") { raise(B, \"x\"); } } ()");
    assert_eq!(raised, Ended::Raised(Quadrant::B, "x".to_owned()));
}

#[test]
fn mistakes_of_type_and_name_are_errors_and_never_silent() {
    for (text, wanted) in [
        (
            "facts.path",
            "line 1: unknown property 'path' - a getter is not registered for type 'facts'",
        ),
        (
            "fn f() { facts.files } f()",
            "line 1: `facts` is not seen inside a function; pass it on as an argument",
        ),
        (
            "facts.files.matching(1)",
            "line 1: there is no function `matching(files, integer)`",
        ),
        (
            "facts.number > \"many\"",
            "line 1: a value of type integer cannot be compared with one of type string",
        ),
        (
            "\n\nif facts.files.len == \"3\" { raise(D, \"x\") }",
            "line 3: a value of type integer cannot be compared with one of type string",
        ),
        (
            "facts.labels == \"urgent\"",
            "line 1: a value of type array cannot be compared with one of type string",
        ),
        (
            "1 in [\"a\"]",
            "line 1: a value of type string cannot be compared with one of type integer",
        ),
        (
            "if facts.number { }",
            "line 1: data type incorrect: i64 (expecting bool)",
        ),
        (
            "let m = #{a: 1}; let n = #{b: 1}; m.b",
            "line 1: property not found: b",
        ),
        ("facts = 1", "line 1: cannot modify constant facts"),
        (
            "facts.files.matching(\"/src\")",
            "line 1: glob `/src` begins with `/`; write `src`: paths start at the repository root",
        ),
        (
            "facts.files.with_status(\"deleted\")",
            "line 1: there is no status `deleted`",
        ),
        ("raise(D, \"\")", "line 1: `raise` says no reason"),
        (
            "raise(\"D\", \"x\")",
            "line 1: there is no function `raise(string, string)`",
        ),
        ("throw \"on purpose\"", "line 1: on purpose"),
        (
            "facts.number",
            "the rule ends with a value of type integer; it may end with nothing or with `raise(D, \"why\")`",
        ),
        (
            "\"D\"",
            "the rule ends with a value of type string; it may end with nothing or with `raise(D, \"why\")`",
        ),
        (
            "D",
            "the rule ends with a value of type quadrant; it may end with nothing or with `raise(D, \"why\")`",
        ),
    ] {
        assert_eq!(fails(text), wanted, "{text}");
    }
}

#[test]
fn facts_that_are_not_known_are_errors_only_for_those_who_ask() {
    let mut facts = sample();
    facts.author = None;
    facts.files = Known::Unknown("HTTP 502".to_owned());
    facts.commit_count = 4;
    for (text, wanted) in [
        (
            "facts.author == \"x\"",
            "line 1: the author's account is gone",
        ),
        (
            "for file in facts.files { }",
            "line 1: files unknown: HTTP 502",
        ),
        (
            "facts.commits.len",
            "line 1: 1 commits listed, the pull request says 4",
        ),
    ] {
        assert_eq!(
            try_on(text, &facts).0,
            Ended::Failed(wanted.to_owned()),
            "{text}"
        );
    }
    assert_eq!(try_on("facts.number == 7; ()", &facts).0, Ended::Passed);
    let unseen = crate::rules::user::tests::facts(vec![{
        let mut unseen = file("src/big.rs", "");
        unseen.additions = 9;
        unseen
    }]);
    let asks = "for file in facts.files { if file.adds(\"x\") { raise(D, \"x\"); } }";
    let wanted = "line 1: src/big.rs: diff not given".to_owned();
    assert_eq!(try_on(asks, &unseen).0, Ended::Failed(wanted));
}
