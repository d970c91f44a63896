//! Which of many signals counts: the newest, by GitHub's own time.
//!
//! INVARIANT: [`Answer`] has private members and is built here alone, after who, what, where and which head have been
//! checked. Of two signals of the same moment the more careful one counts.

use super::marker::{MarkerError, Sealed};
use super::owners::{Speaker, Standing, standing};
use super::reading::{Comment, Reading, Why, read};
use crate::domain::{Choice, CommentId, Sha, Timestamp};
use crate::policy::Owners;
use std::fmt;

/// Something that may be an answer. What was deleted is not passed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// A comment on the Issue.
    Comment {
        /// Its id.
        id: CommentId,
        /// What it is.
        comment: Comment,
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
    },
    /// A reaction to the Issue's body.
    Reaction {
        /// Its id.
        id: u64,
        /// Which.
        reaction: Reaction,
        /// Whose; `None` when the account is gone.
        by: Option<Speaker>,
        /// When.
        at: Timestamp,
    },
    /// A button of the check-run.
    Button {
        /// The delivery that told of it.
        delivery: String,
        /// The button's identifier.
        identifier: String,
        /// The sender.
        by: Option<Speaker>,
        /// When it was received: GitHub gives no time of its own.
        at: Timestamp,
        /// The commit of the check-run.
        head: Sha,
    },
}

/// A reaction as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// 👍
    Up,
    /// 👎
    Down,
    /// Any other.
    Other,
}

impl Reaction {
    /// From GitHub's `content`.
    #[must_use]
    pub fn from_content(content: &str) -> Self {
        match content {
            "+1" => Self::Up,
            "-1" => Self::Down,
            _ => Self::Other,
        }
    }
}

/// Where a signal came from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SignalId {
    /// A comment.
    Comment(CommentId),
    /// A reaction.
    Reaction(u64),
    /// A button, by its delivery.
    Button(String),
}

impl fmt::Display for SignalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Comment(id) => write!(f, "comment/{id}"),
            Self::Reaction(id) => write!(f, "reaction/{id}"),
            Self::Button(delivery) => write!(f, "button/{delivery}"),
        }
    }
}

/// An owner's answer that may be acted upon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    choice: Choice,
    by: Speaker,
    from: SignalId,
    at: Timestamp,
    head: Sha,
    nonce: Option<String>,
}

impl Answer {
    /// What was answered.
    #[must_use]
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// Who answered.
    #[must_use]
    pub fn by(&self) -> &Speaker {
        &self.by
    }

    /// Where it came from.
    #[must_use]
    pub fn from(&self) -> &SignalId {
        &self.from
    }

    /// When, by GitHub's clock.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// The head it covers.
    #[must_use]
    pub fn head(&self) -> &Sha {
        &self.head
    }

    /// The nonce of the ballot; none for a button where there is no Issue.
    #[must_use]
    pub fn nonce(&self) -> Option<&str> {
        self.nonce.as_deref()
    }

    /// The signal and what it said: the same key is honoured once, whatever is redelivered or edited around it.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}/{}", self.from, self.choice.as_str())
    }
}

/// The ballot that is open.
#[derive(Debug, Clone, Copy)]
pub enum Ballot<'a> {
    /// An Issue, with what checking its seal gave.
    Issue(&'a Result<Sealed, MarkerError>),
    /// No Issue could be opened: only the check-run's buttons answer.
    CheckRunOnly,
}

/// What all signals together say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The answer, or why there is none.
    pub outcome: Resolved,
    /// Comments of owners that need the clarification, oldest first. Whoever answers does so once a comment.
    pub clarify: Vec<Clarification>,
    /// Logins of owners used by accounts with other ids: to be reported loudly.
    pub impostors: Vec<String>,
    /// Signals of people who may not answer.
    pub ignored: usize,
}

/// A comment that is to be answered with the exact answers that count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clarification {
    /// The comment.
    pub comment: CommentId,
    /// What was wrong with it.
    pub why: Why,
}

/// Which answer counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// No owner answered, or the newest word is unclear.
    Nothing,
    /// This one.
    Answer(Answer),
    /// There is one that must not be honoured.
    Refused {
        /// What was answered.
        choice: Choice,
        /// Where.
        from: SignalId,
        /// Why it does not count.
        why: Unhonoured,
    },
}

/// Why an owner's answer is not honoured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unhonoured {
    /// The ballot's seal does not hold.
    #[error("{0}")]
    Integrity(MarkerError),
    /// It was about another head.
    #[error("the answer is about {asked}, the head is another by now")]
    Stale {
        /// The head it was about.
        asked: Sha,
    },
    /// A comment or reaction without a ballot.
    #[error("there is no open ballot to answer")]
    NoBallot,
}

/// An owner's word with its place in time.
struct Heard<'a> {
    word: Word,
    by: &'a Speaker,
    from: SignalId,
    at: Timestamp,
    head: Option<&'a Sha>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Says(Choice),
    Unclear,
}

impl Word {
    /// Of the same moment, the more careful word counts.
    fn care(self) -> u8 {
        match self {
            Self::Says(Choice::Reject) => 4,
            Self::Unclear => 3,
            Self::Says(Choice::Defer) => 2,
            Self::Says(Choice::ApproveB) => 1,
            Self::Says(Choice::ApproveA) => 0,
        }
    }
}

/// Finds the answer that counts among all signals on one ballot. `head` is the head of the pull request now.
#[must_use]
pub fn resolve(signals: &[Signal], owners: &Owners, ballot: Ballot<'_>, head: &Sha) -> Resolution {
    let mut resolution = Resolution {
        outcome: Resolved::Nothing,
        clarify: Vec::new(),
        impostors: Vec::new(),
        ignored: 0,
    };
    let mut words: Vec<Heard<'_>> = signals
        .iter()
        .filter_map(|signal| hear(signal, owners, &mut resolution))
        .collect();
    words.sort_by_key(|heard| std::cmp::Reverse((heard.at, heard.word.care())));
    resolution.outcome = newest(&words, ballot, head);
    resolution
}

fn newest(words: &[Heard<'_>], ballot: Ballot<'_>, head: &Sha) -> Resolved {
    let mut refused = Resolved::Nothing;
    let newest_at = words.first().map(|first| first.at);
    for word in words {
        let choice = match word.word {
            Word::Says(choice) => choice,
            Word::Unclear => return refused,
        };
        match honour(word, choice, ballot, head) {
            Ok(answer) => {
                // Two different approvals of the same moment: which one, nobody can say.
                let rival = Word::Says(match choice {
                    Choice::ApproveB => Choice::ApproveA,
                    Choice::ApproveA | Choice::Defer | Choice::Reject => choice,
                });
                let torn = rival != word.word
                    && words
                        .iter()
                        .any(|other| other.word == rival && Some(other.at) == newest_at);
                return if torn {
                    refused
                } else {
                    Resolved::Answer(answer)
                };
            }
            Err(why) => {
                let passed_over =
                    choice != Choice::Reject && matches!(why, Unhonoured::Stale { .. });
                let refusal = Resolved::Refused {
                    choice,
                    from: word.from.clone(),
                    why,
                };
                if !passed_over {
                    return refusal;
                }
                // An approval of an older head neither approves nor takes back what was said about this one.
                if refused == Resolved::Nothing {
                    refused = refusal;
                }
            }
        }
    }
    refused
}

fn honour(
    word: &Heard<'_>,
    choice: Choice,
    ballot: Ballot<'_>,
    head: &Sha,
) -> Result<Answer, Unhonoured> {
    let (asked, nonce) = match (word.head, ballot) {
        (Some(check_run), _) => (check_run, None),
        (None, Ballot::Issue(Ok(sealed))) => (sealed.head(), Some(sealed.nonce().to_owned())),
        (None, Ballot::Issue(Err(error))) => return Err(Unhonoured::Integrity(*error)),
        (None, Ballot::CheckRunOnly) => return Err(Unhonoured::NoBallot),
    };
    if asked != head {
        return Err(Unhonoured::Stale {
            asked: asked.clone(),
        });
    }
    Ok(Answer {
        choice,
        by: word.by.clone(),
        from: word.from.clone(),
        at: word.at,
        head: head.clone(),
        nonce,
    })
}

/// An owner's word, or `None`; what is to be told beside it goes into the resolution.
fn hear<'a>(signal: &'a Signal, owners: &Owners, resolution: &mut Resolution) -> Option<Heard<'a>> {
    match signal {
        Signal::Comment {
            id,
            comment,
            created_at,
            updated_at,
        } => {
            let by = comment.author.as_ref()?;
            let read = read(comment, owners);
            let word = match read.reading {
                Reading::ApproveA | Reading::ApproveB | Reading::Defer | Reading::Reject => {
                    Word::Says(read.reading.choice()?)
                }
                Reading::Clarify => {
                    resolution.clarify.push(Clarification {
                        comment: *id,
                        why: read.why,
                    });
                    // "Thanks, go ahead" after an answer changes nothing; a muddled command does.
                    if read.why == Why::Assent {
                        return None;
                    }
                    Word::Unclear
                }
                Reading::Ignored | Reading::OwnerCommented => {
                    note_ignored(read.why, by, resolution);
                    return None;
                }
            };
            // An edit never makes an approval newer than a rejection that came after it was first written.
            let at = match word {
                Word::Says(Choice::ApproveA | Choice::ApproveB) => *created_at,
                Word::Says(Choice::Defer | Choice::Reject) | Word::Unclear => {
                    (*created_at).max(*updated_at)
                }
            };
            Some(Heard {
                word,
                by,
                from: SignalId::Comment(*id),
                at,
                head: None,
            })
        }
        Signal::Reaction {
            id,
            reaction,
            by,
            at,
        } => {
            let choice = match reaction {
                Reaction::Up => Choice::ApproveA,
                Reaction::Down => Choice::Reject,
                Reaction::Other => return None,
            };
            let by = owner(by.as_ref(), owners, resolution)?;
            Some(Heard {
                word: Word::Says(choice),
                by,
                from: SignalId::Reaction(*id),
                at: *at,
                head: None,
            })
        }
        Signal::Button {
            delivery,
            identifier,
            by,
            at,
            head,
        } => {
            let choice = match identifier.as_str() {
                "approve" => Choice::ApproveA,
                "defer" => Choice::Defer,
                "reject" => Choice::Reject,
                _ => return None,
            };
            let by = owner(by.as_ref(), owners, resolution)?;
            Some(Heard {
                word: Word::Says(choice),
                by,
                from: SignalId::Button(delivery.clone()),
                at: *at,
                head: Some(head),
            })
        }
    }
}

fn owner<'a>(
    by: Option<&'a Speaker>,
    owners: &Owners,
    resolution: &mut Resolution,
) -> Option<&'a Speaker> {
    let by = by?;
    let why = match standing(owners, by) {
        Standing::Owner => return Some(by),
        Standing::NotAPerson => Why::NotAPerson,
        Standing::Stranger => Why::Stranger,
        Standing::Impostor => Why::Impostor,
    };
    note_ignored(why, by, resolution);
    None
}

fn note_ignored(why: Why, by: &Speaker, resolution: &mut Resolution) {
    match why {
        Why::Stranger | Why::NotAPerson | Why::EditedByOther => resolution.ignored += 1,
        Why::Impostor => {
            resolution.ignored += 1;
            resolution.impostors.push(by.login.clone());
        }
        Why::Command
        | Why::Checkpoint
        | Why::NearCommand
        | Why::SeveralCommands
        | Why::ApproveNotAlone
        | Why::Assent
        | Why::NoCommand
        | Why::TooLong
        | Why::NoAuthor
        | Why::OwnerWord => {}
    }
}
