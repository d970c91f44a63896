//! The binary as a person meets it: arguments, streams, exit codes, and input it cannot use.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What one run of the binary left behind.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Runs the binary in an empty folder.
pub fn quadgate(arguments: &[&str]) -> Run {
    quadgate_with(arguments, "")
}

/// Runs the binary in an empty folder with text on standard input.
pub fn quadgate_with(arguments: &[&str], input: &str) -> Run {
    let folder = tempfile::tempdir().expect("folder");
    quadgate_in(folder.path(), arguments, input)
}

/// Runs the binary in a folder with text on standard input.
pub fn quadgate_in(folder: &Path, arguments: &[&str], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_quadgate"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    // A run that never reads its input closes the pipe.
    let _ = child
        .stdin
        .take()
        .expect("pipe")
        .write_all(input.as_bytes());
    let output = child.wait_with_output().expect("ends");
    Run {
        code: output.status.code().expect("exits"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Writes files below a folder, with the folders they need.
pub fn write_files(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        std::fs::write(path, text).expect("write");
    }
}

/// Facts that can be read, with one file of this path and status.
pub fn facts(path: &str, status: &str) -> String {
    serde_json::json!({
        "repo": "octo-org/widgets", "number": 7, "base_ref": "main",
        "base_sha": "f".repeat(40), "head_sha": "0123456789abcdef0123456789abcdef01234567",
        "changed_files": 1, "commit_count": 1,
        "files": [{"path": path, "status": status, "additions": 1, "deletions": 0,
                   "patch": "@@ -0,0 +1,1 @@\n+text"}],
        "commits": [{"sha": "0".repeat(40), "message": "Change a thing\n"}],
    })
    .to_string()
}

#[test]
fn help_documents_the_exit_codes_and_version_prints() {
    let run = quadgate(&["--help"]);
    assert_eq!(run.code, 0);
    for word in ["classify", "explain", "config", "Exit codes:", "12  D"] {
        assert!(run.out.contains(word), "{word}");
    }
    let run = quadgate(&["--version"]);
    assert_eq!(run.out, format!("quadgate {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn arguments_that_make_no_sense_exit_2() {
    for arguments in [
        &["classify"] as &[&str],
        &["classify", "--repo", "."],
        &["classify", "--base", "a", "--head", "b"],
        &[
            "classify", "--facts", "-", "--repo", ".", "--base", "a", "--head", "b",
        ],
        &["classify", "--facts"],
        &["decide"],
        &[],
    ] {
        let run = quadgate(arguments);
        assert_eq!(run.code, 2, "{arguments:?}");
        assert!(run.out.is_empty() && !run.err.is_empty(), "{arguments:?}");
    }
}

#[test]
fn facts_that_cannot_be_read_exit_2_and_say_where() {
    let good = facts("README.md", "modified");
    let cases = [
        (
            "{\n  \"repo\": \"a/b\",\n  \"numbr\": 7\n}".to_owned(),
            "standard input:3:9: unknown member `numbr`; did you mean `number`?",
        ),
        (
            good.replace("\"status\"", "\"staus\""),
            "unknown member `staus`; did you mean `status`?",
        ),
        (
            "{\"repo\": ".to_owned(),
            "standard input:1:9: EOF while parsing",
        ),
        (String::new(), "standard input:1:0: EOF"),
        ("[]".to_owned(), "standard input:1:"),
        (format!("{good} {good}"), "trailing characters"),
        (
            good.replace("0123456789abcdef0123456789abcdef01234567", "01234567"),
            "`01234567` is not a full commit SHA",
        ),
        (
            good.replace("octo-org/widgets", "widgets"),
            "`widgets` is not a repository name",
        ),
        (
            good.replace("\"changed_files\":1,", ""),
            "missing field `changed_files`",
        ),
        (
            good.replace("\"number\":7", "\"number\":\"7\""),
            "invalid type",
        ),
    ];
    for (text, wanted) in cases {
        let run = quadgate_with(&["classify", "--facts", "-"], &text);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{wanted}");
        assert!(run.err.contains(wanted), "wanted {wanted}\n{}", run.err);
    }
}

#[test]
fn a_missing_facts_file_is_named() {
    let run = quadgate(&["classify", "--facts", "nowhere.json"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("`nowhere.json` cannot be read"),
        "{}",
        run.err
    );
}

#[test]
fn a_broken_configuration_decides_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    write_files(folder.path(), &[("config/env.yml", "bot_app_slug: [\n")]);
    let arguments = ["classify", "--facts", "-"];
    let run = quadgate_in(folder.path(), &arguments, &facts("README.md", "modified"));
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{}", run.err);
    assert!(run.err.contains("config/env.yml:"), "{}", run.err);
}

#[test]
fn a_config_folder_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().expect("folder");
    write_files(
        folder.path(),
        &[("config/database.yml", "production: {}\n")],
    );
    let arguments = ["classify", "--facts", "-"];
    let run = quadgate_in(folder.path(), &arguments, &facts("README.md", "added"));
    assert_ne!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("built-in rules"), "{}", run.err);
}

#[test]
#[cfg(unix)]
fn a_rules_file_that_cannot_be_read_is_not_an_absent_one() {
    let folder = tempfile::tempdir().expect("folder");
    write_files(
        folder.path(),
        &[
            ("config/owner.yml", "github_login: octo-owner\n"),
            ("config/projects.yml", "governance_repo: octo-org/bot\n"),
            ("config/env.yml", "bot_app_slug: octo-gate\n"),
        ],
    );
    let link = folder.path().join("config/classifier_rules.yml");
    std::os::unix::fs::symlink("nowhere", link).expect("link");
    let arguments = ["classify", "--facts", "-"];
    let run = quadgate_in(folder.path(), &arguments, &facts("README.md", "modified"));
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(
        run.err
            .contains("config/classifier_rules.yml:1:1: the file is a link to nothing"),
        "{}",
        run.err
    );
}
