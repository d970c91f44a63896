//! A thousand deliveries at once, doubled and out of order, into a server with workers of its own.

use crate::crashes_program::Seeded;
use crate::world::{REPO, World};
use fake_github::{FileSpec, PullSpec, WebhookRequest};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Each is opened, labelled and pushed to; each of these is announced at least once, and every webhook is sent twice.
const PULLS: u64 = 170;
const QUADRANTS: [char; 4] = ['A', 'B', 'C', 'D'];

fn files_of(quadrant: char, number: u64) -> [FileSpec; 1] {
    [match quadrant {
        'A' => FileSpec::added(&format!("examples/{number}.md"), "An example.\n"),
        'B' => FileSpec::modified("src/engine.rs", "fn a() { 1 }\n", "fn a() { 2 }\n"),
        'C' => FileSpec::removed(&format!("docs/{number}.md"), "text\n"),
        'D' => FileSpec::added(&format!(".github/workflows/{number}.yml"), "on: push\n"),
        other => panic!("no quadrant {other}"),
    }]
}

fn first(number: u64) -> char {
    QUADRANTS[usize::try_from(number).expect("small") % 4]
}

fn last(number: u64) -> char {
    first(number * 3 + 1)
}

enum Item {
    Send(WebhookRequest),
    /// Half of the pushes happen while the burst goes on.
    Push(u64),
}

struct Burst<'a> {
    world: &'a World,
    items: Mutex<Vec<Item>>,
    random: Mutex<Seeded>,
    statuses: Mutex<BTreeMap<u16, usize>>,
}

impl Burst<'_> {
    fn push(&self, number: u64) {
        let files = files_of(last(number), number);
        self.world.github.push(REPO, number, "Another way", &files);
    }

    /// What waits at GitHub, twice, anywhere among what is still to be sent.
    fn mix_in(&self) {
        let mut items = self.items.lock().expect("whole");
        let mut random = self.random.lock().expect("whole");
        for webhook in self.world.github.deliveries() {
            for twin in [webhook.clone(), webhook] {
                let at = random.below(items.len() + 1);
                items.insert(at, Item::Send(twin));
            }
        }
    }

    /// One of several connections.
    async fn send(&self) {
        loop {
            let next = self.items.lock().expect("whole").pop();
            match next {
                None => return,
                Some(Item::Push(number)) => {
                    self.push(number);
                    self.mix_in();
                }
                Some(Item::Send(webhook)) => {
                    let status = self.world.send(&webhook).await;
                    *self
                        .statuses
                        .lock()
                        .expect("whole")
                        .entry(status)
                        .or_default() += 1;
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn none_lost_none_doubled() {
    let mut world = World::arranged().await;
    world.workers = 4;
    // So many Issues at once are another test's subject (`api_budget`).
    world.server_lines =
        "limits:\n  content_per_minute: 100000\n  content_per_hour: 1000000\n".to_owned();
    world.serve().await.expect("the server starts");
    let burst = Burst {
        world: &world,
        items: Mutex::default(),
        random: Mutex::new(Seeded(20_260_105)),
        statuses: Mutex::default(),
    };
    for next in 1..=PULLS {
        let spec = PullSpec::new(&format!("Change {next}")).files(files_of(first(next), next));
        let number = world.github.open_pull(REPO, &spec);
        assert_eq!(number, next);
        world
            .github
            .as_user("octo-dev")
            .label(REPO, number, "documentation");
        if number % 2 == 0 {
            burst.push(number);
        } else {
            burst.items.lock().expect("whole").push(Item::Push(number));
        }
        burst.mix_in();
    }
    burst
        .random
        .lock()
        .expect("whole")
        .shuffle(&mut burst.items.lock().expect("whole"));

    let send = || burst.send();
    tokio::join!(
        send(),
        send(),
        send(),
        send(),
        send(),
        send(),
        send(),
        send()
    );
    let statuses = burst.statuses.lock().expect("whole").clone();
    assert!(
        statuses.keys().all(|status| (200..300).contains(status)),
        "{statuses:?}"
    );
    assert!(statuses.values().sum::<usize>() >= 1000, "{statuses:?}");
    world.until_idle().await;
    world.github.deliver_all(&world.webhook_url()).await;
    world.until_idle().await;

    let mut judged: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for entry in world.log_of("classification") {
        let text = |name: &str| entry[name].as_str().expect("text").to_owned();
        judged
            .entry((text("pr"), text("head_sha")))
            .or_default()
            .push(text("quadrant"));
    }
    for ((pull, head), quadrants) in &judged {
        assert_eq!(quadrants.len(), 1, "{pull} at {head}: {quadrants:?}");
    }
    for number in 1..=PULLS {
        let quadrant = last(number);
        let check = world.check(number);
        let expected = if quadrant == 'D' {
            "failure"
        } else {
            "success"
        };
        assert_eq!(check.conclusion.as_deref(), Some(expected), "#{number}");
        let key = (format!("{REPO}#{number}"), check.head_sha);
        assert_eq!(
            judged.get(&key),
            Some(&vec![quadrant.to_string()]),
            "{key:?}"
        );
        let about: Vec<_> = world
            .issues_about(number)
            .into_iter()
            .map(|issue| issue.title)
            .collect();
        assert_eq!(
            about.len(),
            usize::from(quadrant != 'A'),
            "#{number}: {about:?}"
        );
    }
    world.assert_clean().await;
}
