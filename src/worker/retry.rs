//! How long to wait before the next try, and when to stop trying.

use std::time::Duration;

/// After this many failed tries a pull request whose facts cannot be read is judged on what is known: D, with the cause.
pub const TRIES_BEFORE_UNKNOWN: u32 = 6;

/// After this many failed tries the work is set aside as a dead letter.
pub const TRIES_BEFORE_DEAD: u32 = 12;

const FIRST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_mins(10);

/// The wait before try number `attempts + 1`: doubling from two seconds to ten minutes, spread by up to a quarter so
/// that what failed together does not come back together. `told` (a `Retry-After`) is never undercut.
///
/// `spread` is a random number; the same number gives the same wait.
#[must_use]
pub fn wait(attempts: u32, told: Option<Duration>, spread: u32) -> Duration {
    let doubled = FIRST.saturating_mul(2_u32.saturating_pow(attempts.min(16)));
    let base = doubled.min(LONGEST);
    let quarter = base / 4;
    let jitter = quarter.mul_f64(f64::from(spread) / f64::from(u32::MAX));
    let own = base + jitter;
    told.map_or(own, |told| {
        own.max(told + jitter.min(Duration::from_secs(5)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_is_bounded_and_honours_what_it_was_told() {
        assert_eq!(wait(0, None, 0), Duration::from_secs(2));
        assert_eq!(wait(3, None, 0), Duration::from_secs(16));
        assert!(wait(40, None, u32::MAX) <= Duration::from_secs(750));
        let fifteen_minutes = Duration::from_mins(15);
        assert!(wait(0, Some(fifteen_minutes), 7) >= fifteen_minutes);
        assert!(wait(2, None, u32::MAX) > wait(2, None, 0));
    }
}
