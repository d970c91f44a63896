//! The trait kept over any backend: owned arguments in, one transaction each, wake-ups after commit.

use super::{
    Backend, SqlStore, chain, decisions, intake, lease, lease::Fence, plans, pulls, registry,
    report, signals,
};
use crate::domain::{
    AccountId, CommentEdit, DeliveryId, InstallationId, IssueNumber, Outcome, Press, PullNumber,
    PullState, RepoId, RepoName, RepoRef, Sha, Subject, Timestamp, Trigger, Witness,
};
use crate::store::{
    Accepted, ChainLine, Chained, Claim, DeadLetter, Decision, DecisionRow, DeliveryRow, Finish,
    InstallationRow, InstallationStatus, NewDelivery, NewPlan, Store, StoreError,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// `write!(self, conn => work(conn, …))`: the work in a transaction on the writing connection.
macro_rules! write {
    ($self:ident, $conn:ident => $work:expr) => {
        $self
            .backend
            .write(move |$conn| Box::pin(async move { $work.await }))
            .await
    };
}

/// The same for what need not be on the disk at once.
macro_rules! write_lightly {
    ($self:ident, $conn:ident => $work:expr) => {
        $self
            .backend
            .write_lightly(move |$conn| Box::pin(async move { $work.await }))
            .await
    };
}

/// One statement that reads.
macro_rules! look {
    ($self:ident, $conn:ident => $work:expr) => {
        $self
            .backend
            .look(move |$conn| Box::pin(async move { $work.await }))
            .await
    };
}

/// The same on a reading connection.
macro_rules! read {
    ($self:ident, $conn:ident => $work:expr) => {
        $self
            .backend
            .read(move |$conn| Box::pin(async move { $work.await }))
            .await
    };
}

#[async_trait::async_trait]
impl<B: Backend> Store for SqlStore<B> {
    async fn accept(&self, delivery: NewDelivery) -> Result<Accepted, StoreError> {
        let accepted = write!(self, c => intake::accept(c, &delivery))?;
        match accepted {
            Accepted::New | Accepted::Requeued => self.work_came_in(),
            Accepted::Duplicate | Accepted::Conflict => {}
        }
        Ok(accepted)
    }

    async fn enqueue(&self, trigger: Trigger, now: Timestamp) -> Result<(), StoreError> {
        write!(self, c => intake::enqueue(c, &trigger, now))?;
        self.work_came_in();
        Ok(())
    }

    fn wakeup(&self) -> watch::Receiver<u64> {
        self.wake.subscribe()
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        look!(self, c => report::next_due(c))
    }

    async fn claim(
        &self,
        worker: &str,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Option<Claim>, StoreError> {
        let worker = worker.to_owned();
        write_lightly!(self, c => lease::claim(c, &worker, now, lease))
    }

    async fn claim_several(
        &self,
        worker: &str,
        now: Timestamp,
        lease: Duration,
        most: usize,
    ) -> Result<Vec<Claim>, StoreError> {
        let worker = worker.to_owned();
        write_lightly!(self, c => lease::claim_several(c, &worker, now, lease, most))
    }

    async fn renew(
        &self,
        claim: &Claim,
        now: Timestamp,
        lease: Duration,
    ) -> Result<(), StoreError> {
        let fence = Fence::of(claim);
        write_lightly!(self, c => lease::renew(c, &fence, now.plus(lease)))
    }

    async fn finish(&self, claim: &Claim, finish: Finish) -> Result<(), StoreError> {
        let fence = Fence::of(claim);
        if write!(self, c => lease::finish(c, &fence, &finish))? {
            self.work_came_in();
        }
        Ok(())
    }

    async fn remember(&self, claim: &Claim, done: Finish) -> Result<(), StoreError> {
        let fence = Fence::of(claim);
        write!(self, c => lease::remember(c, &fence, &done))
    }

    async fn retry(
        &self,
        claim: &Claim,
        next_attempt: Timestamp,
        error: &str,
    ) -> Result<(), StoreError> {
        let (fence, error) = (Fence::of(claim), error.to_owned());
        write!(self, c => lease::retry(c, &fence, next_attempt, &error))?;
        self.work_came_in();
        Ok(())
    }

    async fn bury(&self, claim: &Claim, reason: &str, now: Timestamp) -> Result<(), StoreError> {
        let (fence, reason) = (Fence::of(claim), reason.to_owned());
        if write!(self, c => lease::bury(c, &fence, &reason, now))? {
            self.work_came_in();
        }
        Ok(())
    }

    async fn release(&self, claim: &Claim) -> Result<(), StoreError> {
        let fence = Fence::of(claim);
        write_lightly!(self, c => lease::release(c, &fence))?;
        self.work_came_in();
        Ok(())
    }

    async fn save_plan(&self, claim: &Claim, plan: &NewPlan) -> Result<(), StoreError> {
        let (fence, plan) = (Fence::of(claim), plan.clone());
        write!(self, c => plans::save(c, &fence, &plan))
    }

    async fn plan_audited(
        &self,
        claim: &Claim,
        witness: &Witness,
        decision: Option<&Witness>,
    ) -> Result<(), StoreError> {
        let fence = Fence::of(claim);
        let (witness, decision) = (witness.clone(), decision.cloned());
        write_lightly!(self, c => plans::audited(c, &fence, &witness, decision.as_ref()))
    }

    async fn effect_started(&self, claim: &Claim, index: usize) -> Result<(), StoreError> {
        let fence = Fence::of(claim);
        write_lightly!(self, c => plans::effect_started(c, &fence, index))
    }

    async fn effect_done(
        &self,
        claim: &Claim,
        index: usize,
        outcome: &Outcome,
    ) -> Result<(), StoreError> {
        let (fence, outcome) = (Fence::of(claim), outcome.clone());
        write!(self, c => plans::effect_done(c, &fence, index, &outcome))
    }

    async fn audit_tail(&self) -> Result<Option<Witness>, StoreError> {
        look!(self, c => registry::audit_tail(c))
    }

    async fn set_audit_tail(&self, witness: &Witness) -> Result<(), StoreError> {
        let witness = witness.clone();
        write!(self, c => registry::set_audit_tail(c, &witness))
    }

    async fn reset_audit_tail(&self, witness: Option<&Witness>) -> Result<(), StoreError> {
        let witness = witness.cloned();
        write!(self, c => registry::reset_audit_tail(c, witness.as_ref()))
    }

    async fn append_audit(
        &self,
        entries: Vec<Arc<dyn Chained>>,
    ) -> Result<Vec<Witness>, StoreError> {
        write!(self, c => chain::append(c, &entries))
    }

    async fn open_chain(
        &self,
        on_disk: Option<&Witness>,
        start: &str,
    ) -> Result<Witness, StoreError> {
        let (on_disk, start) = (on_disk.cloned(), start.to_owned());
        write!(self, c => chain::open(c, on_disk.as_ref(), &start))
    }

    async fn chain_behind(&self, seq: u64, limit: u32) -> Result<Vec<ChainLine>, StoreError> {
        read!(self, c => chain::behind(c, seq, limit))
    }

    async fn chain_hash(&self, seq: u64) -> Result<Option<String>, StoreError> {
        read!(self, c => chain::hash_of(c, seq))
    }

    async fn chain_written(&self) -> Result<u64, StoreError> {
        read!(self, c => chain::written(c))
    }

    async fn set_chain_written(&self, seq: u64, keep: u64) -> Result<(), StoreError> {
        write!(self, c => chain::set_written(c, seq, keep))
    }

    async fn cut_chain(&self, on_disk: Option<&Witness>, start: &str) -> Result<(), StoreError> {
        let (on_disk, start) = (on_disk.cloned(), start.to_owned());
        write!(self, c => chain::cut(c, on_disk.as_ref(), &start))
    }

    async fn pull_state(
        &self,
        repo: RepoId,
        number: PullNumber,
    ) -> Result<Option<PullState>, StoreError> {
        read!(self, c => pulls::state(c, repo, number))
    }

    async fn pulls_with_head(
        &self,
        repo: RepoId,
        head: &Sha,
    ) -> Result<Vec<PullState>, StoreError> {
        let head = head.clone();
        read!(self, c => pulls::with_head(c, repo, &head))
    }

    async fn pull_for_issue(
        &self,
        repo: RepoId,
        number: IssueNumber,
    ) -> Result<Option<PullState>, StoreError> {
        read!(self, c => pulls::for_issue(c, repo, number))
    }

    async fn issues_in_hand(&self, repo: RepoId) -> Result<Vec<Option<IssueNumber>>, StoreError> {
        read!(self, c => plans::issues_in_hand(c, repo))
    }

    async fn open_issues(&self) -> Result<Vec<PullState>, StoreError> {
        read!(self, c => pulls::with_open_issue(c))
    }

    async fn refused_issues(&self) -> Result<Vec<PullState>, StoreError> {
        read!(self, c => pulls::with_refused_issue(c))
    }

    async fn pull_merged_as(
        &self,
        repo: RepoId,
        commit: &Sha,
    ) -> Result<Option<PullState>, StoreError> {
        let commit = commit.clone();
        read!(self, c => pulls::merged_as(c, repo, &commit))
    }

    async fn watched_merges(&self, now: Timestamp) -> Result<Vec<PullState>, StoreError> {
        read!(self, c => pulls::watched(c, now))
    }

    async fn presses(&self, external_id: &str) -> Result<Vec<Press>, StoreError> {
        let external_id = external_id.to_owned();
        read!(self, c => signals::presses(c, &external_id))
    }

    async fn comment_edits(
        &self,
        repo: RepoId,
        issue: IssueNumber,
    ) -> Result<Vec<CommentEdit>, StoreError> {
        read!(self, c => signals::edits(c, repo, issue))
    }

    async fn decisions_of(
        &self,
        repo: RepoId,
        number: PullNumber,
        limit: u32,
    ) -> Result<Vec<DecisionRow>, StoreError> {
        read!(self, c => decisions::of_pull(c, repo, number, limit))
    }

    async fn decision(&self, id: &str) -> Result<Option<Decision>, StoreError> {
        let id = id.to_owned();
        read!(self, c => decisions::one(c, &id))
    }

    async fn prune_decisions(&self, before: Timestamp) -> Result<u64, StoreError> {
        write!(self, c => decisions::prune(c, before))
    }

    async fn set_installation(
        &self,
        id: InstallationId,
        status: InstallationStatus,
    ) -> Result<(), StoreError> {
        write!(self, c => registry::set_installation(c, id, status))?;
        self.work_came_in();
        Ok(())
    }

    async fn installation(&self, id: InstallationId) -> Result<InstallationStatus, StoreError> {
        look!(self, c => registry::installation(c, id))
    }

    async fn installations(&self) -> Result<Vec<InstallationRow>, StoreError> {
        read!(self, c => registry::installations(c))
    }

    async fn repo_seen(&self, repo: &RepoRef) -> Result<(), StoreError> {
        let repo = repo.clone();
        write!(self, c => registry::repo_seen(c, &repo))
    }

    async fn repo_by_id(&self, id: RepoId) -> Result<Option<RepoRef>, StoreError> {
        look!(self, c => registry::repo_by_id(c, id))
    }

    async fn repo_by_name(&self, name: &RepoName) -> Result<Option<RepoRef>, StoreError> {
        let name = name.clone();
        read!(self, c => registry::repo_by_name(c, &name))
    }

    async fn pin_owner(&self, login: &str, id: AccountId) -> Result<AccountId, StoreError> {
        let login = login.to_owned();
        write!(self, c => registry::pin_owner(c, &login, id))
    }

    async fn pinned_owners(&self) -> Result<BTreeMap<String, AccountId>, StoreError> {
        read!(self, c => registry::pinned_owners(c))
    }

    async fn bump(&self, name: &str, by: u64) -> Result<u64, StoreError> {
        let name = name.to_owned();
        write!(self, c => registry::bump(c, &name, by))
    }

    async fn counters(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        read!(self, c => registry::counters(c))
    }

    async fn label_ensured(&self, repo: RepoId, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        look!(self, c => registry::label_ensured(c, repo, &name))
    }

    async fn labels_ensured(&self, repo: RepoId) -> Result<BTreeSet<String>, StoreError> {
        look!(self, c => registry::labels_ensured(c, repo))
    }

    async fn set_label_ensured(
        &self,
        repo: RepoId,
        name: &str,
        exists: bool,
    ) -> Result<(), StoreError> {
        let name = name.to_owned();
        write!(self, c => registry::set_label_ensured(c, repo, &name, exists))
    }

    async fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let key = key.to_owned();
        look!(self, c => registry::meta(c, &key))
    }

    async fn set_meta(&self, key: &str, value: &str) -> Result<(), StoreError> {
        let (key, value) = (key.to_owned(), value.to_owned());
        write!(self, c => registry::set_meta(c, &key, &value))
    }

    async fn swap_meta(
        &self,
        key: &str,
        was: Option<&str>,
        value: &str,
    ) -> Result<bool, StoreError> {
        let (key, was, value) = (key.to_owned(), was.map(str::to_owned), value.to_owned());
        write!(self, c => registry::swap_meta(c, &key, was.as_deref(), &value))
    }

    async fn queue_depth(&self) -> Result<u64, StoreError> {
        look!(self, c => report::queue_depth(c))
    }

    async fn oldest_waiting(&self, now: Timestamp) -> Result<Duration, StoreError> {
        look!(self, c => report::oldest_waiting(c, now))
    }

    async fn dead_letters(&self) -> Result<Vec<DeadLetter>, StoreError> {
        read!(self, c => report::dead_letters(c))
    }

    async fn revive(&self, id: &str, now: Timestamp) -> Result<(), StoreError> {
        let id = id.to_owned();
        write!(self, c => intake::revive(c, &id, now))?;
        self.work_came_in();
        Ok(())
    }

    async fn drop_dead(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_owned();
        write!(self, c => intake::drop_dead(c, &id))
    }

    async fn put_back(&self, id: &DeliveryId, now: Timestamp) -> Result<Vec<Subject>, StoreError> {
        let id = id.clone();
        let subjects = write!(self, c => intake::put_back(c, &id, now))?;
        self.work_came_in();
        Ok(subjects)
    }

    async fn recent_deliveries(&self, limit: u32) -> Result<Vec<DeliveryRow>, StoreError> {
        read!(self, c => report::recent_deliveries(c, limit))
    }

    async fn prune(&self, before: Timestamp) -> Result<u64, StoreError> {
        write!(self, c => report::prune(c, before))
    }

    async fn close(&self) {
        self.backend.close().await;
    }
}
