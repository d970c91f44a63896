//! Time, accounts, installations, repositories, branches.

use super::{account, must, stop};
use crate::{
    AccountKind, FakeGitHub, FileSpec, MergeMethods,
    model::{Clock, Time, World},
    refusal::Refusal,
};
use chrono::TimeDelta;

/// Time.
impl FakeGitHub {
    /// The virtual time.
    pub fn now(&self) -> Time {
        self.with(|world| world.now())
    }

    /// Stops the virtual clock at a time.
    pub fn set_now(&self, now: Time) {
        self.with(|world| world.clock = Clock::Set(now));
    }

    /// Moves the virtual clock on.
    pub fn advance(&self, by: TimeDelta) {
        self.with(|world| world.clock.advance(by));
    }

    /// Moves the clock that JWTs and tokens are checked with away from the machine's.
    pub fn set_jwt_skew(&self, skew: TimeDelta) {
        self.with(|world| world.doors.set_skew(skew));
    }
}

/// Accounts.
impl FakeGitHub {
    /// A person; answers the id.
    pub fn add_user(&self, login: &str) -> u64 {
        self.add_account(login, AccountKind::User)
    }

    /// An organisation; answers the id.
    pub fn add_org(&self, login: &str) -> u64 {
        self.add_account(login, AccountKind::Organization)
    }

    /// Any account, also under a login that somebody had before; answers the id.
    pub fn add_account(&self, login: &str, kind: AccountKind) -> u64 {
        self.with(|world| world.add_account(login, kind))
    }

    /// The id behind a login now.
    #[track_caller]
    pub fn account_id(&self, login: &str) -> u64 {
        let found = self.with(|world| world.account_named(login).map(|account| account.id));
        found.unwrap_or_else(|| stop(&format!("no account `{login}`")))
    }

    /// The old login is free afterwards.
    #[track_caller]
    pub fn rename_user(&self, login: &str, new: &str) {
        let id = self.account_id(login);
        must(self.with(|world| world.rename_account(id, new)));
    }

    /// Deletes an account: it shows as `null` wherever it acted.
    #[track_caller]
    pub fn delete_user(&self, login: &str) {
        let id = self.account_id(login);
        must(self.with(|world| world.delete_account(id)));
    }

    /// Another App that can post check-runs; answers the id of its bot account.
    pub fn add_app(&self, id: u64, slug: &str) -> u64 {
        self.with(|world| {
            world.register_app(id, slug, &std::collections::BTreeMap::new());
            world.apps.get(&id).map_or(0, |app| app.bot)
        })
    }

    /// The account our App acts as, such as `quadgate[bot]`.
    pub fn bot_login(&self) -> String {
        self.with(|world| world.login(world.own_bot()))
    }

    /// Makes people members of `org/team`.
    pub fn set_team(&self, team: &str, logins: &[&str]) {
        self.with(|world| {
            let members = logins.iter().map(|login| account(world, login)).collect();
            world.teams.insert(team.to_ascii_lowercase(), members);
        });
    }
}

/// Installations.
impl FakeGitHub {
    /// Installs the App on an account (with [`Config::auto_install`](crate::Config) this happens by itself).
    #[track_caller]
    pub fn install(&self, login: &str) -> u64 {
        let id = self.account_id(login);
        must(self.with(|world| world.install(id)))
    }

    /// The installation that covers a repository.
    #[track_caller]
    pub fn installation_of(&self, repo: &str) -> u64 {
        self.in_repo(repo, |world, id| {
            world
                .installation_of_repo(id)
                .map(|found| found.id)
                .ok_or_else(Refusal::not_found)
        })
    }

    /// Suspends an installation: its requests are answered 403, its webhooks stop.
    #[track_caller]
    pub fn suspend(&self, installation: u64) {
        must(self.with(|world| world.set_suspended(installation, true)));
    }

    /// Ends a suspension.
    #[track_caller]
    pub fn unsuspend(&self, installation: u64) {
        must(self.with(|world| world.set_suspended(installation, false)));
    }

    /// Removes the App from an account.
    #[track_caller]
    pub fn uninstall(&self, installation: u64) {
        must(self.with(|world| world.uninstall(installation)));
    }

    /// Adds a repository to an installation.
    #[track_caller]
    pub fn add_to_installation(&self, installation: u64, repo: &str) {
        self.in_repo(repo, |world, id| {
            world.add_to_installation(installation, id)
        });
    }

    /// Takes a repository out of its installation.
    #[track_caller]
    pub fn remove_from_installation(&self, repo: &str) {
        let installation = self.installation_of(repo);
        self.in_repo(repo, |world, id| {
            world.remove_from_installation(installation, id)
        });
    }

    /// Changes what an installation may do (`read`, `write`; `None` takes the permission away).
    #[track_caller]
    pub fn set_permission(&self, installation: u64, name: &str, level: Option<&str>) {
        must(self.with(|world| {
            let held = &mut world.installation_mut(installation)?.permissions;
            match level {
                Some(level) => held.insert(name.into(), level.into()),
                None => held.remove(name),
            };
            Ok(())
        }));
    }
}

/// Repositories.
impl FakeGitHub {
    /// A repository `owner/name` with one commit on `main`; the owner, an organisation when new, gets the App
    /// installed. Answers the id. Queues no webhooks.
    #[track_caller]
    pub fn add_repo(&self, full_name: &str) -> u64 {
        let Some((owner, name)) = full_name.split_once('/') else {
            stop(&format!("`{full_name}` is not `owner/name`"))
        };
        let auto = self.config.auto_install;
        must(self.with(|world| {
            let known = world.account_named(owner).map(|account| account.id);
            let owner =
                known.unwrap_or_else(|| world.add_account(owner, AccountKind::Organization));
            let id = world.add_repo(owner, name)?;
            if auto {
                world.hooks.quiet = true;
                let standing = world.installation_of_account(owner).map(|found| found.id);
                let installation = standing.map_or_else(|| world.install(owner), Ok)?;
                world.add_to_installation(installation, id)?;
                world.hooks.quiet = false;
            }
            Ok(id)
        }))
    }

    /// The owner renames it; the old name redirects.
    #[track_caller]
    pub fn rename_repo(&self, full_name: &str, new_name: &str) {
        self.in_repo(full_name, |world, id| {
            world.rename_repo(id, new_name, world.repo(id)?.owner)
        });
    }

    /// Moves it to another account; the old name redirects.
    #[track_caller]
    pub fn transfer_repo(&self, full_name: &str, owner: &str) {
        let to = self.account_id(owner);
        self.in_repo(full_name, |world, id| world.transfer_repo(id, to, to));
    }

    /// Makes it read-only.
    #[track_caller]
    pub fn archive_repo(&self, full_name: &str) {
        self.in_repo(full_name, |world, id| {
            world.archive_repo(id, world.repo(id)?.owner)
        });
    }

    /// Switches Issues on or off.
    #[track_caller]
    pub fn set_has_issues(&self, full_name: &str, on: bool) {
        self.in_repo(full_name, |world, id| {
            world.repo_mut(id)?.has_issues = on;
            Ok(())
        });
    }

    /// Makes it private.
    #[track_caller]
    pub fn set_private(&self, full_name: &str, private: bool) {
        self.in_repo(full_name, |world, id| {
            world.repo_mut(id)?.private = private;
            Ok(())
        });
    }

    /// Which ways of merging it offers.
    #[track_caller]
    pub fn set_merge_methods(&self, full_name: &str, methods: MergeMethods) {
        self.in_repo(full_name, |world, id| {
            world.repo_mut(id)?.methods = methods;
            Ok(())
        });
    }

    /// Which checks branch protection requires: a merge without their success is refused with 405.
    #[track_caller]
    pub fn require_checks(&self, full_name: &str, names: &[&str]) {
        self.in_repo(full_name, |world, id| {
            world.repo_mut(id)?.required_checks = names.iter().map(|name| (*name).into()).collect();
            Ok(())
        });
    }

    /// Ends every sign-in: people's tokens are refused from now on.
    pub fn revoke_people(&self) {
        self.with(World::revoke_people);
    }

    /// Gives an account a role: `admin`, `maintain`, `write`, `triage`, `read`, `none`.
    #[track_caller]
    pub fn set_collaborator(&self, full_name: &str, login: &str, role: &str) {
        self.in_repo(full_name, |world, id| {
            let account = account(world, login);
            world.repo_mut(id)?.permissions.insert(account, role.into());
            Ok(())
        });
    }

    /// A branch at another branch's tip.
    #[track_caller]
    pub fn add_branch(&self, full_name: &str, branch: &str, from: &str) {
        self.in_repo(full_name, |world, id| {
            let tip = world
                .repo(id)?
                .branches
                .get(from)
                .cloned()
                .ok_or_else(Refusal::not_found)?;
            world.repo_mut(id)?.branches.insert(branch.into(), tip);
            Ok(())
        });
    }

    /// A commit straight on a branch; answers its SHA. Announces the push.
    #[track_caller]
    pub fn commit_on(
        &self,
        full_name: &str,
        branch: &str,
        message: &str,
        files: &[FileSpec],
    ) -> String {
        self.in_repo(full_name, |world, id| {
            let owner = world.repo(id)?.owner;
            world.commit_on(id, branch, message, files, owner)
        })
    }

    /// The tip of a branch.
    #[track_caller]
    pub fn branch_tip(&self, full_name: &str, branch: &str) -> String {
        self.in_repo(full_name, |world, id| {
            world
                .repo(id)?
                .branches
                .get(branch)
                .cloned()
                .ok_or_else(Refusal::not_found)
        })
    }

    /// The text of a file at a branch or commit.
    #[track_caller]
    pub fn file_at(&self, full_name: &str, at: &str, path: &str) -> Option<String> {
        self.in_repo(full_name, |world, id| {
            let repo = world.repo(id)?;
            let sha = repo.resolve(at).ok_or_else(Refusal::not_found)?.sha.clone();
            Ok(repo
                .content(&sha, path)
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
        })
    }

    /// Parents and message of a commit.
    #[track_caller]
    pub fn commit(&self, full_name: &str, sha: &str) -> (Vec<String>, String) {
        self.in_repo(full_name, |world, id| {
            let commit = world
                .repo(id)?
                .commits
                .get(sha)
                .ok_or_else(Refusal::not_found)?;
            Ok((commit.parents.clone(), commit.message.clone()))
        })
    }

    /// A label of the repository.
    #[track_caller]
    pub fn add_label(&self, full_name: &str, name: &str, color: &str, description: &str) {
        self.in_repo(full_name, |world, id| {
            world
                .create_label(id, name, Some(color), Some(description))
                .map(|_| ())
        });
    }

    /// Names of the repository's labels.
    #[track_caller]
    pub fn repo_labels(&self, full_name: &str) -> Vec<String> {
        self.in_repo(full_name, |world, id| {
            Ok(world
                .repo(id)?
                .labels
                .iter()
                .map(|label| label.name.clone())
                .collect())
        })
    }
}
