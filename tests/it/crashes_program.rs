//! The real program, killed: `quadgate serve` aborts at a step, or is killed at moments that a seed chooses, and is
//! started again.
//!
//! Its clock is the machine's, so the tests wait for what they expect with a deadline; a passing run waits for
//! milliseconds.

use crate::cli::write_files;
use crate::crashes::Outcome;
use crate::journey::spec_of;
use crate::world::{CHECK, ENVIRONMENT, INBOX, REPO, World};
use fake_github::WebhookRequest;
use quadgate::store::Store;
use quadgate::store::postgres::PostgresBeside;
use quadgate::store::sqlite::{SqliteOptions, SqliteStore};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// A step takes milliseconds; a machine under load gets this long.
const DEADLINE: Duration = Duration::from_secs(60);
/// How often the outside of the program is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// The running program.
pub struct Program {
    child: Child,
    webhooks: String,
    admin: String,
    said: Arc<Mutex<Vec<String>>>,
}

/// The configuration as files, and the command that starts the program on them.
fn arrange(world: &World, program: &str, before: &[&str]) -> Command {
    let dir = world.dir.path();
    let server = format!("{}log: {{format: json, level: info}}\n", world.server_yml());
    let mut files: Vec<(String, &str)> = world
        .config
        .iter()
        .map(|(name, text)| (format!("config/{name}"), text.as_str()))
        .collect();
    files.push(("config/server.yml".to_owned(), &server));
    let files: Vec<_> = files.iter().map(|(name, text)| (&**name, *text)).collect();
    write_files(dir, &files);
    let mut command = Command::new(program);
    command
        .args(before)
        .args(["serve", "--config", "config"])
        .current_dir(dir)
        .env_clear()
        .envs(ENVIRONMENT)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

const QUADGATE: &str = env!("CARGO_BIN_EXE_quadgate");

impl Program {
    /// Starts it on what is there; returns once it serves.
    pub async fn start(world: &World, crash_at: Option<&str>) -> Self {
        let mut command = arrange(world, QUADGATE, &[]);
        if let Some(step) = crash_at {
            command.env("QUADGATE_CRASH_AT", step);
        }
        Self::serving(command).await
    }

    /// Starts it with a limit on the size of files, in blocks of 512 bytes: past it, writing fails as on a full disk.
    pub async fn start_limited(world: &World, blocks: u64) -> Self {
        let script = format!("trap '' XFSZ; ulimit -S -f {blocks}; exec {QUADGATE} \"$@\"");
        Self::serving(arrange(world, "/bin/sh", &["-c", &script, "quadgate"])).await
    }

    /// There is room again.
    pub async fn lift_limit(&self) {
        let pid = self.child.id().expect("it runs").to_string();
        let mut prlimit = Command::new("prlimit");
        let lifted = prlimit
            .args(["--pid", &pid, "--fsize=unlimited:"])
            .status()
            .await;
        assert!(lifted.expect("prlimit runs").success());
    }

    /// Starts it on what it must not start on; what it says.
    pub async fn refuses(world: &World) -> String {
        let output = arrange(world, QUADGATE, &[]).output();
        let output = tokio::time::timeout(DEADLINE, output).await;
        let output = output.expect("it ends").expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code().is_some_and(|code| code != 0), "{said}");
        said
    }

    async fn serving(mut command: Command) -> Self {
        let mut child = command.spawn().expect("starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let said = Arc::new(Mutex::new(Vec::new()));
        let serving = async {
            while let Some(line) = lines.next_line().await.expect("UTF-8") {
                let event: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
                said.lock().expect("whole").push(line);
                if event["message"] == "quadgate serves" {
                    let address = |name: &str| event[name].as_str().expect("an address").to_owned();
                    return Some((address("webhooks"), address("admin")));
                }
            }
            None
        };
        let served = tokio::time::timeout(DEADLINE, serving).await;
        let Ok(Some((webhooks, admin))) = served else {
            panic!(
                "it does not serve:\n{}",
                said.lock().expect("whole").join("\n")
            )
        };
        let all = Arc::clone(&said);
        // A pipe that nobody reads would stop the program.
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                all.lock().expect("whole").push(line);
            }
        });
        Self {
            child,
            webhooks,
            admin,
            said,
        }
    }

    /// Waits for a line of its log.
    pub async fn until_it_says(&self, words: &str) {
        let said = || {
            let said = self.said.lock().expect("whole");
            said.iter().any(|line| line.contains(words))
        };
        let saying = async {
            while !said() {
                tokio::time::sleep(LOOK).await;
            }
        };
        if tokio::time::timeout(DEADLINE, saying).await.is_err() {
            panic!(
                "it never says `{words}`:\n{}",
                self.said.lock().expect("whole").join("\n")
            )
        }
    }

    /// Waits until it has ended; the exit code, `None` after a signal.
    async fn ended(&mut self) -> Option<i32> {
        let status = tokio::time::timeout(DEADLINE, self.child.wait()).await;
        status.expect("it ends").expect("waited for").code()
    }

    /// `kill -9`.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("killed");
    }

    /// With a database, leases of the dead are over by the clock alone: as if a minute had passed.
    async fn a_minute_later(world: &World) {
        if let Some(database) = &world.database {
            database
                .sql("UPDATE subject SET lease_until = 0 WHERE lease IS NOT NULL")
                .await;
        }
    }

    /// Tells it to stop, as a service manager does.
    pub async fn stop(mut self) {
        let pid = self.child.id().expect("it runs").to_string();
        let told = Command::new("kill").args(["-TERM", &pid]).status().await;
        assert!(told.expect("kill runs").success());
        assert_eq!(self.ended().await, Some(0));
    }

    /// Tells it to read its configuration again.
    pub async fn hang_up(&self) {
        let pid = self.child.id().expect("it runs").to_string();
        let told = Command::new("kill").args(["-HUP", &pid]).status().await;
        assert!(told.expect("kill runs").success());
    }

    /// One figure of its metrics.
    async fn metric(&self, name: &str) -> Option<u64> {
        let host = self.admin.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).await.ok()?;
        let request = format!("GET /metrics HTTP/1.0\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await.ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.rsplit(' ').next()?.parse().ok()
    }

    /// Sends a webhook; was it accepted?
    pub async fn accepts(&self, world: &World, webhook: &WebhookRequest) -> bool {
        let status = world.github.send(webhook, &self.webhooks).await;
        (200..300).contains(&status)
    }

    /// What waits or is worked on, by its metrics.
    pub async fn queue_depth(&self) -> Option<u64> {
        self.metric("quadgate_queue_depth").await
    }

    /// Waits until every pull request has its check-run and nothing waits.
    pub async fn finish(&self, world: &World, numbers: &[u64]) {
        let judged = |number: &u64| {
            let head = world.github.pull(REPO, *number).head_sha;
            world.check_on(&head).is_some()
        };
        let done = async {
            while !numbers.iter().all(judged)
                || self.metric("quadgate_queue_depth").await != Some(0)
            {
                tokio::time::sleep(LOOK).await;
            }
        };
        if tokio::time::timeout(DEADLINE, done).await.is_err() {
            panic!("the program does not come to an end: {:?}", world.log())
        }
    }
}

/// Runs another command of the program where it serves; its exit code and all that it says.
pub async fn quadgate_in(world: &World, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(QUADGATE);
    command
        .args(arguments)
        .current_dir(world.dir.path())
        .env_clear();
    let output = command.output().await.expect("it starts");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (output.status.code(), said)
}

/// The store holds nothing unfinished.
pub async fn nothing_left(world: &World) {
    let store: Box<dyn Store> = match &world.database {
        None => {
            let options = SqliteOptions::new(world.dir.path().join("data"));
            Box::new(SqliteStore::open(&options).await.expect("the store opens"))
        }
        Some(database) => {
            let store = PostgresBeside::look(&database.secret()).await;
            Box::new(store.expect("the store opens"))
        }
    };
    assert_eq!(store.queue_depth().await.expect("store"), 0);
    assert_eq!(store.dead_letters().await.expect("store"), []);
    store.close().await;
    world.github.assert_no_violations();
}

#[tokio::test]
async fn the_program_aborts_at_each_step_and_is_started_again() {
    let places = [
        "claimed",
        "facts-read",
        "planned",
        "plan-saved",
        "audit-written",
        "audit-noted",
        "effect-started:1",
        "effect-applied:2",
        "effect-noted:1",
        "effect-started:3",
        "effect-applied:3",
        "effects-done",
    ];
    for place in places {
        let world = World::arranged().await;
        let number = world.github.open_pull(REPO, &spec_of('D'));
        let mut program = Program::start(&world, Some(place)).await;
        for webhook in world.github.deliveries() {
            // Those that come after the end are GitHub's to send again.
            program.accepts(&world, &webhook).await;
        }
        assert_eq!(program.ended().await, None, "{place}: it aborts");
        Program::a_minute_later(&world).await;

        let program = Program::start(&world, None).await;
        program.finish(&world, &[number]).await;
        program.stop().await;
        let check = world.check(number);
        assert_eq!(check.conclusion.as_deref(), Some("failure"), "{place}");
        assert_eq!(world.issue().labels, ["decision:pending-owner"], "{place}");
        assert_eq!(world.log_of("classification").len(), 1, "{place}");
        nothing_left(&world).await;
    }
}

/// A generator of numbers that only depends on its seed (xorshift).
pub struct Seeded(pub u64);

impl Seeded {
    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (bound as u64)).expect("small")
    }

    /// Another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

#[tokio::test]
async fn the_program_is_killed_in_a_burst() {
    let mut random = Seeded(0x9e37_79b9_7f4a_7c15);
    let mut world = World::arranged().await;
    // The program has the time of the machine: for it the stand-in's Issues are months old.
    let projects = world.config.get_mut("projects.yml").expect("projects");
    projects.push_str("  passive_close_days: 0\n");
    let numbers: Vec<u64> = "ABCDABCDABCD"
        .chars()
        .map(|quadrant| world.github.open_pull(REPO, &spec_of(quadrant)))
        .collect();
    let mut unsent = world.github.deliveries();
    random.shuffle(&mut unsent);

    for _life in 0..6 {
        let program = Program::start(&world, None).await;
        world.github.clear_requests();
        let until = random.below(30);
        let mut left = Vec::new();
        for webhook in unsent {
            let dying = world.github.requests().len() >= until && left.is_empty();
            if dying || !left.is_empty() || !program.accepts(&world, &webhook).await {
                left.push(webhook);
            }
        }
        unsent = left;
        // So many calls to GitHub, or no more to come.
        let reached = async {
            while world.github.requests().len() < until
                && program.metric("quadgate_queue_depth").await != Some(0)
            {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let _ = tokio::time::timeout(DEADLINE, reached).await;
        program.kill().await;
        Program::a_minute_later(&world).await;
    }

    let program = Program::start(&world, None).await;
    for webhook in &unsent {
        assert!(program.accepts(&world, webhook).await);
    }
    program.finish(&world, &numbers).await;
    program.stop().await;

    for (number, quadrant) in numbers.iter().zip("ABCDABCDABCD".chars()) {
        let check = world.check(*number);
        let expected = if quadrant == 'D' {
            "failure"
        } else {
            "success"
        };
        assert_eq!(check.conclusion.as_deref(), Some(expected), "{number}");
        let about = format!("{REPO}#{number}");
        let entries = world.log_of("classification");
        let about: Vec<_> = entries.iter().filter(|e| e["pr"] == *about).collect();
        assert_eq!(about.len(), 1, "{number}: one entry");
        assert_eq!(about[0]["quadrant"], quadrant.to_string());
    }
    assert_eq!(world.github.open_issues(INBOX).len(), 9);
    assert_eq!(world.github.issues(INBOX).len(), 9);
    nothing_left(&world).await;
}

/// The log and the store of a program that was stopped are taken over by another start as they are.
#[tokio::test]
async fn the_program_and_the_library_agree() {
    let mut world = World::arranged().await;
    world.github.open_pull(REPO, &spec_of('D'));
    let program = Program::start(&world, None).await;
    for webhook in world.github.deliveries() {
        assert!(program.accepts(&world, &webhook).await);
    }
    program.finish(&world, &[1]).await;
    program.stop().await;
    world.serve().await.expect("the server starts");
    let before = Outcome::of(&world).await;
    world.settle().await;
    assert_eq!(Outcome::of(&world).await, before);
    assert_eq!(world.check(1).name, CHECK);
}
