//! A person at GitHub's pages.

use super::account;
use crate::FakeGitHub;
use crate::model::{World, issue::IssueEdit, merge::Merge};
use crate::refusal::Refusal;

/// Acts as one account; from [`FakeGitHub::as_user`].
#[derive(Clone, Copy)]
pub struct User<'a> {
    github: &'a FakeGitHub,
    id: u64,
}

impl FakeGitHub {
    /// Acts as the account with this login (made when there is none).
    pub fn as_user(&self, login: &str) -> User<'_> {
        let id = self.with(|world| account(world, login));
        User { github: self, id }
    }
}

impl User<'_> {
    #[track_caller]
    fn act<T>(self, repo: &str, run: impl FnOnce(&mut World, u64, u64) -> Result<T, Refusal>) -> T {
        self.github
            .in_repo(repo, |world, id| run(world, id, self.id))
    }

    /// Comments; answers the comment's id.
    #[track_caller]
    pub fn comment(self, repo: &str, number: u64, body: &str) -> u64 {
        self.act(repo, |world, id, me| {
            world.add_comment(id, number, body, me)
        })
    }

    /// Edits a comment, one's own or somebody else's.
    #[track_caller]
    pub fn edit_comment(self, repo: &str, comment: u64, body: &str) {
        self.act(repo, |world, id, me| {
            world.edit_comment(id, comment, body, me)
        });
    }

    /// Deletes a comment.
    #[track_caller]
    pub fn delete_comment(self, repo: &str, comment: u64) {
        self.act(repo, |world, id, me| world.delete_comment(id, comment, me));
    }

    /// Reacts to an Issue or pull request (`+1`, `-1`, …); answers the reaction's id. No webhook.
    #[track_caller]
    pub fn react(self, repo: &str, number: u64, content: &str) -> u64 {
        self.act(repo, |world, id, me| {
            world
                .react(id, number, content, me)
                .map(|(reaction, _)| reaction.id)
        })
    }

    /// Takes a reaction back.
    #[track_caller]
    pub fn unreact(self, repo: &str, number: u64, reaction: u64) {
        self.act(repo, |world, id, _| world.unreact(id, number, reaction));
    }

    /// Reacts to a comment.
    #[track_caller]
    pub fn react_to_comment(self, repo: &str, comment: u64, content: &str) {
        self.act(repo, |world, id, me| {
            world.react_to_comment(id, comment, content, me).map(|_| ())
        });
    }

    /// Sets a label.
    #[track_caller]
    pub fn label(self, repo: &str, number: u64, name: &str) {
        self.act(repo, |world, id, me| world.add_label(id, number, name, me));
    }

    /// Removes a label.
    #[track_caller]
    pub fn unlabel(self, repo: &str, number: u64, name: &str) {
        self.act(repo, |world, id, me| {
            world.remove_label(id, number, name, me)
        });
    }

    /// Opens an Issue; answers its number.
    #[track_caller]
    pub fn open_issue(self, repo: &str, title: &str, body: &str) -> u64 {
        self.act(repo, |world, id, me| {
            world.open_issue(id, title, body, &[], me)
        })
    }

    /// Edits the body of an Issue or pull request.
    #[track_caller]
    pub fn edit_body(self, repo: &str, number: u64, body: &str) {
        let edit = IssueEdit {
            body: Some(body.into()),
            ..IssueEdit::default()
        };
        self.act(repo, |world, id, me| {
            world.edit_issue(id, number, &edit, me)
        });
    }

    /// Closes an Issue or pull request.
    #[track_caller]
    pub fn close(self, repo: &str, number: u64) {
        self.act(repo, |world, id, me| {
            world.set_issue_state(id, number, false, None, me)
        });
    }

    /// Opens it again.
    #[track_caller]
    pub fn reopen(self, repo: &str, number: u64) {
        self.act(repo, |world, id, me| {
            world.set_issue_state(id, number, true, None, me)
        });
    }

    /// Deletes an Issue: 410 from now on.
    #[track_caller]
    pub fn delete_issue(self, repo: &str, number: u64) {
        self.act(repo, |world, id, me| world.delete_issue(id, number, me));
    }

    /// Moves an Issue to another repository; answers its new number.
    #[track_caller]
    pub fn transfer_issue(self, repo: &str, number: u64, to: &str) -> u64 {
        let target = self.github.in_repo(to, |_, id| Ok(id));
        self.act(repo, |world, id, me| {
            world.transfer_issue(id, number, target, me)
        })
    }

    /// Locks or unlocks the conversation.
    #[track_caller]
    pub fn set_locked(self, repo: &str, number: u64, locked: bool) {
        self.act(repo, |world, id, me| {
            world.set_locked(id, number, locked, me)
        });
    }

    /// Presses a button of a check-run.
    #[track_caller]
    pub fn press(self, repo: &str, run: u64, identifier: &str) {
        self.act(repo, |world, id, me| {
            world.press_button(id, run, identifier, me)
        });
    }

    /// Asks for a check-run again.
    #[track_caller]
    pub fn rerequest(self, repo: &str, run: u64) {
        self.act(repo, |world, id, me| world.rerequest_run(id, run, me));
    }

    /// Asks for all checks of the suite that a run is in again.
    #[track_caller]
    pub fn rerequest_suite(self, repo: &str, run: u64) {
        self.act(repo, |world, id, me| {
            let suite = world.check_run(id, run)?.suite;
            world.rerequest_suite(id, suite, me)
        });
    }

    /// Merges by hand, by `merge`, `squash` or `rebase`; answers the commit.
    #[track_caller]
    pub fn merge(self, repo: &str, number: u64, method: &str) -> String {
        let how = Merge {
            method: method.into(),
            ..Merge::default()
        };
        self.act(repo, |world, id, me| world.merge_pull(id, number, &how, me))
    }
}
