//! What is kept of a decision: the facts it was computed from and its explanation, compressed.
//!
//! INVARIANT: it is saved in the same transaction as the plan, under the id of the plan's audit entry, so that neither is
//! there without the other.

use super::{WorkError, is_small, off_thread};
use crate::audit::Body;
use crate::domain::Facts;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::rules::{Basis, Explanation, Verdict};
use crate::store::{Decision, DecisionRow, Document};
use std::sync::Arc;

/// The record of the decision that a plan has an entry of; `None` when it has none. Facts and verdict go through and
/// come back: large ones take a while, off the async threads.
pub(super) async fn record(
    plan: &Plan,
    facts: Facts,
    verdict: Verdict,
    policy: &Arc<Policy>,
) -> Result<(Facts, Verdict, Option<Decision>), WorkError> {
    let Some(row) = row(plan) else {
        return Ok((facts, verdict, None));
    };
    let policy = Arc::clone(policy);
    off_thread(is_small(&facts), move || {
        let explanation = Explanation::of(&facts, &verdict, &row.policy, &row.version);
        let basis = Basis {
            facts,
            owners: policy.owners.pinned.clone(),
        };
        let decision = Decision {
            facts: Document::of("the facts of a decision", &basis)?,
            explanation: Document::of("the explanation of a decision", &explanation)?,
            row,
        };
        Ok((basis.facts, verdict, Some(decision)))
    })
    .await
    .map_err(|error| WorkError::Broken(format!("the facts were not compressed: {error}")))?
}

fn row(plan: &Plan) -> Option<DecisionRow> {
    plan.entries.iter().find_map(|entry| {
        let Body::Classification { quadrant, .. } = &entry.body else {
            return None;
        };
        let about = entry.about.as_ref()?;
        Some(DecisionRow {
            id: entry.decision.clone(),
            repo: about.repo_id,
            name: about.repo.clone(),
            number: about.number,
            head_sha: about.head_sha.clone(),
            at: entry.ts,
            quadrant: *quadrant,
            policy: entry.policy.clone(),
            version: entry.version.clone(),
            entry: None,
        })
    })
}
