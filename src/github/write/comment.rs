//! One comment a key and Issue.

use super::issue::by_bot;
use super::{limits, of};
use crate::domain::{CommentEffect, CommentId, CommentMode, Outcome};
use crate::github::call::Call;
use crate::github::path::ApiPath;
use crate::github::{ApiError, GitHub, wire};
use http::Method;
use serde_json::json;

impl GitHub {
    /// The comment with this key, found among our own by its marker; edited only when its text differs.
    pub(super) async fn put_comment(&self, wanted: &CommentEffect) -> Result<Outcome, ApiError> {
        let bot = self.app().await?.bot_login();
        let marker = limits::marker(&wanted.key);
        let body = limits::keyed(&wanted.body, &wanted.key);
        let standing = self
            .comments(&wanted.repo, wanted.number)
            .await?
            .into_iter()
            .find(|comment| {
                by_bot(comment.author.as_ref(), &bot) && comment.body.contains(&marker)
            });
        let Some(standing) = standing else {
            return self.post_comment(wanted, &body).await;
        };
        match wanted.mode {
            CommentMode::Once => {}
            CommentMode::Edit if same_text(&standing.body, &body) => {}
            CommentMode::Edit => self.edit_comment(wanted, standing.id, &body).await?,
        }
        Ok(Outcome::Comment { id: standing.id })
    }

    async fn post_comment(&self, wanted: &CommentEffect, body: &str) -> Result<Outcome, ApiError> {
        const NAME: &str = "POST comment";
        let path = ApiPath::repo(&wanted.repo.name)
            .seg("issues")
            .seg(wanted.number)
            .seg("comments");
        let body = json!({"body": body});
        let call = Call::write(NAME, of(&wanted.repo), Method::POST, path, Some(body));
        let comment: wire::IssueComment = self.json(call).await?;
        let id = comment
            .id
            .ok_or_else(|| ApiError::unreadable(NAME, "an answer without `id`"))?;
        Ok(Outcome::Comment { id: CommentId(id) })
    }

    async fn edit_comment(
        &self,
        wanted: &CommentEffect,
        id: CommentId,
        body: &str,
    ) -> Result<(), ApiError> {
        let path = ApiPath::repo(&wanted.repo.name)
            .seg("issues")
            .seg("comments")
            .seg(id);
        let body = json!({"body": body});
        let call = Call::write(
            "PATCH comment",
            of(&wanted.repo),
            Method::PATCH,
            path,
            Some(body),
        );
        self.send(call).await.map(drop)
    }
}

/// GitHub gives texts back with other line ends and without blanks at the end.
fn same_text(one: &str, other: &str) -> bool {
    one.replace("\r\n", "\n").trim_end() == other.replace("\r\n", "\n").trim_end()
}
