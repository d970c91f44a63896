//! Tests of comment-only and typo-only edits, language by language.

use super::*;
use crate::domain::FileStatus;

/// A modified file whose patch is the whole text, so that the counts agree.
fn modified(path: &str, base: &str, head: &str) -> FileChange {
    let marked = |mark: &str, text: &str| -> String {
        text.lines()
            .flat_map(|line| {
                [
                    mark, line, "
",
                ]
            })
            .collect()
    };
    let (removed, added) = (marked("-", base), marked("+", head));
    let (deletions, additions) = (base.lines().count(), head.lines().count());
    FileChange {
        path: path.to_owned(),
        previous_path: None,
        status: FileStatus::Modified,
        additions: additions as u64,
        deletions: deletions as u64,
        patch: Some(format!(
            "@@ -1,{deletions} +1,{additions} @@\n{removed}{added}"
        )),
        base_content: Some(base.to_owned()),
        head_content: Some(head.to_owned()),
    }
}

fn is_comment_only(path: &str, base: &str, head: &str) -> bool {
    comment_only(&modified(path, base, head), &mut Budget::default()).is_some()
}

#[test]
fn comments_alone_change_in_every_language() {
    for (path, base, head) in [
        (
            "a.rs",
            "// old\nfn f() -> u8 { 1 }\n",
            "// new\n// words\nfn f() -> u8 { 1 /* one */ }\n",
        ),
        (
            "a.rs",
            "/// Old words.\nfn f() {}\n",
            "/// New words.\nfn f() {}\n",
        ),
        (
            "a.py",
            "# old\ndef f():\n    return 1\n",
            "# new\n\ndef f():\n    # why\n    return 1  # one\n",
        ),
        (
            "a.js",
            "// old\nconst a = `x ${1}`;\n",
            "/* new */\nconst a = `x ${1}`; // tail\n",
        ),
        (
            "a.jsx",
            "// old\nconst a = <b>hi</b>;\n",
            "// new\nconst a = <b>hi</b>;\n",
        ),
        (
            "a.ts",
            "// old\nconst a: number = 1;\n",
            "// new\nconst a: number = 1;\n",
        ),
        (
            "a.tsx",
            "// old\nconst a = <b>{x}</b>;\n",
            "// new\nconst a = <b>{x}</b>;\n",
        ),
        (
            "a.go",
            "package a\n\n// old\nfunc f() int { return 1 }\n",
            "package a\n\n// f is new\nfunc f() int { return 1 } // one\n",
        ),
        (
            "A.java",
            "// old\nclass A { int f() { return 1; } }\n",
            "/* new */\nclass A { int f() { return 1; } }\n",
        ),
        (
            "a.c",
            "// old\nint f(void) { return 1; }\n",
            "/* new */\nint f(void) { return 1; }\n",
        ),
        ("a.h", "// old\nint f(void);\n", "// new\nint f(void);\n"),
        (
            "a.cpp",
            "// old\ntemplate <class T> T f(T t) { return t; }\n",
            "// new\ntemplate <class T> T f(T t) { return t; /* t */ }\n",
        ),
        (
            "a.cs",
            "// old\nclass A { int F() { return 1; } }\n",
            "// new\nclass A { int F() { return 1; } }\n",
        ),
        (
            "a.rb",
            "# old\ndef f\n  1\nend\n",
            "# new\ndef f\n  1 # one\nend\n",
        ),
        (
            "a.sh",
            "# old\nf() { echo \"$1\"; }\n",
            "# new\n\nf() { echo \"$1\"; } # tail\n",
        ),
    ] {
        assert!(is_comment_only(path, base, head), "{path}: {head}");
        let file = modified(path, base, head);
        assert!(
            Language::of_path(path).is_some() && file.patch.is_some(),
            "{path}"
        );
    }
}

#[test]
fn code_is_code_in_every_language() {
    for (path, base, head) in [
        ("a.rs", "fn f() -> u8 { 1 }\n", "fn f() -> u8 { 2 }\n"),
        (
            "a.rs",
            "const A: &str = \"// a\";\n",
            "const A: &str = \"// b\";\n",
        ),
        (
            "a.rs",
            "/// ```\n/// f(1);\n/// ```\nfn f() {}\n",
            "/// ```\n/// f(2);\n/// ```\nfn f() {}\n",
        ),
        (
            "a.rs",
            "/// Runs:\n///\n///     f(1);\nfn f() {}\n",
            "/// Runs:\n///\n///     f(2);\nfn f() {}\n",
        ),
        (
            "a.rs",
            "m! { /// a\n struct A; }\n",
            "m! { /// b\n struct A; }\n",
        ),
        ("a.py", "if a:\n    b()\nc()\n", "if a:\n    b()\n    c()\n"),
        ("a.py", "T = '''\n# kind\n'''\n", "T = '''\n# cruel\n'''\n"),
        (
            "a.py",
            "def f():\n    \"\"\"Old.\"\"\"\n",
            "def f():\n    \"\"\"New.\"\"\"\n",
        ),
        ("a.py", "x = 'a b'\n", "x = 'a  b'\n"),
        ("a.py", "x = f'{a}'\n", "x = f'{b}'\n"),
        (
            "a.js",
            "f(() => { return 1; })\n",
            "f(() => { return\n1; })\n",
        ),
        ("a.js", "const a = `\n// x\n`;\n", "const a = `\n// y\n`;\n"),
        ("a.js", "const a = `a b`;\n", "const a = `a  b`;\n"),
        ("a.js", "x = /ab/;\n", "x = /a b/;\n"),
        (
            "a.js",
            "f(() => { return /* a */ x })\n",
            "f(() => { return /* a\n */ x })\n",
        ),
        (
            "a.tsx",
            "const a = <b>hi there</b>;\n",
            "const a = <b>hi  there</b>;\n",
        ),
        ("a.ts", "const a: number = 1;\n", "const a: string = 1;\n"),
        (
            "a.go",
            "package a\n// #include <a.h>\nimport \"C\"\n",
            "package a\n// #include <b.h>\nimport \"C\"\n",
        ),
        (
            "a.go",
            "package a\nvar a = `\n// x\n`\n",
            "package a\nvar a = `\n// y\n`\n",
        ),
        (
            "A.java",
            "class A { String s = \"a\"; }\n",
            "class A { String s = \"b\"; }\n",
        ),
        (
            "A.java",
            "class A { } // x\n",
            "class A { } // \\u000a evil();\n",
        ),
        (
            "a.c",
            "#define A 1 // x\nint a = A;\n",
            "#define A 2 // x\nint a = A;\n",
        ),
        ("a.c", "// x\nint a;\n", "// x \\\nint a;\n"),
        ("a.c", "// x\nint a;\n", "// x ??/\nint a;\n"),
        (
            "a.h",
            "auto s = R\"(\n// a\n)\";\n",
            "auto s = R\"(\n// b\n)\";\n",
        ),
        (
            "a.cpp",
            "auto s = R\"(\n// a\n)\";\n",
            "auto s = R\"(\n// b\n)\";\n",
        ),
        (
            "a.cs",
            "class A { string s = @\"// a\"; }\n",
            "class A { string s = @\"// b\"; }\n",
        ),
        (
            "a.cs",
            "#if DEBUG\nclass A { }\n#endif\n",
            "#if RELEASE\nclass A { }\n#endif\n",
        ),
        (
            "a.rb",
            "a = <<~T\n  # kind\nT\n",
            "a = <<~T\n  # cruel\nT\n",
        ),
        ("a.rb", "x = 1\n__END__\n# a\n", "x = 1\n__END__\n# b\n"),
        ("a.sh", "cat <<T\n# kind\nT\n", "cat <<T\n# cruel\nT\n"),
        ("a.sh", "echo $a$b\n", "echo $a $b\n"),
        ("a.sh", "a\nb\n", "a # b\n"),
    ] {
        assert!(!is_comment_only(path, base, head), "{path}: {head}");
    }
}

#[test]
fn directives_are_code() {
    for (path, code, directives) in [
        (
            "a.py",
            "x = load()",
            &[
                "# noqa",
                "# type: ignore",
                "# pragma: no cover",
                "# nosec",
                "# pylint: disable=x",
                "# fmt: off",
                "#!/usr/bin/python",
                "# -*- coding: utf-8 -*-",
                "# SPDX-License-Identifier: MIT",
                "# /// script",
                "# mypy: ignore-errors",
            ][..],
        ),
        (
            "a.js",
            "f();",
            &[
                "// eslint-disable-next-line",
                "// @ts-ignore",
                "/* istanbul ignore next */",
                "/* webpackChunkName: \"x\" */",
                "// @flow",
                "/* #__PURE__ */",
                "//# sourceMappingURL=x",
                "/** @type {number} */",
                "// prettier-ignore",
                "/** @jsx h */",
            ],
        ),
        (
            "a.ts",
            "f();",
            &[
                "/// <reference path=\"x\" />",
                "// @ts-expect-error",
                "// @ts-nocheck",
                "// biome-ignore lint: x",
            ],
        ),
        (
            "a.go",
            "package a",
            &[
                "//go:build linux",
                "// +build linux",
                "//go:embed x",
                "//nolint:all",
                "//export F",
                "//line x.go:1",
                "// Output: 1",
                "// Code generated by x. DO NOT EDIT.",
            ],
        ),
        (
            "a.rs",
            "fn f() {}",
            &[
                "// clippy: x",
                "// rustfmt-skip allow(unused)",
                "/// ```",
                "// SPDX-License-Identifier: MIT",
                "/// ~~~",
            ],
        ),
        (
            "A.java",
            "class A { }",
            &[
                "// NOPMD",
                "// noinspection X",
                "/** @deprecated */",
                "// @formatter:off",
            ],
        ),
        (
            "a.c",
            "int a;",
            &[
                "// NOLINT",
                "/* fallthrough */",
                "// clang-format off",
                "// cppcheck-suppress x",
                "// LCOV_EXCL_LINE",
            ],
        ),
        (
            "a.cs",
            "class A { }",
            &[
                "// <auto-generated/>",
                "// ReSharper disable All",
                "/// <inheritdoc/>",
            ],
        ),
        (
            "a.rb",
            "f",
            &[
                "# frozen_string_literal: true",
                "# rubocop:disable all",
                "# typed: true",
                "# encoding: ascii",
                "# :nocov:",
            ],
        ),
        ("a.sh", "f", &["#!/bin/sh", "# shellcheck disable=SC2086"]),
    ] {
        for directive in directives {
            let (plain, marked) = (format!("\n{code}\n"), format!("{directive}\n{code}\n"));
            assert!(
                !is_comment_only(path, &plain, &marked),
                "{path}: added {directive}"
            );
            assert!(
                !is_comment_only(path, &marked, &plain),
                "{path}: removed {directive}"
            );
        }
    }
    // It counts where it stands: the same directive for another line is another program.
    assert!(!is_comment_only(
        "a.py",
        "a = 1  # noqa\nb = 2\n",
        "a = 1\nb = 2  # noqa\n"
    ));
    assert!(!is_comment_only(
        "a.py",
        "a = 1  # noqa\nb = 2\n",
        "a = 1\n# noqa\nb = 2\n"
    ));
    assert!(is_comment_only(
        "a.py",
        "a = 1  # noqa\nb = 2\n",
        "a = 1  # noqa\nb = 2  # two\n"
    ));
}

#[test]
fn what_cannot_be_told_is_not_comment_only() {
    let (base, head) = ("# old\nx = 1\n", "# new\nx = 1\n");
    assert!(is_comment_only("a.py", base, head));
    assert!(
        !is_comment_only("a.py", "def (:\n# old\n", "def (:\n# new\n"),
        "a parse error"
    );
    assert!(
        !is_comment_only("a.PY", base, head),
        "an ending with other case"
    );
    assert!(!is_comment_only("a.yaml", base, head), "no grammar");
    assert!(!is_comment_only(".py", base, head), "a name, not an ending");
    assert!(
        !is_comment_only("a.py", base, "# new\rimport os\nx = 1\n"),
        "a lone carriage return"
    );
    assert!(
        !is_comment_only("a.js", "// a\nf()\n", "// b\u{2028}evil()\nf()\n"),
        "a line separator"
    );
    assert!(
        !is_comment_only("a.js", "// a\nf()\n", "// b \u{202e}\nf()\n"),
        "direction marks"
    );
    let long = "# x\n".repeat(200_000);
    assert!(
        !is_comment_only("a.py", base, &format!("{long}x = 1\n")),
        "too large"
    );
    let mut file = modified("a.py", base, head);
    file.status = FileStatus::Renamed;
    assert!(comment_only(&file, &mut Budget::default()).is_none());
    file = modified("a.py", base, head);
    file.patch = None;
    assert!(
        comment_only(&file, &mut Budget::default()).is_none(),
        "a diff nobody saw"
    );
    file = modified("a.py", base, head);
    file.head_content = None;
    assert!(
        comment_only(&file, &mut Budget::default()).is_none(),
        "contents not fetched"
    );
    assert!(
        !is_comment_only("a.py", base, base),
        "a change outside the text"
    );
    let deep = format!("x = {}1{}\n", "(".repeat(2_000), ")".repeat(2_000));
    let _ = is_comment_only("a.py", &deep, &format!("# new\n{deep}"));
}

#[test]
fn a_budget_ends() {
    let file = modified("a.py", "# old\nx = 1\n", "# new\nx = 1\n");
    let mut budget = Budget::of_bytes(100);
    let told = (0..30)
        .filter(|_| comment_only(&file, &mut budget).is_some())
        .count();
    assert_eq!(told, 4, "a pair takes 24 bytes");
}

#[test]
fn a_comment_may_come_first_or_last() {
    for (path, code, comment) in [
        ("a.py", "x = 1\n", "# c\n"),
        ("a.js", "f()\n", "// c\n"),
        ("a.sh", "f\n", "# c\n"),
        ("a.go", "package a\n", "// c\n"),
        ("a.rb", "f\n", "# c\n"),
        ("a.c", "int a;\n", "// c\n"),
        ("a.cs", "class A { }\n", "// c\n"),
    ] {
        assert!(
            is_comment_only(path, code, &format!("{comment}{code}")),
            "{path}: first"
        );
        assert!(
            is_comment_only(path, code, &format!("{code}{comment}")),
            "{path}: last"
        );
        assert!(
            is_comment_only(path, code, &format!("\n\n{code}")),
            "{path}: blank lines"
        );
    }
}

#[test]
fn contents_are_wanted_only_where_they_can_help() {
    let wants = |path: &str, patch: &str, additions: u64, deletions: u64| {
        wants_contents(&FileChange {
            path: path.to_owned(),
            previous_path: None,
            status: FileStatus::Modified,
            additions,
            deletions,
            patch: Some(patch.to_owned()),
            base_content: None,
            head_content: None,
        })
    };
    assert!(wants("a.py", "@@ -1 +1 @@\n-# a\n+# b", 1, 1));
    assert!(wants("a.py", "@@ -1 +1 @@\n-x = 1\n+x = 1  # b", 1, 1));
    assert!(!wants("a.py", "@@ -1 +1 @@\n-x = 1\n+y = 1  # b", 1, 1));
    assert!(wants(
        "a.c",
        "@@ -1,3 +1,3 @@\n /*\n-old words\n+new words\n */",
        1,
        1
    ));
    assert!(wants("a.rs", "@@ -1 +1,2 @@\n fn f() {}\n+", 1, 0));
    assert!(!wants("a.py", "@@ -1 +1 @@\n-x = 1\n+x = 2", 1, 1));
    assert!(!wants("a.yml", "@@ -1 +1 @@\n-# a\n+# b", 1, 1));
    assert!(
        !wants("a.py", "@@ -1 +1 @@\n-# a\n+# b", 2, 1),
        "a diff that was cut"
    );
}

#[test]
fn patches_show_every_line_or_none() {
    let of = |patch: &str, additions: u64, deletions: u64| {
        let file = FileChange {
            patch: Some(patch.to_owned()),
            additions,
            deletions,
            ..modified("a", "", "")
        };
        Patch::of(&file).map(|patch| {
            patch
                .lines()
                .map(|line| line.text().to_owned())
                .collect::<Vec<_>>()
        })
    };
    let texts = of(
        "@@ -1,2 +1,2 @@ fn x() {\n-a\n+b\n c\n\\ No newline at end of file\n@@ -9 +9,2 @@\n ++\n+--- d\n",
        2,
        1,
    );
    assert_eq!(
        texts.as_deref(),
        Ok(["a", "b", "c", "++", "--- d"].map(str::to_owned).as_slice())
    );
    assert_eq!(
        of("@@ -1 +1 @@\n-a\r\n+b\r", 1, 1).map(|lines| lines.len()),
        Ok(2)
    );
    assert_eq!(
        of("@@ -1,2 +1,2 @@\n-a\n+b\n\n", 0, 0).map(|lines| lines.len()),
        Ok(3),
        "a trimmed blank line"
    );
    // The counts beside the patch are the better witness: missing context hides nothing.
    assert!(of("@@ -1,9 +1,9 @@\n-a\n+b", 1, 1).is_ok());
    assert_eq!(
        of("@@ -1,9 +1,9 @@\n-a\n+b", 0, 0),
        Err(PatchError::Incomplete)
    );
    assert_eq!(of("@@ -1 +1 @@\n-a\n+b", 2, 1), Err(PatchError::Incomplete));
    assert_eq!(of("", 0, 0), Err(PatchError::Missing));
    for bad in [
        "x",
        "+a",
        "@@ @@\n+a",
        "@@ -1 +1 @@\n*a",
        "@@ -a +b @@\n+a",
        "@@ -1,99999999999 +1 @@\n+a",
    ] {
        assert_eq!(of(bad, 1, 0), Err(PatchError::Malformed), "{bad}");
    }
}

fn corrects_spelling(file: &FileChange) -> bool {
    Patch::of(file).is_ok_and(|patch| typo_only(file, &patch))
}

#[test]
fn typos_are_small_and_mean_nothing() {
    let is_typo =
        |old: &str, new: &str| corrects_spelling(&modified("docs/concepts/a.md", old, new));
    for (old, new) in [
        ("A chnage is made.", "A change is made."),
        ("Teh bot recieves it.", "The bot receives it."),
        ("the seperate rule, (simpel)", "the separate rule, (simple)"),
        ("Github knows.", "GitHub knows."),
        (
            "\u{c790}\u{b3d9}\u{c73c}\u{b85c} \u{baa8}\u{b4e0} \u{ac80}\u{c0ac}\u{b97c}",
            "\u{c790}\u{b3d9}\u{c73c}\u{b85c} \u{baa8}\u{b4e0} \u{ac80}\u{c0ac}\u{b294}",
        ),
    ] {
        assert!(is_typo(old, new), "{old} -> {new}");
    }
    for (old, new) in [
        ("The owner must answer.", "The owner may answer."),
        ("It is reversible.", "It is irreversible."),
        ("It is safe.", "It is unsafe."),
        ("Wait 7 days.", "Wait 1 days."),
        ("Quadrant C is asked.", "Quadrant D is asked."),
        ("See [a](http://x.y).", "See [a](http://x.z)."),
        ("Run `abcde` now.", "Run `abcdf` now."),
        ("Run `abc defgh` now.", "Run `abc defgi` now."),
        ("It can be.", "It can't be."),
        ("This is now done.", "This is not done."),
        ("Use any check.", "Use all check."),
        ("Before the merge.", "Before the emerge."),
        ("one two thre foru fvie", "one two three four five"),
        ("a word", "a  word"),
        ("alot of it", "a lot of it"),
        ("    indented code", "    indentde code"),
        ("enable the gate", "unable the gate"),
        (
            "\u{c2b9}\u{c778}\u{c774} \u{c788}\u{b2e4}",
            "\u{c2b9}\u{c778}\u{c774} \u{c5c6}\u{b2e4}",
        ),
        ("if approved", "of approved"),
        ("the change", "the \u{441}hange"),
        ("a hopeful plan", "a hopeless plan"),
        ("\tcode chnage", "\tcode change"),
        ("same", "same"),
    ] {
        assert!(!is_typo(old, new), "{old} -> {new}");
    }
    assert!(
        !corrects_spelling(&modified("docs/concepts/a.py", "A chnage.", "A change.")),
        "not prose"
    );
    assert!(
        !is_typo("A chnage.", "A change.\nAnd more."),
        "an added line"
    );
    assert!(
        !is_typo("```\nA chnage.\n```", "```\nA change.\n```"),
        "fenced code"
    );
    let mut file = modified("docs/concepts/a.md", "A chnage.", "A change.");
    file.additions = 2;
    assert!(!corrects_spelling(&file), "a diff that was cut");
}
