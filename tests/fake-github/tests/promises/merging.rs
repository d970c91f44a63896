//! Merging: the head as precondition, what is not mergeable, methods, updating the branch.

use crate::caller::{Client, Got, REPO, ready};
use fake_github::{FakeGitHub, FileSpec, MergeMethods, PullSpec};
use serde_json::{Value, json};

async fn opened() -> (FakeGitHub, Client, u64, String) {
    let (github, client) = ready().await;
    let number = github.open_pull(
        REPO,
        &PullSpec::new("change").file(FileSpec::modified("src/a.rs", "old\n", "new\n")),
    );
    let head = github.pull(REPO, number).head_sha;
    (github, client, number, head)
}

async fn merge(client: &Client, number: u64, body: Value) -> Got {
    client
        .send("PUT", &format!("/repos/{REPO}/pulls/{number}/merge"), body)
        .await
}

#[tokio::test]
async fn another_head_is_a_conflict() {
    let (github, client, number, head) = opened().await;
    github.push(REPO, number, "more", &[]);
    assert_eq!(
        merge(&client, number, json!({"sha": head})).await.status,
        409
    );
    assert!(!github.pull(REPO, number).merged);
}

#[tokio::test]
async fn a_squash_puts_the_change_on_the_base_with_one_parent() {
    let (github, client, number, head) = opened().await;
    let tip = github.branch_tip(REPO, "main");
    let got = merge(
        &client,
        number,
        json!({"sha": head, "merge_method": "squash", "commit_title": "t", "commit_message": "m"}),
    )
    .await;
    assert_eq!(
        (got.status, &got.json["merged"]),
        (200, &true.into()),
        "{}",
        got.text
    );
    let pull = github.pull(REPO, number);
    assert!(pull.merged && !pull.open);
    let commit = pull.merge_commit.expect("a merge commit");
    assert_eq!(github.commit(REPO, &commit), (vec![tip], "t\n\nm".into()));
    assert_eq!(
        github.file_at(REPO, "main", "src/a.rs").as_deref(),
        Some("new\n")
    );
    let names: Vec<String> = github
        .deliveries()
        .iter()
        .map(fake_github::WebhookRequest::name)
        .collect();
    assert!(
        names.contains(&"pull_request.closed".into()) && names.contains(&"push".into()),
        "{names:?}"
    );
    github.assert_no_violations();
}

#[tokio::test]
async fn drafts_conflicts_required_checks_and_forbidden_methods_are_405() {
    let (github, client, number, head) = opened().await;
    let expect = async |text: &str| {
        let got = merge(&client, number, json!({"merge_method": "squash"})).await;
        assert_eq!(got.status, 405, "{}", got.text);
        assert!(got.text.contains(text), "{text} in {}", got.text);
    };
    github.set_draft(REPO, number, true);
    expect("draft").await;
    github.set_draft(REPO, number, false);
    github.set_mergeable(REPO, number, Some(false));
    expect("not mergeable").await;
    github.set_mergeable(REPO, number, Some(true));
    github.set_merge_methods(
        REPO,
        MergeMethods {
            squash: false,
            ..MergeMethods::default()
        },
    );
    expect("Squash merges are not allowed").await;
    github.set_merge_methods(REPO, MergeMethods::default());
    github.require_checks(REPO, &["ci"]);
    expect("\\\"ci\\\" is expected").await;
    github.post_status(REPO, &head, "ci", "success", "ci-service");
    assert_eq!(
        merge(&client, number, json!({"merge_method": "squash"}))
            .await
            .status,
        200
    );
    assert_eq!(
        merge(&client, number, json!({})).await.status,
        405,
        "already merged"
    );
    github.assert_no_violations();
}

#[tokio::test]
async fn a_branch_behind_its_base_is_updated_with_the_expected_head() {
    let (github, client, number, head) = opened().await;
    let path = format!("/repos/{REPO}/pulls/{number}/update-branch");
    assert_eq!(
        client.send("PUT", &path, json!({})).await.status,
        422,
        "nothing new on the base"
    );
    github.commit_on(REPO, "main", "news", &[FileSpec::added("news.md", "n\n")]);
    let compare = format!("/repos/{REPO}/compare/main...{head}");
    let seen = client.get(&compare).await;
    assert_eq!(
        (&seen.json["behind_by"], &seen.json["status"]),
        (&1.into(), &"diverged".into())
    );
    assert_eq!(
        client
            .send("PUT", &path, json!({"expected_head_sha": "0".repeat(40)}))
            .await
            .status,
        422
    );
    assert_eq!(
        client
            .send("PUT", &path, json!({"expected_head_sha": head}))
            .await
            .status,
        202
    );
    let new = github.pull(REPO, number).head_sha;
    assert_eq!(github.commit(REPO, &new).0.len(), 2);
    assert_eq!(
        client
            .get(&format!("/repos/{REPO}/compare/main...{new}"))
            .await
            .json["behind_by"],
        0
    );
    github.assert_no_violations();
}

#[tokio::test]
async fn a_rebase_puts_each_commit_on_the_base_by_itself() {
    let (github, client) = ready().await;
    let spec = PullSpec::new("change")
        .commits(["First half", "Second half"])
        .file(FileSpec::added("src/a.rs", "new\n"));
    let number = github.open_pull(REPO, &spec);
    let tip = github.branch_tip(REPO, "main");
    let got = merge(&client, number, json!({"merge_method": "rebase"})).await;
    assert_eq!(got.status, 200, "{}", got.text);
    let last = github.branch_tip(REPO, "main");
    assert_eq!(got.json["sha"], json!(last));
    let (parents, message) = github.commit(REPO, &last);
    assert_eq!(message, "Second half");
    let (before, message) = github.commit(REPO, &parents[0]);
    assert_eq!((before, message.as_str()), (vec![tip], "First half"));
    let path = format!("/repos/{REPO}/commits/{}/pulls", parents[0]);
    assert_eq!(client.get(&path).await.json[0]["number"], number);
    github.assert_no_violations();
}

#[tokio::test]
async fn trees_are_named_by_what_they_hold() {
    let (github, client) = ready().await;
    let before = github.branch_tip(REPO, "main");
    let files = [FileSpec::added("src/deep/a.rs", "a\n")];
    let after = github.commit_on(REPO, "main", "Add", &files);
    let tree_of = async |sha: &str| {
        let path = format!("/repos/{REPO}/git/commits/{sha}");
        client.get(&path).await.json["tree"]["sha"].clone()
    };
    let (old, new) = (tree_of(&before).await, tree_of(&after).await);
    assert_ne!(old, new);
    let path = format!("/repos/{REPO}/git/trees");
    let entry = json!({"path": "src/deep/a.rs", "mode": "100644", "type": "blob", "sha": null});
    let body = json!({"base_tree": new, "tree": [entry]});
    let made = client.send("POST", &path, body).await;
    assert_eq!(
        made.json["sha"], old,
        "without the file it is the tree before"
    );

    let listed = client
        .get(&format!(
            "{path}/{}?recursive=1",
            new.as_str().expect("a SHA")
        ))
        .await;
    let paths: Vec<_> = listed.json["tree"]
        .as_array()
        .expect("entries")
        .iter()
        .map(|entry| (entry["path"].clone(), entry["type"].clone()))
        .collect();
    assert!(
        paths.contains(&(json!("src/deep/a.rs"), json!("blob"))),
        "{paths:?}"
    );
    assert!(
        paths.contains(&(json!("src/deep"), json!("tree"))),
        "{paths:?}"
    );
    github.assert_no_violations();
}
