//! Facts from a real repository: every kind of change git knows, and what must not be believed.

use crate::cli::quadgate;
use quadgate::domain::{Facts, FileChange, FileStatus};
use quadgate::git_range::{GitError, Range, read};
use std::path::Path;
use std::process::Command;

/// A repository with one commit, in a folder of its own.
struct Repository {
    folder: tempfile::TempDir,
}

impl Repository {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let new = Self { folder };
        new.git(&["init", "-q", "-b", "main"]);
        new
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.path())
            .args(["-c", "user.name=Octo", "-c", "user.email=octo@example.com"])
            .args([
                "-c",
                "commit.gpgsign=false",
                "-c",
                "protocol.file.allow=always",
            ])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        std::fs::write(path, bytes).expect("write");
    }

    fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn facts(&self, base: &str, head: &str) -> Facts {
        self.read(base, head).expect("reads")
    }

    fn read(&self, base: &str, head: &str) -> Result<Facts, GitError> {
        read(&Range {
            directory: self.path(),
            base,
            head,
            repository: None,
        })
    }
}

fn file<'a>(facts: &'a Facts, path: &str) -> &'a FileChange {
    let found = facts.files.items().iter().find(|file| file.path == path);
    found.unwrap_or_else(|| panic!("{path} in {:#?}", facts.files))
}

#[test]
fn every_kind_of_change() {
    let r = Repository::new();
    r.write("kept.rs", b"fn main() {}\n");
    r.write("edited.rs", b"fn a() {}\nfn b() {}\n");
    r.write("gone.txt", b"old\n");
    r.write("old/name.txt", b"one\ntwo\nthree\nfour\nfive\nsix\n");
    r.write("script.sh", b"#!/bin/sh\n");
    r.write("becomes-link", b"text\n");
    r.write("picture.png", b"\x89PNG\0\x01");
    let base = r.commit("Start");
    r.write("edited.rs", b"fn a() {}\nfn c() {}\n");
    r.write("new.md", b"# New\n");
    std::fs::remove_file(r.path().join("gone.txt")).expect("remove");
    std::fs::create_dir(r.path().join("new")).expect("folder");
    std::fs::rename(r.path().join("old/name.txt"), r.path().join("new/name.txt")).expect("rename");
    r.write("picture.png", b"\x89PNG\0\x02");
    r.git(&["update-index", "--chmod=+x", "script.sh"]);
    std::fs::remove_file(r.path().join("becomes-link")).expect("remove");
    std::os::unix::fs::symlink("kept.rs", r.path().join("becomes-link")).expect("link");
    std::os::unix::fs::symlink("/etc/passwd", r.path().join("link")).expect("link");
    r.git(&["add", "-A"]);
    r.git(&["update-index", "--chmod=+x", "script.sh"]);
    let pin = format!("160000,{},vendor/dep", "1".repeat(40));
    r.git(&["update-index", "--add", "--cacheinfo", &pin]);
    r.git(&[
        "commit",
        "-q",
        "-m",
        "Change all\n\nAgent-Session: s_abc-123",
    ]);
    let facts = r.facts(&base, "HEAD");

    assert_eq!((facts.changed_files, facts.commit_count), (9, 1));
    let edited = file(&facts, "edited.rs");
    assert_eq!(edited.status, FileStatus::Modified);
    assert_eq!((edited.additions, edited.deletions), (1, 1));
    assert_eq!(
        edited.patch.as_deref(),
        Some("@@ -1,2 +1,2 @@\n fn a() {}\n-fn b() {}\n+fn c() {}")
    );
    assert_eq!(
        edited.base_content.as_deref(),
        Some("fn a() {}\nfn b() {}\n")
    );
    assert_eq!(
        edited.head_content.as_deref(),
        Some("fn a() {}\nfn c() {}\n")
    );
    assert_eq!(file(&facts, "new.md").status, FileStatus::Added);
    assert_eq!(file(&facts, "gone.txt").status, FileStatus::Removed);
    let renamed = file(&facts, "new/name.txt");
    assert_eq!(renamed.status, FileStatus::Renamed);
    assert_eq!(renamed.previous_path.as_deref(), Some("old/name.txt"));
    let picture = file(&facts, "picture.png");
    assert_eq!(
        (picture.status.clone(), picture.patch.clone()),
        (FileStatus::Modified, None)
    );
    assert_eq!(picture.head_content.as_deref(), None, "not text");
    let script = file(&facts, "script.sh");
    assert_eq!(
        (script.status.clone(), script.patch.clone()),
        (FileStatus::Changed, None)
    );
    let linked = file(&facts, "becomes-link");
    assert_eq!(
        (linked.status.clone(), linked.patch.clone()),
        (FileStatus::Changed, None)
    );
    assert_eq!(file(&facts, "link").status, FileStatus::Added);
    let pinned = file(&facts, "vendor/dep");
    assert_eq!(pinned.status, FileStatus::Added);
    assert!(
        pinned
            .patch
            .as_deref()
            .is_some_and(|p| p.contains("+Subproject commit 1111"))
    );
    let messages: Vec<&str> = facts
        .commits
        .items()
        .iter()
        .map(|c| c.message.trim_end())
        .collect();
    assert_eq!(messages, ["Change all\n\nAgent-Session: s_abc-123"]);
    assert!(facts.repo.as_str().starts_with("local/"));
}

#[test]
fn the_range_starts_where_the_branches_parted() {
    let r = Repository::new();
    r.write("a", b"a\n");
    r.commit("Start");
    r.git(&["switch", "-q", "-c", "topic"]);
    r.write("b", b"b\n");
    r.commit("Topic");
    r.git(&["switch", "-q", "main"]);
    r.write("c", b"c\n");
    r.commit("Main goes on");
    let facts = r.facts("main", "topic");
    let paths: Vec<&str> = facts
        .files
        .items()
        .iter()
        .map(|f| f.path.as_str())
        .collect();
    assert_eq!(paths, ["b"]);
    assert_eq!(facts.base_ref, "main");
    assert_eq!(facts.base_sha.as_str(), r.git(&["rev-parse", "main"]));
}

#[test]
fn a_path_that_is_not_utf8_stays_apart() {
    use std::os::unix::ffi::OsStrExt;
    let r = Repository::new();
    let base = r.commit("Start");
    std::fs::create_dir(r.path().join("examples")).expect("folder");
    let name = std::ffi::OsStr::from_bytes(b"examples/caf\xe9.md");
    std::fs::write(r.path().join(name), "text\n").expect("write");
    r.commit("Odd name");
    let facts = r.facts(&base, "HEAD");
    assert_eq!(
        file(&facts, "examples//caf\\xE9.md").status,
        FileStatus::Added
    );
}

#[test]
fn text_that_is_not_utf8_is_no_patch() {
    let r = Repository::new();
    r.write("latin.md", b"caf\xe9\n");
    let base = r.commit("Start");
    r.write("latin.md", b"caf\xe8\n");
    r.commit("Edit");
    let facts = r.facts(&base, "HEAD");
    let file = file(&facts, "latin.md");
    assert_eq!(
        (file.patch.as_ref(), file.head_content.as_ref()),
        (None, None)
    );
}

#[test]
fn settings_of_the_repository_hide_nothing() {
    let r = Repository::new();
    r.write("a.rs", b"fn a() {}\n");
    r.write(
        ".gitmodules",
        b"[submodule \"dep\"]\n\tpath = dep\n\turl = ./x\n\tignore = all\n",
    );
    let pin = format!("160000,{},dep", "1".repeat(40));
    r.git(&["add", "-A"]);
    r.git(&["update-index", "--add", "--cacheinfo", &pin]);
    r.git(&["commit", "-q", "-m", "Start"]);
    let base = r.git(&["rev-parse", "HEAD"]);
    for (key, value) in [
        ("diff.external", "false"),
        ("diff.noprefix", "true"),
        ("diff.renames", "false"),
        ("diff.ignoreSubmodules", "all"),
        ("diff.submodule", "log"),
        ("color.ui", "always"),
        ("diff.context", "0"),
        ("log.showSignature", "true"),
    ] {
        r.git(&["config", key, value]);
    }
    std::fs::rename(r.path().join("a.rs"), r.path().join("b.rs")).expect("rename");
    r.git(&["add", "a.rs", "b.rs"]);
    let pin = format!("160000,{},dep", "2".repeat(40));
    r.git(&["update-index", "--cacheinfo", &pin]);
    r.git(&["commit", "-q", "-m", "Move"]);
    let facts = r.facts(&base, "HEAD");
    assert_eq!(file(&facts, "b.rs").status, FileStatus::Renamed);
    let pin = file(&facts, "dep").patch.clone().unwrap_or_default();
    assert!(pin.contains("+Subproject commit 2222"), "{pin}");
}

#[test]
fn replaced_objects_are_not_believed() {
    let r = Repository::new();
    r.write("a.txt", b"harmless\n");
    let base = r.commit("Start");
    r.write("a.txt", b"harmful\n");
    r.commit("Edit");
    let harmful = r.git(&["rev-parse", "HEAD:a.txt"]);
    let harmless = r.git(&["rev-parse", &format!("{base}:a.txt")]);
    r.git(&["replace", &harmful, &harmless]);
    let facts = r.facts(&base, "HEAD");
    assert!(
        file(&facts, "a.txt")
            .patch
            .as_deref()
            .is_some_and(|p| p.contains("+harmful"))
    );
}

#[test]
fn the_name_comes_from_the_remote() {
    for (url, wanted) in [
        (
            "https://github.com/octo-org/widgets.git",
            Some("octo-org/widgets"),
        ),
        (
            "git@github.com:octo-org/widgets.git",
            Some("octo-org/widgets"),
        ),
        (
            "ssh://git@ghe.example.com:22/octo-org/widgets",
            Some("octo-org/widgets"),
        ),
        ("/srv/git/widgets", None),
    ] {
        let r = Repository::new();
        let base = r.commit("Start");
        r.git(&["remote", "add", "origin", url]);
        let name = r.facts(&base, "HEAD").repo;
        match wanted {
            Some(wanted) => assert_eq!(name.as_str(), wanted, "{url}"),
            None => assert!(name.as_str().starts_with("local/"), "{url}: {name}"),
        }
    }
}

#[test]
fn what_cannot_be_read_is_an_error_never_an_empty_change() {
    let r = Repository::new();
    let base = r.commit("Start");
    for bad in ["nowhere", "--help", "-x", "", "HEAD:missing", "main..HEAD"] {
        let error = r.read(&base, bad).expect_err(bad);
        assert!(
            error.to_string().contains(&format!("`{bad}`")),
            "{bad}: {error}"
        );
    }
    r.git(&["switch", "-q", "--orphan", "island"]);
    r.commit("Apart");
    let error = r.read("main", "island").expect_err("unrelated");
    assert!(error.to_string().contains("no common ancestor"), "{error}");
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().to_str().expect("text");
    let run = quadgate(&["classify", "--repo", path, "--base", "a", "--head", "b"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.contains("not a git repository"), "{}", run.err);
}
