//! Whose turn it is to sweep: always this process's, or that of the replica that has the seat.

use crate::store::postgres::Seat;
use crate::worker::Bench;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The seat is asked for, and its holder asks whether it still has it, this often.
const ASKED: Duration = Duration::from_secs(1);

/// Sweeps until `stop` turns true, while the seat is ours. A sweep that is broken off is made up for by the next holder's.
pub(super) async fn tick(bench: Arc<Bench>, seat: Option<Seat>, mut stop: watch::Receiver<bool>) {
    let Some(mut seat) = seat else {
        return crate::tick::run(bench, stop).await;
    };
    while !*stop.borrow() {
        if seat.hold().await {
            tracing::info!("this replica sweeps now");
            tokio::select! {
                () = crate::tick::run(Arc::clone(&bench), stop.clone()) => {}
                () = lost(&mut seat) => tracing::warn!("this replica sweeps no more: its lock is gone"),
            }
        } else {
            tokio::select! {
                () = tokio::time::sleep(ASKED) => {}
                _ = stop.wait_for(|stop| *stop) => {}
            }
        }
    }
    seat.leave().await;
}

async fn lost(seat: &mut Seat) {
    loop {
        tokio::time::sleep(ASKED).await;
        if !seat.hold().await {
            return;
        }
    }
}
