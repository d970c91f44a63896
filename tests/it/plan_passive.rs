//! When B and C Issues close by themselves, as data.

use quadgate::domain::*;
use quadgate::inbox::{Comment, Edit, Place, Speaker};
use quadgate::plan::render::Language;
use quadgate::plan::{PassiveInput, passive_close};
use quadgate::policy::Owners;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    id: String,
    opened_at: Timestamp,
    now: Timestamp,
    comments: Known<Vec<Said>>,
    close: bool,
    #[serde(default = "audit_b")]
    kind: IssueKind,
    hours: Option<u64>,
}

#[derive(Deserialize)]
struct Said {
    login: Option<String>,
    id: AccountId,
    #[serde(rename = "type")]
    kind: AccountType,
    body: String,
}

fn audit_b() -> IssueKind {
    IssueKind::AuditB
}

#[test]
fn issues_close_when_their_time_has_come_and_no_owner_spoke() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("data/plan/passive_close.json")).unwrap();
    let owners = Owners {
        logins: vec!["octo-owner".into()],
        pinned: vec![("octo-owner".into(), AccountId(1001))],
    };
    for case in cases {
        let issue = IssueRef {
            repo: RepoRef {
                id: RepoId(7),
                name: "octo-org/widgets".parse().unwrap(),
                installation: InstallationId(1),
            },
            number: IssueNumber(80),
            kind: case.kind,
            key: "k".into(),
            head_sha: "a".repeat(40).parse().unwrap(),
            nonce: None,
            opened_at: case.opened_at,
        };
        let comments = match case.comments {
            Known::Known(said) => Known::Known(said.into_iter().map(comment).collect()),
            Known::Unknown(cause) => Known::Unknown(cause),
        };
        let closes = passive_close(PassiveInput {
            issue: &issue,
            comments: &comments,
            owners: &owners,
            // 0 in a case: configured to stay open.
            hours: Some(case.hours.unwrap_or(168)).filter(|hours| *hours > 0),
            now: case.now,
            language: Language::En,
        });
        assert_eq!(closes.is_some(), case.close, "{}", case.id);
        if let Some(Effect::CloseIssue { comment, .. }) = closes {
            assert_eq!(comment.map(|comment| comment.mode), Some(CommentMode::Once));
        }
    }
}

fn comment(said: Said) -> Comment {
    Comment {
        body: Some(said.body),
        author: said.login.map(|login| Speaker {
            login,
            id: Some(said.id),
            kind: said.kind,
        }),
        edit: Edit::Never,
        on: Place::AuditIssue,
    }
}
