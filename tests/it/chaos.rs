//! Bad days by number: the events of a quiet day under crashes, lost, doubled, late and shuffled webhooks, failing, slow and
//! cut answers, limits, and clocks that jump. In the end everything that people see is what the quiet day left.
//!
//! A seed makes the day and all that goes wrong in it. `QUADGATE_CHAOS_SEEDS=1..1000` runs many (the end is one of them),
//! `QUADGATE_CHAOS_SEEDS=417` one, told step by step. INVARIANT: faults end before the server's patience does: a day on which
//! GitHub cannot be read at all ends in D, which is right, and another day.

mod noise;
mod script;

use crate::world::{CHECK, INBOX, REPO, World};
use noise::Noise;
use script::{Act, Deed, script};
use std::collections::BTreeMap;
use std::time::Duration;

/// The days of a plain `cargo test`.
const USUAL: std::ops::RangeInclusive<u64> = 1..=12;

/// Longer than any wait that a day can make.
const PATIENCE: Duration = Duration::from_hours(3);

/// Everything that is left of a day, without times, numbers of Issues, and hashes.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// Open or merged, labels, comments of ours.
    pulls: BTreeMap<u64, (bool, bool, Vec<String>, usize)>,
    /// By pull request and head, in the order of the heads: conclusion and title.
    checks: BTreeMap<u64, Vec<(Option<String>, String)>>,
    issues: Vec<Issue>,
    /// By pull request: kind, quadrant, and the how manieth head.
    log: BTreeMap<String, Vec<String>>,
    counters: BTreeMap<String, u64>,
}

/// An Issue in the inbox.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Issue {
    title: String,
    labels: Vec<String>,
    open: bool,
    why_closed: Option<String>,
    /// Authors of the comments.
    heard: Vec<String>,
}

/// One day as it goes on.
struct Day {
    world: World,
    /// The heads that each pull request has had, oldest first.
    heads: BTreeMap<u64, Vec<String>>,
}

impl Day {
    async fn begin(noise: Option<&Noise>) -> Self {
        let mut world = crate::merging::arranged("").await;
        world
            .server_lines
            .push_str("limits:\n  writes_per_hour: 1000\n");
        if let Some(noise) = noise {
            world.fault_point = noise.steps.point();
        }
        world.serve().await.expect("the server starts");
        Self {
            world,
            heads: BTreeMap::new(),
        }
    }

    /// What people and CI do.
    fn happens(&mut self, deed: &Deed) {
        deed.happens(&self.world);
        let number = deed.pull();
        let head = self.world.github.pull(REPO, number).head_sha;
        let heads = self.heads.entry(number).or_default();
        if !heads.contains(&head) {
            heads.push(head);
        }
    }

    /// Nothing goes wrong any more, and what was missed is found, as each hour's sweep does it.
    async fn calm(&self) {
        let bench = self.world.app().bench();
        self.patient().await;
        self.world.advance(Duration::from_mins(2));
        quadgate::tick::repeat_missed(bench).await.expect("asked");
        self.patient().await;
        quadgate::tick::sweep_inbox(bench).await.expect("swept");
        quadgate::tick::look_for_missed(bench).await.expect("swept");
        self.patient().await;
        self.world.advance(Duration::from_mins(2));
    }

    async fn patient(&self) {
        self.world.settle_within(PATIENCE).await.expect("no crash");
    }

    async fn end(self) -> Outcome {
        self.world.assert_clean().await;
        let github = &self.world.github;
        let log = self.world.log();
        let bot = github.bot_login();
        let mut pulls = BTreeMap::new();
        let mut checks = BTreeMap::new();
        for (number, heads) in &self.heads {
            let seen = github.pull(REPO, *number);
            let comments = github.comments(REPO, *number);
            let ours = comments.iter().filter(|one| one.author == bot).count();
            pulls.insert(*number, (seen.open, seen.merged, seen.labels, ours));
            let said = heads.iter().map(|head| {
                let check = self.world.check_on(head);
                let check = check.unwrap_or_else(|| panic!("no {CHECK} on {head}"));
                (check.conclusion, check.title)
            });
            checks.insert(*number, said.collect());
        }
        let mut issues: Vec<_> = github
            .issues(INBOX)
            .into_iter()
            .map(|issue| Issue {
                title: issue.title,
                labels: issue.labels,
                open: issue.open,
                why_closed: issue.state_reason,
                heard: issue.comments.into_iter().map(|one| one.author).collect(),
            })
            .collect();
        issues.sort();
        let mut entries: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for entry in &log {
            let head = self
                .heads
                .values()
                .find_map(|heads| heads.iter().position(|head| entry["head_sha"] == **head));
            let line = format!("{} {} {head:?}", entry["kind"], entry["quadrant"]);
            entries
                .entry(entry["pr"].to_string())
                .or_default()
                .push(line);
        }
        let store = &self.world.app().bench().store;
        let counters = store.counters().await.expect("store");
        Outcome {
            pulls,
            checks,
            issues,
            log: entries,
            counters,
        }
    }
}

async fn quiet(acts: &[Act]) -> Outcome {
    let mut day = Day::begin(None).await;
    for act in acts {
        for deed in &act.deeds {
            day.happens(deed);
        }
        day.calm().await;
    }
    day.end().await
}

async fn noisy(acts: &[Act], mut noise: Noise) -> (Outcome, Noise) {
    let mut day = Day::begin(Some(&noise)).await;
    for act in acts {
        noise.tell(&format!("{act:?}"));
        noise.begins(&day.world);
        for deed in &act.deeds {
            day.happens(deed);
        }
        noise.rages(&mut day.world).await;
        noise.ends(&mut day.world).await;
        day.calm().await;
    }
    (day.end().await, noise)
}

fn seeds() -> Vec<u64> {
    let Ok(text) = std::env::var("QUADGATE_CHAOS_SEEDS") else {
        return USUAL.collect();
    };
    let number = |text: &str| text.trim().parse::<u64>().expect("seeds are numbers");
    match text.split_once("..") {
        Some((first, last)) => (number(first)..=number(last)).collect(),
        None => vec![number(&text)],
    }
}

#[tokio::test]
async fn a_bad_day_ends_like_a_quiet_one() {
    let seeds = seeds();
    let told = seeds.len() == 1;
    let days = seeds.len();
    for (done, seed) in seeds.into_iter().enumerate() {
        let acts = script(seed);
        let expected = quiet(&acts).await;
        let task = tokio::spawn(async move { noisy(&acts, Noise::of(seed, told)).await });
        let (found, noise) = task.await.unwrap_or_else(|failure| {
            panic!("seed {seed}: QUADGATE_CHAOS_SEEDS={seed} repeats it: {failure}")
        });
        assert_eq!(
            found,
            expected,
            "seed {seed}: QUADGATE_CHAOS_SEEDS={seed} repeats it; what went wrong:\n{}",
            noise.told()
        );
        if done % 50 == 49 {
            eprintln!("{} of {days} days", done + 1);
        }
    }
}
