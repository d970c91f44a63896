//! Apps and installations as JSON.

use crate::model::{
    World,
    app::{App, Installation},
    stamp,
};
use serde_json::{Value, json};

impl World {
    pub(crate) fn app_json(&self, app: &App) -> Value {
        json!({
            "id": app.id, "slug": app.slug, "node_id": format!("A_{}", app.id), "client_id": crate::config::client_id(app.id),
            "owner": self.account_json(app.owner), "name": app.slug, "description": "",
            "external_url": format!("{}/apps/{}/home", self.base, app.slug), "html_url": format!("{}/apps/{}", self.base, app.slug),
            "created_at": stamp(app.created_at), "updated_at": stamp(app.created_at),
            "permissions": app.permissions, "events": app.events,
        })
    }

    /// The App behind an account, `null` for a person.
    pub(crate) fn via_app_json(&self, account: u64) -> Value {
        self.app_of_bot(account)
            .map_or(Value::Null, |app| self.app_json(app))
    }

    pub(crate) fn installation_json(&self, installation: &Installation) -> Value {
        let id = installation.id;
        let app = self.apps.get(&self.own_app);
        let slug = app.map_or("", |app| app.slug.as_str());
        let events = app.map_or(&[][..], |app| &app.events);
        let url = format!("{}/app/installations/{id}", self.base);
        let kind = self
            .account(installation.account)
            .map_or("User", |account| account.kind.as_str());
        json!({
            "id": id, "account": self.account_json(installation.account), "repository_selection": "selected",
            "access_tokens_url": format!("{url}/access_tokens"),
            "repositories_url": format!("{}/installation/repositories", self.base),
            "html_url": format!("{}/settings/installations/{id}", self.base), "app_id": self.own_app,
            "target_id": installation.account, "target_type": kind, "permissions": installation.permissions,
            "events": events, "created_at": stamp(installation.created_at), "updated_at": stamp(installation.created_at),
            "single_file_name": null, "has_multiple_single_files": false, "single_file_paths": [], "app_slug": slug,
            "suspended_by": installation.suspended_at.map(|_| self.account_json(installation.account)),
            "suspended_at": installation.suspended_at.map(stamp),
        })
    }
}
