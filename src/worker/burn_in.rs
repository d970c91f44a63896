//! The clocks of agent identities (L4), kept in the store and shown in `tick_metrics.json`.
//!
//! Pure bookkeeping is [`BurnIn`]'s; here it is read, changed and kept. INVARIANT: clocks that make no sense start
//! again (which the log says) and never block; a store that does not answer leaves the kept ones alone; no promotion
//! is kept before its audit entry is on disk.

use super::{Bench, WorkError};
use crate::audit::{Body, EntryDraft};
use crate::domain::{Choice, Facts, Known};
use crate::gate::agents;
use crate::gate::burn_in::BurnIn;
use crate::plan::Plan;
use crate::store::StoreError;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tokio::sync::Mutex;

/// Where the store keeps the clocks.
pub(crate) const META: &str = "l4_burn_in";
/// The reference implementation's file beside the audit log.
const FILE: &str = "tick_metrics.json";
/// The member of it that is ours.
const MEMBER: &str = "l4_burn_in";
/// Times that a change is tried when other replicas change the clocks too.
const ATTEMPTS: u32 = 8;
/// A larger file is not one of the reference implementation.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// The clocks' place outside the store, and what keeps two workers from changing them at once.
pub struct TickMetrics {
    path: PathBuf,
    changing: Mutex<()>,
}

impl TickMetrics {
    /// Beside the audit log.
    #[must_use]
    pub fn new(audit_dir: &Path) -> Self {
        Self {
            path: audit_dir.join(FILE),
            changing: Mutex::new(()),
        }
    }
}

impl Bench {
    /// The clocks as they are now. What cannot be read is empty or starts again: nobody is blocked by it.
    pub(super) async fn burn_in(&self) -> BurnIn {
        let _changing = self.tick_metrics.changing.lock().await;
        match self.kept_clocks().await {
            Ok((clocks, _)) => clocks,
            Err(error) => {
                tracing::warn!(%error, "the clocks of the agents cannot be read; nobody is blocked by them now");
                BurnIn::default()
            }
        }
    }

    /// An evaluation has met the agents of these commits: the clocks of those that are new start.
    pub(super) async fn met(&self, facts: &Facts) {
        let Known::Known(agents) = agents(facts) else {
            return;
        };
        if agents.is_empty() {
            return;
        }
        let now = self.clock.now();
        self.change_clocks(|clocks| {
            agents
                .iter()
                .fold(false, |new, agent| clocks.seen(&agent.id(), now) | new)
        })
        .await;
    }

    /// Does the plan honour an owner's rejection of a D? Then the clocks of its agents start again. To be called before
    /// the plan is kept: a crash in between judges, and rejects, once more.
    pub(super) async fn note_rejection(&self, plan: &Plan, facts: &Facts) {
        let rejects = |entry: &EntryDraft| {
            matches!(
                entry.body,
                Body::OwnerAnswer {
                    answer: Choice::Reject,
                    ..
                }
            )
        };
        if !plan.entries.iter().any(rejects) {
            return;
        }
        match agents(facts) {
            Known::Known(agents) => {
                let now = self.clock.now();
                self.change_clocks(|clocks| {
                    for agent in &agents {
                        clocks.rejected(&agent.id(), now);
                    }
                    !agents.is_empty()
                })
                .await;
            }
            Known::Unknown(cause) => {
                tracing::warn!(%cause, "whose pull request was rejected is unknown: no clock starts again");
            }
        }
    }

    /// Promotes the identities whose time without a rejection is over, each with one audit entry, and shows all clocks
    /// in `tick_metrics.json`.
    ///
    /// # Errors
    /// The audit log or the store: nothing was promoted, the next tick tries again.
    pub(crate) async fn promote(&self) -> Result<(), WorkError> {
        let _changing = self.tick_metrics.changing.lock().await;
        let policy = self.policy();
        let now = self.clock.now();
        let (mut clocks, was) = self.kept_clocks().await?;
        let promoted = clocks.advance(policy.l4_burn_in_days, now);
        let entries: Vec<EntryDraft> = promoted
            .iter()
            .filter_map(|agent| {
                let started = clocks.clock(agent)?.started_at;
                Some(EntryDraft {
                    ts: now,
                    // The same after a crash, so that the entry is found instead of written again.
                    decision: format!("l4-{agent}/{}", started.millis()),
                    about: None,
                    body: Body::Promoted {
                        agent: agent.clone(),
                        clock_started_at: started,
                    },
                    policy: policy.digest.clone(),
                    delivery: None,
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                })
            })
            .collect();
        if !entries.is_empty() {
            let written = entries.len() as u64;
            if let Some(places) = self.audit.append(entries).await? {
                self.at("promotion-audited");
                self.store.set_audit_tail(&places.last).await?;
                self.metrics.audited(written);
            }
            let clocks = json!(clocks).to_string();
            let kept = self.store.swap_meta(META, was.as_deref(), &clocks).await?;
            if !kept {
                // Another replica has changed them since; the next tick finds the entry and promotes.
                return Ok(());
            }
            self.at("promotion-kept");
            for agent in &promoted {
                tracing::info!(%agent, "its burn-in is over: unless it is registered, it blocks from now on");
            }
        }
        self.show(&clocks).await;
        Ok(())
    }

    /// Reads, changes and keeps the clocks. A store that does not give or take them is logged, and what it holds stays
    /// as it is: the next meeting tries again.
    async fn change_clocks(&self, change: impl Fn(&mut BurnIn) -> bool) {
        let _changing = self.tick_metrics.changing.lock().await;
        for _attempt in 0..ATTEMPTS {
            match self.kept_clocks().await {
                Ok((mut clocks, was)) => {
                    if !change(&mut clocks) || self.keep(&clocks, was.as_deref()).await {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "the clocks of the agents cannot be read; they stay as they are");
                    return;
                }
            }
        }
        tracing::warn!(
            "other replicas keep changing the clocks of the agents; they stay as they are"
        );
    }

    /// The clocks, and what the store holds of them now.
    async fn kept_clocks(&self) -> Result<(BurnIn, Option<String>), StoreError> {
        let now = self.clock.now();
        let stored = self.store.meta(META).await?;
        let (kept, first) = match &stored {
            Some(text) => (text.clone(), false),
            None => match self.shown_before().await {
                Some(text) => (text, true),
                None => return Ok((BurnIn::default(), None)),
            },
        };
        let (value, readable) = match serde_json::from_str::<Value>(&kept) {
            Ok(value) if value.is_object() => (value, true),
            Ok(_) | Err(_) => (Value::Null, false),
        };
        let (clocks, restarted) = BurnIn::read(&value, now);
        if !readable || !restarted.is_empty() {
            tracing::error!(
                ?restarted,
                "clocks of agents were not readable; they start again"
            );
        }
        if first || !readable || !restarted.is_empty() {
            self.keep(&clocks, stored.as_deref()).await;
            return Ok((clocks, self.store.meta(META).await?));
        }
        Ok((clocks, stored))
    }

    /// Keeps the clocks in place of what was read. `false`: another replica has changed them since.
    async fn keep(&self, clocks: &BurnIn, was: Option<&str>) -> bool {
        let clocks = json!(clocks).to_string();
        match self.store.swap_meta(META, was, &clocks).await {
            Ok(kept) => kept,
            Err(error) => {
                tracing::warn!(%error, "the clocks of the agents could not be kept");
                true
            }
        }
    }

    /// The clocks of a reference implementation that ran here before, or of a store that was lost.
    async fn shown_before(&self) -> Option<String> {
        let members = read(self.tick_metrics.path.clone()).await.ok()?;
        let clocks = members?.get(MEMBER)?.clone();
        tracing::info!(file = %self.tick_metrics.path.display(), "the agents' clocks are taken over from the file");
        Some(clocks.to_string())
    }

    /// Writes the clocks into `tick_metrics.json`, beside what other programs keep there. The file is for looking at:
    /// what goes wrong with it is logged and stops nothing.
    async fn show(&self, clocks: &BurnIn) {
        if clocks.clocks().next().is_none() {
            return;
        }
        let path = self.tick_metrics.path.clone();
        let shown = json!(clocks);
        let mut members = match read(path.clone()).await {
            Ok(members) => members.unwrap_or_else(|| json!({})),
            Err(why) => {
                tracing::warn!(file = %path.display(), %why, "the file is not ours and is left as it is");
                return;
            }
        };
        if members.get(MEMBER) == Some(&shown) {
            return;
        }
        if let Some(members) = members.as_object_mut() {
            members.insert(MEMBER.to_owned(), shown);
        }
        let written = tokio::task::spawn_blocking(move || {
            // Whole or not at all.
            let beside = path.with_extension("json.new");
            std::fs::write(&beside, format!("{members:#}\n"))?;
            std::fs::rename(&beside, &path)
        });
        if let Ok(Err(error)) = written.await {
            tracing::warn!(%error, "tick_metrics.json could not be written");
        }
    }
}

/// The file's members; `None` when there is no file.
async fn read(path: PathBuf) -> Result<Option<Value>, String> {
    let text = tokio::task::spawn_blocking(move || match std::fs::metadata(&path) {
        Ok(file) if file.len() > MOST_BYTES => Err("it is too large".to_owned()),
        Ok(_) => std::fs::read_to_string(&path)
            .map(Some)
            .map_err(|error| error.to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    })
    .await
    .map_err(|error| error.to_string())??;
    match text.map(|text| serde_json::from_str::<Value>(&text)) {
        None => Ok(None),
        Some(Ok(members)) if members.is_object() => Ok(Some(members)),
        Some(Ok(_) | Err(_)) => Err("it is not a JSON object".to_owned()),
    }
}
