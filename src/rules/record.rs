//! A verdict as it is told and kept: what it was computed from, and the document that explains it.
//!
//! Both are promises: the explanation is what `explain --json` prints, the basis is what `audit replay` judges again.
//! INVARIANT: [`Basis::judge`] under the policy of the day gives the verdict of the day, unless the program changed.

use super::{FileRow, RuleName, RuleReport, Verdict, evaluate};
use crate::domain::{AccountId, Axes, Criticality, Facts, Quadrant, Reversibility, Sha};
use crate::policy::Policy;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a verdict was computed from, the policy's files aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// What was read of the pull request.
    pub facts: Facts,
    /// The owners that counted: login in lower case, and the account it was pinned to.
    pub owners: Vec<(String, AccountId)>,
}

impl Basis {
    /// Judges the facts under a policy, with the owners that it has pinned.
    #[must_use]
    pub fn judge(&self, policy: &Policy) -> Verdict {
        evaluate(&self.facts, policy)
    }
}

/// How two verdicts on the same facts differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The quadrant that was.
    pub was: Quadrant,
    /// The quadrant that would be.
    pub would: Quadrant,
    /// The rules that would vote otherwise, in the order of their names.
    pub votes: Vec<VoteChange>,
}

/// One rule that would vote otherwise; `None` is no vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VoteChange {
    /// The rule.
    pub rule: RuleName,
    /// Its vote that was.
    pub was: Option<Quadrant>,
    /// Its vote that would be.
    pub would: Option<Quadrant>,
}

impl Difference {
    /// Of the verdict that stands in the log and another one; `None` when quadrant and votes are the same, whatever the
    /// words.
    #[must_use]
    pub fn of(was: (Quadrant, &[RuleReport]), would: &Verdict) -> Option<Self> {
        let mut votes: BTreeMap<&RuleName, (Option<Quadrant>, Option<Quadrant>)> = BTreeMap::new();
        for report in was.1 {
            votes.entry(&report.rule).or_default().0 = report.finding.vote();
        }
        for report in would.rules_fired() {
            votes.entry(&report.rule).or_default().1 = report.finding.vote();
        }
        let difference = Self {
            was: was.0,
            would: would.quadrant(),
            votes: votes
                .into_iter()
                .filter(|(_, (was, would))| was != would)
                .map(|(rule, (was, would))| VoteChange {
                    rule: rule.clone(),
                    was,
                    would,
                })
                .collect(),
        };
        let same = difference.was == difference.would && difference.votes.is_empty();
        (!same).then_some(difference)
    }
}

/// The decision document of `classify --json` and `explain --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// Always `classification`.
    pub kind: String,
    /// `owner/repo#number`.
    pub pr: String,
    /// The commit that the change is compared with.
    pub base_sha: Sha,
    /// The commit that is judged.
    pub head_sha: Sha,
    /// The verdict.
    pub quadrant: Quadrant,
    /// The reversibility of the change by the path rule; `None`: no files to look at.
    pub ir: Option<Reversibility>,
    /// The criticality of the change by the path rule; `None`: no files to look at.
    pub cr: Option<Criticality>,
    /// The line that names what decided.
    pub reasoning: String,
    /// Every rule's report, in chain order.
    pub rules_fired: Vec<RuleReport>,
    /// One row a file.
    pub files: Vec<FileRow>,
    /// Digest of the policy.
    pub policy: String,
    /// Version of the program.
    pub version: String,
}

impl Explanation {
    /// Of a verdict on these facts under the policy with this digest.
    #[must_use]
    pub fn of(facts: &Facts, verdict: &Verdict, policy: &str, version: &str) -> Self {
        let axes: Option<Axes> = verdict.axes();
        Self {
            kind: "classification".to_owned(),
            pr: format!("{}#{}", facts.repo, facts.number),
            base_sha: facts.base_sha.clone(),
            head_sha: facts.head_sha.clone(),
            quadrant: verdict.quadrant(),
            ir: axes.map(|axes| axes.ir),
            cr: axes.map(|axes| axes.cr),
            reasoning: verdict.reasoning().to_owned(),
            rules_fired: verdict.rules_fired().to_vec(),
            files: verdict.files().to_vec(),
            policy: policy.to_owned(),
            version: version.to_owned(),
        }
    }
}
