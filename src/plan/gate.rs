//! From the judged conditions of a pull request to one step towards its merge, one status comment, and their entries.
//!
//! INVARIANT: an order names the head that the conditions are about, and its entry stands in the same plan. What the
//! log says was ordered and did not happen is taken back by the next plan. Planning again from the state after, on the
//! same conditions, gives an empty plan unless an order is still to be given.

use super::render::gate::{Said, status};
use super::{Plan, key};
use crate::audit::{About, Body, EntryDraft};
use crate::domain::{
    CommentEffect, CommentMode, DeliveryId, Effect, GateMemory, IssueNumber, MergeEffect,
    MergeMethod, Ordered, PullNumber, PullState, Quadrant, RepoRef, Sha, Timestamp,
};
use crate::gate::merge::{Hold, MergeStep};
use crate::gate::{Condition, Conditions};
use crate::policy::{Language, MergeMode, Policy};

/// Everything a plan is made of.
#[derive(Debug, Clone, Copy)]
pub struct GateInput<'a> {
    /// The state as the evaluation left it.
    pub prior: &'a PullState,
    /// The base branch that was judged.
    pub base_ref: &'a str,
    /// The verdict on the head.
    pub quadrant: Quadrant,
    /// Is the label of a pull request that is ready present?
    pub labelled: bool,
    /// Every condition of the head.
    pub conditions: &'a Conditions,
    /// What follows from them.
    pub step: &'a MergeStep,
    /// Digest of everything that was judged.
    pub ground: &'a str,
    /// Should an order that GitHub refused be tried again on the same ground?
    pub retry_refused: bool,
    /// The operator's configuration.
    pub policy: &'a Policy,
    /// The present moment.
    pub now: Timestamp,
    /// The delivery that led here.
    pub delivery: Option<&'a DeliveryId>,
    /// Version of this program.
    pub version: &'a str,
}

/// Plans the step after one judgement of the gate.
#[must_use]
pub fn gate(input: &GateInput<'_>) -> Plan {
    let log = Log::of(input);
    let ground = key::digest(&[input.ground, word(input.step)]);
    let mut memory = GateMemory {
        waits: input.labelled,
        ..input.prior.gate.clone()
    };
    let mut entries: Vec<EntryDraft> = failed(&log, &mut memory).into_iter().collect();
    let step = held(input, &memory, &ground);
    entries.extend(taken_back(input, &log, &step, &mut memory));
    entries.extend(entry(input, &log, &step, &mut memory));
    // What was done and does not show yet was said when it was done.
    let said = step == MergeStep::Nothing(Hold::Underway) && memory.done.as_ref() == Some(&ground);
    let comment = if said {
        None
    } else {
        comment(input, &step, &mut memory)
    };
    let mut effects: Vec<Effect> = comment.into_iter().collect();
    if let Some(effect) = effect(input, &step) {
        memory.ordered = Some(Ordered {
            head_sha: head(input).clone(),
            ground: ground.clone(),
            logged: merges(&step),
        });
        effects.push(effect);
    }
    Plan {
        decision_id: format!(
            "g-{}",
            log.digest(head(input), &[&ground, &memory.ended.to_string()])
        ),
        entries,
        effects,
        state_after: PullState {
            gate: memory,
            ..input.prior.clone()
        },
    }
}

/// The entry that is still owed when a pull request is closed: for an order of ours that did not happen.
pub(super) fn at_close(log: &Log<'_>, prior: &PullState, merged: bool) -> Option<EntryDraft> {
    let mut memory = prior.gate.clone();
    let order = prior.gate.ordered.as_ref();
    let owed = order.filter(|order| order.logged && !merged);
    failed(log, &mut memory).or_else(|| {
        let reasons = ["the pull request was closed".to_owned()];
        owed.map(|order| log.refused(&order.head_sha, &reasons, memory.ended))
    })
}

/// What an order that failed says in the log, once.
fn failed(log: &Log<'_>, memory: &mut GateMemory) -> Option<EntryDraft> {
    let ended = memory.ended;
    let failed = memory.failed.as_mut().filter(|failed| !failed.told)?;
    failed.told = true;
    let reasons = [failed.reason.clone()];
    memory.logged = Some(log.reasons(&failed.order.head_sha, &reasons));
    Some(log.refused(&failed.order.head_sha, &reasons, ended))
}

/// The step, unless it was taken on this very ground before: GitHub has refused it, or somebody has undone it.
fn held(input: &GateInput<'_>, memory: &GateMemory, ground: &str) -> MergeStep {
    let done = memory.done.as_deref() == Some(ground) && !input.retry_refused;
    match input.step {
        MergeStep::EnableAuto { .. } | MergeStep::Enqueue { .. } if done => {
            let reason = "GitHub had it in hand, and no longer has: it left the merge queue, or auto-merge was switched off";
            return MergeStep::Nothing(Hold::Refused(reason.to_owned()));
        }
        // GitHub shows what it did some time after it said so.
        MergeStep::UpdateBranch { .. } | MergeStep::Merge { .. } | MergeStep::DisableAuto
            if done =>
        {
            return MergeStep::Nothing(Hold::Underway);
        }
        MergeStep::EnableAuto { .. }
        | MergeStep::Enqueue { .. }
        | MergeStep::UpdateBranch { .. }
        | MergeStep::Merge { .. }
        | MergeStep::DisableAuto
        | MergeStep::Nothing(_)
        | MergeStep::DryRun(_) => {}
    }
    let refused = memory.failed.as_ref().filter(|failed| {
        failed.is_final()
            && failed.order.head_sha == *head(input)
            && failed.order.ground == ground
            && !input.retry_refused
    });
    match refused {
        Some(failed) if input.step.acts() => {
            MergeStep::Nothing(Hold::Refused(failed.reason.clone()))
        }
        Some(_) | None => input.step.clone(),
    }
}

/// An order that stands in the log and was interrupted: unless it is given again, the log takes it back.
fn taken_back(
    input: &GateInput<'_>,
    log: &Log<'_>,
    step: &MergeStep,
    memory: &mut GateMemory,
) -> Option<EntryDraft> {
    let order = memory.ordered.take().filter(|order| order.logged)?;
    let given_again = merges(step) && order.head_sha == *head(input);
    if given_again {
        return None;
    }
    let mut reasons = vec!["the order was interrupted and is not given again".to_owned()];
    reasons.extend(input.conditions.blocks().map(line));
    memory.ended = memory.ended.saturating_add(1);
    Some(log.refused(&order.head_sha, &reasons, memory.ended))
}

/// What the log says about the step.
fn entry(
    input: &GateInput<'_>,
    log: &Log<'_>,
    step: &MergeStep,
    memory: &mut GateMemory,
) -> Option<EntryDraft> {
    let reasons = match step {
        MergeStep::Merge { method, .. } | MergeStep::EnableAuto { method, .. } => {
            return Some(log.merged(input, Some(*method), memory.ended));
        }
        MergeStep::Enqueue { .. } => return Some(log.merged(input, None, memory.ended)),
        MergeStep::Nothing(Hold::Off | Hold::Conditions | Hold::Underway) => return None,
        MergeStep::Nothing(Hold::Refused(reason)) => vec![reason.clone()],
        MergeStep::DryRun(inner) => vec![format!("dry run: would {}", phrase(inner))],
        MergeStep::UpdateBranch { .. } => {
            let mut reasons: Vec<String> = input.conditions.blocks().map(line).collect();
            reasons.push("the branch is updated".to_owned());
            reasons
        }
        MergeStep::DisableAuto => {
            let mut reasons: Vec<String> = input.conditions.blocks().map(line).collect();
            reasons.push("auto-merge is switched off again".to_owned());
            reasons
        }
    };
    let digest = log.reasons(head(input), &reasons);
    if memory.logged.as_ref() == Some(&digest) {
        return None;
    }
    memory.logged = Some(digest);
    Some(log.refused(head(input), &reasons, memory.ended))
}

/// The status comment, if it has something new to say. Where nothing is amiss and nothing was said, nothing is.
fn comment(input: &GateInput<'_>, step: &MergeStep, memory: &mut GateMemory) -> Option<Effect> {
    if *step == MergeStep::Nothing(Hold::Off) {
        return None;
    }
    let silent = merges(step) || matches!(step, MergeStep::Nothing(Hold::Underway));
    let amiss = input.conditions.unmet().next().is_some() || !silent;
    if memory.said.is_none() && !amiss {
        return None;
    }
    let prior = input.prior;
    let comment_key = key::gate(prior.repo.id, prior.number);
    let said = Said {
        conditions: input.conditions,
        step,
        language: language(input),
    };
    let body = status(&said, &comment_key);
    let digest = key::digest(&[&body]);
    if memory.said.as_ref() == Some(&digest) {
        return None;
    }
    memory.said = Some(digest);
    Some(Effect::Comment(CommentEffect {
        repo: prior.repo.clone(),
        number: IssueNumber(prior.number.0),
        key: comment_key,
        body,
        mode: CommentMode::Edit,
    }))
}

fn effect(input: &GateInput<'_>, step: &MergeStep) -> Option<Effect> {
    let (repo, number) = (input.prior.repo.clone(), input.prior.number);
    match step {
        MergeStep::Merge { method, sha } => Some(Effect::Merge(merge(input, *method, sha))),
        MergeStep::EnableAuto { method, sha } => {
            Some(Effect::EnableAutoMerge(merge(input, *method, sha)))
        }
        MergeStep::DisableAuto => Some(Effect::DisableAutoMerge { repo, number }),
        MergeStep::Enqueue { sha } => Some(Effect::Enqueue {
            repo,
            number,
            sha: sha.clone(),
            base_ref: input.base_ref.to_owned(),
        }),
        MergeStep::UpdateBranch { expected_head } => Some(Effect::UpdateBranch {
            repo,
            number,
            expected_head: expected_head.clone(),
        }),
        MergeStep::Nothing(_) | MergeStep::DryRun(_) => None,
    }
}

fn merge(input: &GateInput<'_>, method: MergeMethod, sha: &Sha) -> MergeEffect {
    MergeEffect {
        repo: input.prior.repo.clone(),
        number: input.prior.number,
        sha: sha.clone(),
        base_ref: input.base_ref.to_owned(),
        method,
        // GitHub's own, as the repository's settings make it.
        title: None,
    }
}

/// Does the step merge, now or by GitHub later?
fn merges(step: &MergeStep) -> bool {
    match step {
        MergeStep::Merge { .. } | MergeStep::EnableAuto { .. } | MergeStep::Enqueue { .. } => true,
        MergeStep::Nothing(_)
        | MergeStep::DisableAuto
        | MergeStep::UpdateBranch { .. }
        | MergeStep::DryRun(_) => false,
    }
}

fn word(step: &MergeStep) -> &'static str {
    match step {
        MergeStep::Nothing(_) => "nothing",
        MergeStep::Merge { .. } => "merge",
        MergeStep::EnableAuto { .. } => "enable-auto",
        MergeStep::DisableAuto => "disable-auto",
        MergeStep::Enqueue { .. } => "enqueue",
        MergeStep::UpdateBranch { .. } => "update-branch",
        MergeStep::DryRun(_) => "dry-run",
    }
}

/// What a step does, after "would".
fn phrase(step: &MergeStep) -> String {
    match step {
        MergeStep::Merge { method, .. } => format!("merge by {method}"),
        MergeStep::EnableAuto { method, .. } => format!("switch auto-merge on ({method})"),
        MergeStep::DisableAuto => "switch auto-merge off".to_owned(),
        MergeStep::Enqueue { .. } => "enter the merge queue".to_owned(),
        MergeStep::UpdateBranch { .. } => "update the branch".to_owned(),
        MergeStep::Nothing(_) => "do nothing".to_owned(),
        MergeStep::DryRun(inner) => phrase(inner),
    }
}

fn line(condition: &Condition) -> String {
    format!("{}: {}", condition.id, condition.reason)
}

fn head<'a>(input: &GateInput<'a>) -> &'a Sha {
    input.conditions.head_sha()
}

fn language(input: &GateInput<'_>) -> Language {
    input.policy.inbox.language
}

/// What every entry of the gate has in common.
pub(super) struct Log<'a> {
    pub(super) repo: &'a RepoRef,
    pub(super) number: PullNumber,
    pub(super) policy: &'a str,
    pub(super) now: Timestamp,
    pub(super) delivery: Option<&'a DeliveryId>,
    pub(super) version: &'a str,
}

impl<'a> Log<'a> {
    fn of(input: &GateInput<'a>) -> Self {
        Self {
            repo: &input.prior.repo,
            number: input.prior.number,
            policy: &input.policy.digest,
            now: input.now,
            delivery: input.delivery,
            version: input.version,
        }
    }

    fn digest(&self, head: &Sha, parts: &[&str]) -> String {
        let (repo, number) = (self.repo.id.to_string(), self.number.to_string());
        let about = [repo.as_str(), number.as_str(), head.as_str()];
        let all: Vec<&str> = about.into_iter().chain(parts.iter().copied()).collect();
        key::digest(&all)
    }

    fn reasons(&self, head: &Sha, reasons: &[String]) -> String {
        let parts: Vec<&str> = reasons.iter().map(String::as_str).collect();
        self.digest(head, &parts)
    }

    /// `ended` makes a second order of the same merge another entry, and the same order after a crash the same.
    fn merged(&self, input: &GateInput<'_>, method: Option<MergeMethod>, ended: u32) -> EntryDraft {
        let parts = [input.base_ref, &ended.to_string()];
        let id = format!("m-{}", self.digest(head(input), &parts));
        let warnings = input.conditions.unmet().map(line).collect();
        let body = Body::Merged {
            merge_mode: mode(input.policy.merge.mode).to_owned(),
            merge_method: method,
            base_ref: input.base_ref.to_owned(),
            quadrant: input.quadrant,
            warnings,
        };
        self.draft(head(input), id, body)
    }

    fn refused(&self, head: &Sha, reasons: &[String], ended: u32) -> EntryDraft {
        let id = format!("r-{}/{ended}", self.reasons(head, reasons));
        let body = Body::MergeRefused {
            refused_because: reasons.to_vec(),
        };
        self.draft(head, id, body)
    }

    fn draft(&self, head: &Sha, id: String, body: Body) -> EntryDraft {
        EntryDraft {
            ts: self.now,
            decision: id,
            about: Some(About {
                repo_id: self.repo.id,
                repo: self.repo.name.clone(),
                number: self.number,
                head_sha: head.clone(),
            }),
            body,
            policy: self.policy.to_owned(),
            delivery: self.delivery.cloned(),
            version: self.version.to_owned(),
        }
    }
}

fn mode(mode: MergeMode) -> &'static str {
    match mode {
        MergeMode::Direct => "direct",
        MergeMode::Auto => "auto",
        MergeMode::Queue => "queue",
    }
}
