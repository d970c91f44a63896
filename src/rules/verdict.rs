//! The verdict: every rule's report kept, the quadrant folded by maximum.
//!
//! INVARIANT: a [`Verdict`] is built by [`Verdict::fold`] alone, which only the registry calls; nobody else can
//! say what a change is. No vote lowers another, and without a vote the verdict is D.

use crate::domain::{Axes, Quadrant};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The name of a rule as it stands in the log, the check-run, the docs and the cases.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RuleName(String);

impl RuleName {
    /// A built-in rule.
    #[must_use]
    pub fn built_in(name: &'static str) -> Self {
        Self(name.to_owned())
    }

    /// A user rule; `name` is the file's name without its ending.
    #[must_use]
    pub fn user(name: &str) -> Self {
        Self(format!("user.{name}"))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RuleName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What one rule found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Finding {
    /// The path rule: the axes of the change and their product.
    Axes {
        /// Both axes, written as members `ir` and `cr`.
        #[serde(flatten)]
        axes: Axes,
        /// The product.
        quadrant: Quadrant,
    },
    /// The rule matched and votes.
    Match {
        /// Always `true`.
        #[serde(rename = "match")]
        matched: bool,
        /// The vote.
        quadrant: Quadrant,
        /// Why, for people.
        reason: String,
    },
    /// The rule does not apply and abstains. `reason` says what it looked at where that helps.
    NoMatch {
        /// Always `false`.
        #[serde(rename = "match")]
        matched: bool,
        /// What was seen, where it is worth saying (an unverified label, an unreadable verdict).
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A user rule ran.
    User {
        /// `pass`, `raise` or `error`.
        result: UserResult,
        /// The vote; none when it passed.
        #[serde(skip_serializing_if = "Option::is_none")]
        quadrant: Option<Quadrant>,
        /// Why, for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// How a user rule ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserResult {
    /// It had nothing to say.
    Pass,
    /// It voted.
    Raise,
    /// It failed or went over its bounds: D.
    Error,
}

impl Finding {
    /// The rule matched and votes.
    #[must_use]
    pub fn vote_for(quadrant: Quadrant, reason: impl Into<String>) -> Self {
        Self::Match {
            matched: true,
            quadrant,
            reason: reason.into(),
        }
    }

    /// The rule abstains and has nothing to say.
    #[must_use]
    pub fn abstain() -> Self {
        Self::NoMatch {
            matched: false,
            reason: None,
        }
    }

    /// The rule abstains and says what it saw.
    #[must_use]
    pub fn abstain_because(reason: impl Into<String>) -> Self {
        Self::NoMatch {
            matched: false,
            reason: Some(reason.into()),
        }
    }

    /// The vote, or `None` when the rule abstains.
    #[must_use]
    pub fn vote(&self) -> Option<Quadrant> {
        match self {
            Self::Axes { quadrant, .. } | Self::Match { quadrant, .. } => Some(*quadrant),
            Self::NoMatch { .. } => None,
            Self::User { quadrant, .. } => *quadrant,
        }
    }

    /// Why, where the rule says so.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Axes { .. } => None,
            Self::Match { reason, .. } => Some(reason),
            Self::NoMatch { reason, .. } | Self::User { reason, .. } => reason.as_deref(),
        }
    }
}

/// One rule's name and finding: one member of `rules_fired`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleReport {
    /// The rule.
    pub rule: RuleName,
    /// What it found.
    #[serde(flatten)]
    pub finding: Finding,
}

/// What decided one axis of one file: the words for people, such as `critical: .github/workflows/**`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Because(pub Cow<'static, str>);

/// One row of the explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRow {
    /// The path.
    pub path: String,
    /// The path before a rename or copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_path: Option<String>,
    /// What happened to it.
    pub status: Cow<'static, str>,
    /// Both axes of this file alone.
    #[serde(flatten)]
    pub axes: Axes,
    /// What decided the reversibility axis.
    pub ir_because: Because,
    /// What decided the criticality axis.
    pub cr_because: Because,
}

/// The decision about one head of one pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    quadrant: Quadrant,
    reasoning: String,
    rules_fired: Vec<RuleReport>,
    files: Vec<FileRow>,
}

impl Verdict {
    /// The maximum of the votes; D when nobody votes.
    pub(in crate::rules) fn fold(
        rules_fired: Vec<RuleReport>,
        files: Vec<FileRow>,
        reasoning: String,
    ) -> Self {
        let quadrant = rules_fired
            .iter()
            .filter_map(|report| report.finding.vote())
            .max()
            .unwrap_or(Quadrant::D);
        Self {
            quadrant,
            reasoning,
            rules_fired,
            files,
        }
    }

    /// For tests of what shows or stores verdicts.
    #[cfg(test)]
    pub(crate) fn for_tests(
        rules_fired: Vec<RuleReport>,
        files: Vec<FileRow>,
        reasoning: &str,
    ) -> Self {
        Self::fold(rules_fired, files, reasoning.to_owned())
    }

    /// The quadrant.
    #[must_use]
    pub fn quadrant(&self) -> Quadrant {
        self.quadrant
    }

    /// One short line that names what decided, worst first.
    #[must_use]
    pub fn reasoning(&self) -> &str {
        &self.reasoning
    }

    /// Every rule's report, in chain order.
    #[must_use]
    pub fn rules_fired(&self) -> &[RuleReport] {
        &self.rules_fired
    }

    /// One row a file, in the order of the facts.
    #[must_use]
    pub fn files(&self) -> &[FileRow] {
        &self.files
    }

    /// The axes of the change by the path rule; `None` when there were no files to look at.
    #[must_use]
    pub fn axes(&self) -> Option<Axes> {
        self.rules_fired
            .iter()
            .find_map(|report| match &report.finding {
                Finding::Axes { axes, .. } => Some(*axes),
                Finding::Match { .. } | Finding::NoMatch { .. } | Finding::User { .. } => None,
            })
    }
}
