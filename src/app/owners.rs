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
