//! The merge gate of one pull request: read what only it asks for, judge, plan, carry out.
//!
//! The second step of an evaluation, after the verdict is published. INVARIANT: everything that is judged was read for
//! the head that the order names, in this very evaluation; an order that was interrupted is never carried out later,
//! it is judged anew. With `merge.enabled` off nothing here makes a call.

use super::{Bench, Done, WorkError, retry};
use crate::domain::{Choice, Facts, Known, PullState, Quadrant, RepoRef};
use crate::gate::merge::{self, MergeStep};
use crate::gate::{Conditions, GateFacts, GateInput, READY_LABEL, judge};
use crate::github::{ApiError, PullView, Seen};
use crate::plan;
use crate::policy::{MergeMode, Policy};
use crate::store::{Claim, Finish};
use sha2::{Digest, Sha256};

/// How often the pull request is read again while GitHub has not computed whether it merges without conflict.
const CONFLICT_READS: u32 = 3;
/// An order, and the telling of its refusal.
const STEPS: usize = 2;

/// What the first step of the evaluation has found.
#[derive(Clone, Copy)]
pub(super) struct Judged<'a> {
    pub(super) repo: &'a RepoRef,
    pub(super) pull: &'a PullView,
    pub(super) facts: &'a Facts,
    pub(super) quadrant: Quadrant,
}

impl Bench {
    /// Goes on to the gate once the verdict is published.
    pub(super) async fn gate(
        &self,
        claim: &Claim,
        judged: Judged<'_>,
        done: Done,
        policy: &Policy,
    ) -> Result<Done, WorkError> {
        let Some(mut state) = done.state.clone() else {
            return Ok(done);
        };
        self.remember(claim, done).await?;
        let choice = state.answered.as_ref().map(|answered| answered.choice);
        if choice == Some(Choice::Reject) {
            return Ok(Done::remember(state));
        }
        if judged.pull.mergeable.is_none() && claim.attempts < CONFLICT_READS {
            return Err(WorkError::Uncomputed);
        }
        let facts = Box::pin(self.gate_facts(claim, judged, &state, policy)).await?;
        self.at("gate-read");
        let burn_in = self.burn_in().await;
        let conditions = judge(&GateInput {
            facts: judged.facts,
            gate: &facts,
            quadrant: judged.quadrant,
            approved: choice.is_some_and(Choice::approves),
            policy,
            burn_in: &burn_in,
            now: self.clock.now(),
        });
        let step = merge::decide(&conditions, &facts, policy);
        report(&conditions, &step);
        let ground = ground(judged, &facts, &conditions, policy);
        for _ in 0..STEPS {
            let plan = plan::gate(&plan::GateInput {
                prior: &state,
                base_ref: &judged.facts.base_ref,
                quadrant: judged.quadrant,
                labelled: is_ready(judged.pull),
                conditions: &conditions,
                step: &step,
                ground: &ground,
                retry_refused: claim.deep && state.gate.untold().is_none(),
                policy,
                now: self.clock.now(),
                delivery: claim.deliveries.first(),
                version: env!("CARGO_PKG_VERSION"),
            });
            if plan.is_empty() {
                return Ok(Done::remember(plan.state_after));
            }
            let done = self
                .save_and_carry_out(claim, plan, &Seen::nothing())
                .await?;
            let Some(after) = done.state.clone() else {
                return Ok(done);
            };
            let Some(failed) = after.gate.untold() else {
                return Ok(done);
            };
            let over = (!failed.is_final()).then(|| failed.reason.clone());
            self.remember(claim, done).await?;
            if let Some(reason) = over {
                return Err(WorkError::Overtaken { reason });
            }
            state = after;
        }
        Ok(Done::remember(state))
    }

    /// A step is done and another one follows: what the first one counted is counted, its plan is gone.
    pub(super) async fn remember(&self, claim: &Claim, done: Done) -> Result<(), WorkError> {
        let finish = Finish {
            state: done.state,
            now: self.clock.now(),
            count: done.count,
        };
        self.store.remember(claim, finish).await?;
        self.at("remembered");
        Ok(())
    }

    /// Four calls, and one more for the merge queue. All are about the head's SHA, so that a push meanwhile mixes nothing.
    async fn gate_facts(
        &self,
        claim: &Claim,
        judged: Judged<'_>,
        state: &PullState,
        policy: &Policy,
    ) -> Result<GateFacts, WorkError> {
        let Judged {
            repo, pull, facts, ..
        } = judged;
        let head = &facts.head_sha;
        let (check_runs, statuses, behind_by, settings) = tokio::join!(
            self.github.latest_check_runs(repo, head),
            self.github.statuses(repo, head),
            self.github.behind_by(repo, &facts.base_ref, head),
            self.github.merge_settings(repo),
        );
        let last_try = claim.attempts >= retry::TRIES_BEFORE_UNKNOWN;
        let settings = known(settings, last_try)?;
        Ok(GateFacts {
            head_sha: pull.head.sha.clone(),
            open: pull.open,
            draft: pull.draft,
            archived: pull.base.archived,
            mergeable: pull.mergeable.map_or_else(
                || Known::Unknown("GitHub has not computed it yet".to_owned()),
                Known::Known,
            ),
            default_branch: settings.clone().map(|settings| settings.default_branch),
            behind_by: known(behind_by, last_try)?,
            check_runs: known(check_runs, last_try)?,
            statuses: known(statuses, last_try)?,
            allowed_methods: settings.clone().map(|settings| settings.allowed_methods),
            // GitHub tells the ways to merge only to who may write.
            may_write: settings.map(|_| true),
            auto_merge: Known::Known(pull.auto_merge.clone()),
            queued: self.queued(judged, policy, last_try).await?,
            evidence: state.evidence_against(head),
        })
    }

    /// Is the pull request in the merge queue? Asked only where it matters.
    async fn queued(
        &self,
        judged: Judged<'_>,
        policy: &Policy,
        last_try: bool,
    ) -> Result<Known<bool>, WorkError> {
        match policy.merge.mode {
            MergeMode::Direct | MergeMode::Auto => Ok(Known::Known(false)),
            MergeMode::Queue => {
                let read = self.github.is_queued(judged.repo, judged.pull).await;
                known(read, last_try)
            }
        }
    }
}

/// A failure that deserves another try ends the evaluation; after enough of them the fact is unknown.
fn known<T>(read: Result<T, ApiError>, last_try: bool) -> Result<Known<T>, WorkError> {
    match read {
        Ok(value) => Ok(Known::Known(value)),
        Err(error) if error.is_retryable() && !last_try => Err(error.into()),
        Err(error) => Ok(Known::Unknown(error.to_string())),
    }
}

/// Is the label of a pull request that is ready present, by whomever?
pub(super) fn is_ready(pull: &PullView) -> bool {
    pull.labels
        .iter()
        .any(|label| label.eq_ignore_ascii_case(READY_LABEL))
}

/// Digest of everything that was judged: on the same ground what GitHub refused is not tried again.
fn ground(
    judged: Judged<'_>,
    facts: &GateFacts,
    conditions: &Conditions,
    policy: &Policy,
) -> String {
    let mut digest = Sha256::new();
    for part in [
        judged.pull.fingerprint(),
        policy.digest.clone(),
        format!("{facts:?}"),
        format!("{:?}", conditions.all()),
    ] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    hex::encode(digest.finalize())
}

fn report(conditions: &Conditions, step: &MergeStep) {
    let unmet: Vec<&str> = conditions.blocks().map(|one| one.id.as_str()).collect();
    tracing::info!(
        head = conditions.head_sha().short(),
        unmet = unmet.join(" "),
        ?step,
        "the merge gate was judged"
    );
}
