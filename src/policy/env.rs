//! `env.yml`: who we are on GitHub, what counts as CI, what the program may do by itself.

use super::high_risk::{HighRisk, HighRiskFile};
use super::placeholder;
use super::shape::Written;
use super::source::Problem;
use crate::domain::{AppId, MergeMethod, RepoId, RepoName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The publisher of `classifier-judgment` check-runs.
#[derive(Debug, Clone)]
pub struct Publisher {
    /// The App's slug.
    pub slug: String,
    /// The App's id; when given, both must match.
    pub app_id: Option<AppId>,
}

/// Who we are (`env.yml`, `projects.yml`).
#[derive(Debug, Clone)]
pub struct Bot {
    /// The App's slug; its account is `<slug>[bot]`.
    pub app_slug: String,
    /// The bot's own repository, where every pull request is D.
    pub repo: RepoName,
    /// Its id, if configured.
    pub repo_id: Option<RepoId>,
}

/// What counts as green CI, before the overrides of one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ci {
    /// Names of the checks that must be green; empty: none is named.
    pub required_checks: Vec<String>,
    /// Slug of the App whose check-runs count.
    pub expected_check_publisher: String,
    /// May a head without any check pass?
    pub allow_no_ci: bool,
}

/// Whether and how pull requests are merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Merge {
    /// Does the program merge at all? `false`: it observes and judges.
    #[serde(default)]
    pub enabled: bool,
    /// Say what would be merged, merge nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// How commits are joined, where the repository allows it.
    #[serde(default = "squash")]
    pub method: MergeMethod,
    /// Who carries the merge out.
    #[serde(default = "direct")]
    pub mode: MergeMode,
    /// Base branches that are merged into. Empty: the default branch alone.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub base_branches: Vec<String>,
}

fn squash() -> MergeMethod {
    MergeMethod::Squash
}

fn direct() -> MergeMode {
    MergeMode::Direct
}

impl Default for Merge {
    fn default() -> Self {
        Self {
            enabled: false,
            dry_run: false,
            method: squash(),
            mode: direct(),
            base_branches: Vec::new(),
        }
    }
}

/// Who carries a merge out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MergeMode {
    /// The program calls the merge itself.
    Direct,
    /// GitHub's auto-merge is switched on.
    Auto,
    /// The pull request enters the merge queue.
    Queue,
}

/// The evidence gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// What a finding in an evidence ledger does.
    #[serde(default = "advisory")]
    pub mode: EvidenceMode,
    /// What raises the risk of a change to high, by domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_risk: Option<HighRiskFile>,
}

fn advisory() -> EvidenceMode {
    EvidenceMode::Advisory
}

impl Default for Evidence {
    fn default() -> Self {
        Self {
            mode: advisory(),
            high_risk: None,
        }
    }
}

/// What a finding in an evidence ledger does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceMode {
    /// Ledgers are not looked at.
    Off,
    /// A neutral check-run says what was found.
    Advisory,
    /// A finding blocks the merge.
    Required,
}

/// `env.yml` as written: who we are on GitHub, what counts as CI, what the program may do by itself.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "env.yml")]
pub struct EnvFile {
    /// Slug of the GitHub App that this program is; its account is `<slug>[bot]`.
    #[schemars(regex(pattern = "^[a-z0-9]([a-z0-9-]{0,98}[a-z0-9])?$"))]
    pub bot_app_slug: String,
    /// Slug of the App whose `classifier-judgment` check-runs are read. Every workflow of a repository
    /// publishes as `github-actions`.
    #[serde(default = "github_actions")]
    #[schemars(length(min = 1, max = 100))]
    pub classifier_publisher_slug: String,
    /// Id of that App; when given, slug and id must both match. Ids cannot be taken over, slugs can.
    #[serde(default)]
    pub classifier_publisher_app_id: Option<u64>,
    /// Names of the checks that must be green on the head before a merge.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub required_checks: Vec<String>,
    /// Slug of the App whose check-runs count as CI. Default: `github-actions`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    pub expected_check_publisher: Option<String>,
    /// May a head without any check be merged?
    #[serde(default)]
    pub allow_no_ci: bool,
    /// Days for which a new agent identity is advisory before it blocks; 0: never promoted by itself.
    #[serde(default = "l4_burn_in_days")]
    #[schemars(range(max = 3650))]
    pub l4_burn_in_days: u64,
    /// Open a revert pull request when a merged commit breaks a required check?
    #[serde(default)]
    pub auto_revert_pr: bool,
    /// Whether and how pull requests are merged.
    #[serde(default)]
    pub merge: Option<Merge>,
    /// The evidence gate.
    #[serde(default)]
    pub evidence: Option<Evidence>,
    /// Seconds between two sweeps for what webhooks do not tell.
    #[serde(default = "tick_seconds")]
    #[schemars(range(min = 5, max = 86400))]
    pub tick_seconds: u64,
    /// Where the reference implementation's cron job runs.
    #[serde(default, skip_serializing)]
    #[schemars(extend("deprecated" = true, "x-unused" = "this program is a server and has no cron runner"))]
    pub runner_tier: Option<serde_json::Value>,
}

/// The App that runs a repository's own workflows.
pub(super) fn github_actions() -> String {
    "github-actions".to_owned()
}

pub(super) fn l4_burn_in_days() -> u64 {
    60
}

pub(super) fn tick_seconds() -> u64 {
    60
}

/// What `env.yml` says, checked.
#[derive(Debug)]
pub(super) struct Env {
    pub app_slug: String,
    pub publisher: Publisher,
    pub ci: Ci,
    pub merge: Merge,
    pub evidence: EvidenceMode,
    pub high_risk: HighRisk,
    pub l4_burn_in_days: u64,
    pub auto_revert_pr: bool,
    pub tick: Duration,
}

/// The environment; computed defaults are written back into `file` for `config show`.
pub(super) fn compile(
    file: &mut Written<EnvFile>,
    warnings: &mut Vec<Problem>,
) -> Result<Env, Vec<Problem>> {
    let mut problems = Vec::new();
    let slug = &file.value.bot_app_slug;
    if !is_slug(slug) {
        let message = format!("`{slug}` is not the slug of a GitHub App");
        let hint = "it is the last part of `https://github.com/apps/<slug>`: lower case letters, digits, hyphens";
        problems.push(file.problem(&["bot_app_slug"], message).hint(hint));
    } else if placeholder(slug) {
        let message = format!("the App `{slug}` is a placeholder");
        let hint = "write the slug of your App";
        warnings.push(file.problem(&["bot_app_slug"], message).hint(hint));
    }
    for (key, names) in [("required_checks", &file.value.required_checks)] {
        for (index, name) in names.iter().enumerate() {
            if name.trim().is_empty() {
                let path = [key, &index.to_string()];
                problems.push(file.problem(&path, format!("a name in `{key}` is empty")));
            }
        }
    }
    let high_risk = high_risk(file, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let publisher = file.value.expected_check_publisher.clone();
    let written = &mut file.value;
    let expected = publisher.unwrap_or_else(github_actions);
    written.expected_check_publisher = Some(expected.clone());
    let merge = written.merge.get_or_insert_default().clone();
    let evidence = written.evidence.get_or_insert_default().mode;
    Ok(Env {
        app_slug: written.bot_app_slug.clone(),
        publisher: Publisher {
            slug: written.classifier_publisher_slug.clone(),
            app_id: written.classifier_publisher_app_id.map(AppId),
        },
        ci: Ci {
            required_checks: written.required_checks.clone(),
            expected_check_publisher: expected,
            allow_no_ci: written.allow_no_ci,
        },
        merge,
        evidence,
        high_risk,
        l4_burn_in_days: written.l4_burn_in_days,
        auto_revert_pr: written.auto_revert_pr,
        tick: Duration::from_secs(written.tick_seconds),
    })
}

/// The high-risk domains; what cannot be used is noted at its place.
fn high_risk(file: &Written<EnvFile>, problems: &mut Vec<Problem>) -> HighRisk {
    let written = file.value.evidence.as_ref();
    let written = written.and_then(|evidence| evidence.high_risk.as_ref());
    let Some(written) = written else {
        return HighRisk::built_in();
    };
    HighRisk::compile(written).unwrap_or_else(|found| {
        problems.extend(found.into_iter().map(|(domain, problem)| {
            let path = ["evidence", "high_risk", domain, &problem.index.to_string()];
            let message = format!("`{}` {}", problem.glob, problem.what);
            file.problem(&path, message).hint(problem.hint)
        }));
        HighRisk::built_in()
    })
}

fn is_slug(text: &str) -> bool {
    let plain = text
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    plain && (1..=100).contains(&text.len()) && !text.starts_with('-') && !text.ends_with('-')
}
