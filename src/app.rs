//! The running server: store, audit log, client, listeners, workers, put together and taken apart in order.
//!
//! INVARIANT: nothing is accepted before everything that accepting needs is open, and nothing is closed before the
//! work in hand has ended or its time is up.

mod answers;
mod observe;
mod opened;
mod owners;
mod ready;
mod scribe;
mod sign_in;
mod turns;

use crate::audit;
use crate::clock::Clock;
use crate::github::{ClientConfig, ClientError, GitHub, OAuth, Timeouts};
use crate::inbox::ReceiptKey;
use crate::policy::Policy;
use crate::server::{self, Context, Merges, Metrics, ServerState, Standing, WebhookSecrets};
use crate::settings::{SecretError, Secrets, Server};
use crate::store::StoreError;
use crate::worker::{Bench, CallBudget, CallLimits, FaultPoint, TickMetrics, WriteBudget};
use opened::Opened;
use scribe::Scribe;
use secrecy::{ExposeSecret, SecretSlice};
use std::net::SocketAddr;
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
    /// The files of the audit log are those of another one.
    #[error(
        "entry {seq} of the audit log in `{dir}` is not the one that the database has under this number: the directory \
         or the database is another one's, or was restored from a copy; put the two together that belong together"
    )]
    AuditStrange {
        /// Where the log is.
        dir: String,
        /// The entry.
        seq: u64,
    },
    /// The replicas sign with different keys.
    #[error(
        "the receipt key is not the one that the other replicas of this database use: set `QUADGATE_RECEIPT_KEY` to the \
         same key on all of them"
    )]
    OtherReceiptKey,
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
    /// People are to sign in, and the secret for it is missing.
    #[error(
        "`github_client_id` is set in server.yml, but `QUADGATE_CLIENT_SECRET` is not; set it, or name a file in \
         `QUADGATE_CLIENT_SECRET_FILE`"
    )]
    ClientSecret,
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
    /// Writes the audit log's files behind a database.
    scribe: Option<Scribe>,
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
        let Opened {
            store,
            audit,
            scribe,
            tick,
        } = Opened::by(&server, accept_audit_loss).await?;
        let scribe = scribe.map(Scribe::start);
        if server.database_url.is_some() {
            opened::same_receipt_key(&*store, &receipt_key, secrets.receipt.is_some()).await?;
        }
        metrics.count_on(&store.counters().await?);
        let github = GitHub::new(client_config(&server, &secrets, &metrics))?;
        let answers = answers::Answers::new(github.clone(), &server.data_dir, receipt_key.clone());
        answers.load();
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
            details_base: details_base(&server),
            inboxes: Mutex::default(),
            writes: WriteBudget::new(server.limits.writes_per_hour),
            calls: CallBudget::new(CallLimits {
                reserve: server.limits.call_reserve,
                content_per_minute: server.limits.content_per_minute,
                content_per_hour: server.limits.content_per_hour,
            }),
            decision_days: server.retention.decision_days,
            tick_metrics: TickMetrics::new(&server.audit_dir),
            fault_point,
        });
        let pages = pages(&server, &secrets, &github)?;
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
            pages,
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
        tasks.spawn(answers.keep(Arc::clone(&clock), stopped.clone()));
        // Without workers this replica only accepts: the sweep belongs to those that work.
        if server.limits.workers > 0 {
            let workers = usize::try_from(server.limits.workers).unwrap_or(usize::MAX);
            tasks.spawn(Arc::clone(&bench).run(replica(), workers, stopped.clone()));
            let resolving = owners::resolve_the_rest(
                Arc::clone(&bench),
                configured.subscribe(),
                Arc::clone(&policy),
                stopped.clone(),
            );
            tasks.spawn(resolving);
            tasks.spawn(turns::tick(Arc::clone(&bench), tick, stopped));
        }
        Ok(Self {
            webhooks,
            admin,
            bench,
            configured,
            policy,
            stop,
            tasks,
            scribe,
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
        if let Some(scribe) = self.scribe {
            scribe.stop().await;
        }
        self.bench.store.close().await;
    }

    /// Drops everything where it stands, as a crash would: nothing is ended, nothing is closed in order.
    pub async fn abandon(mut self) {
        self.tasks.shutdown().await;
        if let Some(scribe) = self.scribe {
            scribe.abandon().await;
        }
    }
}

fn client_config(server: &Server, secrets: &Secrets, metrics: &Arc<Metrics>) -> ClientConfig {
    ClientConfig {
        base_url: server.github_url.clone(),
        timeouts: timeouts(server),
        observer: Arc::new(observe::Counting(Arc::clone(metrics))),
        ..ClientConfig::new(secrets.app_id, secrets.private_key.clone())
    }
}

/// The admin pages, where people reach them.
fn pages(
    server: &Server,
    secrets: &Secrets,
    github: &GitHub,
) -> Result<Option<server::Pages>, StartError> {
    let Some(settings) = server.admin_pages.clone() else {
        return Ok(None);
    };
    let web_base = web_base(&server.github_url);
    let identity = match &settings.client_id {
        None => None,
        Some(id) => {
            let secret = secrets.client.clone().ok_or(StartError::ClientSecret)?;
            let oauth = OAuth::new(&web_base, id, secret, timeouts(server))?;
            Some(sign_in::identity(oauth, github.clone()))
        }
    };
    Ok(Some(server::Pages {
        settings,
        audit_dir: server.audit_dir.clone(),
        web_base,
        identity,
    }))
}

/// Base of the addresses that check-runs name: only where the pages are served.
fn details_base(server: &Server) -> Option<String> {
    let url = server.admin_pages.as_ref()?.url.as_ref()?;
    Some(url.as_str().to_owned())
}

fn timeouts(server: &Server) -> Timeouts {
    Timeouts {
        connect: server.timeouts.connect(),
        read: server.timeouts.request(),
        total: server.timeouts.request(),
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
            let required_checks = policy.ci_of(&repo.name).required_checks;
            Standing {
                supervised: policy.is_gated(&repo.name),
                watched: policy.is_watched(&repo.name) && !required_checks.is_empty(),
                inbox: policy.inbox.repository == repo.name,
                merges: match policy.merge.base_branches.as_slice() {
                    _ if !policy.merge.enabled => Merges::Off,
                    [] => Merges::IntoDefault,
                    branches => Merges::Into(branches.to_vec()),
                },
                required_checks,
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
    // With data residency the API is `api.SUBDOMAIN.ghe.com` beside `SUBDOMAIN.ghe.com`.
    let beside = github_url.strip_prefix("https://api.");
    if let Some(host) = beside.filter(|host| host.ends_with(".ghe.com")) {
        return format!("https://{host}");
    }
    github_url.trim_end_matches("/api/v3").to_owned()
}

/// A name for this process that no other replica has: in a container every process has the same number.
fn replica() -> String {
    let mut random = [0_u8; 6];
    match getrandom::fill(&mut random) {
        Ok(()) => hex::encode(random),
        Err(_) => std::process::id().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::web_base;

    #[test]
    fn pages_stand_beside_every_kind_of_api() {
        for (api, pages) in [
            ("https://api.github.com", "https://github.com"),
            ("https://api.octo.ghe.com", "https://octo.ghe.com"),
            ("https://ghe.example.com/api/v3", "https://ghe.example.com"),
            ("http://127.0.0.1:3999", "http://127.0.0.1:3999"),
        ] {
            assert_eq!(web_base(api), pages);
        }
    }
}
