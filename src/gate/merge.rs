//! From conditions to the one next step towards a merge.
//!
//! INVARIANT: a step that merges exists only when every blocking condition holds, and it names the head of those very
//! conditions: GitHub refuses it for any other. Off by default; a dry run is never carried out.

use super::{Condition, ConditionId, Conditions, GateFacts};
use crate::domain::{Known, MergeMethod, Sha};
use crate::policy::{MergeMode, Policy};
use crate::rules::clipped;

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeStep {
    /// Nothing, for this reason.
    Nothing(Hold),
    /// Merge.
    Merge {
        /// How.
        method: MergeMethod,
        /// The head that was judged: the precondition.
        sha: Sha,
    },
    /// Switch GitHub's auto-merge on.
    EnableAuto {
        /// How it is to merge.
        method: MergeMethod,
        /// The head that was judged: the precondition.
        sha: Sha,
    },
    /// Switch our auto-merge off again: its conditions hold no longer.
    DisableAuto,
    /// Enter the merge queue.
    Enqueue {
        /// The head that was judged: the precondition.
        sha: Sha,
    },
    /// Merge the base into the branch; the new head is judged anew.
    UpdateBranch {
        /// The head that was judged: the precondition.
        expected_head: Sha,
    },
    /// What would be done without `merge.dry_run`.
    DryRun(Box<MergeStep>),
}

impl MergeStep {
    /// What is to be carried out on GitHub: nothing of a dry run.
    #[must_use]
    pub fn acts(&self) -> bool {
        match self {
            Self::Nothing(_) | Self::DryRun(_) => false,
            Self::Merge { .. }
            | Self::EnableAuto { .. }
            | Self::DisableAuto
            | Self::Enqueue { .. }
            | Self::UpdateBranch { .. } => true,
        }
    }
}

/// Why nothing is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hold {
    /// Merging is switched off.
    Off,
    /// A condition holds it up.
    Conditions,
    /// It is with GitHub already: auto-merge is on, or it is in the queue.
    Underway,
    /// The repository or a permission stands against it, for this reason.
    Refused(String),
}

/// The next step.
#[must_use]
pub fn decide(conditions: &Conditions, gate: &GateFacts, policy: &Policy) -> MergeStep {
    if !policy.merge.enabled {
        return MergeStep::Nothing(Hold::Off);
    }
    let step = wanted(conditions, gate, policy);
    if policy.merge.dry_run && step.acts() {
        return MergeStep::DryRun(Box::new(step));
    }
    step
}

fn wanted(conditions: &Conditions, gate: &GateFacts, policy: &Policy) -> MergeStep {
    let sha = conditions.head_sha().clone();
    // A head that moved is no longer the one that was judged; the conditions say so too, this does not rest on them.
    if gate.head_sha != sha {
        return MergeStep::Nothing(Hold::Conditions);
    }
    if !conditions.may_merge() {
        return not_yet(conditions, gate, policy, sha);
    }
    if let Some(reason) = no_permission(&gate.may_write) {
        return MergeStep::Nothing(Hold::Refused(reason));
    }
    match policy.merge.mode {
        MergeMode::Direct => match method(gate, policy) {
            Ok(method) => MergeStep::Merge { method, sha },
            Err(reason) => MergeStep::Nothing(Hold::Refused(reason)),
        },
        MergeMode::Auto => match (&gate.auto_merge, method(gate, policy)) {
            (Known::Known(Some(_)), _) => MergeStep::Nothing(Hold::Underway),
            (Known::Known(None), Ok(method)) => MergeStep::EnableAuto { method, sha },
            (Known::Known(None), Err(reason)) => MergeStep::Nothing(Hold::Refused(reason)),
            (Known::Unknown(cause), _) => unknown("whether auto-merge is on", cause),
        },
        MergeMode::Queue => match &gate.queued {
            Known::Known(true) => MergeStep::Nothing(Hold::Underway),
            Known::Known(false) => MergeStep::Enqueue { sha },
            Known::Unknown(cause) => unknown("whether it is in the merge queue", cause),
        },
    }
}

/// Something blocks: take back what would merge all the same, or update the branch if that alone is missing.
fn not_yet(conditions: &Conditions, gate: &GateFacts, policy: &Policy, sha: Sha) -> MergeStep {
    if ours_is_on(gate, policy) {
        return MergeStep::DisableAuto;
    }
    let only_the_base = conditions.blocks().all(|one| one.id == ConditionId::Base);
    let behind = matches!(gate.behind_by, Known::Known(1..));
    if !(only_the_base && behind) {
        return MergeStep::Nothing(Hold::Conditions);
    }
    match no_permission(&gate.may_write) {
        Some(reason) => MergeStep::Nothing(Hold::Refused(reason)),
        None => MergeStep::UpdateBranch { expected_head: sha },
    }
}

/// Is auto-merge on, and was it switched on by us? A person's is the person's.
fn ours_is_on(gate: &GateFacts, policy: &Policy) -> bool {
    let own = format!("{}[bot]", policy.bot.app_slug);
    match &gate.auto_merge {
        Known::Known(Some(login)) => login.eq_ignore_ascii_case(&own),
        Known::Known(None) | Known::Unknown(_) => false,
    }
}

fn no_permission(may_write: &Known<bool>) -> Option<String> {
    match may_write {
        Known::Known(true) => None,
        Known::Known(false) => {
            Some("the App lacks the permission `contents: write`: grant it to merge".to_owned())
        }
        Known::Unknown(cause) => Some(format!(
            "it is unknown whether the App may write: {}",
            clipped(cause, 200)
        )),
    }
}

fn unknown(what: &str, cause: &str) -> MergeStep {
    MergeStep::Nothing(Hold::Refused(format!(
        "it is unknown {what}: {}",
        clipped(cause, 200)
    )))
}

/// The configured way, else the first that the repository allows.
fn method(gate: &GateFacts, policy: &Policy) -> Result<MergeMethod, String> {
    let allowed = match &gate.allowed_methods {
        Known::Known(allowed) => allowed,
        Known::Unknown(cause) => {
            return Err(format!(
                "the repository's ways to merge are unknown: {}",
                clipped(cause, 200)
            ));
        }
    };
    [
        policy.merge.method,
        MergeMethod::Squash,
        MergeMethod::Merge,
        MergeMethod::Rebase,
    ]
    .into_iter()
    .find(|method| allowed.contains(method))
    .ok_or_else(|| "the repository allows no way to merge: allow one in its settings".to_owned())
}

/// Is this branch merged into? `None` while the default branch is needed and unknown.
#[must_use]
pub fn is_base(branch: &str, gate: &GateFacts, policy: &Policy) -> Option<bool> {
    let configured = &policy.merge.base_branches;
    if configured.is_empty() {
        return gate.default_branch.known().map(|default| default == branch);
    }
    Some(configured.iter().any(|base| base == branch))
}

/// How GitHub answered a step that it did not carry out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// 409: the head or the base moved.
    Conflict,
    /// 405: not in the present state (a rule of the branch, a conflict, a draft, a method that is not allowed).
    NotAllowed,
    /// 422: the request cannot be carried out as it stands (a wrong expected head, nothing to update).
    Invalid,
    /// 403 or 404: no permission, or gone.
    Forbidden,
}

/// What follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Read and judge again at once: what was judged is no more.
    StartOver,
    /// Say so, and look again when something changes; the same head is not tried in a loop.
    WaitForChange,
    /// Say so; only an operator can change it.
    WaitForOperator,
}

/// What to do after GitHub refused a step.
#[must_use]
pub fn after(step: &MergeStep, answer: Answer) -> Next {
    match (answer, step) {
        // For an update of the branch GitHub reports a moved head as 422.
        (Answer::Conflict, _) | (Answer::Invalid, MergeStep::UpdateBranch { .. }) => {
            Next::StartOver
        }
        (
            Answer::NotAllowed,
            MergeStep::Nothing(_)
            | MergeStep::Merge { .. }
            | MergeStep::EnableAuto { .. }
            | MergeStep::DisableAuto
            | MergeStep::Enqueue { .. }
            | MergeStep::UpdateBranch { .. }
            | MergeStep::DryRun(_),
        )
        | (
            Answer::Invalid,
            MergeStep::Nothing(_)
            | MergeStep::Merge { .. }
            | MergeStep::EnableAuto { .. }
            | MergeStep::DisableAuto
            | MergeStep::Enqueue { .. }
            | MergeStep::DryRun(_),
        ) => Next::WaitForChange,
        (Answer::Forbidden, _) => Next::WaitForOperator,
    }
}

/// Digest-like line of all that is unmet, in order: equal lines say the same and are not posted twice.
#[must_use]
pub fn standing(conditions: &Conditions) -> String {
    let line = |one: &Condition| format!("{} {:?} {}", one.id, one.severity, one.reason);
    conditions.unmet().map(line).collect::<Vec<_>>().join("\n")
}
