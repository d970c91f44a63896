//! The main job in under a minute: the server and a stand-in GitHub on this machine, one signed pull request of each
//! quadrant, what became of them, and what the log says. `--exit` ends by itself, `--data-dir DIR` keeps log and store,
//! `--admin-port N` says where the admin pages are, `--sign-in` lets people in who sign in at the stand-in alone.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::indexing_slicing)] // it talks to a person; a missing JSON member is null

use fake_github::{Config, FakeGitHub, FileSpec, PullSpec, TEST_KEY_PEM};
use quadgate::app::{App, AppConfig};
use quadgate::clock::SystemClock;
use quadgate::policy::SourceFile;
use quadgate::settings::{self, Secrets};
use std::error::Error;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const REPO: &str = "octo-org/widgets";
const INBOX: &str = "octo-org/inbox";
const SECRET: &str = "demo-webhook-secret";
/// No step takes longer than this; one that does has failed.
const PATIENCE: Duration = Duration::from_secs(20);

type Anything<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Anything<()> {
    let arguments = Arguments::read()?;
    let kept = arguments.data_dir.clone();
    let scratch = tempfile::tempdir()?;
    let dir = kept.clone().unwrap_or_else(|| scratch.path().to_owned());
    let started = Instant::now();

    let github = stand_in().await?;
    let app = serve(&github, &dir, &arguments).await?;
    github.set_webhook_url(&format!("http://{}/webhook", app.webhooks));
    github.auto_deliver(true);
    title("The server listens, a stand-in GitHub answers it");
    println!("  stand-in GitHub   {}", github.url());
    println!("  webhooks          http://{}/webhook", app.webhooks);
    if let Some(admin) = app.admin {
        println!("  admin pages       http://{admin}/");
        println!("  operators         http://{admin}/readyz  http://{admin}/metrics");
    }

    title("Five pull requests are opened; GitHub sends signed webhooks");
    let mut pending = Vec::new();
    for (quadrant, spec) in pull_requests() {
        let number = github.open_pull(REPO, &spec);
        let seen = verdict(&github, number).await?;
        show(&github, &dir, number, &seen)?;
        if quadrant == 'D' {
            pending.push(number);
        }
    }

    if let Some(number) = pending.first() {
        title("An owner answers the first D with `/approve A`; the second one waits");
        answer(&github, &dir, *number).await?;
    }

    title("The log was not touched");
    println!("  {}", intact(&dir)?);
    println!("\nDone in {:.1} s.", started.elapsed().as_secs_f32());
    if let Some(kept) = &kept {
        println!("Log and store stay in {}", kept.display());
    }
    if !arguments.exit {
        if let Some(admin) = app.admin {
            println!("\nLook at it:");
            for page in ["", "inbox", "audit"].map(str::to_owned) {
                println!("  http://{admin}/{page}");
            }
            for number in &pending {
                println!("  http://{admin}/pulls/{REPO}/{number}");
            }
        }
        println!("They stay up. Press Ctrl-C to end.");
        tokio::signal::ctrl_c().await?;
    }
    app.stop().await;
    Ok(())
}

struct Arguments {
    exit: bool,
    data_dir: Option<PathBuf>,
    admin_port: u16,
    sign_in: bool,
}

impl Arguments {
    fn read() -> Anything<Self> {
        let mut read = Self {
            exit: false,
            data_dir: None,
            admin_port: 0,
            sign_in: false,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--exit" => read.exit = true,
                "--data-dir" => {
                    let dir = words
                        .next()
                        .ok_or("`--data-dir` needs a directory after it")?;
                    read.data_dir = Some(PathBuf::from(dir));
                }
                "--admin-port" => {
                    let port = words.next().ok_or("`--admin-port` needs a port after it")?;
                    read.admin_port = port.parse()?;
                }
                "--sign-in" => read.sign_in = true,
                "--help" => {
                    println!("demo [--exit] [--data-dir DIR] [--admin-port N] [--sign-in]");
                    std::process::exit(0);
                }
                other => {
                    return Err(format!("unknown argument `{other}`: see --help").into());
                }
            }
        }
        if read.sign_in && read.admin_port == 0 {
            return Err("`--sign-in` needs `--admin-port`: GitHub sends people back there".into());
        }
        Ok(read)
    }
}

async fn stand_in() -> Anything<FakeGitHub> {
    let config = Config {
        now: None,
        webhook_secret: SECRET.into(),
        ..Config::default()
    };
    let github = FakeGitHub::start(config).await?;
    github.add_org("octo-org");
    github.add_user("octo-owner");
    github.add_user("busy-agent");
    for repo in [REPO, INBOX, "octo-org/bot"] {
        github.add_repo(repo);
    }
    // The agent can read nothing of it: signed in, it sees no pull request.
    github.set_collaborator(REPO, "octo-owner", "admin");
    github.drop_deliveries();
    Ok(github)
}

/// The server as `quadgate serve` starts it, with a configuration that fits on a page.
async fn serve(github: &FakeGitHub, dir: &Path, arguments: &Arguments) -> Anything<App> {
    let file = |name: &str, text: &str| SourceFile::new("demo", name, text);
    let port = arguments.admin_port;
    let url = (port != 0).then(|| format!("admin_url: http://127.0.0.1:{port}\n"));
    let client = arguments
        .sign_in
        .then(|| format!("github_client_id: {}\n", github.config().client_id()));
    let server = format!(
        "listen: 127.0.0.1:0\nadmin_listen: 127.0.0.1:{port}\ndata_dir: {0}/data\naudit_dir: {0}/bot-state\ngithub_url: {1}\n{2}{3}",
        dir.display(),
        github.url(),
        url.unwrap_or_default(),
        client.unwrap_or_default()
    );
    let projects = format!(
        "governance_repo: octo-org/bot\nsupervised_repos: [{REPO}]\ndecision_inbox:\n  repository: {INBOX}\n"
    );
    let files = [
        file("owner.yml", "github_login: octo-owner\n"),
        file("projects.yml", &projects),
        file("env.yml", "bot_app_slug: quadgate\nallow_no_ci: true\n"),
        file("server.yml", &server),
    ];
    let loaded = settings::load_files("demo", &files).map_err(|problems| {
        problems
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    })?;
    let environment = [
        ("QUADGATE_WEBHOOK_SECRET", SECRET),
        ("QUADGATE_APP_ID", "12345"),
        ("QUADGATE_PRIVATE_KEY", TEST_KEY_PEM),
        ("QUADGATE_CLIENT_SECRET", "test-client-secret"),
    ];
    let environment = environment
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let secrets = Secrets::read(&environment).map_err(|problems| format!("{problems:?}"))?;
    let receipt_key = settings::receipt_key(&secrets, &loaded.server.data_dir)?;
    let config = AppConfig {
        policy: loaded.policy,
        server: loaded.server,
        secrets,
        receipt_key,
        clock: Arc::new(SystemClock),
        fault_point: Arc::new(|_| {}),
        accept_audit_loss: false,
    };
    Ok(App::start(config).await?)
}

fn pull_requests() -> [(char, PullSpec); 5] {
    let open = |title: &str, file: FileSpec| PullSpec::new(title).author("busy-agent").file(file);
    [
        (
            'A',
            open(
                "Fix a typo",
                FileSpec::modified("README.md", "# Teh widgets\n", "# The widgets\n"),
            ),
        ),
        (
            'B',
            open(
                "Tidy the engine",
                FileSpec::modified(
                    "src/engine.rs",
                    "fn size() -> u8 { 1 }\n",
                    "fn size() -> u8 { 2 }\n",
                ),
            ),
        ),
        (
            'C',
            open(
                "Drop a stale document",
                FileSpec::removed("docs/old.md", "Nobody reads this.\n"),
            ),
        ),
        (
            'D',
            open(
                "Run on every pull request",
                FileSpec::modified(
                    ".github/workflows/ci.yml",
                    "on: push\n",
                    "on: pull_request_target\n",
                ),
            ),
        ),
        (
            'D',
            open(
                "Take the <script> out of the deployed page",
                FileSpec::modified(
                    ".github/workflows/deploy.yml",
                    "run: ./deploy --page index.html\n",
                    "run: ./deploy --page plain.html\n",
                ),
            )
            .file(FileSpec::modified(
                "site/index <draft>.html",
                "<script>go()</script>\n",
                "<p>Hello</p>\n",
            )),
        ),
    ]
}

struct Verdict {
    conclusion: String,
    title: String,
}

/// Waits for the completed check-run on the present head.
async fn verdict(github: &FakeGitHub, number: u64) -> Anything<Verdict> {
    until(&format!("a check-run on #{number}"), || {
        let head = github.pull(REPO, number).head_sha;
        let run = github.check_run(REPO, &head, "L1.C3")?;
        Some(Verdict {
            conclusion: run.conclusion?,
            title: run.title,
        })
    })
    .await
}

/// Waits until something is there. Nothing in the demo tells when the server is done, so it looks again and again.
async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> Anything<T> {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if let Some(found) = look() {
            return Ok(found);
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    Err(format!("{what} did not come within {} s", PATIENCE.as_secs()).into())
}

fn show(github: &FakeGitHub, dir: &Path, number: u64, seen: &Verdict) -> Anything<()> {
    println!("\n{}", bold(&format!("{REPO}#{number}")));
    println!("  check-run L1.C3   {}: {}", seen.conclusion, seen.title);
    let about = format!("{REPO}#{number}");
    let issue = github
        .open_issues(INBOX)
        .into_iter()
        .find(|issue| issue.title.ends_with(&about) || issue.body.contains(&about));
    match issue {
        Some(issue) => println!(
            "  Issue             {INBOX}#{} \"{}\" [{}]",
            issue.number,
            issue.title,
            issue.labels.join(", ")
        ),
        None => println!("  Issue             none"),
    }
    let line = entries(dir)?
        .into_iter()
        .rfind(|entry| entry["kind"] == "classification" && entry["pr"] == about.as_str())
        .ok_or("no audit entry")?;
    let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    println!(
        "  audit line        seq {} {} {}",
        line["seq"],
        text("kind"),
        text("quadrant")
    );
    println!("                    {}", text("reasoning"));
    println!("                    {}", text("hash"));
    Ok(())
}

async fn answer(github: &FakeGitHub, dir: &Path, number: u64) -> Anything<()> {
    let about = format!("{REPO}#{number}");
    let issue = github
        .open_issues(INBOX)
        .into_iter()
        .find(|issue| issue.title.ends_with(&about))
        .ok_or("the D has no Issue")?;
    github
        .as_user("octo-owner")
        .comment(INBOX, issue.number, "/approve A");
    let head = github.pull(REPO, number).head_sha;
    let turned = until("the check-run's turn", || {
        let run = github.check_run(REPO, &head, "L1.C3")?;
        (run.conclusion.as_deref() == Some("success")).then_some(run)
    })
    .await?;
    println!("\n{}", bold(&about));
    println!("  check-run L1.C3   success: {}", turned.title);
    let closed = until("the Issue's end", || {
        Some(github.issue(INBOX, issue.number)).filter(|issue| !issue.open)
    })
    .await?;
    println!(
        "  Issue             {INBOX}#{} closed [{}]",
        closed.number,
        closed.labels.join(", ")
    );
    let line = entries(dir)?
        .into_iter()
        .rfind(|entry| entry["kind"] == "owner_answer")
        .ok_or("no audit entry")?;
    println!(
        "  audit line        seq {} owner_answer {} by {}",
        line["seq"], line["answer"], line["actor"]
    );
    Ok(())
}

fn entries(dir: &Path) -> Anything<Vec<serde_json::Value>> {
    let text = std::fs::read_to_string(dir.join("bot-state/classifier_audit.jsonl"))?;
    Ok(text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?)
}

fn intact(dir: &Path) -> Anything<String> {
    let files = quadgate::audit::log_files(&dir.join("bot-state"))?;
    let intact = quadgate::audit::verify(&files, None, |_| {})?;
    let last = intact
        .last
        .map_or_else(String::new, |last| format!(", the last is {}", last.hash));
    Ok(format!(
        "quadgate audit verify: intact, {} entries{last}",
        intact.entries
    ))
}

fn title(text: &str) {
    println!("\n{}", bold(text));
}

fn bold(text: &str) -> String {
    if std::io::stdout().is_terminal() {
        format!("\x1b[1m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}
