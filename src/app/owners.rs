//! Owners are configured by login, resolved to numeric ids once, and pinned.
//!
//! INVARIANT: the policy that comes out of [`pin`] names only owners whose id is pinned and still has that login. A
//! login that came to belong to another account stops counting, loudly: anybody can register the old login of a
//! renamed account.

use super::StartError;
use crate::domain::{AccountId, AccountType};
use crate::github::{ApiError, GitHub};
use crate::policy::Policy;
use crate::store::Store;
use crate::worker::Bench;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Owners that could not be resolved are tried again this often.
const AGAIN: Duration = Duration::from_mins(1);

/// Resolves and pins the policy's owners.
///
/// # Errors
/// A login that nobody has, or that is not a person's.
pub(super) async fn pin(
    mut policy: Policy,
    github: &GitHub,
    store: &dyn Store,
) -> Result<Policy, StartError> {
    let pinned = store.pinned_owners().await?;
    let mut counting = Vec::new();
    for login in std::mem::take(&mut policy.owners.logins) {
        let key = login.to_ascii_lowercase();
        match resolve(github, &login).await? {
            Resolved::Person(id) => {
                let kept = store.pin_owner(&key, id).await?;
                if kept == id {
                    counting.push((login, id));
                } else {
                    tracing::error!(
                        %login, pinned = %kept, now = %id,
                        "this owner's login belongs to another account now; its answers do not count"
                    );
                }
            }
            Resolved::NotNow(cause) => {
                if let Some(id) = pinned.get(&key) {
                    counting.push((login, *id));
                } else {
                    tracing::error!(
                        %login, %cause,
                        "this owner could not be resolved to an account; until that succeeds its answers do not count"
                    );
                }
            }
        }
    }
    policy.owners.pinned = counting
        .iter()
        .map(|(login, id)| (login.to_ascii_lowercase(), *id))
        .collect();
    policy.owners.logins = counting.into_iter().map(|(login, _)| login).collect();
    Ok(policy)
}

/// Until every configured owner counts (the App was not installed yet, GitHub did not answer), tries again.
pub(super) async fn resolve_the_rest(
    bench: Arc<Bench>,
    configured: watch::Receiver<Policy>,
    in_force: Arc<watch::Sender<Arc<Policy>>>,
    mut stop: watch::Receiver<bool>,
) {
    loop {
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            () = bench.clock.sleep(AGAIN) => {}
        }
        let wanted = configured.borrow().clone();
        if in_force.borrow().owners.logins.len() == wanted.owners.logins.len() {
            continue;
        }
        let digest = wanted.digest.clone();
        match pin(wanted, &bench.github, &*bench.store).await {
            // A reload in between has put a newer policy into force: that one stays.
            Ok(policy) => {
                in_force.send_if_modified(|now| {
                    let newer = now.digest == digest && now.owners.logins != policy.owners.logins;
                    if newer {
                        *now = Arc::new(policy);
                    }
                    newer
                });
            }
            Err(error) => tracing::error!(%error, "an owner cannot be resolved"),
        }
    }
}

enum Resolved {
    Person(AccountId),
    NotNow(String),
}

async fn resolve(github: &GitHub, login: &str) -> Result<Resolved, StartError> {
    let installations = match github.installations().await {
        Ok(installations) => installations,
        Err(error) => return Ok(Resolved::NotNow(error.to_string())),
    };
    let Some(active) = installations
        .iter()
        .find(|installation| !installation.suspended)
    else {
        return Ok(Resolved::NotNow(
            "the App is not installed anywhere yet".to_owned(),
        ));
    };
    match github.user(login, active.id).await {
        Ok(account) if account.kind == AccountType::User => Ok(Resolved::Person(account.id)),
        Ok(account) => Err(StartError::Owner(format!(
            "owner.yml: `{login}` is of type `{}`, not a person's account; only people can be owners",
            account.kind.as_str()
        ))),
        Err(ApiError::Gone { .. }) => Err(StartError::Owner(format!(
            "owner.yml: nobody on GitHub has the login `{login}`; correct it before somebody registers it"
        ))),
        Err(error) => Ok(Resolved::NotNow(error.to_string())),
    }
}
