//! `projects.yml`: the repositories that are watched, and where decisions are asked for.

use super::placeholder;
use super::shape::Written;
use super::source::Problem;
use crate::domain::{RepoId, RepoName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The repositories of this installation.
#[derive(Debug, Clone)]
pub struct Repos {
    /// The governance repository.
    pub governance: RepoName,
    /// Repositories whose pull requests are gated.
    pub gated: Vec<RepoName>,
    /// Repositories that are watched after the merge and not gated.
    pub audit_only: Vec<RepoName>,
    /// What is different in one repository.
    pub overrides: Vec<(RepoName, RepoOverride)>,
    /// Hours after a merge past the gate until its decision record is due.
    pub adr_deadline_hours: u64,
}

/// Where decisions are asked for, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbox {
    /// Where the Issues go.
    pub repository: RepoName,
    /// The language of what the program writes there.
    pub language: Language,
    /// Days after which a B or C Issue closes by itself; 0 is never.
    pub passive_close_days: u64,
}

/// A language the program writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Korean.
    Ko,
}

/// `projects.yml` as written: the repositories that are watched, and where decisions are asked for.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "projects.yml")]
pub struct ProjectsFile {
    /// `owner/name` of the repository that holds the rules of the house and, by default, the decision Issues.
    #[schemars(regex(pattern = "^[^/\\s]+/[^/\\s]+$"))]
    pub governance_repo: String,
    /// Repositories whose pull requests are gated.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub supervised_repos: Vec<String>,
    /// The program's own repository, where every pull request is D. Default: the governance repository.
    #[serde(default)]
    pub bot_repo: Option<String>,
    /// GitHub's id of `bot_repo`, which survives a rename.
    #[serde(default)]
    pub bot_repo_id: Option<u64>,
    /// Repositories that are watched after the merge, and not gated.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub audit_only_repos: Vec<String>,
    /// By `owner/name`: what is different in one repository.
    #[serde(default)]
    pub repo_overrides: Option<BTreeMap<String, Option<RepoOverride>>>,
    /// Merges past the gate in an emergency.
    #[serde(default)]
    pub break_glass: Option<BreakGlass>,
    /// Where decisions are asked for, and how.
    #[serde(default)]
    pub decision_inbox: Option<DecisionInbox>,
}

/// What is different in one repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepoOverride {
    /// Names of the checks that must be green, instead of those of `env.yml`. An empty list: none is named.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub required_checks: Option<Vec<String>>,
    /// Slug of the App whose check-runs count, instead of that of `env.yml`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    pub expected_check_publisher: Option<String>,
}

/// Merges past the gate in an emergency.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BreakGlass {
    /// Hours until the decision record of such a merge is due.
    #[serde(default = "adr_deadline_hours")]
    #[schemars(range(min = 1, max = 8760))]
    pub adr_deadline_hours: u64,
}

fn adr_deadline_hours() -> u64 {
    24
}

impl Default for BreakGlass {
    fn default() -> Self {
        Self {
            adr_deadline_hours: adr_deadline_hours(),
        }
    }
}

/// Where decisions are asked for, and how.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionInbox {
    /// `owner/name` of the repository that gets the Issues. Default: the governance repository.
    #[serde(default)]
    pub repository: Option<String>,
    /// The language of what the program writes.
    #[serde(default = "language")]
    pub language: Language,
    /// Days after which a B or C Issue closes by itself unless an owner commented; 0: never.
    #[serde(default = "passive_close_days")]
    #[schemars(range(max = 3650))]
    pub passive_close_days: u64,
    /// An old key that never had an effect.
    #[serde(default, skip_serializing)]
    #[schemars(extend("deprecated" = true, "x-unused" = "its lifecycle was never in force; `passive_close_days` closes B and C Issues"))]
    pub thresholds: Option<serde_json::Value>,
}

fn language() -> Language {
    Language::En
}

fn passive_close_days() -> u64 {
    7
}

impl Default for DecisionInbox {
    fn default() -> Self {
        Self {
            repository: None,
            language: language(),
            passive_close_days: passive_close_days(),
            thresholds: None,
        }
    }
}

/// What `projects.yml` says, checked.
#[derive(Debug)]
pub(super) struct Projects {
    pub repos: Repos,
    pub inbox: Inbox,
    pub bot_repo: RepoName,
    pub bot_repo_id: Option<RepoId>,
}

/// The repositories and the inbox; computed defaults are written back into `file` for `config show`.
pub(super) fn compile(
    file: &mut Written<ProjectsFile>,
    warnings: &mut Vec<Problem>,
) -> Result<Projects, Vec<Problem>> {
    let inbox = file.value.decision_inbox.clone().unwrap_or_default();
    let mut names = Names {
        file,
        problems: Vec::new(),
        warnings,
    };
    let written = &names.file.value;
    let governance = names.one(&["governance_repo"], &written.governance_repo);
    let optional = |names: &mut Names<'_>, path: &[&str], text: Option<&str>| match text {
        Some(text) => names.one(path, text),
        None => governance.clone(),
    };
    let bot_repo = optional(&mut names, &["bot_repo"], written.bot_repo.as_deref());
    let inbox_repo = optional(
        &mut names,
        &["decision_inbox", "repository"],
        inbox.repository.as_deref(),
    );
    let supervised = names.list("supervised_repos", &written.supervised_repos);
    let audit_only = names.list("audit_only_repos", &written.audit_only_repos);
    let overrides = names.overrides(&supervised);
    if !names.problems.is_empty() {
        return Err(names.problems);
    }
    let (Some(governance), Some(bot_repo), Some(inbox_repo)) = (governance, bot_repo, inbox_repo)
    else {
        return Err(names.problems);
    };
    let break_glass = written.break_glass.clone().unwrap_or_default();
    let bot_repo_id = written.bot_repo_id.map(RepoId);
    let gated: Vec<RepoName> = supervised
        .into_iter()
        .filter(|repo| !audit_only.contains(repo))
        .collect();
    if gated.is_empty() {
        let message = "no repository is gated";
        let hint = "name some under `supervised_repos`";
        let problem = file.problem(&["supervised_repos"], message).hint(hint);
        warnings.push(problem);
    }
    file.value.bot_repo = Some(bot_repo.to_string());
    file.value.break_glass = Some(break_glass.clone());
    file.value.decision_inbox = Some(DecisionInbox {
        repository: Some(inbox_repo.to_string()),
        ..inbox.clone()
    });
    Ok(Projects {
        repos: Repos {
            governance,
            gated,
            audit_only,
            overrides,
            adr_deadline_hours: break_glass.adr_deadline_hours,
        },
        inbox: Inbox {
            repository: inbox_repo,
            language: inbox.language,
            passive_close_days: inbox.passive_close_days,
        },
        bot_repo,
        bot_repo_id,
    })
}

/// Reads repository names and notes what is wrong with them.
struct Names<'a> {
    file: &'a Written<ProjectsFile>,
    problems: Vec<Problem>,
    warnings: &'a mut Vec<Problem>,
}

impl Names<'_> {
    fn one(&mut self, path: &[&str], text: &str) -> Option<RepoName> {
        match text.parse::<RepoName>() {
            Ok(name) => {
                if placeholder(name.owner()) {
                    let message = format!("the repository `{name}` is a placeholder");
                    let hint = "write your own `owner/name`";
                    self.warnings
                        .push(self.file.problem(path, message).hint(hint));
                }
                Some(name)
            }
            Err(error) => {
                self.problems
                    .push(self.file.problem(path, error.to_string()));
                None
            }
        }
    }

    fn list(&mut self, key: &str, texts: &[String]) -> Vec<RepoName> {
        let mut names: Vec<RepoName> = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            let path = [key, &index.to_string()];
            let Some(name) = self.one(&path, text) else {
                continue;
            };
            if names.contains(&name) {
                let message = format!("`{name}` stands twice in `{key}`");
                self.problems.push(self.file.problem(&path, message));
            }
            names.push(name);
        }
        names
    }

    fn overrides(&mut self, supervised: &[RepoName]) -> Vec<(RepoName, RepoOverride)> {
        let mut overrides: Vec<(RepoName, RepoOverride)> = Vec::new();
        for (text, values) in self.file.value.repo_overrides.iter().flatten() {
            let path = ["repo_overrides", text.as_str()];
            let Ok(name) = text.parse::<RepoName>() else {
                let message = format!("`{text}` is not a repository name of the form `owner/name`");
                self.problems.push(self.file.key_problem(&path, message));
                continue;
            };
            if overrides.iter().any(|(known, _)| *known == name) {
                let message = format!("`{text}` stands twice, in different spellings");
                self.problems.push(self.file.key_problem(&path, message));
            }
            if !supervised.contains(&name) {
                let message = format!("`{text}` is not among the `supervised_repos`");
                self.warnings.push(self.file.key_problem(&path, message));
            }
            overrides.push((name, values.clone().unwrap_or_default()));
        }
        overrides
    }
}
