//! The test's side: methods that arrange and inspect the model without HTTP.
//!
//! A wrong name or an impossible change stops the test at the caller's line, since going on would test
//! something else than what was written.

mod checks;
mod hooks;
mod issues;
mod pulls;
mod registration;
mod setup;
mod traffic;
mod user;

pub use checks::CheckRunSeen;
pub use issues::{CommentSeen, IssueSeen};
pub use pulls::PullSeen;
pub use user::User;

use crate::{AccountKind, FakeGitHub, model::World, refusal::Refusal};

/// Ends the test when what it arranges is not possible.
#[track_caller]
fn must<T>(result: Result<T, Refusal>) -> T {
    match result {
        Ok(value) => value,
        Err(refusal) => stop(&format!("{} {}", refusal.status, refusal.message)),
    }
}

#[track_caller]
#[expect(
    clippy::panic,
    reason = "a test that arranges what cannot be must stop at its own line"
)]
fn stop(text: &str) -> ! {
    panic!("the stand-in GitHub cannot do this: {text}")
}

impl FakeGitHub {
    /// Runs with the world; announced webhooks go out afterwards.
    fn with<T>(&self, run: impl FnOnce(&mut World) -> T) -> T {
        let result = run(&mut self.shared.world());
        self.shared.stir();
        result
    }

    /// Runs in a repository named `owner/name`.
    #[track_caller]
    fn in_repo<T>(
        &self,
        full_name: &str,
        run: impl FnOnce(&mut World, u64) -> Result<T, Refusal>,
    ) -> T {
        must(self.with(|world| {
            let (owner, name) = full_name.split_once('/').unwrap_or((full_name, ""));
            let missing = || Refusal::new(404, format!("no repository `{full_name}`"));
            let id = world.repo_named(owner, name).ok_or_else(missing)?;
            run(world, id)
        }))
    }
}

/// The account of a login, made when there is none.
fn account(world: &mut World, login: &str) -> u64 {
    let known = world.account_named(login).map(|account| account.id);
    known.unwrap_or_else(|| {
        let kind = if login.ends_with("[bot]") {
            AccountKind::Bot
        } else {
            AccountKind::User
        };
        world.add_account(login, kind)
    })
}
