//! Commits: one, the history, the pull requests that hold one, and the comparison of two.

use super::call::{Answer, Call, Content, Reply};
use crate::refusal::Refusal;
use serde_json::{Value, json};

/// The commit a path parameter names; 422 when there is none, as GitHub answers.
pub(super) fn named(call: &Call<'_>, param: &str) -> Result<String, Refusal> {
    let name = call.param(param);
    let found = call.world.repo(call.repo)?.resolve(name);
    found
        .map(|commit| commit.sha.clone())
        .ok_or_else(|| Refusal::invalid(format!("No commit found for SHA: {name}")))
}

pub(super) fn show(call: &mut Call<'_>) -> Answer {
    let sha = named(call, "ref")?;
    let repo = call.world.repo(call.repo)?;
    let parent = repo
        .commits
        .get(&sha)
        .and_then(|commit| commit.parents.first().cloned());
    let files = parent.map_or_else(
        || Ok(Vec::new()),
        |parent| call.world.diff(call.repo, &parent, &sha),
    )?;
    let rows: Vec<Value> = files
        .iter()
        .map(|file| call.world.file_json(repo, &sha, file))
        .collect();
    let mut seen = call.world.commit_json(call.repo, &sha);
    crate::model::issue::merge(
        &mut seen,
        json!({"files": rows, "stats": {"additions": 0, "deletions": 0, "total": 0}}),
    );
    Ok(Reply::ok(seen))
}

pub(super) fn list(call: &mut Call<'_>) -> Answer {
    let repo = call.world.repo(call.repo)?;
    let name = call.query("sha").unwrap_or(&repo.default_branch);
    let tip = repo
        .resolve(name)
        .ok_or_else(Refusal::not_found)?
        .sha
        .clone();
    let mut all = repo.ahead("", &tip);
    all.reverse();
    Ok(call.page(&all, |sha| call.world.commit_json(call.repo, sha)))
}

pub(super) fn pulls(call: &mut Call<'_>) -> Answer {
    let sha = call.param("commit_sha");
    let holds = |pull: &crate::model::pull::Pull| {
        pull.head.commits.iter().any(|held| held == sha)
            || pull.merge_commit.as_deref() == Some(sha)
            || pull.rebased.iter().any(|put| put == sha)
    };
    let repo = call.world.repo(call.repo)?;
    let numbers: Vec<u64> = repo
        .issues
        .values()
        .filter(|issue| issue.pull.as_ref().is_some_and(holds))
        .map(|issue| issue.number)
        .collect();
    Ok(call.page(&numbers, |number| call.world.pull_json(call.repo, *number)))
}

pub(super) fn compare(call: &mut Call<'_>) -> Answer {
    let (base, head) = call
        .param("basehead")
        .split_once("...")
        .ok_or_else(Refusal::not_found)?;
    let repo = call.world.repo(call.repo)?;
    // A fork's branch is written `owner:branch`; its commits are held here too.
    let sha = |name: &str| {
        repo.resolve(name.rsplit(':').next().unwrap_or(name))
            .map(|commit| commit.sha.clone())
    };
    let (base, head) = sha(base).zip(sha(head)).ok_or_else(Refusal::not_found)?;
    let merge_base = repo
        .merge_base(&base, &head)
        .ok_or_else(Refusal::not_found)?;
    let (ahead, behind) = (repo.ahead(&base, &head), repo.ahead(&head, &base).len());
    let status = match (ahead.is_empty(), behind) {
        (true, 0) => "identical",
        (false, 0) => "ahead",
        (true, _) => "behind",
        (false, _) => "diverged",
    };
    let pull = repo
        .issues
        .values()
        .filter_map(|issue| issue.pull.as_ref())
        .find(|pull| pull.head.sha == head);
    let files = pull.map_or_else(
        || call.world.diff(call.repo, &base, &head),
        |pull| Ok(pull.head.files.clone()),
    )?;
    let rows: Vec<Value> = files
        .iter()
        .take(300)
        .map(|file| call.world.file_json(repo, &head, file))
        .collect();
    let (url, page) = (
        call.world.repo_url(repo),
        format!("{}/compare/{base}...{head}", call.world.repo_page(repo)),
    );
    let mut reply = call.page(&ahead, |sha| call.world.commit_json(call.repo, sha));
    let Content::Json(commits) = std::mem::replace(&mut reply.content, Content::Empty) else {
        return Ok(reply);
    };
    reply.content = Content::Json(json!({
        "url": format!("{url}/compare/{base}...{head}"), "html_url": page, "permalink_url": page,
        "diff_url": format!("{page}.diff"), "patch_url": format!("{page}.patch"),
        "base_commit": call.world.commit_json(call.repo, &base),
        "merge_base_commit": call.world.commit_json(call.repo, &merge_base), "status": status,
        "ahead_by": ahead.len(), "behind_by": behind, "total_commits": ahead.len(), "commits": commits, "files": rows,
    }));
    Ok(reply)
}
