//! The status comment of the merge gate: every condition that is unmet, and what is done about it.

use super::comments::keyed;
use super::escape::sentence;
use super::limit::{ISSUE_BODY, cut};
use super::texts::{Language, Texts, fill};
use crate::gate::merge::{Hold, MergeStep};
use crate::gate::{Condition, Conditions};

/// Bytes of one reason that are shown.
const REASON: usize = 700;

/// What the comment speaks about.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// Every condition of the head.
    pub conditions: &'a Conditions,
    /// What is done.
    pub step: &'a MergeStep,
    /// The language of the inbox.
    pub language: Language,
}

/// The whole comment, its key included.
#[must_use]
pub fn status(said: &Said<'_>, key: &str) -> String {
    let texts = said.language.texts();
    let (blocks, warns): (Vec<&Condition>, Vec<&Condition>) = said
        .conditions
        .unmet()
        .partition(|condition| condition.blocks());
    let title = if blocks.is_empty() {
        texts.gate_ready
    } else {
        texts.gate_waits
    };
    let head = said.conditions.head_sha().short();
    let mut parts = vec![fill(title, &[("head", head)])];
    parts.extend(list(texts.gate_blocks, &blocks));
    parts.extend(list(texts.gate_warns, &warns));
    parts.extend(step(said.step, texts));
    let text = parts.join("\n\n");
    // Room for the key.
    keyed(&cut(&text, ISSUE_BODY - 512, "L1.C3", texts), key)
}

fn list(heading: &str, conditions: &[&Condition]) -> Option<String> {
    if conditions.is_empty() {
        return None;
    }
    let lines = conditions.iter().map(|one| {
        format!(
            "- **{}** ({:?}): {}",
            one.id,
            one.severity,
            sentence(&one.reason, REASON)
        )
    });
    let lines: Vec<String> = lines.collect();
    Some(format!("{heading}\n\n{}", lines.join("\n")))
}

fn step(step: &MergeStep, texts: &Texts) -> Option<String> {
    Some(match step {
        MergeStep::Nothing(Hold::Off | Hold::Conditions) => return None,
        MergeStep::Nothing(Hold::Underway) => texts.gate_underway.to_owned(),
        MergeStep::Nothing(Hold::Refused(reason)) => {
            fill(texts.gate_refused, &[("reason", &sentence(reason, REASON))])
        }
        MergeStep::Merge { method, .. } => fill(texts.gate_merges, &[("method", method.as_str())]),
        MergeStep::EnableAuto { method, .. } => {
            fill(texts.gate_auto, &[("method", method.as_str())])
        }
        MergeStep::DisableAuto => texts.gate_auto_off.to_owned(),
        MergeStep::Enqueue { .. } => texts.gate_queue.to_owned(),
        MergeStep::UpdateBranch { .. } => texts.gate_updates.to_owned(),
        MergeStep::DryRun(inner) => {
            let what = self::step(inner, texts).unwrap_or_default();
            fill(texts.gate_dry_run, &[("what", &what)])
        }
    })
}
