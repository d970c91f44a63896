//! A whole server in front of the stand-in GitHub, with time passed in: tests go through the front door.
//!
//! The server has no workers of its own here: a test delivers, then works until nothing is due. So there is nothing
//! to wait for, and a crash can be put between any two steps.

use crate::database::{self, Database};
use fake_github::{CheckRunSeen, Config, FakeGitHub, IssueSeen, TEST_KEY_PEM, WebhookRequest};
use quadgate::app::{App, AppConfig, StartError};
use quadgate::clock::Clock;
use quadgate::domain::Timestamp;
use quadgate::policy::SourceFile;
use quadgate::settings::{self, Secrets};
use quadgate::worker::FaultPoint;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::watch;

/// The gated repository of most tests.
pub const REPO: &str = "octo-org/widgets";
/// Where the Issues go.
pub const INBOX: &str = "octo-org/inbox";
/// Our check-run.
pub const CHECK: &str = "L1.C3";

/// The server's secrets.
pub const ENVIRONMENT: [(&str, &str); 3] = [
    ("QUADGATE_WEBHOOK_SECRET", "test-webhook-secret"),
    ("QUADGATE_APP_ID", "12345"),
    ("QUADGATE_PRIVATE_KEY", TEST_KEY_PEM),
];

/// The clocks move on by less than a lease at a time, so that work in hand keeps its lease.
const LONGEST_STEP: Duration = Duration::from_secs(45);
/// And by a little while there is work in hand: a worker that found nothing looks again only after a moment.
const SHORTEST_STEP: Duration = Duration::from_millis(20);
/// The store looks the same so often before the clocks move on by more than that.
const STILL: u32 = 10;
/// Workers that have not ended by then, by the time of the machine, never will.
const DEADLINE: Duration = Duration::from_secs(600);

/// A clock that stands still until it is moved.
pub struct TestClock(watch::Sender<Timestamp>);

impl TestClock {
    fn new(at: &str) -> Arc<Self> {
        Arc::new(Self(watch::Sender::new(at.parse().expect("a time"))))
    }

    fn advance(&self, by: Duration) {
        self.0.send_modify(|now| *now = now.plus(by));
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        *self.0.borrow()
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.sleep_until(self.now().plus(duration))
    }

    fn sleep_until(&self, moment: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            let mut now = self.0.subscribe();
            // The sender lives as long as the clock: waiting cannot fail.
            let _ = now.wait_for(|now| *now >= moment).await;
        })
    }
}

/// The world of one test.
pub struct World {
    pub github: Arc<FakeGitHub>,
    pub clock: Arc<TestClock>,
    pub dir: TempDir,
    pub config: BTreeMap<&'static str, String>,
    pub fault_point: FaultPoint,
    /// Workers of the server's own; without them the test does the work.
    pub workers: u64,
    /// The secret for people who sign in.
    pub client_secret: Option<&'static str>,
    /// Lines of `server.yml` beside the usual ones.
    pub server_lines: String,
    /// Start although the log lost its end?
    pub accept_audit_loss: bool,
    /// The database of its own, if the store is not to be a file.
    pub database: Option<Database>,
    app: Option<App>,
}

/// What a fault point throws to end the work in hand as a crash does.
pub struct Crash;

/// The work ended in a [`Crash`].
#[derive(Debug)]
pub struct Crashed;

impl World {
    /// A gated repository, an inbox, an owner, an author, and a running server.
    pub async fn start() -> Self {
        let mut world = Self::arranged().await;
        world.serve().await.expect("the server starts");
        world
    }

    /// The same without the server.
    pub async fn arranged() -> Self {
        Self::arranged_as(Config::default()).await
    }

    /// The same at a GitHub of another kind.
    pub async fn arranged_as(config: Config) -> Self {
        let github = FakeGitHub::start(config).await.expect("a free port");
        github.add_org("octo-org");
        github.add_user("octo-owner");
        github.add_user("octo-dev");
        github.add_repo(REPO);
        github.add_repo(INBOX);
        github.add_repo("octo-org/bot");
        github.drop_deliveries();
        let config = [
            ("owner.yml", "github_login: octo-owner\n".to_owned()),
            (
                "projects.yml",
                format!(
                    "governance_repo: octo-org/bot\nsupervised_repos: [{REPO}]\ndecision_inbox:\n  repository: {INBOX}\n"
                ),
            ),
            (
                "env.yml",
                "bot_app_slug: quadgate\nallow_no_ci: true\n".to_owned(),
            ),
        ];
        Self {
            github: Arc::new(github),
            clock: TestClock::new("2026-01-05T09:00:00Z"),
            dir: TempDir::new().expect("a temporary folder"),
            config: config.into(),
            fault_point: Arc::new(|_| {}),
            workers: 0,
            client_secret: None,
            server_lines: String::new(),
            accept_audit_loss: false,
            database: if database::wanted() {
                Some(Database::new().await)
            } else {
                None
            },
            app: None,
        }
    }

    /// Starts the server on what is there.
    pub async fn serve(&mut self) -> Result<(), StartError> {
        let mut files: Vec<SourceFile> = self
            .config
            .iter()
            .map(|(name, text)| SourceFile::new("config", name, text))
            .collect();
        files.push(SourceFile::new("config", "server.yml", &self.server_yml()));
        let loaded = settings::load_files("config", &files).unwrap_or_else(|problems| {
            let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
            panic!("the test's configuration is wrong:\n{}", text.join("\n"))
        });
        let mut server = loaded.server;
        server.limits.workers = self.workers;
        let client = self
            .client_secret
            .map(|secret| ("QUADGATE_CLIENT_SECRET", secret));
        let environment = ENVIRONMENT
            .into_iter()
            .chain(client)
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let secrets = Secrets::read(&environment).expect("secrets");
        let receipt_key = settings::receipt_key(&secrets, &server.data_dir).expect("a receipt key");
        let app = App::start(AppConfig {
            policy: loaded.policy,
            server,
            secrets,
            receipt_key,
            clock: self.clock.clone(),
            fault_point: Arc::clone(&self.fault_point),
            accept_audit_loss: self.accept_audit_loss,
        })
        .await?;
        self.github
            .set_webhook_url(&format!("http://{}/webhook", app.webhooks));
        self.app = Some(app);
        self.written_out().await;
        Ok(())
    }

    /// With a database, entries of the log are in it first: waits until they are in the files too.
    pub async fn written_out(&self) {
        if self.database.is_none() {
            return;
        }
        let store = &self.app().bench().store;
        let written = async {
            loop {
                let end = store.audit_tail().await.ok().flatten();
                let seq = store.chain_written().await.unwrap_or_default();
                if end.is_none_or(|end| end.seq <= seq) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), written)
            .await
            .expect("the log's files are written");
    }

    /// `server.yml` of this world.
    pub fn server_yml(&self) -> String {
        let database = self.database.as_ref();
        let database = database.map(|database| format!("database_url: {}\n", database.url()));
        format!(
            "listen: 127.0.0.1:0\nadmin_listen: 127.0.0.1:0\ndata_dir: {0}/data\naudit_dir: {0}/bot-state\n\
             github_url: {1}\n{2}{3}",
            self.dir.path().display(),
            self.github.url(),
            self.server_lines,
            database.unwrap_or_default()
        )
    }

    /// The running server.
    pub fn app(&self) -> &App {
        self.app.as_ref().expect("the server runs")
    }

    /// Where webhooks go.
    pub fn webhook_url(&self) -> String {
        format!("http://{}/webhook", self.app().webhooks)
    }

    /// Ends the server in order.
    pub async fn stop(&mut self) {
        if let Some(app) = self.app.take() {
            app.stop().await;
        }
    }

    /// Ends the server as a crash would, and starts it again.
    pub async fn crash(&mut self) {
        self.die().await;
        self.serve().await.expect("the server starts again");
    }

    /// Ends the server as a crash would.
    pub async fn die(&mut self) {
        if let Some(app) = self.app.take() {
            app.abandon().await;
        }
        // What was in flight lets go of the files when it is dropped, which is soon but not at once.
        for file in ["data/quadgate.lock", "bot-state/classifier_audit.lock"] {
            let path = self.dir.path().join(file);
            let free = async {
                while File::open(&path).is_ok_and(|file| file.try_lock().is_err()) {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(Duration::from_secs(20), free)
                .await
                .unwrap_or_else(|_| panic!("{file} stays locked"));
        }
        if let Some(database) = &self.database {
            // As if its leases had run out: a file's are over when it is opened.
            database
                .sql("UPDATE subject SET lease_until = 0, claimed = 0 WHERE lease IS NOT NULL")
                .await;
        }
    }

    /// Sends every waiting webhook and works until nothing is due and nothing waits. What is due within ten seconds is
    /// waited for by moving the clocks.
    pub async fn settle(&self) {
        self.settle_or_crash().await.expect("no crash");
    }

    /// The same, until a fault point throws [`Crash`].
    pub async fn settle_or_crash(&self) -> Result<(), Crashed> {
        self.settle_within(Duration::from_secs(10)).await
    }

    /// The same, with more or less patience.
    pub async fn settle_within(&self, patience: Duration) -> Result<(), Crashed> {
        for _round in 0..100 {
            self.github.deliver_all(&self.webhook_url()).await;
            self.work_or_crash().await?;
            if self.github.waiting_deliveries() > 0 {
                continue;
            }
            match self.next_wait().await {
                Some(wait) if wait <= patience => self.advance(wait),
                Some(_) | None => return Ok(()),
            }
        }
        panic!("the server and GitHub keep answering each other");
    }

    /// How long until something is due; `None` when nothing waits.
    pub async fn next_wait(&self) -> Option<Duration> {
        let due = self.app().bench().store.next_due().await;
        let due = due.expect("the store works")?;
        Some(due.since(self.clock.now()))
    }

    /// Lets the server's own workers work until nothing is left to do, however long by the clocks.
    pub async fn until_idle(&self) {
        let store = &self.app().bench().store;
        let idle = async {
            let (mut before, mut looks) = (None, 0);
            loop {
                let depth = store.queue_depth().await.expect("store");
                if depth == 0 {
                    return;
                }
                let due = store.next_due().await.expect("store");
                looks = if before == Some((depth, due)) {
                    looks + 1
                } else {
                    0
                };
                before = Some((depth, due));
                if let Some(due) = due {
                    // A lease is renewed by the clock and written by the machine: who moves on too fast takes it away from work
                    // in hand, as a machine does that stands still for a minute.
                    let longest = if looks >= STILL {
                        LONGEST_STEP
                    } else {
                        SHORTEST_STEP
                    };
                    let wait = due.since(self.clock.now());
                    self.advance(wait.clamp(SHORTEST_STEP, longest));
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        if tokio::time::timeout(DEADLINE, idle).await.is_err() {
            panic!("the work has no end: {:?}", store.queue_depth().await)
        }
        self.written_out().await;
    }

    /// Works until nothing is due.
    pub async fn work(&self) {
        self.work_or_crash().await.expect("no crash");
    }

    async fn work_or_crash(&self) -> Result<(), Crashed> {
        for _step in 0..500 {
            if !self.step().await? {
                self.written_out().await;
                return Ok(());
            }
        }
        panic!("the work has no end");
    }

    /// Works on one subject, in a task of its own: a crash ends it and not the test.
    pub async fn step(&self) -> Result<bool, Crashed> {
        let bench = Arc::clone(self.app().bench());
        let worked = tokio::spawn(async move { bench.work_once("test").await }).await;
        match worked {
            Ok(worked) => Ok(worked.expect("the store works")),
            Err(ended) => {
                let thrown = ended.into_panic();
                if thrown.is::<Crash>() {
                    Err(Crashed)
                } else {
                    std::panic::resume_unwind(thrown)
                }
            }
        }
    }

    /// Sends one webhook; the status of the answer.
    pub async fn send(&self, webhook: &WebhookRequest) -> u16 {
        self.github.send(webhook, &self.webhook_url()).await
    }

    /// Moves both clocks on.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
        self.github
            .advance(chrono::TimeDelta::from_std(by).expect("a span"));
    }

    /// Our check-run on the present head of a pull request.
    pub fn check(&self, number: u64) -> CheckRunSeen {
        let head = self.github.pull(REPO, number).head_sha;
        self.check_on(&head)
            .unwrap_or_else(|| panic!("no {CHECK} on {head}"))
    }

    /// Our check-run on a commit; fails when there is more than one.
    pub fn check_on(&self, sha: &str) -> Option<CheckRunSeen> {
        let mut ours: Vec<_> = self
            .github
            .check_runs(REPO, sha)
            .into_iter()
            .filter(|run| run.name == CHECK)
            .collect();
        assert!(
            ours.len() <= 1,
            "{} check-runs named {CHECK} on {sha}",
            ours.len()
        );
        ours.pop()
    }

    /// The one open Issue of the inbox.
    pub fn issue(&self) -> IssueSeen {
        let mut open = self.github.open_issues(INBOX);
        assert_eq!(open.len(), 1, "open Issues: {open:?}");
        open.remove(0)
    }

    /// The open Issues about a pull request, in the order of the list.
    pub fn issues_about(&self, number: u64) -> Vec<IssueSeen> {
        let about = format!("{REPO}#{number}");
        let mut open = self.github.open_issues(INBOX);
        open.retain(|issue| issue.title.split(' ').any(|word| word == about));
        open
    }

    /// The entries of the audit log, verified.
    pub fn log(&self) -> Vec<Value> {
        let dir = self.dir.path().join("bot-state");
        verify(&dir);
        let text = std::fs::read_to_string(dir.join("classifier_audit.jsonl")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    }

    /// The log's entries of one kind.
    pub fn log_of(&self, kind: &str) -> Vec<Value> {
        self.log()
            .into_iter()
            .filter(|entry| entry["kind"] == kind)
            .collect()
    }

    /// Nothing waits, nothing is given up, GitHub was asked nothing that its description forbids.
    pub async fn assert_clean(&self) {
        self.github.assert_no_violations();
        let store = &self.app().bench().store;
        assert_eq!(
            store.queue_depth().await.expect("store"),
            0,
            "work is left behind"
        );
        assert_eq!(
            store.dead_letters().await.expect("store"),
            [],
            "dead letters"
        );
        assert_eq!(
            self.github.waiting_deliveries(),
            0,
            "webhooks are left behind"
        );
    }
}

/// The chain of the log is intact.
pub fn verify(dir: &Path) {
    if !dir.exists() {
        return;
    }
    let files = quadgate::audit::log_files(dir).expect("the log's folder");
    if let Err(error) = quadgate::audit::verify(&files, None, |_| {}) {
        panic!("the audit log is not intact: {error}");
    }
}
