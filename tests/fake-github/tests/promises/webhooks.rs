//! What happens is announced, signed, and can be repeated.

use crate::caller::{Client, REPO, good_jwt, ready};
use fake_github::{FileSpec, PullSpec, sign};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

#[tokio::test]
async fn deliveries_are_signed_over_their_bytes_and_carry_the_usual_headers() {
    let (github, _) = ready().await;
    github.open_pull(
        REPO,
        &PullSpec::new("p")
            .label("bug")
            .file(FileSpec::added("a", "x\n")),
    );
    let sent = github.deliveries();
    let names: Vec<String> = sent.iter().map(fake_github::WebhookRequest::name).collect();
    assert_eq!(
        names,
        [
            "push",
            "check_suite.requested",
            "pull_request.opened",
            "pull_request.labeled"
        ]
    );
    for webhook in &sent {
        let header = |name: &str| {
            webhook
                .headers
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.clone())
        };
        assert_eq!(
            header("x-hub-signature-256"),
            Some(sign("test-webhook-secret", &webhook.body))
        );
        assert_eq!(header("x-github-delivery"), Some(webhook.guid.clone()));
        assert_eq!(header("x-github-event"), Some(webhook.event.clone()));
        let payload = webhook.json();
        assert!(payload["installation"]["id"].is_u64() && payload["sender"]["login"].is_string());
        assert_eq!(payload["repository"]["full_name"], REPO);
    }
    assert_eq!(
        sign("key", b"The quick brown fox jumps over the lazy dog"),
        "sha256=f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"
    );
    assert!(github.deliveries().is_empty(), "taken once");
}

#[tokio::test]
async fn people_act_and_the_sender_tells_who_edited() {
    let (github, _) = ready().await;
    let owner = github.as_user("octo-owner");
    let number = owner.open_issue(REPO, "t", "b");
    let comment = owner.comment(REPO, number, "/approve A");
    github
        .as_user("mallory")
        .edit_comment(REPO, comment, "/approve B");
    owner.react(REPO, number, "+1");
    owner.close(REPO, number);
    owner.reopen(REPO, number);
    let sent = github.deliveries();
    let names: Vec<String> = sent.iter().map(fake_github::WebhookRequest::name).collect();
    assert_eq!(
        names,
        [
            "issues.opened",
            "issue_comment.created",
            "issue_comment.edited",
            "issues.closed",
            "issues.reopened"
        ]
    );
    let edited = sent[2].json();
    assert_eq!(
        (
            &edited["sender"]["login"],
            &edited["comment"]["user"]["login"]
        ),
        (&"mallory".into(), &"octo-owner".into())
    );
    assert_eq!(edited["changes"]["body"]["from"], "/approve A");
    assert_eq!(
        github.comments(REPO, number)[0].last_editor.as_deref(),
        Some("mallory")
    );
}

#[tokio::test]
async fn a_failed_delivery_is_listed_and_redelivered_under_its_guid() {
    let (github, _) = ready().await;
    github.as_user("octo-owner").open_issue(REPO, "t", "b");
    let first = github.deliveries().remove(0);
    github.record_delivery(first.delivery_id, 503);
    let app = Client::new(&github, Some(&good_jwt()));
    let listed = app
        .get("/app/hook/deliveries?per_page=1&status=failure")
        .await;
    assert_eq!(
        (&listed.json[0]["guid"], &listed.json[0]["status_code"]),
        (&first.guid.clone().into(), &503.into())
    );
    let again = app
        .send(
            "POST",
            &format!("/app/hook/deliveries/{}/attempts", first.delivery_id),
            json!({}),
        )
        .await;
    assert_eq!(again.status, 202);
    let second = github.deliveries().remove(0);
    assert_eq!((second.guid, second.body), (first.guid, first.body));
    assert_ne!(second.delivery_id, first.delivery_id);
    github.assert_no_violations();
}

#[tokio::test]
async fn they_are_posted_in_order_and_by_themselves_when_asked() {
    let (github, _) = ready().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!(
        "http://{}/webhook",
        listener.local_addr().expect("an address")
    );
    let receiver = tokio::spawn(async move {
        let mut events = Vec::new();
        while events.len() < 3 {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let text = read_request(&mut stream).await;
            let event = text
                .lines()
                .find_map(|line| line.strip_prefix("x-github-event: "))
                .expect("the event");
            events.push(event.to_owned());
            let status = if events.len() == 2 {
                "503 Busy"
            } else {
                "202 Accepted"
            };
            stream
                .write_all(
                    format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                        .as_bytes(),
                )
                .await
                .expect("sent");
        }
        events
    });
    let owner = github.as_user("octo-owner");
    let number = owner.open_issue(REPO, "t", "b");
    owner.comment(REPO, number, "c");
    let sent = github.deliver_all(&url).await;
    assert_eq!(
        sent.iter().map(|(_, status)| *status).collect::<Vec<_>>(),
        [202, 503]
    );
    github.set_webhook_url(&url);
    github.auto_deliver(true);
    owner.close(REPO, number);
    assert_eq!(
        receiver.await.expect("three deliveries"),
        ["issues", "issue_comment", "issues"]
    );
}

#[tokio::test]
async fn a_merge_group_and_a_repository_rename_are_announced() {
    let (github, _) = ready().await;
    let number = github.open_pull(REPO, &PullSpec::new("p").file(FileSpec::added("a", "x\n")));
    github.drop_deliveries();
    let head = github.merge_group(REPO, "main", &[number]);
    github.rename_repo(REPO, "gadgets");
    github.transfer_repo("octo-org/gadgets", "octo-org");
    let sent = github.deliveries();
    let names: Vec<String> = sent.iter().map(fake_github::WebhookRequest::name).collect();
    assert_eq!(
        names,
        [
            "merge_group.checks_requested",
            "repository.renamed",
            "repository.transferred"
        ]
    );
    assert_eq!(
        sent[0].json()["merge_group"]["head_sha"].as_str(),
        Some(head.as_str())
    );
}

/// The whole request: closing with bytes unread would reset the connection under the answer.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    loop {
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if length.is_none_or(|length| body.len() >= length.parse().expect("a length")) {
                return text;
            }
        }
        let mut part = vec![0; 65_536];
        let read = stream.read(&mut part).await.expect("bytes");
        assert!(read > 0, "the request ended early: {text}");
        text += &String::from_utf8_lossy(&part[..read]);
    }
}
