//! What a replay says: a change at once, sums at the end, for people or one JSON document a line.

use super::Outcome;
use crate::audit::Record;
use crate::cli::Exit;
use crate::cli::audit::shown::shown;
use crate::cli::terminal::Style;
use crate::domain::Quadrant;
use crate::rules::{Difference, VoteChange};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Decisions without facts that are named one by one for people; all are with `--json`.
const NAMED: usize = 20;
/// The version that `audit replay` is.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// From what to what a rule's vote changes; `None` is no vote.
type Votes = (Option<Quadrant>, Option<Quadrant>);

/// The sums so far.
pub(super) struct Report {
    policy: String,
    json: bool,
    style: Style,
    same: u64,
    /// How many decisions of each quadrant would be of which; also those that stay.
    quadrants: BTreeMap<(Quadrant, Quadrant), u64>,
    /// How often each rule would vote otherwise, from what to what.
    rules: BTreeMap<String, BTreeMap<Votes, u64>>,
    /// Changes of the quadrant.
    changed: u64,
    /// The same quadrant by other votes.
    votes_only: u64,
    other_program: u64,
    no_facts: u64,
    /// The first of those without facts.
    named: Vec<String>,
}

impl Report {
    pub(super) fn new(policy: &str, json: bool, colour: bool) -> Self {
        Self {
            policy: policy.to_owned(),
            json,
            style: Style::new(colour),
            same: 0,
            quadrants: BTreeMap::new(),
            rules: BTreeMap::new(),
            changed: 0,
            votes_only: 0,
            other_program: 0,
            no_facts: 0,
            named: Vec::new(),
        }
    }

    /// Counts one decision; what is to be said of it now.
    pub(super) fn add(&mut self, record: &Record, outcome: Outcome) -> Vec<String> {
        match outcome {
            Outcome::Same => {
                self.same += 1;
                let quadrant = record.quadrant.unwrap_or(Quadrant::D);
                *self.quadrants.entry((quadrant, quadrant)).or_default() += 1;
                Vec::new()
            }
            Outcome::Changed(difference, would) => {
                self.count(&difference);
                if difference.was == difference.would {
                    self.votes_only += 1;
                } else {
                    self.changed += 1;
                }
                self.tell(record, "change", Some(&difference), would.reasoning())
            }
            Outcome::OtherProgram(difference, would) => {
                self.other_program += 1;
                if let Some(difference) = &difference {
                    self.count(difference);
                } else {
                    let quadrant = would.quadrant();
                    *self.quadrants.entry((quadrant, quadrant)).or_default() += 1;
                }
                let reasoning = would.reasoning();
                self.tell(record, "program_difference", difference.as_ref(), reasoning)
            }
            Outcome::NoFacts(why) => self.without(record, &why),
        }
    }

    fn count(&mut self, difference: &Difference) {
        let place = (difference.was, difference.would);
        *self.quadrants.entry(place).or_default() += 1;
        for vote in &difference.votes {
            let votes = self.rules.entry(vote.rule.to_string()).or_default();
            *votes.entry((vote.was, vote.would)).or_default() += 1;
        }
    }

    fn tell(
        &self,
        record: &Record,
        kind: &str,
        difference: Option<&Difference>,
        reasoning: &str,
    ) -> Vec<String> {
        if self.json {
            let would = difference.map_or(record.quadrant, |one| Some(one.would));
            let votes = difference.map_or(&[][..], |one| &one.votes);
            let more = [
                ("version", json!(record.version)),
                ("was", json!(record.quadrant)),
                ("would", json!(would)),
                ("votes", json!(votes)),
                ("reasoning_was", json!(record.reasoning)),
                ("reasoning_would", json!(reasoning)),
            ];
            return vec![document(record, kind, more)];
        }
        let same = record.quadrant.map(|quadrant| (quadrant, quadrant));
        let quadrants = difference.map(|one| (one.was, one.would)).or(same);
        let arrow = quadrants.map_or_else(String::new, |(was, would)| self.arrow(was, would));
        let mut lines = vec![format!("{arrow}  {}", name(record))];
        if kind == "program_difference" {
            let made_by = shown(record.version.as_deref().unwrap_or("?"));
            lines.push(self.style.heading(&format!(
                "        DIFFERENCE OF THE PROGRAM: same policy, decided by {made_by}, judged otherwise by {VERSION}"
            )));
        }
        for VoteChange { rule, was, would } in difference.iter().flat_map(|one| &one.votes) {
            let rule = shown(rule.as_str());
            lines.push(format!(
                "        {rule}: {} -> {}",
                vote(*was),
                vote(*would)
            ));
        }
        let was = record.reasoning.as_deref().unwrap_or("?");
        lines.push(self.style.faint(&format!("        was    {}", shown(was))));
        lines.push(
            self.style
                .faint(&format!("        would  {}", shown(reasoning))),
        );
        lines
    }

    fn arrow(&self, was: Quadrant, would: Quadrant) -> String {
        let letter = |quadrant: Quadrant| self.style.quadrant(quadrant, quadrant.letter());
        format!("{} -> {}", letter(was), letter(would))
    }

    fn without(&mut self, record: &Record, why: &str) -> Vec<String> {
        self.no_facts += 1;
        if self.json {
            return vec![document(record, "no_facts", [("because", json!(why))])];
        }
        if self.named.len() < NAMED {
            self.named.push(format!("{}: {}", name(record), shown(why)));
        }
        Vec::new()
    }

    fn judged(&self) -> u64 {
        self.same + self.changed + self.votes_only + self.other_program
    }

    /// What is said at the end.
    pub(super) fn sums(&self) -> Vec<String> {
        if self.json {
            return vec![self.document().to_string()];
        }
        let mut lines = Vec::new();
        if self.changed + self.votes_only + self.other_program > 0 {
            lines.push(String::new());
        }
        lines.push(format!(
            "{} judged again under {}",
            count(self.judged(), "decision"),
            self.policy
        ));
        lines.push(format!(
            "  {} would be of another quadrant, {} of the same by other votes, {} would stay",
            self.changed, self.votes_only, self.same
        ));
        if self.judged() > self.same {
            lines.extend(self.tables());
        }
        if self.no_facts > 0 {
            lines.push(format!(
                "{} could not be judged again:",
                count(self.no_facts, "decision")
            ));
            lines.extend(self.named.iter().map(|named| format!("  {named}")));
            let more = self.no_facts - u64::try_from(self.named.len()).unwrap_or(0);
            if more > 0 {
                lines.push(format!("  and {more} more, all named with --json"));
            }
        }
        lines
    }

    fn tables(&self) -> Vec<String> {
        let mut lines = vec![self.style.heading("By quadrant")];
        lines.push(format!(
            "  {:10}{:>8}{:>8}{:>8}{:>8}",
            "", "to A", "to C", "to B", "to D"
        ));
        for was in Quadrant::ALL {
            let cells: String = Quadrant::ALL
                .into_iter()
                .map(|would| match self.quadrants.get(&(was, would)) {
                    Some(number) => format!("{number:>8}"),
                    None => format!("{:>8}", "."),
                })
                .collect();
            lines.push(format!("  from {was}    {cells}"));
        }
        if self.rules.is_empty() {
            return lines;
        }
        lines.push(self.style.heading("By rule"));
        for (rule, votes) in &self.rules {
            for ((was, would), number) in votes {
                let change = format!("{} -> {}", vote(*was), vote(*would));
                lines.push(format!("  {:30}  {change:18}{number:>6}", shown(rule)));
            }
        }
        lines
    }

    fn document(&self) -> Value {
        let quadrants: Vec<Value> = self
            .quadrants
            .iter()
            .map(|((was, would), number)| json!({"was": was, "would": would, "count": number}))
            .collect();
        let rules: Vec<Value> = self
            .rules
            .iter()
            .flat_map(|(rule, votes)| votes.iter().map(move |(votes, number)| (rule, votes, number)))
            .map(|(rule, (was, would), number)| {
                json!({"rule": rule, "was": was, "would": would, "count": number})
            })
            .collect();
        json!({
            "kind": "audit_replay",
            "policy": self.policy,
            "version": VERSION,
            "judged": self.judged(),
            "same": self.same,
            "changed": self.changed,
            "other_votes": self.votes_only,
            "program_differences": self.other_program,
            "no_facts": self.no_facts,
            "by_quadrant": quadrants,
            "by_rule": rules,
        })
    }

    /// What nobody may overlook.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.other_program > 0 {
            warnings.push(format!(
                "warning: {} under the very policy of then would be another: this program ({VERSION}) judges otherwise than the one that decided",
                count(self.other_program, "decision")
            ));
        }
        if self.judged() == 0 && self.no_facts > 0 {
            warnings.push(
                "error: no decision could be judged again: is the store that of this log, and are decisions kept (`retention.decision_days`)?"
                    .to_owned(),
            );
        }
        warnings
    }

    pub(super) fn exit(&self) -> Exit {
        if self.judged() == 0 && self.no_facts > 0 {
            Exit::Unusable
        } else if self.judged() > self.same {
            Exit::Findings
        } else {
            Exit::Ok
        }
    }
}

/// One line of JSON about one decision.
fn document<const N: usize>(record: &Record, kind: &str, more: [(&str, Value); N]) -> String {
    let members = [
        ("kind", json!(kind)),
        ("pr", json!(record.pr)),
        ("head_sha", json!(record.head_sha)),
        ("ts", json!(record.ts)),
        ("seq", json!(record.seq)),
        ("decision", json!(record.decision)),
        ("policy", json!(record.policy)),
    ];
    let all = members.into_iter().chain(more);
    let all: Map<String, Value> = all.map(|(name, value)| (name.to_owned(), value)).collect();
    Value::Object(all).to_string()
}

/// `owner/repo#7 at 1a2b3c4, 2026-05-25T12:34:56Z, entry 41`
fn name(record: &Record) -> String {
    let text = |value: &Option<String>| shown(value.as_deref().unwrap_or("?"));
    let head: String = text(&record.head_sha).chars().take(7).collect();
    format!(
        "{} at {head}, {}, entry {}",
        text(&record.pr),
        record.ts,
        record.seq
    )
}

fn vote(vote: Option<Quadrant>) -> &'static str {
    vote.map_or("no vote", Quadrant::letter)
}

fn count(number: u64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
