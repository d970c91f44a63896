//! What the App must be allowed to do and be told of, each with its reason: the one table that `setup` asks by, `doctor`
//! checks by and the documentation shows.
//!
//! Least privilege: a line is here only when a call or an event of ours needs it. GitHub gives an event only to Apps that
//! hold the permission it belongs to.

use std::collections::BTreeMap;

/// What the server is to do beyond judging.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features {
    /// It merges (`merge.enabled`).
    pub merge: bool,
    /// It opens reverts (`auto_revert_pr`).
    pub revert: bool,
}

/// How much is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// To look.
    Read,
    /// To look and to change.
    Write,
}

impl Level {
    /// GitHub's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    /// The words of the settings page.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "read and write",
        }
    }

    /// GitHub's word, read; a level above writing (`admin`) includes it.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "read" => Some(Self::Read),
            "write" | "admin" => Some(Self::Write),
            _ => None,
        }
    }
}

/// When something is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// In any case.
    Always,
    /// With `merge.enabled`.
    Merging,
    /// With `merge.enabled` or `auto_revert_pr`.
    Changing,
}

impl When {
    /// The words of the documentation.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Merging => "`merge.enabled`",
            Self::Changing => "`merge.enabled` or `auto_revert_pr`",
        }
    }

    fn holds(self, features: Features) -> bool {
        match self {
            Self::Always => true,
            Self::Merging => features.merge,
            Self::Changing => features.merge || features.revert,
        }
    }
}

/// A permission of the App.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permission {
    /// GitHub's name in its API.
    pub name: &'static str,
    /// The settings page's name.
    pub title: &'static str,
    /// How much.
    pub level: Level,
    /// When.
    pub when: When,
    /// What goes on without it, only less far: its lack is no failure.
    pub spare: bool,
    /// What for.
    pub why: &'static str,
}

/// An event that the App subscribes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subscription {
    /// GitHub's name in its API.
    pub name: &'static str,
    /// The settings page's name.
    pub title: &'static str,
    /// The permission without which GitHub does not offer it.
    pub permission: &'static str,
    /// When.
    pub when: When,
    /// What it tells.
    pub why: &'static str,
}

const fn permission(
    name: &'static str,
    title: &'static str,
    level: Level,
    when: When,
    why: &'static str,
) -> Permission {
    Permission {
        name,
        title,
        level,
        when,
        spare: false,
        why,
    }
}

const fn event(
    name: &'static str,
    title: &'static str,
    permission: &'static str,
    when: When,
    why: &'static str,
) -> Subscription {
    Subscription {
        name,
        title,
        permission,
        when,
        why,
    }
}

use Level::{Read, Write};
use When::{Always, Changing, Merging};

/// Every permission, the lower level of one first.
#[rustfmt::skip] // a table reads by lines
pub const PERMISSIONS: [Permission; 9] = [
    permission("checks", "Checks", Write, Always, "the check-runs `L1.C3` and `evidence-gate`, the verdicts that others publish"),
    permission("contents", "Contents", Read, Always, "telling a change of comments from a change of code; evidence ledgers; the branch's protection"),
    permission("contents", "Contents", Write, Changing, "merging; the branch of a revert"),
    permission("issues", "Issues", Write, Always, "audit Issues and the ballot of a D; labels"),
    permission("merge_queues", "Merge queues", Read, Always, "the event Merge group: `L1.C3` on what a merge queue builds"),
    permission("metadata", "Metadata", Read, Always, "always on; the rules of a branch"),
    permission("pull_requests", "Pull requests", Write, Always, "files, commits, labels; closing on `/reject`; opening a revert"),
    permission("statuses", "Commit statuses", Read, Always, "the checks of merged commits, and CI before a merge, where it reports as a status"),
    Permission { spare: true, ..permission("workflows", "Workflows", Write, Changing, "merging or reverting a change of a workflow file") },
];

/// Every event. `installation` and `installation_repositories` come to each App unasked.
#[rustfmt::skip]
pub const EVENTS: [Subscription; 9] = [
    event("check_run", "Check run", "checks", Always, "published verdicts, the buttons of our check-run, the checks of merged commits"),
    event("check_suite", "Check suite", "checks", Always, "\"Re-run\", the end of CI"),
    event("issue_comment", "Issue comment", "issues", Always, "answers in decision Issues"),
    event("issues", "Issues", "issues", Always, "decision Issues that are closed, reopened or edited"),
    event("merge_group", "Merge group", "merge_queues", Always, "what a merge queue builds"),
    event("pull_request", "Pull request", "pull_requests", Always, "a pull request is opened or has a new head"),
    event("push", "Push", "contents", Merging, "a base branch moved"),
    event("repository", "Repository", "metadata", Always, "renames and transfers"),
    event("status", "Status", "statuses", Always, "CI that reports as a commit status"),
];

/// What must be granted, by GitHub's name: of each permission the highest level that is needed.
#[must_use]
pub fn permissions(features: Features) -> BTreeMap<&'static str, Permission> {
    let mut needed: BTreeMap<&'static str, Permission> = BTreeMap::new();
    for permission in PERMISSIONS {
        let higher = needed
            .get(permission.name)
            .is_none_or(|known| known.level < permission.level);
        if permission.when.holds(features) && higher {
            needed.insert(permission.name, permission);
        }
    }
    needed
}

/// What must be subscribed to.
#[must_use]
pub fn events(features: Features) -> Vec<Subscription> {
    let needed = |event: &Subscription| event.when.holds(features);
    EVENTS.into_iter().filter(needed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Features = Features {
        merge: true,
        revert: true,
    };

    #[test]
    fn judging_alone_writes_no_contents() {
        let judging = permissions(Features::default());
        assert_eq!(judging["contents"].level, Read);
        assert!(!judging.contains_key("workflows"));
        for features in [
            ALL,
            Features {
                merge: true,
                revert: false,
            },
            Features {
                merge: false,
                revert: true,
            },
        ] {
            assert_eq!(permissions(features)["contents"].level, Write);
        }
    }

    #[test]
    fn every_event_has_its_permission() {
        for features in [Features::default(), ALL] {
            let held = permissions(features);
            for event in events(features) {
                assert!(held.contains_key(event.permission), "{}", event.name);
            }
        }
    }
}
