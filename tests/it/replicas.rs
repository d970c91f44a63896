//! Several replicas of the real program on one database, killed and started again under load; a database that restarts.
//!
//! Needs a server: `scripts/ci/postgres` starts one and runs these. They take the time of the machine: a lease of a
//! killed replica ends after its minute.

use crate::crashes_program::{Program, nothing_left, quadgate_in};
use crate::database::Database;
use crate::journey::spec_of;
use crate::world::{INBOX, REPO, World};
use fake_github::WebhookRequest;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const PULLS: usize = 60;
/// A lease, and the work that waits for its end.
const DEADLINE: Duration = Duration::from_secs(240);
/// One replica is killed this often.
const KILLED: Duration = Duration::from_secs(3);

/// Replicas behind something that sends each webhook to one that takes it.
struct Replicas {
    running: Vec<Program>,
    turn: usize,
}

impl Replicas {
    async fn start(world: &World, count: usize) -> Self {
        let mut running = Vec::new();
        for _ in 0..count {
            running.push(Program::start(world, None).await);
        }
        Self { running, turn: 0 }
    }

    /// Tries one after the other until it is accepted.
    async fn send(&mut self, world: &World, webhook: &WebhookRequest) {
        let began = Instant::now();
        while began.elapsed() < DEADLINE {
            self.turn += 1;
            let replica = &self.running[self.turn % self.running.len()];
            if replica.accepts(world, webhook).await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("nobody accepts a webhook");
    }

    async fn kill_one(&mut self, world: &World) {
        self.running.remove(0).kill().await;
        self.running.push(Program::start(world, None).await);
    }

    /// Until everything is judged, nothing waits, and GitHub has nothing to tell any more.
    async fn finish(&mut self, world: &World, numbers: &[u64]) {
        let began = Instant::now();
        loop {
            for webhook in world.github.deliveries() {
                self.send(world, &webhook).await;
            }
            let judged = numbers.iter().all(|number| {
                let head = world.github.pull(REPO, *number).head_sha;
                world.check_on(&head).is_some()
            });
            let idle = self.running[0].queue_depth().await == Some(0);
            if judged && idle && world.github.waiting_deliveries() == 0 {
                return;
            }
            assert!(
                began.elapsed() < DEADLINE,
                "the replicas do not come to an end"
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// All at once: one that stays would take over the sweep, and be stopped in the middle of it.
    async fn stop(self) {
        let mut stopping = JoinSet::new();
        for program in self.running {
            stopping.spawn(program.stop());
        }
        while let Some(stopped) = stopping.join_next().await {
            stopped.expect("it stops in order");
        }
    }
}

async fn arranged() -> (World, Vec<u64>) {
    let mut world = World::arranged().await;
    if world.database.is_none() {
        world.database = Some(Database::new().await);
    }
    // The programs have the time of the machine: for them the stand-in's Issues are months old.
    let projects = world.config.get_mut("projects.yml").expect("projects");
    projects.push_str("  passive_close_days: 0\n");
    let numbers = (0..PULLS)
        .zip("ABCD".chars().cycle())
        .map(|(_, quadrant)| world.github.open_pull(REPO, &spec_of(quadrant)))
        .collect();
    (world, numbers)
}

/// What waits at GitHub, with labels in between, everything twice.
fn load(world: &World, numbers: &[u64]) -> Vec<WebhookRequest> {
    for number in numbers {
        let dev = world.github.as_user("octo-dev");
        dev.label(REPO, *number, "documentation");
    }
    let once = world.github.deliveries();
    once.iter().cloned().chain(once.iter().cloned()).collect()
}

/// Nothing lost, nothing doubled, the chain intact.
async fn as_on_a_quiet_day(world: &World, numbers: &[u64]) {
    let mut entries: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in world.log_of("classification") {
        let text = |name: &str| entry[name].as_str().expect("text").to_owned();
        entries
            .entry(text("pr"))
            .or_default()
            .push(text("quadrant"));
    }
    for (number, quadrant) in numbers.iter().zip("ABCD".chars().cycle()) {
        let expected = if quadrant == 'D' {
            "failure"
        } else {
            "success"
        };
        let check = world.check(*number);
        assert_eq!(check.conclusion.as_deref(), Some(expected), "#{number}");
        let about = entries.get(&format!("{REPO}#{number}"));
        assert_eq!(about, Some(&vec![quadrant.to_string()]), "#{number}");
    }
    let asked = numbers.len() - numbers.len().div_ceil(4);
    assert_eq!(world.github.open_issues(INBOX).len(), asked);
    assert_eq!(world.github.issues(INBOX).len(), asked);
    nothing_left(world).await;
    let (code, said) = quadgate_in(world, &["audit", "verify", "--config", "config"]).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("the last entry that the store knows"),
        "{said}"
    );
    let (code, said) = quadgate_in(world, &["status", "--config", "config"]).await;
    assert_eq!(code, Some(0), "{said}");
}

async fn under_load(count: usize) {
    let (world, numbers) = arranged().await;
    let unsent = load(&world, &numbers);
    let mut replicas = Replicas::start(&world, count).await;
    let pause = Duration::from_secs(20) / u32::try_from(unsent.len()).expect("few");
    let mut killed = Instant::now();
    for webhook in &unsent {
        replicas.send(&world, webhook).await;
        tokio::time::sleep(pause).await;
        if killed.elapsed() > KILLED {
            replicas.kill_one(&world).await;
            killed = Instant::now();
        }
    }
    replicas.finish(&world, &numbers).await;
    replicas.stop().await;
    as_on_a_quiet_day(&world, &numbers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: scripts/ci/postgres"]
async fn two_with_one_killed_every_few_seconds() {
    under_load(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: scripts/ci/postgres"]
async fn four_with_one_killed_every_few_seconds() {
    under_load(4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: scripts/ci/postgres"]
async fn the_database_restarts_in_the_middle() {
    let control = std::env::var("QUADGATE_TEST_POSTGRES_CONTROL");
    let control = control.expect("`QUADGATE_TEST_POSTGRES_CONTROL` is a pg_ctl of the server");
    let (world, numbers) = arranged().await;
    let unsent = load(&world, &numbers);
    let mut replicas = Replicas::start(&world, 2).await;
    for (sent, webhook) in unsent.iter().enumerate() {
        replicas.send(&world, webhook).await;
        if sent == unsent.len() / 3 || sent == unsent.len() / 2 {
            let restart = ["restart", "-m", "immediate"];
            let restarted = tokio::process::Command::new(&control)
                .args(restart)
                .status();
            assert!(restarted.await.expect("it runs").success());
        }
    }
    replicas.finish(&world, &numbers).await;
    replicas.stop().await;
    as_on_a_quiet_day(&world, &numbers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: scripts/ci/postgres"]
async fn the_sweep_and_the_log_are_taken_over() {
    let (world, _) = arranged().await;
    let first = Program::start(&world, None).await;
    first.until_it_says("this replica sweeps now").await;
    let second = Program::start(&world, None).await;
    let died = Instant::now();
    first.kill().await;
    second.until_it_says("this replica sweeps now").await;
    second
        .until_it_says("this replica writes the audit log's files now")
        .await;
    assert!(
        died.elapsed() < Duration::from_secs(10),
        "{:?}",
        died.elapsed()
    );
    second.stop().await;
}
