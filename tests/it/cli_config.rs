//! `quadgate config` through the binary, the shipped directory, and the schemas that come with it.

use crate::cli::{quadgate, write_files};
use serde_json::Value;
use std::path::Path;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn the_shipped_directory_loads_and_is_full_of_placeholders() {
    let shipped = format!("{ROOT}/config");
    let run = quadgate(&["config", "check", "--config", &shipped]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains(": OK  sha256:"), "{}", run.out);
    for placeholder in ["your-login", "your-login/your-project", "your-app"] {
        let word = format!("`{placeholder}` is a placeholder");
        assert!(run.err.contains(&word), "{placeholder}: {}", run.err);
    }
    assert!(run.err.contains("any green check would do"));
    let strict = quadgate(&["config", "check", "--strict", "--config", &shipped]);
    assert_eq!(strict.code, 1);
}

/// The schemas of the files that are shipped in `config/`.
fn of_shipped_files() -> impl Iterator<Item = (&'static str, Value)> {
    let schemas = quadgate::settings::schemas().into_iter();
    schemas.filter(|(stem, _)| *stem != "user_rule")
}

#[test]
fn every_shipped_file_points_editors_to_its_schema() {
    let mut seen = 0;
    for (stem, _) in of_shipped_files() {
        let text = std::fs::read_to_string(format!("{ROOT}/config/{stem}.yml")).expect(stem);
        let first = text.lines().next().unwrap_or_default();
        let wanted = format!("# yaml-language-server: $schema=../schemas/{stem}.schema.json");
        assert_eq!(first, wanted);
        seen += 1;
    }
    assert!(seen >= 6);
}

#[test]
fn the_schemas_are_fresh_and_accept_the_shipped_files() {
    for (stem, schema) in quadgate::settings::schemas() {
        let path = format!("{ROOT}/schemas/{stem}.schema.json");
        let kept = std::fs::read_to_string(&path).expect(stem);
        let fresh = format!("{schema:#}\n");
        assert_eq!(kept, fresh, "run `quadgate config schema --out schemas`");
        // No rule is shipped to run; the examples are compared with their schema elsewhere.
        if stem == "user_rule" {
            continue;
        }
        let text = std::fs::read_to_string(format!("{ROOT}/config/{stem}.yml")).expect(stem);
        let value: Value = serde_yaml::from_str(&text).expect(stem);
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|e| e.to_string())
            .collect();
        assert!(errors.is_empty(), "{stem}: {errors:?}");
    }
}

#[test]
fn check_prints_every_problem_and_exits_2() {
    let folder = tempfile::tempdir().expect("folder");
    write_files(
        folder.path(),
        &[
            (
                "owner.yml",
                "github_login: octo-owner\nallowlisted_actors: []\n",
            ),
            (
                "env.yml",
                "bot_app_slug: octo-gate\nmerge: {method: sqash}\n",
            ),
        ],
    );
    let shown = folder.path().to_str().expect("text");
    let run = quadgate(&["config", "check", "--config", shown]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    let wanted = format!(
        "{shown}/env.yml:2:17: `method` must be one of `squash`, `merge`, `rebase`, found `sqash`; did you mean `squash`?\n\
         {shown}/owner.yml:2:21: `allowlisted_actors` must not be an empty list\n\
         {shown}/projects.yml:1:1: the file is missing; copy it from the `config/` directory that comes with quadgate\n"
    );
    assert_eq!(run.err, wanted);
    let run = quadgate(&["config", "check", "--json", "--config", shown]);
    assert_eq!(run.code, 2);
    let document: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!(document["ok"], false);
    assert_eq!(document["problems"].as_array().map(Vec::len), Some(3));
    assert_eq!(document["problems"][0]["line"], 2);
}

#[test]
fn a_directory_that_is_not_there_and_one_that_is_empty() {
    let folder = tempfile::tempdir().expect("folder");
    let absent = folder.path().join("absent");
    let run = quadgate(&[
        "config",
        "check",
        "--config",
        absent.to_str().expect("text"),
    ]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("the directory cannot be read"),
        "{}",
        run.err
    );
    let run = quadgate(&[
        "config",
        "check",
        "--config",
        folder.path().to_str().expect("text"),
    ]);
    assert_eq!(run.code, 2);
    for name in ["owner.yml", "projects.yml", "env.yml"] {
        assert!(
            run.err
                .contains(&format!("{name}:1:1: the file is missing")),
            "{}",
            run.err
        );
    }
}

#[test]
fn a_file_that_is_not_text_is_a_problem_with_its_place() {
    let folder = tempfile::tempdir().expect("folder");
    write_files(folder.path(), &[("env.yml", "bot_app_slug: octo-gate\n")]);
    std::fs::write(
        folder.path().join("owner.yml"),
        b"github_login: octo\n# \xff\n",
    )
    .expect("write");
    let run = quadgate(&[
        "config",
        "check",
        "--config",
        folder.path().to_str().expect("text"),
    ]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("owner.yml:2:3: not UTF-8 text"),
        "{}",
        run.err
    );
}

#[test]
fn show_names_the_origin_of_each_value_and_hides_the_database_password() {
    let folder = tempfile::tempdir().expect("folder");
    write_base(folder.path());
    write_files(
        folder.path(),
        &[(
            "server.yml",
            "database_url: postgres://quadgate:hunter2@db/quadgate\n",
        )],
    );
    let shown = folder.path().to_str().expect("text");
    let run = quadgate(&["config", "show", "--config", shown]);
    assert_eq!(run.code, 0, "{}", run.err);
    for line in [
        format!("owner.yml: github_login = \"octo-owner\"  ({shown}/owner.yml:1:15)"),
        "projects.yml: bot_repo = \"octo-org/bot\"  (default)".to_owned(),
        format!("env.yml: required_checks = [\"build\"]  ({shown}/env.yml:2:18)"),
        "env.yml: merge.enabled = false  (default)".to_owned(),
        "env.yml: l4_burn_in_days = 60  (default)".to_owned(),
        "server.yml: listen = \"127.0.0.1:3000\"  (default)".to_owned(),
    ] {
        assert!(run.out.lines().any(|l| l == line), "{line}\n{}", run.out);
    }
    assert!(!run.out.contains("hunter2"));
    let run = quadgate(&["config", "show", "--json", "--config", shown]);
    let document: Value = serde_json::from_str(&run.out).expect("JSON");
    assert!(
        document["policy"]
            .as_str()
            .is_some_and(|d| d.starts_with("sha256:") && d.len() == 71)
    );
}

#[test]
fn the_digest_is_of_the_policy_files_content() {
    let digest = |edit: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().expect("folder");
        write_base(folder.path());
        edit(folder.path());
        let loaded = quadgate::settings::load(folder.path()).expect("loads");
        loaded.policy.digest
    };
    let base = digest(&|_| {});
    assert_eq!(base, digest(&|_| {}), "another directory, same content");
    let server = [("server.yml", "listen: 127.0.0.1:4000\n")];
    assert_eq!(
        base,
        digest(&|d| write_files(d, &server)),
        "decides nothing"
    );
    let owner = [("owner.yml", "github_login: mallory\n")];
    assert_ne!(base, digest(&|d| write_files(d, &owner)));
    assert_ne!(
        base,
        digest(&|d| write_files(d, &[("skills.yml", "disabled: [x]\n")]))
    );
}

fn write_base(directory: &Path) {
    write_files(
        directory,
        &[
            ("owner.yml", "github_login: octo-owner\n"),
            (
                "projects.yml",
                "governance_repo: octo-org/bot\nsupervised_repos: [octo-org/app]\n",
            ),
            (
                "env.yml",
                "bot_app_slug: octo-gate\nrequired_checks: [build]\n",
            ),
        ],
    );
}
