//! `quadgate doctor`: is everything in place, and if not, how is it mended?
//!
//! [`look`](examine) reads and [`judge`] says what it means. INVARIANT: one thing that fails stops no other; what could
//! not be looked at is a failure with its cause, never taken for well.

mod finding;
mod judge;
mod local;

pub use finding::{Finding, State, Unknown};

use crate::domain::{AppId, RepoName};
use crate::github::needs::Features;
use crate::github::{
    ApiError, ClientConfig, GitHub, InstallationView, ReadRetry, RepoView, Timeouts,
};
use crate::plan::labels::{ALL, READY_TO_MERGE};
use crate::plan::{CHECK_RUN_NAME, EVIDENCE_CHECK_NAME};
use crate::policy::{EvidenceMode, Policy};
use crate::settings::{Environment, Loaded, Secrets};
use judge::Holder;
use secrecy::ExposeSecret;
use std::time::Duration;

/// A webhook secret shorter than this can be guessed.
const SECRET_MIN: usize = 16;
/// The checks that ask GitHub, in the order in which they are shown; those of each repository come after them.
const REMOTE: [&str; 7] = [
    "app-key",
    "clock",
    "permissions",
    "events",
    "webhook",
    "deliveries",
    "installations",
];

/// What is looked at.
pub struct Subject<'a> {
    /// The configuration.
    pub loaded: &'a Loaded,
    /// The environment that `serve` would see.
    pub environment: &'a Environment,
    /// Only this repository of the configured ones.
    pub only: Option<&'a RepoName>,
}

/// Looks at everything. Must be called inside a runtime.
pub async fn examine(subject: &Subject<'_>) -> Vec<Finding> {
    let loaded = subject.loaded;
    let mut findings = config(loaded);
    findings.push(local::directory(
        "data-dir",
        "data_dir",
        &loaded.server.data_dir,
    ));
    findings.push(local::directory(
        "audit-dir",
        "audit_dir",
        &loaded.server.audit_dir,
    ));
    findings.extend(local::store(&loaded.server, subject.environment).await);
    let secrets = secrets(subject.environment, &mut findings);
    findings.extend(local::secret_files(subject.environment));
    let repos = repos(&loaded.policy, subject.only, &mut findings);
    match secrets.and_then(|secrets| client(loaded, &secrets)) {
        Ok(github) => findings.extend(at_github(&github, loaded, &repos).await),
        Err(why) => findings.extend(nothing_known(&why, 0, &repos)),
    }
    findings
}

fn config(loaded: &Loaded) -> Vec<Finding> {
    let mut findings: Vec<Finding> = loaded
        .warnings
        .iter()
        .map(|warning| {
            Finding::warn(
                "config",
                warning.to_string().replace('\n', " "),
                "see `quadgate config check`",
            )
        })
        .collect();
    if findings.is_empty() {
        findings.push(Finding::ok("config", "loads"));
    }
    findings
}

fn secrets(environment: &Environment, findings: &mut Vec<Finding>) -> Result<Secrets, Unknown> {
    const CHECK: &str = "secrets";
    const MEND: &str = "`quadgate setup` writes them; see docs/configuration.md for the variables";
    match Secrets::read(environment) {
        Ok(secrets) => {
            let short = secrets
                .webhook
                .iter()
                .any(|secret| secret.expose_secret().len() < SECRET_MIN);
            findings.push(if short {
                Finding::warn(
                    CHECK,
                    format!("a webhook secret has less than {SECRET_MIN} characters"),
                    "set a long random one in the App's settings and in `QUADGATE_WEBHOOK_SECRET`",
                )
            } else {
                Finding::ok(
                    CHECK,
                    "webhook secret, App id and private key; the key signs",
                )
            });
            Ok(secrets)
        }
        Err(problems) => {
            findings.extend(
                problems
                    .iter()
                    .map(|problem| Finding::fail(CHECK, problem.to_string(), MEND)),
            );
            Err(Unknown {
                cause: "the App's secrets are incomplete".to_owned(),
                mend: "mend the secrets first".to_owned(),
            })
        }
    }
}

/// The repositories that are looked at: the gated ones, those watched after the merge, and where Issues go.
fn repos<'a>(
    policy: &'a Policy,
    only: Option<&'a RepoName>,
    findings: &mut Vec<Finding>,
) -> Vec<&'a RepoName> {
    let mut all: Vec<&RepoName> = Vec::new();
    let named = policy
        .repos
        .gated
        .iter()
        .chain(&policy.repos.audit_only)
        .chain([&policy.inbox.repository]);
    for repo in named {
        if !all.contains(&repo) {
            all.push(repo);
        }
    }
    if let Some(only) = only {
        if !all.contains(&only) {
            let finding = Finding::fail(
                "repository",
                "is not configured: its pull requests are ignored",
                "add it to `supervised_repos` in projects.yml",
            );
            findings.push(finding.about(only.to_string()));
        }
        return vec![only];
    }
    all
}

fn client(loaded: &Loaded, secrets: &Secrets) -> Result<GitHub, Unknown> {
    let config = ClientConfig {
        base_url: loaded.server.github_url.clone(),
        timeouts: Timeouts {
            connect: loaded.server.timeouts.connect(),
            read: loaded.server.timeouts.request(),
            total: loaded.server.timeouts.request(),
        },
        // A person waits.
        retry: ReadRetry {
            times: 1,
            pause: Duration::from_millis(400),
        },
        ..ClientConfig::new(secrets.app_id, secrets.private_key.clone())
    };
    GitHub::new(config).map_err(|error| Unknown {
        cause: error.to_string(),
        mend: "mend the secrets and server.yml first".to_owned(),
    })
}

/// What stands unknown when GitHub cannot be asked at all, from one of [`REMOTE`] on.
fn nothing_known(why: &Unknown, from: usize, repos: &[&RepoName]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = REMOTE
        .iter()
        .skip(from)
        .map(|check| Finding::unknown(check, why))
        .collect();
    findings.extend(
        repos
            .iter()
            .map(|repo| Finding::unknown("repository", why).about(repo.to_string())),
    );
    findings
}

async fn at_github(github: &GitHub, loaded: &Loaded, repos: &[&RepoName]) -> Vec<Finding> {
    let policy = &loaded.policy;
    let features = Features {
        merge: policy.merge.enabled,
        revert: policy.auto_revert_pr,
    };
    let app = match github.app().await {
        Ok(app) => app,
        Err(error) => {
            // Without the App's own token nothing else is answered.
            let why = judge::unknown(&error);
            let mut findings = vec![
                Finding::unknown("app-key", &why),
                judge::clock(github.clock_skew()),
            ];
            let because = Unknown {
                cause: match error {
                    ApiError::Transient { .. } => "GitHub cannot be reached".to_owned(),
                    _ => "GitHub does not take the App's key".to_owned(),
                },
                mend: why.mend,
            };
            findings.extend(nothing_known(&because, 2, repos));
            return findings;
        }
    };
    let mut findings = vec![
        judge::app(&app, &policy.bot.app_slug),
        judge::clock(github.clock_skew()),
    ];
    findings.extend(judge::permissions(&app.permissions, features, Holder::App));
    findings.extend(judge::events(&app.events, features, Holder::App));
    match github.hook_config().await {
        Ok(hook) => findings.extend(judge::webhook(&hook, &loaded.server.webhook_path)),
        Err(error) => findings.push(Finding::unknown("webhook", &judge::unknown(&error))),
    }
    findings.push(match github.newest_deliveries().await {
        Ok(attempts) => judge::deliveries(&attempts),
        Err(error) => Finding::unknown("deliveries", &judge::unknown(&error)),
    });
    match github.installations().await {
        Ok(installations) => findings.extend(installed(&installations, features)),
        Err(error) => findings.push(Finding::unknown("installations", &judge::unknown(&error))),
    }
    for repo in repos {
        findings.extend(repository(github, policy, app.id, repo).await);
    }
    findings
}

fn installed(installations: &[InstallationView], features: Features) -> Vec<Finding> {
    const CHECK: &str = "installations";
    if installations.is_empty() {
        return vec![Finding::fail(
            CHECK,
            "the App is installed nowhere",
            "install it from the App's settings, Install App",
        )];
    }
    let mut findings = Vec::new();
    for installation in installations {
        let account = installation
            .account
            .clone()
            .unwrap_or_else(|| format!("installation {}", installation.id));
        let mut one = Vec::new();
        if installation.suspended {
            one.push(Finding::fail(
                CHECK,
                "is suspended: its work waits",
                "unsuspend the App in the account's settings (Applications)",
            ));
        } else {
            one.push(Finding::ok(CHECK, "is active"));
        }
        let held = judge::permissions(&installation.permissions, features, Holder::Installation);
        let told = judge::events(&installation.events, features, Holder::Installation);
        one.extend(
            held.into_iter()
                .chain(told)
                .filter(|finding| finding.state != State::Ok),
        );
        findings.extend(
            one.into_iter()
                .map(|finding| finding.about(account.clone())),
        );
    }
    findings
}

async fn repository(github: &GitHub, policy: &Policy, app: AppId, name: &RepoName) -> Vec<Finding> {
    let found = async {
        let installation = github.repo_installation(name).await?;
        github.repo(name, installation.id).await
    };
    let findings = match found.await {
        Ok(view) => standing(github, policy, app, &view).await,
        Err(error @ ApiError::Gone { .. }) => vec![Finding::fail(
            "repository",
            format!("the App is not installed there, or there is no such repository ({error})"),
            "install the App on it, or correct the name in projects.yml",
        )],
        Err(error) => vec![Finding::unknown("repository", &judge::unknown(&error))],
    };
    findings
        .into_iter()
        .map(|finding| finding.about(name.to_string()))
        .collect()
}

async fn standing(github: &GitHub, policy: &Policy, app: AppId, view: &RepoView) -> Vec<Finding> {
    let name = &view.repo.name;
    let gated = policy.is_gated(name);
    let mut findings = vec![if view.archived {
        Finding::warn(
            "repository",
            "is archived: nothing can be written there",
            "take it out of projects.yml, or unarchive it",
        )
    } else {
        Finding::ok("repository", "the App is installed there")
    }];
    if *name == policy.inbox.repository {
        findings.push(if view.has_issues {
            Finding::ok("issues", "Issues are switched on")
        } else {
            Finding::fail(
                "issues",
                "Issues are switched off: no decision can be asked for",
                "switch Issues on in the repository's settings, or name another repository in `decision_inbox`",
            )
        });
    }
    if gated {
        findings.extend(required_checks(github, policy, app, view).await);
    }
    if gated || *name == policy.inbox.repository {
        findings.push(labels(github, policy, view).await);
    }
    findings
}

async fn required_checks(
    github: &GitHub,
    policy: &Policy,
    app: AppId,
    view: &RepoView,
) -> Vec<Finding> {
    let mut branches = policy.merge.base_branches.clone();
    if branches.is_empty() {
        branches.extend(view.default_branch.clone());
    }
    let mut findings = Vec::new();
    for branch in branches {
        match github.required_checks(&view.repo, &branch).await {
            Ok(required) => {
                findings.push(judge::required(&required, CHECK_RUN_NAME, app, &branch));
                if policy.evidence == EvidenceMode::Required {
                    findings.push(judge::required(
                        &required,
                        EVIDENCE_CHECK_NAME,
                        app,
                        &branch,
                    ));
                }
            }
            Err(error) => {
                let why = judge::unknown(&error);
                findings.push(Finding::unknown("required-check", &why));
            }
        }
    }
    findings
}

async fn labels(github: &GitHub, policy: &Policy, view: &RepoView) -> Finding {
    let asked = policy.merge.enabled && policy.is_gated(&view.repo.name);
    let by_people: &[&str] = if asked { &[READY_TO_MERGE.name] } else { &[] };
    let made: Vec<&str> = ALL
        .iter()
        .map(|label| label.name)
        .filter(|name| *name != READY_TO_MERGE.name)
        .collect();
    match github.label_names(&view.repo).await {
        Ok(present) => judge::labels(&present, &made, by_people),
        Err(error) => Finding::unknown("labels", &judge::unknown(&error)),
    }
}
