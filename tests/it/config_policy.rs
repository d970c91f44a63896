//! What the compiled policy answers, and that no text at all makes compiling panic or pass by accident.

use proptest::prelude::*;
use quadgate::domain::RepoName;
use quadgate::policy::{Language, MergeMethod, Severity, SourceFile};
use quadgate::settings::{Loaded, load_files};

fn load(files: &[(&str, &str)]) -> Result<Loaded, Vec<String>> {
    let base = [
        ("owner.yml", "github_login: octo-owner\n"),
        (
            "projects.yml",
            "governance_repo: octo-org/bot\nsupervised_repos: [octo-org/app]\n",
        ),
        ("env.yml", "bot_app_slug: octo-gate\n"),
    ];
    let kept = base
        .iter()
        .filter(|(name, _)| !files.iter().any(|(own, _)| own == name));
    let all: Vec<SourceFile> = kept
        .chain(files)
        .map(|(name, text)| SourceFile::new("config", name, text))
        .collect();
    load_files("config", &all)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

fn repo(name: &str) -> RepoName {
    name.parse().expect("a name")
}

#[test]
fn defaults_are_the_careful_ones() {
    let policy = load(&[]).expect("loads").policy;
    assert_eq!(policy.owners.logins, ["octo-owner"]);
    assert!(policy.owners.pinned.is_empty());
    assert_eq!(policy.bot.repo, repo("octo-org/bot"));
    assert_eq!(policy.inbox.repository, repo("octo-org/bot"));
    assert_eq!(policy.inbox.language, Language::En);
    assert_eq!(policy.inbox.passive_close_days, 7);
    assert!(!policy.merge.enabled && !policy.ci.allow_no_ci && !policy.auto_revert_pr);
    assert_eq!(policy.merge.method, MergeMethod::Squash);
    assert_eq!(policy.l4_burn_in_days, 60);
    assert_eq!(policy.tick.as_secs(), 60);
    assert!(policy.agents.is_none());
    let publisher = policy.publisher.expect("a publisher");
    assert_eq!(
        (publisher.slug.as_str(), publisher.app_id),
        ("github-actions", None)
    );
}

#[test]
fn a_repository_overrides_and_the_rest_stays_global() {
    let projects = "governance_repo: octo-org/bot\n\
        supervised_repos: [octo-org/app, octo-org/site, octo-org/lib]\n\
        audit_only_repos: [Octo-Org/Site]\n\
        repo_overrides:\n  \
          octo-org/app:\n    required_checks: []\n    expected_check_publisher: buildkite\n";
    let env = "bot_app_slug: octo-gate\nrequired_checks: [build]\n";
    let policy = load(&[("projects.yml", projects), ("env.yml", env)])
        .expect("loads")
        .policy;
    assert!(
        policy.is_gated(&repo("OCTO-ORG/app")),
        "names compare without case"
    );
    assert!(!policy.is_gated(&repo("octo-org/site")), "audit only");
    assert!(!policy.is_gated(&repo("octo-org/bot")), "not listed");
    let app = policy.ci_of(&repo("octo-org/APP"));
    assert!(
        app.required_checks.is_empty(),
        "an empty list is not an absent one"
    );
    assert_eq!(app.expected_check_publisher, "buildkite");
    let lib = policy.ci_of(&repo("octo-org/lib"));
    assert_eq!(lib.required_checks, ["build"]);
    assert_eq!(lib.expected_check_publisher, "github-actions");
}

#[test]
fn owners_are_the_login_and_the_allowlist_once_each() {
    let owner = "github_login: Octo-Owner\nallowlisted_actors: [octo-owner, hubot-person]\n";
    let policy = load(&[("owner.yml", owner)]).expect("loads").policy;
    assert_eq!(policy.owners.logins, ["Octo-Owner", "hubot-person"]);
}

#[test]
fn the_registry_and_the_skills_answer() {
    let registry = "tools: [codex, cursor, manual]\nmodels:\n  codex: ['*']\n  cursor: [m-1]\n";
    let skills =
        "disabled: [no_wip_markers]\nseverity_overrides:\n  validator_agent_registry: P0\n";
    let files = [("agent_registry.yml", registry), ("skills.yml", skills)];
    let policy = load(&files).expect("loads").policy;
    let agents = policy.agents.expect("a registry");
    assert!(agents.knows_model("codex", "anything") && agents.knows_model("cursor", "m-1"));
    assert!(agents.knows_model("manual", "n/a"), "no entry: any model");
    assert!(!agents.knows_model("cursor", "m-2") && !agents.knows_model("aider", "m-1"));
    assert_eq!(
        policy
            .skills
            .severity("validator_agent_registry", Severity::P2),
        Severity::P0
    );
    assert_eq!(policy.skills.severity("other", Severity::P2), Severity::P2);
    assert!(policy.skills.is_disabled("no_wip_markers") && !policy.skills.is_disabled("C1"));
}

const NAMES: [&str; 7] = [
    "owner.yml",
    "projects.yml",
    "env.yml",
    "skills.yml",
    "agent_registry.yml",
    "classifier_rules.yml",
    "server.yml",
];

/// A key of one of the files, at the top or one level down.
fn key() -> impl Strategy<Value = (String, Vec<String>)> {
    let all: Vec<(String, Vec<String>)> = quadgate::settings::schemas()
        .iter()
        .flat_map(|(stem, schema)| {
            let properties = schema["properties"].as_object().expect("properties");
            properties.iter().flat_map(move |(key, inner)| {
                let below = inner["properties"].as_object();
                let deeper = below.into_iter().flat_map(|p| p.keys().cloned());
                let top = (format!("{stem}.yml"), vec![key.clone()]);
                let deeper = deeper.map(move |k| (format!("{stem}.yml"), vec![key.clone(), k]));
                std::iter::once(top).chain(deeper).collect::<Vec<_>>()
            })
        })
        .collect();
    proptest::sample::select(all)
}

fn value() -> impl Strategy<Value = String> {
    proptest::sample::select(vec![
        "",
        "~",
        "null",
        "true",
        "no",
        "0",
        "1",
        "-1",
        "99999999999999999999",
        "1.5",
        ".inf",
        "0x10",
        "text",
        "'quoted'",
        "''",
        "[]",
        "[a]",
        "[[a]]",
        "[1]",
        "[null]",
        "{}",
        "{a: b}",
        "{a: [b]}",
        "{a/b: {required_checks: [c]}}",
        "{a: P0}",
        "a/b",
        "P1",
        "en",
        "squash",
        "!x",
        "&a [*a]",
    ])
    .prop_map(str::to_owned)
}

proptest! {
    #[test]
    fn any_text_is_a_policy_or_problems_with_places(name in proptest::sample::select(&NAMES), text in "\\PC{0,80}") {
        if let Err(problems) = load(&[(name, &text)]) {
            prop_assert!(!problems.is_empty());
        }
    }

    /// The shape says all there is to say: serde, which knows no place, never has to object.
    #[test]
    fn what_the_shape_lets_through_serde_reads((file, path) in key(), value in value()) {
        let text = match path.as_slice() {
            [outer, inner] => format!("{outer}: {{{inner}: {value}}}\n"),
            all => format!("{}: {value}\n", all.join("")),
        };
        if let Err(problems) = load(&[(file.as_str(), text.as_str())]) {
            for problem in problems {
                for word in ["invalid type", "invalid value", "missing field", "unknown variant", "unknown field"] {
                    prop_assert!(!problem.contains(word), "{text}{problem}");
                }
            }
        }
    }
}
