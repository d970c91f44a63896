//! What must hold for any bytes; shared by the fuzz targets and the bounded run on the stable compiler.

use quadgate::domain::{AccountType, AppId, PullNumber, Quadrant, RepoId};
use quadgate::evidence::{
    Context as Known, Disposition, Language, Ledger, Risk, json, judge, markdown,
};
use quadgate::inbox::{self, Comment, Edit, Place, ReceiptKey, Speaker};
use quadgate::policy::Owners;
use quadgate::server::{self, Context, Event, Merges, Standing};
use std::sync::Arc;

/// A comment is read without a panic, and a reading that answers needs one of our words in it.
pub fn command(bytes: &[u8]) {
    let body = String::from_utf8_lossy(bytes).into_owned();
    let says = body.to_ascii_lowercase();
    let comment = Comment {
        body: Some(body),
        author: Some(Speaker {
            login: "octo-owner".to_owned(),
            id: None,
            kind: AccountType::User,
        }),
        edit: Edit::Never,
        on: Place::PendingIssue,
    };
    let owners = Owners {
        logins: vec!["octo-owner".to_owned()],
        pinned: Vec::new(),
    };
    let read = inbox::read(&comment, &owners);
    if read.reading.choice().is_some() {
        assert!(says.contains("approve") || says.contains("/reject"));
    }
}

/// No text that this server has not sealed is a ballot.
pub fn marker(bytes: &[u8]) {
    let Ok(key) = ReceiptKey::new(&[7; 32]) else {
        return;
    };
    let body = String::from_utf8_lossy(bytes);
    let sealed = inbox::verify(&body, &key, RepoId(1), PullNumber(2), None);
    assert!(sealed.is_err());
}

/// A ledger in any form is read, judged and written without a panic, and what is written is read back as the same.
pub fn ledger(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let read = markdown::read(&text);
    judged(&read);
    for language in [Language::En, Language::Ko] {
        written_and_read_back(&read, language);
    }
    let as_json = json::write(&read).map(|text| json::read(&text));
    assert!(matches!(as_json, Ok(Ok(same)) if same == read));
    if let Ok(read) = json::read(&text) {
        written_and_read_back(&read, Language::Ko);
        judged(&read);
    }
}

fn written_and_read_back(ledger: &Ledger, language: Language) {
    let written = markdown::write(ledger, language);
    assert_eq!(&markdown::read(&written), ledger, "{written}");
}

/// Completion is never carried by nothing, and no text authorizes a path that leaves the repository.
fn judged(ledger: &Ledger) {
    let known = Known {
        quadrant: Some(Quadrant::D),
        high_risk_domains: &["payments"],
        changed_files: None,
        committed_path: Some("docs/evidence-gated/x.md"),
    };
    let judgement = judge(ledger, &known);
    assert_eq!(judgement.risk, Risk::High);
    let findings = &judgement.findings;
    assert!(findings.iter().all(|one| one.line >= 1 && one.column >= 1));
    if judgement.effective == Disposition::Complete {
        assert!(!judgement.mandatory_verifications.is_empty());
        assert!(ledger.checkpoint.is_some() && ledger.records.is_some());
    }
    let known = Known {
        changed_files: Some(&["src/../../x", "src/a.rs"]),
        ..known
    };
    let judgement = judge(ledger, &known);
    assert!(
        judgement
            .outside_scope
            .iter()
            .any(|path| path == "src/../../x")
    );
    assert_eq!(judgement.effective, Disposition::BlockedClarification);
}

/// A payload of any event is read without a panic.
pub fn payload(bytes: &[u8]) {
    let context = Context {
        own_app: AppId(1),
        supervision: Arc::new(|_| Standing {
            supervised: true,
            watched: true,
            inbox: true,
            // Everything that can be asked for is asked for.
            merges: Merges::IntoDefault,
            required_checks: Vec::new(),
        }),
    };
    let (first, body) = bytes.split_first().unwrap_or((&0, &[]));
    let names = [
        "pull_request",
        "check_run",
        "check_suite",
        "issue_comment",
        "issues",
        "merge_group",
        "installation",
        "installation_repositories",
        "repository",
    ];
    let name = names.get(usize::from(*first) % names.len()).copied();
    let _ = server::read(Event::from_name(name.unwrap_or("push")), body, &context);
}
