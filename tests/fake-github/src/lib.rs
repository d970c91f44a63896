//! A small stateful model of GitHub behind HTTP, for quadgate's tests and demo.
//!
//! [`FakeGitHub::start`] listens on the loopback. A test arranges and inspects the model with methods of
//! [`FakeGitHub`], acts for people through [`FakeGitHub::as_user`], and the product talks HTTP to
//! [`FakeGitHub::url`]. Everything is in memory. Every request is checked against GitHub's own description.
#![forbid(unsafe_code)]
#![allow(
    clippy::similar_names,
    reason = "`head` and `held`, `base` and `bare` are this field's words"
)]
#![recursion_limit = "256"] // json! of a whole pull request

mod arrange;
mod auth;
mod config;
mod contract;
mod faults;
mod http;
mod limits;
mod model;
mod record;
mod refusal;
mod view;
mod webhooks;

pub use arrange::{CheckRunSeen, CommentSeen, IssueSeen, PullSeen, User};
pub use config::{Config, TEST_KEY_PEM, TEST_PUBLIC_KEY_PEM};
pub use faults::{FaultAnswer, FaultKind, FaultRule};
pub use model::{account::AccountKind, file::FileSpec, pull::PullSpec, repo::MergeMethods};
pub use record::RequestRecord;
pub use webhooks::{WebhookRequest, sign};

use model::World;
use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};

/// A running stand-in. Dropping it closes the listener.
pub struct FakeGitHub {
    shared: Arc<Shared>,
    config: Config,
    tasks: Vec<JoinHandle<()>>,
}

/// What the server, the poster of webhooks and the test hold together.
pub(crate) struct Shared {
    world: Mutex<World>,
    webhook_url: Mutex<Option<String>>,
    posting: AtomicBool,
    stirred: Notify,
}

impl Shared {
    /// A test that failed inside the lock must not hide behind a poisoned one.
    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something may have been announced.
    pub(crate) fn stir(&self) {
        self.stirred.notify_one();
    }

    fn webhook_url(&self) -> Option<String> {
        self.webhook_url
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl FakeGitHub {
    /// Binds 127.0.0.1 and starts to answer.
    ///
    /// # Errors
    /// The port is taken.
    pub async fn start(config: Config) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", config.port)).await?;
        let base = format!("http://{}", listener.local_addr()?);
        let shared = Arc::new(Shared {
            world: Mutex::new(World::new(&config, base)),
            webhook_url: Mutex::new(config.webhook_url.clone()),
            posting: AtomicBool::new(false),
            stirred: Notify::new(),
        });
        let tasks = vec![
            tokio::spawn(http::wire::serve(listener, Arc::clone(&shared))),
            tokio::spawn(post_as_they_arise(Arc::clone(&shared))),
        ];
        Ok(Self {
            shared,
            config,
            tasks,
        })
    }

    /// The API's base, such as `http://127.0.0.1:40001`, without a slash at the end.
    pub fn url(&self) -> String {
        self.shared.world().base.clone()
    }

    /// How it was set up.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Posts webhooks in the background as they arise (to [`Config::webhook_url`]), or stops doing so.
    pub fn auto_deliver(&self, on: bool) {
        self.shared.posting.store(on, Ordering::SeqCst);
        self.shared.stir();
    }
}

impl Drop for FakeGitHub {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn post_as_they_arise(shared: Arc<Shared>) {
    loop {
        shared.stirred.notified().await;
        while shared.posting.load(Ordering::SeqCst) {
            let Some(url) = shared.webhook_url() else {
                break;
            };
            let next = {
                let mut world = shared.world();
                let app = world.own_app;
                world.hooks.take(app)
            };
            let Some(webhook) = next else { break };
            let status = http::wire::post(&url, &webhook).await;
            shared.world().hooks.record(webhook.delivery_id, status);
        }
    }
}
