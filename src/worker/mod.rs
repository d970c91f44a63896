//! The worker: claims one subject at a time under a lease, works on it, acknowledges last.
//!
//! Read, decide, plan, apply are functions of other modules; here they are put in order. INVARIANT: a subject is
//! acknowledged (`Store::finish`) only when everything that it asked for is true on GitHub or is kept in the
//! store to be retried.

pub(crate) mod after_merge;
mod answers;
mod audit_writer;
mod burn_in;
mod call_budget;
mod carry_out;
mod evidence;
mod gate;
mod inbox_repo;
mod lookup;
mod merge_group;
pub(crate) mod passive;
mod pull;
mod record;
mod retry;
mod write_budget;

pub(crate) use answers::shown;
pub use audit_writer::AuditWriter;
pub(crate) use burn_in::META as BURN_IN;
pub use burn_in::TickMetrics;
pub use call_budget::{CallBudget, CallLimits};
pub use write_budget::WriteBudget;

use crate::clock::Clock;
use crate::domain::{Facts, PullState, RepoName, RepoRef, Subject, Timestamp};
use crate::github::{ApiError, GitHub};
use crate::inbox::ReceiptKey;
use crate::policy::Policy;
use crate::server::Metrics;
use crate::store::{Claim, Finish, Store, StoreError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::Instrument;

/// How long a lease holds without renewal. A worker that died is replaced after this time.
const LEASE: Duration = Duration::from_mins(1);
/// A lease is renewed this often while its work goes on.
const RENEWAL: Duration = Duration::from_secs(20);
/// A worker that has nothing to do looks again after this time, however quiet it is.
const LONGEST_IDLE: Duration = Duration::from_secs(30);
/// And so long after the store has failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// When all hands are full, so long is waited for more than one to become free.
const GATHERED_FOR: Duration = Duration::from_millis(5);
/// And not sooner than this, when what is due is held up by something else.
const SHORTEST_IDLE: Duration = Duration::from_millis(20);

/// A step between which a crash is tried in tests; does nothing in production.
pub type FaultPoint = Arc<dyn Fn(&'static str) + Send + Sync>;

/// Everything that a worker works with.
pub struct Bench {
    /// The durable store.
    pub store: Arc<dyn Store>,
    /// The client.
    pub github: GitHub,
    /// The policy in force; replaced as a whole on reload.
    pub policy: watch::Receiver<Arc<Policy>>,
    /// The audit log's one writer.
    pub audit: AuditWriter,
    /// Counts.
    pub metrics: Arc<Metrics>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// The key of the ballots' markers.
    pub receipt_key: ReceiptKey,
    /// Base of GitHub's pages, such as `https://github.com`.
    pub web_base: String,
    /// Base of our own pages, without a slash at its end, if people can reach them.
    pub details_base: Option<String>,
    /// Repositories for Issues that were found by their names.
    pub inboxes: Mutex<HashMap<RepoName, RepoRef>>,
    /// What was written lately, to be governed.
    pub writes: WriteBudget,
    /// What GitHub allows each installation.
    pub calls: CallBudget,
    /// Days for which a decision is kept with its facts; 0: none is.
    pub decision_days: u64,
    /// Where the agents' clocks are shown.
    pub tick_metrics: TickMetrics,
    /// Called between any two steps.
    pub fault_point: FaultPoint,
}

/// Why work on a subject stopped.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// GitHub.
    #[error(transparent)]
    GitHub(#[from] ApiError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The audit log could not be written: nothing was published.
    #[error("the audit entry is not on disk, so nothing was published: {0}")]
    Audit(String),
    /// Too many writes for one pull request in one hour.
    #[error("this pull request had its {cap} writes of the hour")]
    Capped {
        /// How many are allowed.
        cap: u64,
        /// When the next one may go out.
        wait: Duration,
    },
    /// The installation's budget has to come back first.
    #[error("held back: {why}")]
    Held {
        /// What is used up.
        why: String,
        /// When there is room again.
        wait: Duration,
    },
    /// GitHub still shows the head from before the one it announced.
    #[error("GitHub still shows the head from before the one it announced")]
    Behind,
    /// The head moved while it was looked at; start over.
    #[error("the head moved while facts were read")]
    Moved,
    /// GitHub has not computed yet whether the pull request merges without conflict.
    #[error("GitHub has not computed yet whether it merges without conflict")]
    Uncomputed,
    /// GitHub refused an order because what was judged is no more; start over.
    #[error("what was judged is no more: {reason}")]
    Overtaken {
        /// In GitHub's words.
        reason: String,
    },
    /// Somebody spoke on an Issue that is being opened: whose it is stands in the store when that is done.
    #[error("an Issue is being opened here; what is said on it is read after that")]
    BeingOpened,
    /// A bug or a bound of ours.
    #[error("{0}")]
    Broken(String),
}

impl From<call_budget::Held> for WorkError {
    fn from(held: call_budget::Held) -> Self {
        let call_budget::Held { wait, why } = held;
        Self::Held { why, wait }
    }
}

/// What is to be remembered when a subject is done.
pub(crate) struct Done {
    pub(crate) state: Option<PullState>,
    pub(crate) count: Vec<String>,
}

impl Done {
    fn remember(state: PullState) -> Self {
        Self {
            state: Some(state),
            count: Vec::new(),
        }
    }

    fn nothing() -> Self {
        Self {
            state: None,
            count: Vec::new(),
        }
    }
}

impl Bench {
    /// Works until `stop` turns true, on up to `most` subjects at the same time, then finishes what is in hand.
    ///
    /// One task gives out the work to all: if each worker asked for itself, each delivery would wake all of them.
    pub async fn run(self: Arc<Self>, name: String, most: usize, mut stop: watch::Receiver<bool>) {
        let mut wakeup = self.store.wakeup();
        let mut hands = JoinSet::new();
        while !*stop.borrow() {
            while hands.try_join_next().is_some() {}
            let free = most.saturating_sub(hands.len());
            if free == 0 {
                tokio::select! {
                    _ = stop.changed() => {}
                    () = some_end(&mut hands, most / 4) => {}
                }
                continue;
            }
            wakeup.mark_unchanged();
            let asked = self.clock.now();
            let claimed = self.store.claim_several(&name, asked, LEASE, free).await;
            let until = match claimed {
                Ok(claims) => {
                    let all = claims.len() < free;
                    for claim in claims {
                        let bench = Arc::clone(&self);
                        hands.spawn(async move { bench.take_up(&claim).await });
                    }
                    if !all {
                        continue;
                    }
                    self.next_look(asked).await
                }
                Err(error) => {
                    tracing::error!(%error, "the store does not give out work");
                    asked.plus(AFTER_FAILURE)
                }
            };
            tokio::select! {
                _ = stop.changed() => {}
                _ = wakeup.changed() => {}
                () = self.clock.sleep_until(until) => {}
            }
        }
        while hands.join_next().await.is_some() {}
    }

    /// Claims and works on one subject. `false`: nothing is due.
    ///
    /// # Errors
    /// The store cannot be asked for work. What goes wrong with the work itself is kept in the store.
    pub async fn work_once(self: &Arc<Self>, name: &str) -> Result<bool, StoreError> {
        let Some(claim) = self.store.claim(name, self.clock.now(), LEASE).await? else {
            return Ok(false);
        };
        self.take_up(&claim).await;
        Ok(true)
    }

    async fn take_up(self: &Arc<Self>, claim: &Claim) {
        self.at("claimed");
        let delivery = claim.deliveries.first().map_or("-", |id| id.as_str());
        let span = tracing::info_span!("work", subject = %claim.subject.key(), delivery);
        self.under_lease(claim).instrument(span).await;
    }

    /// When to look for work again if nothing wakes us, after nothing was due at the moment `asked`. A moment and not a
    /// span: a clock that moves on while the store is asked loses nothing.
    async fn next_look(&self, asked: Timestamp) -> Timestamp {
        let latest = asked.plus(LONGEST_IDLE);
        match self.store.next_due().await {
            Ok(Some(due)) => due.clamp(asked.plus(SHORTEST_IDLE), latest),
            Ok(None) | Err(_) => latest,
        }
    }

    /// Works on the claim while renewing its lease; work whose lease is lost is dropped where it stands.
    async fn under_lease(self: &Arc<Self>, claim: &Claim) {
        let renewal = async {
            loop {
                self.clock.sleep(RENEWAL).await;
                if let Err(error) = self.store.renew(claim, self.clock.now(), LEASE).await {
                    return error;
                }
            }
        };
        let result = tokio::select! {
            result = self.work_on(claim) => result,
            error = renewal => Err(WorkError::Store(error)),
        };
        if let Err(error) = self.settle(claim, result).await {
            tracing::error!(%error, "the result of the work could not be kept; it will be done again");
        }
    }

    async fn work_on(self: &Arc<Self>, claim: &Claim) -> Result<Done, WorkError> {
        let left = self.github.rate_left(claim.subject.installation());
        self.calls.admits(claim.into(), left, self.clock.now())?;
        match &claim.subject {
            Subject::Pull { repo, number } => {
                self.pull(claim, &self.present(repo).await?, *number).await
            }
            Subject::Head { repo, sha } => {
                self.pulls_of_head(claim, &self.present(repo).await?, sha)
                    .await
            }
            Subject::Issue { repo, number } => {
                self.pull_of_issue(claim, &self.present(repo).await?, *number)
                    .await
            }
            Subject::Repo { repo } => self.pulls_of_repo(&self.present(repo).await?).await,
            Subject::Installation { installation } => {
                self.repos_of_installation(claim, *installation).await
            }
            Subject::MergeGroup {
                repo,
                head_sha,
                head_ref,
            } => self.merge_group(claim, repo, head_sha, head_ref).await,
            Subject::Commit { repo, sha } => {
                self.pull_of_commit(&self.present(repo).await?, sha).await
            }
        }
    }

    /// The repository under its name of the moment: what waits was accepted under the name of then, which another
    /// repository may have taken.
    async fn present(&self, repo: &RepoRef) -> Result<RepoRef, StoreError> {
        let known = self.store.repo_by_id(repo.id).await?;
        Ok(known.unwrap_or_else(|| repo.clone()))
    }

    async fn settle(
        &self,
        claim: &Claim,
        result: Result<Done, WorkError>,
    ) -> Result<(), StoreError> {
        let now = self.clock.now();
        let error = match result {
            Ok(done) => {
                let finish = Finish {
                    state: done.state,
                    now,
                    count: done.count,
                };
                self.at("finishing");
                self.store.finish(claim, finish).await?;
                self.at("finished");
                return Ok(());
            }
            Err(error) => error,
        };
        if let WorkError::GitHub(ApiError::RateLimited { retry_after, .. }) = &error {
            let installation = claim.subject.installation();
            self.calls.refused(installation, *retry_after, now);
        }
        let (again, told) = match &error {
            WorkError::GitHub(api) => (api.is_retryable(), api.retry_after()),
            WorkError::Store(StoreError::LeaseLost { .. }) => {
                self.metrics.lease_lost();
                return Ok(());
            }
            WorkError::Store(_)
            | WorkError::Audit(_)
            | WorkError::Moved
            | WorkError::Behind
            | WorkError::BeingOpened
            | WorkError::Uncomputed
            | WorkError::Overtaken { .. } => (true, None),
            WorkError::Capped { wait, .. } | WorkError::Held { wait, .. } => (true, Some(*wait)),
            WorkError::Broken(_) => (false, None),
        };
        let text = error.to_string();
        // A limit or a full disk is not the subject's fault: it never makes a dead letter.
        let patient = matches!(
            error,
            WorkError::GitHub(ApiError::RateLimited { .. })
                | WorkError::Audit(_)
                | WorkError::Store(_)
                | WorkError::Capped { .. }
                | WorkError::Held { .. }
        );
        if again && (patient || claim.attempts < retry::TRIES_BEFORE_DEAD) {
            let wait = retry::wait(claim.attempts, told, random());
            tracing::warn!(error = %text, attempts = claim.attempts, wait_s = wait.as_secs(), "work failed for now");
            self.store.retry(claim, now.plus(wait), &text).await
        } else {
            tracing::error!(error = %text, attempts = claim.attempts, "work is given up: a dead letter");
            self.store.bury(claim, &text, now).await
        }
    }

    fn policy(&self) -> Arc<Policy> {
        self.policy.borrow().clone()
    }

    fn at(&self, step: &'static str) {
        (self.fault_point)(step);
    }
}

/// Files of a change up to which looking at all of them takes less than the way to another thread and back.
const FEW_FILES: usize = 20;
/// The same for their patches and texts together, in bytes.
const SHORT_TEXTS: usize = 64 * 1024;

/// Is the change so small that it is looked at where it is?
fn is_small(facts: &Facts) -> bool {
    let files = facts.files.items();
    let texts = files
        .iter()
        .flat_map(|file| [&file.patch, &file.base_content, &file.head_content])
        .flatten();
    files.len() <= FEW_FILES && texts.map(String::len).sum::<usize>() <= SHORT_TEXTS
}

/// Work that takes a while goes to the threads that may block.
async fn off_thread<T: Send + 'static>(
    small: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, tokio::task::JoinError> {
    if small {
        Ok(work())
    } else {
        tokio::task::spawn_blocking(work).await
    }
}

/// Waits until some of the tasks have ended: at least one, and more if they end within a moment. What is asked for
/// together costs the store one look.
async fn some_end(hands: &mut JoinSet<()>, enough: usize) {
    hands.join_next().await;
    let more = async {
        for _ in 1..enough {
            hands.join_next().await;
        }
    };
    // In time or not: those that have ended are counted by whoever asks.
    let _ = tokio::time::timeout(GATHERED_FOR, more).await;
}

/// A random number; a machine without randomness gets no spread, which harms nothing.
fn random() -> u32 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u32::from_le_bytes(bytes),
        Err(_) => 0,
    }
}
