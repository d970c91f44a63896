//! Issues, and what pull requests share with them: labels, comments, reactions, the history of events.

use super::{Time, World, comment::Comment, pull::Pull, reaction::Reaction};
use crate::refusal::Refusal;
use serde_json::{Value, json};

/// GitHub's limit for the body of an Issue or comment, in characters as its database counts them: bytes.
pub(crate) const MAX_BODY: usize = 65_536;

#[derive(Debug)]
pub(crate) struct Issue {
    pub(crate) id: u64,
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) body: Option<String>,
    pub(crate) author: u64,
    pub(crate) labels: Vec<String>,
    pub(crate) open: bool,
    pub(crate) state_reason: Option<String>,
    pub(crate) locked: bool,
    pub(crate) created_at: Time,
    pub(crate) updated_at: Time,
    pub(crate) closed_at: Option<Time>,
    pub(crate) closed_by: Option<u64>,
    pub(crate) comments: Vec<Comment>,
    pub(crate) reactions: Vec<Reaction>,
    pub(crate) events: Vec<Event>,
    pub(crate) pull: Option<Pull>,
}

/// One entry of the history.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) id: u64,
    pub(crate) kind: String,
    pub(crate) actor: u64,
    pub(crate) at: Time,
    /// The label, for `labeled` and `unlabeled`; the commit, for `committed` and `merged`.
    pub(crate) detail: Option<String>,
}

/// What to change; `None` leaves it.
#[derive(Debug, Default)]
pub(crate) struct IssueEdit {
    pub(crate) title: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) open: Option<bool>,
    pub(crate) state_reason: Option<String>,
    pub(crate) labels: Option<Vec<String>>,
}

pub(crate) fn check_body(resource: &str, body: &str) -> Result<(), Refusal> {
    if body.len() > MAX_BODY {
        let mut refusal = Refusal::invalid("Validation Failed");
        let message = format!("body is too long (maximum is {MAX_BODY} characters)");
        refusal.errors = Some(
            json!([{"resource": resource, "code": "custom", "field": "body", "message": message}]),
        );
        return Err(refusal);
    }
    Ok(())
}

impl World {
    /// An Issue or pull request; 410 when it was deleted.
    pub(crate) fn issue(&self, repo: u64, number: u64) -> Result<&Issue, Refusal> {
        let held = self.repo(repo)?;
        held.issues.get(&number).ok_or_else(|| {
            if held.gone.contains(&number) {
                Refusal::new(410, "This issue was deleted")
            } else {
                Refusal::not_found()
            }
        })
    }

    /// The same, to be changed.
    pub(crate) fn issue_mut(&mut self, repo: u64, number: u64) -> Result<&mut Issue, Refusal> {
        self.issue(repo, number)?;
        self.repo_mut(repo)?
            .issues
            .get_mut(&number)
            .ok_or_else(Refusal::not_found)
    }

    /// Issues proper need the repository to have them switched on; pull requests do not.
    pub(crate) fn issues_enabled(&self, repo: u64) -> Result<(), Refusal> {
        if self.repo(repo)?.has_issues {
            Ok(())
        } else {
            Err(Refusal::new(
                410,
                "Issues has been disabled in this repository.",
            ))
        }
    }

    pub(crate) fn new_issue(
        &mut self,
        repo: u64,
        title: &str,
        body: Option<&str>,
        author: u64,
        pull: Option<Pull>,
    ) -> Result<u64, Refusal> {
        let (id, now) = (self.ids.issue(), self.now());
        let held = self.repo_mut(repo)?;
        let number = held.next_number;
        held.next_number += 1;
        held.issues.insert(
            number,
            Issue {
                id,
                number,
                title: title.into(),
                body: body.map(Into::into),
                author,
                labels: Vec::new(),
                open: true,
                state_reason: None,
                locked: false,
                created_at: now,
                updated_at: now,
                closed_at: None,
                closed_by: None,
                comments: Vec::new(),
                reactions: Vec::new(),
                events: Vec::new(),
                pull,
            },
        );
        Ok(number)
    }

    pub(crate) fn open_issue(
        &mut self,
        repo: u64,
        title: &str,
        body: &str,
        labels: &[String],
        author: u64,
    ) -> Result<u64, Refusal> {
        self.writable(repo)?;
        self.issues_enabled(repo)?;
        check_body("Issue", body)?;
        if title.trim().is_empty() {
            return Err(Refusal::field("Issue", "title", "missing_field"));
        }
        if title.chars().count() > 256 {
            return Err(Refusal::field("Issue", "title", "too_long"));
        }
        let number = self.new_issue(repo, title, Some(body), author, None)?;
        self.announce_issue(repo, number, "opened", author, json!({}))?;
        labels
            .iter()
            .try_for_each(|label| self.add_label(repo, number, label, author))?;
        Ok(number)
    }

    pub(crate) fn edit_issue(
        &mut self,
        repo: u64,
        number: u64,
        edit: &IssueEdit,
        actor: u64,
    ) -> Result<(), Refusal> {
        self.writable(repo)?;
        if self.issue(repo, number)?.pull.is_none() {
            self.issues_enabled(repo)?;
        }
        if let Some(body) = &edit.body {
            check_body("Issue", body)?;
        }
        let now = self.now();
        let issue = self.issue_mut(repo, number)?;
        let mut changes = serde_json::Map::new();
        if let Some(title) = edit.title.as_ref().filter(|title| **title != issue.title) {
            changes.insert("title".into(), json!({"from": issue.title}));
            issue.title.clone_from(title);
        }
        if let Some(body) = edit
            .body
            .as_ref()
            .filter(|body| Some(*body) != issue.body.as_ref())
        {
            changes.insert("body".into(), json!({"from": issue.body}));
            issue.body = Some(body.clone());
        }
        issue.updated_at = now;
        if !changes.is_empty() {
            self.announce_issue(repo, number, "edited", actor, json!({"changes": changes}))?;
        }
        if let Some(labels) = &edit.labels {
            self.replace_labels(repo, number, labels, actor)?;
        }
        match edit.open {
            Some(open) => {
                self.set_issue_state(repo, number, open, edit.state_reason.as_deref(), actor)
            }
            None => Ok(()),
        }
    }

    pub(crate) fn set_issue_state(
        &mut self,
        repo: u64,
        number: u64,
        open: bool,
        reason: Option<&str>,
        actor: u64,
    ) -> Result<(), Refusal> {
        self.writable(repo)?;
        let now = self.now();
        let issue = self.issue_mut(repo, number)?;
        if issue.open == open {
            return Ok(());
        }
        if open
            && issue
                .pull
                .as_ref()
                .is_some_and(|pull| pull.merged_at.is_some())
        {
            return Err(Refusal::invalid("Validation Failed"));
        }
        issue.open = open;
        issue.updated_at = now;
        issue.closed_at = (!open).then_some(now);
        issue.closed_by = (!open).then_some(actor);
        if issue.pull.is_none() {
            let fallback = if open { "reopened" } else { "completed" };
            issue.state_reason = Some(reason.unwrap_or(fallback).into());
        }
        let action = if open { "reopened" } else { "closed" };
        self.note(repo, number, action, actor, None)?;
        self.announce_issue(repo, number, action, actor, json!({}))
    }

    pub(crate) fn delete_issue(
        &mut self,
        repo: u64,
        number: u64,
        actor: u64,
    ) -> Result<(), Refusal> {
        self.announce_issue(repo, number, "deleted", actor, json!({}))?;
        let held = self.repo_mut(repo)?;
        held.issues.remove(&number);
        held.gone.insert(number);
        Ok(())
    }

    /// Moves an Issue; answers its new number. The old number is gone for the App.
    pub(crate) fn transfer_issue(
        &mut self,
        repo: u64,
        number: u64,
        to: u64,
        actor: u64,
    ) -> Result<u64, Refusal> {
        self.issue(repo, number)?;
        let mut issue = self
            .repo_mut(repo)?
            .issues
            .remove(&number)
            .ok_or_else(Refusal::not_found)?;
        let target = self.repo_mut(to)?;
        let moved = target.next_number;
        target.next_number += 1;
        let old = std::mem::replace(&mut issue.number, moved);
        target.issues.insert(moved, issue);
        let new_issue = self.issue_json(to, moved);
        let new_repository = self.repo_json(self.repo(to)?);
        let mut old_issue = new_issue.clone();
        if let Some(members) = old_issue.as_object_mut() {
            members.insert("number".into(), json!(old));
        }
        self.repo_mut(repo)?.gone.insert(old);
        self.announce(repo, "issues", Some("transferred"), actor, json!({
            "issue": old_issue, "changes": {"new_issue": new_issue, "new_repository": new_repository},
        }));
        Ok(moved)
    }

    pub(crate) fn set_locked(
        &mut self,
        repo: u64,
        number: u64,
        locked: bool,
        actor: u64,
    ) -> Result<(), Refusal> {
        self.issue_mut(repo, number)?.locked = locked;
        let action = if locked { "locked" } else { "unlocked" };
        self.note(repo, number, action, actor, None)?;
        self.announce_issue(repo, number, action, actor, json!({}))
    }

    /// Adds to the history.
    pub(crate) fn note(
        &mut self,
        repo: u64,
        number: u64,
        kind: &str,
        actor: u64,
        detail: Option<&str>,
    ) -> Result<(), Refusal> {
        let (id, at) = (self.ids.issue(), self.now());
        let issue = self.issue_mut(repo, number)?;
        issue.updated_at = at;
        issue.events.push(Event {
            id,
            kind: kind.into(),
            actor,
            at,
            detail: detail.map(Into::into),
        });
        Ok(())
    }

    /// `issues` for an Issue, `pull_request` for a pull request.
    pub(crate) fn announce_issue(
        &mut self,
        repo: u64,
        number: u64,
        action: &str,
        actor: u64,
        extra: Value,
    ) -> Result<(), Refusal> {
        let (event, member, seen) = if self.issue(repo, number)?.pull.is_some() {
            ("pull_request", "pull_request", self.pull_json(repo, number))
        } else {
            ("issues", "issue", self.issue_json(repo, number))
        };
        let mut body = json!({member: seen});
        if event == "pull_request"
            && let Some(members) = body.as_object_mut()
        {
            members.insert("number".into(), json!(number));
        }
        merge(&mut body, extra);
        self.announce(repo, event, Some(action), actor, body);
        Ok(())
    }
}

/// Adds the members of one object to another.
pub(crate) fn merge(into: &mut Value, from: Value) {
    if let (Some(into), Value::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}
