//! The sweep beside the webhooks: webhooks make it fast, the sweep makes it right.
//!
//! Level-triggered: it looks at what is, puts to work what was missed, and asks nothing of the past.

use crate::domain::{Subject, Trigger};
use crate::worker::Bench;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Open pull requests without a current check-run are looked for this often, and at start.
const MISSED: Duration = Duration::from_hours(1);

/// Sweeps until `stop` turns true.
pub async fn run(bench: Arc<Bench>, mut stop: watch::Receiver<bool>) {
    loop {
        if let Err(error) = look_for_missed(&bench).await {
            tracing::warn!(%error, "the sweep for missed pull requests failed; the next one makes up for it");
        }
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            () = bench.clock.sleep(MISSED) => {}
        }
    }
}

/// Puts every installation to work; its repositories, then their unjudged pull requests, follow from there.
async fn look_for_missed(bench: &Bench) -> Result<(), crate::worker::WorkError> {
    for installation in bench.github.installations().await? {
        if !installation.suspended {
            let subject = Subject::Installation {
                installation: installation.id,
            };
            let trigger = Trigger {
                subject,
                deep: true,
                announces_head: None,
            };
            bench.store.enqueue(trigger, bench.clock.now()).await?;
        }
    }
    Ok(())
}
