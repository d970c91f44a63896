//! `mergeable`: what must be so before the other conditions mean anything. Its severity cannot be changed: GitHub
//! would refuse the merge, or the bot would merge into itself.

use super::condition::Finding;
use super::identity::quoted;
use super::{GateInput, merge};
use crate::domain::Known;
use crate::rules::clipped;

pub(super) fn judge(input: &GateInput<'_>) -> Finding {
    let mut faults = faults(input);
    let unknown = unknown(input);
    if faults.is_empty() && unknown.is_empty() {
        return Finding::holds("open, no draft, no conflict");
    }
    let found = if faults.is_empty() {
        Finding::unknown
    } else {
        Finding::fails
    };
    faults.extend(unknown);
    found(faults.join("; "))
}

fn faults(input: &GateInput<'_>) -> Vec<String> {
    let (facts, gate, policy) = (input.facts, input.gate, input.policy);
    let mut faults = Vec::new();
    let own_id = policy.bot.repo_id.is_some() && policy.bot.repo_id == facts.repo_id;
    if facts.repo == policy.bot.repo || own_id {
        faults.push(format!(
            "`{}` is the bot's own repository: merge it by hand",
            facts.repo
        ));
    }
    if !gate.open {
        faults.push("the pull request is closed".to_owned());
    }
    if gate.archived {
        faults.push("the repository is archived: nothing can be merged into it".to_owned());
    }
    if gate.draft || facts.draft {
        faults.push("it is a draft: mark it as ready for review".to_owned());
    }
    if gate.mergeable == Known::Known(false) {
        faults.push(format!(
            "it conflicts with {}: resolve the conflicts",
            quoted(&facts.base_ref)
        ));
    }
    if merge::is_base(&facts.base_ref, gate, policy) == Some(false) {
        faults.push(format!(
            "{} is not a branch that is merged into (`merge.base_branches`)",
            quoted(&facts.base_ref)
        ));
    }
    faults
}

fn unknown(input: &GateInput<'_>) -> Vec<String> {
    let (facts, gate, policy) = (input.facts, input.gate, input.policy);
    let mut unknown = Vec::new();
    let moved = facts
        .head_moved_to
        .as_ref()
        .or_else(|| (gate.head_sha != facts.head_sha).then_some(&gate.head_sha));
    if let Some(head) = moved {
        unknown.push(format!(
            "the head moved to {} while it was judged",
            head.short()
        ));
    }
    if let Known::Unknown(cause) = &gate.mergeable {
        unknown.push(format!(
            "it is unknown whether it conflicts: {}",
            clipped(cause, 200)
        ));
    }
    if let (None, Known::Unknown(cause)) = (
        merge::is_base(&facts.base_ref, gate, policy),
        &gate.default_branch,
    ) {
        unknown.push(format!(
            "the default branch is unknown: {}",
            clipped(cause, 200)
        ));
    }
    if policy.bot.repo_id.is_some() && facts.repo_id.is_none() {
        unknown.push("the repository's id is unknown, it may be the bot's own".to_owned());
    }
    unknown
}
