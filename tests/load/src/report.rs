//! From what was seen to figures: one JSON object a run.

use crate::github::Arrived;
use crate::sender::Answer;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// One delivery that was sent.
pub struct Sent {
    pub number: u64,
    /// When it was to be sent.
    pub due: Instant,
    /// From then to its answer.
    pub took: Duration,
    pub answer: Answer,
}

impl Sent {
    /// Was it taken on? Probot says 200.
    pub fn accepted(&self) -> bool {
        matches!(self.answer.status, 200 | 202)
    }
}

/// What one run saw.
pub struct Measured {
    pub label: String,
    pub peer: String,
    pub payload: usize,
    pub rate: Option<f64>,
    pub connections: usize,
    pub begun: Instant,
    pub sending: Duration,
    pub sent: Vec<Sent>,
    /// Seconds.
    pub processor: f64,
    /// KiB.
    pub at_rest: u64,
    /// KiB.
    pub peak: u64,
    pub calls: BTreeMap<String, u64>,
}

#[allow(clippy::cast_precision_loss)] // thousands
impl Measured {
    pub fn to_json(&self, arrived: &Arrived) -> Value {
        let accepted: Vec<&Sent> = self.sent.iter().filter(|sent| sent.accepted()).collect();
        let (mut to_check, mut newest, mut doubled, mut lost) = (Vec::new(), self.begun, 0, 0);
        for sent in &accepted {
            match arrived.check(sent.number) {
                Some((at, times)) => {
                    to_check.push(at.saturating_duration_since(sent.due));
                    newest = newest.max(at);
                    doubled += u64::from(times > 1);
                }
                None => lost += 1,
            }
        }
        let mut statuses: BTreeMap<String, u64> = BTreeMap::new();
        for sent in &self.sent {
            *statuses.entry(sent.answer.status.to_string()).or_default() += 1;
        }
        let refused_without_a_moment = self
            .sent
            .iter()
            .filter(|sent| sent.answer.status == 503 && !sent.answer.retry_after)
            .count();
        let done = to_check.len();
        let calls: u64 = self.calls.values().sum();
        json!({
            "label": self.label,
            "peer": self.peer,
            "payload_bytes": self.payload,
            "rate": self.rate,
            "connections": self.connections,
            "sent": self.sent.len(),
            "statuses": statuses,
            "refused_without_retry_after": refused_without_a_moment,
            "accepted_per_s": round(accepted.len() as f64 / self.sending.as_secs_f64()),
            "answer_ms": spread(self.sent.iter().map(|sent| sent.took).collect()),
            "done": done,
            "lost": lost,
            "doubled": doubled,
            "done_per_s": round(done as f64 / newest.duration_since(self.begun).as_secs_f64().max(1e-9)),
            "check_run_ms": spread(to_check),
            "calls_each": round(calls as f64 / (done as f64).max(1.0)),
            "calls": self.calls,
            "cpu_ms_each": round(self.processor * 1000.0 / (done as f64).max(1.0)),
            "cpu_s": round(self.processor),
            "rest_mib": mib(self.at_rest),
            "peak_mib": mib(self.peak),
        })
    }
}

#[allow(clippy::cast_precision_loss)]
fn mib(kib: u64) -> f64 {
    round(kib as f64 / 1024.0)
}

/// Two digits after the point.
pub fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn spread(mut all: Vec<Duration>) -> Value {
    all.sort_unstable();
    let at = |part: usize| {
        let index = (all.len() * part / 1000).min(all.len().saturating_sub(1));
        all.get(index)
            .map(|took| round(took.as_secs_f64() * 1000.0))
    };
    json!({"p50": at(500), "p95": at(950), "p99": at(990), "max": at(1000)})
}
