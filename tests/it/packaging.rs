//! The files of `deploy/`, completions and manual pages name only what the program has: commands, flags, variables,
//! addresses, keys of the configuration.

use crate::cli::quadgate;
use quadgate::github::needs::{EVENTS, Level, PERMISSIONS};
use quadgate::policy::SourceFile;
use quadgate::settings;
use serde_yaml::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text(name: &str) -> String {
    let path = root().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn yaml(name: &str) -> Value {
    serde_yaml::from_str(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The documents of a file of several.
fn documents(name: &str) -> Vec<Value> {
    text(name)
        .split("\n---\n")
        .map(|one| {
            serde_yaml::from_str(&format!("{one}\n"))
                .unwrap_or_else(|error| panic!("{name}: {error}"))
        })
        .collect()
}

fn strings(value: &Value) -> Vec<&str> {
    let items = value.as_sequence().expect("a list").iter();
    items.map(|item| item.as_str().expect("text")).collect()
}

/// The program takes these arguments: with `--help` behind them it shows its help instead of an error.
#[track_caller]
fn assert_takes(arguments: &[&str]) {
    let mut all = arguments.to_vec();
    all.push("--help");
    let run = quadgate(&all);
    assert_eq!(run.code, 0, "{arguments:?}: {}", run.err);
}

/// A command line that begins with the program.
#[track_caller]
fn assert_runs_ours(words: &[&str]) {
    let (program, arguments) = words.split_first().expect("a program");
    assert_eq!(*program, "/usr/local/bin/quadgate");
    assert_takes(arguments);
}

const FILES: [&str; 5] = [
    "deploy/Dockerfile",
    "deploy/compose.yml",
    "deploy/kubernetes.yml",
    "deploy/quadgate.service",
    "deploy/server.yml",
];

#[test]
fn every_variable_is_one_that_is_read() {
    let source = text("src/settings/secrets.rs");
    let mut seen = 0;
    for file in FILES {
        let text = text(file);
        for (at, _) in text.match_indices("QUADGATE_") {
            let name: String = text[at..]
                .chars()
                .take_while(|c| c.is_ascii_uppercase() || *c == '_')
                .collect();
            let base = name.strip_suffix("_FILE").unwrap_or(&name);
            assert!(source.contains(&format!("\"{base}\"")), "{file}: {name}");
            seen += 1;
        }
    }
    assert_eq!(seen, 3 * 3, "three variables in three files");
}

/// Command lines in comments, and every command line that is run.
#[test]
fn every_command_line_is_one_that_the_program_takes() {
    let dockerfile = text("deploy/Dockerfile");
    assert!(dockerfile.contains("\nENTRYPOINT [\"/usr/local/bin/quadgate\"]\n"));
    let start = dockerfile
        .lines()
        .rfind(|line| line.starts_with("CMD "))
        .and_then(|line| line.strip_prefix("CMD "));
    let start: Vec<String> = serde_json::from_str(start.expect("a start")).expect("JSON");
    assert_takes(&start.iter().map(String::as_str).collect::<Vec<_>>());
    let health = dockerfile
        .lines()
        .map(str::trim)
        .find_map(|line| line.strip_prefix("CMD [\"/usr"))
        .map(|rest| format!("[\"/usr{rest}"));
    let health: Vec<String> = serde_json::from_str(&health.expect("a health check")).expect("JSON");
    let compose = yaml("deploy/compose.yml");
    let composed = &compose["services"]["quadgate"]["healthcheck"]["test"];
    let composed = strings(composed);
    assert_eq!(composed[0], "CMD", "the image has no shell");
    assert_eq!(composed[1..], health);
    let health: Vec<&str> = health.iter().map(String::as_str).collect();
    assert_runs_ours(&health);

    let service = text("deploy/quadgate.service");
    let start = service
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="))
        .expect("a start");
    assert_runs_ours(&start.split(' ').collect::<Vec<_>>());
    for file in FILES {
        for line in text(file).lines().filter(|line| line.starts_with('#')) {
            for part in line.split("quadgate ").skip(1) {
                let words: Vec<&str> = part
                    .split([' ', '`', '(', ')'])
                    .take_while(|word| !word.is_empty() && !word.starts_with('#'))
                    .collect();
                if words.first().is_some_and(|word| {
                    ["setup", "status", "doctor", "config", "serve"].contains(word)
                }) {
                    assert_takes(&words);
                }
            }
        }
    }
}

#[test]
fn the_image_runs_as_nobody_and_without_a_shell() {
    let dockerfile = text("deploy/Dockerfile");
    let last = dockerfile.split("\nFROM ").last().expect("a stage");
    assert!(last.starts_with("gcr.io/distroless/"), "{last}");
    assert!(last.contains("\nUSER 65532:65532\n"));
    assert!(!last.contains("\nRUN "), "nothing could run it");
    let server = server_of(&text("deploy/server.yml"));
    assert!(last.contains(&format!("\nEXPOSE {}\n", server.listen.port())));
    let volume = last
        .lines()
        .find_map(|line| line.strip_prefix("VOLUME "))
        .expect("a volume");
    assert!(server.data_dir.starts_with(volume) && server.audit_dir.starts_with(volume));
}

/// The server's settings beside a configuration that loads.
fn server_of(text: &str) -> settings::Server {
    let files = [
        ("owner.yml", "github_login: octo-owner\n"),
        (
            "projects.yml",
            "governance_repo: octo-org/bot\nsupervised_repos: [octo-org/widgets]\n",
        ),
        ("env.yml", "bot_app_slug: quadgate\n"),
        ("server.yml", text),
    ];
    loaded(&files)
}

fn loaded(files: &[(&str, &str)]) -> settings::Server {
    let files: Vec<SourceFile> = files
        .iter()
        .map(|(name, text)| SourceFile::new("config", name, text))
        .collect();
    settings::load_files("config", &files)
        .unwrap_or_else(|problems| panic!("{problems:#?}"))
        .server
}

#[test]
fn compose_runs_the_image_and_hands_over_the_secrets() {
    let compose = yaml("deploy/compose.yml");
    let service = &compose["services"]["quadgate"];
    let server = server_of(&text("deploy/server.yml"));
    let ports = strings(&service["ports"]);
    let port = server.listen.port();
    assert_eq!(ports, [format!("127.0.0.1:{port}:{port}")]);
    assert!(
        server.listen.ip().is_unspecified(),
        "reachable within its network"
    );
    let given = service["environment"].as_mapping().expect("variables");
    let secrets = strings(&service["secrets"]);
    for (_, value) in given {
        let file = value.as_str().expect("text");
        let name = file.strip_prefix("/run/secrets/").expect("a secret");
        assert!(secrets.contains(&name), "{name}");
        let from = compose["secrets"][name]["file"].as_str().expect("a file");
        assert_eq!(from, format!("../secrets/{name}"), "as setup writes it");
    }
    assert_eq!(given.len(), secrets.len());
    for volume in strings(&service["volumes"]) {
        let from = volume.split(':').next().expect("a source");
        let known = match from.strip_prefix("../").or_else(|| from.strip_prefix("./")) {
            Some(path) => root().join("deploy").join(from).exists() || root().join(path).exists(),
            None => compose["volumes"].get(from).is_some(),
        };
        assert!(known, "{volume}");
    }
    assert_eq!(service["read_only"], Value::Bool(true));
}

#[test]
fn the_kubernetes_objects_fit_each_other_and_the_program() {
    let all = documents("deploy/kubernetes.yml");
    let of = |kind: &str| {
        let mut found = all
            .iter()
            .filter(|object| object["kind"].as_str() == Some(kind));
        let one = found.next().unwrap_or_else(|| panic!("no {kind}"));
        assert!(found.next().is_none(), "two of {kind}");
        one
    };
    let config = of("ConfigMap");
    let files: Vec<(&str, &str)> = config["data"]
        .as_mapping()
        .expect("files")
        .iter()
        .map(|(name, text)| (name.as_str().expect("a name"), text.as_str().expect("text")))
        .collect();
    let server = loaded(&files);
    let own = files.iter().find(|(name, _)| *name == "server.yml");
    assert_eq!(
        own.expect("a file").1,
        text("deploy/server.yml"),
        "the same in both"
    );

    let deployment = &of("Deployment")["spec"];
    assert_eq!(
        deployment["replicas"], 1,
        "the store belongs to one process"
    );
    assert_eq!(deployment["strategy"]["type"], "Recreate");
    let pod = &deployment["template"]["spec"];
    let labels = &deployment["template"]["metadata"]["labels"];
    assert_eq!(&deployment["selector"]["matchLabels"], labels);
    assert_eq!(&of("Service")["spec"]["selector"], labels);
    let container = &pod["containers"][0];
    assert_takes(&strings(&container["args"]));
    for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        assert_runs_ours(&strings(&container[probe]["exec"]["command"]));
    }
    assert_eq!(
        container["ports"][0]["containerPort"],
        u64::from(server.listen.port())
    );
    assert_eq!(
        of("Service")["spec"]["ports"][0]["targetPort"],
        container["ports"][0]["name"]
    );
    let grace = pod["terminationGracePeriodSeconds"].as_u64();
    assert!(grace > Some(server.timeouts.shutdown_seconds));

    let volumes = pod["volumes"].as_sequence().expect("volumes");
    let mounts = container["volumeMounts"].as_sequence().expect("mounts");
    assert_eq!(volumes.len(), mounts.len());
    let mount = |name: &str| {
        let found = mounts
            .iter()
            .find(|mount| mount["name"].as_str() == Some(name));
        found
            .and_then(|mount| mount["mountPath"].as_str())
            .expect("mounted")
    };
    for volume in volumes {
        mount(volume["name"].as_str().expect("a name"));
    }
    assert!(server.data_dir.starts_with(mount("state")));
    let claim = volumes
        .iter()
        .find_map(|volume| volume.get("persistentVolumeClaim"));
    assert_eq!(
        claim.expect("a claim")["claimName"],
        of("PersistentVolumeClaim")["metadata"]["name"]
    );
    let secret = volumes
        .iter()
        .find_map(|volume| volume.get("secret"))
        .expect("a secret");
    let keys: Vec<&str> = secret["items"]
        .as_sequence()
        .expect("keys")
        .iter()
        .map(|item| item["path"].as_str().expect("a path"))
        .collect();
    for variable in container["env"].as_sequence().expect("variables") {
        let path = Path::new(variable["value"].as_str().expect("a path"));
        assert_eq!(path.parent(), Some(Path::new(mount("secrets"))));
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        assert!(keys.contains(&name), "{name}");
    }
    for (within, member, wanted) in [
        (&pod["securityContext"], "runAsNonRoot", true),
        (
            &container["securityContext"],
            "readOnlyRootFilesystem",
            true,
        ),
        (
            &container["securityContext"],
            "allowPrivilegeEscalation",
            false,
        ),
        (pod, "automountServiceAccountToken", false),
    ] {
        assert_eq!(within[member], Value::Bool(wanted), "{member}");
    }
}

#[test]
fn the_unit_hands_over_each_secret_that_it_names() {
    let unit = text("deploy/quadgate.service");
    let values = |key: &str| -> Vec<String> {
        let start = format!("{key}=");
        let lines = unit.lines().filter_map(|line| line.strip_prefix(&start));
        lines.map(str::to_owned).collect()
    };
    let handed: Vec<String> = values("LoadCredential")
        .iter()
        .map(|value| {
            let (name, path) = value.split_once(':').expect("a path");
            assert_eq!(
                path,
                format!("/etc/quadgate/secrets/{name}"),
                "as setup writes it"
            );
            name.to_owned()
        })
        .collect();
    let named: Vec<String> = values("Environment")
        .iter()
        .map(|value| value.split_once("%d/").expect("a credential").1.to_owned())
        .collect();
    assert_eq!(handed, named);
    let shutdown = server_of(&text("deploy/server.yml"))
        .timeouts
        .shutdown_seconds;
    let stop: u64 = values("TimeoutStopSec")[0].parse().expect("seconds");
    assert!(stop > shutdown);
    for hardening in [
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        "CapabilityBoundingSet=\n",
        "MemoryDenyWriteExecute=yes",
        "StateDirectory=quadgate",
    ] {
        assert!(unit.contains(&format!("\n{hardening}")), "{hardening}");
    }
    // Where systemd is at hand, it reads the unit too.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("quadgate.service");
    let here = unit.replace("/usr/local/bin/quadgate", env!("CARGO_BIN_EXE_quadgate"));
    let here = here.replace("Documentation=man:quadgate(1)\n", "");
    std::fs::write(&path, here).expect("written");
    if let Ok(verified) = Command::new("systemd-analyze")
        .arg("verify")
        .arg(&path)
        .output()
    {
        let said = String::from_utf8_lossy(&verified.stderr);
        assert!(
            verified.status.success() && !said.contains("quadgate.service"),
            "{said}"
        );
    }
}

#[test]
fn completions_and_pages_know_every_command() {
    let help = quadgate(&["--help"]).out;
    let listed = help.split("Commands:\n").nth(1).expect("commands");
    let commands: Vec<&str> = listed
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert!(commands.len() > 14, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = quadgate(&["completions", shell]);
        assert_eq!(run.code, 0, "{shell}: {}", run.err);
        for command in &commands {
            assert!(run.out.contains(command), "{shell}: {command}");
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("man/man1");
    let run = quadgate(&["man", "--out", out.to_str().expect("text")]);
    assert_eq!(run.code, 0, "{}", run.err);
    for command in &commands {
        let page = std::fs::read_to_string(out.join(format!("quadgate-{command}.1")));
        let page = page.unwrap_or_else(|error| panic!("{command}: {error}"));
        assert!(page.contains(".SH NAME"), "{command}");
    }
    let page = std::fs::read_to_string(out.join("quadgate.1")).expect("the first page");
    assert!(page.contains("Exit codes"), "{page}");
}

/// README shows the table that setup and doctor go by.
#[test]
fn the_documented_permissions_are_those_of_the_table() {
    let readme = text("README.md");
    let mut last = 0;
    for permission in PERMISSIONS {
        let row = format!(
            "| {} | {} | {} | {} |",
            permission.title,
            permission.level.title(),
            permission.when.title(),
            permission.why
        );
        let at = readme
            .find(&row)
            .unwrap_or_else(|| panic!("README.md has no row\n{row}"));
        assert!(at > last, "in the order of the table");
        last = at;
    }
    let rows = readme.lines().filter(|line| {
        line.starts_with("| ")
            && [Level::Read, Level::Write]
                .iter()
                .any(|level| line.contains(&format!("| {} |", level.title())))
    });
    assert_eq!(rows.count(), PERMISSIONS.len(), "and no other");
    for event in EVENTS {
        let row = format!(
            "| {} | {} | {} |",
            event.title,
            event.when.title(),
            event.why
        );
        assert!(readme.contains(&row), "README.md has no row\n{row}");
    }
}
