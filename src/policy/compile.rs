//! All files of a configuration directory to one [`Policy`], or every problem of all of them.
//!
//! INVARIANT: nothing that looks like policy is passed over in silence: an unknown YAML file or a file among the
//! user rules that is none is a problem, never ignored.

use super::nearest::nearest;
use super::paths::{ClassifierRulesFile, PathPolicy, PathProblem};
use super::shape::{self, Written};
use super::source::{Effective, Place, Problem, SourceFile};
use super::{
    AgentRegistry, EnvFile, OwnerFile, Policy, ProjectsFile, Skills, agent_registry, env, owner,
    projects, skills, user_rules,
};
use crate::domain::RepoName;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A policy, with what is worth saying about it.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The policy.
    pub policy: Policy,
    /// What loads and should be looked at all the same.
    pub warnings: Vec<Problem>,
    /// Every value with its origin, for `config show`.
    pub effective: Vec<Effective>,
}

const REQUIRED: [&str; 3] = ["owner.yml", "projects.yml", "env.yml"];
const RULES: &str = "classifier_rules.yml";
const OPTIONAL: [&str; 3] = ["skills.yml", "agent_registry.yml", RULES];
/// Decides nothing about a pull request; read by `settings`.
const SERVER: &str = "server.yml";
/// Read by people's agents in the reference implementation, never by its gate.
const UNREAD: &str = "preferences.yml";

/// Compiles the files of one configuration directory. `server.yml` is left to the server's settings.
///
/// # Errors
/// Every problem of every file, in the order of files and places.
pub fn compile(directory: &str, files: &[SourceFile]) -> Result<Compiled, Vec<Problem>> {
    let mut pass = Pass {
        directory,
        files,
        problems: Vec::new(),
        warnings: Vec::new(),
        effective: Vec::new(),
    };
    for file in files {
        pass.check_name(file);
    }
    let policy = pass.policy();
    let mut problems = pass.problems;
    problems.sort();
    problems.dedup();
    match policy {
        Some(policy) if problems.is_empty() => Ok(Compiled {
            policy,
            warnings: pass.warnings,
            effective: pass.effective,
        }),
        _ => Err(problems),
    }
}

struct Pass<'a> {
    directory: &'a str,
    files: &'a [SourceFile],
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    effective: Vec<Effective>,
}

impl Pass<'_> {
    fn check_name(&mut self, file: &SourceFile) {
        let name = file.name.as_str();
        let known = || REQUIRED.into_iter().chain(OPTIONAL).chain([SERVER]);
        let problem = |message: String| Problem::new(&file.shown, Place::START, message);
        if name.starts_with("skills/") {
            self.problems.extend(user_rules::check_name(file));
        } else if name == UNREAD {
            let message = "not read: it decides nothing about a pull request".to_owned();
            self.warnings.push(problem(message));
        } else if file.is_yaml() && !known().any(|k| k == name) {
            let hint = match nearest(name, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known files: {}", known().collect::<Vec<_>>().join(", ")),
            };
            let message = format!("unknown configuration file `{name}`");
            self.problems.push(problem(message).hint(hint));
        }
    }

    fn find(&self, name: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.name == name)
    }

    /// Reads an optional file; `None` when it is absent or wrong.
    fn read<T: DeserializeOwned + JsonSchema>(&mut self, name: &str) -> Option<Written<T>> {
        let file = self.files.iter().find(|file| file.name == name)?;
        let read = shape::read::<T>(file, &mut self.warnings);
        self.keep(read)
    }

    fn read_required<T: DeserializeOwned + JsonSchema>(
        &mut self,
        name: &str,
    ) -> Option<Written<T>> {
        if self.find(name).is_none() {
            let shown = SourceFile::new(self.directory, name, "").shown;
            let problem = Problem::new(&shown, Place::START, "the file is missing");
            let hint = "copy it from the `config/` directory that comes with quadgate";
            self.problems.push(problem.hint(hint));
        }
        self.read(name)
    }

    fn keep<T>(&mut self, result: Result<T, Vec<Problem>>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(problems) => {
                self.problems.extend(problems);
                None
            }
        }
    }

    fn show<T: Serialize>(&mut self, file: &Written<T>) {
        let resolved = serde_json::to_value(&file.value).unwrap_or(Value::Null);
        self.effective.extend(file.effective(&resolved));
    }

    fn policy(&mut self) -> Option<Policy> {
        let mut warnings = Vec::new();
        let owners = self
            .read_required::<OwnerFile>("owner.yml")
            .and_then(|mut file| {
                let owners = owner::compile(&mut file, &mut warnings);
                self.show(&file);
                self.keep(owners)
            });
        let projects_file = self.read_required::<ProjectsFile>("projects.yml");
        let projects = projects_file.and_then(|mut file| {
            let projects = projects::compile(&mut file, &mut warnings);
            self.show(&file);
            self.keep(projects).map(|projects| (projects, file))
        });
        let env = self
            .read_required::<EnvFile>("env.yml")
            .and_then(|mut file| {
                let env = env::compile(&mut file, &mut warnings);
                self.show(&file);
                self.keep(env)
            });
        let skills_file = self.read::<Skills>("skills.yml");
        let user_rules = self.user_rules(skills_file.as_ref());
        let skills = skills_file.and_then(|file| {
            let skills = skills::compile(&file, &mut warnings);
            self.show(&file);
            self.keep(skills)
        });
        let agents = self
            .read::<AgentRegistry>("agent_registry.yml")
            .and_then(|file| {
                self.show(&file);
                agent_registry::compile(&file, &mut warnings)
            });
        let paths = match self.find(RULES) {
            None => Some(super::built_in_paths()),
            Some(_) => self.read::<ClassifierRulesFile>(RULES).and_then(|file| {
                self.show(&file);
                let paths = PathPolicy::compile(&file.value);
                let paths = paths.map_err(|problems| path_problems(&file, &problems));
                self.keep(paths)
            }),
        };
        self.warnings.append(&mut warnings);
        let (projects, projects_file) = projects?;
        let env = env?;
        let policy = Policy {
            owners: owners?,
            bot: super::Bot {
                app_slug: env.app_slug,
                repo: projects.bot_repo,
                repo_id: projects.bot_repo_id,
            },
            publisher: Some(env.publisher),
            paths: paths?,
            repos: projects.repos,
            inbox: projects.inbox,
            ci: env.ci,
            merge: env.merge,
            evidence: env.evidence,
            high_risk: env.high_risk,
            l4_burn_in_days: env.l4_burn_in_days,
            auto_revert_pr: env.auto_revert_pr,
            tick: env.tick,
            skills: skills.unwrap_or_default(),
            agents,
            user_rules,
            digest: digest(self.files),
        };
        self.check_ci(&policy, &projects_file);
        Some(policy)
    }

    fn user_rules(&mut self, skills: Option<&Written<Skills>>) -> user_rules::UserRules {
        let user_rules::Read {
            rules,
            problems,
            warnings,
            effective,
        } = user_rules::read(self.files, skills);
        self.problems.extend(problems);
        self.warnings.extend(warnings);
        self.effective.extend(effective);
        rules
    }

    /// A gated repository that names no check merges on any green check, also one that the author made.
    fn check_ci(&mut self, policy: &Policy, projects: &Written<ProjectsFile>) {
        if policy.ci.allow_no_ci {
            return;
        }
        for (index, text) in projects.value.supervised_repos.iter().enumerate() {
            let Ok(repo) = text.parse::<RepoName>() else {
                continue;
            };
            if policy.is_gated(&repo) && policy.ci_of(&repo).required_checks.is_empty() {
                let message = format!("`{repo}` names no required check: any green check would do");
                let hint = "name checks in `required_checks` (env.yml, or repo_overrides here), or say `allow_no_ci: true` in env.yml";
                let path = ["supervised_repos", &index.to_string()];
                self.warnings
                    .push(projects.problem(&path, message).hint(hint));
            }
        }
    }
}

/// The path rule's own problems at their places.
fn path_problems(file: &Written<ClassifierRulesFile>, problems: &[PathProblem]) -> Vec<Problem> {
    let at = |problem: &PathProblem| {
        let message = format!("`{}` {}", problem.entry, problem.what);
        let path = [problem.list, &problem.index.to_string()];
        file.problem(&path, message).hint(problem.hint.clone())
    };
    problems.iter().map(at).collect()
}

/// The digest of the files that decide about pull requests: names and texts, in the order of names. A byte
/// order mark and the kind of line ends do not count; a comment does.
#[must_use]
pub fn digest(files: &[SourceFile]) -> String {
    let mut policy_files: Vec<&SourceFile> = files
        .iter()
        .filter(|file| {
            let name = file.name.as_str();
            REQUIRED.contains(&name) || OPTIONAL.contains(&name) || user_rules::is_rule(name)
        })
        .collect();
    policy_files.sort_by(|a, b| a.name.cmp(&b.name));
    let mut hash = Sha256::new();
    hash.update(b"quadgate policy 1\n");
    for file in policy_files {
        let text = file.text.strip_prefix('\u{feff}').unwrap_or(&file.text);
        let text = text.replace("\r\n", "\n");
        // Lengths go first, so that no text can pass for the next file's name.
        hash.update(format!("{} {}\n", file.name, text.len()).as_bytes());
        hash.update(text.as_bytes());
    }
    format!("sha256:{}", hex::encode(hash.finalize()))
}

/// The JSON Schemas of the policy files by the stem of their names (`owner`, `env`, …).
#[must_use]
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("owner", shape::schema::<OwnerFile>()),
        ("projects", shape::schema::<ProjectsFile>()),
        ("env", shape::schema::<EnvFile>()),
        ("skills", shape::schema::<Skills>()),
        ("agent_registry", shape::schema::<AgentRegistry>()),
        ("classifier_rules", shape::schema::<ClassifierRulesFile>()),
        ("user_rule", shape::schema::<user_rules::UserRuleFile>()),
    ]
}
