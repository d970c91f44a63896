//! What the server wants to be true on GitHub, as plain data.
//!
//! Every effect carries a key of ours and is idempotent: whoever carries it out first looks for its own
//! earlier work. The order of a plan's effects is the order in which they are carried out.

use super::{
    CheckRunId, CommentId, IssueKind, IssueNumber, MergeMethod, PullNumber, RepoRef, RevertEffect,
    Sha, Timestamp,
};
use serde::{Deserialize, Serialize};

/// One change to be made on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// The label exists in the repository (created if missing, never changed).
    EnsureLabel {
        /// Where.
        repo: RepoRef,
        /// What it is to look like when we create it.
        label: LabelSpec,
    },
    /// An Issue with this key is open; found by its marker before it is created.
    OpenIssue(OpenIssueEffect),
    /// The Issue is closed; a comment is left first if one is given.
    CloseIssue {
        /// Where.
        repo: RepoRef,
        /// Which.
        number: IssueNumber,
        /// Left before closing.
        comment: Option<CommentEffect>,
        /// `true`: closed as not planned; `false`: closed as completed.
        not_planned: bool,
    },
    /// These labels are on the Issue or pull request.
    AddLabels {
        /// Where.
        repo: RepoRef,
        /// Which.
        number: IssueNumber,
        /// Their names.
        labels: Vec<String>,
    },
    /// This label is not on the Issue or pull request.
    RemoveLabel {
        /// Where.
        repo: RepoRef,
        /// Which.
        number: IssueNumber,
        /// Its name.
        label: String,
    },
    /// A comment with this key stands on the Issue or pull request.
    Comment(CommentEffect),
    /// The check-run with this external id says this.
    CheckRun(CheckRunEffect),
    /// The pull request is closed without a merge.
    ClosePull {
        /// Where.
        repo: RepoRef,
        /// Which.
        number: PullNumber,
    },
    /// The pull request is merged, if its head is still the one that was judged.
    Merge(MergeEffect),
    /// The pull request's branch contains the base's tip, if its head is still the one that was judged.
    UpdateBranch {
        /// Where.
        repo: RepoRef,
        /// Which.
        number: PullNumber,
        /// The head that was judged.
        expected_head: Sha,
    },
    /// A pull request that takes a merged commit back is open; found by its branch before it is created.
    OpenRevert(RevertEffect),
    /// GitHub merges the pull request as soon as its own rules allow it.
    EnableAutoMerge(MergeEffect),
    /// GitHub does not merge the pull request by itself.
    DisableAutoMerge {
        /// Where.
        repo: RepoRef,
        /// Which.
        number: PullNumber,
    },
    /// The pull request is in the merge queue.
    Enqueue {
        /// Where.
        repo: RepoRef,
        /// Which.
        number: PullNumber,
        /// The head that was judged: the precondition.
        sha: Sha,
        /// The base branch it was judged for.
        base_ref: String,
    },
}

impl Effect {
    /// Is it an order of the merge gate, which holds only for the moment it was judged in?
    #[must_use]
    pub fn rests_on_the_gate(&self) -> bool {
        match self {
            Self::Merge(_)
            | Self::UpdateBranch { .. }
            | Self::EnableAutoMerge(_)
            | Self::DisableAutoMerge { .. }
            | Self::Enqueue { .. } => true,
            Self::EnsureLabel { .. }
            | Self::OpenIssue(_)
            | Self::CloseIssue { .. }
            | Self::AddLabels { .. }
            | Self::RemoveLabel { .. }
            | Self::Comment(_)
            | Self::CheckRun(_)
            | Self::OpenRevert(_)
            | Self::ClosePull { .. } => false,
        }
    }
}

/// A merge to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeEffect {
    /// Where.
    pub repo: RepoRef,
    /// Which.
    pub number: PullNumber,
    /// The head that was judged: the precondition.
    pub sha: Sha,
    /// The base branch it was judged for: a precondition that only we look at, just before the call.
    pub base_ref: String,
    /// How.
    pub method: MergeMethod,
    /// The first line of the commit that it makes; `None`: GitHub's own.
    pub title: Option<String>,
}

/// A label as we create it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LabelSpec {
    /// The name; at most 50 characters on GitHub.
    pub name: String,
    /// Six hexadecimal digits without `#`.
    pub color: String,
    /// At most 100 characters on GitHub.
    pub description: String,
}

/// An Issue to be open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenIssueEffect {
    /// Where.
    pub repo: RepoRef,
    /// Our key, also written into the body as a marker (see `plan::render`).
    pub key: String,
    /// What it is for.
    pub kind: IssueKind,
    /// One line.
    pub title: String,
    /// Markdown, at most 65,536 bytes, marker included.
    pub body: String,
    /// Label names.
    pub labels: Vec<String>,
    /// The head SHA it speaks about.
    pub head_sha: Sha,
    /// The nonce of its markers (D Issues).
    pub nonce: Option<String>,
}

/// A comment to stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentEffect {
    /// Where.
    pub repo: RepoRef,
    /// On which Issue or pull request.
    pub number: IssueNumber,
    /// Our key, also written into the body as a marker.
    pub key: String,
    /// Markdown, at most 65,536 bytes, marker included.
    pub body: String,
    /// What to do when a comment with this key stands already.
    pub mode: CommentMode,
}

/// What happens to an earlier comment with the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommentMode {
    /// It stays as it is.
    Once,
    /// It is edited in place when its text differs.
    Edit,
}

/// A check-run to say something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRunEffect {
    /// Where.
    pub repo: RepoRef,
    /// The commit it stands on.
    pub head_sha: Sha,
    /// Its name, such as `L1.C3`.
    pub name: String,
    /// Our key: one check-run a key and commit.
    pub external_id: String,
    /// Our check-run as far as we know it.
    pub known: Option<CheckRunId>,
    /// How it concluded; `None` while it is in progress.
    pub conclusion: Option<CheckConclusion>,
    /// What it says.
    pub output: CheckOutput,
    /// Buttons, at most three.
    pub actions: Vec<CheckAction>,
    /// Where "Details" leads.
    pub details_url: Option<String>,
    /// Does its text name the Issue of this plan? Then the Issue's outcome is written into it.
    pub names_issue: bool,
}

/// The conclusions this program gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckConclusion {
    /// May merge as far as this check goes.
    Success,
    /// May not.
    Failure,
    /// Says something, decides nothing.
    Neutral,
}

/// The texts of a check-run; each at most 65,535 bytes on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOutput {
    /// One line.
    pub title: String,
    /// Markdown.
    pub summary: String,
    /// Markdown, the details.
    pub text: String,
    /// Remarks on lines. GitHub keeps those it has: what is not there yet is added, fifty a request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<CheckAnnotation>,
}

/// A remark on one line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CheckAnnotation {
    /// The file's path in the repository.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// How grave it is.
    pub level: AnnotationLevel,
    /// One line, at most 255 characters on GitHub.
    pub title: String,
    /// Plain text, at most 64 KiB on GitHub.
    pub message: String,
}

/// The levels of a remark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnnotationLevel {
    /// To be known.
    Notice,
    /// To be looked at.
    Warning,
    /// To be mended.
    Failure,
}

impl AnnotationLevel {
    /// The word as GitHub writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Failure => "failure",
        }
    }
}

/// A button of a check-run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckAction {
    /// At most 20 characters.
    pub label: String,
    /// At most 40 characters.
    pub description: String,
    /// At most 20 characters.
    pub identifier: String,
}

/// What became of one effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It is so now, and nothing more is to be remembered.
    Done,
    /// The check-run stands.
    CheckRun {
        /// Its id.
        id: CheckRunId,
    },
    /// The Issue is open.
    Issue {
        /// Its number.
        number: IssueNumber,
        /// When it was opened, by GitHub's clock.
        opened_at: Timestamp,
        /// Its page.
        url: String,
    },
    /// The comment stands.
    Comment {
        /// Its id.
        id: CommentId,
    },
    /// The pull request is there, open or closed.
    Pull {
        /// Its number.
        number: PullNumber,
    },
    /// What was judged is no more (another head, another base): look again, this plan is over.
    Stale {
        /// Why, for people.
        reason: String,
    },
    /// GitHub will not have it (410 Issues switched off, 403 no permission, 404 gone); the rest of the plan goes on.
    Refused {
        /// Why, for people.
        reason: String,
    },
}
