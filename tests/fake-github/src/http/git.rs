//! References, and the low-level way to make a commit (tree, commit, reference) that a revert needs.
//!
//! A tree made here is kept as a commit that nothing points at. Trees are named by what they hold, as git's are, so
//! that the same tree made twice is one; a commit's SHA is taken for its tree's, too.

use super::call::{Answer, Call, Reply};
use crate::{
    model::{commit::Changes, repo::Repo},
    refusal::Refusal,
    view::blob_sha,
};
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

/// The name of the tree of a commit: the same for the same files.
fn tree_sha(repo: &Repo, commit: &str) -> String {
    let mut listing = String::from("tree");
    for path in repo.paths(commit) {
        let blob = repo.content(commit, &path).map(|bytes| blob_sha(&bytes));
        listing.extend(["\n", &path, " ", &blob.unwrap_or_default()]);
    }
    blob_sha(listing.as_bytes())
}

/// A commit that holds the tree of this name.
fn holder(repo: &Repo, tree: &str) -> Option<String> {
    if repo.commits.contains_key(tree) {
        return Some(tree.to_owned());
    }
    repo.commits
        .keys()
        .find(|commit| tree_sha(repo, commit) == tree)
        .cloned()
}

/// Every file below a tree, directories too with `recursive`, as git lists them.
pub(super) fn show_tree(call: &mut Call<'_>) -> Answer {
    let repo = call.world.repo(call.repo)?;
    let name = call.param("tree_sha");
    let commit = holder(repo, name).ok_or_else(Refusal::not_found)?;
    let url = call.world.repo_url(repo);
    let mut entries = std::collections::BTreeMap::new();
    for path in repo.paths(&commit) {
        for (at, _) in path.match_indices('/') {
            let (above, _) = path.split_at(at);
            let sha = blob_sha(format!("{commit} {above}").as_bytes());
            entries.insert(
                above.to_owned(),
                json!({"path": above, "mode": "040000", "type": "tree", "sha": sha, "url": format!("{url}/git/trees/{sha}")}),
            );
        }
        let bytes = repo.content(&commit, &path).unwrap_or_default();
        let sha = blob_sha(&bytes);
        entries.insert(
            path.clone(),
            json!({"path": path, "mode": "100644", "type": "blob", "sha": sha, "size": bytes.len(), "url": format!("{url}/git/blobs/{sha}")}),
        );
    }
    let deep = call.query("recursive").is_some();
    let rows: Vec<Value> = entries
        .into_iter()
        .filter(|(path, _)| deep || !path.contains('/'))
        .map(|(_, row)| row)
        .collect();
    let sha = tree_sha(repo, &commit);
    Ok(Reply::ok(json!({
        "sha": sha, "url": format!("{url}/git/trees/{sha}"), "tree": rows, "truncated": false,
    })))
}

/// The flat shape of git's own commit.
fn git_commit(call: &Call<'_>, sha: &str) -> Result<Value, Refusal> {
    let full = call.world.commit_json(call.repo, sha);
    let inner = full.get("commit").ok_or_else(Refusal::not_found)?;
    let part = |name: &str| inner.get(name).cloned().unwrap_or(Value::Null);
    let repo = call.world.repo(call.repo)?;
    let tree = tree_sha(repo, sha);
    let tree_url = format!("{}/git/trees/{tree}", call.world.repo_url(repo));
    Ok(json!({
        "sha": sha, "node_id": full.get("node_id"), "url": part("url"), "html_url": full.get("html_url"),
        "author": part("author"), "committer": part("committer"), "message": part("message"),
        "tree": {"sha": tree, "url": tree_url},
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
    let base = match call.text("base_tree") {
        Some(name) => Some(
            holder(repo, name).ok_or_else(|| Refusal::invalid("base_tree is not a tree oid"))?,
        ),
        None => None,
    };
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
    let holder = call
        .world
        .add_commit(call.repo, "", actor, &parents, changes)?;
    let sha = tree_sha(call.world.repo(call.repo)?, &holder);
    let url = call.world.repo_url(call.world.repo(call.repo)?);
    Ok(Reply::created(
        json!({"sha": sha, "url": format!("{url}/git/trees/{sha}"), "tree": [], "truncated": false}),
    ))
}

fn blob_named(repo: &Repo, sha: &str) -> Option<std::sync::Arc<[u8]>> {
    let blobs = repo
        .commits
        .values()
        .flat_map(|commit| commit.changes.values().flatten());
    blobs
        .into_iter()
        .find(|bytes| blob_sha(bytes) == sha)
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
        .and_then(|tree| holder(repo, tree))
        .ok_or_else(|| Refusal::invalid("Tree SHA does not exist"))?;
    let tree = tree.as_str();
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
