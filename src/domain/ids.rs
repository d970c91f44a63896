//! Ids as types of their own, so that one cannot be given where another is meant.

use serde::{Deserialize, Deserializer, Serialize};
use std::{fmt, str::FromStr};

macro_rules! numeric_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

numeric_id! {
    /// GitHub's id of a repository; survives renames and transfers.
    RepoId;
    /// The number of a pull request in its repository.
    PullNumber;
    /// The number of an Issue in its repository.
    IssueNumber;
    /// An installation of the App on an account.
    InstallationId;
    /// A GitHub App.
    AppId;
    /// A user or bot account; survives renames.
    AccountId;
    /// A check-run.
    CheckRunId;
    /// An Issue comment.
    CommentId;
}

/// The text is not the id it should be.
#[derive(Debug, thiserror::Error)]
pub enum IdError {
    /// Not 40 or 64 hexadecimal digits.
    #[error("`{0}` is not a full commit SHA (40 or 64 hexadecimal digits)")]
    Sha(String),
    /// Not `owner/name`.
    #[error("`{0}` is not a repository name of the form `owner/name`")]
    RepoName(String),
    /// Empty, too long or with blanks.
    #[error("`{0}` is not a delivery id")]
    Delivery(String),
}

/// A full commit SHA, lower case: 40 digits (SHA-1) or 64 (SHA-256).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Sha(String);

impl Sha {
    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first seven digits, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..7).unwrap_or(&self.0)
    }
}

impl FromStr for Sha {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let right_length = matches!(text.len(), 40 | 64);
        if right_length && text.bytes().all(|b| b.is_ascii_hexdigit()) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(IdError::Sha(text.chars().take(80).collect()))
        }
    }
}

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Sha {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// `owner/name` of a repository, compared without case as GitHub does.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct RepoName(String);

impl RepoName {
    /// `owner/name`, spelled as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The account before the slash.
    #[must_use]
    pub fn owner(&self) -> &str {
        self.0.split_once('/').map_or("", |(owner, _)| owner)
    }

    /// The name after the slash.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or("", |(_, name)| name)
    }
}

impl FromStr for RepoName {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = |part: &str| {
            !part.is_empty()
                && part != "."
                && part != ".."
                && part
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        };
        match text.split_once('/') {
            Some((owner, name)) if plain(owner) && plain(name) && text.len() <= 200 => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(IdError::RepoName(text.chars().take(200).collect())),
        }
    }
}

impl PartialEq for RepoName {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for RepoName {}

impl std::hash::Hash for RepoName {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_ascii_lowercase().hash(state);
    }
}

impl fmt::Display for RepoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RepoName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// A repository: the id that stays, the name of the moment, and the installation that reaches it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RepoRef {
    /// GitHub's id.
    pub id: RepoId,
    /// `owner/name` when it was last seen.
    pub name: RepoName,
    /// The installation of the App that covers it.
    pub installation: InstallationId,
}

/// `X-GitHub-Delivery`: the GUID of one webhook delivery, kept by redeliveries.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeliveryId(String);

impl DeliveryId {
    /// The GUID as sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for DeliveryId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = (1..=100).contains(&text.len());
        if fits && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            Ok(Self(text.to_owned()))
        } else {
            Err(IdError::Delivery(text.chars().take(100).collect()))
        }
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compare_without_case() {
        let a: RepoName = "Octo-Org/Bot".parse().expect("valid");
        let b: RepoName = "octo-org/bot".parse().expect("valid");
        assert_eq!(a, b);
        for bad in ["", "octo", "octo/", "/bot", "a/b/c", "a/..", "a b/c"] {
            assert!(bad.parse::<RepoName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn shas_are_whole() {
        assert!("abcd123".parse::<Sha>().is_err());
        assert!("A".repeat(40).parse::<Sha>().is_ok());
        assert!("g".repeat(40).parse::<Sha>().is_err());
    }
}
