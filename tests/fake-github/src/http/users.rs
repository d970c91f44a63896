//! Accounts and team membership. A renamed account's old login is 404, or somebody else.

use super::call::{Answer, Call, Reply};
use crate::{AccountKind, model::issue::merge, refusal::Refusal};
use serde_json::{Value, json};

fn profile(call: &Call<'_>, id: u64) -> Value {
    let mut seen = call.world.account_json(id);
    merge(
        &mut seen,
        json!({"name": null, "company": null, "blog": "", "location": null, "email": null, "hireable": null,
        "bio": null, "twitter_username": null, "public_repos": 0, "public_gists": 0, "followers": 0, "following": 0,
        "created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z"}),
    );
    seen
}

pub(super) fn by_login(call: &mut Call<'_>) -> Answer {
    let id = call
        .world
        .account_named(call.param("username"))
        .map(|account| account.id);
    id.map(|id| Reply::ok(profile(call, id)))
        .ok_or_else(Refusal::not_found)
}

pub(super) fn by_id(call: &mut Call<'_>) -> Answer {
    let id = call.id("account_id")?;
    call.world
        .account(id)
        .map(|account| Reply::ok(profile(call, account.id)))
        .ok_or_else(Refusal::not_found)
}

pub(super) fn organization(call: &mut Call<'_>) -> Answer {
    let found = call
        .world
        .account_named(call.param("org"))
        .filter(|account| account.kind == AccountKind::Organization);
    found
        .and_then(|account| call.world.organization_json(account.id))
        .map(Reply::ok)
        .ok_or_else(Refusal::not_found)
}

pub(super) fn membership(call: &mut Call<'_>) -> Answer {
    let key = format!("{}/{}", call.param("org"), call.param("team_slug")).to_ascii_lowercase();
    let member = call
        .world
        .account_named(call.param("username"))
        .map(|account| account.id);
    let members = call.world.teams.get(&key).ok_or_else(Refusal::not_found)?;
    if !member.is_some_and(|id| members.contains(&id)) {
        return Err(Refusal::not_found());
    }
    let url = format!("{}{}", call.world.base, call.asked);
    Ok(Reply::ok(
        json!({"url": url, "role": "member", "state": "active"}),
    ))
}
