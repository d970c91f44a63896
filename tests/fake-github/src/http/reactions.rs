//! Reactions on Issues and comments.

use super::call::{Answer, Call, Reply};
use crate::model::reaction::Reaction;

fn fitting<'a>(call: &Call<'_>, reactions: &'a [Reaction]) -> Vec<&'a Reaction> {
    reactions
        .iter()
        .filter(|reaction| {
            call.query("content")
                .is_none_or(|content| reaction.content == content)
        })
        .collect()
}

pub(super) fn list(call: &mut Call<'_>) -> Answer {
    let issue = call.world.issue(call.repo, call.id("issue_number")?)?;
    Ok(call.page(&fitting(call, &issue.reactions), |reaction| {
        call.world.reaction_json(reaction)
    }))
}

pub(super) fn of_comment(call: &mut Call<'_>) -> Answer {
    let (_, comment) = call.world.comment(call.repo, call.id("comment_id")?)?;
    Ok(call.page(&fitting(call, &comment.reactions), |reaction| {
        call.world.reaction_json(reaction)
    }))
}

pub(super) fn create(call: &mut Call<'_>) -> Answer {
    let (number, actor) = (call.id("issue_number")?, call.actor());
    let content = call.text("content").unwrap_or_default().to_owned();
    let (reaction, new) = call.world.react(call.repo, number, &content, actor)?;
    Ok(Reply::status(
        if new { 201 } else { 200 },
        call.world.reaction_json(&reaction),
    ))
}

pub(super) fn to_comment(call: &mut Call<'_>) -> Answer {
    let (id, actor) = (call.id("comment_id")?, call.actor());
    let content = call.text("content").unwrap_or_default().to_owned();
    let (reaction, new) = call
        .world
        .react_to_comment(call.repo, id, &content, actor)?;
    Ok(Reply::status(
        if new { 201 } else { 200 },
        call.world.reaction_json(&reaction),
    ))
}

pub(super) fn delete(call: &mut Call<'_>) -> Answer {
    let (number, id) = (call.id("issue_number")?, call.id("reaction_id")?);
    call.world.unreact(call.repo, number, id)?;
    Ok(Reply::nothing())
}
