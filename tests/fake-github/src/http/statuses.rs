//! Commit statuses.

use super::{
    call::{Answer, Call, Content, Reply},
    commits::named,
};
use serde_json::{Value, json};

pub(super) fn create(call: &mut Call<'_>) -> Answer {
    let (sha, actor) = (call.param("sha").to_owned(), call.actor());
    let text = |name: &str| call.text(name).map(str::to_owned);
    let (context, state) = (
        text("context").unwrap_or_else(|| "default".into()),
        text("state").unwrap_or_default(),
    );
    let (description, target) = (text("description"), text("target_url"));
    let status = call.world.add_status(
        call.repo,
        &sha,
        &context,
        &state,
        (description.as_deref(), target.as_deref()),
        actor,
    )?;
    let repo = call.world.repo(call.repo)?;
    Ok(Reply::created(call.world.status_json(repo, &status)))
}

pub(super) fn combined(call: &mut Call<'_>) -> Answer {
    let sha = named(call, "ref")?;
    let (state, latest) = call.world.combined(call.repo, &sha)?;
    let repo = call.world.repo(call.repo)?;
    let mut reply = call.page(&latest, |status| {
        let mut seen = call.world.status_json(repo, status);
        if let Some(members) = seen.as_object_mut() {
            members.remove("creator");
        }
        seen
    });
    let Content::Json(statuses) = std::mem::replace(&mut reply.content, Content::Empty) else {
        return Ok(reply);
    };
    let url = call.world.repo_url(repo);
    reply.content = Content::Json(json!({
        "state": state, "statuses": statuses, "sha": sha, "total_count": latest.len(),
        "repository": call.world.repo_json(repo), "commit_url": format!("{url}/commits/{sha}"),
        "url": format!("{url}/commits/{sha}/status"),
    }));
    Ok(reply)
}

pub(super) fn list(call: &mut Call<'_>) -> Answer {
    let sha = named(call, "ref")?;
    let repo = call.world.repo(call.repo)?;
    let all: Vec<_> = repo
        .statuses
        .iter()
        .rev()
        .filter(|status| status.sha == sha)
        .collect();
    Ok(call.page(&all, |status| -> Value {
        call.world.status_json(repo, status)
    }))
}
