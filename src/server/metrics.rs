//! Everything that is counted, behind typed methods; `/metrics` in Prometheus' text format.
//!
//! Label values come from closed lists or are our own words, never text of a request: a stranger cannot make
//! series. The names are a promise to whoever has alerts on them.

use crate::domain::{InstallationId, Quadrant};
use prometheus::core::Collector;
use prometheus::proto::MetricType;
use prometheus::{
    Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    TextEncoder,
};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

/// Upper bounds in seconds: a cached verdict to a pull request of 3,000 files.
const EVALUATION_SECONDS: [f64; 11] =
    [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];

/// The figures of one process.
pub struct Metrics {
    registry: Registry,
    figures: Vec<Figure>,
    deliveries: IntCounterVec,
    quadrants: Quadrants,
    evaluation_seconds: Histogram,
    api_calls: IntCounterVec,
    rate_left: IntGaugeVec,
    queue_depth: IntGauge,
    oldest_waiting: IntGauge,
    dead_letters: IntGauge,
    store_up: IntGauge,
    audit_entries: IntCounter,
    leases_lost: IntCounter,
    answers_ignored: IntCounter,
}

/// One figure as it was registered, with or without a sample: a line of `docs/reference/metrics.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// The name in `/metrics`; a histogram adds `_bucket`, `_sum` and `_count`.
    pub name: String,
    /// `counter`, `gauge` or `histogram`.
    pub kind: &'static str,
    /// Its labels.
    pub labels: Vec<String>,
    /// What it says.
    pub help: String,
}

/// The registry while it is filled, and what was put in: a registry alone does not tell what has no sample yet.
#[derive(Default)]
struct Shelf {
    registry: Registry,
    figures: RefCell<Vec<Figure>>,
}

/// One counter a quadrant, by the names of the specification.
struct Quadrants {
    a: IntCounter,
    b: IntCounter,
    c: IntCounter,
    d: IntCounter,
}

/// What the store says about its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    /// Subjects that wait or are worked on.
    pub depth: u64,
    /// How long the longest waiting one has waited.
    pub oldest: Duration,
    /// Dead letters.
    pub dead: u64,
}

impl Metrics {
    /// All figures at zero.
    ///
    /// # Errors
    /// Only by a mistake in this file, such as a name that is there twice.
    pub fn new() -> Result<Self, prometheus::Error> {
        let r = &Shelf::default();
        let counter = |name: &str, help: &str| -> Result<IntCounter, prometheus::Error> {
            registered(r, IntCounter::new(full(name), help)?)
        };
        let gauge = |name: &str, help: &str| -> Result<IntGauge, prometheus::Error> {
            registered(r, IntGauge::new(full(name), help)?)
        };
        let counters = |name: &str, help: &str, labels: &[&str]| {
            registered(r, IntCounterVec::new(Opts::new(full(name), help), labels)?)
        };
        let seconds = HistogramOpts::new(
            full("evaluation_duration_seconds"),
            "How long an evaluation took, from claim to finish.",
        )
        .buckets(EVALUATION_SECONDS.to_vec());
        let rate = Opts::new(
            full("rate_limit_remaining"),
            "Calls left in the current window, as GitHub last said.",
        );
        Ok(Self {
            deliveries: counters(
                "deliveries_total",
                "Webhook requests by event and what became of them.",
                &["event", "outcome"],
            )?,
            quadrants: Quadrants {
                a: counter("quadrant_a_count", "Decisions for quadrant A.")?,
                b: counter("quadrant_b_count", "Decisions for quadrant B.")?,
                c: counter("quadrant_c_count", "Decisions for quadrant C.")?,
                d: counter("quadrant_d_count", "Decisions for quadrant D.")?,
            },
            evaluation_seconds: registered(r, Histogram::with_opts(seconds)?)?,
            api_calls: counters(
                "api_calls_total",
                "Calls to GitHub by endpoint and outcome.",
                &["endpoint", "outcome"],
            )?,
            rate_left: registered(r, IntGaugeVec::new(rate, &["installation"])?)?,
            queue_depth: gauge("queue_depth", "Subjects that wait or are worked on.")?,
            oldest_waiting: gauge(
                "oldest_waiting_seconds",
                "How long the longest waiting subject has waited.",
            )?,
            dead_letters: gauge("dead_letters", "Work that was given up.")?,
            store_up: gauge("store_up", "1 when the store answered the last question.")?,
            audit_entries: counter("audit_entries_total", "Entries written to the audit log.")?,
            leases_lost: counter(
                "leases_lost_total",
                "Evaluations whose lease went to another worker.",
            )?,
            answers_ignored: counter(
                "answers_ignored_total",
                "Answers to our Issues by accounts that are no owners.",
            )?,
            registry: r.registry.clone(),
            figures: r.figures.take(),
        })
    }

    /// A webhook request came to its end. `event` is a known event's name or `other`.
    pub fn delivery(&self, event: &'static str, outcome: &'static str) {
        self.deliveries.with_label_values(&[event, outcome]).inc();
    }

    /// Goes on from the counts that the store kept, so that they survive a restart.
    pub fn count_on(&self, kept: &BTreeMap<String, u64>) {
        let of = |name: &str| kept.get(name).copied().unwrap_or(0);
        self.quadrants.a.inc_by(of("quadrant_a_count"));
        self.quadrants.b.inc_by(of("quadrant_b_count"));
        self.quadrants.c.inc_by(of("quadrant_c_count"));
        self.quadrants.d.inc_by(of("quadrant_d_count"));
    }

    /// A decision was made.
    pub fn evaluated(&self, quadrant: Quadrant, took: Duration) {
        match quadrant {
            Quadrant::A => &self.quadrants.a,
            Quadrant::B => &self.quadrants.b,
            Quadrant::C => &self.quadrants.c,
            Quadrant::D => &self.quadrants.d,
        }
        .inc();
        self.evaluation_seconds.observe(took.as_secs_f64());
    }

    /// A call to GitHub ended. `endpoint` is its route with placeholders.
    pub fn api_call(&self, endpoint: &'static str, outcome: &'static str) {
        self.api_calls.with_label_values(&[endpoint, outcome]).inc();
    }

    /// GitHub said how many calls an installation has left.
    pub fn rate_left(&self, installation: InstallationId, left: u64) {
        self.rate_left
            .with_label_values(&[&installation.to_string()])
            .set(gauged(left));
    }

    /// The store was asked about its queue; `None` when it did not answer (the last figures stay).
    pub fn queue(&self, queue: Option<Queue>) {
        self.store_up.set(i64::from(queue.is_some()));
        if let Some(queue) = queue {
            self.queue_depth.set(gauged(queue.depth));
            self.oldest_waiting.set(gauged(queue.oldest.as_secs()));
            self.dead_letters.set(gauged(queue.dead));
        }
    }

    /// Entries were written to the audit log.
    pub fn audited(&self, entries: u64) {
        self.audit_entries.inc_by(entries);
    }

    /// A lease went to another worker.
    pub fn lease_lost(&self) {
        self.leases_lost.inc();
    }

    /// So many answers came from people who are no owners.
    pub fn answers_ignored(&self, new: u64) {
        self.answers_ignored.inc_by(new);
    }

    /// Every figure, in the order of their registration.
    #[must_use]
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }

    /// Everything, in Prometheus' text format.
    ///
    /// # Errors
    /// When a figure cannot be written.
    pub fn text(&self) -> Result<String, prometheus::Error> {
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }
}

fn full(name: &str) -> String {
    format!("quadgate_{name}")
}

fn registered<C: Collector + Clone + 'static>(
    shelf: &Shelf,
    collector: C,
) -> Result<C, prometheus::Error> {
    shelf.registry.register(Box::new(collector.clone()))?;
    let kinds = collector.collect();
    for (about, kind) in collector.desc().into_iter().zip(kinds) {
        shelf.figures.borrow_mut().push(Figure {
            name: about.fq_name.clone(),
            kind: kind_of(kind.get_field_type()),
            labels: about.variable_labels.clone(),
            help: about.help.clone(),
        });
    }
    Ok(collector)
}

fn kind_of(kind: MetricType) -> &'static str {
    match kind {
        MetricType::COUNTER => "counter",
        MetricType::GAUGE => "gauge",
        MetricType::HISTOGRAM => "histogram",
        MetricType::SUMMARY => "summary",
        MetricType::UNTYPED => "untyped",
    }
}

fn gauged(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_promised_names() {
        let metrics = Metrics::new().expect("names are right");
        metrics.delivery("pull_request", "accepted");
        metrics.evaluated(Quadrant::D, Duration::from_millis(300));
        metrics.api_call("GET /repos/{repo}/pulls/{number}", "ok");
        metrics.rate_left(InstallationId(7), 4_800);
        metrics.queue(Some(Queue {
            depth: 3,
            oldest: Duration::from_secs(9),
            dead: 1,
        }));
        metrics.audited(2);
        metrics.lease_lost();
        metrics.answers_ignored(1);
        let text = metrics.text().expect("writes");
        for line in [
            "quadgate_deliveries_total{event=\"pull_request\",outcome=\"accepted\"} 1",
            "quadgate_quadrant_a_count 0",
            "quadgate_quadrant_d_count 1",
            "quadgate_evaluation_duration_seconds_count 1",
            "quadgate_api_calls_total{endpoint=\"GET /repos/{repo}/pulls/{number}\",outcome=\"ok\"} 1",
            "quadgate_rate_limit_remaining{installation=\"7\"} 4800",
            "quadgate_queue_depth 3",
            "quadgate_oldest_waiting_seconds 9",
            "quadgate_dead_letters 1",
            "quadgate_store_up 1",
            "quadgate_audit_entries_total 2",
            "quadgate_leases_lost_total 1",
            "quadgate_answers_ignored_total 1",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        }
        metrics.queue(None);
        let text = metrics.text().expect("writes");
        assert!(text.contains("quadgate_store_up 0") && text.contains("quadgate_queue_depth 3"));
    }
}
