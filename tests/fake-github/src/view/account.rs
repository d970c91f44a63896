//! Accounts as JSON; a deleted one is `null`.

use crate::model::World;
use serde_json::{Value, json};

impl World {
    pub(crate) fn account_json(&self, id: u64) -> Value {
        let Some(account) = self.account(id) else {
            return Value::Null;
        };
        let (base, login) = (&self.base, &account.login);
        let url = format!(
            "{base}/users/{}",
            percent_encoding::utf8_percent_encode(login, percent_encoding::NON_ALPHANUMERIC)
        );
        json!({
            "login": login, "id": id, "node_id": format!("U_{id}"), "avatar_url": format!("{base}/avatars/{id}"),
            "gravatar_id": "", "url": url, "html_url": format!("{base}/{}", login.replace(['[', ']'], "-")),
            "followers_url": format!("{url}/followers"), "following_url": format!("{url}/following{{/other_user}}"),
            "gists_url": format!("{url}/gists{{/gist_id}}"), "starred_url": format!("{url}/starred{{/owner}}{{/repo}}"),
            "subscriptions_url": format!("{url}/subscriptions"), "organizations_url": format!("{url}/orgs"),
            "repos_url": format!("{url}/repos"), "events_url": format!("{url}/events{{/privacy}}"),
            "received_events_url": format!("{url}/received_events"), "type": account.kind.as_str(), "site_admin": false,
            "user_view_type": "public",
        })
    }

    pub(crate) fn organization_json(&self, id: u64) -> Option<Value> {
        let account = self
            .account(id)
            .filter(|account| account.kind == crate::AccountKind::Organization)?;
        let url = format!("{}/orgs/{}", self.base, account.login);
        Some(json!({
            "login": account.login, "id": id, "node_id": format!("O_{id}"), "url": url,
            "repos_url": format!("{url}/repos"), "events_url": format!("{url}/events"), "hooks_url": format!("{url}/hooks"),
            "issues_url": format!("{url}/issues"), "members_url": format!("{url}/members{{/member}}"),
            "public_members_url": format!("{url}/public_members{{/member}}"),
            "avatar_url": format!("{}/avatars/{id}", self.base), "description": "",
        }))
    }

    pub(crate) fn association(&self, repo: u64, account: u64) -> &'static str {
        let Ok(held) = self.repo(repo) else {
            return "NONE";
        };
        if held.owner == account {
            return "OWNER";
        }
        match self.permission_of(repo, account) {
            Ok(("admin" | "write", _)) => "MEMBER",
            _ => "NONE",
        }
    }
}
