//! The App's registration, its webhook, the rules of branches, as GitHub writes them.

use serde::Deserialize;
use serde_json::Value;

/// The App's webhook.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::github) struct HookConfig {
    pub(in crate::github) url: Option<String>,
    pub(in crate::github) content_type: Option<String>,
    /// `"1"`, `"0"`, or a number.
    pub(in crate::github) insecure_ssl: Option<Value>,
    /// Asterisks, when there is one.
    pub(in crate::github) secret: Option<String>,
}

/// A rule in force on a branch.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::github) struct Rule {
    #[serde(rename = "type")]
    pub(in crate::github) kind: Option<String>,
    pub(in crate::github) parameters: Option<RuleParameters>,
}

/// What a rule asks for; other rules have other members.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::github) struct RuleParameters {
    pub(in crate::github) required_status_checks: Vec<RuledCheck>,
}

/// A check that a ruleset requires.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::github) struct RuledCheck {
    pub(in crate::github) context: Option<String>,
    pub(in crate::github) integration_id: Option<i64>,
}

/// A branch, as far as its protection goes.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::github) struct Branch {
    pub(in crate::github) protection: Option<Protection>,
}

/// The protection of a branch.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::github) struct Protection {
    pub(in crate::github) required_status_checks: Option<ProtectedChecks>,
}

/// The checks that a protection requires.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::github) struct ProtectedChecks {
    pub(in crate::github) checks: Vec<ProtectedCheck>,
}

/// A check that a protection requires; -1 is any App.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::github) struct ProtectedCheck {
    pub(in crate::github) context: Option<String>,
    pub(in crate::github) app_id: Option<i64>,
}

/// An App just made from a manifest, with what is shown this once.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::github) struct MadeApp {
    pub(in crate::github) id: Option<u64>,
    pub(in crate::github) slug: Option<String>,
    pub(in crate::github) html_url: Option<String>,
    pub(in crate::github) owner: Option<super::User>,
    pub(in crate::github) client_id: Option<String>,
    pub(in crate::github) client_secret: Option<String>,
    pub(in crate::github) webhook_secret: Option<String>,
    pub(in crate::github) pem: Option<String>,
}
