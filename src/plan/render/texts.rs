//! The sentences, one struct, one value a language. `{name}` stands for a value; a test checks that both languages
//! use the same ones.

mod after_merge;
mod en;
mod ko;

use crate::domain::{Choice, Criticality, IssueKind, Quadrant, Reversibility};

pub(crate) use after_merge::AfterMergeTexts;

pub use crate::policy::Language;

impl Language {
    /// Its code: `en`, `ko`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Ko => "ko",
        }
    }

    pub(crate) fn texts(self) -> &'static Texts {
        match self {
            Self::En => &en::TEXTS,
            Self::Ko => &ko::TEXTS,
        }
    }
}

/// What a check-run says of one state.
pub(crate) struct StateTexts {
    pub title: &'static str,
    pub lead: &'static str,
}

/// A button.
pub(crate) struct ButtonTexts {
    pub label: &'static str,
    pub description: &'static str,
}

/// Every sentence.
pub(crate) struct Texts {
    pub reversible: &'static str,
    pub irreversible: &'static str,
    pub critical: &'static str,
    pub non_critical: &'static str,
    // The check-run.
    pub a: StateTexts,
    pub b: StateTexts,
    pub c: StateTexts,
    pub d_pending: StateTexts,
    pub d_approved_a: StateTexts,
    pub d_approved_b: StateTexts,
    pub d_deferred: StateTexts,
    pub d_rejected: StateTexts,
    pub what_decided: &'static str,
    pub without_one: &'static str,
    pub without_many: &'static str,
    pub issue_named: &'static str,
    pub issue_refused: &'static str,
    pub issue_refused_pending: &'static str,
    pub issue_closed_by_hand: &'static str,
    pub where_to_answer: &'static str,
    pub footer: &'static str,
    pub witness: &'static str,
    pub deciding_heading: &'static str,
    pub rules_heading: &'static str,
    pub rules_columns: [&'static str; 3],
    pub abstains: &'static str,
    pub files_heading: &'static str,
    pub files_columns: [&'static str; 4],
    pub cut: &'static str,
    pub more_files: &'static str,
    pub button_approve: ButtonTexts,
    pub button_defer: ButtonTexts,
    pub button_reject: ButtonTexts,
    // Issues.
    pub title_d: &'static str,
    pub title_b: &'static str,
    pub title_c: &'static str,
    pub issue_intro_d: &'static str,
    pub issue_intro_b: &'static str,
    pub issue_intro_c: &'static str,
    pub pull: &'static str,
    pub author_gone: &'static str,
    pub passive_close: &'static str,
    pub never_closes: &'static str,
    pub ballot_heading: &'static str,
    pub ballot: &'static str,
    pub answer_heading: &'static str,
    pub how_to_answer: &'static str,
    pub record_heading: &'static str,
    pub checkpoint_title: &'static str,
    pub covers: &'static str,
    pub covers_merge: &'static str,
    pub covers_more: &'static str,
    pub consequences: &'static str,
    pub consequence_generic: &'static str,
    pub consequences_more: &'static str,
    pub verification: &'static str,
    pub verification_check: &'static str,
    pub verification_none: &'static str,
    pub verification_more: &'static str,
    pub reply_approve: &'static str,
    // Comments.
    pub superseded: &'static str,
    pub merged: &'static str,
    pub closed: &'static str,
    pub passively_closed: &'static str,
    pub clarification: &'static str,
    pub why_near: &'static str,
    pub why_several: &'static str,
    pub why_not_alone: &'static str,
    pub why_assent: &'static str,
    pub integrity_failed: &'static str,
    pub stale_approval: &'static str,
    pub rejected_pull: &'static str,
    // The status comment of the merge gate.
    pub gate_waits: &'static str,
    pub gate_ready: &'static str,
    pub gate_blocks: &'static str,
    pub gate_warns: &'static str,
    pub gate_refused: &'static str,
    pub gate_merges: &'static str,
    pub gate_auto: &'static str,
    pub gate_auto_off: &'static str,
    pub gate_queue: &'static str,
    pub gate_underway: &'static str,
    pub gate_updates: &'static str,
    pub gate_dry_run: &'static str,
    // The check-run on a merge group.
    pub group_passes: &'static str,
    pub group_fails: &'static str,
    pub group_because: &'static str,
    pub group_members: &'static str,
    // After the merge.
    pub after_merge: AfterMergeTexts,
    // The check-run of the evidence gate.
    pub evidence_passes: StateTexts,
    pub evidence_not_needed: StateTexts,
    pub evidence_missing: StateTexts,
    pub evidence_held: StateTexts,
    pub evidence_unknown: StateTexts,
    pub evidence_cause: &'static str,
    pub evidence_advisory: &'static str,
    pub evidence_required: &'static str,
    pub evidence_risk: &'static str,
    pub evidence_effective: &'static str,
    pub evidence_columns: [&'static str; 5],
    pub evidence_unusable: &'static str,
    pub evidence_problems: &'static str,
    pub evidence_outside: &'static str,
    pub evidence_verifications: &'static str,
    pub evidence_more: &'static str,
    pub evidence_unremarked: &'static str,
    pub evidence_none: &'static str,
    pub evidence_try: &'static str,
}

impl Texts {
    pub(crate) fn reversibility(&self, ir: Reversibility) -> &'static str {
        match ir {
            Reversibility::Reversible => self.reversible,
            Reversibility::Irreversible => self.irreversible,
        }
    }

    pub(crate) fn criticality(&self, cr: Criticality) -> &'static str {
        match cr {
            Criticality::Critical => self.critical,
            Criticality::NonCritical => self.non_critical,
        }
    }

    pub(crate) fn state(&self, quadrant: Quadrant, answered: Option<Choice>) -> &StateTexts {
        match (quadrant, answered) {
            (Quadrant::A, _) => &self.a,
            (Quadrant::B, _) => &self.b,
            (Quadrant::C, _) => &self.c,
            (Quadrant::D, None) => &self.d_pending,
            (Quadrant::D, Some(Choice::ApproveA)) => &self.d_approved_a,
            (Quadrant::D, Some(Choice::ApproveB)) => &self.d_approved_b,
            (Quadrant::D, Some(Choice::Defer)) => &self.d_deferred,
            (Quadrant::D, Some(Choice::Reject)) => &self.d_rejected,
        }
    }

    pub(crate) fn issue_title(&self, kind: IssueKind) -> &'static str {
        match kind {
            IssueKind::PendingOwner => self.title_d,
            IssueKind::AuditB => self.title_b,
            IssueKind::AuditC => self.title_c,
            IssueKind::PostMerge => self.after_merge.title,
        }
    }

    pub(crate) fn issue_intro(&self, kind: IssueKind) -> &'static str {
        match kind {
            IssueKind::PendingOwner => self.issue_intro_d,
            IssueKind::AuditB => self.issue_intro_b,
            IssueKind::AuditC => self.issue_intro_c,
            IssueKind::PostMerge => self.after_merge.intro,
        }
    }
}

/// Puts values into a sentence, in one pass: a value that looks like a placeholder stays as it is.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + 64);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let (name, tail) = after.split_once('}').unwrap_or((after, ""));
        let value = values.iter().find(|(known, _)| *known == name);
        out.push_str(value.map_or("", |(_, value)| value));
        rest = tail;
    }
    out.push_str(rest);
    out
}
