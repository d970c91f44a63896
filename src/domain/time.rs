//! Moments as values. Nothing here reads a clock: "now" is passed in.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, str::FromStr, time::Duration};

/// A moment in UTC, millisecond precision.
///
/// Written as RFC 3339 with `Z`; whole seconds are written without a fraction, as GitHub writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The text is not an RFC 3339 date and time.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not an RFC 3339 time such as `2026-05-25T12:34:56Z`")]
pub struct TimestampError(String);

impl Timestamp {
    /// From milliseconds since 1970-01-01T00:00:00Z, clamped to the years RFC 3339 can write.
    #[must_use]
    pub fn from_millis(millis: i64) -> Self {
        const MIN: i64 = -62_135_596_800_000; // 0001-01-01T00:00:00Z
        const MAX: i64 = 253_402_300_799_999; // 9999-12-31T23:59:59.999Z
        Self(millis.clamp(MIN, MAX))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn millis(self) -> i64 {
        self.0
    }

    /// This moment plus a duration; saturates.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// This moment less a duration; saturates.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self::from_millis(self.0.saturating_sub(millis))
    }

    /// How long ago `earlier` was; zero when it lies in the future.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The moment cut to whole seconds, as GitHub gives times.
    #[must_use]
    pub fn whole_seconds(self) -> Self {
        Self(self.0.div_euclid(1000) * 1000)
    }
}

impl From<DateTime<Utc>> for Timestamp {
    fn from(at: DateTime<Utc>) -> Self {
        Self::from_millis(at.timestamp_millis())
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        DateTime::parse_from_rfc3339(text)
            .map(|at| Self::from_millis(at.timestamp_millis()))
            .map_err(|_| TimestampError(text.to_owned()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = DateTime::<Utc>::from_timestamp_millis(self.0).unwrap_or_default();
        let format = if self.0.rem_euclid(1000) == 0 {
            SecondsFormat::Secs
        } else {
            SecondsFormat::Millis
        };
        f.write_str(&at.to_rfc3339_opts(format, true))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_rfc_3339() {
        let at: Timestamp = "2026-05-25T21:34:56+09:00".parse().expect("valid");
        assert_eq!(at.to_string(), "2026-05-25T12:34:56Z");
        assert!("yesterday".parse::<Timestamp>().is_err());
        assert_eq!(
            Timestamp::from_millis(1_500).to_string(),
            "1970-01-01T00:00:01.500Z"
        );
        assert!(
            Timestamp::from_millis(i64::MAX)
                .to_string()
                .starts_with("9999-")
        );
    }
}
