//! Check-runs and suites.

use super::{
    call::{Answer, Call, Reply},
    commits::named,
};
use crate::{model::check::CheckRun, refusal::Refusal};
use serde_json::{Value, json};

pub(super) fn create(call: &mut Call<'_>) -> Answer {
    let id = call
        .world
        .create_run(call.repo, call.world.own_app, call.body)?;
    let run = call.world.check_run(call.repo, id)?;
    Ok(Reply::created(call.world.run_json(call.repo, run, false)))
}

pub(super) fn update(call: &mut Call<'_>) -> Answer {
    let id = call.id("check_run_id")?;
    call.world
        .update_run(call.repo, id, call.world.own_app, call.body)?;
    show(call)
}

pub(super) fn show(call: &mut Call<'_>) -> Answer {
    let run = call.world.check_run(call.repo, call.id("check_run_id")?)?;
    Ok(Reply::ok(call.world.run_json(call.repo, run, false)))
}

pub(super) fn annotations(call: &mut Call<'_>) -> Answer {
    let run = call.world.check_run(call.repo, call.id("check_run_id")?)?;
    Ok(call.page(&run.annotations, |given| {
        let mut seen = json!({"start_column": null, "end_column": null, "title": null, "raw_details": null, "blob_href": ""});
        crate::model::issue::merge(&mut seen, given.clone());
        seen
    }))
}

fn filtered<'a>(call: &Call<'_>, runs: Vec<&'a CheckRun>) -> Vec<&'a CheckRun> {
    let app: Option<u64> = call.query("app_id").and_then(|text| text.parse().ok());
    runs.into_iter()
        .filter(|run| call.query("check_name").is_none_or(|name| run.name == name))
        .filter(|run| {
            call.query("status")
                .is_none_or(|status| run.status == status)
        })
        .filter(|run| app.is_none_or(|app| run.app == app))
        .collect()
}

pub(super) fn on_commit(call: &mut Call<'_>) -> Answer {
    let sha = named(call, "ref")?;
    let runs = filtered(
        call,
        call.world
            .runs_on(call.repo, &sha, call.query("filter") != Some("all"))?,
    );
    Ok(call.counted("check_runs", &runs, |run| {
        call.world.run_json(call.repo, run, false)
    }))
}

pub(super) fn in_suite(call: &mut Call<'_>) -> Answer {
    let suite = call
        .world
        .check_suite(call.repo, call.id("check_suite_id")?)?;
    let all = call.world.runs_on(
        call.repo,
        &suite.head_sha,
        call.query("filter") != Some("all"),
    )?;
    let runs = filtered(
        call,
        all.into_iter()
            .filter(|run| run.suite == suite.id)
            .collect(),
    );
    Ok(call.counted("check_runs", &runs, |run| {
        call.world.run_json(call.repo, run, false)
    }))
}

pub(super) fn suites(call: &mut Call<'_>) -> Answer {
    let sha = named(call, "ref")?;
    let app: Option<u64> = call.query("app_id").and_then(|text| text.parse().ok());
    let held = call.world.repo(call.repo)?.suites.values();
    let suites: Vec<_> = held
        .filter(|suite| suite.head_sha == sha && app.is_none_or(|app| suite.app == app))
        .collect();
    Ok(call.counted("check_suites", &suites, |suite| {
        call.world.suite_json(call.repo, suite)
    }))
}

pub(super) fn rerequest(call: &mut Call<'_>) -> Answer {
    let (id, actor) = (call.id("check_run_id")?, call.actor());
    call.world.rerequest_run(call.repo, id, actor)?;
    Ok(Reply::created(Value::Object(serde_json::Map::new())))
}

pub(super) fn rerequest_suite(call: &mut Call<'_>) -> Answer {
    let (id, actor) = (call.id("check_suite_id")?, call.actor());
    call.world
        .check_suite(call.repo, id)
        .map_err(|_| Refusal::not_found())?;
    call.world.rerequest_suite(call.repo, id, actor)?;
    Ok(Reply::created(Value::Object(serde_json::Map::new())))
}
