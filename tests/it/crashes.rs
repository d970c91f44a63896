//! A crash between any two steps of the work, then a restart: the outcome is that of a quiet day.
//!
//! Each journey is run once to learn its steps, then once for each step with a crash there. INVARIANT: compared is all
//! that people see (check-runs, Issues with their comments), the verified log and the counters.

use crate::journey::spec_of;
use crate::world::{CHECK, Crash, INBOX, REPO, World};
use fake_github::{CommentSeen, FileSpec};
use quadgate::worker::FaultPoint;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The steps that every journey with an effect takes.
pub const STEPS: [&str; 12] = [
    "claimed",
    "facts-read",
    "planned",
    "plan-saved",
    "audit-written",
    "audit-noted",
    "effect-started",
    "effect-applied",
    "effect-noted",
    "effects-done",
    "finishing",
    "finished",
];

/// The steps taken since it was armed, and the one at which to crash.
#[derive(Default)]
pub struct Steps(Mutex<Taken>);

#[derive(Default)]
struct Taken {
    armed: bool,
    steps: Vec<&'static str>,
    crash_at: Option<usize>,
}

impl Steps {
    /// To be called between any two steps.
    pub fn point(self: &Arc<Self>) -> FaultPoint {
        let steps = Arc::clone(self);
        Arc::new(move |step| {
            if steps.take(step) {
                // No report: nothing is wrong with the test.
                std::panic::resume_unwind(Box::new(Crash));
            }
        })
    }

    /// Counts from now on, and crashes at the step with this index.
    pub fn arm(&self, crash_at: Option<usize>) {
        *self.0.lock().expect("whole") = Taken {
            armed: true,
            steps: Vec::new(),
            crash_at,
        };
    }

    pub fn taken(&self) -> Vec<&'static str> {
        self.0.lock().expect("whole").steps.clone()
    }

    fn take(&self, step: &'static str) -> bool {
        let mut taken = self.0.lock().expect("whole");
        if !taken.armed {
            return false;
        }
        taken.steps.push(step);
        let crash = taken.crash_at.is_some_and(|at| at + 1 == taken.steps.len());
        taken.armed &= !crash;
        crash
    }
}

/// What happens at GitHub, after what.
#[derive(Debug, Clone, Copy)]
enum Journey {
    Opens(char),
    /// A D becomes a B.
    Supersedes,
    /// A D is closed.
    Closes,
    /// A B gets a head with the same verdict.
    Continues,
}

impl Journey {
    async fn before(self, world: &World) {
        let first = match self {
            Self::Opens(_) => return,
            Self::Supersedes | Self::Closes => 'D',
            Self::Continues => 'B',
        };
        world.github.open_pull(REPO, &spec_of(first));
        world.settle().await;
    }

    fn happens(self, world: &World) {
        let engine = |after| [FileSpec::modified("src/engine.rs", "fn a() { 1 }\n", after)];
        match self {
            Self::Opens(quadrant) => {
                world.github.open_pull(REPO, &spec_of(quadrant));
            }
            Self::Supersedes => {
                world
                    .github
                    .force_push(REPO, 1, &["Tidy"], &engine("fn a() { 2 }\n"));
            }
            Self::Closes => world.github.as_user("octo-dev").close(REPO, 1),
            Self::Continues => {
                world
                    .github
                    .push(REPO, 1, "More", &engine("fn a() { 3 }\n"));
            }
        }
    }
}

/// All that is left of a journey.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    /// Conclusion, title, by head.
    checks: Vec<(Option<String>, String)>,
    /// Title, labels, open, authors of the comments.
    issues: Vec<(String, Vec<String>, bool, Vec<String>)>,
    /// Kind, quadrant, and the how manieth head.
    log: Vec<String>,
    counters: BTreeMap<String, u64>,
}

impl Outcome {
    pub async fn of(world: &World) -> Self {
        let log = world.log();
        let mut heads: Vec<String> = log
            .iter()
            .map(|entry| entry["head_sha"].as_str().expect("a head").to_owned())
            .collect();
        heads.dedup();
        let checks = heads.iter().map(|head| {
            let check = world.check_on(head).expect("a check-run for each entry");
            (check.conclusion, check.title)
        });
        let issues = world.github.issues(INBOX).into_iter().map(|issue| {
            let comments = issue.comments.iter().map(author).collect();
            (issue.title, issue.labels, issue.open, comments)
        });
        let counters = world.app().bench().store.counters().await.expect("store");
        Self {
            checks: checks.collect(),
            issues: issues.collect(),
            log: log
                .iter()
                .map(|entry| {
                    let head = heads.iter().position(|head| entry["head_sha"] == **head);
                    format!("{} {} {head:?}", entry["kind"], entry["quadrant"])
                })
                .collect(),
            counters,
        }
    }
}

fn author(comment: &CommentSeen) -> String {
    comment.author.clone()
}

/// Runs a journey with a crash at one step; its steps up to there, and what is left of it.
async fn run(journey: Journey, crash_at: Option<usize>) -> (Vec<&'static str>, Outcome) {
    let steps = Arc::new(Steps::default());
    let mut world = World::arranged().await;
    world.fault_point = steps.point();
    world.serve().await.expect("the server starts");
    journey.before(&world).await;

    steps.arm(crash_at);
    journey.happens(&world);
    let ended = world.settle_or_crash().await;
    assert_eq!(ended.is_err(), crash_at.is_some(), "{journey:?}");
    if ended.is_err() {
        world.crash().await;
        world.settle().await;
    }
    world.assert_clean().await;
    // GitHub is a witness of the log: the last head's check-run names the last decision.
    let log = world.log();
    let decides = |entry: &&serde_json::Value| {
        ["classification", "owner_answer", "answer_withdrawn"]
            .contains(&entry["kind"].as_str().expect("a kind"))
    };
    let last = log.iter().rfind(decides).expect("an entry");
    let check = world.check_on(last["head_sha"].as_str().expect("a head"));
    let hash = last["hash"].as_str().expect("a hash");
    assert!(check.expect("a check-run").summary.contains(hash));
    (steps.taken(), Outcome::of(&world).await)
}

async fn crash_at_each_step(journey: Journey) {
    let (steps, quiet) = run(journey, None).await;
    for step in STEPS {
        let reached = steps.contains(&step);
        let expected = match journey {
            Journey::Closes => !matches!(step, "facts-read" | "audit-written"),
            Journey::Opens(_) | Journey::Supersedes | Journey::Continues => true,
        };
        assert!(reached || !expected, "{journey:?} never came to {step}");
    }
    for (index, step) in steps.iter().enumerate() {
        let (_, crashed) = run(journey, Some(index)).await;
        let before = steps.iter().take(index).filter(|s| *s == step).count();
        assert_eq!(
            crashed,
            quiet,
            "{journey:?}: crash at {step}:{}",
            before + 1
        );
    }
}

#[tokio::test]
async fn opening_a() {
    crash_at_each_step(Journey::Opens('A')).await;
}

#[tokio::test]
async fn opening_b() {
    crash_at_each_step(Journey::Opens('B')).await;
}

#[tokio::test]
async fn opening_d() {
    crash_at_each_step(Journey::Opens('D')).await;
}

#[tokio::test]
async fn another_quadrant() {
    crash_at_each_step(Journey::Supersedes).await;
}

#[tokio::test]
async fn the_same_quadrant_again() {
    crash_at_each_step(Journey::Continues).await;
}

#[tokio::test]
async fn closing() {
    crash_at_each_step(Journey::Closes).await;
}

/// A server that dies again and again, one step further each time.
#[tokio::test]
async fn a_crash_at_every_step_of_one_journey() {
    let (steps, quiet) = run(Journey::Opens('D'), None).await;
    let script = Arc::new(Steps::default());
    let mut world = World::arranged().await;
    world.fault_point = script.point();
    world.serve().await.expect("the server starts");
    Journey::Opens('D').happens(&world);
    let mut crashes = 0;
    for index in 0..steps.len() {
        script.arm(Some(index));
        if world.settle_or_crash().await.is_ok() {
            break;
        }
        crashes += 1;
        world.crash().await;
    }
    assert!(crashes >= 5, "{crashes}");
    script.arm(None);
    world.settle().await;
    assert_eq!(Outcome::of(&world).await, quiet);
    assert!(world.check(1).name == CHECK);
    world.assert_clean().await;
}
