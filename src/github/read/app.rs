//! The App, its installations and their repositories, accounts, rates, and webhook deliveries that failed.

use super::{need, time};
use crate::domain::{
    Account, AppId, DeliveryId, InstallationId, RepoId, RepoName, RepoRef, Timestamp,
};
use crate::github::call::{Call, Who, read_json};
use crate::github::observer::RateLeft;
use crate::github::page::{Listing, next_link, refuse_twice};
use crate::github::path::ApiPath;
use crate::github::{ApiError, GitHub, wire};
use http::Method;
use std::collections::BTreeMap;

/// Pages of deliveries that are read at most: 10,000 attempts.
const MOST_DELIVERY_PAGES: usize = 100;

/// The App as GitHub knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppView {
    /// Its id.
    pub id: AppId,
    /// Its slug; its account is `<slug>[bot]`.
    pub slug: String,
    /// What it asks for, such as `checks` → `write`.
    pub permissions: BTreeMap<String, String>,
    /// The events it subscribes to.
    pub events: Vec<String>,
}

impl AppView {
    /// The login of its account.
    #[must_use]
    pub fn bot_login(&self) -> String {
        format!("{}[bot]", self.slug)
    }
}

/// One installation of the App.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallationView {
    /// Its id.
    pub id: InstallationId,
    /// Login of the account it is installed on.
    pub account: Option<String>,
    /// Is it suspended?
    pub suspended: bool,
    /// What the account has granted.
    pub permissions: BTreeMap<String, String>,
    /// The events that are sent.
    pub events: Vec<String>,
}

/// A repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoView {
    /// Id, name of the moment, installation.
    pub repo: RepoRef,
    /// Its default branch.
    pub default_branch: Option<String>,
    /// Is it archived (read-only)?
    pub archived: bool,
    /// Is it private? Unknown counts as private.
    pub private: bool,
    /// Are Issues switched on? Unknown counts as on: creating one tells.
    pub has_issues: bool,
}

/// One attempt of GitHub's to deliver a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// The id of the attempt, which a redelivery names.
    pub id: u64,
    /// The GUID, shared by all attempts.
    pub guid: DeliveryId,
    /// When it was made.
    pub delivered_at: Timestamp,
    /// Is it a repeated one?
    pub redelivery: bool,
    /// The status that the receiver gave; 0 when it gave none.
    pub status_code: i64,
    /// The event's name.
    pub event: String,
}

/// A delivery of which no attempt succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedDelivery {
    /// The newest attempt.
    pub last: DeliveryAttempt,
    /// Was it repeated already?
    pub redelivered: bool,
}

impl DeliveryAttempt {
    /// Did the receiver take it?
    #[must_use]
    pub fn succeeded(&self) -> bool {
        (200..300).contains(&self.status_code)
    }
}

impl GitHub {
    /// The App. One call; asked once in the life of the client.
    pub async fn app(&self) -> Result<AppView, ApiError> {
        const NAME: &str = "GET app";
        let read = async || {
            let path = ApiPath::root().seg("app");
            let app: wire::App = self.json(Call::get(NAME, Who::App, path)).await?;
            Ok::<_, ApiError>(AppView {
                id: AppId(need(NAME, app.id, "id")?),
                slug: need(NAME, app.slug, "slug")?,
                permissions: permissions(app.permissions),
                events: app.events.unwrap_or_default(),
            })
        };
        self.inner.app.get_or_try_init(read).await.cloned()
    }

    /// All installations of the App. One call for each hundred.
    pub async fn installations(&self) -> Result<Vec<InstallationView>, ApiError> {
        const NAME: &str = "GET installations";
        let listing = Listing {
            name: NAME,
            who: Who::App,
            path: ApiPath::root().seg("app").seg("installations"),
            expected: None,
        };
        let mut all = self
            .list::<Vec<wire::Installation>>(listing)
            .await?
            .items
            .into_iter()
            .map(|installation| installation_view(NAME, installation))
            .collect::<Result<Vec<_>, _>>()?;
        all.sort_by_key(|installation| installation.id);
        all.dedup_by_key(|installation| installation.id);
        Ok(all)
    }

    /// The repositories of an installation. One call for each hundred.
    pub async fn installation_repositories(
        &self,
        installation: InstallationId,
    ) -> Result<Vec<RepoView>, ApiError> {
        const NAME: &str = "GET installation repositories";
        let listing = Listing {
            name: NAME,
            who: Who::Installation(installation),
            path: ApiPath::root().seg("installation").seg("repositories"),
            expected: None,
        };
        let list = self.list::<wire::Repositories>(listing).await?;
        let repos = list
            .items
            .into_iter()
            .map(|repo| repo_view(NAME, installation, repo))
            .collect::<Result<Vec<_>, _>>()?;
        refuse_twice(NAME, &repos, |view| view.repo.id)?;
        if u64::try_from(repos.len()).ok() != list.total {
            let (total, listed) = (list.total.unwrap_or(0), repos.len());
            let problem = format!("GitHub counts {total} repositories and lists {listed}");
            return Err(ApiError::unreadable(NAME, problem));
        }
        Ok(repos)
    }

    /// The installation that covers a repository. One call.
    pub async fn repo_installation(&self, name: &RepoName) -> Result<InstallationView, ApiError> {
        const NAME: &str = "GET repository installation";
        let path = ApiPath::repo(name).seg("installation");
        let installation = self.json(Call::get(NAME, Who::App, path)).await?;
        installation_view(NAME, installation)
    }

    /// A repository by its name. One call.
    pub async fn repo(
        &self,
        name: &RepoName,
        installation: InstallationId,
    ) -> Result<RepoView, ApiError> {
        const NAME: &str = "GET repository";
        let call = Call::get(NAME, Who::Installation(installation), ApiPath::repo(name));
        repo_view(NAME, installation, self.json(call).await?)
    }

    /// The account that has a login now. One call, made as an installation: the App itself may not ask.
    pub async fn user(
        &self,
        login: &str,
        installation: InstallationId,
    ) -> Result<Account, ApiError> {
        const NAME: &str = "GET user";
        let path = ApiPath::root().seg("users").seg(login);
        let user: wire::User = self
            .json(Call::get(NAME, Who::Installation(installation), path))
            .await?;
        need(NAME, user.account(), "login or id")
    }

    /// What is left of each resource's budget. One call, which costs nothing.
    pub async fn rate_limit(
        &self,
        installation: InstallationId,
    ) -> Result<BTreeMap<String, RateLeft>, ApiError> {
        const NAME: &str = "GET rate limit";
        let path = ApiPath::root().seg("rate_limit");
        let limits: wire::RateLimits = self
            .json(Call::get(NAME, Who::Installation(installation), path))
            .await?;
        Ok(limits
            .resources
            .into_iter()
            .filter_map(|(resource, rate)| {
                let left = RateLeft {
                    remaining: rate.remaining?,
                    limit: rate.limit,
                    reset: Timestamp::from_millis(rate.reset?.saturating_mul(1000)),
                };
                Some((resource, left))
            })
            .collect())
    }

    /// The App's webhook deliveries since a moment that nobody took, oldest first. One call for each hundred
    /// attempts. GitHub keeps them for some days.
    pub async fn failed_deliveries(
        &self,
        since: Timestamp,
    ) -> Result<Vec<FailedDelivery>, ApiError> {
        let mut by_guid: BTreeMap<DeliveryId, (FailedDelivery, bool)> = BTreeMap::new();
        for attempt in self.deliveries(since).await? {
            let (taken, again) = (attempt.succeeded(), attempt.redelivery);
            let entry = by_guid.entry(attempt.guid.clone()).or_insert_with(|| {
                let first = FailedDelivery {
                    last: attempt.clone(),
                    redelivered: false,
                };
                (first, false)
            });
            if attempt.delivered_at > entry.0.last.delivered_at {
                entry.0.last = attempt;
            }
            entry.0.redelivered |= again;
            entry.1 |= taken;
        }
        let mut failed: Vec<_> = by_guid
            .into_values()
            .filter(|(_, taken)| !taken)
            .map(|(delivery, _)| delivery)
            .collect();
        failed.sort_by_key(|delivery| (delivery.last.delivered_at, delivery.last.id));
        Ok(failed)
    }

    /// All attempts since a moment, newest first.
    async fn deliveries(&self, since: Timestamp) -> Result<Vec<DeliveryAttempt>, ApiError> {
        const NAME: &str = "GET hook deliveries";
        let mut path = ApiPath::root()
            .seg("app")
            .seg("hook")
            .seg("deliveries")
            .query("per_page", 100);
        let mut attempts = Vec::new();
        for _ in 0..MOST_DELIVERY_PAGES {
            let reply = self.send(Call::get(NAME, Who::App, path)).await?;
            let mut past = false;
            for attempt in attempts_of(NAME, read_json(NAME, &reply)?)? {
                past |= attempt.delivered_at < since;
                if attempt.delivered_at >= since {
                    attempts.push(attempt);
                }
            }
            let Some(link) = next_link(&reply).filter(|_| !past) else {
                return Ok(attempts);
            };
            path = self
                .same_host(&link)
                .map_err(|problem| ApiError::unreadable(NAME, problem))?;
        }
        Err(ApiError::unreadable(NAME, "the list has no end"))
    }

    /// Asks GitHub to repeat a delivery. One call; a repeated webhook has the same GUID, so that asking twice
    /// does no harm.
    pub async fn redeliver(&self, attempt: &DeliveryAttempt) -> Result<(), ApiError> {
        let path = ApiPath::root()
            .seg("app")
            .seg("hook")
            .seg("deliveries")
            .seg(attempt.id)
            .seg("attempts");
        let call = Call::write("POST redelivery", Who::App, Method::POST, path, None);
        self.send(call).await.map(drop)
    }
}

fn permissions(granted: Option<BTreeMap<String, Option<String>>>) -> BTreeMap<String, String> {
    granted
        .unwrap_or_default()
        .into_iter()
        .filter_map(|(name, level)| Some((name, level?)))
        .collect()
}

fn installation_view(
    name: &'static str,
    installation: wire::Installation,
) -> Result<InstallationView, ApiError> {
    Ok(InstallationView {
        id: InstallationId(need(name, installation.id, "id")?),
        account: installation.account.and_then(|account| account.login),
        suspended: installation.suspended_at.is_some(),
        permissions: permissions(installation.permissions),
        events: installation.events.unwrap_or_default(),
    })
}

fn repo_view(
    name: &'static str,
    installation: InstallationId,
    repo: wire::Repo,
) -> Result<RepoView, ApiError> {
    let full_name = need(name, repo.full_name, "full_name")?;
    Ok(RepoView {
        repo: RepoRef {
            id: RepoId(need(name, repo.id, "id")?),
            name: full_name
                .parse()
                .map_err(|_| ApiError::unreadable(name, "`full_name` is no name"))?,
            installation,
        },
        default_branch: repo.default_branch,
        archived: repo.archived.unwrap_or(false),
        private: repo.private.unwrap_or(true),
        has_issues: repo.has_issues.unwrap_or(true),
    })
}

/// A page of attempts.
pub(super) fn attempts_of(
    name: &'static str,
    page: Vec<wire::Delivery>,
) -> Result<Vec<DeliveryAttempt>, ApiError> {
    page.into_iter()
        .map(|delivery| delivery_attempt(name, delivery))
        .collect()
}

fn delivery_attempt(
    name: &'static str,
    delivery: wire::Delivery,
) -> Result<DeliveryAttempt, ApiError> {
    Ok(DeliveryAttempt {
        id: need(name, delivery.id, "id")?,
        guid: need(name, delivery.guid, "guid")?
            .parse()
            .map_err(|_| ApiError::unreadable(name, "`guid` is no delivery id"))?,
        delivered_at: time(name, delivery.delivered_at, "delivered_at")?,
        redelivery: delivery.redelivery.unwrap_or(false),
        status_code: delivery.status_code.unwrap_or(0),
        event: delivery.event.unwrap_or_default(),
    })
}
