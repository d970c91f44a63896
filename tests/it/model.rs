//! Random interleavings of everything that people, GitHub, restarts and crashes do to one D, against what must hold always.
//!
//! The seed is fixed, so that a run is the same everywhere; `PROPTEST_CASES` and `PROPTEST_RNG_SEED` widen it.

use crate::crashes::Steps;
use crate::journey::spec_of;
use crate::world::{INBOX, REPO, World};
use fake_github::{FileSpec, WebhookRequest};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const OWNER: &str = "octo-owner";
const AUTHOR: &str = "octo-dev";
const WORDS: [&str; 6] = [
    "/approve A",
    "/approve B",
    "/approve C",
    "APPROVE",
    "/approve",
    "hello",
];

#[derive(Debug, Clone)]
enum Step {
    Push,
    Label,
    Comment { owner: bool, words: usize },
    Edit { owner: bool, words: usize },
    Delete,
    React { owner: bool },
    Unreact,
    Press { owner: bool },
    CloseIssue,
    ReopenIssue,
    Lose,
    Restart,
    Crash { after: usize },
    Repeat,
    Settle,
}

fn step() -> impl Strategy<Value = Step> {
    let words = 0..WORDS.len();
    prop_oneof![
        2 => Just(Step::Push),
        1 => Just(Step::Label),
        5 => (any::<bool>(), words.clone()).prop_map(|(owner, words)| Step::Comment { owner, words }),
        2 => (any::<bool>(), words).prop_map(|(owner, words)| Step::Edit { owner, words }),
        1 => Just(Step::Delete),
        2 => any::<bool>().prop_map(|owner| Step::React { owner }),
        1 => Just(Step::Unreact),
        2 => any::<bool>().prop_map(|owner| Step::Press { owner }),
        1 => Just(Step::CloseIssue),
        1 => Just(Step::ReopenIssue),
        1 => Just(Step::Lose),
        1 => Just(Step::Restart),
        2 => (0..30_usize).prop_map(|after| Step::Crash { after }),
        1 => Just(Step::Repeat),
        6 => Just(Step::Settle),
    ]
}

/// One pull request and what was done to it that GitHub does not show afterwards.
struct Model {
    world: World,
    steps: Arc<Steps>,
    number: u64,
    /// Heads on whose check-run an owner has pressed "approve".
    pressed: BTreeSet<String>,
    reactions: Vec<(u64, u64)>,
    sent: Vec<WebhookRequest>,
    count: usize,
}

impl Model {
    async fn start() -> Self {
        let steps = Arc::new(Steps::default());
        let mut world = World::arranged().await;
        world.fault_point = steps.point();
        world.serve().await.expect("the server starts");
        let number = world.github.open_pull(REPO, &spec_of('D'));
        world.settle().await;
        Self {
            world,
            steps,
            number,
            pressed: BTreeSet::new(),
            reactions: Vec::new(),
            sent: Vec::new(),
            count: 0,
        }
    }

    /// The newest Issue, open or closed.
    fn issue(&self) -> u64 {
        let issues = self.world.github.issues(INBOX);
        issues.last().expect("one was opened").number
    }

    async fn take(&mut self, step: &Step) {
        self.world.advance(Duration::from_secs(1));
        let github = &self.world.github;
        let who = |owner: bool| github.as_user(if owner { OWNER } else { AUTHOR });
        let issue = self.issue();
        let last_comment = || {
            let comments = github.comments(INBOX, issue);
            comments
                .iter()
                .rev()
                .find(|c| c.author == OWNER)
                .map(|c| c.id)
        };
        match step {
            Step::Push => {
                self.count += 1;
                let path = format!(".github/workflows/w{}.yml", self.count);
                github.push(
                    REPO,
                    self.number,
                    "More",
                    &[FileSpec::added(&path, "on: push\n")],
                );
            }
            Step::Label => github
                .as_user(AUTHOR)
                .label(REPO, self.number, "documentation"),
            Step::Comment { owner, words } => {
                who(*owner).comment(INBOX, issue, WORDS[*words]);
            }
            Step::Edit { owner, words } => {
                if let Some(comment) = last_comment() {
                    who(*owner).edit_comment(INBOX, comment, WORDS[*words]);
                }
            }
            Step::Delete => {
                if let Some(comment) = last_comment() {
                    github.as_user(OWNER).delete_comment(INBOX, comment);
                }
            }
            Step::React { owner } => {
                let id = who(*owner).react(INBOX, issue, "+1");
                self.reactions.push((issue, id));
            }
            Step::Unreact => {
                if let Some((issue, id)) = self.reactions.pop() {
                    let login = github.reactions(INBOX, issue);
                    if !login.is_empty() {
                        github.as_user(OWNER).unreact(INBOX, issue, id);
                        self.reactions.retain(|(_, other)| *other != id);
                    }
                }
            }
            Step::Press { owner } => {
                let head = github.pull(REPO, self.number).head_sha;
                if let Some(run) = self
                    .world
                    .check_on(&head)
                    .filter(|run| !run.actions.is_empty())
                {
                    who(*owner).press(REPO, run.id, "approve");
                    if *owner {
                        self.pressed.insert(head);
                    }
                }
            }
            Step::CloseIssue => github.as_user(AUTHOR).close(INBOX, issue),
            Step::ReopenIssue if self.world.github.open_issues(INBOX).is_empty() => {
                github.as_user(AUTHOR).reopen(INBOX, issue);
            }
            Step::ReopenIssue => {}
            Step::Lose => github.drop_deliveries(),
            Step::Restart => {
                github.deliver_all(&self.world.webhook_url()).await;
                self.world.stop().await;
                self.world.serve().await.expect("the server starts again");
            }
            // What is in hand ends after so many steps; if less is to do, the server dies at rest.
            Step::Crash { after } => {
                self.steps.arm(Some(*after));
                let _ = self.world.settle_or_crash().await;
                self.steps.arm(None);
                self.world.crash().await;
            }
            Step::Repeat => {
                let waiting = github.deliveries();
                for webhook in self.sent.iter().rev().take(5).chain(&waiting) {
                    self.world.send(webhook).await;
                }
                self.sent.extend(waiting);
            }
            Step::Settle => self.settle().await,
        }
    }

    async fn settle(&self) {
        self.world.settle().await;
        let bench = self.world.app().bench();
        quadgate::tick::sweep_inbox(bench)
            .await
            .expect("the sweep ends");
        // A lost push is found by the hourly sweep.
        quadgate::tick::look_for_missed(bench)
            .await
            .expect("the sweep ends");
        self.world.settle().await;
        self.holds();
    }

    /// What must hold whenever nothing is left to do.
    fn holds(&self) {
        let github = &self.world.github;
        let head = github.pull(REPO, self.number).head_sha;
        let open = github.open_issues(INBOX);
        let ours = open
            .iter()
            .filter(|i| i.labels.iter().any(|l| l == "decision:pending-owner"));
        assert!(ours.count() <= 1 || self.reopened(), "{open:?}");
        let check = self.world.check_on(&head).expect("a check-run on the head");
        if check.conclusion.as_deref() != Some("success") {
            return;
        }
        let by_issue = github.issues(INBOX).iter().any(|issue| {
            let asks = issue.body.contains(&head);
            let comment = issue.comments.iter().any(|comment| {
                let own = comment
                    .last_editor
                    .as_deref()
                    .is_none_or(|editor| editor == OWNER);
                let approves =
                    ["/approve A", "/approve B", "APPROVE"].contains(&comment.body.as_str());
                comment.author == OWNER && own && approves
            });
            let reaction = github
                .reactions(INBOX, issue.number)
                .iter()
                .any(|(login, content)| login == OWNER && content == "+1");
            asks && (comment || reaction)
        });
        assert!(
            by_issue || self.pressed.contains(&head),
            "{head} is approved by nobody: {:#?}",
            github.issues(INBOX)
        );
        assert!(
            self.world
                .log_of("owner_answer")
                .iter()
                .any(|entry| entry["head_sha"] == head.as_str()),
            "no entry explains it"
        );
    }

    /// A person may open an Issue again that a decision has closed.
    fn reopened(&self) -> bool {
        self.world.github.open_issues(INBOX).len() > 1
            && self.world.log_of("superseded").len() + self.world.log_of("issue_closed").len() > 0
    }
}

#[test]
fn a_d_is_a_success_only_with_an_owners_answer_to_its_head() {
    let mut config = Config {
        failure_persistence: None,
        max_shrink_iters: 60,
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 10;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(20_260_105);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    TestRunner::new(config)
        .run(&proptest::collection::vec(step(), 5..25), |steps| {
            runtime.block_on(async {
                let mut model = Model::start().await;
                for step in &steps {
                    model.take(step).await;
                }
                model.settle().await;
            });
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}
