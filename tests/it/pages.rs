//! The admin pages through their own listener: what is shown, to whom, with which headers, and what is refused.

use crate::journey::spec_of;
use crate::merging::{merging, ripe, signed};
use crate::world::{INBOX, REPO, World};
use fake_github::{FileSpec, PullSpec};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// An answer of the listener.
pub struct Page {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: String,
}

impl Page {
    pub fn header(&self, name: &str) -> &str {
        self.all(name).first().copied().unwrap_or("")
    }

    pub fn all(&self, name: &str) -> Vec<&str> {
        let named = self.headers.iter().filter(|(key, _)| key == name);
        named.map(|(_, value)| value.as_str()).collect()
    }

    #[track_caller]
    pub fn shows(&self, text: &str) -> &Self {
        assert!(
            self.body.contains(text),
            "no `{text}` in ({}):\n{}",
            self.status,
            self.body
        );
        self
    }

    #[track_caller]
    pub fn hides(&self, text: &str) -> &Self {
        assert!(
            !self.body.contains(text),
            "`{text}` in ({}):\n{}",
            self.status,
            self.body
        );
        self
    }
}

/// One request; headers as they are given, `Host` too.
pub async fn ask(
    at: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Page {
    let mut text = format!(
        "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        write!(text, "{name}: {value}\r\n").expect("a string");
    }
    write!(text, "\r\n{body}").expect("a string");
    let mut stream = tokio::net::TcpStream::connect(at).await.expect("listens");
    stream.write_all(text.as_bytes()).await.expect("sends");
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer);
    tokio::time::timeout(Duration::from_secs(20), read)
        .await
        .expect("in time")
        .expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let mut lines = head.lines();
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .expect("a status");
    Page {
        status: status.parse().expect("a number"),
        headers: lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect(),
        body: body.to_owned(),
    }
}

async fn get(world: &World, path: &str) -> Page {
    let at = world.app().admin.expect("admin pages");
    ask(at, "GET", path, &[("Host", "localhost")], "").await
}

/// A D pull request with a title and a path that would be markup, judged and asked about.
pub async fn hostile(world: &World) -> u64 {
    let spec = PullSpec::new("<script>alert(1)</script> \u{202e}gpj")
        .author("octo-dev")
        .file(FileSpec::added(
            ".github/workflows/<img src=x>.yml",
            "on: push\n",
        ));
    let number = world.github.open_pull(REPO, &spec);
    world.settle().await;
    number
}

/// The Issue with the one open question.
fn asked(world: &World) -> u64 {
    let mut open = world.github.open_issues(INBOX);
    open.retain(|issue| {
        issue
            .labels
            .iter()
            .any(|label| label == "decision:pending-owner")
    });
    assert_eq!(open.len(), 1, "{open:?}");
    open[0].number
}

#[tokio::test]
async fn a_pending_decision_is_in_the_inbox_and_on_its_page_with_every_vote_and_file() {
    let world = World::start().await;
    let number = hostile(&world).await;
    world.advance(Duration::from_secs(3 * 3_600));

    let inbox = get(&world, "/inbox").await;
    inbox
        .shows("1 decision waits")
        .shows("3 hours")
        .shows(&format!("{INBOX}#1 on GitHub"));
    inbox.shows(&format!("/pulls/{REPO}/{number}"));

    let page = get(&world, &format!("/pulls/{REPO}/{number}")).await;
    page.shows(r#"<td class="verdict qd"><b>D</b><span>the verdict</span></td>"#);
    page.shows("path_classifier_default")
        .shows("facts_incomplete");
    page.shows("1 file")
        .shows("irreversible: .github/workflows/**");
    page.shows("An owner must answer").shows("octo-dev");
    let entry = world.log_of("classification")[0].clone();
    let hash = entry["hash"]
        .as_str()
        .expect("a hash")
        .trim_start_matches("sha256:");
    page.shows(&format!("/audit/{}/{hash}", entry["seq"]));

    for shown in [
        &inbox,
        &page,
        &get(&world, "/audit").await,
        &get(&world, "/audit/1").await,
    ] {
        assert_eq!(shown.status, 200);
        shown.hides("<script>").hides("<img").hides("\u{202e}");
    }
    page.shows("&lt;script&gt;alert(1)&lt;/script&gt; \\u{202e}gpj")
        .shows("&lt;img src=x&gt;.yml");
    world.assert_clean().await;
}

#[tokio::test]
async fn a_page_tells_the_answer_the_merge_and_earlier_heads() {
    let world = merging().await;
    let number = ripe(&world, &signed('B')).await;
    world.settle().await;
    let merged = get(&world, &format!("/pulls/{REPO}/{number}")).await;
    merged.shows("Merge ordered").shows("into main (direct)");
    merged
        .shows("Merged as <code>")
        .shows("Its checks are watched until");

    let number = hostile(&world).await;
    world
        .github
        .as_user("octo-owner")
        .comment(INBOX, asked(&world), "/approve A");
    world.settle().await;
    let answered = get(&world, &format!("/pulls/{REPO}/{number}")).await;
    answered.shows("approved as proposed").shows("octo-owner");
    let seq = world.log_of("classification").last().expect("an entry")["seq"].clone();
    let first = get(&world, &format!("/pulls/{REPO}/{number}?entry={seq}")).await;
    assert_eq!(first.status, 200);
    // An entry of another pull request is none of this one.
    assert_eq!(
        get(&world, &format!("/pulls/{REPO}/{number}?entry=1"))
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn without_its_files_a_decision_is_still_shown() {
    let mut world = World::arranged().await;
    world.server_lines = "retention:\n  decision_days: 0\n".to_owned();
    world.serve().await.expect("starts");
    let number = world.github.open_pull(REPO, &spec_of('A'));
    world.settle().await;
    let page = get(&world, &format!("/pulls/{REPO}/{number}")).await;
    page.shows("no longer kept")
        .shows(r#"<td class="verdict qa">"#)
        .shows("path_classifier_default");
}

#[tokio::test]
async fn a_question_that_stands_in_no_issue_waits_in_the_inbox_too() {
    let world = World::start().await;
    world.github.set_has_issues(INBOX, false);
    let number = hostile(&world).await;
    let inbox = get(&world, "/inbox").await;
    inbox
        .shows("1 decision waits")
        .shows("No Issue could be opened")
        .shows(&format!("{REPO}#{number}"));
}

#[tokio::test]
async fn the_search_narrows_pages_and_says_what_is_wrong() {
    let world = World::start().await;
    for quadrant in ['A', 'B', 'C', 'D'].iter().cycle().take(36) {
        world.github.open_pull(REPO, &spec_of(*quadrant));
    }
    world.settle().await;
    let all = world.log().len();
    assert!(all > 50, "{all} entries");
    let rows = |page: &Page| page.body.matches("<li><div class=\"line\">").count();

    let first = get(&world, "/audit").await;
    assert_eq!(rows(&first), 50);
    first.shows(&format!(">#{all}</a>")).shows("Older entries");
    let before = all - 49;
    first.shows(&format!("/audit?before={before}"));
    let second = get(&world, &format!("/audit?before={before}")).await;
    assert_eq!(rows(&second), all - 50);
    second
        .shows("back to the beginning")
        .hides("Older entries")
        .hides(&format!(">#{before}</a>"));

    let classified = |quadrant: char| {
        let of = move |entry: &&serde_json::Value| entry["quadrant"] == quadrant.to_string();
        world.log_of("classification").iter().filter(of).count()
    };
    let ds = get(&world, "/audit?quadrant=D&kind=classification").await;
    assert_eq!(rows(&ds), classified('D'));
    for (query, wanted) in [
        ("repo=OCTO-ORG%2Fwidgets&pull=1", true),
        ("repo=octo-org%2Fother", false),
        ("rule=path_classifier_default", true),
        ("rule=empty_pr", false),
        ("actor=nobody", false),
        ("text=WORKFLOWS%2F", true),
        ("text=rules_fired", false),
        ("text=no+such+words", false),
        ("from=2026-01-05&to=2026-01-05", true),
        ("from=2026-01-06", false),
        ("to=2026-01-04", false),
    ] {
        let page = get(&world, &format!("/audit?{query}")).await;
        assert_eq!((page.status, rows(&page) > 0), (200, wanted), "{query}");
    }
    let wrong = get(
        &world,
        "/audit?repo=%22%3E%3Cscript%3E&quadrant=E&from=soon&pull=x&before=y",
    )
    .await;
    assert_eq!(wrong.status, 400);
    wrong
        .shows("Write it as owner/name.")
        .shows("Choose A, B, C or D.")
        .shows("aria-invalid=\"true\"")
        .hides("<script>");
    assert_eq!(get(&world, "/audit?text=%ff").await.status, 200);
}

#[tokio::test]
async fn an_entry_has_a_permalink_that_notices_another_hash() {
    let world = World::start().await;
    hostile(&world).await;
    let hash = world.log()[0]["hash"].as_str().expect("a hash").to_owned();
    let right = get(
        &world,
        &format!("/audit/1/{}", hash.trim_start_matches("sha256:")),
    )
    .await;
    right
        .shows("is the hash of what is written")
        .hides("another entry")
        .shows("Entry 2");
    get(&world, "/audit/1/0000000000")
        .await
        .shows("another entry");
    for nothing in [
        "/audit/0",
        "/audit/999",
        "/audit/x",
        "/audit/18446744073709551616",
        "/pulls/a/b/1",
        "/pulls/a/b/x",
        "/x",
    ] {
        assert_eq!(get(&world, nothing).await.status, 404, "{nothing}");
    }
    // The line is edited behind the server's back.
    let file = world.dir.path().join("bot-state/classifier_audit.jsonl");
    let text = std::fs::read_to_string(&file).expect("the log");
    std::fs::write(&file, text.replacen("octo-dev", "octo-dav", 1)).expect("edited");
    get(&world, "/audit/1")
        .await
        .shows("is not the hash of what is written");
}

#[tokio::test]
async fn the_overview_counts_what_was_decided_and_approved_at_once() {
    let world = World::start().await;
    for quadrant in ['A', 'B', 'C'] {
        world.github.open_pull(REPO, &spec_of(quadrant));
    }
    hostile(&world).await;
    world.advance(Duration::from_secs(12));
    world
        .github
        .as_user("octo-owner")
        .comment(INBOX, asked(&world), "/approve A");
    world.settle().await;
    let page = get(&world, "/").await;
    page.shows("Nothing waits for an owner")
        .shows("4 decisions in 30 days");
    page.shows("of 1 answer within 30 s")
        .shows("<svg viewBox")
        .shows("<caption>Decisions a day by quadrant");
    assert_eq!(
        page.body.matches("<rect class=\"qd\" x=\"").count(),
        2,
        "one in the plot, one in the mark"
    );
    get(&world, "/?days=7").await.shows("in 7 days");
    get(&world, "/?days=4000000000").await.shows("in 30 days");
}

#[tokio::test]
async fn every_answer_has_the_headers_and_no_script_whatever_is_asked() {
    let world = World::start().await;
    hostile(&world).await;
    let at = world.app().admin.expect("admin pages");
    for path in [
        "/",
        "/inbox",
        "/audit",
        "/audit/1",
        "/no",
        "/style.css",
        "/icon.svg",
        "/audit?repo=x",
    ] {
        let page = get(&world, path).await;
        let policy = page.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; style-src 'self'"),
            "{path}: {policy}"
        );
        assert!(
            !policy.contains("script") && !policy.contains("unsafe"),
            "{path}: {policy}"
        );
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(page.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(page.header("referrer-policy"), "no-referrer", "{path}");
        let kept = path == "/style.css" || path == "/icon.svg";
        assert_eq!(page.header("cache-control") == "no-store", !kept, "{path}");
        page.hides(" style=")
            .hides("<script")
            .hides("javascript:")
            .hides(" onclick");
    }
    let post = ask(at, "POST", "/inbox", &[("Host", "localhost")], "").await;
    assert_eq!(post.status, 405);
    assert_eq!(post.header("x-frame-options"), "DENY");
    // What was there before the pages stays as it was.
    get(&world, "/healthz").await.shows("ok");
    get(&world, "/metrics").await.shows("quadgate_");
}

#[tokio::test]
async fn another_host_name_is_not_answered() {
    let mut world = World::arranged().await;
    world.server_lines = "admin_url: https://gate.example.com\n".to_owned();
    world.serve().await.expect("starts");
    let number = hostile(&world).await;
    let at = world.app().admin.expect("admin pages");
    for (host, status) in [
        ("localhost:3001", 200),
        ("127.0.0.1", 200),
        ("[::1]:3001", 200),
        ("Gate.Example.com", 200),
        ("evil.example", 421),
        ("gate.example.com.evil.example", 421),
        ("10.0.0.7:3001", 421),
    ] {
        let page = ask(at, "GET", "/inbox", &[("Host", host)], "").await;
        assert_eq!(page.status, status, "{host}");
        if status == 421 {
            page.hides(REPO);
            assert_eq!(page.header("x-frame-options"), "DENY");
        }
    }
    // The check-run's "Details" lead to the decision page there.
    let details = world.check(number).details_url;
    assert_eq!(
        details.as_deref(),
        Some(format!("https://gate.example.com/pulls/{REPO}/{number}").as_str())
    );
}

#[tokio::test]
async fn switched_off_there_are_no_pages_and_no_address_of_them() {
    let mut world = World::arranged().await;
    world.server_lines = "admin_pages: false\nadmin_url: https://gate.example.com\n".to_owned();
    world.serve().await.expect("starts");
    let number = hostile(&world).await;
    assert_eq!(get(&world, "/inbox").await.status, 404);
    get(&world, "/healthz").await.shows("ok");
    let details = world.check(number).details_url;
    assert!(!details.is_some_and(|url| url.contains("gate.example.com")));
}
