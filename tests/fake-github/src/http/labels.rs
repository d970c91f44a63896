//! Labels of the repository and of one Issue.

use super::{
    call::{Answer, Call, Reply},
    issues::label_names,
};
use crate::refusal::Refusal;

pub(super) fn list(call: &mut Call<'_>) -> Answer {
    let repo = call.world.repo(call.repo)?;
    Ok(call.page(&repo.labels, |label| call.world.label_json(repo, label)))
}

pub(super) fn show(call: &mut Call<'_>) -> Answer {
    let repo = call.world.repo(call.repo)?;
    let label = repo
        .label(call.param("name"))
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::ok(call.world.label_json(repo, label)))
}

pub(super) fn create(call: &mut Call<'_>) -> Answer {
    let text = |name: &str| call.text(name).map(str::to_owned);
    let (name, color, description) = (
        text("name").unwrap_or_default(),
        text("color"),
        text("description"),
    );
    let label =
        call.world
            .create_label(call.repo, &name, color.as_deref(), description.as_deref())?;
    let repo = call.world.repo(call.repo)?;
    Ok(Reply::created(call.world.label_json(repo, &label)))
}

fn present(call: &Call<'_>) -> Answer {
    let issue = call.world.issue(call.repo, call.id("issue_number")?)?;
    let repo = call.world.repo(call.repo)?;
    Ok(Reply::ok(call.world.labels_json(repo, &issue.labels)))
}

pub(super) fn on_issue(call: &mut Call<'_>) -> Answer {
    let issue = call.world.issue(call.repo, call.id("issue_number")?)?;
    let repo = call.world.repo(call.repo)?;
    let labels: Vec<_> = issue
        .labels
        .iter()
        .filter_map(|name| repo.label(name))
        .collect();
    Ok(call.page(&labels, |label| call.world.label_json(repo, label)))
}

pub(super) fn add(call: &mut Call<'_>) -> Answer {
    let (number, actor) = (call.id("issue_number")?, call.actor());
    for name in label_names(call.body).unwrap_or_default() {
        call.world.add_label(call.repo, number, &name, actor)?;
    }
    present(call)
}

pub(super) fn replace(call: &mut Call<'_>) -> Answer {
    let (number, actor) = (call.id("issue_number")?, call.actor());
    call.world.replace_labels(
        call.repo,
        number,
        &label_names(call.body).unwrap_or_default(),
        actor,
    )?;
    present(call)
}

pub(super) fn remove(call: &mut Call<'_>) -> Answer {
    let (number, actor) = (call.id("issue_number")?, call.actor());
    let name = call.param("name").to_owned();
    call.world.remove_label(call.repo, number, &name, actor)?;
    present(call)
}
