//! A PostgreSQL server for tests: `QUADGATE_TEST_POSTGRES` is its URL (`scripts/ci/postgres` starts one), and each test
//! has a database of its own on it.

use secrecy::SecretString;
use sqlx::{Connection, Executor, PgConnection};
use std::sync::atomic::{AtomicU32, Ordering};

/// The server, if there is one.
pub fn server() -> Option<String> {
    std::env::var("QUADGATE_TEST_POSTGRES").ok()
}

/// Are the journeys to run on PostgreSQL?
pub fn wanted() -> bool {
    std::env::var("QUADGATE_TEST_DATABASE").is_ok_and(|kind| kind == "postgres")
}

/// An empty database; dropped at the end.
pub struct Database {
    server: String,
    name: String,
}

impl Database {
    pub async fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let server = server().expect("`QUADGATE_TEST_POSTGRES` names a server");
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("quadgate_{}_{number}", std::process::id());
        run(
            &server,
            format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
        )
        .await;
        run(&server, format!("CREATE DATABASE {name}")).await;
        Self { server, name }
    }

    /// The URL of the database.
    pub fn url(&self) -> String {
        let (server, query) = self.server.split_once('?').unwrap_or((&self.server, ""));
        let (base, _name) = server.rsplit_once('/').expect("a URL with a database");
        format!("{base}/{}?{query}", self.name)
    }

    pub fn secret(&self) -> SecretString {
        SecretString::from(self.url())
    }

    /// Runs SQL on it, past the store.
    pub async fn sql(&self, text: &str) {
        run(&self.url(), text.to_owned()).await;
    }

    /// One number out of it.
    pub async fn number(&self, text: &'static str) -> i64 {
        let mut conn = PgConnection::connect(&self.url()).await.expect("a server");
        let (number,): (i64,) = sqlx::query_as(text)
            .fetch_one(&mut conn)
            .await
            .expect("a number");
        number
    }
}

async fn run(url: &str, text: String) {
    let mut conn = PgConnection::connect(url).await.expect("a server");
    conn.execute(sqlx::AssertSqlSafe(text))
        .await
        .expect("the server does it");
    conn.close().await.expect("closed");
}

impl Drop for Database {
    fn drop(&mut self) {
        let server = self.server.clone();
        let text = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // A runtime of its own: the test's may be ending, and may not be blocked.
        let dropped = std::thread::spawn(move || {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime")
                .block_on(run(&server, text));
        });
        // A database that stays is no reason to fail: the cluster goes as a whole.
        let _ = dropped.join();
    }
}
