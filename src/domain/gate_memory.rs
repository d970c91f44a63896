//! What the server remembers of the merge gate of one pull request between evaluations.
//!
//! Plain data inside [`super::PullState`]. INVARIANT: an order stands here from the moment it is planned until its
//! outcome is known, so that no crash can make the log say more than was done.

use super::{PullState, Sha};
use serde::{Deserialize, Serialize};

/// The gate's memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GateMemory {
    /// Digest of what the status comment says; `None`: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// Digest of the last reasons that were logged for not merging: the same ones are not logged twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logged: Option<String>,
    /// Does it carry the label of a pull request that is ready? Those are looked at again when their base moves.
    pub waits: bool,
    /// What was ordered and has no outcome yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordered: Option<Ordered>,
    /// What was ordered last and did not happen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<FailedOrder>,
    /// Digest of what the last order that was carried out was judged on: the same one is not given again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<String>,
    /// How many orders have ended, well or not: it makes the log's entry of another order another one.
    pub ended: u32,
}

/// A merge, or an update of the branch, that is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ordered {
    /// The head that was judged.
    pub head_sha: Sha,
    /// Digest of everything it was judged on.
    pub ground: String,
    /// Does the log say that the merge was ordered? An update of the branch is no merge.
    pub logged: bool,
}

/// An order that did not happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedOrder {
    /// What was ordered.
    pub order: Ordered,
    /// Why not, in GitHub's words.
    pub reason: String,
    /// Is what was judged no more? Then it is judged anew; else the same is not tried again on the same ground.
    pub stale: bool,
    /// How often in a row the same order was stale.
    pub tries: u32,
    /// Is it in the log?
    pub told: bool,
}

/// After so many stale tries in a row the same order counts as refused.
const STALE_TRIES: u32 = 3;

impl FailedOrder {
    /// Is it not to be given again on the same ground?
    #[must_use]
    pub fn is_final(&self) -> bool {
        !self.stale || self.tries >= STALE_TRIES
    }
}

impl GateMemory {
    /// The order that failed and is not in the log yet.
    #[must_use]
    pub fn untold(&self) -> Option<&FailedOrder> {
        self.failed.as_ref().filter(|failed| !failed.told)
    }

    /// The order had no effect.
    pub fn fail(&mut self, reason: &str, stale: bool) {
        let Some(order) = self.ordered.take() else {
            return;
        };
        let again = self
            .failed
            .as_ref()
            .filter(|before| before.order.head_sha == order.head_sha)
            .map_or(0, |before| before.tries);
        self.ended = self.ended.saturating_add(1);
        self.failed = Some(FailedOrder {
            order,
            reason: reason.to_owned(),
            stale,
            tries: if stale { again.saturating_add(1) } else { 0 },
            told: false,
        });
    }

    /// The order was carried out.
    pub fn succeed(&mut self) {
        self.done = self.ordered.take().map(|order| order.ground);
        self.failed = None;
        self.ended = self.ended.saturating_add(1);
    }
}

impl PullState {
    /// Is it open and ready, so that it is looked at when its base moves?
    #[must_use]
    pub fn waits_to_merge(&self) -> bool {
        !self.closed && self.gate.waits
    }
}
