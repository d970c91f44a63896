//! What the system says about the measured process and its children-to-be: memory and processor time.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Clock ticks a second in `/proc`: 100 on every Linux that has it.
const TICKS: f64 = 100.0;

/// Resident memory in KiB.
pub fn resident(pid: u32) -> Result<u64, String> {
    let file = format!("/proc/{pid}/status");
    let text = fs::read_to_string(&file).map_err(|error| format!("`{file}`: {error}"))?;
    text.lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|line| line.split_ascii_whitespace().next()?.parse().ok())
        .ok_or_else(|| format!("`{file}` has no VmRSS"))
}

/// Seconds of processor time so far, in user and kernel.
pub fn processor(pid: u32) -> Result<f64, String> {
    let file = format!("/proc/{pid}/stat");
    let text = fs::read_to_string(&file).map_err(|error| format!("`{file}`: {error}"))?;
    // The name stands in brackets and may hold anything.
    let (_, after) = text.rsplit_once(')').ok_or("no name in stat")?;
    let ticks: f64 = after
        .split_ascii_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum();
    Ok(ticks / TICKS)
}

/// Looks at the memory a few times a second and keeps the most.
pub struct Peak {
    most: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Peak {
    pub fn watch(pid: u32) -> Self {
        let (most, stop) = (
            Arc::new(AtomicU64::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let (kept, stopped) = (Arc::clone(&most), Arc::clone(&stop));
        std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                if let Ok(now) = resident(pid) {
                    kept.fetch_max(now, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        Self { most, stop }
    }

    pub fn end(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.most.load(Ordering::Relaxed)
    }
}
