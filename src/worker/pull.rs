//! One evaluation of one pull request: read, decide, plan, apply.
//!
//! INVARIANT: nothing is published about facts that may belong to another head than the one they are published on.

use super::answers::{Heard, Question};
use super::evidence::{EvidenceOf, was_seen};
use super::gate::{Judged, is_ready};
use super::record::record;
use super::{Bench, Done, WorkError, is_small, off_thread, passive, retry};
use crate::diff;
use crate::domain::{
    AfterMerge, Facts, GateMemory, InboxMemory, Known, PullNumber, PullState, Quadrant, RepoRef,
    Timestamp,
};
use crate::github::{PullView, Seen, Wants};
use crate::plan::{self, EvaluationInput, Evidence, Issues, Plan, labels};
use crate::policy::Policy;
use crate::rules::{self, Verdict};
use crate::store::{Claim, Decision, EffectStatus, NewPlan, PlannedEffect, StoredPlan};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::sync::Arc;

/// How often the pull request is read again while GitHub still shows the head from before an announced one.
const LAG_READS: u32 = 2;

impl Bench {
    /// Looks at a pull request and makes true what follows.
    pub(super) async fn pull(
        &self,
        claim: &Claim,
        repo: &RepoRef,
        number: PullNumber,
    ) -> Result<Done, WorkError> {
        let mut prior = claim.state.clone();
        let mut count = Vec::new();
        if let Some(stored) = &claim.plan {
            let (state, counted) = self.carry_on(claim, stored).await?;
            count.extend(counted);
            let gated = self.policy().merge.enabled;
            if stored.generation == claim.generation && !gated {
                return Ok(Done {
                    state: Some(state),
                    count,
                });
            }
            if gated {
                let done = Done {
                    state: Some(state.clone()),
                    count: std::mem::take(&mut count),
                };
                self.remember(claim, done).await?;
            }
            prior = Some(state);
        }
        let done = Box::pin(self.look_at(claim, repo, number, prior.as_ref())).await?;
        count.extend(done.count);
        Ok(Done {
            state: done.state.or(prior),
            count,
        })
    }

    async fn look_at(
        &self,
        claim: &Claim,
        repo: &RepoRef,
        number: PullNumber,
        prior: Option<&PullState>,
    ) -> Result<Done, WorkError> {
        let started = self.clock.now();
        let pull = self.read_pull(claim, repo, number, prior).await?;
        if pull.base.repo_id != repo.id {
            return Err(WorkError::Broken(format!(
                "`{}` names another repository now (id {} instead of {})",
                repo.name, pull.base.repo_id, repo.id
            )));
        }
        let repo = RepoRef {
            name: pull.base.full_name.clone(),
            ..repo.clone()
        };
        let policy = self.policy();
        if !pull.open {
            return Box::pin(self.after_close(claim, &repo, &pull, prior, &policy)).await;
        }
        if pull.base.archived || !policy.is_gated(&repo.name) {
            tracing::info!(repo = %repo.name, "not gated, or archived: nothing is written");
            return Ok(Done::nothing());
        }
        let head_since = head_since(claim, &pull, prior, started);
        let fingerprint = fingerprint(&pull, &policy);
        let unchanged = prior.filter(|prior| {
            nothing_changed(claim, prior, &fingerprint)
                && was_seen(prior, &policy)
                && !(policy.merge.enabled && the_gate_may_move(claim, prior))
        });
        if let Some(unchanged) = unchanged {
            let state = PullState {
                head_since,
                ..unchanged.clone()
            };
            return self.nothing_to_do(claim, state, &policy).await;
        }
        let facts = self.facts(claim, &repo, &pull, head_since).await?;
        self.at("facts-read");
        self.met(&facts).await;
        let (facts, verdict) = judge(facts, Arc::clone(&policy)).await?;
        let of = EvidenceOf {
            claim,
            repo: &repo,
            prior,
            policy: &policy,
        };
        let (facts, verdict, evidence) = Box::pin(self.read_evidence(of, facts, verdict)).await?;
        let whole = complete(&facts) && evidence.as_ref().is_none_or(Evidence::is_known);
        let mut plan = self
            .plan(
                claim,
                &repo,
                &pull,
                prior,
                &policy,
                &facts,
                &verdict,
                evidence.as_ref(),
                whole.then_some(&fingerprint),
            )
            .await?;
        plan.state_after.head_since = head_since;
        self.note_rejection(&plan, &facts).await;
        let took = self.clock.now().since(started);
        self.metrics.evaluated(verdict.quadrant(), took);
        tracing::info!(
            quadrant = %verdict.quadrant(),
            head = facts.head_sha.short(),
            reasoning = verdict.reasoning(),
            effects = plan.effects.len(),
            took_ms = took.as_millis(),
            "judged"
        );
        let (facts, verdict, decision) = if self.decision_days > 0 {
            record(&plan, facts, verdict, &policy).await?
        } else {
            (facts, verdict, None)
        };
        let done = if plan.is_empty() {
            self.nothing_to_do(claim, plan.state_after, &policy).await?
        } else {
            self.save_with(claim, plan, decision, &self.github.seen(&facts))
                .await?
        };
        if !policy.merge.enabled {
            return Ok(done);
        }
        let judged = Judged {
            repo: &repo,
            pull: &pull,
            facts: &facts,
            quadrant: verdict.quadrant(),
        };
        // Boxed: the state of both steps at once would make a future of many kilobytes.
        Box::pin(self.gate(claim, judged, done, &policy)).await
    }

    /// The pull request as GitHub shows it. While it shows less than a webhook has announced, it is read again later.
    async fn read_pull(
        &self,
        claim: &Claim,
        repo: &RepoRef,
        number: PullNumber,
        prior: Option<&PullState>,
    ) -> Result<PullView, WorkError> {
        let pull = self.github.pull(repo, number).await?;
        // Only a head that we knew before the announcement can be stale; any other is newer than what was announced.
        let announced = claim.announced.last().map(|(sha, _)| sha);
        let stale = pull.open
            && announced.is_some_and(|sha| *sha != pull.head.sha)
            && prior.is_some_and(|prior| prior.head_sha == pull.head.sha);
        if stale && claim.attempts < LAG_READS {
            return Err(WorkError::Behind);
        }
        Ok(pull)
    }

    async fn facts(
        &self,
        claim: &Claim,
        repo: &RepoRef,
        pull: &PullView,
        head_since: Timestamp,
    ) -> Result<Facts, WorkError> {
        let last_try = claim.attempts >= retry::TRIES_BEFORE_UNKNOWN;
        let wants = Wants {
            label_events: pull
                .labels
                .iter()
                .any(|label| label == labels::AUTO_REVERT.name)
                || (self.policy().merge.enabled && is_ready(pull)),
        };
        let read = self.github.facts(repo, pull, Some(head_since), wants).await;
        if !last_try
            && read
                .failed
                .iter()
                .any(crate::github::ApiError::is_retryable)
        {
            return Err(read
                .complete()
                .err()
                .map_or(WorkError::Moved, WorkError::from));
        }
        let mut facts = read.facts;
        if moved(&facts) {
            if !last_try {
                return Err(WorkError::Moved);
            }
            facts.commits =
                Known::Unknown("the head kept moving while the pull request was read".to_owned());
        }
        let paths: Vec<String> = facts
            .files
            .items()
            .iter()
            .filter(|file| diff::wants_contents(file))
            .map(|file| file.path.clone())
            .collect();
        if !paths.is_empty() {
            // Texts only ever lower a verdict (comments, typos): without them the file is judged as changed code.
            if let Err(error) = self.github.fill_contents(repo, &mut facts, &paths).await {
                if error.is_retryable() && !last_try {
                    return Err(error.into());
                }
                tracing::warn!(%error, "file texts could not be read; the files count as changed code");
            }
        }
        Ok(facts)
    }

    async fn after_close(
        &self,
        claim: &Claim,
        repo: &RepoRef,
        pull: &PullView,
        prior: Option<&PullState>,
        policy: &Policy,
    ) -> Result<Done, WorkError> {
        let watch = self.watch(pull, policy);
        let Some(prior) = prior else {
            let Some(watch) = watch else {
                return Ok(Done::nothing());
            };
            let state = merged_unseen(repo, pull, watch, self.clock.now());
            return Box::pin(self.after_merge(claim, repo, pull, state, policy)).await;
        };
        if prior.closed {
            let mut state = prior.clone();
            state.after_merge = state.after_merge.or(watch);
            return Box::pin(self.after_merge(claim, repo, pull, state, policy)).await;
        }
        let language = policy.inbox.language;
        let mut plan = plan::closed(plan::ClosedInput {
            prior,
            repo,
            merged: pull.merged,
            language,
            now: self.clock.now(),
            policy: &policy.digest,
            delivery: claim.deliveries.first(),
            version: env!("CARGO_PKG_VERSION"),
        });
        plan.state_after.after_merge = watch;
        if plan.is_empty() {
            let state = plan.state_after;
            return Box::pin(self.after_merge(claim, repo, pull, state, policy)).await;
        }
        self.save_and_carry_out(claim, plan, &Seen::nothing()).await
    }

    #[allow(clippy::too_many_arguments)] // the four values of one evaluation, named once
    async fn plan(
        &self,
        claim: &Claim,
        repo: &RepoRef,
        pull: &PullView,
        prior: Option<&PullState>,
        policy: &Policy,
        facts: &Facts,
        verdict: &Verdict,
        evidence: Option<&Evidence>,
        fingerprint: Option<&String>,
    ) -> Result<Plan, WorkError> {
        let inbox = self.inbox_repo(repo, policy).await?;
        let issues = match &inbox {
            Ok(repo) => Issues::In(repo),
            Err(reason) => Issues::Unavailable(reason),
        };
        let mut ensured = HashSet::new();
        if let Issues::In(repo) = issues {
            let there = self.store.labels_ensured(repo.id).await?;
            for label in labels::ALL {
                if there.contains(label.name) {
                    ensured.insert((repo.id, label.name));
                }
            }
        }
        let heard = match verdict.quadrant() {
            Quadrant::D => {
                let question = Question {
                    repo,
                    number: facts.number,
                    head: &facts.head_sha,
                };
                self.hear(question, prior, policy).await?
            }
            Quadrant::A | Quadrant::B | Quadrant::C => Heard::default(),
        };
        self.at("answers-read");
        let nonce = nonce()?;
        let required = policy.ci_of(&repo.name).required_checks;
        Ok(plan::evaluation(&EvaluationInput {
            prior,
            repo,
            facts,
            verdict,
            title: &pull.title,
            url: &pull.html_url,
            fingerprint: fingerprint.map(String::as_str),
            heard: heard.resolution.as_ref(),
            shown: heard.shown.as_deref(),
            issue_lost: heard.lost,
            required_checks: &required,
            verifications: evidence.map_or(&[], Evidence::verifications),
            evidence,
            issues,
            retry_refused: claim.deep,
            closed_by_hand: heard.closed_by_hand,
            has_label: &|repo, name| ensured.contains(&(repo.id, name)),
            language: policy.inbox.language,
            passive_close_hours: passive::hours(policy),
            policy: &policy.digest,
            now: self.clock.now(),
            nonce: &nonce,
            key: &self.receipt_key,
            details_base: self.details_base.as_deref(),
            web_base: &self.web_base,
            delivery: claim.deliveries.first(),
            version: env!("CARGO_PKG_VERSION"),
        }))
    }

    pub(super) async fn save_and_carry_out(
        &self,
        claim: &Claim,
        plan: Plan,
        seen: &Seen,
    ) -> Result<Done, WorkError> {
        self.save_with(claim, plan, None, seen).await
    }

    /// Saves the plan together with what is kept of its decision, then carries it out.
    async fn save_with(
        &self,
        claim: &Claim,
        plan: Plan,
        decision: Option<Decision>,
        seen: &Seen,
    ) -> Result<Done, WorkError> {
        let entries = serde_json::to_value(&plan.entries)
            .map_err(|error| WorkError::Broken(format!("a plan cannot be written: {error}")))?;
        let new = NewPlan {
            decision_id: plan.decision_id,
            entries,
            effects: plan.effects,
            state_after: plan.state_after,
            decision,
        };
        self.at("planned");
        self.store.save_plan(claim, &new).await?;
        self.at("plan-saved");
        let stored = StoredPlan {
            generation: claim.generation,
            decision_id: new.decision_id,
            entries: new.entries,
            effects: new
                .effects
                .into_iter()
                .map(|effect| PlannedEffect {
                    effect,
                    status: EffectStatus::Planned,
                })
                .collect(),
            state_after: new.state_after,
            witness: None,
        };
        let (state, count) = self.carry_out(claim, &stored, seen).await?;
        Ok(Done {
            state: Some(state),
            count,
        })
    }
}

/// The state of a pull request that is met for the first time after its merge.
fn merged_unseen(repo: &RepoRef, pull: &PullView, watch: AfterMerge, now: Timestamp) -> PullState {
    PullState {
        repo: repo.clone(),
        number: pull.number,
        title: Some(pull.title.clone()),
        head_sha: pull.head.sha.clone(),
        head_since: now,
        fingerprint: None,
        quadrant: None,
        decision: None,
        witness: None,
        check_run: None,
        check_digest: None,
        issue: None,
        issue_refused: None,
        answered: None,
        inbox: InboxMemory::default(),
        gate: GateMemory::default(),
        evidence: None,
        closed: true,
        after_merge: Some(watch),
    }
}

/// The rules can take a while over thousands of files: then off the async threads.
async fn judge(facts: Facts, policy: Arc<Policy>) -> Result<(Facts, Verdict), WorkError> {
    off_thread(is_small(&facts), move || {
        let verdict = rules::evaluate(&facts, &policy);
        (facts, verdict)
    })
    .await
    .map_err(|error| WorkError::Broken(format!("the rules did not end: {error}")))
}

/// When the head became the head, by what this server saw: the newest announcement of it, or what is remembered, or
/// now. A head that was pushed away and pushed back is as young as its last push.
fn head_since(
    claim: &Claim,
    pull: &PullView,
    prior: Option<&PullState>,
    now: Timestamp,
) -> Timestamp {
    let announced = claim
        .announced
        .iter()
        .filter(|(sha, _)| *sha == pull.head.sha)
        .map(|(_, at)| *at);
    let remembered = prior
        .filter(|prior| prior.head_sha == pull.head.sha)
        .map(|prior| prior.head_since);
    announced.chain(remembered).max().unwrap_or(now)
}

/// Of all that the pull request itself shows, and of the policy it is judged by.
fn fingerprint(pull: &PullView, policy: &Policy) -> String {
    let mut digest = Sha256::new();
    digest.update(pull.fingerprint());
    digest.update([0]);
    digest.update(&policy.digest);
    hex::encode(digest.finalize())
}

fn nothing_changed(claim: &Claim, prior: &PullState, fingerprint: &str) -> bool {
    !claim.deep && !prior.closed && prior.fingerprint.as_deref() == Some(fingerprint)
}

/// What the gate asks for changes without a trace in the pull request: CI ends, the base moves. That is nothing to one
/// without the label of a pull request that is ready, unless an earlier look was cut short.
fn the_gate_may_move(claim: &Claim, prior: &PullState) -> bool {
    let gate = &prior.gate;
    claim.attempts > 0 || gate.waits || gate.ordered.is_some() || gate.untold().is_some()
}

/// Facts with an unknown part are judged, but not remembered as judged: the next look reads everything again.
fn complete(facts: &Facts) -> bool {
    facts.files.known().is_some()
        && facts.commits.known().is_some()
        && facts.check_runs.known().is_some()
        && facts.label_events.known().is_some()
}

/// The commits are read last: as long as they are all there and the head is among them, the head did not move before.
fn moved(facts: &Facts) -> bool {
    let Some(commits) = facts.commits.known() else {
        return false;
    };
    let all_listed = u64::try_from(commits.len()).is_ok_and(|listed| listed == facts.commit_count);
    let head_listed = commits.iter().any(|commit| commit.sha == facts.head_sha);
    // More than GitHub lists is incomplete, which the rules see; fewer or others than announced is another head.
    facts.commit_count <= 250 && facts.commit_count > 0 && !(all_listed && head_listed)
}

/// 128 random bits as hexadecimal digits.
fn nonce() -> Result<String, WorkError> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| WorkError::Broken(format!("no randomness: {error}")))?;
    Ok(hex::encode(bytes))
}
