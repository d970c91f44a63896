//! How the App is registered and what repositories require of it: what `doctor` looks at and `replay` searches.

use super::{need, of};
use crate::domain::{AppId, DeliveryId, RepoRef};
use crate::github::call::{Call, Who, read_json};
use crate::github::page::{Listing, next_link};
use crate::github::path::ApiPath;
use crate::github::{ApiError, DeliveryAttempt, GitHub, wire};

/// Pages of deliveries that are searched at most.
const MOST_PAGES: usize = 100;

/// The App's webhook as GitHub has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookConfig {
    /// Where deliveries go; `None`: nowhere.
    pub url: Option<String>,
    /// `json` or `form`.
    pub content_type: Option<String>,
    /// Are certificates not looked at?
    pub insecure_ssl: bool,
    /// Is there a secret? GitHub never shows it.
    pub has_secret: bool,
}

/// A check that must pass before a branch takes a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredCheck {
    /// Its name.
    pub context: String,
    /// Who must publish it; `None`: anybody.
    pub app: Option<AppId>,
}

impl GitHub {
    /// The App's webhook. One call.
    pub async fn hook_config(&self) -> Result<HookConfig, ApiError> {
        const NAME: &str = "GET hook config";
        let path = ApiPath::root().seg("app").seg("hook").seg("config");
        let read: wire::HookConfig = self.json(Call::get(NAME, Who::App, path)).await?;
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        Ok(HookConfig {
            url: filled(read.url),
            content_type: filled(read.content_type),
            insecure_ssl: read
                .insecure_ssl
                .is_some_and(|flag| flag == "1" || flag == 1),
            has_secret: filled(read.secret).is_some(),
        })
    }

    /// The newest attempts to deliver a webhook, newest first, at most a hundred. One call.
    pub async fn newest_deliveries(&self) -> Result<Vec<DeliveryAttempt>, ApiError> {
        let reply = self.send(deliveries(100)).await?;
        super::app::attempts_of(DELIVERIES, read_json(DELIVERIES, &reply)?)
    }

    /// The newest attempt of a delivery, if GitHub still lists it. One call for each hundred attempts.
    pub async fn delivery(&self, guid: &DeliveryId) -> Result<Option<DeliveryAttempt>, ApiError> {
        let mut call = deliveries(100);
        for _ in 0..MOST_PAGES {
            let reply = self.send(call).await?;
            let page = super::app::attempts_of(DELIVERIES, read_json(DELIVERIES, &reply)?)?;
            if let Some(found) = page.into_iter().find(|attempt| attempt.guid == *guid) {
                return Ok(Some(found));
            }
            let Some(link) = next_link(&reply) else {
                return Ok(None);
            };
            let path = self
                .same_host(&link)
                .map_err(|problem| ApiError::unreadable(DELIVERIES, problem))?;
            call = Call::get(DELIVERIES, Who::App, path);
        }
        Err(ApiError::unreadable(DELIVERIES, "the list has no end"))
    }

    /// What must pass before a branch takes a merge, by its rulesets and its protection. Two calls.
    pub async fn required_checks(
        &self,
        repo: &RepoRef,
        branch: &str,
    ) -> Result<Vec<RequiredCheck>, ApiError> {
        const RULES: &str = "GET branch rules";
        const BRANCH: &str = "GET branch";
        let listing = Listing {
            name: RULES,
            who: of(repo),
            path: ApiPath::repo(&repo.name)
                .seg("rules")
                .seg("branches")
                .seg(branch),
            expected: None,
        };
        let ruled = self
            .list::<Vec<wire::Rule>>(listing)
            .await?
            .items
            .into_iter()
            .filter(|rule| rule.kind.as_deref() == Some("required_status_checks"))
            .flat_map(|rule| rule.parameters.unwrap_or_default().required_status_checks);
        let path = ApiPath::repo(&repo.name).seg("branches").seg(branch);
        let read: wire::Branch = self.json(Call::get(BRANCH, of(repo), path)).await?;
        let protection = read.protection.unwrap_or_default();
        let protected = protection.required_status_checks.unwrap_or_default().checks;
        ruled
            .map(|check| (RULES, check.context, check.integration_id))
            .chain(
                protected
                    .into_iter()
                    .map(|check| (BRANCH, check.context, check.app_id)),
            )
            .map(|(name, context, app)| {
                Ok(RequiredCheck {
                    context: need(name, context, "context")?,
                    // GitHub writes -1 for any App.
                    app: app.and_then(|id| u64::try_from(id).ok()).map(AppId),
                })
            })
            .collect()
    }

    /// The names of a repository's labels. One call for each hundred.
    pub async fn label_names(&self, repo: &RepoRef) -> Result<Vec<String>, ApiError> {
        const NAME: &str = "GET labels";
        let listing = Listing {
            name: NAME,
            who: of(repo),
            path: ApiPath::repo(&repo.name).seg("labels"),
            expected: None,
        };
        let labels = self.list::<Vec<wire::Label>>(listing).await?.items;
        Ok(labels.into_iter().filter_map(wire::Label::name).collect())
    }
}

const DELIVERIES: &str = "GET hook deliveries";

fn deliveries(per_page: u32) -> Call {
    let path = ApiPath::root()
        .seg("app")
        .seg("hook")
        .seg("deliveries")
        .query("per_page", per_page);
    Call::get(DELIVERIES, Who::App, path)
}
