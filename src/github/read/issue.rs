//! Issues with their comments and reactions.

use super::{need, of, time};
use crate::domain::{Account, CommentId, IssueNumber, RepoRef, Timestamp};
use crate::github::call::Call;
use crate::github::page::Listing;
use crate::github::path::ApiPath;
use crate::github::{ApiError, GitHub, wire};

/// An Issue as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueView {
    /// Its number.
    pub number: IssueNumber,
    /// Its title.
    pub title: String,
    /// Its text; empty when there is none.
    pub body: String,
    /// Is it open? A word that is new to us counts as closed.
    pub open: bool,
    /// Why it was closed: `completed`, `not_planned`, …
    pub state_reason: Option<String>,
    /// Who opened it; `None` when the account is gone.
    pub author: Option<Account>,
    /// Who closed it, where GitHub says so.
    pub closed_by: Option<Account>,
    /// Names of its labels.
    pub labels: Vec<String>,
    /// Is its conversation locked?
    pub locked: bool,
    /// How many comments it says it has.
    pub comments: u64,
    /// Is it a pull request?
    pub is_pull: bool,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
    /// When anything of it was last changed, as GitHub gives it; reactions do not count as a change.
    pub updated_at: String,
    /// How many reactions it has: 👍, 👎, all. `None` where GitHub does not say.
    pub reactions: Option<(u64, u64, u64)>,
    /// Its page.
    pub html_url: String,
}

/// A comment on an Issue or pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Its id.
    pub id: CommentId,
    /// Who wrote it; `None` when the account is gone.
    pub author: Option<Account>,
    /// Its Markdown.
    pub body: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last edited; equal to `created_at` when it never was. By whom is not said here.
    pub updated_at: Timestamp,
}

/// A reaction to an Issue's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    /// Its id.
    pub id: u64,
    /// Who reacted; `None` when the account is gone.
    pub account: Option<Account>,
    /// `+1`, `-1` or another of GitHub's words.
    pub content: String,
    /// When.
    pub created_at: Timestamp,
}

impl IssueView {
    pub(in crate::github) fn read(
        name: &'static str,
        issue: wire::Issue,
    ) -> Result<Self, ApiError> {
        Ok(Self {
            number: IssueNumber(need(name, issue.number, "number")?),
            title: issue.title.unwrap_or_default(),
            body: issue.body.unwrap_or_default(),
            open: need(name, issue.state, "state")? == "open",
            state_reason: issue.state_reason,
            author: issue.user.and_then(wire::User::account),
            closed_by: issue.closed_by.and_then(wire::User::account),
            labels: issue
                .labels
                .unwrap_or_default()
                .into_iter()
                .filter_map(wire::Label::name)
                .collect(),
            locked: issue.locked.unwrap_or(false),
            comments: issue.comments.unwrap_or(0),
            is_pull: issue.pull_request.is_some(),
            created_at: time(name, issue.created_at, "created_at")?,
            closed_at: issue
                .closed_at
                .map(|at| time(name, Some(at), "closed_at"))
                .transpose()?,
            updated_at: issue.updated_at.unwrap_or_default(),
            reactions: issue
                .reactions
                .and_then(|rollup| Some((rollup.up?, rollup.down?, rollup.total_count?))),
            html_url: issue.html_url.unwrap_or_default(),
        })
    }
}

impl GitHub {
    /// An Issue (or a pull request as one) as it is now. One call.
    pub async fn issue(&self, repo: &RepoRef, number: IssueNumber) -> Result<IssueView, ApiError> {
        const NAME: &str = "GET issue";
        let path = ApiPath::repo(&repo.name).seg("issues").seg(number);
        IssueView::read(NAME, self.json(Call::get(NAME, of(repo), path)).await?)
    }

    /// The open Issues of our own account with this label, pull requests left out. One call for each hundred.
    pub async fn own_open_issues(
        &self,
        repo: &RepoRef,
        label: &str,
    ) -> Result<Vec<IssueView>, ApiError> {
        const NAME: &str = "GET own open issues";
        let bot = self.app().await?.bot_login();
        let listing = Listing {
            name: NAME,
            who: of(repo),
            path: ApiPath::repo(&repo.name)
                .seg("issues")
                .query("creator", &bot)
                .query("labels", label)
                .query("state", "open"),
            expected: None,
        };
        let items = self.list::<Vec<wire::Issue>>(listing).await?.items;
        items
            .into_iter()
            .filter(|issue| issue.pull_request.is_none())
            .map(|issue| IssueView::read(NAME, issue))
            .collect()
    }

    /// All comments, oldest first. One call for each hundred.
    pub async fn comments(
        &self,
        repo: &RepoRef,
        number: IssueNumber,
    ) -> Result<Vec<Comment>, ApiError> {
        const NAME: &str = "GET issue comments";
        let listing = Listing {
            name: NAME,
            who: of(repo),
            path: ApiPath::repo(&repo.name)
                .seg("issues")
                .seg(number)
                .seg("comments"),
            expected: None,
        };
        let items = self.list::<Vec<wire::IssueComment>>(listing).await?.items;
        items
            .into_iter()
            .map(|comment| {
                let created_at = time(NAME, comment.created_at, "created_at")?;
                Ok(Comment {
                    id: CommentId(need(NAME, comment.id, "id")?),
                    author: comment.user.and_then(wire::User::account),
                    body: comment.body.unwrap_or_default(),
                    created_at,
                    updated_at: time(NAME, comment.updated_at, "updated_at")?,
                })
            })
            .collect()
    }

    /// All reactions to an Issue's text, oldest first. One call for each hundred.
    pub async fn reactions(
        &self,
        repo: &RepoRef,
        number: IssueNumber,
    ) -> Result<Vec<Reaction>, ApiError> {
        const NAME: &str = "GET issue reactions";
        let listing = Listing {
            name: NAME,
            who: of(repo),
            path: ApiPath::repo(&repo.name)
                .seg("issues")
                .seg(number)
                .seg("reactions"),
            expected: None,
        };
        let items = self.list::<Vec<wire::Reaction>>(listing).await?.items;
        let mut reactions = items
            .into_iter()
            .map(|reaction| {
                Ok(Reaction {
                    id: need(NAME, reaction.id, "id")?,
                    account: reaction.user.and_then(wire::User::account),
                    content: need(NAME, reaction.content, "content")?,
                    created_at: time(NAME, reaction.created_at, "created_at")?,
                })
            })
            .collect::<Result<Vec<_>, ApiError>>()?;
        reactions.sort_by_key(|reaction| (reaction.created_at, reaction.id));
        Ok(reactions)
    }
}
