//! Request targets, built from segments that are each percent-encoded.
//!
//! INVARIANT: a target is always relative (it starts with `/` and has no host), because the token is added to
//! relative targets only.

use crate::domain::RepoName;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt::{self, Display, Write as _};

/// Everything but RFC 3986's unreserved characters.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// A path with its query, below the API's base URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiPath {
    text: String,
    has_query: bool,
}

impl ApiPath {
    /// An empty path; segments follow.
    pub(super) fn root() -> Self {
        Self {
            text: String::new(),
            has_query: false,
        }
    }

    /// `/repos/{owner}/{name}`.
    pub(super) fn repo(name: &RepoName) -> Self {
        Self::root().seg("repos").seg(name.owner()).seg(name.name())
    }

    /// A target that GitHub gave us and whose host has been checked.
    pub(super) fn checked(path_and_query: &str) -> Self {
        Self {
            text: path_and_query.to_owned(),
            has_query: path_and_query.contains('?'),
        }
    }

    /// One more segment; a `/` in it is encoded.
    pub(super) fn seg(mut self, segment: impl Display) -> Self {
        let segment = segment.to_string();
        self.text.push('/');
        self.text.extend(utf8_percent_encode(&segment, ENCODED));
        self
    }

    /// One more parameter.
    pub(super) fn query(mut self, name: &str, value: impl Display) -> Self {
        let value = value.to_string();
        self.text.push(if self.has_query { '&' } else { '?' });
        self.has_query = true;
        // Writing to a String cannot fail.
        let _ = write!(
            self.text,
            "{}={}",
            utf8_percent_encode(name, ENCODED),
            utf8_percent_encode(&value, ENCODED)
        );
        self
    }

    /// The target as sent.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The target without its query, for messages.
    pub(super) fn without_query(&self) -> &str {
        self.text
            .split_once('?')
            .map_or(self.text.as_str(), |(path, _)| path)
    }
}

impl Display for ApiPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_encoded() {
        let name: RepoName = "octo-org/widgets.rs".parse().expect("valid");
        let path = ApiPath::repo(&name)
            .seg("labels")
            .seg("decision:a/b c?#é")
            .query("ref", "a&b=c")
            .query("per_page", 100);
        assert_eq!(
            path.as_str(),
            "/repos/octo-org/widgets.rs/labels/decision%3Aa%2Fb%20c%3F%23%C3%A9?ref=a%26b%3Dc&per_page=100"
        );
        assert!(path.without_query().ends_with("%C3%A9"));
    }
}
