//! `skills.yml`: which checks run, and how much they weigh.
//!
//! INVARIANT: the conditions C1 to C5 and the rules that protect the gate itself cannot be switched off here.

use super::shape::Written;
use super::source::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How much a failing check weighs. P0 and P1 block, P2 warns, P3 is only recorded.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum Severity {
    /// Blocks.
    P0,
    /// Blocks.
    P1,
    /// Warns.
    P2,
    /// Is recorded.
    P3,
}

impl Severity {
    /// Does a failing check of this severity hold a merge up?
    #[must_use]
    pub fn blocks(self) -> bool {
        match self {
            Self::P0 | Self::P1 => true,
            Self::P2 | Self::P3 => false,
        }
    }
}

/// `skills.yml`: which checks run, and how much they weigh.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "skills.yml")]
pub struct Skills {
    /// Checks that must be there. Empty: all that exist run.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub enabled: Vec<String>,
    /// Checks that do not run. C1 to C5, `bot_self_repo` and `classifier_publisher_invalid` cannot stand here.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub disabled: Vec<String>,
    /// By name: another severity.
    #[serde(default)]
    pub severity_overrides: BTreeMap<String, Severity>,
}

impl Skills {
    /// The severity of a check, `own` unless it is overridden.
    #[must_use]
    pub fn severity(&self, name: &str, own: Severity) -> Severity {
        self.severity_overrides.get(name).copied().unwrap_or(own)
    }

    /// Was this check switched off? Never true of a core one.
    #[must_use]
    pub fn is_disabled(&self, name: &str) -> bool {
        self.disabled.iter().any(|disabled| disabled == name)
    }
}

/// The checks that cannot be disabled, under our name and under those of the reference implementation.
const CORE: [(&str, &[&str]); 9] = [
    ("C1", &["validator_ready_to_merge", "ready_to_merge"]),
    ("C2", &["validator_ci_green", "ci_green"]),
    (
        "C3",
        &[
            "validator_classifier",
            "path_classifier_default",
            "classifier_path_default",
        ],
    ),
    ("C4", &["validator_base_up_to_date", "base_up_to_date"]),
    ("C5", &["validator_trailers", "trailers"]),
    ("bot_self_repo", &["classifier_bot_self_repo"]),
    (
        "classifier_publisher_invalid",
        &["validator_classifier_publisher", "classifier_publisher"],
    ),
    ("facts_incomplete", &[]),
    (
        "agent_session_invalid",
        &["classifier_agent_session_invalid"],
    ),
];

/// Rules that vote whatever stands in the file: switching one off could only make a verdict milder.
const BUILT_IN: [&str; 3] = ["published_verdict", "empty_pr", "auto_revert_marker"];

/// The core check that a name means.
fn core(name: &str) -> Option<&'static str> {
    CORE.iter()
        .find(|(own, others)| {
            own.eq_ignore_ascii_case(name) || others.iter().any(|o| o.eq_ignore_ascii_case(name))
        })
        .map(|(own, _)| *own)
}

/// The skills, or which of them cannot be disabled.
pub(super) fn compile(
    file: &Written<Skills>,
    warnings: &mut Vec<Problem>,
) -> Result<Skills, Vec<Problem>> {
    let mut problems = Vec::new();
    for (index, name) in file.value.disabled.iter().enumerate() {
        if core(name).is_some() {
            let message = format!("`{name}` cannot be disabled");
            let hint = "C1 to C5 and the rules that protect the gate always run";
            let path = ["disabled", &index.to_string()];
            problems.push(file.problem(&path, message).hint(hint));
        } else if BUILT_IN.contains(&name.as_str()) {
            let message = format!("`{name}` is a built-in rule and runs all the same");
            warnings.push(file.problem(&["disabled", &index.to_string()], message));
        }
    }
    for (name, severity) in &file.value.severity_overrides {
        if core(name).is_some() && !severity.blocks() {
            let message = format!("`{name}` at {severity:?} no longer holds a merge up");
            warnings.push(file.problem(&["severity_overrides", name], message));
        }
    }
    if problems.is_empty() {
        Ok(file.value.clone())
    } else {
        Err(problems)
    }
}
