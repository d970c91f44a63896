//! What was asked, in order, for tests that count calls.

/// One request as it was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRecord {
    /// The method.
    pub method: String,
    /// The path with its query, as it was asked.
    pub path: String,
    /// GitHub's template of the route; empty when there is none.
    pub route: String,
    /// The status that went out; 0 when the connection was closed instead.
    pub status: u16,
    /// Whose token it was.
    pub installation: Option<u64>,
}

impl RequestRecord {
    /// Method and template, such as `GET /repos/{owner}/{repo}/pulls/{pull_number}`.
    pub fn operation(&self) -> String {
        format!("{} {}", self.method, self.route)
    }
}
