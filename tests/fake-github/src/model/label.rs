//! Labels of a repository, and setting and removing them on Issues and pull requests.

use super::{World, repo::Repo};
use crate::refusal::Refusal;
use serde_json::json;

#[derive(Debug, Clone)]
pub(crate) struct Label {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) color: String,
    pub(crate) description: Option<String>,
}

impl Repo {
    pub(crate) fn label(&self, name: &str) -> Option<&Label> {
        self.labels
            .iter()
            .find(|label| label.name.eq_ignore_ascii_case(name))
    }
}

impl World {
    pub(crate) fn create_label(
        &mut self,
        repo: u64,
        name: &str,
        color: Option<&str>,
        description: Option<&str>,
    ) -> Result<Label, Refusal> {
        self.writable(repo)?;
        if self.repo(repo)?.label(name).is_some() {
            return Err(Refusal::field("Label", "name", "already_exists"));
        }
        if name.trim().is_empty() || name.chars().count() > 50 {
            return Err(Refusal::field("Label", "name", "invalid"));
        }
        let color = color.unwrap_or("ededed").to_ascii_lowercase();
        if color.len() != 6 || !color.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Refusal::field("Label", "color", "invalid"));
        }
        if description.is_some_and(|text| text.chars().count() > 100) {
            return Err(Refusal::field("Label", "description", "invalid"));
        }
        let label = Label {
            id: self.ids.small(),
            name: name.into(),
            color,
            description: description.map(Into::into),
        };
        self.repo_mut(repo)?.labels.push(label.clone());
        Ok(label)
    }

    /// Sets a label, creating it in the repository as GitHub does; nothing happens when it is there.
    pub(crate) fn add_label(
        &mut self,
        repo: u64,
        number: u64,
        name: &str,
        actor: u64,
    ) -> Result<(), Refusal> {
        self.writable(repo)?;
        if self.repo(repo)?.label(name).is_none() {
            self.create_label(repo, name, None, None)?;
        }
        let name = self
            .repo(repo)?
            .label(name)
            .map_or_else(|| name.to_owned(), |label| label.name.clone());
        let issue = self.issue_mut(repo, number)?;
        if issue
            .labels
            .iter()
            .any(|present| present.eq_ignore_ascii_case(&name))
        {
            return Ok(());
        }
        issue.labels.push(name.clone());
        self.note(repo, number, "labeled", actor, Some(&name))?;
        self.announce_label(repo, number, "labeled", &name, actor)
    }

    /// 404 when it is not set, as GitHub answers.
    pub(crate) fn remove_label(
        &mut self,
        repo: u64,
        number: u64,
        name: &str,
        actor: u64,
    ) -> Result<(), Refusal> {
        self.writable(repo)?;
        let issue = self.issue_mut(repo, number)?;
        let Some(at) = issue
            .labels
            .iter()
            .position(|present| present.eq_ignore_ascii_case(name))
        else {
            return Err(Refusal::new(404, "Label does not exist"));
        };
        let name = issue.labels.remove(at);
        self.note(repo, number, "unlabeled", actor, Some(&name))?;
        self.announce_label(repo, number, "unlabeled", &name, actor)
    }

    pub(crate) fn replace_labels(
        &mut self,
        repo: u64,
        number: u64,
        names: &[String],
        actor: u64,
    ) -> Result<(), Refusal> {
        let present = self.issue(repo, number)?.labels.clone();
        for name in present
            .iter()
            .filter(|name| !names.iter().any(|wanted| wanted.eq_ignore_ascii_case(name)))
        {
            self.remove_label(repo, number, name, actor)?;
        }
        names
            .iter()
            .try_for_each(|name| self.add_label(repo, number, name, actor))
    }

    fn announce_label(
        &mut self,
        repo: u64,
        number: u64,
        action: &str,
        name: &str,
        actor: u64,
    ) -> Result<(), Refusal> {
        let held = self.repo(repo)?;
        let label = held.label(name).map(|label| self.label_json(held, label));
        self.announce_issue(repo, number, action, actor, json!({"label": label}))
    }
}
