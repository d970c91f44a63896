//! The ledger as types: one field a section, in the words of the file.
//!
//! INVARIANT: absent is `None`, "none" is an empty list, and a word outside its vocabulary is kept. Nothing in here
//! judges. Places are carried for the findings and are no part of equality or JSON.

use super::record::CheckpointRecord;
use super::sections::{Language, Section};
use super::text::{Item, Place, Text};
use super::words::{
    CheckpointStatus, Disposition, EvidenceType, Mandatory, Needed, Phase, Risk, Stated, Status,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A whole ledger.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "Evidence ledger")]
pub struct Ledger {
    /// The first heading, when it names no section.
    #[serde(skip_serializing_if = "Text::is_empty")]
    pub title: Text,
    /// Lines before the first section that state no field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preamble: Vec<Text>,
    /// The id of the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_id: Option<Item>,
    /// How far the work is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Stated<Phase>>,
    /// What the ledger says the gate decides. Only ever compared with what its content carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disposition: Option<Stated<Disposition>>,
    /// What was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_action: Option<Vec<Item>>,
    /// What may be changed: paths and globs in code spans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorized_scope: Option<Vec<Item>>,
    /// What must not be changed, whatever the scope says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_scope: Option<Vec<Item>>,
    /// What is not known about the scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope_limits: Option<Vec<Item>>,
    /// The risk and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<RiskSection>,
    /// What is taken to be so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumptions: Option<Vec<Assumption>>,
    /// One entry a claim that the decision rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contract: Option<Vec<Claim>>,
    /// What was observed for those claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<Vec<Record>>,
    /// What the verifications said before the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Vec<Record>>,
    /// The question put to a person, and the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// What was done, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_log: Option<Vec<Item>>,
    /// What the verifications said after the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verifications: Option<Vec<Record>>,
    /// What the evidence cannot show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limitations: Option<Vec<Item>>,
    /// Mandatory evidence that is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<Item>>,
    /// Evidence that contradicts other evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflicting: Option<Vec<Item>>,
    /// Questions that are open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unresolved: Option<Vec<Item>>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_disposition: Option<Stated<Disposition>>,
    /// Prose that stands in a section made of fields or entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// Sections this program does not know, as written, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extras: Vec<Extra>,
    /// Where the known sections stand in the file that was read; none otherwise.
    #[serde(skip)]
    pub spans: Spans,
}

/// The heading of a section and the bytes from it to the next section.
#[derive(Debug, Clone)]
pub struct Span {
    /// Which section.
    pub section: Section,
    /// Where the heading (or the labelled line) stands.
    pub at: Place,
    /// The section's bytes in the text that was read; `None` when it is a labelled line of a header.
    pub bytes: Option<Range<usize>>,
}

/// The spans of a file; like a [`Place`], no part of what a ledger says.
#[derive(Debug, Clone, Default)]
pub struct Spans(pub Vec<Span>);

impl PartialEq for Spans {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Spans {}

impl Spans {
    /// Where a section begins, or the start of the file.
    #[must_use]
    pub fn place(&self, section: Section) -> Place {
        let found = self.0.iter().find(|span| span.section == section);
        found.map_or(Place { line: 1, column: 1 }, |span| span.at)
    }
}

/// Prose in a section that is made of fields or entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// The section it stands in.
    pub section: Section,
    /// What it says.
    pub text: Text,
}

/// A section with a heading that names nothing we know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extra {
    /// The heading.
    pub heading: Text,
    /// The Markdown below it, byte for byte but for outer blank lines.
    pub body: String,
}

/// The risk and its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RiskSection {
    /// The level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Stated<Risk>>,
    /// Why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Item>,
}

/// A field of an entry that this program has no name for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Other {
    /// Its label.
    pub label: Text,
    /// Its value.
    pub text: Text,
}

/// One assumption.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Assumption {
    /// What is assumed.
    #[serde(rename = "assumption")]
    pub subject: Text,
    /// How it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Stated<Status>>,
    /// The evidence for it, or why there is none.
    #[serde(skip_serializing_if = "Text::is_empty")]
    pub support: Text,
    /// Fields without a name here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<Other>,
    /// Where it stands.
    #[serde(skip)]
    pub at: Place,
}

/// One entry of the evidence contract.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Claim {
    /// The claim.
    #[serde(rename = "claim")]
    pub subject: Text,
    /// A short name for it, such as `C1`.
    #[serde(skip_serializing_if = "Text::is_empty")]
    pub id: Text,
    /// What would show it.
    #[serde(skip_serializing_if = "Text::is_empty")]
    pub required_evidence: Text,
    /// By looking or by running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_type: Option<Stated<EvidenceType>>,
    /// What follows if it is not supported.
    #[serde(skip_serializing_if = "Text::is_empty")]
    pub consequence: Text,
    /// How the ledger says it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Stated<Status>>,
    /// Must it hold? Absent: yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mandatory: Option<Stated<Mandatory>>,
    /// Before the change or after it? Absent: before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<Stated<Needed>>,
    /// Fields without a name here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<Other>,
    /// Where it stands.
    #[serde(skip)]
    pub at: Place,
}

/// One observation: an evidence record, a baseline or a verification.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    /// The claim or the verification it is about, by its text or its id.
    pub subject: Text,
    /// A short name for it, such as `V1`.
    #[serde(skip_serializing_if = "Text::is_empty")]
    pub id: Text,
    /// What was seen.
    #[serde(skip_serializing_if = "Text::is_empty")]
    pub observed: Text,
    /// The artifact or the command.
    #[serde(skip_serializing_if = "Text::is_empty")]
    pub artifact: Text,
    /// How it was looked at.
    #[serde(skip_serializing_if = "Text::is_empty")]
    pub method: Text,
    /// By looking or by running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_type: Option<Stated<EvidenceType>>,
    /// What it does not show; `none` is a statement, an empty field is not.
    #[serde(skip_serializing_if = "Text::is_empty")]
    pub limitation: Text,
    /// How the ledger says it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Stated<Status>>,
    /// Must it hold (verifications)? Absent: yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mandatory: Option<Stated<Mandatory>>,
    /// Fields without a name here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<Other>,
    /// Where it stands.
    #[serde(skip)]
    pub at: Place,
}

/// The checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Checkpoint {
    /// How the ledger says it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Stated<CheckpointStatus>>,
    /// The record as presented, line for line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<CheckpointRecord>,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
}

/// The answer to a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Approval {
    /// The exact words of the answer.
    #[serde(skip_serializing_if = "Text::is_empty")]
    pub reply: Text,
    /// Who answered.
    #[serde(skip_serializing_if = "Text::is_empty")]
    pub by: Text,
    /// When, as written.
    #[serde(skip_serializing_if = "Text::is_empty")]
    pub when: Text,
    /// The record that was answered, line for line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<CheckpointRecord>,
    /// Where it stands.
    #[serde(skip)]
    pub at: Place,
}

impl Ledger {
    /// The sections that are not there, or are there without saying anything.
    #[must_use]
    pub fn missing_sections(&self) -> Vec<Section> {
        let silent = |section: &Section| !self.says(*section);
        Section::ALL.iter().copied().filter(silent).collect()
    }

    /// Does the ledger say anything in this section? "None" is something.
    #[must_use]
    pub fn says(&self, section: Section) -> bool {
        match section {
            Section::ChangeId => self.change_id.is_some(),
            Section::Phase => self.phase.is_some(),
            Section::Disposition => self.disposition.is_some(),
            Section::RequestedAction => self.requested_action.is_some(),
            Section::AuthorizedScope => self.authorized_scope.is_some(),
            Section::OutOfScope => self.out_of_scope.is_some(),
            Section::ScopeLimits => self.scope_limits.is_some(),
            Section::Risk => self.risk.is_some(),
            Section::Assumptions => self.assumptions.is_some(),
            Section::Contract => self.contract.is_some(),
            Section::Records => self.records.is_some(),
            Section::Baseline => self.baseline.is_some(),
            Section::Checkpoint => self.checkpoint.is_some(),
            Section::Log => self.execution_log.is_some(),
            Section::Verifications => self.verifications.is_some(),
            Section::Limitations => self.limitations.is_some(),
            Section::Missing => self.missing.is_some(),
            Section::Conflicting => self.conflicting.is_some(),
            Section::Unresolved => self.unresolved.is_some(),
            Section::FinalDisposition => self.final_disposition.is_some(),
        }
    }

    /// The list of a section that is a plain list; `None` for the other sections.
    pub(super) fn list_mut(&mut self, section: Section) -> Option<&mut Option<Vec<Item>>> {
        match section {
            Section::RequestedAction => Some(&mut self.requested_action),
            Section::AuthorizedScope => Some(&mut self.authorized_scope),
            Section::OutOfScope => Some(&mut self.out_of_scope),
            Section::ScopeLimits => Some(&mut self.scope_limits),
            Section::Log => Some(&mut self.execution_log),
            Section::Limitations => Some(&mut self.limitations),
            Section::Missing => Some(&mut self.missing),
            Section::Conflicting => Some(&mut self.conflicting),
            Section::Unresolved => Some(&mut self.unresolved),
            Section::ChangeId
            | Section::Phase
            | Section::Disposition
            | Section::Risk
            | Section::Assumptions
            | Section::Contract
            | Section::Records
            | Section::Baseline
            | Section::Checkpoint
            | Section::Verifications
            | Section::FinalDisposition => None,
        }
    }

    /// A ledger that is honest about being empty: every section is there, nothing is claimed.
    ///
    /// `action` is what was asked for, if that is known. The disposition is what such a ledger carries: without an
    /// action a clarification is needed, with one the evidence.
    #[must_use]
    pub fn fresh(change_id: &str, risk: Risk, action: Option<&str>, language: Language) -> Self {
        let reason = match language {
            Language::En => "as given when the ledger was opened; not yet examined",
            Language::Ko => "원장을 열 때 주어진 값; 아직 검토하지 않음",
        };
        let title = match language {
            Language::En => format!("Evidence ledger: {change_id}"),
            Language::Ko => format!("증명 원장: {change_id}"),
        };
        let none = || Some(Vec::new());
        Self {
            title: Text::new(&title),
            change_id: Some(Item::from(change_id)),
            phase: Some(Phase::Draft.into()),
            disposition: Some(match action {
                Some(_) => Disposition::BlockedEvidence.into(),
                None => Disposition::BlockedClarification.into(),
            }),
            requested_action: Some(action.map(Item::from).into_iter().collect()),
            authorized_scope: none(),
            out_of_scope: none(),
            scope_limits: none(),
            risk: Some(RiskSection {
                level: Some(risk.into()),
                reasons: vec![Item::from(reason)],
            }),
            assumptions: Some(Vec::new()),
            contract: Some(Vec::new()),
            records: Some(Vec::new()),
            baseline: Some(Vec::new()),
            checkpoint: Some(Checkpoint::default()),
            execution_log: none(),
            verifications: Some(Vec::new()),
            limitations: none(),
            missing: none(),
            conflicting: none(),
            unresolved: none(),
            ..Self::default()
        }
    }
}
