//! A newcomer's way with the real program, from an empty folder to the first verdict, against the stand-in: `setup`,
//! installing the App, `doctor`, `serve`, a signed webhook, the check-run. `scripts/newcomer` prints it with its times.

use crate::journey::spec_of;
use crate::visitor::{DEADLINE, Running, get, post, quadgate};
use crate::world::{CHECK, INBOX, REPO};
use fake_github::{Config, FakeGitHub};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What a newcomer is promised, compilation aside.
const PROMISE: Duration = Duration::from_mins(10);

/// Prints what is done and how long it took; a test run shows it only with `--nocapture`.
struct Transcript {
    started: Instant,
    step: Instant,
}

impl Transcript {
    fn begin() -> Self {
        let now = Instant::now();
        Self {
            started: now,
            step: now,
        }
    }

    #[allow(clippy::print_stdout)]
    fn done(&mut self, what: &str) {
        println!(
            "{:>7.2} s  (+{:.2} s)  {what}",
            self.started.elapsed().as_secs_f64(),
            self.step.elapsed().as_secs_f64()
        );
        self.step = Instant::now();
    }
}

#[tokio::test]
async fn from_an_empty_folder_to_the_first_verdict() {
    let config = Config {
        now: None,
        auto_install: false,
        ..Config::default()
    };
    let github = FakeGitHub::start(config).await.expect("a free port");
    github.add_user("octo-owner");
    github.add_org("octo-org");
    for repo in [REPO, INBOX] {
        github.add_repo(repo);
    }
    let folder = TempDir::new().expect("a folder");
    let dir = folder.path();
    let mut transcript = Transcript::begin();

    let url = github.url();
    let mut setup = Running::start(
        dir,
        &[
            "setup",
            "--webhook-url",
            "https://gate.example.org/webhook",
            "--github-url",
            &url,
            "--repo",
            REPO,
            "--governance",
            INBOX,
        ],
    );
    let line = setup.line("Open this page").await;
    let page = get(line.split(": ").nth(1).expect("an address")).await;
    let manifest = page.attribute("name=\"manifest\"", "value");
    let action = page.attribute("method=\"post\"", "action");
    let answer = post(&action, &[("manifest", &manifest)]).await;
    get(answer.header("location").expect("back to us")).await;
    let setup = setup.ended().await;
    assert_eq!(setup.code, 0, "{setup:?}");
    transcript.done("quadgate setup: the App is made, secrets and configuration are written");

    let installation = github.install("octo-org");
    for repo in [REPO, INBOX] {
        github.add_to_installation(installation, repo);
    }
    github.rule_check(REPO, CHECK, Some(12_345));
    transcript.done("on GitHub: the App is installed, L1.C3 is required");

    // Two ports that are free for sure; a person keeps what the file says.
    let file = dir.join("config/server.yml");
    let text = std::fs::read_to_string(&file).expect("setup wrote it");
    let text = text
        .replace("127.0.0.1:3000", "127.0.0.1:0")
        .replace("127.0.0.1:3001", "127.0.0.1:0")
        .replace("format: human ", "format: json ");
    std::fs::write(&file, text).expect("written");
    let checked = quadgate(dir, &["config", "check"]).await;
    assert_eq!(checked.code, 0, "{checked:?}");
    let doctor = quadgate(dir, &["doctor", "--json"]).await;
    let document = doctor.json();
    assert_eq!(doctor.code, 0, "{document:#}");
    transcript.done("quadgate doctor: nothing to mend");

    let mut serve = Running::start(dir, &["serve"]);
    let serving = serve.line("quadgate serves").await;
    let serving: serde_json::Value = serde_json::from_str(&serving).expect("JSON");
    let webhooks = serving["webhooks"].as_str().expect("an address");
    github.set_webhook_url(webhooks);
    github.auto_deliver(true);
    transcript.done("quadgate serve: it listens");

    let number = github.open_pull(REPO, &spec_of('A'));
    let head = github.pull(REPO, number).head_sha;
    let judged = async {
        loop {
            if let Some(run) = github.check_run(REPO, &head, CHECK)
                && run.conclusion.is_some()
            {
                return run;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let run = tokio::time::timeout(DEADLINE, judged)
        .await
        .expect("a verdict");
    assert_eq!(run.conclusion.as_deref(), Some("success"), "{run:?}");
    transcript.done("a pull request is opened, its signed webhook comes in: L1.C3 says A");

    let well = quadgate(dir, &["doctor", "--json"]).await.json();
    assert_eq!(well["counts"]["fail"], 0, "{well:#}");
    serve.terminate().await;
    let served = serve.ended().await;
    assert_eq!(served.code, 0, "{served:?}");
    let why = format!("{REPO}#{number}");
    let why = quadgate(dir, &["audit", "why", &why, "--log", "bot-state"]).await;
    assert!(why.out.contains("quadrant A"), "{why:?}");
    transcript.done("quadgate audit why: the log says so too");
    assert!(transcript.started.elapsed() < PROMISE);
    github.assert_no_violations();
}
