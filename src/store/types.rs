//! The values that go into the store and come out of it.
//!
//! Plain data; no SQL, no I/O. INVARIANT: a [`Claim`] is only made by the store, and its lease token fences
//! everything that is done with it.

use super::Document;
use crate::domain::{
    Account, CommentId, DeliveryId, Effect, InstallationId, IssueNumber, Outcome, PullNumber,
    PullState, Quadrant, RepoId, RepoName, RepoRef, Sha, Subject, Timestamp, Trigger, Witness,
};

/// A verified webhook delivery, to be kept.
#[derive(Debug, Clone)]
pub struct NewDelivery {
    /// Its GUID.
    pub id: DeliveryId,
    /// `X-GitHub-Event`.
    pub event: String,
    /// The payload's `action`.
    pub action: Option<String>,
    /// SHA-256 of the raw body: the same GUID with another body is a conflict.
    pub body_sha256: [u8; 32],
    /// When it came, by this server's clock.
    pub received_at: Timestamp,
    /// What is to be looked at because of it.
    pub triggers: Vec<Trigger>,
    /// What it says about the world, kept in the same transaction.
    pub notes: Vec<Note>,
}

/// A fact that a delivery states by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The installation is in this state now.
    Installation(InstallationId, InstallationStatus),
    /// The repository has this name now.
    RepoSeen(RepoRef),
    /// A button of a check-run of ours was pressed. Kept with the delivery's id and time.
    Pressed {
        /// The check-run's `external_id`.
        external_id: String,
        /// The button's identifier.
        identifier: String,
        /// The sender.
        by: Account,
    },
    /// A comment was edited. Kept when it stands on an Issue of ours.
    CommentEdited {
        /// The repository of the Issue.
        repo: RepoId,
        /// The Issue.
        issue: IssueNumber,
        /// The comment.
        comment: CommentId,
        /// Its `updated_at` after the edit.
        updated_at: Timestamp,
        /// The sender.
        by: Account,
    },
}

/// May work go on for an installation?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstallationStatus {
    /// Yes. Also what holds for an installation never heard of.
    Active,
    /// Suspended by its account: its work waits.
    Suspended,
    /// Uninstalled: its work waits for good, unless it comes back.
    Removed,
}

impl InstallationStatus {
    /// The word as stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Removed => "removed",
        }
    }
}

/// An installation, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallationRow {
    /// Its id.
    pub id: InstallationId,
    /// May its work go on?
    pub status: InstallationStatus,
    /// How many of its repositories were seen.
    pub repositories: u64,
}

/// What became of an offered delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Accepted {
    /// First seen; committed.
    New,
    /// Seen and finished before; nothing changed.
    Duplicate,
    /// Seen before but unfinished or dead: back to work at once.
    Requeued,
    /// The GUID was seen with another body; nothing changed.
    Conflict,
}

/// The right to work on one subject until the lease ends.
#[derive(Debug, Clone)]
pub struct Claim {
    /// What to work on.
    pub subject: Subject,
    /// The wishes up to this one are covered by [`super::Store::finish`].
    pub generation: u64,
    /// Proof of ownership; unique for each claim of a subject.
    pub(in crate::store) lease: String,
    /// How many attempts began before this one and did not finish (failed, timed out or crashed).
    pub attempts: u32,
    /// Must everything be read again?
    pub deep: bool,
    /// Heads that waiting triggers announced, with the time they came, oldest first (the newest 100).
    pub announced: Vec<(Sha, Timestamp)>,
    /// The deliveries that wait for this work, newest first, at most 100.
    pub deliveries: Vec<DeliveryId>,
    /// What was left of the last evaluation (pull requests only).
    pub state: Option<PullState>,
    /// A plan that was saved and not finished. When its generation is below [`Claim::generation`], there are
    /// newer wishes: carry it out, then look again before finishing.
    pub plan: Option<StoredPlan>,
}

impl Claim {
    /// The lease token, for logs.
    #[must_use]
    pub fn lease(&self) -> &str {
        &self.lease
    }
}

/// The end of an evaluation.
#[derive(Debug, Clone)]
pub struct Finish {
    /// What to remember of the pull request; `None` leaves what is there.
    pub state: Option<PullState>,
    /// Now.
    pub now: Timestamp,
    /// Counters to raise by one in the same transaction.
    pub count: Vec<String>,
}

impl Finish {
    /// Remembers `state` and counts nothing.
    #[must_use]
    pub fn new(state: Option<PullState>, now: Timestamp) -> Self {
        Self {
            state,
            now,
            count: Vec::new(),
        }
    }
}

/// A decision's plan, to be saved before anything of it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPlan {
    /// Digest of the decision.
    pub decision_id: String,
    /// The audit entries to be written before the first effect.
    pub entries: serde_json::Value,
    /// In the order in which they are carried out.
    pub effects: Vec<Effect>,
    /// The state once everything is done.
    pub state_after: PullState,
    /// What was decided, if the plan has the entry of a decision; kept for longer than the plan.
    pub decision: Option<Decision>,
}

/// A decision without its documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRow {
    /// Our id of it: the `decision` of its audit entry, which stays the same across a crash.
    pub id: String,
    /// The base repository.
    pub repo: RepoId,
    /// Its name of the moment.
    pub name: RepoName,
    /// The pull request.
    pub number: PullNumber,
    /// The head that was judged.
    pub head_sha: Sha,
    /// When it was decided.
    pub at: Timestamp,
    /// The verdict.
    pub quadrant: Quadrant,
    /// Digest of the policy in force.
    pub policy: String,
    /// Version of the program.
    pub version: String,
    /// Its entry in the audit log; `None` until that is on disk: then nothing of it was shown to anybody yet.
    pub entry: Option<Witness>,
}

/// A decision as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What and when.
    pub row: DecisionRow,
    /// What the verdict was computed from (`rules::Basis`).
    pub facts: Document,
    /// The explanation (`rules::Explanation`), the document of `explain --json`.
    pub explanation: Document,
}

/// A plan as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPlan {
    /// The generation it was made for.
    pub generation: u64,
    /// Digest of the decision.
    pub decision_id: String,
    /// The audit entries to be written before the first effect.
    pub entries: serde_json::Value,
    /// In the order in which they are carried out.
    pub effects: Vec<PlannedEffect>,
    /// The state once everything is done.
    pub state_after: PullState,
    /// The last audit entry of the plan, once it is on disk.
    pub witness: Option<Witness>,
}

/// One effect of a stored plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedEffect {
    /// What is to be true.
    pub effect: Effect,
    /// How far it got.
    pub status: EffectStatus,
}

/// How far an effect got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectStatus {
    /// Not begun.
    Planned,
    /// Begun: it may or may not have reached GitHub.
    Started,
    /// Carried out.
    Done(Outcome),
}

/// Work that was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// The key of its subject, by which it is revived or dropped.
    pub id: String,
    /// What it was about.
    pub subject: Subject,
    /// Why it was given up, for people.
    pub reason: String,
    /// How often it was tried.
    pub attempts: u32,
    /// When it was given up.
    pub at: Timestamp,
    /// The deliveries that were waiting for it.
    pub deliveries: Vec<DeliveryId>,
}

/// One delivery, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRow {
    /// Its GUID.
    pub id: DeliveryId,
    /// `X-GitHub-Event`.
    pub event: String,
    /// The payload's `action`.
    pub action: Option<String>,
    /// When it came.
    pub received_at: Timestamp,
    /// How far it got.
    pub status: DeliveryStatus,
}

/// How far a delivery got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryStatus {
    /// Some of its subjects are not worked on yet.
    Waiting,
    /// All of its subjects are finished.
    Done,
    /// Work on one of its subjects was given up.
    Dead,
}

/// An entry of the audit log before it has its place in the chain.
pub trait Chained: Send + Sync + 'static {
    /// What it records; the same decision is not recorded twice.
    fn decision(&self) -> &str;
    /// Its line, with its end, at this place behind the entry with this hash; and the place.
    ///
    /// # Errors
    /// It cannot be written as a line.
    fn line(&self, seq: u64, prev: &str) -> std::io::Result<(String, Witness)>;
}

/// An entry of the audit log as it is kept in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainLine {
    /// Its place.
    pub at: Witness,
    /// The line with its end, as it stands in the file.
    pub line: String,
}
