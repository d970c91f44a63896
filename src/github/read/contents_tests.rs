//! Tests of which texts are read and kept.

use super::*;
use serde_json::json;

fn modified(patch: &str) -> FileChange {
    serde_json::from_value(json!({"path": "a.rs", "status": "modified", "patch": patch}))
        .expect("a file")
}

#[test]
fn texts_must_be_the_two_sides_of_the_patch() {
    let file = modified("@@ -2,3 +2,3 @@ fn x\n b\n-c\n+C\n d\n\\ No newline at end of file");
    let (old, new) = ("a\nb\nc\nd", "a\r\nb\r\nC\r\nd");
    assert!(fits(&file, Some(old), Some(new)));
    assert!(fits(&file, None, Some(new)));
    assert!(!fits(&file, Some(new), Some(old)));
    assert!(
        !fits(&file, Some("x\na\nb\nc\nd"), Some(new)),
        "the base moved"
    );
    assert!(!fits(&file, Some(""), Some("")));
    // A symbolic link's patch holds the paths, its contents are those of the file it leads to.
    let link = modified(
        "@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+two\n\\ No newline at end of file",
    );
    assert!(!fits(&link, Some("fn main() {}\n"), Some("fn main() {}\n")));
    assert!(!fits(
        &modified("Binary files differ"),
        Some("a"),
        Some("a")
    ));
}

fn facts(count: u64, commits: &[(char, &[char])]) -> Facts {
    let sha = |digit: &char| digit.to_string().repeat(40);
    let commits: Vec<_> = commits
        .iter()
        .map(|(own, parents)| {
            json!({"sha": sha(own), "message": "m", "parents": parents.iter().map(sha).collect::<Vec<_>>()})
        })
        .collect();
    serde_json::from_value(json!({
        "repo": "o/r", "number": 1, "base_ref": "main", "base_sha": sha(&'f'), "head_sha": sha(&'a'),
        "changed_files": 1, "commit_count": count, "commits": commits}))
    .expect("facts")
}

#[test]
fn the_merge_base_follows_from_a_line_of_commits() {
    let found = |count, commits: &[(char, &[char])]| {
        merge_base(&facts(count, commits)).map(|sha| sha.short().to_owned())
    };
    assert_eq!(found(1, &[('a', &['0'])]).as_deref(), Some("0000000"));
    assert_eq!(
        found(2, &[('b', &['0']), ('a', &['b'])]).as_deref(),
        Some("0000000")
    );
    // The base was merged into the branch: two ways out.
    assert_eq!(found(2, &[('b', &['0']), ('a', &['b', '1'])]), None);
    assert_eq!(
        found(3, &[('b', &['0']), ('a', &['b'])]),
        None,
        "not all commits are listed"
    );
    assert_eq!(
        found(1, &[('b', &['0'])]),
        None,
        "the head is not among them"
    );
    assert_eq!(
        found(1, &[('a', &[])]),
        None,
        "a root, or parents that were not read"
    );
}
