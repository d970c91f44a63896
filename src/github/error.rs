//! Failures of a call, sorted by what the caller can do about them.
//!
//! [`classify`] is a pure function of status, headers and body. INVARIANT: no error carries a token, a header
//! of ours or a whole body; GitHub's own `message` is kept, shortened and on one line.

use super::wire;
use chrono::DateTime;
use http::{HeaderMap, StatusCode};
use std::time::{Duration, SystemTime};

/// Clocks that differ by more than this are named in an [`ApiError::Unauthorized`].
pub const CLOCK_TOLERANCE: Duration = Duration::from_mins(1);

/// The least wait for a secondary limit that does not say how long.
const SECONDARY_WAIT: Duration = Duration::from_mins(1);

/// Why a call did not do what was asked. `call` is the endpoint's name, such as `GET pull`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// 404, 410 or 451: not there, switched off, or not to be seen by this installation.
    /// A 404 is not proof that a thing does not exist.
    #[error("{call}: `{what}` is gone or not visible to the App (HTTP {status}){}", note(.message))]
    Gone {
        /// The endpoint.
        call: &'static str,
        /// 404, 410 or 451.
        status: u16,
        /// The target.
        what: String,
        /// GitHub's words.
        message: String,
    },
    /// 403 for want of a permission.
    #[error("{call}: permission refused (HTTP 403){}{}", note(.message), permission_hint(.permission.as_deref()))]
    Refused {
        /// The endpoint.
        call: &'static str,
        /// The permissions that would do, as GitHub names them (`X-Accepted-GitHub-Permissions`).
        permission: Option<String>,
        /// GitHub's words.
        message: String,
    },
    /// The installation is suspended.
    #[error(
        "{call}: the App's installation is suspended; its account's owner can lift that in the App settings"
    )]
    Suspended {
        /// The endpoint.
        call: &'static str,
    },
    /// 401 after one new token.
    #[error("{call}: not authorised (HTTP 401){}{}", note(.message), skew_hint(*.clock_skew))]
    Unauthorized {
        /// The endpoint.
        call: &'static str,
        /// Our clock minus GitHub's in seconds, when they differ by more than [`CLOCK_TOLERANCE`].
        clock_skew: Option<i64>,
        /// GitHub's words.
        message: String,
    },
    /// 409: what was asked rests on a state that is no more. Read again and start over.
    #[error("{call}: conflict (HTTP 409){}", note(.message))]
    Conflict {
        /// The endpoint.
        call: &'static str,
        /// GitHub's words.
        message: String,
    },
    /// 422, or another 4xx that says that the request itself is wrong.
    #[error("{call}: refused as invalid (HTTP {status}){}", note(.message))]
    Unprocessable {
        /// The endpoint.
        call: &'static str,
        /// 422 or another 4xx.
        status: u16,
        /// GitHub's words with the codes of its `errors`.
        message: String,
        /// The codes, such as `already_exists`.
        codes: Vec<String>,
    },
    /// 405: not possible in the present state (a merge, most often).
    #[error("{call}: not allowed now (HTTP 405){}", note(.message))]
    MethodNotAllowed {
        /// The endpoint.
        call: &'static str,
        /// GitHub's words.
        message: String,
    },
    /// A primary or secondary rate limit.
    #[error("{call}: rate limited; next try in {} s", retry_after.as_secs())]
    RateLimited {
        /// The endpoint.
        call: &'static str,
        /// How long to keep away.
        retry_after: Duration,
    },
    /// 5xx, a timeout, no connection. A write may have happened all the same.
    #[error("{call}: {problem}")]
    Transient {
        /// The endpoint.
        call: &'static str,
        /// What happened.
        problem: String,
        /// How long to keep away, where the answer says so.
        retry_after: Option<Duration>,
    },
    /// An answer that is not what it should be: not JSON, a needed member missing, a list that is not whole.
    #[error("{call}: {problem}")]
    Unreadable {
        /// The endpoint.
        call: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}

impl ApiError {
    /// Is the same work worth another try later? For a conflict that means from fresh facts, for a missing
    /// authorisation that an operator or GitHub mends it.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Transient { .. }
            | Self::Unreadable { .. }
            | Self::Unauthorized { .. }
            | Self::Conflict { .. } => true,
            Self::Gone { .. }
            | Self::Refused { .. }
            | Self::Suspended { .. }
            | Self::Unprocessable { .. }
            | Self::MethodNotAllowed { .. } => false,
        }
    }

    /// How long to keep away at least, where the answer says so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } => Some(*retry_after),
            Self::Transient { retry_after, .. } => *retry_after,
            Self::Gone { .. }
            | Self::Refused { .. }
            | Self::Suspended { .. }
            | Self::Unauthorized { .. }
            | Self::Conflict { .. }
            | Self::Unprocessable { .. }
            | Self::MethodNotAllowed { .. }
            | Self::Unreadable { .. } => None,
        }
    }

    /// May a read be repeated at once, within the same call?
    pub(super) fn passes_quickly(&self) -> bool {
        matches!(
            self,
            Self::Transient {
                retry_after: None,
                ..
            }
        )
    }

    pub(super) fn unreadable(call: &'static str, problem: impl Into<String>) -> Self {
        Self::Unreadable {
            call,
            problem: problem.into(),
        }
    }

    pub(super) fn transient(call: &'static str, problem: impl Into<String>) -> Self {
        Self::Transient {
            call,
            problem: problem.into(),
            retry_after: None,
        }
    }
}

fn note(message: &str) -> String {
    if message.is_empty() {
        String::new()
    } else {
        format!(": {message}")
    }
}

fn permission_hint(permission: Option<&str>) -> String {
    permission.map_or_else(
        || "; give the App the permission for it and let the account accept it".to_owned(),
        |needed| format!("; the App needs the permission `{needed}`"),
    )
}

fn skew_hint(skew: Option<i64>) -> String {
    match skew {
        None => String::new(),
        Some(seconds) => format!(
            "; this machine's clock is {} s {} GitHub's: set the clock",
            seconds.unsigned_abs(),
            if seconds > 0 { "ahead of" } else { "behind" }
        ),
    }
}

/// An answer with a status that is not a success, seen by our clock at `now`.
pub(super) struct Failure<'a> {
    pub(super) call: &'static str,
    pub(super) target: &'a str,
    pub(super) status: StatusCode,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
    pub(super) now: SystemTime,
}

/// Sorts a failed answer. An unreadable body (an HTML page of a proxy) does not hide the status.
pub(super) fn classify(failure: &Failure<'_>) -> ApiError {
    let Failure {
        call,
        target,
        status,
        headers,
        ..
    } = *failure;
    let said = Said::read(failure.body);
    let message = said.message.clone();
    match status.as_u16() {
        401 => ApiError::Unauthorized {
            call,
            clock_skew: clock_skew(headers, failure.now)
                .filter(|skew| skew.unsigned_abs() > CLOCK_TOLERANCE.as_secs()),
            message,
        },
        403 | 429 => limited_or_refused(failure, &said),
        404 | 410 | 451 => ApiError::Gone {
            call,
            status: status.as_u16(),
            what: target.to_owned(),
            message,
        },
        405 => ApiError::MethodNotAllowed { call, message },
        408 | 500..=599 => ApiError::Transient {
            call,
            problem: format!("HTTP {}{}", status.as_u16(), note(&message)),
            retry_after: retry_after(headers, failure.now),
        },
        409 => ApiError::Conflict { call, message },
        400..=499 => ApiError::Unprocessable {
            call,
            status: status.as_u16(),
            message,
            codes: said.codes,
        },
        other => ApiError::unreadable(call, format!("unexpected answer (HTTP {other})")),
    }
}

fn limited_or_refused(failure: &Failure<'_>, said: &Said) -> ApiError {
    let call = failure.call;
    let words = said.message.to_ascii_lowercase();
    if words.contains("suspended") && words.contains("installation") {
        return ApiError::Suspended { call };
    }
    let asked_to_wait = retry_after(failure.headers, failure.now);
    let secondary = words.contains("secondary rate limit") || words.contains("abuse detection");
    if secondary {
        return ApiError::RateLimited {
            call,
            retry_after: asked_to_wait.unwrap_or(SECONDARY_WAIT).max(SECONDARY_WAIT),
        };
    }
    // The call that used up the budget can be refused for want of a permission: its words decide.
    let permission = words.contains("not accessible") || words.contains("permission");
    let spent = number(failure.headers, "x-ratelimit-remaining") == Some(0);
    if spent && !permission {
        return ApiError::RateLimited {
            call,
            retry_after: until_reset(failure.headers, failure.now)
                .or(asked_to_wait)
                .unwrap_or(SECONDARY_WAIT),
        };
    }
    if failure.status == StatusCode::TOO_MANY_REQUESTS
        || asked_to_wait.is_some()
        || words.contains("rate limit exceeded")
    {
        return ApiError::RateLimited {
            call,
            retry_after: asked_to_wait.unwrap_or(SECONDARY_WAIT),
        };
    }
    ApiError::Refused {
        call,
        permission: failure
            .headers
            .get("x-accepted-github-permissions")
            .and_then(|value| value.to_str().ok())
            .filter(|value| !value.is_empty())
            .map(one_line),
        message: said.message.clone(),
    }
}

/// What GitHub says in an error body; empty when the body is not GitHub's JSON.
struct Said {
    message: String,
    codes: Vec<String>,
}

impl Said {
    fn read(body: &[u8]) -> Self {
        let Ok(problem) = serde_json::from_slice::<wire::Problem>(body) else {
            return Self {
                message: String::new(),
                codes: Vec::new(),
            };
        };
        let mut message = problem.message.as_deref().map(one_line).unwrap_or_default();
        let mut codes = Vec::new();
        for error in problem.errors() {
            if let Some(code) = &error.code {
                codes.push(one_line(code));
            }
            let detail = [&error.field, &error.code, &error.message]
                .into_iter()
                .flatten()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" ");
            if !detail.is_empty() {
                message = one_line(&format!("{message}; {detail}"));
            }
        }
        Self { message, codes }
    }
}

/// At most 200 characters without control characters: safe for a log line.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(200)
        .collect()
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

fn unix(now: SystemTime) -> i64 {
    now.duration_since(SystemTime::UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_secs()).ok())
        .unwrap_or(0)
}

/// The answer's `Date`, in seconds since 1970.
pub(super) fn server_time(headers: &HeaderMap) -> Option<i64> {
    http_date(headers.get(http::header::DATE)?.to_str().ok()?)
}

/// Our clock minus GitHub's, in seconds.
pub(super) fn clock_skew(headers: &HeaderMap, now: SystemTime) -> Option<i64> {
    Some(unix(now).saturating_sub(server_time(headers)?))
}

fn http_date(text: &str) -> Option<i64> {
    DateTime::parse_from_rfc2822(text)
        .ok()
        .map(|at| at.timestamp())
}

fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers
        .get(http::header::RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = http_date(text)?;
    Some(wait_until(at, headers, now))
}

fn until_reset(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let reset = i64::try_from(number(headers, "x-ratelimit-reset")?).ok()?;
    Some(wait_until(reset, headers, now))
}

/// Measured by GitHub's clock where the answer shows it; one second more, as both are whole seconds.
fn wait_until(at: i64, headers: &HeaderMap, now: SystemTime) -> Duration {
    let now = server_time(headers).unwrap_or_else(|| unix(now));
    let seconds = at.saturating_sub(now).saturating_add(1).max(1);
    Duration::from_secs(u64::try_from(seconds).unwrap_or(1))
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
