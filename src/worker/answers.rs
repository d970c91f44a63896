//! Reads what the owners said about a D: comments, reactions, pressed buttons.
//!
//! Reads only; [`crate::inbox::resolve`] decides. INVARIANT: an Issue that cannot be read whole is an error, never
//! a ballot without answers; who edited a comment is known from a delivery or not at all.

use super::{Bench, WorkError};
use crate::domain::{
    CommentEdit, CommentEffect, CommentMode, Effect, InboxMemory, IssueKind, IssueNumber, IssueRef,
    PullNumber, PullState, RepoRef, Sha, Timestamp,
};
use crate::github::{self, ApiError, IssueView};
use crate::inbox::{
    self, Ballot, Edit, MarkerError, Place, Reaction, Resolution, Resolved, Sealed, Signal,
    Unhonoured,
};
use crate::plan::{self, labels, render};
use crate::policy::Policy;
use sha2::{Digest, Sha256};

/// What was heard.
#[derive(Default)]
pub(super) struct Heard {
    /// What the signals say; `None`: there is nothing that could be answered yet.
    pub(super) resolution: Option<Resolution>,
    /// Digest of what the Issue showed.
    pub(super) shown: Option<String>,
    /// The Issue is gone.
    pub(super) lost: bool,
    /// The Issue was closed by a person.
    pub(super) closed_by_hand: bool,
}

/// The question that the signals are about.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) repo: &'a RepoRef,
    pub(super) number: PullNumber,
    /// The head of now.
    pub(super) head: &'a Sha,
}

/// An Issue with all that was said on it.
struct Said {
    view: IssueView,
    seal: Result<Sealed, MarkerError>,
    signals: Vec<Signal>,
}

impl Bench {
    /// Reads the signals on the ballot of a D. One to three calls where there is a ballot, none where there is none.
    pub(super) async fn hear(
        &self,
        question: Question<'_>,
        prior: Option<&PullState>,
        policy: &Policy,
    ) -> Result<Heard, WorkError> {
        let Some(prior) = prior.filter(|prior| !prior.closed) else {
            return Ok(Heard::default());
        };
        let open = prior
            .issue
            .as_ref()
            .filter(|issue| issue.kind == IssueKind::PendingOwner);
        let ended = prior.inbox.ballot.as_ref().filter(|_| open.is_none());
        let mut heard = Heard::default();
        let said = match open.or(ended) {
            Some(issue) => self.said(question, issue).await?,
            None => None,
        };
        heard.lost = open.is_some() && said.is_none();
        let mut signals = self.presses(question, prior).await?;
        if let Some(said) = &said {
            heard.shown = Some(shown(&said.view));
            heard.closed_by_hand = open.is_some() && !said.view.open;
            // What is said on a question that a person has closed counts once it is opened again.
            let until = said.view.closed_at.filter(|_| heard.closed_by_hand);
            signals.extend(
                said.signals
                    .iter()
                    .filter(|signal| until.is_none_or(|until| at(signal) <= until))
                    .cloned(),
            );
        }
        let asked = said.is_some() || ended.is_some() || prior.inbox.asked.is_some();
        if asked {
            let ballot = match &said {
                Some(said) => Ballot::Issue(&said.seal),
                None => Ballot::CheckRunOnly,
            };
            let resolution = inbox::resolve(&signals, &policy.owners, ballot, question.head);
            self.report(&resolution, &prior.inbox);
            heard.resolution = Some(resolution);
        }
        Ok(heard)
    }

    fn report(&self, resolution: &Resolution, before: &InboxMemory) {
        for login in &resolution.impostors {
            tracing::error!(%login, "an owner's login was used by another account; its answer does not count");
        }
        let new = resolution.ignored.saturating_sub(before.ignored);
        if new > 0 {
            tracing::info!(new, "answers of people who may not answer");
            self.metrics.answers_ignored(new as u64);
        }
    }

    /// What stands on an Issue of ours; `None` when it is gone: deleted, or moved to another place.
    async fn said(
        &self,
        question: Question<'_>,
        issue: &IssueRef,
    ) -> Result<Option<Said>, WorkError> {
        let view = match self.github.issue(&issue.repo, issue.number).await {
            Ok(view) if view.number == issue.number => view,
            Ok(_moved) => return Ok(None),
            Err(ApiError::Gone { status, .. }) => {
                tracing::warn!(issue = %issue.number, repo = %issue.repo.name, status, "the Issue is gone; it is asked again");
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let seal = inbox::verify(
            &view.body,
            &self.receipt_key,
            question.repo.id,
            question.number,
            issue.nonce.as_deref(),
        );
        let mut signals = Vec::new();
        if view.comments > 0 {
            let edits = self
                .store
                .comment_edits(issue.repo.id, issue.number)
                .await?;
            let comments = self.github.comments(&issue.repo, issue.number).await?;
            signals.extend(
                comments
                    .into_iter()
                    .map(|comment| as_signal(comment, &edits)),
            );
        }
        if view.reactions.is_none_or(|(up, down, _)| up + down > 0) {
            let reactions = self.github.reactions(&issue.repo, issue.number).await?;
            signals.extend(reactions.into_iter().map(|reaction| Signal::Reaction {
                id: reaction.id,
                reaction: Reaction::from_content(&reaction.content),
                by: reaction.account.map(Into::into),
                at: reaction.created_at,
            }));
        }
        Ok(Some(Said {
            view,
            seal,
            signals,
        }))
    }

    /// A word on a question that is closed because another head, or another base, has taken its place: it is told
    /// once that it does not count.
    pub(super) async fn late_word(
        &self,
        pull: &PullState,
        repo: &RepoRef,
        number: IssueNumber,
    ) -> Result<(), WorkError> {
        let policy = self.policy();
        let question = Question {
            repo: &pull.repo,
            number: pull.number,
            head: &pull.head_sha,
        };
        let issue = IssueRef {
            repo: repo.clone(),
            number,
            kind: IssueKind::PendingOwner,
            key: format!("{}/{}/late/{number}", pull.repo.id, pull.number),
            head_sha: pull.head_sha.clone(),
            nonce: None,
            opened_at: pull.head_since,
        };
        let Some(said) = self.said(question, &issue).await? else {
            return Ok(());
        };
        let ballot = Ballot::Issue(&said.seal);
        let heard = inbox::resolve(&said.signals, &policy.owners, ballot, question.head);
        let Resolved::Refused {
            why: Unhonoured::Stale { asked },
            ..
        } = heard.outcome
        else {
            return Ok(());
        };
        let label = labels::STALE_APPROVAL;
        let body = render::stale_approval(&asked, question.head, &issue.key, policy.inbox.language);
        let effects = [
            Effect::EnsureLabel {
                repo: repo.clone(),
                label: label.spec(),
            },
            Effect::AddLabels {
                repo: repo.clone(),
                number,
                labels: vec![label.name.to_owned()],
            },
            Effect::Comment(CommentEffect {
                repo: repo.clone(),
                number,
                body,
                key: issue.key,
                mode: CommentMode::Once,
            }),
        ];
        if said.view.labels.iter().any(|name| name == label.name) {
            return Ok(());
        }
        for effect in &effects {
            self.github.apply(effect).await?;
        }
        Ok(())
    }

    /// The buttons that were pressed since the present question stands on the check-run.
    async fn presses(
        &self,
        question: Question<'_>,
        prior: &PullState,
    ) -> Result<Vec<Signal>, WorkError> {
        let asked_at = prior.inbox.asked.as_ref().and_then(|asked| asked.at);
        let Some(asked_at) = asked_at else {
            return Ok(Vec::new());
        };
        let check_run = plan::check_run_key(question.repo.id, question.number, question.head);
        let presses = self.store.presses(&check_run).await?;
        Ok(presses
            .into_iter()
            .filter(|press| press.at >= asked_at)
            .map(|press| Signal::Button {
                delivery: press.delivery.as_str().to_owned(),
                identifier: press.identifier,
                by: Some(press.by.into()),
                at: press.at,
                head: question.head.clone(),
            })
            .collect())
    }
}

fn as_signal(comment: github::Comment, edits: &[CommentEdit]) -> Signal {
    Signal::Comment {
        id: comment.id,
        created_at: comment.created_at,
        updated_at: comment.updated_at,
        comment: inbox::Comment {
            edit: edit(&comment, edits),
            body: Some(comment.body),
            author: comment.author.map(Into::into),
            on: Place::PendingIssue,
        },
    }
}

/// Who made the last edit. GitHub's times are seconds: of several editors in one second the one who is not the author
/// counts, and an edit within the second of the comment's making is known from its delivery alone.
fn edit(comment: &github::Comment, edits: &[CommentEdit]) -> Edit {
    let author = comment.author.as_ref().map(|author| author.id);
    let mut last = edits
        .iter()
        .filter(|edit| edit.comment == comment.id && edit.updated_at == comment.updated_at)
        .map(|edit| &edit.by);
    let own = last.clone().find(|by| Some(by.id) == author);
    match (last.find(|by| Some(by.id) != author), own) {
        (Some(other), _) => Edit::By(other.clone().into()),
        (None, Some(own)) => Edit::By(own.clone().into()),
        (None, None) if comment.updated_at > comment.created_at => Edit::Unknown,
        (None, None) => Edit::Never,
    }
}

fn at(signal: &Signal) -> Timestamp {
    match signal {
        Signal::Comment { updated_at, .. } => *updated_at,
        Signal::Reaction { at, .. } | Signal::Button { at, .. } => *at,
    }
}

/// Digest of everything on an Issue that can change what its answers are.
pub(crate) fn shown(view: &IssueView) -> String {
    let (up, down, all) = view.reactions.unwrap_or_default();
    let mut digest = Sha256::new();
    for part in [
        view.body.as_str(),
        &view.updated_at,
        &format!(
            "{} {} {up} {down} {all}",
            u8::from(view.open),
            view.comments
        ),
    ] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    hex::encode(digest.finalize())
}
