//! Journeys through the planner: what was planned is carried out in the simplest way, and planned again.

use super::*;
use crate::domain::*;
use crate::inbox::{
    self, Answer, Ballot, Comment, Edit, MarkerError, Place, ReceiptKey, Resolved as Heard, Sealed,
    Signal, Speaker,
};
use crate::plan::render::{IssueOutcome, Language, finish_check_run};
use crate::policy::Owners;
use crate::rules::{Because, FileRow, Finding, RuleName, RuleReport, Verdict};

fn sha(digit: char) -> Sha {
    digit.to_string().repeat(40).parse().unwrap()
}

fn repo() -> RepoRef {
    RepoRef {
        id: RepoId(7),
        name: "octo-org/widgets".parse().unwrap(),
        installation: InstallationId(1),
    }
}

fn row(path: &str, ir: Reversibility, cr: Criticality) -> FileRow {
    FileRow {
        path: path.into(),
        previous_path: None,
        status: "modified".into(),
        axes: Axes { ir, cr },
        ir_because: Because("pattern".into()),
        cr_because: Because("list".into()),
    }
}

/// A verdict of this quadrant by one file, beside a harmless one.
pub(super) fn verdict(quadrant: Quadrant) -> Verdict {
    use Criticality::{Critical, NonCritical};
    use Reversibility::{Irreversible, Reversible};
    let (ir, cr) = match quadrant {
        Quadrant::A => (Reversible, NonCritical),
        Quadrant::B => (Reversible, Critical),
        Quadrant::C => (Irreversible, NonCritical),
        Quadrant::D => (Irreversible, Critical),
    };
    let axes = Axes { ir, cr };
    let files = vec![
        row("README.md", Reversible, NonCritical),
        row("src/gate.rs", ir, cr),
    ];
    let path_rule = RuleReport {
        rule: RuleName::built_in("path_classifier_default"),
        finding: Finding::Axes {
            axes,
            quadrant: axes.quadrant(),
        },
    };
    let empty = RuleReport {
        rule: RuleName::built_in("empty_pr"),
        finding: Finding::NoMatch {
            matched: false,
            reason: None,
        },
    };
    Verdict::for_tests(vec![path_rule, empty], files, "src/gate.rs modified")
}

pub(super) fn facts(head: char, base: &str) -> Facts {
    serde_json::from_value(serde_json::json!({
        "repo": "octo-org/widgets", "repo_id": 7, "number": 12, "author": "octocat", "base_ref": base,
        "base_sha": "0".repeat(40), "head_sha": head.to_string().repeat(40), "changed_files": 2, "commit_count": 1,
    }))
    .unwrap()
}

pub(super) fn key() -> ReceiptKey {
    ReceiptKey::new(&[7; 32]).unwrap()
}

fn answered(answer: &Answer) -> inbox::Resolution {
    inbox::Resolution {
        outcome: Heard::Answer(answer.clone()),
        clarify: vec![],
        impostors: vec![],
        ignored: 0,
    }
}

/// One pull request, its state, and what stands on GitHub.
struct World {
    state: Option<PullState>,
    seq: u64,
    open: Vec<(IssueNumber, OpenIssueEffect)>,
    issues_on: bool,
    retry: bool,
    language: Language,
    next_issue: u64,
}

impl World {
    fn new() -> Self {
        Self {
            state: None,
            seq: 0,
            open: vec![],
            issues_on: true,
            retry: false,
            language: Language::En,
            next_issue: 100,
        }
    }

    fn plan(&self, quadrant: Quadrant, head: char, base: &str, answer: Option<&Answer>) -> Plan {
        let (repo, key) = (repo(), key());
        evaluation(&EvaluationInput {
            prior: self.state.as_ref(),
            repo: &repo,
            facts: &facts(head, base),
            verdict: &verdict(quadrant),
            title: "Change the gate",
            url: "https://github.com/octo-org/widgets/pull/12",
            fingerprint: None,
            heard: answer.map(answered).as_ref(),
            shown: None,
            issue_lost: false,
            required_checks: &["ci / test".to_owned()],
            verifications: &[],
            evidence: None,
            issues: if self.issues_on {
                Issues::In(&repo)
            } else {
                Issues::Unavailable("Issues are switched off")
            },
            retry_refused: self.retry,
            closed_by_hand: false,
            has_label: &|_, _| false,
            language: self.language,
            passive_close_hours: Some(168),
            policy: "sha256:0",
            now: Timestamp::from_millis(0),
            nonce: &format!("nonce{}", self.seq),
            key: &key,
            details_base: None,
            web_base: "https://github.com",
            delivery: None,
            version: "0.1.0",
        })
    }

    fn carry_out(&mut self, plan: &Plan) {
        let mut state = plan.state_after.clone();
        for _ in &plan.entries {
            self.seq += 1;
            state.witness = Some(Witness {
                seq: self.seq,
                hash: format!("sha256:{:064x}", self.seq),
            });
        }
        for effect in &plan.effects {
            let outcome = match effect {
                Effect::OpenIssue(issue) => {
                    self.next_issue += 1;
                    let number = IssueNumber(self.next_issue);
                    self.open.push((number, issue.clone()));
                    Outcome::Issue {
                        number,
                        opened_at: Timestamp::from_millis(0),
                        url: String::new(),
                    }
                }
                Effect::CloseIssue { number, .. } => {
                    let before = self.open.len();
                    self.open.retain(|(open, _)| open != number);
                    assert_eq!(self.open.len() + 1, before, "closed what was not open");
                    Outcome::Done
                }
                Effect::CheckRun(_) => Outcome::CheckRun { id: CheckRunId(5) },
                _ => Outcome::Done,
            };
            settle(&mut state, effect, &outcome);
        }
        self.state = Some(state);
        assert!(self.open.len() <= 1, "one open Issue a pull request");
    }

    /// Plans, carries out, and sees that nothing is left to do.
    fn evaluate(&mut self, quadrant: Quadrant, head: char, answer: Option<&Answer>) -> Plan {
        let plan = self.plan(quadrant, head, "main", answer);
        self.carry_out(&plan);
        for answer in [None, answer] {
            let again = self.plan(quadrant, head, "main", answer);
            assert!(again.is_empty(), "{again:#?}");
        }
        plan
    }

    fn answer(&self, body: &str, at: i64) -> Answer {
        let sealed: Result<Sealed, MarkerError> = match self.open.last() {
            Some((_, issue)) => inbox::verify(
                &issue.body,
                &key(),
                RepoId(7),
                PullNumber(12),
                issue.nonce.as_deref(),
            ),
            None => Err(MarkerError::Missing),
        };
        let owners = Owners {
            logins: vec!["octo-owner".into()],
            pinned: vec![("octo-owner".into(), AccountId(1001))],
        };
        let comment = Comment {
            body: Some(body.into()),
            author: Some(Speaker {
                login: "octo-owner".into(),
                id: Some(AccountId(1001)),
                kind: AccountType::User,
            }),
            edit: Edit::Never,
            on: Place::PendingIssue,
        };
        let signal = Signal::Comment {
            id: CommentId(u64::try_from(at).unwrap()),
            comment,
            created_at: Timestamp::from_millis(at),
            updated_at: Timestamp::from_millis(at),
        };
        let head = self.state.as_ref().unwrap().head_sha.clone();
        match inbox::resolve(&[signal], &owners, Ballot::Issue(&sealed), &head).outcome {
            Heard::Answer(answer) => answer,
            other => panic!("{other:?}"),
        }
    }
}

fn words(plan: &Plan) -> Vec<String> {
    plan.effects
        .iter()
        .map(|effect| match effect {
            Effect::EnsureLabel { label, .. } => format!("label {}", label.name),
            Effect::OpenIssue(issue) => format!("open {:?}", issue.kind),
            Effect::CloseIssue {
                number, comment, ..
            } => format!(
                "close {number}{}",
                if comment.is_some() {
                    " with comment"
                } else {
                    ""
                }
            ),
            Effect::AddLabels { labels, .. } => format!("add {}", labels.join(",")),
            Effect::RemoveLabel { label, .. } => format!("remove {label}"),
            Effect::Comment(_) => "comment".into(),
            Effect::CheckRun(check) => format!("check {:?}", check.conclusion.unwrap()),
            Effect::ClosePull { .. } => "close pull".into(),
            Effect::Merge(_) => "merge".into(),
            Effect::UpdateBranch { .. } => "update branch".into(),
            Effect::OpenRevert(_) => "revert".into(),
            Effect::EnableAutoMerge(_) => "enable auto-merge".into(),
            Effect::DisableAutoMerge { .. } => "disable auto-merge".into(),
            Effect::Enqueue { .. } => "enqueue".into(),
        })
        .collect()
}

#[test]
fn each_quadrant_does_what_the_table_says() {
    for (quadrant, expect) in [
        (Quadrant::A, vec!["check Success"]),
        (
            Quadrant::B,
            vec![
                "label decision:auto-approved-critical-reversible",
                "open AuditB",
                "check Success",
            ],
        ),
        (
            Quadrant::C,
            vec![
                "label decision:auto-approved-irreversible-non-critical",
                "open AuditC",
                "check Success",
            ],
        ),
        (
            Quadrant::D,
            vec![
                "label decision:pending-owner",
                "open PendingOwner",
                "check Failure",
            ],
        ),
    ] {
        let mut world = World::new();
        let plan = world.evaluate(quadrant, 'a', None);
        assert_eq!(words(&plan), expect);
        let kinds: Vec<_> = plan.entries.iter().map(|entry| entry.body.kind()).collect();
        let opens = usize::from(quadrant != Quadrant::A);
        assert_eq!(kinds, &["classification", "issue_opened"][..=opens]);
    }
}

#[test]
fn every_step_between_quadrants_leaves_one_issue_at_most() {
    for from in Quadrant::ALL {
        for to in Quadrant::ALL {
            let mut world = World::new();
            world.evaluate(from, 'a', None);
            let plan = world.evaluate(to, 'b', None);
            let opened = to != Quadrant::A && (to != from || to == Quadrant::D);
            let closed = from != Quadrant::A && (to != from || to == Quadrant::D);
            let said = words(&plan).join("; ");
            assert_eq!(said.contains("open "), opened, "{from} to {to}: {said}");
            assert_eq!(
                said.contains("close 101 with comment"),
                closed,
                "{from} to {to}: {said}"
            );
            assert_eq!(world.open.len(), usize::from(to != Quadrant::A));
            if let Some(issue) = &world.state.as_ref().unwrap().issue {
                assert_eq!(issue.head_sha, sha('b'));
            }
        }
    }
}

#[test]
fn the_old_issue_is_closed_last_and_names_the_new_decision() {
    let mut world = World::new();
    world.evaluate(Quadrant::D, 'a', None);
    let plan = world.evaluate(Quadrant::B, 'b', None);
    assert_eq!(
        words(&plan),
        [
            "label decision:auto-approved-critical-reversible",
            "open AuditB",
            "check Success",
            "close 101 with comment"
        ]
    );
    let Some(Effect::CloseIssue {
        comment: Some(comment),
        ..
    }) = plan.effects.last()
    else {
        panic!("{plan:?}");
    };
    assert!(comment.body.contains("**B**") && comment.body.contains(sha('b').as_str()));
}

#[test]
fn an_approval_opens_the_gate_for_this_head_only() {
    let mut world = World::new();
    world.evaluate(Quadrant::D, 'a', None);
    let answer = world.answer("/approve A", 5);
    let plan = world.evaluate(Quadrant::D, 'a', Some(&answer));
    assert_eq!(
        words(&plan),
        [
            "label decision:approved-A",
            "add decision:approved-A",
            "check Success",
            "close 101"
        ]
    );
    let kinds: Vec<_> = plan.entries.iter().map(|entry| entry.body.kind()).collect();
    assert_eq!(kinds, ["owner_answer", "issue_closed"]);
    let plan = world.evaluate(Quadrant::D, 'b', None);
    assert!(words(&plan).contains(&"check Failure".to_owned()));
    assert!(words(&plan).contains(&"open PendingOwner".to_owned()));
}

#[test]
fn an_approval_does_not_survive_another_base() {
    let mut world = World::new();
    world.evaluate(Quadrant::D, 'a', None);
    let answer = world.answer("/approve A", 5);
    world.evaluate(Quadrant::D, 'a', Some(&answer));
    let plan = world.plan(Quadrant::D, 'a', "release", Some(&answer));
    assert!(words(&plan).contains(&"check Failure".to_owned()));
    assert!(plan.state_after.answered.is_none());
}

#[test]
fn an_answer_that_arrives_with_another_question_does_not_count() {
    let mut world = World::new();
    world.evaluate(Quadrant::D, 'a', None);
    let answer = world.answer("/approve A", 5);
    let plan = world.plan(Quadrant::D, 'a', "release", Some(&answer));
    assert!(words(&plan).contains(&"check Failure".to_owned()));
    assert!(
        plan.entries
            .iter()
            .all(|entry| entry.body.kind() != "owner_answer")
    );
}

#[test]
fn deferring_keeps_the_question_and_a_later_answer_ends_it() {
    let mut world = World::new();
    world.evaluate(Quadrant::D, 'a', None);
    let defer = world.answer("/approve C", 5);
    let plan = world.evaluate(Quadrant::D, 'a', Some(&defer));
    assert_eq!(
        words(&plan),
        [
            "label decision:deferred",
            "add decision:deferred",
            "check Failure"
        ]
    );
    let reject = world.answer("/reject", 6);
    let plan = world.evaluate(Quadrant::D, 'a', Some(&reject));
    assert_eq!(
        words(&plan),
        [
            "label decision:rejected",
            "add decision:rejected",
            "remove decision:deferred",
            "check Failure",
            "comment",
            "close pull",
            "close 101"
        ]
    );
}

#[test]
fn a_reopened_pull_request_is_asked_about_again() {
    let mut world = World::new();
    world.evaluate(Quadrant::D, 'a', None);
    let repo = repo();
    let plan = closed(ClosedInput {
        prior: world.state.as_ref().unwrap(),
        repo: &repo,
        merged: false,
        language: Language::En,
        now: Timestamp::from_millis(0),
        policy: "sha256:0",
        delivery: None,
        version: "0.1.0",
    });
    assert_eq!(words(&plan), ["close 101 with comment"]);
    world.carry_out(&plan);
    let again = closed(ClosedInput {
        prior: world.state.as_ref().unwrap(),
        repo: &repo,
        merged: false,
        language: Language::En,
        now: Timestamp::from_millis(0),
        policy: "sha256:0",
        delivery: None,
        version: "0.1.0",
    });
    assert!(again.is_empty());
    let first_key = plan.effects.clone();
    let plan = world.evaluate(Quadrant::D, 'a', None);
    assert!(
        words(&plan).contains(&"open PendingOwner".to_owned()),
        "{first_key:?}"
    );
}

#[test]
fn a_trail_outlives_its_pull_request_and_is_not_opened_twice() {
    let mut world = World::new();
    world.evaluate(Quadrant::B, 'a', None);
    let repo = repo();
    let plan = closed(ClosedInput {
        prior: world.state.as_ref().unwrap(),
        repo: &repo,
        merged: true,
        language: Language::En,
        now: Timestamp::from_millis(0),
        policy: "sha256:0",
        delivery: None,
        version: "0.1.0",
    });
    assert!(plan.is_empty() && plan.state_after.issue.is_some() && plan.state_after.closed);
    // Closed by time: the state forgets it, the same decision does not open another.
    world.state.as_mut().unwrap().issue = None;
    world.open.clear();
    assert!(world.plan(Quadrant::B, 'a', "main", None).is_empty());
}

#[test]
fn without_issues_the_check_run_says_so_and_the_issue_is_tried_again() {
    let mut world = World::new();
    world.issues_on = false;
    let plan = world.evaluate(Quadrant::D, 'a', None);
    assert_eq!(words(&plan), ["check Failure"]);
    let Some(Effect::CheckRun(check)) = plan.effects.last() else {
        panic!("no check-run");
    };
    assert!(check.output.summary.contains("Issues are switched off"));
    assert_eq!(check.actions.len(), 3);
    world.issues_on = true;
    assert!(world.plan(Quadrant::D, 'a', "main", None).is_empty());
    world.retry = true;
    let plan = world.evaluate(Quadrant::D, 'a', None);
    assert_eq!(
        words(&plan),
        [
            "label decision:pending-owner",
            "open PendingOwner",
            "check Failure"
        ]
    );
    let kinds: Vec<_> = plan.entries.iter().map(|entry| entry.body.kind()).collect();
    assert_eq!(kinds, ["issue_opened"], "the decision is the same");
}

#[test]
fn a_decision_taken_a_second_time_has_its_own_id() {
    let mut world = World::new();
    let first = world.evaluate(Quadrant::A, 'a', None);
    let crashed = World::new().plan(Quadrant::A, 'a', "main", None);
    assert_eq!(
        first.decision_id, crashed.decision_id,
        "found again after a crash"
    );
    world.evaluate(Quadrant::B, 'b', None);
    let back = world.evaluate(Quadrant::A, 'a', None);
    assert_ne!(first.decision_id, back.decision_id);
}

#[test]
fn the_check_run_gets_its_issue_and_its_witness() {
    for language in [Language::En, Language::Ko] {
        let mut world = World::new();
        world.language = language;
        let plan = world.evaluate(Quadrant::D, 'a', None);
        let Some(Effect::CheckRun(check)) = plan.effects.last() else {
            panic!("no check-run");
        };
        assert!(check.names_issue);
        let witness = Witness {
            seq: 41,
            hash: "sha256:abc".into(),
        };
        let url = "https://github.com/octo-org/widgets/issues/101";
        let opened = finish_check_run(
            check.clone(),
            &IssueOutcome::Opened { url: url.into() },
            &witness,
        );
        assert!(
            opened.output.summary.contains(url) && opened.output.summary.contains("sha256:abc")
        );
        assert!(!opened.output.summary.contains("quadgate:late"));
        let refused = IssueOutcome::Refused {
            reason: "410 @octo-team".into(),
        };
        let refused = finish_check_run(check.clone(), &refused, &witness);
        assert!(refused.output.summary.contains("`410 @octo-team`"));
    }
}
