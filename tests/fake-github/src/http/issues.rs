//! Issues: list with filters, create, edit, lock, history, and a small search.

use super::call::{Answer, Call, Content, Reply};
use crate::{
    model::issue::{Issue, IssueEdit, merge},
    refusal::Refusal,
};
use chrono::DateTime;
use serde_json::{Value, json};

/// Label names of a body, given as texts or objects.
pub(super) fn label_names(body: &Value) -> Option<Vec<String>> {
    let list = body.get("labels")?.as_array()?;
    let name = |entry: &Value| {
        entry
            .as_str()
            .or_else(|| entry.get("name")?.as_str())
            .map(str::to_owned)
    };
    Some(list.iter().filter_map(name).collect())
}

fn title(body: &Value) -> Option<String> {
    let title = body.get("title")?;
    title
        .as_str()
        .map(Into::into)
        .or_else(|| title.as_i64().map(|number| number.to_string()))
}

pub(super) fn list(call: &mut Call<'_>) -> Answer {
    call.world
        .issues_enabled(call.repo)
        .map_err(|_| Refusal::not_found())?;
    let state = call.query("state").unwrap_or("open");
    let since = call
        .query("since")
        .and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    let labels: Vec<&str> = call
        .query("labels")
        .map(|text| text.split(',').filter(|name| !name.is_empty()).collect())
        .unwrap_or_default();
    // An App is a creator by the name of its account, `slug[bot]`, or `app/slug`.
    let creator = call.query("creator").map(|login| {
        login
            .strip_prefix("app/")
            .map_or_else(|| login.to_owned(), |slug| format!("{slug}[bot]"))
    });
    let wanted = |issue: &&Issue| {
        (state == "all" || (state == "open") == issue.open)
            && since.is_none_or(|since| issue.updated_at >= since)
            && labels.iter().all(|name| {
                issue
                    .labels
                    .iter()
                    .any(|label| label.eq_ignore_ascii_case(name))
            })
            && creator
                .as_ref()
                .is_none_or(|login| call.world.login(issue.author).eq_ignore_ascii_case(login))
    };
    let mut found: Vec<_> = call
        .world
        .repo(call.repo)?
        .issues
        .values()
        .filter(wanted)
        .collect();
    match call.query("sort") {
        Some("updated") => found.sort_by_key(|issue| (issue.updated_at, issue.number)),
        Some("comments") => found.sort_by_key(|issue| (issue.comments.len(), issue.number)),
        _ => found.sort_by_key(|issue| (issue.created_at, issue.number)),
    }
    if call.query("direction") != Some("asc") {
        found.reverse();
    }
    Ok(call.page(&found, |issue| {
        call.world.issue_json(call.repo, issue.number)
    }))
}

pub(super) fn create(call: &mut Call<'_>) -> Answer {
    let (title, actor) = (title(call.body).unwrap_or_default(), call.actor());
    let body = call.text("body").unwrap_or_default().to_owned();
    let labels = label_names(call.body).unwrap_or_default();
    let number = call
        .world
        .open_issue(call.repo, &title, &body, &labels, actor)?;
    Ok(Reply::created(call.world.issue_json(call.repo, number)))
}

pub(super) fn show(call: &mut Call<'_>) -> Answer {
    let number = call.id("issue_number")?;
    if call.world.issue(call.repo, number)?.pull.is_none() {
        call.world.issues_enabled(call.repo)?;
    }
    Ok(Reply::ok(call.world.issue_json(call.repo, number)))
}

pub(super) fn edit(call: &mut Call<'_>) -> Answer {
    let (number, actor) = (call.id("issue_number")?, call.actor());
    let edit = IssueEdit {
        title: title(call.body),
        body: call.text("body").map(Into::into),
        open: call.text("state").map(|state| state == "open"),
        state_reason: call.text("state_reason").map(Into::into),
        labels: label_names(call.body),
    };
    call.world.edit_issue(call.repo, number, &edit, actor)?;
    Ok(Reply::ok(call.world.issue_json(call.repo, number)))
}

pub(super) fn lock(call: &mut Call<'_>) -> Answer {
    let (number, actor) = (call.id("issue_number")?, call.actor());
    call.world.set_locked(call.repo, number, true, actor)?;
    Ok(Reply::nothing())
}

pub(super) fn unlock(call: &mut Call<'_>) -> Answer {
    let (number, actor) = (call.id("issue_number")?, call.actor());
    call.world.set_locked(call.repo, number, false, actor)?;
    Ok(Reply::nothing())
}

pub(super) fn timeline(call: &mut Call<'_>) -> Answer {
    let number = call.id("issue_number")?;
    call.world.issue(call.repo, number)?;
    let rows = call.world.timeline_json(call.repo, number);
    Ok(call.page(&rows, Clone::clone))
}

pub(super) fn events(call: &mut Call<'_>) -> Answer {
    let number = call.id("issue_number")?;
    call.world.issue(call.repo, number)?;
    let rows = call.world.events_json(call.repo, number);
    Ok(call.page(&rows, Clone::clone))
}

/// Words of the query must all stand in title or body; `repo:`, `is:`, `state:`, `label:`, `author:` and `in:` are understood.
pub(super) fn search(call: &mut Call<'_>) -> Answer {
    let query = call.query("q").unwrap_or_default().to_owned();
    let crate::auth::Caller::Installation { token, .. } = &call.caller else {
        return Err(Refusal::permission());
    };
    let repos = call.world.repos_of_token(token)?;
    let mut found = Vec::new();
    for repo in repos.iter().filter_map(|id| call.world.repos.get(id)) {
        let name = call.world.full_name(repo);
        let fits = |issue: &&Issue| {
            query.split_whitespace().all(|word| {
                let word = word.trim_matches('"');
                match word.split_once(':') {
                    Some(("repo", wanted)) => name.eq_ignore_ascii_case(wanted),
                    Some(("is" | "type", "pr")) => issue.pull.is_some(),
                    Some(("is" | "type", "issue")) => issue.pull.is_none(),
                    Some(("is" | "state", "open")) => issue.open,
                    Some(("is" | "state", "closed")) => !issue.open,
                    Some(("label", wanted)) => issue
                        .labels
                        .iter()
                        .any(|label| label.eq_ignore_ascii_case(wanted.trim_matches('"'))),
                    Some(("author", wanted)) => {
                        call.world.login(issue.author).eq_ignore_ascii_case(wanted)
                    }
                    Some(("in", _)) => true,
                    _ => {
                        issue.title.contains(word)
                            || issue
                                .body
                                .as_deref()
                                .is_some_and(|body| body.contains(word))
                    }
                }
            })
        };
        found.extend(
            repo.issues
                .values()
                .filter(fits)
                .map(|issue| (repo.id, issue.number)),
        );
    }
    let mut reply = call.counted("items", &found, |(repo, number)| {
        let mut seen = call.world.issue_json(*repo, *number);
        merge(&mut seen, json!({"score": 1.0}));
        seen
    });
    if let Content::Json(seen) = &mut reply.content {
        merge(
            seen,
            json!({"incomplete_results": false, "search_type": "lexical"}),
        );
    }
    Ok(reply)
}
