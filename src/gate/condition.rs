//! A condition: its id, what it weighs, whether it holds, and why.
//!
//! INVARIANT: [`Conditions`] is built by `gate::judge` alone and carries the head it speaks about, so that nothing can
//! be merged on the conditions of another head.

use crate::domain::Sha;
use crate::policy::{Severity, Skills};
use serde::Serialize;
use std::fmt;

/// The conditions in the order in which they are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConditionId {
    /// `mergeable`: open, no draft, no conflict, into a branch that is merged into.
    Mergeable,
    /// `C1`: an owner says it is ready.
    Ready,
    /// `C2`: CI is green.
    Ci,
    /// `C3`: the quadrant or an owner allows it.
    Approval,
    /// `C4`: the base's tip is contained.
    Base,
    /// `C5`: every commit says who made it.
    Identity,
    /// `L4`: the agents are known.
    Registry,
    /// `evidence`: the evidence ledger passes.
    Evidence,
}

impl ConditionId {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Mergeable,
        Self::Ready,
        Self::Ci,
        Self::Approval,
        Self::Base,
        Self::Identity,
        Self::Registry,
        Self::Evidence,
    ];

    /// The word that names it in the docs, the comment, the log and the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mergeable => "mergeable",
            Self::Ready => "C1",
            Self::Ci => "C2",
            Self::Approval => "C3",
            Self::Base => "C4",
            Self::Identity => "C5",
            Self::Registry => "L4",
            Self::Evidence => "evidence",
        }
    }

    /// The names by which `skills.yml` may speak of it; the longer ones are the reference implementation's.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Mergeable => &[],
            Self::Ready => &["C1", "validator_ready_to_merge", "ready_to_merge"],
            Self::Ci => &["C2", "validator_ci_green", "ci_green"],
            Self::Approval => &["C3", "validator_classifier"],
            Self::Base => &["C4", "validator_base_up_to_date", "base_up_to_date"],
            Self::Identity => &["C5", "validator_trailers", "trailers"],
            Self::Registry => &["L4", "validator_agent_registry", "agent_registry"],
            Self::Evidence => &["evidence", "validator_evidence"],
        }
    }

    /// Does the operator's configuration have no say in whether it is judged?
    #[must_use]
    pub fn is_core(self) -> bool {
        match self {
            Self::Mergeable
            | Self::Ready
            | Self::Ci
            | Self::Approval
            | Self::Base
            | Self::Identity => true,
            Self::Registry | Self::Evidence => false,
        }
    }

    /// The severity; of several overrides under different names the graver one.
    pub(super) fn severity(self, skills: &Skills, own: Severity) -> Severity {
        skills
            .severity_overrides
            .iter()
            .filter(|(name, _)| self.is_named(name))
            .map(|(_, severity)| *severity)
            .min()
            .unwrap_or(own)
    }

    /// Is it switched off? A core one cannot be, whatever the file says.
    pub(super) fn is_disabled(self, skills: &Skills) -> bool {
        !self.is_core() && skills.disabled.iter().any(|name| self.is_named(name))
    }

    fn is_named(self, name: &str) -> bool {
        self.names()
            .iter()
            .any(|own| own.eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for ConditionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ConditionId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Does a condition hold?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It does.
    Holds,
    /// It does not.
    Fails,
    /// It cannot be said: a fact is unknown.
    Unknown,
    /// It is not asked for here.
    Off,
}

/// What the file of a condition says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) state: State,
    pub(super) reason: String,
}

impl Finding {
    pub(super) fn holds(reason: impl Into<String>) -> Self {
        Self::new(State::Holds, reason)
    }

    pub(super) fn fails(reason: impl Into<String>) -> Self {
        Self::new(State::Fails, reason)
    }

    pub(super) fn unknown(reason: impl Into<String>) -> Self {
        Self::new(State::Unknown, reason)
    }

    pub(super) fn off(reason: impl Into<String>) -> Self {
        Self::new(State::Off, reason)
    }

    fn new(state: State, reason: impl Into<String>) -> Self {
        Self {
            state,
            reason: reason.into(),
        }
    }
}

/// One condition, judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// Which.
    pub id: ConditionId,
    /// What it weighs.
    pub severity: Severity,
    /// Whether it holds.
    pub state: State,
    /// Why, in one line a person can act on. Foreign text in it is clipped and on one line, not escaped for Markdown.
    pub reason: String,
}

impl Condition {
    pub(super) fn new(id: ConditionId, severity: Severity, finding: Finding) -> Self {
        Self {
            id,
            severity,
            state: finding.state,
            reason: finding.reason,
        }
    }

    /// Is it asked for and not shown to hold?
    #[must_use]
    pub fn is_unmet(&self) -> bool {
        match self.state {
            State::Fails | State::Unknown => true,
            State::Holds | State::Off => false,
        }
    }

    /// Does it hold a merge up?
    #[must_use]
    pub fn blocks(&self) -> bool {
        self.is_unmet() && self.severity.blocks()
    }
}

/// Every condition of one head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conditions {
    head_sha: Sha,
    all: Vec<Condition>,
}

impl Conditions {
    pub(super) fn new(head_sha: Sha, all: Vec<Condition>) -> Self {
        Self { head_sha, all }
    }

    /// The head they speak about.
    #[must_use]
    pub fn head_sha(&self) -> &Sha {
        &self.head_sha
    }

    /// All of them, in the order of [`ConditionId::ALL`].
    #[must_use]
    pub fn all(&self) -> &[Condition] {
        &self.all
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, id: ConditionId) -> Option<&Condition> {
        self.all.iter().find(|condition| condition.id == id)
    }

    /// Those that do not hold, whatever they weigh.
    pub fn unmet(&self) -> impl Iterator<Item = &Condition> {
        self.all.iter().filter(|condition| condition.is_unmet())
    }

    /// Those that hold a merge up.
    pub fn blocks(&self) -> impl Iterator<Item = &Condition> {
        self.all.iter().filter(|condition| condition.blocks())
    }

    /// Does nothing hold a merge up?
    #[must_use]
    pub fn may_merge(&self) -> bool {
        self.blocks().next().is_none()
    }
}

/// How many clauses a reason names.
const NAMED: usize = 5;

/// The first clauses, and how many more there are: a reason stays readable however much is wrong.
pub(super) fn listed(clauses: &[String]) -> String {
    let mut text = clauses
        .iter()
        .take(NAMED)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("; ");
    let more = clauses.len().saturating_sub(NAMED);
    if more > 0 {
        text.push_str("; and ");
        text.push_str(&more.to_string());
        text.push_str(" more");
    }
    text
}
