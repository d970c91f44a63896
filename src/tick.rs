//! The sweep beside the webhooks: webhooks make it fast, the sweep makes it right.
//!
//! Level-triggered: it looks at what is, puts to work what was missed, and asks nothing of the past. Its cost is in
//! `docs/inbox.md`: one conditional request a tick for each hundred open D Issues of a repository.

use crate::domain::{
    IssueKind, IssueNumber, IssueRef, PullState, RepoId, RepoRef, Subject, Timestamp, Trigger,
};
use crate::github::{ApiError, IssueView};
use crate::plan::labels;
use crate::worker::{Bench, WorkError, after_merge, passive, shown};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Open pull requests without a current check-run are looked for this often, and at start.
const MISSED: Duration = Duration::from_hours(1);

/// Finished deliveries are kept this long.
const KEPT: Duration = Duration::from_hours(30 * 24);

/// GitHub lists deliveries for three days.
const LISTED: Duration = Duration::from_hours(3 * 24);

/// A delivery that was under way when the list was read is seen by the next look.
const OVERLAP: Duration = Duration::from_hours(1);

/// Where the store keeps up to when the list of deliveries was gone through.
const DELIVERIES_SEEN: &str = "deliveries_seen";

/// Where the store keeps when the last tick ended.
pub const LAST: &str = "last_tick";

/// The open D Issues of one repository.
struct Asked<'a> {
    inbox: RepoRef,
    issues: Vec<(&'a PullState, &'a IssueRef)>,
}

/// Sweeps until `stop` turns true.
pub async fn run(bench: Arc<Bench>, mut stop: watch::Receiver<bool>) {
    let mut looked = None;
    loop {
        let now = bench.clock.now();
        if looked.is_none_or(|at| now.since(at) >= MISSED) {
            if let Err(error) = look_for_missed(&bench).await {
                tracing::warn!(%error, "the sweep for missed pull requests failed; the next one makes up for it");
            }
            match repeat_missed(&bench).await {
                Ok(0) => {}
                Ok(deliveries) => {
                    tracing::info!(deliveries, "GitHub was asked to repeat what nobody took");
                }
                Err(error) => {
                    tracing::warn!(%error, "missed deliveries could not be asked for; the next sweep tries again");
                }
            }
            forget(&bench, now).await;
            looked = Some(now);
        }
        if let Err(error) = sweep_inbox(&bench).await {
            tracing::warn!(%error, "the sweep of the inbox failed; the next one makes up for it");
        }
        if let Err(error) = sweep_merged(&bench).await {
            tracing::warn!(%error, "the sweep of merged commits failed; the next one makes up for it");
        }
        if let Err(error) = promote(&bench).await {
            tracing::warn!(%error, "agents whose time is over were not promoted; the next tick makes up for it");
        }
        let at = bench.clock.now().to_string();
        if let Err(error) = bench.store.set_meta(LAST, &at).await {
            tracing::warn!(%error, "the end of the tick could not be noted");
        }
        let tick = bench.policy.borrow().tick;
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            () = bench.clock.sleep(tick) => {}
        }
    }
}

/// Forgets what nobody asks for any more. GitHub repeats a delivery for three days.
async fn forget(bench: &Bench, now: Timestamp) {
    match bench.store.prune(now.minus(KEPT)).await {
        Ok(0) => {}
        Ok(deliveries) => tracing::info!(deliveries, "old deliveries are forgotten"),
        Err(error) => {
            tracing::warn!(%error, "old deliveries are not forgotten; the next sweep tries again");
        }
    }
    let kept = Duration::from_secs(bench.decision_days.saturating_mul(86_400));
    match bench.store.prune_decisions(now.minus(kept)).await {
        Ok(0) => {}
        Ok(decisions) => {
            tracing::info!(
                decisions,
                "old decisions are forgotten; their audit entries stay"
            );
        }
        Err(error) => {
            tracing::warn!(%error, "old decisions are not forgotten; the next sweep tries again");
        }
    }
}

/// Puts every installation to work; its repositories, then their unjudged pull requests, follow from there.
///
/// # Errors
/// The installations cannot be listed, or the store does not take the work.
pub async fn look_for_missed(bench: &Bench) -> Result<(), WorkError> {
    for installation in bench.github.installations().await? {
        if !installation.suspended {
            let subject = Subject::Installation {
                installation: installation.id,
            };
            enqueue(bench, subject, true).await?;
        }
    }
    Ok(())
}

/// Asks GitHub to repeat, once, each delivery that nobody took (the server was down, or said that it cannot); returns how
/// many. What the store knows already it takes for what it is.
///
/// # Errors
/// The deliveries cannot be listed or repeated; the next look starts from the same moment.
pub async fn repeat_missed(bench: &Bench) -> Result<u64, WorkError> {
    let now = bench.clock.now();
    let oldest = now.minus(LISTED);
    let seen = bench.store.meta(DELIVERIES_SEEN).await?;
    let seen: Option<Timestamp> = seen.and_then(|text| text.parse().ok());
    let since = seen.map_or(oldest, |at| at.minus(OVERLAP).max(oldest));
    let mut repeated = 0;
    for missed in bench.github.failed_deliveries(since).await? {
        if !missed.redelivered {
            bench.github.redeliver(&missed.last).await?;
            repeated += 1;
        }
    }
    let now = now.to_string();
    bench.store.set_meta(DELIVERIES_SEEN, &now).await?;
    Ok(repeated)
}

/// Puts to work every pull request on whose Issue something was said (reactions have no webhook, and one of a comment
/// can be lost), and every B or C Issue whose time has come.
///
/// # Errors
/// The store. A repository that cannot be listed is left for the next tick and does not hold up the others.
pub async fn sweep_inbox(bench: &Bench) -> Result<(), WorkError> {
    let policy = bench.policy.borrow().clone();
    let now = bench.clock.now();
    let states = bench.store.open_issues().await?;
    let mut pending: BTreeMap<RepoId, Asked<'_>> = BTreeMap::new();
    for state in &states {
        match (&state.issue, &state.inbox.ballot) {
            (Some(issue), _) if issue.kind == IssueKind::PendingOwner => {
                let asked = pending.entry(issue.repo.id).or_insert_with(|| Asked {
                    inbox: issue.repo.clone(),
                    issues: Vec::new(),
                });
                asked.issues.push((state, issue));
            }
            (Some(_), _) => {
                if passive::due(state, &policy, now).is_some() {
                    look_at(bench, state, false).await?;
                }
            }
            (None, Some(ballot)) => one(bench, state, ballot).await?,
            (None, None) => {}
        }
    }
    for Asked {
        inbox: repo,
        issues,
    } in pending.into_values()
    {
        let listed = bench
            .github
            .own_open_issues(&repo, labels::PENDING_OWNER.name)
            .await;
        let listed: HashMap<IssueNumber, IssueView> = match listed {
            Ok(listed) => listed.into_iter().map(|view| (view.number, view)).collect(),
            Err(error) => {
                tracing::warn!(repo = %repo.name, %error, "the open Issues could not be listed");
                continue;
            }
        };
        for (state, issue) in issues {
            match listed.get(&issue.number) {
                Some(view) if changed(state, view) => look_at(bench, state, true).await?,
                Some(_) => {}
                // Closed, gone, or its label was taken away.
                None => one(bench, state, issue).await?,
            }
        }
    }
    Ok(())
}

/// Puts to work every merged pull request whose commit's checks have not all been seen green: an event can be lost.
///
/// # Errors
/// The store.
pub async fn sweep_merged(bench: &Bench) -> Result<(), WorkError> {
    let now = bench.clock.now();
    for state in bench.store.watched_merges(now).await? {
        if after_merge::due(&state, now) {
            look_at(bench, &state, false).await?;
        }
    }
    Ok(())
}

/// Promotes the agent identities whose burn-in is over.
///
/// # Errors
/// The audit log or the store.
pub async fn promote(bench: &Bench) -> Result<(), WorkError> {
    bench.promote().await
}

/// An Issue that no list shows.
async fn one(bench: &Bench, state: &PullState, issue: &IssueRef) -> Result<(), WorkError> {
    match bench.github.issue(&issue.repo, issue.number).await {
        Ok(view) if view.number == issue.number && !changed(state, &view) => Ok(()),
        Ok(_) | Err(ApiError::Gone { .. }) => look_at(bench, state, true).await,
        Err(error) => {
            tracing::warn!(repo = %issue.repo.name, issue = %issue.number, %error, "an Issue could not be read");
            Ok(())
        }
    }
}

/// Does the Issue show something else than when its answers were read last?
fn changed(state: &PullState, view: &IssueView) -> bool {
    if let Some(before) = &state.inbox.shown {
        return *before != shown(view);
    }
    let reactions = view.reactions.is_none_or(|(_, _, all)| all > 0);
    reactions || view.comments > 0 || !view.open
}

async fn look_at(bench: &Bench, state: &PullState, deep: bool) -> Result<(), WorkError> {
    let subject = Subject::Pull {
        repo: state.repo.clone(),
        number: state.number,
    };
    enqueue(bench, subject, deep).await
}

async fn enqueue(bench: &Bench, subject: Subject, deep: bool) -> Result<(), WorkError> {
    let trigger = Trigger {
        subject,
        deep,
        announces_head: None,
    };
    bench.store.enqueue(trigger, bench.clock.now()).await?;
    Ok(())
}
