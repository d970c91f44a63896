//! Faults on demand: what goes wrong between a request and its answer, where and how often.

use std::time::Duration;

/// A rule that makes some requests go wrong. Rules are tried in the order they were given.
#[derive(Debug, Clone)]
pub struct FaultRule {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) skip: u32,
    pub(crate) times: u32,
    pub(crate) kind: FaultKind,
}

/// What goes wrong.
#[derive(Debug, Clone)]
pub enum FaultKind {
    /// Another answer; nothing happens in the model.
    Answer(FaultAnswer),
    /// It happens, and then another answer is given (a create that ends in 502).
    AnswerAfter(FaultAnswer),
    /// The connection is closed before anything happens.
    DropBefore,
    /// It happens, and the connection is closed without an answer.
    DropAfter,
    /// Nothing happens and nothing is said for so long, then the connection is closed.
    Hang(Duration),
    /// The right answer, so much later.
    Slow(Duration),
    /// The right head, half of the body, then the connection is closed.
    TruncatedBody,
    /// Lists come back empty, counts stay.
    EmptyList,
    /// Lists lack their last so many rows, counts and links stay.
    ShortList(usize),
    /// `total_count` lies.
    TotalCount(u64),
    /// Reads of a pull request show its previous head.
    StaleHead,
}

/// An answer that a fault gives.
#[derive(Debug, Clone)]
pub struct FaultAnswer {
    /// The HTTP status.
    pub status: u16,
    /// Headers beside the usual ones; they replace usual ones of the same name.
    pub headers: Vec<(String, String)>,
    /// The body as it goes out.
    pub body: String,
}

impl FaultAnswer {
    /// A status with GitHub's usual JSON body.
    pub fn new(status: u16, message: &str) -> Self {
        let body = serde_json::json!({"message": message, "documentation_url": "https://docs.github.com/rest", "status": status.to_string()});
        Self {
            status,
            headers: Vec::new(),
            body: body.to_string(),
        }
    }

    /// The same with a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same with another body.
    #[must_use]
    pub fn body(mut self, body: &str) -> Self {
        self.body = body.into();
        self
    }

    /// A server error, in JSON.
    pub fn server_error(status: u16) -> Self {
        Self::new(status, "Server Error")
    }

    /// A gateway's error page: HTML.
    pub fn html(status: u16) -> Self {
        Self::new(status, "")
            .header("content-type", "text/html")
            .body("<html><body><h1>Unicorn!</h1></body></html>")
    }

    /// A secondary limit that shows in the text only.
    pub fn secondary_limit() -> Self {
        Self::new(
            403,
            "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
        )
    }

    /// A secondary limit with `Retry-After`.
    pub fn secondary_limit_for(seconds: u32) -> Self {
        Self::secondary_limit().header("retry-after", &seconds.to_string())
    }

    /// The primary limit, used up until `reset` (seconds since 1970).
    pub fn primary_limit(reset: i64) -> Self {
        Self::new(403, "API rate limit exceeded for installation.")
            .header("x-ratelimit-remaining", "0")
            .header("x-ratelimit-reset", &reset.to_string())
    }

    /// 429 with `Retry-After`.
    pub fn too_many(seconds: u32) -> Self {
        Self::new(429, "Too Many Requests").header("retry-after", &seconds.to_string())
    }

    /// The App may not do this.
    pub fn permission() -> Self {
        Self::new(403, "Resource not accessible by integration")
    }

    /// Not there, or not to be seen.
    pub fn not_found() -> Self {
        Self::new(404, "Not Found")
    }
}

impl FaultRule {
    /// One request of this method (`*` any) to this path, by a glob or by the route's template. `*` stands for
    /// anything inside a segment, `**` for anything.
    pub fn new(method: &str, path: &str, kind: FaultKind) -> Self {
        Self {
            method: method.into(),
            path: path.into(),
            skip: 0,
            times: 1,
            kind,
        }
    }

    /// An answer instead of the right one.
    pub fn answer(method: &str, path: &str, answer: FaultAnswer) -> Self {
        Self::new(method, path, FaultKind::Answer(answer))
    }

    /// So many times.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }

    /// Until the rules are cleared.
    #[must_use]
    pub fn always(self) -> Self {
        self.times(u32::MAX)
    }

    /// Only after so many matching requests went well.
    #[must_use]
    pub fn after(mut self, skip: u32) -> Self {
        self.skip = skip;
        self
    }

    fn matches(&self, method: &str, path: &str, route: &str) -> bool {
        (self.method == "*" || self.method.eq_ignore_ascii_case(method))
            && (self.path == route || glob(&self.path, path))
    }
}

/// The rules in force.
#[derive(Default)]
pub(crate) struct Faults {
    rules: Vec<FaultRule>,
}

impl Faults {
    pub(crate) fn add(&mut self, rule: FaultRule) {
        self.rules.push(rule);
    }

    pub(crate) fn clear(&mut self) {
        self.rules.clear();
    }

    /// The fault of this request, if there is one; uses it up.
    pub(crate) fn strike(&mut self, method: &str, path: &str, route: &str) -> Option<FaultKind> {
        let rule = self
            .rules
            .iter_mut()
            .find(|rule| rule.times > 0 && rule.matches(method, path, route))?;
        if rule.skip > 0 {
            rule.skip -= 1;
            return None;
        }
        if rule.times != u32::MAX {
            rule.times -= 1;
        }
        Some(rule.kind.clone())
    }
}

fn glob(pattern: &str, text: &str) -> bool {
    if let Some(rest) = pattern.strip_prefix("**") {
        return (0..=text.len()).any(|at| text.get(at..).is_some_and(|tail| glob(rest, tail)));
    }
    if let Some(rest) = pattern.strip_prefix('*') {
        let segment = text.find('/').unwrap_or(text.len());
        return (0..=segment).any(|at| text.get(at..).is_some_and(|tail| glob(rest, tail)));
    }
    match (pattern.chars().next(), text.chars().next()) {
        (None, None) => true,
        (Some(wanted), Some(found)) if wanted == found => {
            let (rest, tail) = (
                pattern.get(wanted.len_utf8()..),
                text.get(found.len_utf8()..),
            );
            rest.zip(tail).is_some_and(|(rest, tail)| glob(rest, tail))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_star_stays_inside_a_segment() {
        assert!(glob("/repos/*/*/pulls/*/files", "/repos/o/r/pulls/7/files"));
        assert!(!glob("/repos/*/pulls", "/repos/o/r/pulls"));
        assert!(glob("**/check-runs", "/repos/o/r/check-runs"));
        assert!(glob("/repos/**", "/repos/o/r/labels"));
    }

    #[test]
    fn a_rule_is_used_up_and_can_wait() {
        let mut faults = Faults::default();
        faults.add(
            FaultRule::new("GET", "/x", FaultKind::DropBefore)
                .after(1)
                .times(2),
        );
        let hits: Vec<bool> = (0..4)
            .map(|_| faults.strike("GET", "/x", "/x").is_some())
            .collect();
        assert_eq!(hits, [false, true, true, false]);
        assert!(faults.strike("POST", "/x", "/x").is_none());
    }
}
