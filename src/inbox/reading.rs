//! One comment to one reading, with the reason.

use super::assent::is_assent;
use super::grammar::{Words, words};
use super::owners::{Speaker, Standing, standing};
use crate::domain::Choice;
use crate::policy::Owners;
use serde::{Deserialize, Serialize};

/// A comment as read from GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The Markdown; `None` when GitHub gave none.
    pub body: Option<String>,
    /// Who wrote it; `None` when the account is gone.
    pub author: Option<Speaker>,
    /// Was it edited, and by whom?
    pub edit: Edit,
    /// On which kind of Issue.
    pub on: Place,
}

/// Whether and by whom a comment was edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// It is as it was created.
    Never,
    /// The last editor.
    By(Speaker),
    /// Edited, by nobody we can name.
    Unknown,
}

/// The kind of Issue a comment stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A D Issue with a ballot.
    PendingIssue,
    /// The trail of a B or C decision.
    AuditIssue,
}

/// What a comment means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// Approve as proposed.
    ApproveA,
    /// Approve with the alternate.
    ApproveB,
    /// Defer.
    Defer,
    /// Reject.
    Reject,
    /// Nothing is approved; the owner is told once which answers count.
    Clarify,
    /// No answer.
    Ignored,
    /// An owner's word on an audit Issue, which keeps it open.
    OwnerCommented,
}

impl Reading {
    /// The answer it gives, if it gives one.
    #[must_use]
    pub fn choice(self) -> Option<Choice> {
        match self {
            Self::ApproveA => Some(Choice::ApproveA),
            Self::ApproveB => Some(Choice::ApproveB),
            Self::Defer => Some(Choice::Defer),
            Self::Reject => Some(Choice::Reject),
            Self::Clarify | Self::Ignored | Self::OwnerCommented => None,
        }
    }
}

impl From<Choice> for Reading {
    fn from(choice: Choice) -> Self {
        match choice {
            Choice::ApproveA => Self::ApproveA,
            Choice::ApproveB => Self::ApproveB,
            Choice::Defer => Self::Defer,
            Choice::Reject => Self::Reject,
        }
    }
}

/// Why a comment is read as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// One command.
    Command,
    /// `APPROVE` is the whole comment.
    Checkpoint,
    /// A line begins like a command and is none.
    NearCommand,
    /// Several different commands.
    SeveralCommands,
    /// `APPROVE` stands in a longer comment.
    ApproveNotAlone,
    /// A general phrase of assent.
    Assent,
    /// Nothing that counts.
    NoCommand,
    /// Longer than any comment on GitHub.
    TooLong,
    /// The author's account is gone.
    NoAuthor,
    /// The author is no person.
    NotAPerson,
    /// The author is no owner.
    Stranger,
    /// The author has an owner's login and another id.
    Impostor,
    /// Somebody else edited it.
    EditedByOther,
    /// An owner's word on an audit Issue.
    OwnerWord,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Command => "a command on a line of its own",
            Self::Checkpoint => "`APPROVE` is the whole comment",
            Self::NearCommand => "a line begins like a command but is not exactly one",
            Self::SeveralCommands => "several different commands in one comment",
            Self::ApproveNotAlone => "`APPROVE` counts only as the whole comment",
            Self::Assent => "a general phrase of assent approves nothing",
            Self::NoCommand => "no command in a paragraph of the comment",
            Self::TooLong => "longer than a comment on GitHub can be",
            Self::NoAuthor => "the author's account is gone",
            Self::NotAPerson => "the author is not a person's account",
            Self::Stranger => "the author is not an owner",
            Self::Impostor => "the author has an owner's login but not the owner's account id",
            Self::EditedByOther => "edited by somebody other than its author",
            Self::OwnerWord => "an owner commented, which keeps the Issue open",
        })
    }
}

/// A reading with its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// What it means.
    pub reading: Reading,
    /// Why.
    pub why: Why,
}

impl Read {
    fn new(reading: impl Into<Reading>, why: Why) -> Self {
        Self {
            reading: reading.into(),
            why,
        }
    }
}

/// Reads one comment.
#[must_use]
pub fn read(comment: &Comment, owners: &Owners) -> Read {
    let ignored = |why| Read::new(Reading::Ignored, why);
    let Some(author) = &comment.author else {
        return ignored(Why::NoAuthor);
    };
    match standing(owners, author) {
        Standing::Owner => {}
        Standing::NotAPerson => return ignored(Why::NotAPerson),
        Standing::Stranger => return ignored(Why::Stranger),
        Standing::Impostor => return ignored(Why::Impostor),
    }
    match comment.on {
        // Whoever edited it since: the owner did speak, and staying open is the safe side.
        Place::AuditIssue => Read::new(Reading::OwnerCommented, Why::OwnerWord),
        Place::PendingIssue if !stands_as_written(comment, author) => ignored(Why::EditedByOther),
        Place::PendingIssue => read_words(comment.body.as_deref().unwrap_or_default()),
    }
}

/// People with write access can edit an owner's comment: only the author's own edits leave it the author's word.
fn stands_as_written(comment: &Comment, author: &Speaker) -> bool {
    match &comment.edit {
        Edit::Never => true,
        Edit::By(editor) => match (editor.id, author.id) {
            (Some(editor), Some(author)) => editor == author,
            (None, None) => editor.login.eq_ignore_ascii_case(&author.login),
            (Some(_), None) | (None, Some(_)) => false,
        },
        Edit::Unknown => false,
    }
}

fn read_words(body: &str) -> Read {
    let Some(Words {
        commands,
        near,
        approve_lines,
        approve_alone,
        said_only,
    }) = words(body)
    else {
        return Read::new(Reading::Ignored, Why::TooLong);
    };
    let clarify = |why| Read::new(Reading::Clarify, why);
    if approve_alone {
        return Read::new(Reading::ApproveA, Why::Checkpoint);
    }
    if near {
        return clarify(Why::NearCommand);
    }
    match commands.split_first() {
        Some((first, rest)) if approve_lines > 0 || rest.iter().any(|other| other != first) => {
            clarify(Why::SeveralCommands)
        }
        Some((only, _)) => Read::new(*only, Why::Command),
        None if approve_lines > 0 => clarify(Why::ApproveNotAlone),
        None if said_only.is_some_and(|text| is_assent(&text)) => clarify(Why::Assent),
        None => Read::new(Reading::Ignored, Why::NoCommand),
    }
}
