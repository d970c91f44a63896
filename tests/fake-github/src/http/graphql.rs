//! GraphQL, as far as there is no other way: auto-merge and the merge queue. Errors come with status 200.

use super::call::{Answer, Call, Reply};
use crate::{model::World, refusal::Refusal};
use serde_json::{Value, json};

/// What a document did, or type and message of its error.
type Done = Result<Value, (&'static str, String)>;

#[allow(clippy::unnecessary_wraps)] // a handler of the table
pub(super) fn answer(call: &mut Call<'_>) -> Answer {
    let document = call.text("query").unwrap_or_default().to_owned();
    let variables = call.body.get("variables").cloned().unwrap_or_default();
    let input = variables.get("input").unwrap_or(&variables).clone();
    let actor = call.actor();
    let may_write = call.may_write_contents();
    let asked = |name: &str| document.contains(&format!("{name}("));
    let done = if document.contains("isInMergeQueue") {
        text(&input, "id").and_then(|id| is_queued(call.world, id))
    } else if !may_write {
        Err(("FORBIDDEN", "Resource not accessible by integration".into()))
    } else if asked("enablePullRequestAutoMerge") {
        enable(call.world, &input, actor).map(|()| named("enablePullRequestAutoMerge"))
    } else if asked("disablePullRequestAutoMerge") {
        disable(call.world, &input).map(|()| named("disablePullRequestAutoMerge"))
    } else if asked("enqueuePullRequest") {
        enqueue(call.world, &input).map(|()| named("enqueuePullRequest"))
    } else {
        Err(("INVALID", "this document is not known here".into()))
    };
    Ok(Reply::ok(match done {
        Ok(data) => json!({"data": data}),
        Err((kind, message)) => json!({
            "data": null,
            "errors": [{"type": kind, "path": [], "locations": [], "message": message}],
        }),
    }))
}

fn named(mutation: &str) -> Value {
    json!({mutation: {"clientMutationId": null}})
}

fn text<'a>(input: &'a Value, name: &str) -> Result<&'a str, (&'static str, String)> {
    let missing = || ("INVALID", format!("`{name}` is missing"));
    input.get(name).and_then(Value::as_str).ok_or_else(missing)
}

/// Repository and number of a node id.
fn pull_of(world: &World, id: &str) -> Result<(u64, u64), (&'static str, String)> {
    world.pull_with_node(id).ok_or_else(|| {
        (
            "NOT_FOUND",
            format!("Could not resolve to a node with the global id of '{id}'"),
        )
    })
}

fn refused(refusal: &Refusal) -> (&'static str, String) {
    ("UNPROCESSABLE", refusal.message.clone())
}

fn is_queued(world: &World, id: &str) -> Done {
    let (repo, number) = pull_of(world, id)?;
    let pull = world.pull(repo, number).map_err(|error| refused(&error))?;
    Ok(json!({"node": {"isInMergeQueue": pull.queued}}))
}

/// The pull request of a mutation, if it has the expected head and is open.
fn target(world: &World, input: &Value) -> Result<(u64, u64), (&'static str, String)> {
    let (repo, number) = pull_of(world, text(input, "pullRequestId")?)?;
    let pull = world.pull(repo, number).map_err(|error| refused(&error))?;
    let expected = input.get("expectedHeadOid").and_then(Value::as_str);
    if expected.is_some_and(|sha| sha != pull.head.sha) {
        return Err((
            "UNPROCESSABLE",
            "Head sha didn't match the expected one".into(),
        ));
    }
    let issue = world.issue(repo, number).map_err(|error| refused(&error))?;
    if !issue.open || pull.draft {
        return Err(("UNPROCESSABLE", "Pull request is in unstable status".into()));
    }
    Ok((repo, number))
}

fn enable(world: &mut World, input: &Value, actor: u64) -> Result<(), (&'static str, String)> {
    let (repo, number) = target(world, input)?;
    let method = text(input, "mergeMethod")?.to_ascii_lowercase();
    if world
        .is_clean(repo, number)
        .map_err(|error| refused(&error))?
    {
        return Err((
            "UNPROCESSABLE",
            "Pull request Pull request is in clean status".into(),
        ));
    }
    let pull = world
        .pull_mut(repo, number)
        .map_err(|error| refused(&error))?;
    pull.auto_merge = Some((actor, method));
    Ok(())
}

fn disable(world: &mut World, input: &Value) -> Result<(), (&'static str, String)> {
    let (repo, number) = pull_of(world, text(input, "pullRequestId")?)?;
    let pull = world
        .pull_mut(repo, number)
        .map_err(|error| refused(&error))?;
    if pull.auto_merge.take().is_none() {
        return Err((
            "UNPROCESSABLE",
            "Can't disable auto-merge for this pull request.".into(),
        ));
    }
    Ok(())
}

fn enqueue(world: &mut World, input: &Value) -> Result<(), (&'static str, String)> {
    let (repo, number) = target(world, input)?;
    let pull = world
        .pull_mut(repo, number)
        .map_err(|error| refused(&error))?;
    if std::mem::replace(&mut pull.queued, true) {
        return Err((
            "UNPROCESSABLE",
            "Pull request is already in the queue".into(),
        ));
    }
    Ok(())
}
