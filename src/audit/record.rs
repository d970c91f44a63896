//! One entry as it is read back, for people and programs.
//!
//! Lenient on purpose: entries of a later version are shown with the members this program knows.

use crate::domain::{Quadrant, RepoName, Timestamp};
use serde::Deserialize;
use serde_json::Value;

/// One entry as read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Record {
    /// Its number.
    pub seq: u64,
    /// When.
    pub ts: Timestamp,
    /// What kind.
    pub kind: String,
    /// `owner/repo#number`.
    #[serde(default)]
    pub pr: Option<String>,
    /// The head that was judged.
    #[serde(default)]
    pub head_sha: Option<String>,
    /// Every rule's report, as written.
    #[serde(default)]
    pub rules_fired: Vec<Value>,
    /// The quadrant.
    #[serde(default)]
    pub quadrant: Option<Quadrant>,
    /// What decided.
    #[serde(default)]
    pub reasoning: Option<String>,
    /// What the evidence gate says, as written.
    #[serde(default)]
    pub evidence: Option<Value>,
    /// The author of the pull request.
    #[serde(default)]
    pub author: Option<String>,
    /// Who acted.
    #[serde(default)]
    pub actor: Option<String>,
    /// An owner's answer.
    #[serde(default)]
    pub answer: Option<String>,
    /// The signal of the answer.
    #[serde(default)]
    pub signal: Option<String>,
    /// Who carries a merge out.
    #[serde(default)]
    pub merge_mode: Option<String>,
    /// How it merges.
    #[serde(default)]
    pub merge_method: Option<String>,
    /// The base branch.
    #[serde(default)]
    pub base_ref: Option<String>,
    /// Why it was not merged.
    #[serde(default)]
    pub refused_because: Vec<String>,
    /// Digest of the policy.
    #[serde(default)]
    pub policy: Option<String>,
    /// The delivery.
    #[serde(default)]
    pub delivery: Option<String>,
    /// Version of the program.
    #[serde(default)]
    pub version: Option<String>,
    /// Our id of the decision.
    #[serde(default)]
    pub decision: Option<String>,
    /// Its hash.
    #[serde(default)]
    pub hash: Option<String>,
    /// The line as it stands in the file.
    #[serde(skip)]
    pub line: String,
}

impl Record {
    /// Reads a line without its line end.
    pub(super) fn of_line(line: &[u8]) -> serde_json::Result<Self> {
        let mut record: Self = serde_json::from_slice(line)?;
        record.line = String::from_utf8_lossy(line).into_owned();
        Ok(record)
    }

    /// Did this rule vote or raise?
    #[must_use]
    pub fn fired(&self, rule: &str) -> bool {
        self.rules_fired.iter().any(|report| {
            report.get("rule").and_then(Value::as_str) == Some(rule)
                && report.get("quadrant").is_some_and(|vote| !vote.is_null())
        })
    }

    /// What the entry says in one line; `None` when that is not known to this program.
    #[must_use]
    pub fn says(&self) -> Option<String> {
        let merge = || {
            let method = self.merge_method.as_deref().unwrap_or("as the queue does");
            let base = self.base_ref.as_deref().unwrap_or("?");
            let mode = self.merge_mode.as_deref()?;
            Some(format!("{method} into {base} ({mode})"))
        };
        let refused =
            || (!self.refused_because.is_empty()).then(|| self.refused_because.join("; "));
        let said = self.answer.clone().or_else(|| self.reasoning.clone());
        said.or_else(merge).or_else(refused)
    }

    /// The repository part of `pr`.
    #[must_use]
    pub fn repo(&self) -> Option<RepoName> {
        self.pr.as_ref()?.rsplit_once('#')?.0.parse().ok()
    }

    /// The columns of [`Record::columns`], in order.
    pub const COLUMNS: [&'static str; 11] = [
        "seq",
        "ts",
        "kind",
        "pr",
        "head_sha",
        "quadrant",
        "actor",
        "answer",
        "reasoning",
        "policy",
        "hash",
    ];

    /// The entry as a row of a table; what it does not have is empty.
    #[must_use]
    pub fn columns(&self) -> [String; 11] {
        let actor = self.actor.as_ref().or(self.author.as_ref());
        let text = |value: Option<&String>| value.cloned().unwrap_or_default();
        [
            self.seq.to_string(),
            self.ts.to_string(),
            self.kind.clone(),
            text(self.pr.as_ref()),
            text(self.head_sha.as_ref()),
            self.quadrant
                .map(|quadrant| quadrant.to_string())
                .unwrap_or_default(),
            text(actor),
            text(self.answer.as_ref()),
            text(self.reasoning.as_ref()),
            text(self.policy.as_ref()),
            text(self.hash.as_ref()),
        ]
    }
}
