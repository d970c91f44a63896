//! Lists: pages, links, and the ends that GitHub does not mention.

use crate::caller::{Client, REPO, ready};
use fake_github::{FileSpec, PullSpec};

async fn all(client: &Client, first: &str) -> (usize, usize) {
    let (mut path, mut rows, mut pages) = (first.to_owned(), 0, 0);
    loop {
        let got = client.get(&path).await;
        assert_eq!(got.status, 200, "{}", got.text);
        rows += got.json.as_array().expect("a list").len();
        pages += 1;
        let link = got.headers.get("link").cloned().unwrap_or_default();
        let Some(next) = link.split(", ").find(|part| part.ends_with("rel=\"next\"")) else {
            return (rows, pages);
        };
        let url = next
            .trim_start_matches('<')
            .split('>')
            .next()
            .expect("a URL");
        assert!(url.starts_with("http://127.0.0.1:"), "absolute: {url}");
        path = url
            .splitn(4, '/')
            .nth(3)
            .map(|rest| format!("/{rest}"))
            .expect("a path");
    }
}

#[tokio::test]
async fn files_come_a_hundred_a_page_and_end_at_three_thousand() {
    let (github, client) = ready().await;
    let files = (0..3001).map(|n| FileSpec::listed(&format!("f{n}"), "added", 1, 0, None));
    let number = github.open_pull(REPO, &PullSpec::new("big").files(files));
    let path = format!("/repos/{REPO}/pulls/{number}");
    assert_eq!(client.get(&path).await.json["changed_files"], 3001);
    assert_eq!(
        all(&client, &format!("{path}/files?per_page=100")).await,
        (3000, 30)
    );
    assert_eq!(
        client
            .get(&format!("{path}/files"))
            .await
            .json
            .as_array()
            .map(Vec::len),
        Some(30)
    );
    github.assert_no_violations();
}

#[tokio::test]
async fn commits_end_at_two_hundred_and_fifty() {
    let (github, client) = ready().await;
    let spec = PullSpec::new("long")
        .commits((0..251).map(|n| format!("commit {n}")))
        .file(FileSpec::added("a", "x\n"));
    let number = github.open_pull(REPO, &spec);
    let path = format!("/repos/{REPO}/pulls/{number}");
    assert_eq!(client.get(&path).await.json["commits"], 251);
    assert_eq!(
        all(&client, &format!("{path}/commits?per_page=100")).await,
        (250, 3)
    );
    github.assert_no_violations();
}

#[tokio::test]
async fn a_page_size_above_a_hundred_is_a_violation() {
    let (github, client) = ready().await;
    assert_eq!(
        client
            .get(&format!("/repos/{REPO}/pulls?per_page=101"))
            .await
            .status,
        422
    );
    assert!(
        github.violations()[0].contains("per_page=101"),
        "{:?}",
        github.violations()
    );
}

#[tokio::test]
async fn counts_can_lie() {
    let (github, client) = ready().await;
    let number = github.open_pull(
        REPO,
        &PullSpec::new("liar").file(FileSpec::added("a", "x\n")),
    );
    github.lie_about_files(REPO, number, Some(7));
    github.lie_about_commits(REPO, number, Some(9));
    let got = client.get(&format!("/repos/{REPO}/pulls/{number}")).await;
    assert_eq!(
        (&got.json["changed_files"], &got.json["commits"]),
        (&7.into(), &9.into())
    );
}
