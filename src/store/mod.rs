//! The durable store: accepted deliveries, one row a subject that is its lock, plans, states.
//!
//! [`Store`] is the contract; [`sqlite::SqliteStore`] and [`postgres::PostgresStore`] keep it. Only this module speaks SQL, and it names only
//! `domain`. INVARIANT: what a method acknowledged survives `kill -9`, and nothing done with a lost lease
//! changes anything.

mod document;
mod error;
mod migrate;
pub mod postgres;
mod sql;
pub mod sqlite;
mod types;

pub use document::{Document, MAX_KEPT};
pub use error::StoreError;
pub use types::{
    Accepted, ChainLine, Chained, Claim, DeadLetter, Decision, DecisionRow, DeliveryRow,
    DeliveryStatus, EffectStatus, Finish, InstallationRow, InstallationStatus, NewDelivery,
    NewPlan, Note, PlannedEffect, StoredPlan,
};

use crate::domain::{
    AccountId, CommentEdit, DeliveryId, InstallationId, IssueNumber, Outcome, Press, PullNumber,
    PullState, RepoId, RepoName, RepoRef, Sha, Subject, Timestamp, Trigger, Witness,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Every write is committed when it returns and survives the end of the process. All are synced, too, but those of which
/// nobody outside is told and which are found out again when a loss of power takes them: [`Store::claim`],
/// [`Store::claim_several`], [`Store::renew`], [`Store::release`], [`Store::effect_started`] and [`Store::plan_audited`] (the log itself says what
/// is in it). Those are synced with the next one that is.
#[async_trait::async_trait]
pub trait Store: Send + Sync + 'static {
    // Work comes in.

    /// Keeps a delivery and puts its subjects to work, in one transaction.
    async fn accept(&self, delivery: NewDelivery) -> Result<Accepted, StoreError>;
    /// Puts a subject to work without a delivery (tick, sweep, look-ups).
    async fn enqueue(&self, trigger: Trigger, now: Timestamp) -> Result<(), StoreError>;
    /// Changes whenever work may have come in; a receiver misses no change that came after it was made.
    fn wakeup(&self) -> watch::Receiver<u64>;
    /// The earliest moment at which some waiting subject is or becomes due; `None` when nothing waits.
    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError>;

    // Work is done, under a lease.

    /// The longest waiting due subject whose installation is active, for `lease` from `now`.
    async fn claim(
        &self,
        worker: &str,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Option<Claim>, StoreError>;
    /// As many of those as there are, up to `most`.
    async fn claim_several(
        &self,
        worker: &str,
        now: Timestamp,
        lease: Duration,
        most: usize,
    ) -> Result<Vec<Claim>, StoreError>;
    /// Keeps the lease for `lease` from `now`.
    async fn renew(&self, claim: &Claim, now: Timestamp, lease: Duration)
    -> Result<(), StoreError>;
    /// The generation is done: state kept, deliveries acknowledged, plan and lease gone, in one transaction.
    async fn finish(&self, claim: &Claim, finish: Finish) -> Result<(), StoreError>;
    /// A step of the work is done and more follows: state and counters kept, the plan gone, the lease goes on.
    async fn remember(&self, claim: &Claim, done: Finish) -> Result<(), StoreError>;
    /// Failed for now; due again at `next_attempt`. A plan stays.
    async fn retry(
        &self,
        claim: &Claim,
        next_attempt: Timestamp,
        error: &str,
    ) -> Result<(), StoreError>;
    /// Given up: a dead letter. A later trigger of the subject is worked on, in full if this one was to be.
    async fn bury(&self, claim: &Claim, reason: &str, now: Timestamp) -> Result<(), StoreError>;
    /// Not worked on after all (shutdown): due at once, the attempt is not counted.
    async fn release(&self, claim: &Claim) -> Result<(), StoreError>;

    // Plans, under the same lease.

    /// Keeps the plan, in place of an earlier one of this subject.
    async fn save_plan(&self, claim: &Claim, plan: &NewPlan) -> Result<(), StoreError>;
    /// The plan's audit entries are on disk; also moves the audit tail. `decision` is the entry of the plan's decision,
    /// which is noted with it.
    async fn plan_audited(
        &self,
        claim: &Claim,
        witness: &Witness,
        decision: Option<&Witness>,
    ) -> Result<(), StoreError>;
    /// The effect with this index is about to be carried out.
    async fn effect_started(&self, claim: &Claim, index: usize) -> Result<(), StoreError>;
    /// The effect with this index was carried out.
    async fn effect_done(
        &self,
        claim: &Claim,
        index: usize,
        outcome: &Outcome,
    ) -> Result<(), StoreError>;

    // The audit log's end.

    /// The newest entry the store has heard of.
    async fn audit_tail(&self) -> Result<Option<Witness>, StoreError>;
    /// Moves the tail forward; an older entry than the one known changes nothing.
    async fn set_audit_tail(&self, witness: &Witness) -> Result<(), StoreError>;

    /// Puts the tail where the log ends, also backwards: the operator has accepted that entries are lost.
    async fn reset_audit_tail(&self, witness: Option<&Witness>) -> Result<(), StoreError>;

    // The audit chain, where several replicas append to it: entries are committed here and written out as files behind.

    /// Commits entries at the end of the chain, in order and together, save those whose decision is among the kept ones;
    /// says where each stands.
    async fn append_audit(
        &self,
        entries: Vec<Arc<dyn Chained>>,
    ) -> Result<Vec<Witness>, StoreError>;
    /// Begins the chain where the log on disk ends, or goes on where it ends itself if that is later. Nothing is appended
    /// before this was done once. `start` stands before the first entry of all. Returns the end.
    async fn open_chain(
        &self,
        on_disk: Option<&Witness>,
        start: &str,
    ) -> Result<Witness, StoreError>;
    /// The kept entries behind the one with this number, oldest first.
    async fn chain_behind(&self, seq: u64, limit: u32) -> Result<Vec<ChainLine>, StoreError>;
    /// The hash of an entry, if it is kept or the last one.
    async fn chain_hash(&self, seq: u64) -> Result<Option<String>, StoreError>;
    /// The last entry that is in the files, on disk; 0: none.
    async fn chain_written(&self) -> Result<u64, StoreError>;
    /// Notes the last entry that is in the files, and forgets all but the newest `keep` of those.
    async fn set_chain_written(&self, seq: u64, keep: u64) -> Result<(), StoreError>;
    /// Goes on where the log on disk ends, forgetting entries behind it: the operator has accepted that they are lost.
    async fn cut_chain(&self, on_disk: Option<&Witness>, start: &str) -> Result<(), StoreError>;

    // Pull requests.

    /// What was left of the last evaluation.
    async fn pull_state(
        &self,
        repo: RepoId,
        number: PullNumber,
    ) -> Result<Option<PullState>, StoreError>;
    /// The pull requests whose last seen head is this commit, open or closed.
    async fn pulls_with_head(&self, repo: RepoId, head: &Sha)
    -> Result<Vec<PullState>, StoreError>;
    /// The pull request that an Issue of ours is or was about. Compare with [`PullState::issue`].
    async fn pull_for_issue(
        &self,
        repo: RepoId,
        number: IssueNumber,
    ) -> Result<Option<PullState>, StoreError>;
    /// The Issues that plans in hand open in a repository: what is said there is not lost because the plan is not
    /// finished. `None` for one whose number is not known yet.
    async fn issues_in_hand(&self, repo: RepoId) -> Result<Vec<Option<IssueNumber>>, StoreError>;
    /// The buttons that were pressed on the check-run with this `external_id`, oldest first.
    async fn presses(&self, external_id: &str) -> Result<Vec<Press>, StoreError>;
    /// The edits of comments on an Issue of ours that deliveries told of.
    async fn comment_edits(
        &self,
        repo: RepoId,
        issue: IssueNumber,
    ) -> Result<Vec<CommentEdit>, StoreError>;
    /// The pull requests with an Issue of ours that is open, or that ended with an approval still in force.
    async fn open_issues(&self) -> Result<Vec<PullState>, StoreError>;

    /// The pull requests whose Issue could not be opened: their question or trail stands nowhere.
    async fn refused_issues(&self) -> Result<Vec<PullState>, StoreError>;

    /// The pull request whose merge made this commit, if it is or was watched.
    async fn pull_merged_as(
        &self,
        repo: RepoId,
        commit: &Sha,
    ) -> Result<Option<PullState>, StoreError>;
    /// The merged pull requests whose commit is to be looked at by the clock.
    async fn watched_merges(&self, now: Timestamp) -> Result<Vec<PullState>, StoreError>;

    // Decisions.

    /// The decisions about a pull request that are still kept, newest first, whatever their heads.
    async fn decisions_of(
        &self,
        repo: RepoId,
        number: PullNumber,
        limit: u32,
    ) -> Result<Vec<DecisionRow>, StoreError>;
    /// One decision with its documents; `id` is the `decision` of its audit entry.
    async fn decision(&self, id: &str) -> Result<Option<Decision>, StoreError>;
    /// Forgets the decisions from before a moment, save those that an open Issue of ours is about; returns how many.
    async fn prune_decisions(&self, before: Timestamp) -> Result<u64, StoreError>;

    // Installations, repositories, owners.

    /// Remembers the state of an installation; an active one's waiting work is due again.
    async fn set_installation(
        &self,
        id: InstallationId,
        status: InstallationStatus,
    ) -> Result<(), StoreError>;
    /// The state of an installation; active when never heard of.
    async fn installation(&self, id: InstallationId) -> Result<InstallationStatus, StoreError>;
    /// Every installation that was heard of, with the number of its repositories that were seen.
    async fn installations(&self) -> Result<Vec<InstallationRow>, StoreError>;
    /// Remembers the name of the moment.
    async fn repo_seen(&self, repo: &RepoRef) -> Result<(), StoreError>;
    /// The name last seen.
    async fn repo_by_id(&self, id: RepoId) -> Result<Option<RepoRef>, StoreError>;
    /// The repository that was last seen under this name, compared without case; of several the youngest.
    async fn repo_by_name(&self, name: &RepoName) -> Result<Option<RepoRef>, StoreError>;
    /// Pins a login to an account unless it is pinned already; returns the account that is pinned.
    async fn pin_owner(&self, login: &str, id: AccountId) -> Result<AccountId, StoreError>;
    /// Logins (lower case) and the accounts they are pinned to.
    async fn pinned_owners(&self) -> Result<BTreeMap<String, AccountId>, StoreError>;

    // Small things.

    /// Raises a counter, made at 0; returns its new value.
    async fn bump(&self, name: &str, by: u64) -> Result<u64, StoreError>;
    /// All counters.
    async fn counters(&self) -> Result<BTreeMap<String, u64>, StoreError>;
    /// Was the label seen to exist in the repository?
    async fn label_ensured(&self, repo: RepoId, name: &str) -> Result<bool, StoreError>;
    /// The labels that were seen to exist in the repository.
    async fn labels_ensured(&self, repo: RepoId) -> Result<BTreeSet<String>, StoreError>;
    /// Remembers whether the label exists.
    async fn set_label_ensured(
        &self,
        repo: RepoId,
        name: &str,
        exists: bool,
    ) -> Result<(), StoreError>;
    /// A value kept under a name.
    async fn meta(&self, key: &str) -> Result<Option<String>, StoreError>;
    /// Keeps a value under a name.
    async fn set_meta(&self, key: &str, value: &str) -> Result<(), StoreError>;
    /// Keeps a value under a name if what is there is still `was`; says whether it was.
    async fn swap_meta(
        &self,
        key: &str,
        was: Option<&str>,
        value: &str,
    ) -> Result<bool, StoreError>;

    // For people and metrics.

    /// How many subjects wait or are worked on; those of paused installations are not counted.
    async fn queue_depth(&self) -> Result<u64, StoreError>;
    /// How long the longest waiting of them has waited; zero when nothing waits.
    async fn oldest_waiting(&self, now: Timestamp) -> Result<Duration, StoreError>;
    /// Work that was given up, newest first.
    async fn dead_letters(&self) -> Result<Vec<DeadLetter>, StoreError>;
    /// Puts a dead letter's subject back to work, in full.
    async fn revive(&self, id: &str, now: Timestamp) -> Result<(), StoreError>;
    /// Forgets a dead letter; its deliveries count as finished.
    async fn drop_dead(&self, id: &str) -> Result<(), StoreError>;
    /// Puts everything that a kept delivery asked for back to work, in full, finished or not; returns what that is.
    async fn put_back(&self, id: &DeliveryId, now: Timestamp) -> Result<Vec<Subject>, StoreError>;
    /// The newest deliveries, newest first.
    async fn recent_deliveries(&self, limit: u32) -> Result<Vec<DeliveryRow>, StoreError>;
    /// Forgets finished deliveries that came before a moment, and older buttons and edits that can no longer answer
    /// anything; returns how many deliveries.
    async fn prune(&self, before: Timestamp) -> Result<u64, StoreError>;

    /// Writes what was handed in, then lets go of the database. Later calls are `Unavailable`.
    async fn close(&self);
}
