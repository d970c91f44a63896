//! What an App's owner and a repository's administrator set on their pages.

use super::must;
use crate::{FakeGitHub, refusal::Refusal};

impl FakeGitHub {
    /// The events our App subscribes to.
    pub fn set_app_events(&self, events: &[&str]) {
        self.with(|world| {
            let own = world.own_app;
            if let Some(app) = world.apps.get_mut(&own) {
                app.events = events.iter().map(|event| (*event).to_owned()).collect();
            }
        });
    }

    /// What our App asks for; an installation keeps what it granted
    /// (see [`set_permission`](Self::set_permission)).
    #[track_caller]
    pub fn set_app_permission(&self, name: &str, level: Option<&str>) {
        must(self.with(|world| {
            let own = world.own_app;
            let app = world.apps.get_mut(&own).ok_or_else(Refusal::not_found)?;
            match level {
                Some(level) => app.permissions.insert(name.into(), level.into()),
                None => app.permissions.remove(name),
            };
            Ok(())
        }));
    }

    /// The App's webhook: its address, its content type (`json` or `form`), whether a secret is set.
    pub fn set_hook(&self, url: Option<&str>, content_type: &str, secret: bool) {
        self.with(|world| {
            let hook = &mut world.registration.hook;
            hook.url = url.map(Into::into);
            hook.content_type = content_type.into();
            hook.secret = secret;
        });
    }

    /// A ruleset of all branches requires this check, from this App or from any. The merge of the model goes by
    /// [`require_checks`](Self::require_checks) alone.
    #[track_caller]
    pub fn rule_check(&self, full_name: &str, check: &str, app: Option<u64>) {
        self.in_repo(full_name, |world, id| {
            let ruled = world.registration.ruled.entry(id).or_default();
            ruled.retain(|(name, _)| name != check);
            ruled.push((check.into(), app));
            Ok(())
        });
    }

    /// The branch protection takes a required check from this App only.
    #[track_caller]
    pub fn protect_check(&self, full_name: &str, check: &str, app: u64) {
        self.in_repo(full_name, |world, id| {
            let key = (id, check.to_owned());
            world.registration.protected.insert(key, app);
            Ok(())
        });
    }
}
