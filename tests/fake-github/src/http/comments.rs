//! Comments on Issues and pull requests.

use super::call::{Answer, Call, Reply};
use chrono::DateTime;

pub(super) fn list(call: &mut Call<'_>) -> Answer {
    let number = call.id("issue_number")?;
    let since = call
        .query("since")
        .and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    let held = &call.world.issue(call.repo, number)?.comments;
    let found: Vec<_> = held
        .iter()
        .filter(|comment| since.is_none_or(|since| comment.updated_at >= since))
        .collect();
    Ok(call.page(&found, |comment| {
        call.world.comment_json(call.repo, number, comment)
    }))
}

pub(super) fn create(call: &mut Call<'_>) -> Answer {
    let (number, actor) = (call.id("issue_number")?, call.actor());
    let id = call.world.add_comment(
        call.repo,
        number,
        call.text("body").unwrap_or_default().to_owned().as_str(),
        actor,
    )?;
    let (number, comment) = call.world.comment(call.repo, id)?;
    Ok(Reply::created(
        call.world.comment_json(call.repo, number, comment),
    ))
}

pub(super) fn show(call: &mut Call<'_>) -> Answer {
    let (number, comment) = call.world.comment(call.repo, call.id("comment_id")?)?;
    Ok(Reply::ok(
        call.world.comment_json(call.repo, number, comment),
    ))
}

pub(super) fn edit(call: &mut Call<'_>) -> Answer {
    let (id, actor) = (call.id("comment_id")?, call.actor());
    let body = call.text("body").unwrap_or_default().to_owned();
    call.world.edit_comment(call.repo, id, &body, actor)?;
    show(call)
}

pub(super) fn delete(call: &mut Call<'_>) -> Answer {
    let (id, actor) = (call.id("comment_id")?, call.actor());
    call.world.delete_comment(call.repo, id, actor)?;
    Ok(Reply::nothing())
}
