//! Pull requests: read, list, edit, merge, update. Files end at 3,000 and commits at 250 without a word.

use super::call::{Answer, Call, Reply};
use crate::{
    model::{
        issue::IssueEdit,
        merge::Merge,
        pull::{Head, PullSpec},
    },
    refusal::Refusal,
};
use serde_json::{Value, json};

const MAX_FILES: usize = 3_000;
const MAX_COMMITS: usize = 250;

/// The head that this read shows.
fn head<'a>(call: &'a Call<'_>, number: u64) -> Result<&'a Head, Refusal> {
    let pull = call.world.pull(call.repo, number)?;
    Ok(pull
        .previous
        .as_ref()
        .filter(|_| call.stale)
        .unwrap_or(&pull.head))
}

fn seen(call: &Call<'_>, number: u64) -> Result<Value, Refusal> {
    let pull = call.world.pull(call.repo, number)?;
    Ok(call
        .world
        .pull_with_head(call.repo, number, pull, head(call, number)?))
}

pub(super) fn show(call: &mut Call<'_>) -> Answer {
    Ok(Reply::ok(seen(call, call.id("pull_number")?)?))
}

pub(super) fn list(call: &mut Call<'_>) -> Answer {
    let repo = call.world.repo(call.repo)?;
    let state = call.query("state").unwrap_or("open");
    let owner = call.world.login(repo.owner);
    let mut found: Vec<_> = repo
        .issues
        .values()
        .filter_map(|issue| Some((issue, issue.pull.as_ref()?)))
        .filter(|(issue, _)| state == "all" || (state == "open") == issue.open)
        .filter(|(_, pull)| call.query("base").is_none_or(|base| pull.base_ref == base))
        .filter(|(_, pull)| {
            call.query("head")
                .is_none_or(|head| head == format!("{owner}:{}", pull.head_ref))
        })
        .map(|(issue, _)| (issue.number, issue.created_at, issue.updated_at))
        .collect();
    match call.query("sort") {
        Some("updated") => found.sort_by_key(|(number, _, updated)| (*updated, *number)),
        _ => found.sort_by_key(|(number, created, _)| (*created, *number)),
    }
    // Newest first, except that an explicit sort other than `created` goes up.
    let downwards = call.query("direction").map_or_else(
        || matches!(call.query("sort"), None | Some("created")),
        |way| way == "desc",
    );
    if downwards {
        found.reverse();
    }
    Ok(call.page(&found, |(number, ..)| {
        let mut row = seen(call, *number).unwrap_or(Value::Null);
        if let Some(members) = row.as_object_mut() {
            // Only the single answer tells these.
            for name in [
                "merged",
                "mergeable",
                "rebaseable",
                "mergeable_state",
                "merged_by",
                "comments",
                "review_comments",
                "maintainer_can_modify",
                "commits",
                "additions",
                "deletions",
                "changed_files",
            ] {
                members.remove(name);
            }
        }
        row
    }))
}

pub(super) fn create(call: &mut Call<'_>) -> Answer {
    let text = |name: &str| call.text(name).unwrap_or_default();
    let mut spec = PullSpec::new(text("title"))
        .body(text("body"))
        .base(text("base"))
        .head(text("head"));
    spec.draft = call.body.get("draft") == Some(&Value::Bool(true));
    let actor = call.actor();
    let number = call.world.open_from_branch(call.repo, &spec, actor)?;
    Ok(Reply::created(call.world.pull_json(call.repo, number)))
}

pub(super) fn edit(call: &mut Call<'_>) -> Answer {
    let (number, actor) = (call.id("pull_number")?, call.actor());
    call.world.pull(call.repo, number)?;
    if let Some(base) = call.text("base").map(str::to_owned) {
        call.world.retarget(call.repo, number, &base, actor)?;
    }
    let edit = IssueEdit {
        title: call.text("title").map(Into::into),
        body: call.text("body").map(Into::into),
        open: call.text("state").map(|state| state == "open"),
        ..IssueEdit::default()
    };
    call.world.edit_issue(call.repo, number, &edit, actor)?;
    Ok(Reply::ok(call.world.pull_json(call.repo, number)))
}

pub(super) fn files(call: &mut Call<'_>) -> Answer {
    let number = call.id("pull_number")?;
    let (head, repo) = (head(call, number)?, call.world.repo(call.repo)?);
    let listed: Vec<_> = head.files.iter().take(MAX_FILES).collect();
    Ok(call.page(&listed, |file| call.world.file_json(repo, &head.sha, file)))
}

pub(super) fn commits(call: &mut Call<'_>) -> Answer {
    let number = call.id("pull_number")?;
    let listed: Vec<_> = head(call, number)?
        .commits
        .iter()
        .take(MAX_COMMITS)
        .collect();
    Ok(call.page(&listed, |sha| call.world.commit_json(call.repo, sha)))
}

pub(super) fn reviews(call: &mut Call<'_>) -> Answer {
    call.world.pull(call.repo, call.id("pull_number")?)?;
    Ok(Reply::ok(json!([])))
}

pub(super) fn is_merged(call: &mut Call<'_>) -> Answer {
    match call
        .world
        .pull(call.repo, call.id("pull_number")?)?
        .merged_at
    {
        Some(_) => Ok(Reply::nothing()),
        None => Err(Refusal::not_found()),
    }
}

pub(super) fn merge(call: &mut Call<'_>) -> Answer {
    let (number, actor) = (call.id("pull_number")?, call.actor());
    let text = |name: &str| call.text(name).map(str::to_owned);
    let how = Merge {
        method: text("merge_method").unwrap_or_else(|| "merge".into()),
        sha: text("sha"),
        title: text("commit_title"),
        message: text("commit_message"),
    };
    let merged = call.world.merge_pull(call.repo, number, &how, actor)?;
    Ok(Reply::ok(
        json!({"sha": merged, "merged": true, "message": "Pull Request successfully merged"}),
    ))
}

pub(super) fn update_branch(call: &mut Call<'_>) -> Answer {
    let (number, actor) = (call.id("pull_number")?, call.actor());
    let expected = call.text("expected_head_sha").map(str::to_owned);
    call.world
        .update_branch(call.repo, number, expected.as_deref(), actor)?;
    let url = format!(
        "{}/pulls/{number}",
        call.world.repo_url(call.world.repo(call.repo)?)
    );
    Ok(Reply::status(
        202,
        json!({"message": "Updating pull request branch.", "url": url}),
    ))
}
