//! The table of routes: method, template (GitHub's own), who may ask with which permission, handler.

use super::{
    app,
    call::{Answer, Call},
    checks, comments, commits, contents, git, graphql, issues, labels, pulls, reactions,
    registration, repos, statuses, users,
};

type Handler = fn(&mut Call<'_>) -> Answer;

/// Who may ask.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Door {
    /// Anybody: what is asked for is proof enough.
    Nobody,
    /// The App with its JWT.
    App,
    /// A person who signed in to the App.
    Person,
    /// An installation token with one of these permissions (all of them suffice alone).
    Token(&'static [(&'static str, Level)]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Read,
    Write,
}

pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) template: &'static str,
    pub(crate) door: Door,
    pub(crate) handler: Handler,
}

const fn route(
    method: &'static str,
    template: &'static str,
    door: Door,
    handler: Handler,
) -> Route {
    Route {
        method,
        template,
        door,
        handler,
    }
}

use Level::{Read, Write};

const ANY: Door = Door::Token(&[]);
const META: Door = Door::Token(&[("metadata", Read)]);
const CONTENTS: Door = Door::Token(&[("contents", Read)]);
const CONTENTS_W: Door = Door::Token(&[("contents", Write)]);
const CHECKS: Door = Door::Token(&[("checks", Read)]);
const CHECKS_W: Door = Door::Token(&[("checks", Write)]);
const STATUSES: Door = Door::Token(&[("statuses", Read)]);
const STATUSES_W: Door = Door::Token(&[("statuses", Write)]);
const PULLS: Door = Door::Token(&[("pull_requests", Read)]);
const PULLS_W: Door = Door::Token(&[("pull_requests", Write)]);
const ISSUES: Door = Door::Token(&[("issues", Read), ("pull_requests", Read)]);
const ISSUES_W: Door = Door::Token(&[("issues", Write), ("pull_requests", Write)]);
const NEW_ISSUE: Door = Door::Token(&[("issues", Write)]);
const MEMBERS: Door = Door::Token(&[("members", Read)]);

#[rustfmt::skip] // a table reads by lines
pub(crate) static ROUTES: &[Route] = &[
    route("GET", "/app", Door::App, app::show),
    route("GET", "/app/installations", Door::App, app::installations),
    route("GET", "/app/installations/{installation_id}", Door::App, app::installation),
    route("POST", "/app/installations/{installation_id}/access_tokens", Door::App, app::mint),
    route("GET", "/app/hook/deliveries", Door::App, app::deliveries),
    route("GET", "/app/hook/deliveries/{delivery_id}", Door::App, app::delivery),
    route("POST", "/app/hook/deliveries/{delivery_id}/attempts", Door::App, app::redeliver),
    route("GET", "/repos/{owner}/{repo}/installation", Door::App, app::of_repo),
    route("GET", "/installation/repositories", META, app::repositories),
    route("POST", "/graphql", ANY, graphql::answer),
    route("GET", "/rate_limit", ANY, app::rate_limit),
    route("GET", "/users/{username}", ANY, users::by_login),
    route("GET", "/user", Door::Person, users::signed_in),
    route("GET", "/user/installations", Door::Person, users::installations),
    route("GET", "/user/installations/{installation_id}/repositories", Door::Person, users::repositories),
    route("GET", "/user/{account_id}", ANY, users::by_id),
    route("GET", "/orgs/{org}", ANY, users::organization),
    route("GET", "/orgs/{org}/teams/{team_slug}/memberships/{username}", MEMBERS, users::membership),
    route("GET", "/repos/{owner}/{repo}", META, repos::show),
    route("GET", "/repos/{owner}/{repo}/collaborators/{username}/permission", META, repos::permission),
    route("GET", "/repos/{owner}/{repo}/branches", CONTENTS, repos::branches),
    route("GET", "/repos/{owner}/{repo}/branches/{branch}", CONTENTS, repos::branch),
    route("GET", "/repos/{owner}/{repo}/contents/{path}", CONTENTS, contents::show),
    route("PUT", "/repos/{owner}/{repo}/contents/{path}", CONTENTS_W, contents::write),
    route("GET", "/repos/{owner}/{repo}/compare/{basehead}", CONTENTS, commits::compare),
    route("GET", "/repos/{owner}/{repo}/commits", CONTENTS, commits::list),
    route("GET", "/repos/{owner}/{repo}/commits/{ref}", CONTENTS, commits::show),
    route("GET", "/repos/{owner}/{repo}/commits/{commit_sha}/pulls", PULLS, commits::pulls),
    route("GET", "/repos/{owner}/{repo}/commits/{ref}/check-runs", CHECKS, checks::on_commit),
    route("GET", "/repos/{owner}/{repo}/commits/{ref}/check-suites", CHECKS, checks::suites),
    route("GET", "/repos/{owner}/{repo}/commits/{ref}/status", STATUSES, statuses::combined),
    route("GET", "/repos/{owner}/{repo}/commits/{ref}/statuses", STATUSES, statuses::list),
    route("POST", "/repos/{owner}/{repo}/statuses/{sha}", STATUSES_W, statuses::create),
    route("POST", "/repos/{owner}/{repo}/check-runs", CHECKS_W, checks::create),
    route("GET", "/repos/{owner}/{repo}/check-runs/{check_run_id}", CHECKS, checks::show),
    route("PATCH", "/repos/{owner}/{repo}/check-runs/{check_run_id}", CHECKS_W, checks::update),
    route("GET", "/repos/{owner}/{repo}/check-runs/{check_run_id}/annotations", CHECKS, checks::annotations),
    route("POST", "/repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest", CHECKS_W, checks::rerequest),
    route("GET", "/repos/{owner}/{repo}/check-suites/{check_suite_id}/check-runs", CHECKS, checks::in_suite),
    route("POST", "/repos/{owner}/{repo}/check-suites/{check_suite_id}/rerequest", CHECKS_W, checks::rerequest_suite),
    route("GET", "/repos/{owner}/{repo}/pulls", PULLS, pulls::list),
    route("POST", "/repos/{owner}/{repo}/pulls", PULLS_W, pulls::create),
    route("GET", "/repos/{owner}/{repo}/pulls/{pull_number}", PULLS, pulls::show),
    route("PATCH", "/repos/{owner}/{repo}/pulls/{pull_number}", PULLS_W, pulls::edit),
    route("GET", "/repos/{owner}/{repo}/pulls/{pull_number}/files", PULLS, pulls::files),
    route("GET", "/repos/{owner}/{repo}/pulls/{pull_number}/commits", PULLS, pulls::commits),
    route("GET", "/repos/{owner}/{repo}/pulls/{pull_number}/reviews", PULLS, pulls::reviews),
    route("GET", "/repos/{owner}/{repo}/pulls/{pull_number}/merge", PULLS, pulls::is_merged),
    route("PUT", "/repos/{owner}/{repo}/pulls/{pull_number}/merge", CONTENTS_W, pulls::merge),
    route("PUT", "/repos/{owner}/{repo}/pulls/{pull_number}/update-branch", PULLS_W, pulls::update_branch),
    route("GET", "/repos/{owner}/{repo}/issues", ISSUES, issues::list),
    route("POST", "/repos/{owner}/{repo}/issues", NEW_ISSUE, issues::create),
    route("GET", "/repos/{owner}/{repo}/issues/{issue_number}", ISSUES, issues::show),
    route("PATCH", "/repos/{owner}/{repo}/issues/{issue_number}", ISSUES_W, issues::edit),
    route("PUT", "/repos/{owner}/{repo}/issues/{issue_number}/lock", ISSUES_W, issues::lock),
    route("DELETE", "/repos/{owner}/{repo}/issues/{issue_number}/lock", ISSUES_W, issues::unlock),
    route("GET", "/repos/{owner}/{repo}/issues/{issue_number}/timeline", ISSUES, issues::timeline),
    route("GET", "/repos/{owner}/{repo}/issues/{issue_number}/events", ISSUES, issues::events),
    route("GET", "/repos/{owner}/{repo}/issues/{issue_number}/comments", ISSUES, comments::list),
    route("POST", "/repos/{owner}/{repo}/issues/{issue_number}/comments", ISSUES_W, comments::create),
    route("GET", "/repos/{owner}/{repo}/issues/comments/{comment_id}", ISSUES, comments::show),
    route("PATCH", "/repos/{owner}/{repo}/issues/comments/{comment_id}", ISSUES_W, comments::edit),
    route("DELETE", "/repos/{owner}/{repo}/issues/comments/{comment_id}", ISSUES_W, comments::delete),
    route("GET", "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", ISSUES, reactions::of_comment),
    route("POST", "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", ISSUES_W, reactions::to_comment),
    route("GET", "/repos/{owner}/{repo}/issues/{issue_number}/reactions", ISSUES, reactions::list),
    route("POST", "/repos/{owner}/{repo}/issues/{issue_number}/reactions", ISSUES_W, reactions::create),
    route("DELETE", "/repos/{owner}/{repo}/issues/{issue_number}/reactions/{reaction_id}", ISSUES_W, reactions::delete),
    route("GET", "/repos/{owner}/{repo}/issues/{issue_number}/labels", ISSUES, labels::on_issue),
    route("POST", "/repos/{owner}/{repo}/issues/{issue_number}/labels", ISSUES_W, labels::add),
    route("PUT", "/repos/{owner}/{repo}/issues/{issue_number}/labels", ISSUES_W, labels::replace),
    route("DELETE", "/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}", ISSUES_W, labels::remove),
    route("GET", "/repos/{owner}/{repo}/labels", ISSUES, labels::list),
    route("POST", "/repos/{owner}/{repo}/labels", ISSUES_W, labels::create),
    route("GET", "/repos/{owner}/{repo}/labels/{name}", ISSUES, labels::show),
    route("GET", "/repos/{owner}/{repo}/git/ref/{ref}", CONTENTS, git::show_ref),
    route("POST", "/repos/{owner}/{repo}/git/refs", CONTENTS_W, git::create_ref),
    route("PATCH", "/repos/{owner}/{repo}/git/refs/{ref}", CONTENTS_W, git::update_ref),
    route("DELETE", "/repos/{owner}/{repo}/git/refs/{ref}", CONTENTS_W, git::delete_ref),
    route("GET", "/repos/{owner}/{repo}/git/commits/{commit_sha}", CONTENTS, git::show_commit),
    route("POST", "/repos/{owner}/{repo}/git/commits", CONTENTS_W, git::create_commit),
    route("POST", "/repos/{owner}/{repo}/git/trees", CONTENTS_W, git::create_tree),
    route("GET", "/repos/{owner}/{repo}/git/trees/{tree_sha}", CONTENTS, git::show_tree),
    route("GET", "/search/issues", ANY, issues::search),
];

/// Parameters that may hold slashes when they end a template.
const LONG: [&str; 3] = ["/contents/{path}", "/git/ref/{ref}", "/git/refs/{ref}"];

/// Every route.
fn all() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().chain(registration::ROUTES)
}

/// The route of a request with its parameters, decoded.
pub(crate) fn find(method: &str, path: &str) -> Option<(&'static Route, Vec<(String, String)>)> {
    all()
        .filter(|route| route.method == method)
        .find_map(|route| Some((route, capture(route.template, path)?)))
}

fn capture(template: &str, path: &str) -> Option<Vec<(String, String)>> {
    let decode = |text: &str| {
        percent_encoding::percent_decode_str(text)
            .decode_utf8_lossy()
            .into_owned()
    };
    let long = LONG.iter().any(|end| template.ends_with(end));
    let wanted: Vec<&str> = template.split('/').collect();
    let given: Vec<&str> = if long {
        path.splitn(wanted.len(), '/').collect()
    } else {
        path.split('/').collect()
    };
    if wanted.len() != given.len() {
        return None;
    }
    let mut params = Vec::new();
    for (wanted, given) in wanted.iter().zip(given) {
        match wanted
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'))
        {
            Some(_) if given.is_empty() => return None,
            Some(name) => params.push((name.to_owned(), decode(given))),
            None if *wanted == given => {}
            None => return None,
        }
    }
    Some(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_described_or_listed() {
        for route in all() {
            let operation = format!("{} {}", route.method, route.template);
            assert!(crate::contract::is_known(&operation), "{operation}");
        }
    }

    #[test]
    fn paths_keep_slashes_and_segments_are_decoded() {
        let (route, params) = find("GET", "/repos/o/r/contents/a/b%20c.rs").expect("a route");
        assert_eq!(route.template, "/repos/{owner}/{repo}/contents/{path}");
        assert_eq!(params.last().expect("path").1, "a/b c.rs");
        let (_, params) = find(
            "DELETE",
            "/repos/o/r/issues/1/labels/decision%3Apending%2Fowner",
        )
        .expect("a route");
        assert_eq!(params.last().expect("name").1, "decision:pending/owner");
        assert!(find("GET", "/repos/o/r/nothing").is_none());
    }
}
