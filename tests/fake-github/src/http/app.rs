//! The App's own routes: itself, installations, tokens, deliveries, limits.
#![allow(clippy::unnecessary_wraps, reason = "all handlers have one type")]

use super::call::{Answer, Call, Content, Reply};
use crate::refusal::Refusal;
use serde_json::{Value, json};

pub(super) fn show(call: &mut Call<'_>) -> Answer {
    let app = call.world.app(call.world.own_app)?;
    Ok(Reply::ok(call.world.app_json(app)))
}

pub(super) fn installations(call: &mut Call<'_>) -> Answer {
    let all: Vec<_> = call.world.installations.values().collect();
    Ok(call.page(&all, |installation| {
        call.world.installation_json(installation)
    }))
}

pub(super) fn installation(call: &mut Call<'_>) -> Answer {
    let installation = call.world.installation(call.id("installation_id")?)?;
    Ok(Reply::ok(call.world.installation_json(installation)))
}

pub(super) fn of_repo(call: &mut Call<'_>) -> Answer {
    let installation = call
        .world
        .installation_of_repo(call.repo)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::ok(call.world.installation_json(installation)))
}

pub(super) fn mint(call: &mut Call<'_>) -> Answer {
    let id = call.id("installation_id")?;
    Ok(Reply::created(call.world.mint(id, call.body)?))
}

pub(super) fn repositories(call: &mut Call<'_>) -> Answer {
    let crate::auth::Caller::Installation { token, .. } = &call.caller else {
        return Err(Refusal::permission());
    };
    let opened = call.world.repos_of_token(token)?;
    let repos: Vec<_> = opened
        .iter()
        .filter_map(|id| call.world.repos.get(id))
        .collect();
    let mut reply = call.counted("repositories", &repos, |repo| call.world.repo_json(repo));
    if let Content::Json(Value::Object(members)) = &mut reply.content {
        members.insert("repository_selection".into(), json!("selected"));
    }
    Ok(reply)
}

/// Newest first, by cursor.
pub(super) fn deliveries(call: &mut Call<'_>) -> Answer {
    let (_, size) = call.paging();
    let before: u64 = call
        .query("cursor")
        .and_then(|text| text.strip_prefix("v1_")?.parse().ok())
        .unwrap_or(u64::MAX);
    let wanted = call.query("status");
    // What still waits was not delivered yet and is not listed.
    let done = call
        .world
        .hooks
        .log
        .iter()
        .rev()
        .filter(|delivery| delivery.id < before);
    let rows: Vec<_> = done
        .filter_map(|delivery| Some((delivery, delivery.answered?)))
        .filter(|(_, code)| {
            wanted.is_none_or(|wanted| (wanted == "success") == (200..300).contains(code))
        })
        .map(|(delivery, _)| delivery)
        .collect();
    let page: Vec<Value> = rows
        .iter()
        .take(size)
        .map(|delivery| delivery.json())
        .collect();
    let last = rows
        .iter()
        .take(size)
        .next_back()
        .filter(|_| rows.len() > size);
    let link = last.map(|delivery| {
        format!(
            "<{}/app/hook/deliveries?per_page={size}&cursor=v1_{}>; rel=\"next\"",
            call.world.base, delivery.id
        )
    });
    Ok(Reply {
        status: 200,
        content: Content::Json(Value::Array(page)),
        link,
    })
}

pub(super) fn delivery(call: &mut Call<'_>) -> Answer {
    let id = call.id("delivery_id")?;
    let delivery = call
        .world
        .hooks
        .log
        .iter()
        .find(|delivery| delivery.id == id)
        .ok_or_else(Refusal::not_found)?;
    let mut seen = delivery.json();
    let payload: Value = serde_json::from_str(&delivery.body).unwrap_or(Value::Null);
    crate::model::issue::merge(
        &mut seen,
        json!({"request": {"headers": {}, "payload": payload}, "response": {"headers": {}, "payload": ""}}),
    );
    Ok(Reply::ok(seen))
}

pub(super) fn redeliver(call: &mut Call<'_>) -> Answer {
    let id = call.id("delivery_id")?;
    if call.world.redeliver(id) {
        Ok(Reply::status(202, json!({})))
    } else {
        Err(Refusal::not_found())
    }
}

pub(super) fn rate_limit(call: &mut Call<'_>) -> Answer {
    let installation = call.caller.installation().unwrap_or(0);
    let core = call.world.limits.json(installation, call.world.now());
    Ok(Reply::ok(
        json!({"resources": {"core": core, "search": core, "graphql": core}, "rate": core}),
    ))
}
