//! One audit entry as the pages show it. Lenient: members and kinds of a later version are left aside.

use super::words;
use crate::domain::{Quadrant, RepoId, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

/// One entry.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Entry {
    pub(super) seq: u64,
    pub(super) ts: Timestamp,
    pub(super) kind: String,
    #[serde(default)]
    pub(super) pr: Option<String>,
    #[serde(default)]
    pub(super) repo_id: Option<RepoId>,
    #[serde(default)]
    pub(super) head_sha: Option<String>,
    #[serde(default)]
    pub(super) rules_fired: Vec<Vote>,
    #[serde(default)]
    pub(super) quadrant: Option<Quadrant>,
    #[serde(default)]
    pub(super) reasoning: Option<String>,
    #[serde(default)]
    pub(super) base_ref: Option<String>,
    #[serde(default)]
    pub(super) author: Option<String>,
    #[serde(default)]
    pub(super) evidence: Option<Evidence>,
    #[serde(default)]
    pub(super) answer: Option<String>,
    #[serde(default)]
    pub(super) actor: Option<String>,
    #[serde(default)]
    pub(super) signal: Option<String>,
    #[serde(default)]
    pub(super) answered_at: Option<Timestamp>,
    #[serde(default)]
    pub(super) nonce: Option<String>,
    #[serde(default)]
    pub(super) issue_kind: Option<String>,
    #[serde(default)]
    pub(super) inbox: Option<String>,
    #[serde(default)]
    pub(super) issue: Option<String>,
    #[serde(default)]
    pub(super) because: Option<String>,
    #[serde(default)]
    pub(super) old_head_sha: Option<String>,
    #[serde(default)]
    pub(super) passes: Option<bool>,
    #[serde(default)]
    pub(super) merge_mode: Option<String>,
    #[serde(default)]
    pub(super) merge_method: Option<String>,
    #[serde(default)]
    pub(super) warnings: Vec<String>,
    #[serde(default)]
    pub(super) refused_because: Vec<String>,
    #[serde(default)]
    pub(super) agent: Option<String>,
    #[serde(default)]
    pub(super) reverts: Option<String>,
    #[serde(default)]
    pub(super) failed_checks: Vec<String>,
    #[serde(default)]
    pub(super) policy: Option<String>,
    #[serde(default)]
    pub(super) delivery: Option<String>,
    #[serde(default)]
    pub(super) version: Option<String>,
    #[serde(default)]
    pub(super) decision: Option<String>,
    #[serde(default)]
    pub(super) hash: Option<String>,
}

/// One rule's report.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Vote {
    pub(super) rule: String,
    #[serde(default)]
    pub(super) quadrant: Option<Quadrant>,
    #[serde(default)]
    pub(super) reason: Option<String>,
    #[serde(default)]
    pub(super) result: Option<String>,
    #[serde(default)]
    pub(super) ir: Option<String>,
    #[serde(default)]
    pub(super) cr: Option<String>,
}

impl Vote {
    /// What the rule says, for people.
    pub(super) fn says(&self) -> Cow<'_, str> {
        match (&self.reason, &self.ir, &self.cr, &self.result) {
            (Some(reason), ..) => words::shown(reason),
            (None, Some(ir), Some(cr), _) => Cow::Owned(format!("{ir}, {cr}")),
            (None, _, _, Some(result)) => words::shown(result),
            (None, ..) => Cow::Borrowed("does not apply"),
        }
    }
}

/// What the evidence gate says.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Evidence {
    #[serde(default)]
    pub(super) mode: Option<String>,
    #[serde(default)]
    pub(super) effective: Option<String>,
    #[serde(default)]
    pub(super) risk: Option<String>,
    #[serde(default)]
    pub(super) against: Value,
}

impl Evidence {
    /// What is held against the head, one line each.
    pub(super) fn against(&self) -> Vec<String> {
        match &self.against {
            Value::Array(lines) => lines
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            Value::Object(members) => {
                let cause = members
                    .get("unknown")
                    .and_then(Value::as_str)
                    .unwrap_or("no cause is given");
                vec![format!("not known: {cause}")]
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        }
    }
}

impl Entry {
    /// Reads a line; `None` when it is no entry that this program can show.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    /// Repository and number.
    pub(super) fn pull(&self) -> Option<(&str, u64)> {
        let (repo, number) = self.pr.as_deref()?.rsplit_once('#')?;
        Some((repo, number.parse().ok()?))
    }

    /// Is it about a pull request with this number?
    pub(super) fn is_about(&self, number: u64) -> bool {
        self.pull().is_some_and(|(_, of)| of == number)
    }

    /// Who acted, or whose pull request it is.
    pub(super) fn who(&self) -> Option<&str> {
        self.actor.as_deref().or(self.author.as_deref())
    }

    /// Does it say what was decided about a head?
    pub(super) fn is_verdict(&self) -> bool {
        self.kind == "classification"
    }

    /// What it says in one line.
    pub(super) fn says(&self) -> String {
        let text =
            |member: &Option<String>| words::shown(member.as_deref().unwrap_or("?")).into_owned();
        let short = |sha: &Option<String>| {
            sha.as_deref()
                .and_then(|sha| sha.get(..7))
                .unwrap_or("?")
                .to_owned()
        };
        match self.kind.as_str() {
            "classification" => text(&self.reasoning),
            "owner_answer" => words::answer(self.answer.as_deref().unwrap_or("?")).into_owned(),
            "answer_withdrawn" => {
                let answer = words::answer(self.answer.as_deref().unwrap_or("?"));
                format!("“{answer}” no longer stands ({})", text(&self.signal))
            }
            "issue_opened" => format!("{} in {}", self.issue_purpose(), text(&self.inbox)),
            "issue_closed" => format!("{}: {}", text(&self.issue), self.closing()),
            "superseded" => format!(
                "{} was about {}",
                text(&self.issue),
                short(&self.old_head_sha)
            ),
            "merge_group" => match self.passes {
                Some(true) => "passes".to_owned(),
                _ => format!("held up: {}", text(&self.because)),
            },
            "merged" => {
                let method = self.merge_method.as_deref().unwrap_or("as the queue does");
                format!(
                    "{} into {} ({})",
                    words::shown(method),
                    text(&self.base_ref),
                    text(&self.merge_mode)
                )
            }
            "merge_refused" => words::shown(&self.refused_because.join("; ")).into_owned(),
            "promoted" => format!("{} blocks from now on", text(&self.agent)),
            "reverted" => {
                let failed = words::shown(&self.failed_checks.join("; ")).into_owned();
                format!("takes {} back: {failed}", short(&self.reverts))
            }
            "installation_removed" => "nothing of that account is gated any more".to_owned(),
            _ => self
                .reasoning
                .as_deref()
                .map(|text| words::shown(text).into_owned())
                .unwrap_or_default(),
        }
    }

    fn issue_purpose(&self) -> &'static str {
        match self.issue_kind.as_deref() {
            Some("pending_owner") => "question to the owners",
            Some("audit_b") => "trail of a B",
            Some("audit_c") => "trail of a C",
            Some("post_merge") => "failure after the merge",
            _ => "Issue",
        }
    }

    fn closing(&self) -> &'static str {
        match self.because.as_deref() {
            Some("answered") => "an owner answered",
            Some("pull_merged") => "the pull request was merged",
            Some("pull_closed") => "the pull request was closed",
            Some("passive") => "its time had come",
            _ => "closed",
        }
    }
}
