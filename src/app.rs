//! The running server: store, audit log, client, listeners, workers, put together and taken apart in order.
//!
//! INVARIANT: nothing is accepted before everything that accepting needs is open, and nothing is closed before the
//! work in hand has ended or its time is up.

mod observe;
mod owners;
mod ready;

use crate::audit::{self, AuditLog};
use crate::clock::Clock;
use crate::github::{ClientConfig, ClientError, GitHub, Timeouts};
use crate::inbox::ReceiptKey;
use crate::policy::Policy;
use crate::server::{self, Context, Merges, Metrics, ServerState, Standing, WebhookSecrets};
use crate::settings::{SecretError, Secrets, Server};
use crate::store::{
    Store, StoreError,
    sqlite::{SqliteOptions, SqliteStore},
};
use crate::worker::{AuditWriter, Bench, FaultPoint, WriteBudget};
use secrecy::{ExposeSecret, SecretSlice};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What the server is started with.
pub struct AppConfig {
    /// The policy.
    pub policy: Policy,
    /// How it runs.
    pub server: Server,
    /// What only it knows.
    pub secrets: Secrets,
    /// The key of the ballots' markers.
    pub receipt_key: SecretSlice<u8>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Called between any two steps of the work; for tests of crashes.
    pub fault_point: FaultPoint,
    /// Go on although the audit log ends before the last entry that the store has heard of?
    pub accept_audit_loss: bool,
}

/// The server does not start; nothing was accepted.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store.
    #[error("the store cannot be opened: {0}")]
    Store(#[from] StoreError),
    /// The audit log.
    #[error("the audit log cannot be opened: {0}")]
    Audit(#[from] audit::AuditError),
    /// The audit log lost its end.
    #[error(
        "the audit log ends at entry {found} but entry {known} was written before: restore `{dir}` from a copy, or \
         start once with `--accept-audit-loss` to go on without the lost entries"
    )]
    AuditLoss {
        /// Where the log is.
        dir: String,
        /// The last entry that is there.
        found: u64,
        /// The last entry that was.
        known: u64,
    },
    /// The client.
    #[error("the GitHub client cannot be made: {0}")]
    Client(#[from] ClientError),
    /// An owner's login is nobody's.
    #[error("{0}")]
    Owner(String),
    /// A secret.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The webhook secrets.
    #[error("{0}")]
    WebhookSecret(String),
    /// The key of the ballots.
    #[error("{0}")]
    ReceiptKey(String),
    /// A listener.
    #[error("`{address}` cannot be listened on: {cause}; is another server running there?")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        cause: std::io::Error,
    },
    /// The metrics.
    #[error("the metrics cannot be made: {0}")]
    Metrics(String),
}

/// A running server.
pub struct App {
    /// Where webhooks come in.
    pub webhooks: SocketAddr,
    /// Where operators look; `None`: nowhere.
    pub admin: Option<SocketAddr>,
    bench: Arc<Bench>,
    /// The policy as it was loaded, with every owner in it.
    configured: watch::Sender<Policy>,
    /// The policy in force, with the owners that are resolved.
    policy: Arc<watch::Sender<Arc<Policy>>>,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
    shutdown: Duration,
}

impl App {
    /// Opens everything, starts to listen and to work.
    ///
    /// # Errors
    /// Says what cannot be opened and the way out.
    pub async fn start(config: AppConfig) -> Result<Self, StartError> {
        let AppConfig {
            policy,
            server,
            secrets,
            receipt_key,
            clock,
            fault_point,
            accept_audit_loss,
        } = config;
        let metrics =
            Arc::new(Metrics::new().map_err(|error| StartError::Metrics(error.to_string()))?);
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open(&SqliteOptions::new(&server.data_dir)).await?);
        metrics.count_on(&store.counters().await?);
        let audit = open_audit_log(&server, &*store, accept_audit_loss).await?;
        let github = GitHub::new(client_config(&server, &secrets, &metrics))?;
        let configured = watch::Sender::new(policy.clone());
        let policy = owners::pin(policy, &github, &*store).await?;
        let (policy, policy_now) = watch::channel(Arc::new(policy));
        let policy = Arc::new(policy);
        let (stop, stopped) = watch::channel(false);

        let bench = Arc::new(Bench {
            store: Arc::clone(&store),
            github: github.clone(),
            policy: policy_now.clone(),
            audit,
            metrics: Arc::clone(&metrics),
            clock: Arc::clone(&clock),
            receipt_key: ReceiptKey::new(receipt_key.expose_secret())
                .map_err(|error| StartError::ReceiptKey(error.to_string()))?,
            web_base: web_base(&server.github_url),
            inboxes: Mutex::default(),
            writes: WriteBudget::new(server.limits.writes_per_hour),
            fault_point,
        });
        let state = ServerState {
            webhook_path: server.webhook_path.clone(),
            secrets: webhook_secrets(&secrets)?,
            context: context(&secrets, policy_now.clone()),
            limits: server::Limits {
                requests: usize::try_from(server.limits.max_in_flight).unwrap_or(usize::MAX),
                bytes: usize::try_from(server.limits.max_body_bytes).unwrap_or(server::BODY_LIMIT),
            },
            store: Arc::clone(&store),
            metrics,
            ready: ready::checks(Arc::clone(&store), github),
            now: {
                let clock = Arc::clone(&clock);
                Arc::new(move || clock.now())
            },
        };
        let (public, admin) = server::routers(state);
        let mut tasks = JoinSet::new();
        let webhooks = listen(server.listen, public, stopped.clone(), &mut tasks).await?;
        let admin = match server.admin_listen {
            Some(address) => Some(listen(address, admin, stopped.clone(), &mut tasks).await?),
            None => None,
        };
        for number in 1..=server.limits.workers {
            tasks.spawn(Arc::clone(&bench).run(worker_name(number), stopped.clone()));
        }
        // Without workers this replica only accepts: the sweep belongs to those that work.
        if server.limits.workers > 0 {
            let resolving = owners::resolve_the_rest(
                Arc::clone(&bench),
                configured.subscribe(),
                Arc::clone(&policy),
                stopped.clone(),
            );
            tasks.spawn(resolving);
            tasks.spawn(crate::tick::run(Arc::clone(&bench), stopped));
        }
        Ok(Self {
            webhooks,
            admin,
            bench,
            configured,
            policy,
            stop,
            tasks,
            shutdown: server.timeouts.shutdown(),
        })
    }

    /// Puts another policy into force, for everything that is judged from now on.
    ///
    /// # Errors
    /// An owner's login is nobody's; the policy that was in force stays.
    pub async fn replace_policy(&self, policy: Policy) -> Result<(), StartError> {
        let resolved = owners::pin(policy.clone(), &self.bench.github, &*self.bench.store).await?;
        self.configured.send_replace(policy);
        self.policy.send_replace(Arc::new(resolved));
        Ok(())
    }

    /// What the workers work with: for looking at, and for waiting until nothing is due.
    #[must_use]
    pub fn bench(&self) -> &Arc<Bench> {
        &self.bench
    }

    /// Stops accepting, lets the work in hand end (bounded), closes the store.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(self.shutdown, ended).await.is_err() {
            tracing::warn!(
                "the time to stop is up: what is in hand is done again at the next start"
            );
            self.tasks.abort_all();
        }
        self.bench.store.close().await;
    }

    /// Drops everything where it stands, as a crash would: nothing is ended, nothing is closed in order.
    pub async fn abandon(mut self) {
        self.tasks.shutdown().await;
    }
}

async fn open_audit_log(
    server: &Server,
    store: &dyn Store,
    accept_loss: bool,
) -> Result<AuditWriter, StartError> {
    let tail = store.audit_tail().await?;
    let dir: PathBuf = server.audit_dir.clone();
    let opened =
        tokio::task::spawn_blocking(move || AuditLog::open(&dir, audit::Options::default()));
    let (log, warnings) = opened
        .await
        .map_err(|error| StartError::Metrics(error.to_string()))??;
    for warning in warnings {
        tracing::warn!(%warning, "the audit log was put right");
    }
    let found = log.last().map_or(0, |witness| witness.seq);
    if let Some(known) = tail
        && known.seq > found
    {
        if !accept_loss {
            return Err(StartError::AuditLoss {
                dir: server.audit_dir.display().to_string(),
                found,
                known: known.seq,
            });
        }
        tracing::error!(
            found,
            known = known.seq,
            "the audit log lost entries; going on as told"
        );
        store.reset_audit_tail(log.last()).await?;
    }
    Ok(AuditWriter::new(log))
}

fn client_config(server: &Server, secrets: &Secrets, metrics: &Arc<Metrics>) -> ClientConfig {
    ClientConfig {
        base_url: server.github_url.clone(),
        timeouts: Timeouts {
            connect: server.timeouts.connect(),
            read: server.timeouts.request(),
            total: server.timeouts.request(),
        },
        observer: Arc::new(observe::Counting(Arc::clone(metrics))),
        ..ClientConfig::new(secrets.app_id, secrets.private_key.clone())
    }
}

fn webhook_secrets(secrets: &Secrets) -> Result<WebhookSecrets, StartError> {
    WebhookSecrets::new(secrets.webhook.iter().cloned())
        .map_err(|error| StartError::WebhookSecret(error.to_string()))
}

fn context(secrets: &Secrets, policy: watch::Receiver<Arc<Policy>>) -> Context {
    Context {
        own_app: secrets.app_id,
        supervision: Arc::new(move |repo| {
            let policy = policy.borrow();
            Standing {
                supervised: policy.is_gated(&repo.name),
                inbox: policy.inbox.repository == repo.name,
                merges: match policy.merge.base_branches.as_slice() {
                    _ if !policy.merge.enabled => Merges::Off,
                    [] => Merges::IntoDefault,
                    branches => Merges::Into(branches.to_vec()),
                },
            }
        }),
    }
}

async fn listen(
    address: SocketAddr,
    router: axum::Router,
    mut stopped: watch::Receiver<bool>,
    tasks: &mut JoinSet<()>,
) -> Result<SocketAddr, StartError> {
    let failed = |cause| StartError::Listen { address, cause };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    tasks.spawn(async move {
        let until_stopped = async move {
            let _ = stopped.wait_for(|stop| *stop).await;
        };
        if let Err(error) = axum::serve(listener, router)
            .with_graceful_shutdown(until_stopped)
            .await
        {
            tracing::error!(%error, "a listener ended");
        }
    });
    Ok(bound)
}

/// GitHub's pages beside its API: `https://github.com`, or the host of an Enterprise Server.
fn web_base(github_url: &str) -> String {
    if github_url == "https://api.github.com" {
        return "https://github.com".to_owned();
    }
    github_url.trim_end_matches("/api/v3").to_owned()
}

fn worker_name(number: u64) -> String {
    let process = std::process::id();
    format!("{process}-{number}")
}
