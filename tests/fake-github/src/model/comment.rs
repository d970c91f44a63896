//! Comments on Issues and pull requests. An edit keeps `created_at`; who edited shows only in the webhook.

use super::{Time, World, issue::check_body, reaction::Reaction};
use crate::refusal::Refusal;
use serde_json::json;

#[derive(Debug, Clone)]
pub(crate) struct Comment {
    pub(crate) id: u64,
    pub(crate) author: u64,
    pub(crate) body: String,
    pub(crate) created_at: Time,
    pub(crate) updated_at: Time,
    /// Known to the stand-in only; GitHub's REST answers do not tell.
    pub(crate) last_editor: Option<u64>,
    pub(crate) reactions: Vec<Reaction>,
}

impl World {
    /// The number and comment of an id.
    pub(crate) fn comment(&self, repo: u64, id: u64) -> Result<(u64, &Comment), Refusal> {
        let issues = self.repo(repo)?.issues.values();
        let mut found =
            issues.flat_map(|issue| issue.comments.iter().map(|comment| (issue.number, comment)));
        found
            .find(|(_, comment)| comment.id == id)
            .ok_or_else(Refusal::not_found)
    }

    fn comment_mut(&mut self, repo: u64, id: u64) -> Result<&mut Comment, Refusal> {
        let issues = self.repo_mut(repo)?.issues.values_mut();
        issues
            .flat_map(|issue| issue.comments.iter_mut())
            .find(|comment| comment.id == id)
            .ok_or_else(Refusal::not_found)
    }

    pub(crate) fn add_comment(
        &mut self,
        repo: u64,
        number: u64,
        body: &str,
        author: u64,
    ) -> Result<u64, Refusal> {
        self.writable(repo)?;
        if self.issue(repo, number)?.pull.is_none() {
            self.issues_enabled(repo)?;
        }
        check_body("IssueComment", body)?;
        if body.trim().is_empty() {
            return Err(Refusal::field("IssueComment", "body", "missing_field"));
        }
        let locked_out = self.issue(repo, number)?.locked
            && matches!(self.permission_of(repo, author)?.0, "read" | "none");
        if locked_out && self.app_of_bot(author).is_none() {
            return Err(Refusal::new(
                403,
                "Unable to create comment because issue is locked.",
            ));
        }
        let (id, now) = (self.ids.comment(), self.now());
        let issue = self.issue_mut(repo, number)?;
        issue.updated_at = now;
        issue.comments.push(Comment {
            id,
            author,
            body: body.into(),
            created_at: now,
            updated_at: now,
            last_editor: None,
            reactions: Vec::new(),
        });
        self.announce_comment(repo, id, "created", author, json!({}))?;
        Ok(id)
    }

    pub(crate) fn edit_comment(
        &mut self,
        repo: u64,
        id: u64,
        body: &str,
        editor: u64,
    ) -> Result<(), Refusal> {
        self.writable(repo)?;
        check_body("IssueComment", body)?;
        let now = self.now();
        let comment = self.comment_mut(repo, id)?;
        let before = std::mem::replace(&mut comment.body, body.into());
        comment.updated_at = now;
        comment.last_editor = Some(editor);
        self.announce_comment(
            repo,
            id,
            "edited",
            editor,
            json!({"changes": {"body": {"from": before}}}),
        )
    }

    pub(crate) fn delete_comment(&mut self, repo: u64, id: u64, actor: u64) -> Result<(), Refusal> {
        self.writable(repo)?;
        self.announce_comment(repo, id, "deleted", actor, json!({}))?;
        for issue in self.repo_mut(repo)?.issues.values_mut() {
            issue.comments.retain(|comment| comment.id != id);
        }
        Ok(())
    }

    pub(crate) fn react_to_comment(
        &mut self,
        repo: u64,
        id: u64,
        content: &str,
        user: u64,
    ) -> Result<(Reaction, bool), Refusal> {
        self.comment(repo, id)?;
        let fresh = self.new_reaction(content, user)?;
        Ok(super::reaction::put(
            &mut self.comment_mut(repo, id)?.reactions,
            fresh,
        ))
    }

    fn announce_comment(
        &mut self,
        repo: u64,
        id: u64,
        action: &str,
        actor: u64,
        extra: serde_json::Value,
    ) -> Result<(), Refusal> {
        let (number, comment) = self.comment(repo, id)?;
        let mut body = json!({
            "issue": self.issue_json(repo, number),
            "comment": self.comment_json(repo, number, comment),
        });
        super::issue::merge(&mut body, extra);
        self.announce(repo, "issue_comment", Some(action), actor, body);
        Ok(())
    }
}
