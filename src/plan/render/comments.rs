//! Comments. Each ends with its key, by which it is found again before it is written a second time.

use super::escape::{code, plain_name};
use super::texts::{Language, fill};
use crate::domain::{PullNumber, Quadrant, RepoName, Sha};
use crate::inbox::Why;

/// Our key as a hidden line. Keys are made by this program: letters, digits, `/`, `.`, `_` and `-`.
#[must_use]
pub fn key_marker(key: &str) -> String {
    format!("<!-- quadgate:key={key} -->")
}

pub(super) fn keyed(text: &str, key: &str) -> String {
    format!("{text}\n\n{}", key_marker(key))
}

fn pr(repo: &RepoName, number: PullNumber) -> String {
    format!("{}#{number}", plain_name(repo.as_str()))
}

/// Left on an Issue whose question is answered by a new decision.
#[must_use]
pub fn superseded(
    repo: &RepoName,
    number: PullNumber,
    quadrant: Quadrant,
    head: &Sha,
    base_ref: &str,
    key: &str,
    language: Language,
) -> String {
    let values = [
        ("pr", pr(repo, number)),
        ("quadrant", quadrant.to_string()),
        ("head", head.to_string()),
        ("base", code(base_ref, 200)),
    ];
    let values = values
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    keyed(&fill(language.texts().superseded, &values), key)
}

/// Left on a pending Issue when its pull request is gone.
#[must_use]
pub fn closed(
    repo: &RepoName,
    number: PullNumber,
    merged: bool,
    key: &str,
    language: Language,
) -> String {
    let texts = language.texts();
    let template = if merged { texts.merged } else { texts.closed };
    keyed(&fill(template, &[("pr", &pr(repo, number))]), key)
}

/// Left on a B or C Issue whose time has come.
#[must_use]
pub fn passively_closed(hours: u64, key: &str, language: Language) -> String {
    let values = [("hours", hours.to_string())];
    let values = values
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    keyed(&fill(language.texts().passively_closed, &values), key)
}

/// The answer to a comment that is nearly an answer: the exact ones that count.
#[must_use]
pub fn clarification(why: Why, key: &str, language: Language) -> String {
    let texts = language.texts();
    let why = match why {
        Why::NearCommand => texts.why_near,
        Why::ApproveNotAlone => texts.why_not_alone,
        Why::Assent => texts.why_assent,
        Why::SeveralCommands
        | Why::Command
        | Why::Checkpoint
        | Why::NoCommand
        | Why::TooLong
        | Why::NoAuthor
        | Why::NotAPerson
        | Why::Stranger
        | Why::Impostor
        | Why::EditedByOther
        | Why::OwnerWord => texts.why_several,
    };
    keyed(&fill(texts.clarification, &[("why", why)]), key)
}

/// Left on an Issue whose text is not as it was posted.
#[must_use]
pub fn integrity_failed(key: &str, language: Language) -> String {
    keyed(language.texts().integrity_failed, key)
}

/// Left where an approval came for another head.
#[must_use]
pub fn stale_approval(asked: &Sha, head: &Sha, key: &str, language: Language) -> String {
    let values = [("asked", asked.as_str()), ("head", head.as_str())];
    keyed(&fill(language.texts().stale_approval, &values), key)
}

/// Left on a pull request that an owner rejected. `issue`: the Issue's page, or the check-run's name.
#[must_use]
pub fn rejected_pull(issue: &str, key: &str, language: Language) -> String {
    keyed(
        &fill(language.texts().rejected_pull, &[("issue", issue)]),
        key,
    )
}

/// Title and summary of the check-run on a merge group.
#[must_use]
pub fn merge_group(
    members: &[PullNumber],
    because: Option<&str>,
    language: Language,
) -> (String, String) {
    let texts = language.texts();
    let named: Vec<String> = members.iter().map(|number| format!("#{number}")).collect();
    let members = fill(texts.group_members, &[("members", &named.join(", "))]);
    match because {
        None => (texts.group_passes.to_owned(), members),
        Some(reason) => {
            let reason = code(reason, 500);
            let why = fill(texts.group_because, &[("reason", &reason)]);
            (texts.group_fails.to_owned(), format!("{why}\n\n{members}"))
        }
    }
}
