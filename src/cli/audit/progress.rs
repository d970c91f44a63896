//! How far a long look through the log has come, on a terminal.

use crate::audit::Progress;
use std::io::Write;
use std::time::{Duration, Instant};

/// Nothing is shown before this time is over.
const QUIET: Duration = Duration::from_secs(1);
/// Between two updates.
const PACE: Duration = Duration::from_millis(200);
/// The clock is looked at once for so many entries.
const STRIDE: u64 = 256;

/// One line that is written over.
pub(super) struct Meter {
    wanted: bool,
    total: u64,
    due: Instant,
    shown: bool,
}

impl Meter {
    /// `total` bytes are to be read; 0 is not known.
    pub(super) fn new(wanted: bool, total: u64) -> Self {
        Self {
            wanted,
            total,
            due: Instant::now() + QUIET,
            shown: false,
        }
    }

    pub(super) fn tick(&mut self, now: Progress, err: &mut dyn Write) {
        if !self.wanted || !now.entries.is_multiple_of(STRIDE) || Instant::now() < self.due {
            return;
        }
        self.due = Instant::now() + PACE;
        self.shown = true;
        let share = now.bytes.saturating_mul(100).checked_div(self.total);
        let share = share.map_or_else(String::new, |share| format!("{:>3} %  ", share.min(100)));
        // Whether progress can be shown changes nothing.
        let _ = write!(err, "\r{share}{} entries", now.entries);
        let _ = err.flush();
    }

    /// Takes the line away, before something else is shown.
    pub(super) fn clear(&mut self, err: &mut dyn Write) {
        if self.shown {
            self.shown = false;
            let _ = write!(err, "\r\x1b[K");
        }
    }
}
