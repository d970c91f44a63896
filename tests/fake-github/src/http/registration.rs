//! Registering an App (the page that takes a manifest, the exchange of its code), its webhook's settings, and what a
//! branch requires.
#![allow(clippy::unnecessary_wraps, reason = "all handlers have one type")]

use super::call::{Answer, Call, Content, Reply};
use super::routes::{Door, Level, Route};
use super::{Incoming, Replied, refused};
use crate::model::World;
use crate::refusal::Refusal;
use serde_json::{Value, json};

pub(super) static ROUTES: &[Route] = &[
    Route {
        method: "POST",
        template: "/app-manifests/{code}/conversions",
        door: Door::Nobody,
        handler: convert,
    },
    Route {
        method: "GET",
        template: "/app/hook/config",
        door: Door::App,
        handler: hook_config,
    },
    Route {
        method: "GET",
        template: "/repos/{owner}/{repo}/rules/branches/{branch}",
        door: Door::Token(&[("metadata", Level::Read)]),
        handler: rules,
    },
];

/// Operations above that GitHub's description was not cut to.
pub(crate) const UNDESCRIBED: [&str; 3] = [
    "GET /app/hook/config",
    "GET /repos/{owner}/{repo}/rules/branches/{branch}",
    "POST /app-manifests/{code}/conversions",
];

fn convert(call: &mut Call<'_>) -> Answer {
    let code = call.param("code").to_owned();
    Ok(Reply::created(call.world.convert_manifest(&code)?))
}

fn hook_config(call: &mut Call<'_>) -> Answer {
    Ok(Reply::ok(call.world.registration.hook.json()))
}

fn rules(call: &mut Call<'_>) -> Answer {
    let repo = call.world.repo(call.repo)?;
    let source = call.world.full_name(repo);
    let ruled = call.world.registration.ruled.get(&call.repo);
    let checks: Vec<Value> = ruled
        .into_iter()
        .flatten()
        .map(|(context, app)| match app {
            Some(app) => json!({"context": context, "integration_id": app}),
            None => json!({"context": context}),
        })
        .collect();
    let mut all = vec![
        json!({"type": "deletion", "ruleset_source_type": "Repository",
        "ruleset_source": source, "ruleset_id": 41}),
    ];
    if !checks.is_empty() {
        all.push(
            json!({"type": "required_status_checks", "ruleset_source_type": "Repository",
            "ruleset_source": source, "ruleset_id": 42, "parameters": {
                "strict_required_status_checks_policy": false, "required_status_checks": checks}}),
        );
    }
    Ok(call.page(&all, Clone::clone))
}

/// GitHub's pages, as far as a browser is sent to them from outside; `None`: not one of them.
pub(super) fn page(world: &mut World, request: &Incoming) -> Option<Replied> {
    let path = request.path.as_str();
    let org = path
        .strip_prefix("/organizations/")
        .and_then(|rest| rest.strip_suffix("/settings/apps/new"));
    if request.method != "POST" || (org.is_none() && path != "/settings/apps/new") {
        return None;
    }
    let sent = sent(world, org, request);
    Some(sent.unwrap_or_else(|refusal| refused(&refusal)))
}

/// The person presses the button at once: back to where the manifest says.
fn sent(world: &mut World, org: Option<&str>, request: &Incoming) -> Result<Replied, Refusal> {
    let body = String::from_utf8_lossy(&request.body);
    let form = super::wire::pairs(&body);
    let manifest = form
        .iter()
        .find(|(name, _)| name == "manifest")
        .and_then(|(_, text)| serde_json::from_str::<Value>(text).ok())
        .ok_or_else(|| Refusal::new(400, "no manifest"))?;
    let code = world.submit_manifest(org, &manifest)?;
    let back = manifest.get("redirect_url").and_then(Value::as_str);
    let state = request.query.iter().find(|(name, _)| name == "state");
    let state = state.map_or("", |(_, value)| value);
    let to = format!("{}?code={code}&state={state}", back.unwrap_or_default());
    let reply = Reply {
        status: 302,
        content: Content::Empty,
        link: None,
    };
    Ok((reply, Some(to)))
}
