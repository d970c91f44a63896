//! The Issue about a merged commit that fails, and the pull request that takes it back.

use super::comments::key_marker;
use super::escape::{code, plain_name, shown};
use super::texts::{Language, Texts, fill};
use crate::domain::{PullNumber, RepoName, Reverting, Sha};

/// Checks named one by one.
const LISTED: usize = 20;

/// What is known of the merged pull request.
#[derive(Debug, Clone, Copy)]
pub struct Merged<'a> {
    /// Its repository.
    pub repo: &'a RepoName,
    /// Its number.
    pub number: PullNumber,
    /// Its title.
    pub title: &'a str,
    /// Its page.
    pub url: &'a str,
    /// The commit that the merge made.
    pub commit: &'a Sha,
    /// The branch it went to.
    pub base_ref: &'a str,
    /// Base of GitHub's pages.
    pub web_base: &'a str,
}

/// What is said about taking it back.
#[derive(Debug, Clone, Copy)]
pub enum TakingBack<'a> {
    /// Nothing is opened, and why.
    ByHand(&'a str),
    /// It is being opened from this branch.
    Coming(&'a str),
    /// What became of it.
    Became(&'a Reverting),
}

impl Merged<'_> {
    fn pr(&self, number: PullNumber) -> String {
        format!("{}#{number}", plain_name(self.repo.as_str()))
    }

    fn pull(&self) -> String {
        let link = format!("[{}]({})", self.pr(self.number), self.url);
        format!("{link} ({})", code(self.title, 300))
    }

    fn filled(&self, template: &str, more: &[(&str, &str)]) -> String {
        let link = format!("{}/{}/commit/{}", self.web_base, self.repo, self.commit);
        let own = [
            ("pull", self.pull()),
            ("base", code(self.base_ref, 200)),
            ("commit", code(self.commit.as_str(), 80)),
            ("sha", self.commit.to_string()),
            ("link", link),
        ];
        let mut values: Vec<(&str, &str)> = own
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        values.extend_from_slice(more);
        fill(template, &values)
    }
}

/// The Issue's title.
#[must_use]
pub fn incident_title(merged: &Merged<'_>, language: Language) -> String {
    let pr = format!("{}#{}", merged.repo, merged.number);
    fill(language.texts().after_merge.title, &[("pr", &pr)])
}

/// The Issue's body with our key as its last line. `failed`: one cause a check, as the judgement words them.
#[must_use]
pub fn incident_body(
    merged: &Merged<'_>,
    failed: &[String],
    taking_back: TakingBack<'_>,
    key: &str,
    language: Language,
) -> String {
    let texts = language.texts();
    let said = &texts.after_merge;
    [
        merged.filled(said.intro, &[]),
        format!("{}\n{}", said.failed, list(failed, texts)),
        said.todo_heading.to_owned(),
        merged.filled(said.todo, &[]),
        said.revert_heading.to_owned(),
        taken_back(merged, taking_back, texts),
        said.end.to_owned(),
        key_marker(key),
    ]
    .join("\n\n")
}

/// The comment that says what became of the revert.
#[must_use]
pub fn incident_news(
    merged: &Merged<'_>,
    became: &Reverting,
    key: &str,
    language: Language,
) -> String {
    let said = taken_back(merged, TakingBack::Became(became), language.texts());
    format!("{said}\n\n{}", key_marker(key))
}

/// Title, description and commit message of the revert.
#[must_use]
pub fn revert(
    merged: &Merged<'_>,
    failed: &[String],
    key: &str,
    language: Language,
) -> (String, String, String) {
    let texts = language.texts();
    let said = &texts.after_merge;
    let title = fill(said.revert_title, &[("title", &shown(merged.title, 200))]);
    let body = [
        merged.filled(said.revert_intro, &[]),
        list(failed, texts),
        said.revert_note.to_owned(),
        key_marker(key),
    ]
    .join("\n\n");
    let session: String = merged.commit.as_str().chars().take(12).collect();
    let message = format!(
        "{title}\n\nThis reverts commit {}.\n\nAgent-Tool: quadgate\nAgent-Model: auto-revert\n\
         Agent-Session: s_{session}\nAgent-Machine: server\nTask-Ref: PR#{}\n",
        merged.commit, merged.number
    );
    (title, body, message)
}

/// The causes come from us, with foreign words in backticks that cannot hold backticks.
fn list(failed: &[String], texts: &Texts) -> String {
    let mut lines: Vec<String> = failed
        .iter()
        .take(LISTED)
        .map(|cause| format!("- {}", shown(cause, 300)))
        .collect();
    if failed.len() > LISTED {
        let count = (failed.len() - LISTED).to_string();
        lines.push(fill(texts.after_merge.more, &[("count", &count)]));
    }
    lines.join("\n")
}

fn taken_back(merged: &Merged<'_>, taking_back: TakingBack<'_>, texts: &Texts) -> String {
    let said = &texts.after_merge;
    match taking_back {
        TakingBack::ByHand(reason) => {
            merged.filled(said.by_hand, &[("reason", &shown(reason, 400))])
        }
        TakingBack::Coming(branch) => merged.filled(said.coming, &[("branch", branch)]),
        TakingBack::Became(Reverting::Opened { number }) => {
            merged.filled(said.opened, &[("pr", &merged.pr(*number))])
        }
        TakingBack::Became(Reverting::Refused { reason }) => {
            merged.filled(said.refused, &[("reason", &code(reason, 400))])
        }
    }
}
