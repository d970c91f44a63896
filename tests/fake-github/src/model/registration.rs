//! How an App comes to be and what its owner set: manifests and their codes, the webhook's settings, the checks that
//! rulesets require.

use super::{Time, World, account::AccountKind, stamp};
use crate::{TEST_KEY_PEM, contract, refusal::Refusal};
use chrono::TimeDelta;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// The longest name of an App.
const NAME_LIMIT: usize = 34;
/// The members of a manifest.
const MEMBERS: [&str; 12] = [
    "name",
    "url",
    "hook_attributes",
    "redirect_url",
    "callback_urls",
    "setup_url",
    "description",
    "public",
    "default_events",
    "default_permissions",
    "request_oauth_on_install",
    "setup_on_update",
];
/// An event can be had by those who hold one of these permissions.
const EVENTS: [(&str, &[&str]); 9] = [
    ("check_run", &["checks"]),
    ("check_suite", &["checks"]),
    ("issue_comment", &["issues", "pull_requests"]),
    ("issues", &["issues"]),
    ("merge_group", &["merge_queues"]),
    ("pull_request", &["pull_requests"]),
    ("push", &["contents"]),
    ("repository", &["metadata"]),
    ("status", &["statuses"]),
];

/// What belongs to the App's settings page and to the repositories' rules.
pub(crate) struct Registration {
    codes: HashMap<String, (Value, u64, Time)>,
    pub(crate) hook: HookConfig,
    /// By repository: the checks that a ruleset of its branches requires, with the App that must publish them.
    pub(crate) ruled: HashMap<u64, Vec<(String, Option<u64>)>>,
    /// By repository and check of the branch protection: the App that must publish it.
    pub(crate) protected: HashMap<(u64, String), u64>,
}

/// The App's webhook.
#[derive(Debug, Clone)]
pub(crate) struct HookConfig {
    pub(crate) url: Option<String>,
    pub(crate) content_type: String,
    pub(crate) secret: bool,
}

impl Registration {
    pub(crate) fn new(webhook_url: Option<String>) -> Self {
        Self {
            codes: HashMap::new(),
            hook: HookConfig {
                url: Some(
                    webhook_url.unwrap_or_else(|| "https://quadgate.example.org/webhook".into()),
                ),
                content_type: "json".into(),
                secret: true,
            },
            ruled: HashMap::new(),
            protected: HashMap::new(),
        }
    }
}

impl HookConfig {
    pub(crate) fn json(&self) -> Value {
        let mut seen = json!({"content_type": self.content_type, "insecure_ssl": "0"});
        if let (Some(url), Some(members)) = (&self.url, seen.as_object_mut()) {
            members.insert("url".into(), json!(url));
        }
        if let (true, Some(members)) = (self.secret, seen.as_object_mut()) {
            members.insert("secret".into(), json!("********"));
        }
        seen
    }
}

impl World {
    /// A person sent a manifest from a page: the code that stands for it, for one hour and one exchange.
    pub(crate) fn submit_manifest(
        &mut self,
        org: Option<&str>,
        manifest: &Value,
    ) -> Result<String, Refusal> {
        let wrong = self.wrong_with(manifest);
        if !wrong.is_empty() {
            let text = wrong.join("; ");
            self.violate(format!("a manifest: {text}"));
            return Err(Refusal::invalid(text));
        }
        let owner = match org {
            Some(org) => {
                let found = self.account_named(org);
                let org = found.filter(|account| account.kind == AccountKind::Organization);
                org.map(|account| account.id)
                    .ok_or_else(Refusal::not_found)?
            }
            None => self.person(),
        };
        let code = self.ids.digest();
        let made = (manifest.clone(), owner, self.now());
        self.registration.codes.insert(code.clone(), made);
        Ok(code)
    }

    /// Whoever sits at the browser: the first person there is.
    fn person(&mut self) -> u64 {
        let people = self.accounts.values();
        let first = people
            .filter(|account| account.kind == AccountKind::User)
            .map(|account| account.id)
            .min();
        first.unwrap_or_else(|| self.add_account("octo-owner", AccountKind::User))
    }

    fn wrong_with(&self, manifest: &Value) -> Vec<String> {
        let mut wrong = Vec::new();
        let Some(members) = manifest.as_object() else {
            return vec!["not an object".into()];
        };
        let unknown = members
            .keys()
            .filter(|name| !MEMBERS.contains(&name.as_str()));
        wrong.extend(unknown.map(|name| format!("member `{name}` is unknown")));
        let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str);
        for needed in ["/name", "/url", "/hook_attributes/url", "/redirect_url"] {
            if text(needed).is_none_or(str::is_empty) {
                wrong.push(format!("`{needed}` is missing"));
            }
        }
        let name = text("/name").unwrap_or_default();
        let slug = slug(name);
        let taken = |app: &super::app::App| app.id != self.own_app && app.slug == slug;
        if name.chars().count() > NAME_LIMIT || self.apps.values().any(taken) {
            wrong.push("the name is too long or taken".into());
        }
        let held = permissions(manifest);
        for (name, level) in &held {
            if !contract::is_permission(name, level) {
                wrong.push(format!("permission `{name}: {level}` is unknown"));
            }
        }
        for event in events(manifest) {
            let known = EVENTS.iter().find(|(name, _)| *name == event);
            match known {
                Some((_, needs)) if needs.iter().any(|need| held.contains_key(*need)) => {}
                Some((_, needs)) => {
                    wrong.push(format!("event `{event}` needs the permission {needs:?}"));
                }
                None => wrong.push(format!("event `{event}` cannot be subscribed to")),
            }
        }
        wrong
    }

    /// Exchanges a code: our App is now what the manifest says. Its id and key are those of the configuration.
    pub(crate) fn convert_manifest(&mut self, code: &str) -> Result<Value, Refusal> {
        let now = self.now();
        let (manifest, owner, _) = self
            .registration
            .codes
            .remove(code)
            .filter(|(_, _, at)| now - *at <= TimeDelta::hours(1))
            .ok_or_else(Refusal::not_found)?;
        let text = |pointer: &str| {
            let found = manifest.pointer(pointer).and_then(Value::as_str);
            found.unwrap_or_default().to_owned()
        };
        let name = text("/name");
        let slug = slug(&name);
        let own = self.own_app;
        let bot = self.own_bot();
        if self.login(bot) != format!("{slug}[bot]") {
            self.rename_account(bot, &format!("{slug}[bot]"))?;
        }
        if let Some(app) = self.apps.get_mut(&own) {
            app.slug.clone_from(&slug);
            app.owner = owner;
            app.permissions = permissions(&manifest);
            app.events = events(&manifest);
            app.created_at = now;
        }
        self.registration.hook.url = Some(text("/hook_attributes/url"));
        let app = self.app(own)?;
        let mut made = self.app_json(app);
        let secrets = json!({
            "client_secret": "0123456789abcdef0123456789abcdef01234567",
            "webhook_secret": self.hooks.secret(), "pem": TEST_KEY_PEM,
            "name": name, "created_at": stamp(now),
        });
        super::issue::merge(&mut made, secrets);
        Ok(made)
    }
}

fn slug(name: &str) -> String {
    let words = name.to_ascii_lowercase();
    words.split_whitespace().collect::<Vec<_>>().join("-")
}

fn permissions(manifest: &Value) -> BTreeMap<String, String> {
    let asked = manifest
        .get("default_permissions")
        .and_then(Value::as_object);
    asked
        .into_iter()
        .flatten()
        .map(|(name, level)| (name.clone(), level.as_str().unwrap_or_default().to_owned()))
        .collect()
}

fn events(manifest: &Value) -> Vec<String> {
    let asked = manifest.get("default_events").and_then(Value::as_array);
    asked
        .into_iter()
        .flatten()
        .map(|event| event.as_str().unwrap_or_default().to_owned())
        .collect()
}
