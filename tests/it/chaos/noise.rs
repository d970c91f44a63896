//! What goes wrong, made from the same seed: when, where and how often.

use super::script::seeded;
use crate::crashes::Steps;
use crate::crashes_program::Seeded;
use crate::world::World;
use fake_github::{FaultAnswer, FaultKind, FaultRule, WebhookRequest};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

/// Where faults strike.
const PLACES: [(&str, &str); 9] = [
    ("GET", "/repos/*/*/pulls/*"),
    ("GET", "/repos/*/*/pulls/*/files"),
    ("GET", "/repos/*/*/pulls/*/commits"),
    ("GET", "/repos/*/*/commits/*/check-runs"),
    ("POST", "/repos/*/*/check-runs"),
    ("PATCH", "/repos/*/*/check-runs/*"),
    ("POST", "/repos/*/*/issues"),
    ("POST", "/repos/*/*/issues/*/comments"),
    ("*", "/repos/**"),
];

/// Requests that a storm fells: fewer tries than the server's patience has.
const STORM: usize = 8;

pub(super) struct Noise {
    pub(super) steps: Arc<Steps>,
    random: Seeded,
    /// Everything that was sent, to be sent again.
    sent: Vec<WebhookRequest>,
    aloud: bool,
    told: Vec<String>,
}

impl Noise {
    pub(super) fn of(seed: u64, aloud: bool) -> Self {
        Self {
            steps: Arc::default(),
            random: seeded(seed, 2),
            sent: Vec::new(),
            aloud,
            told: Vec::new(),
        }
    }

    #[expect(clippy::print_stderr, reason = "the one day that somebody asked for")]
    pub(super) fn tell(&mut self, what: &str) {
        if self.aloud {
            eprintln!("{what}");
        }
        self.told.push(what.to_owned());
    }

    pub(super) fn told(&self) -> String {
        self.told.join("\n")
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.random.below(chances) == 0
    }

    /// GitHub's faults of one act.
    pub(super) fn begins(&mut self, world: &World) {
        if self.one_in(5) {
            let requests = 1 + self.random.below(STORM);
            let rule = FaultRule::answer("*", "/repos/**", self.refusal(false));
            self.fault(world, rule.times(u32::try_from(requests).expect("small")));
        } else {
            for _ in 0..self.random.below(3) {
                let (method, path) = PLACES[self.random.below(PLACES.len())];
                let kind = self.kind();
                let skip = u32::try_from(self.random.below(4)).expect("small");
                self.fault(world, FaultRule::new(method, path, kind).after(skip));
            }
        }
        if self.one_in(6) {
            self.tell("tokens expire");
            world.github.expire_tokens();
        }
    }

    fn fault(&mut self, world: &World, rule: FaultRule) {
        self.tell(&format!("{rule:?}"));
        world.github.fail(rule);
    }

    fn kind(&mut self) -> FaultKind {
        match self.random.below(8) {
            0 => FaultKind::DropBefore,
            1 => FaultKind::DropAfter,
            2 => FaultKind::TruncatedBody,
            3 => FaultKind::Slow(Duration::from_millis(5)),
            4 => FaultKind::AnswerAfter(self.refusal(true)),
            _ => FaultKind::Answer(self.refusal(false)),
        }
    }

    fn refusal(&mut self, late: bool) -> FaultAnswer {
        match self.random.below(if late { 3 } else { 6 }) {
            0 => FaultAnswer::server_error(502),
            1 => FaultAnswer::html(503),
            2 => FaultAnswer::server_error(500),
            3 => FaultAnswer::secondary_limit(),
            4 => FaultAnswer::secondary_limit_for(60),
            _ => FaultAnswer::too_many(7),
        }
    }

    /// Webhooks come in any order, twice, late, or not at all, while work goes on, ends in the middle, and begins again.
    pub(super) async fn rages(&mut self, world: &mut World) {
        let mut crashes = self.random.below(3);
        for _ in 0..4 {
            let mut batch = world.github.deliveries();
            if self.one_in(2) {
                self.random.shuffle(&mut batch);
            }
            for webhook in batch {
                self.webhook(world, webhook).await;
            }
            if !self.sent.is_empty() && self.one_in(2) {
                let old = self.sent[self.random.below(self.sent.len())].clone();
                self.tell(&format!("again: {} {}", old.name(), old.guid));
                world.send(&old).await;
            }
            if crashes > 0 && self.one_in(2) {
                crashes -= 1;
                let at = self.random.below(40);
                self.steps.arm(Some(at));
                let ended = world.settle_within(Duration::from_secs(1)).await;
                self.steps.arm(None);
                self.tell(&format!("crash at step {at}: {ended:?}"));
                self.restart(world).await;
            } else {
                for _ in 0..self.random.below(4) {
                    world.step().await.expect("no crash");
                }
            }
            if self.one_in(3) {
                let jump = Duration::from_secs(1 + self.random.below(1800) as u64);
                self.tell(&format!("{jump:?} pass"));
                world.advance(jump);
            }
        }
    }

    async fn webhook(&mut self, world: &World, webhook: WebhookRequest) {
        let name = format!("{} {}", webhook.name(), webhook.guid);
        match self.random.below(6) {
            0 => {
                self.tell(&format!("lost: {name}"));
                world.github.record_delivery(webhook.delivery_id, 0);
            }
            1 => {
                self.tell(&format!("twice: {name}"));
                world.send(&webhook).await;
                world.send(&webhook).await;
                self.sent.push(webhook);
            }
            _ => {
                self.tell(&name);
                world.send(&webhook).await;
                self.sent.push(webhook);
            }
        }
        if self.one_in(3) {
            world.step().await.expect("no crash");
        }
    }

    /// The process dies and comes back. What it was writing may be there by half.
    async fn restart(&mut self, world: &mut World) {
        world.die().await;
        if self.one_in(3) {
            self.tell("a torn line");
            let log = world.dir.path().join("bot-state/classifier_audit.jsonl");
            if let Ok(mut file) = std::fs::OpenOptions::new().append(true).open(log) {
                file.write_all(b"{\"seq\":").expect("written");
            }
        }
        world.serve().await.expect("the server starts again");
    }

    pub(super) async fn ends(&mut self, world: &mut World) {
        world.github.clear_faults();
        if self.one_in(8) {
            self.tell("restart");
            self.restart(world).await;
        }
    }
}
