//! References, and the low-level way to make a commit (tree, commit, reference) that a revert needs.
//!
//! A tree made here is kept as a commit without parents that nothing points at; its SHA is the tree's.

use super::call::{Answer, Call, Reply};
use crate::{model::commit::Changes, refusal::Refusal};
use serde_json::{Value, json};

fn ref_json(call: &Call<'_>, name: &str, sha: &str) -> Result<Value, Refusal> {
    let url = call.world.repo_url(call.world.repo(call.repo)?);
    Ok(json!({
        "ref": format!("refs/heads/{name}"), "node_id": format!("REF_{name}"), "url": format!("{url}/git/refs/heads/{name}"),
        "object": {"type": "commit", "sha": sha, "url": format!("{url}/git/commits/{sha}")},
    }))
}

pub(super) fn show_ref(call: &mut Call<'_>) -> Answer {
    let name = call
        .param("ref")
        .strip_prefix("heads/")
        .ok_or_else(Refusal::not_found)?;
    let sha = call
        .world
        .repo(call.repo)?
        .branches
        .get(name)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::ok(ref_json(call, name, sha)?))
}

pub(super) fn create_ref(call: &mut Call<'_>) -> Answer {
    let text = |name: &str| call.text(name).unwrap_or_default().to_owned();
    let (name, sha, actor) = (text("ref"), text("sha"), call.actor());
    call.world.create_ref(call.repo, &name, &sha, actor)?;
    Ok(Reply::created(ref_json(
        call,
        name.trim_start_matches("refs/heads/"),
        &sha,
    )?))
}

pub(super) fn update_ref(call: &mut Call<'_>) -> Answer {
    let name = call
        .param("ref")
        .strip_prefix("heads/")
        .ok_or_else(Refusal::not_found)?
        .to_owned();
    let (sha, actor) = (
        call.text("sha").unwrap_or_default().to_owned(),
        call.actor(),
    );
    let repo = call.world.repo(call.repo)?;
    let tip = repo
        .branches
        .get(&name)
        .ok_or_else(|| Refusal::invalid("Reference does not exist"))?;
    let forward = repo.ancestors(&sha).contains(tip);
    if !forward && call.body.get("force") != Some(&Value::Bool(true)) {
        return Err(Refusal::invalid("Update is not a fast forward"));
    }
    call.world.set_branch(call.repo, &name, &sha, actor)?;
    Ok(Reply::ok(ref_json(call, &name, &sha)?))
}

pub(super) fn delete_ref(call: &mut Call<'_>) -> Answer {
    let name = call
        .param("ref")
        .strip_prefix("heads/")
        .ok_or_else(Refusal::not_found)?
        .to_owned();
    call.world.delete_ref(call.repo, &name)?;
    Ok(Reply::nothing())
}

/// The flat shape of git's own commit.
fn git_commit(call: &Call<'_>, sha: &str) -> Result<Value, Refusal> {
    let full = call.world.commit_json(call.repo, sha);
    let inner = full.get("commit").ok_or_else(Refusal::not_found)?;
    let part = |name: &str| inner.get(name).cloned().unwrap_or(Value::Null);
    Ok(json!({
        "sha": sha, "node_id": full.get("node_id"), "url": part("url"), "html_url": full.get("html_url"),
        "author": part("author"), "committer": part("committer"), "message": part("message"), "tree": part("tree"),
        "parents": full.get("parents"), "verification": part("verification"),
    }))
}

pub(super) fn show_commit(call: &mut Call<'_>) -> Answer {
    Ok(Reply::ok(git_commit(call, call.param("commit_sha"))?))
}

/// Everything at `base_tree`, with the given paths replaced (`sha: null` removes).
pub(super) fn create_tree(call: &mut Call<'_>) -> Answer {
    let actor = call.actor();
    let repo = call.world.repo(call.repo)?;
    let base = call.text("base_tree").map(str::to_owned);
    let mut changes = Changes::new();
    for entry in call
        .body
        .get("tree")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let path = entry
            .get("path")
            .and_then(Value::as_str)
            .ok_or_else(|| Refusal::invalid("tree.path is missing"))?;
        let bytes = match (
            entry.get("content").and_then(Value::as_str),
            entry.get("sha").and_then(Value::as_str),
        ) {
            (Some(content), _) => Some(content.as_bytes().into()),
            (None, Some(blob)) => Some(
                blob_named(repo, blob)
                    .ok_or_else(|| Refusal::invalid("tree.sha does not exist"))?,
            ),
            (None, None) => None,
        };
        changes.insert(path.into(), bytes);
    }
    let parents: Vec<String> = base.into_iter().collect();
    let sha = call
        .world
        .add_commit(call.repo, "", actor, &parents, changes)?;
    let url = call.world.repo_url(call.world.repo(call.repo)?);
    Ok(Reply::created(
        json!({"sha": sha, "url": format!("{url}/git/trees/{sha}"), "tree": [], "truncated": false}),
    ))
}

fn blob_named(repo: &crate::model::repo::Repo, sha: &str) -> Option<std::sync::Arc<[u8]>> {
    let blobs = repo
        .commits
        .values()
        .flat_map(|commit| commit.changes.values().flatten());
    blobs
        .into_iter()
        .find(|bytes| crate::view::blob_sha(bytes) == sha)
        .cloned()
}

pub(super) fn create_commit(call: &mut Call<'_>) -> Answer {
    let (actor, message) = (
        call.actor(),
        call.text("message").unwrap_or_default().to_owned(),
    );
    let parents = call
        .body
        .get("parents")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let parents: Vec<String> = parents.filter_map(Value::as_str).map(Into::into).collect();
    let repo = call.world.repo(call.repo)?;
    let tree = call
        .text("tree")
        .filter(|tree| repo.commits.contains_key(*tree))
        .ok_or_else(|| Refusal::invalid("Tree SHA does not exist"))?;
    // What the tree has and the first parent has not, and the other way round.
    let first = parents.first().cloned().unwrap_or_default();
    let paths = &repo.paths(tree) | &repo.paths(&first);
    let changes: Changes = paths
        .into_iter()
        .map(|path| (repo.content(tree, &path), repo.content(&first, &path), path))
        .filter(|(new, old, _)| new != old)
        .map(|(new, _, path)| (path, new))
        .collect();
    let sha = call
        .world
        .add_commit(call.repo, &message, actor, &parents, changes)?;
    Ok(Reply::created(git_commit(call, &sha)?))
}
