//! File contents: as JSON with base64, raw by media type, directories as lists; and writing one file.

use super::call::{Answer, Call, Reply};
use crate::{
    model::{World, commit::Changes, repo::Repo},
    refusal::Refusal,
    view::blob_sha,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Above this GitHub sends no content in JSON.
const MAX_INLINE: usize = 1024 * 1024;

fn entry(world: &World, repo: &Repo, path: &str, sha: &str, bytes: Option<&[u8]>) -> Value {
    let escaped = percent_encoding::utf8_percent_encode(path, crate::view::PATH);
    let url = format!("{}/contents/{escaped}?ref={sha}", world.repo_url(repo));
    let page = world.repo_page(repo);
    let kind = if bytes.is_some() { "file" } else { "dir" };
    let blob = bytes.map_or_else(|| blob_sha(path.as_bytes()), blob_sha);
    let git = format!("{}/git/blobs/{blob}", world.repo_url(repo));
    let html = format!("{page}/blob/{sha}/{escaped}");
    json!({
        "type": kind, "size": bytes.map_or(0, <[u8]>::len), "name": path.rsplit('/').next(), "path": path, "sha": blob,
        "url": url, "git_url": git, "html_url": html, "download_url": bytes.map(|_| format!("{page}/raw/{sha}/{escaped}")),
        "_links": {"git": git, "html": html, "self": url},
    })
}

pub(super) fn show(call: &mut Call<'_>) -> Answer {
    let path = call.param("path").trim_end_matches('/');
    let repo = call.world.repo(call.repo)?;
    let name = call.query("ref").unwrap_or(&repo.default_branch);
    let commit = repo
        .resolve(name)
        .ok_or_else(|| Refusal::new(404, format!("No commit found for the ref {name}")))?;
    let sha = commit.sha.clone();
    let Some(bytes) = repo.content(&sha, path) else {
        return directory(call, repo, &sha, path);
    };
    if call.accept.contains("raw") {
        return Ok(Reply::raw(bytes.to_vec()));
    }
    let mut seen = entry(call.world, repo, path, &sha, Some(&bytes));
    let large = bytes.len() > MAX_INLINE;
    let content = if large {
        String::new()
    } else {
        lines_of_60(&STANDARD.encode(&bytes))
    };
    let encoding = if large { "none" } else { "base64" };
    crate::model::issue::merge(&mut seen, json!({"encoding": encoding, "content": content}));
    Ok(Reply::ok(seen))
}

/// GitHub breaks base64 into lines.
fn lines_of_60(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    chars
        .chunks(60)
        .map(|line| line.iter().collect::<String>() + "\n")
        .collect()
}

fn directory(call: &Call<'_>, repo: &Repo, sha: &str, path: &str) -> Answer {
    let prefix = format!("{path}/");
    let below: BTreeSet<String> = repo
        .paths(sha)
        .iter()
        .filter_map(|found| found.strip_prefix(&prefix).map(Into::into))
        .collect();
    if below.is_empty() {
        return Err(Refusal::not_found());
    }
    let names: BTreeSet<&str> = below
        .iter()
        .filter_map(|rest| rest.split('/').next())
        .collect();
    let rows = names.iter().map(|name| {
        let full = format!("{prefix}{name}");
        let bytes = repo.content(sha, &full);
        entry(call.world, repo, &full, sha, bytes.as_deref())
    });
    Ok(Reply::ok(rows.collect()))
}

pub(super) fn write(call: &mut Call<'_>) -> Answer {
    call.world.writable(call.repo)?;
    let path = call.param("path").to_owned();
    let actor = call.actor();
    let repo = call.world.repo(call.repo)?;
    let branch = call
        .text("branch")
        .unwrap_or(&repo.default_branch)
        .to_owned();
    let tip = repo
        .branches
        .get(&branch)
        .cloned()
        .ok_or_else(|| Refusal::new(404, format!("Branch {branch} not found")))?;
    let standing = repo.content(&tip, &path).map(|bytes| blob_sha(&bytes));
    if standing.as_deref() != call.text("sha") {
        return Err(Refusal::new(409, format!("{path} does not match")));
    }
    let coded: String = call
        .text("content")
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let bytes = STANDARD
        .decode(coded)
        .map_err(|_| Refusal::invalid("content is not valid Base64"))?;
    let message = call.text("message").unwrap_or_default().to_owned();
    let changes = Changes::from([(path.clone(), Some(bytes.clone().into()))]);
    let sha = call
        .world
        .add_commit(call.repo, &message, actor, &[tip], changes)?;
    call.world.set_branch(call.repo, &branch, &sha, actor)?;
    let repo = call.world.repo(call.repo)?;
    let seen = json!({"content": entry(call.world, repo, &path, &sha, Some(&bytes)), "commit": call.world.commit_json(call.repo, &sha)});
    Ok(if standing.is_some() {
        Reply::ok(seen)
    } else {
        Reply::created(seen)
    })
}
