//! Accounts and team membership. A renamed account's old login is 404, or somebody else.

#![allow(clippy::unnecessary_wraps, reason = "all handlers have one type")]

use super::call::{Answer, Call, Reply};
use crate::{AccountKind, auth::Caller, model::issue::merge, refusal::Refusal};
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

fn person(call: &Call<'_>) -> u64 {
    match call.caller {
        Caller::Person { id } => id,
        Caller::Nobody | Caller::App | Caller::Installation { .. } => 0,
    }
}

pub(super) fn signed_in(call: &mut Call<'_>) -> Answer {
    Ok(Reply::ok(profile(call, person(call))))
}

/// The installations with a repository that the person was given a role in.
pub(super) fn installations(call: &mut Call<'_>) -> Answer {
    let me = person(call);
    let all: Vec<_> = call
        .world
        .installations
        .values()
        .filter(|held| {
            held.suspended_at.is_none() && !call.world.readable_in(held.id, me).is_empty()
        })
        .collect();
    Ok(call.counted("installations", &all, |held| {
        call.world.installation_json(held)
    }))
}

pub(super) fn repositories(call: &mut Call<'_>) -> Answer {
    let id = call.id("installation_id")?;
    let repos: Vec<_> = call
        .world
        .readable_in(id, person(call))
        .into_iter()
        .filter_map(|id| call.world.repos.get(&id))
        .collect();
    if repos.is_empty() {
        return Err(Refusal::not_found());
    }
    Ok(call.counted("repositories", &repos, |repo| call.world.repo_json(repo)))
}
