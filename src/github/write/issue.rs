//! Issues opened and closed, pull requests closed.

use super::{Seen, limits, of, refused_or};
use crate::domain::{CommentEffect, IssueNumber, OpenIssueEffect, Outcome, PullNumber, RepoRef};
use crate::github::call::{Call, read_json};
use crate::github::page::next_link;
use crate::github::path::ApiPath;
use crate::github::{ApiError, GitHub, IssueView, wire};
use http::Method;
use serde_json::json;

/// Pages of our newest Issues that are looked through for a key. The store remembers older ones: only what was
/// created around a crash has to be found here.
const PAGES_LOOKED_THROUGH: usize = 5;

impl GitHub {
    /// The Issue with this key: an open one, else a closed one (its key names head and decision, so it was
    /// answered or closed), else a new one. Not looked for on a head that nothing was published on.
    pub(super) async fn open_issue(
        &self,
        wanted: &OpenIssueEffect,
        seen: &Seen,
    ) -> Result<Outcome, ApiError> {
        const NAME: &str = "POST issue";
        if !seen.is_untouched_head()
            && let Some(issue) = self.find_issue(wanted).await?
        {
            return Ok(opened(issue));
        }
        let path = ApiPath::repo(&wanted.repo.name).seg("issues");
        let body = json!({
            "title": limits::chars(&wanted.title, 256),
            "body": limits::keyed(&wanted.body, &wanted.key),
            "labels": wanted.labels,
        });
        let call = Call::write(NAME, of(&wanted.repo), Method::POST, path, Some(body));
        let issue: wire::Issue = self.json(call).await?;
        Ok(opened(IssueView::read(NAME, issue)?))
    }

    async fn find_issue(&self, wanted: &OpenIssueEffect) -> Result<Option<IssueView>, ApiError> {
        const NAME: &str = "GET own issues";
        let bot = self.app().await?.bot_login();
        let marker = limits::marker(&wanted.key);
        // Not by label: an owner's answer changes the labels.
        let mut path = ApiPath::repo(&wanted.repo.name)
            .seg("issues")
            .query("creator", &bot)
            .query("state", "all")
            .query("sort", "created")
            .query("direction", "desc")
            .query("per_page", 100);
        let mut closed = None;
        for _ in 0..PAGES_LOOKED_THROUGH {
            let reply = match self.send(Call::get(NAME, of(&wanted.repo), path)).await {
                Ok(reply) => reply,
                // GitHub's answer while the account has written nothing there.
                Err(ApiError::Unprocessable { .. }) => return Ok(None),
                Err(error) => return Err(error),
            };
            for issue in read_json::<Vec<wire::Issue>>(NAME, &reply)? {
                let issue = IssueView::read(NAME, issue)?;
                let ours = !issue.is_pull && by_bot(issue.author.as_ref(), &bot);
                if ours && issue.body.contains(&marker) {
                    if issue.open {
                        return Ok(Some(issue));
                    }
                    closed.get_or_insert(issue);
                }
            }
            match next_link(&reply) {
                None => break,
                Some(link) => {
                    path = self
                        .same_host(&link)
                        .map_err(|problem| ApiError::unreadable(NAME, problem))?;
                }
            }
        }
        Ok(closed)
    }

    /// Leaves the comment, then closes. A comment that GitHub refuses (a locked conversation) does not keep the
    /// Issue open.
    pub(super) async fn close_issue(
        &self,
        repo: &RepoRef,
        number: IssueNumber,
        comment: Option<&CommentEffect>,
        not_planned: bool,
    ) -> Result<Outcome, ApiError> {
        if let Some(comment) = comment {
            refused_or(self.put_comment(comment).await)?;
        }
        let path = ApiPath::repo(&repo.name).seg("issues").seg(number);
        let reason = if not_planned {
            "not_planned"
        } else {
            "completed"
        };
        let body = json!({"state": "closed", "state_reason": reason});
        let call = Call::write("PATCH issue", of(repo), Method::PATCH, path, Some(body));
        self.send(call).await?;
        Ok(Outcome::Done)
    }

    /// Closes a pull request. One that was merged meanwhile cannot be closed: that is a refusal.
    pub(super) async fn close_pull(
        &self,
        repo: &RepoRef,
        number: PullNumber,
    ) -> Result<Outcome, ApiError> {
        let path = ApiPath::repo(&repo.name).seg("pulls").seg(number);
        let body = json!({"state": "closed"});
        let call = Call::write("PATCH pull", of(repo), Method::PATCH, path, Some(body));
        match self.send(call).await {
            Ok(_) => Ok(Outcome::Done),
            Err(error @ ApiError::Unprocessable { .. }) => Ok(Outcome::Refused {
                reason: error.to_string(),
            }),
            Err(error) => Err(error),
        }
    }
}

/// Was it written by our own account? The login alone can be a person's.
pub(super) fn by_bot(author: Option<&crate::domain::Account>, bot: &str) -> bool {
    author.is_some_and(|author| {
        author.kind == crate::domain::AccountType::Bot && author.login.eq_ignore_ascii_case(bot)
    })
}

fn opened(issue: IssueView) -> Outcome {
    Outcome::Issue {
        number: issue.number,
        opened_at: issue.created_at,
        url: issue.html_url,
    }
}
