//! Issues, comments and labels as a test sees them.

use crate::{
    FakeGitHub,
    model::{Time, World, issue::Issue},
};

/// An Issue as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueSeen {
    /// Its number.
    pub number: u64,
    /// One line.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// Who opened it.
    pub author: String,
    /// Labels that are set.
    pub labels: Vec<String>,
    /// Is it open?
    pub open: bool,
    /// Why it was closed.
    pub state_reason: Option<String>,
    /// When it was opened.
    pub created_at: Time,
    /// Its comments, oldest first.
    pub comments: Vec<CommentSeen>,
}

/// A comment as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentSeen {
    /// Its id.
    pub id: u64,
    /// Who wrote it.
    pub author: String,
    /// Markdown.
    pub body: String,
    /// Who edited it last; GitHub's REST answers do not tell, the webhook does.
    pub last_editor: Option<String>,
    /// When it was written.
    pub created_at: Time,
    /// When it was edited.
    pub updated_at: Time,
}

fn comments(world: &World, issue: &Issue) -> Vec<CommentSeen> {
    let seen = issue.comments.iter().map(|comment| CommentSeen {
        id: comment.id,
        author: world.login(comment.author),
        body: comment.body.clone(),
        last_editor: comment.last_editor.map(|id| world.login(id)),
        created_at: comment.created_at,
        updated_at: comment.updated_at,
    });
    seen.collect()
}

fn seen(world: &World, issue: &Issue) -> IssueSeen {
    IssueSeen {
        number: issue.number,
        title: issue.title.clone(),
        body: issue.body.clone().unwrap_or_default(),
        author: world.login(issue.author),
        labels: issue.labels.clone(),
        open: issue.open,
        state_reason: issue.state_reason.clone(),
        created_at: issue.created_at,
        comments: comments(world, issue),
    }
}

impl FakeGitHub {
    /// Issues proper (no pull requests), oldest first.
    #[track_caller]
    pub fn issues(&self, repo: &str) -> Vec<IssueSeen> {
        self.in_repo(repo, |world, id| {
            let issues = world.repo(id)?.issues.values();
            Ok(issues
                .filter(|issue| issue.pull.is_none())
                .map(|issue| seen(world, issue))
                .collect())
        })
    }

    /// The open ones among [`issues`](Self::issues).
    #[track_caller]
    pub fn open_issues(&self, repo: &str) -> Vec<IssueSeen> {
        let mut all = self.issues(repo);
        all.retain(|issue| issue.open);
        all
    }

    /// An Issue, or what a pull request shares with it.
    #[track_caller]
    pub fn issue(&self, repo: &str, number: u64) -> IssueSeen {
        self.in_repo(repo, |world, id| Ok(seen(world, world.issue(id, number)?)))
    }

    /// Comments on an Issue or pull request, oldest first.
    #[track_caller]
    pub fn comments(&self, repo: &str, number: u64) -> Vec<CommentSeen> {
        self.issue(repo, number).comments
    }

    /// Labels on an Issue or pull request.
    #[track_caller]
    pub fn labels(&self, repo: &str, number: u64) -> Vec<String> {
        self.issue(repo, number).labels
    }

    /// Who reacted how to an Issue: login and content.
    #[track_caller]
    pub fn reactions(&self, repo: &str, number: u64) -> Vec<(String, String)> {
        self.in_repo(repo, |world, id| {
            let held = &world.issue(id, number)?.reactions;
            Ok(held
                .iter()
                .map(|reaction| (world.login(reaction.user), reaction.content.clone()))
                .collect())
        })
    }
}
