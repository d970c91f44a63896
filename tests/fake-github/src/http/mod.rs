//! The way of a request: fault, route, caller, permission, repository, contract, handler, contract again,
//! conditional answer, log. One file a group of routes.

mod app;
mod call;
mod checks;
mod comments;
mod commits;
mod contents;
mod git;
mod graphql;
mod issues;
mod labels;
mod pulls;
mod reactions;
pub(crate) mod registration;
mod repos;
pub(crate) mod routes;
mod statuses;
mod users;
mod web;
pub(crate) mod wire;

use crate::{
    Shared,
    auth::Caller,
    contract,
    faults::{FaultAnswer, FaultKind},
    model::{World, hex},
    record::RequestRecord,
    refusal::Refusal,
};
use call::{Call, Content, Reply};
use routes::{Door, Level, Route};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A request as it came off the wire.
pub(crate) struct Incoming {
    pub(crate) method: String,
    /// Path without the query, undecoded.
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) raw_query: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Incoming {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// An answer to be put on the wire.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// What the wire does with it.
pub(crate) enum Fate {
    Send(Outgoing),
    SendLate(Outgoing, std::time::Duration),
    /// Half the body, then cut.
    Cut(Outgoing),
    Drop,
    Hang(std::time::Duration),
}

/// A request that was understood so far.
struct Matched {
    route: &'static Route,
    params: Vec<(String, String)>,
    /// The path it stands for, with `/repositories/{id}` resolved.
    path: String,
}

/// Answers one request.
pub(crate) fn answer(shared: &Shared, request: &Incoming) -> Fate {
    let mut world = shared.world();
    if let Some(replied) = registration::page(&mut world, request) {
        return Fate::Send(finish(&mut world, request, replied, 0));
    }
    if let Some(page) = web::page(&mut world, request) {
        return Fate::Send(page);
    }
    let matched = resolve(&world, request);
    let template = matched
        .as_ref()
        .map_or("", |matched| matched.route.template);
    let path = matched
        .as_ref()
        .map_or(request.path.as_str(), |matched| matched.path.as_str());
    let fault = world.faults.strike(&request.method, path, template);
    let mut record = RequestRecord {
        method: request.method.clone(),
        path: request.path.clone()
            + if request.raw_query.is_empty() {
                ""
            } else {
                "?"
            }
            + &request.raw_query,
        route: template.into(),
        status: 0,
        installation: None,
    };
    if matched.is_none() {
        world.violate(format!(
            "{} {}: no such route",
            request.method, request.path
        ));
    }
    let fate = match fault {
        Some(FaultKind::DropBefore) => Fate::Drop,
        Some(FaultKind::Hang(long)) => Fate::Hang(long),
        Some(FaultKind::Answer(given)) => Fate::Send(faulty(&world, given)),
        other => {
            let stale = matches!(other, Some(FaultKind::StaleHead));
            let mut reply = handle(&mut world, request, matched.as_ref(), stale, &mut record)
                .unwrap_or_else(|refusal| refused(&refusal));
            spoil(&mut reply.0, other.as_ref());
            let out = finish(&mut world, request, reply, record.installation.unwrap_or(0));
            match other {
                Some(FaultKind::AnswerAfter(given)) => Fate::Send(faulty(&world, given)),
                Some(FaultKind::DropAfter) => Fate::Drop,
                Some(FaultKind::TruncatedBody) => Fate::Cut(out),
                Some(FaultKind::Slow(long)) => Fate::SendLate(out, long),
                _ => Fate::Send(out),
            }
        }
    };
    record.status = match &fate {
        Fate::Send(out) | Fate::SendLate(out, _) | Fate::Cut(out) => out.status,
        Fate::Drop | Fate::Hang(_) => 0,
    };
    world.requests.push(record);
    drop(world);
    shared.stir();
    fate
}

/// `/repositories/{id}/…` is `/repos/{owner}/{repo}/…` by another name.
fn resolve(world: &World, request: &Incoming) -> Option<Matched> {
    let mut path = request.path.clone();
    if let Some(rest) = request.path.strip_prefix("/repositories/") {
        let (id, rest) = rest
            .split_once('/')
            .map_or((rest, String::new()), |(id, rest)| (id, format!("/{rest}")));
        let repo = id.parse().ok().and_then(|id| world.repos.get(&id));
        let name = repo.map_or_else(|| "gone/gone".into(), |repo| world.full_name(repo));
        path = format!("/repos/{name}{rest}");
    }
    let (route, params) = routes::find(&request.method, &path)?;
    Some(Matched {
        route,
        params,
        path,
    })
}

type Replied = (Reply, Option<String>);

fn refused(refusal: &Refusal) -> Replied {
    (
        Reply::status(refusal.status, refusal.body()),
        refusal.location.clone(),
    )
}

fn handle(
    world: &mut World,
    request: &Incoming,
    matched: Option<&Matched>,
    stale: bool,
    record: &mut RequestRecord,
) -> Result<Replied, Refusal> {
    if request.header("user-agent").is_none_or(str::is_empty) {
        world.violate(format!(
            "{} {}: no `User-Agent`",
            request.method, request.path
        ));
        return Err(Refusal::new(
            403,
            "Request forbidden by administrative rules. Please make sure your request has a User-Agent header",
        ));
    }
    let matched = matched.ok_or_else(Refusal::not_found)?;
    let caller = world.caller(request.header("authorization"))?;
    record.installation = caller.installation();
    let now = world.now();
    if let Some(id) = caller.installation()
        && !world.limits.spend(id, now)
    {
        return Err(Refusal::new(
            403,
            format!("API rate limit exceeded for installation ID {id}."),
        ));
    }
    admit(world, matched, &caller)?;
    let repo = repository(world, matched, &caller, &request.method)?;
    let body = parsed(request)?;
    let operation = format!("{} {}", matched.route.method, matched.route.template);
    if world.check_contract {
        let wrong =
            contract::check_request(&operation, &matched.params, &request.query, body.as_ref());
        if !wrong.is_empty() {
            let text = wrong.join("; ");
            world.violate(format!("{operation}: {text}"));
            return Err(Refusal::invalid(format!("Invalid request.\n\n{text}")));
        }
    }
    let body = body.unwrap_or(Value::Null);
    let mut call = Call {
        world,
        caller,
        repo,
        path: &matched.params,
        query: &request.query,
        body: &body,
        accept: request.header("accept").unwrap_or_default(),
        asked: &request.path,
        stale,
    };
    let reply = (matched.route.handler)(&mut call)?;
    if world.check_contract
        && let Content::Json(seen) = &reply.content
    {
        for wrong in contract::check_answer(&operation, reply.status, seen) {
            world.violate(format!("our answer to {operation}: {wrong}"));
        }
    }
    Ok((reply, None))
}

/// May this caller use this route?
fn admit(world: &World, matched: &Matched, caller: &Caller) -> Result<(), Refusal> {
    match (matched.route.door, caller) {
        (Door::App, Caller::App) | (Door::Person, Caller::Person { .. }) | (Door::Nobody, _) => {
            Ok(())
        }
        (Door::Person, Caller::Nobody | Caller::App | Caller::Installation { .. }) => {
            Err(Refusal::unauthorized("Requires authentication"))
        }
        (Door::App, Caller::Nobody | Caller::Installation { .. } | Caller::Person { .. }) => Err(
            Refusal::unauthorized("A JSON web token could not be decoded"),
        ),
        (Door::Token(_), Caller::Nobody) => Err(Refusal::unauthorized("Requires authentication")),
        (Door::Token(_), Caller::App | Caller::Person { .. }) => Err(Refusal::permission()),
        (Door::Token(needs), Caller::Installation { id, token }) => {
            if world
                .installation(*id)
                .map_err(|_| Refusal::unauthorized("Bad credentials"))?
                .suspended_at
                .is_some()
            {
                return Err(Refusal::new(403, "This installation has been suspended"));
            }
            let held = &world.doors.token(token)?.permissions;
            let has = |(name, level): &(&str, Level)| {
                held.get(*name)
                    .is_some_and(|held| *level == Level::Read || held == "write")
            };
            if needs.is_empty() || needs.iter().any(has) {
                Ok(())
            } else {
                Err(Refusal::permission())
            }
        }
    }
}

/// The repository of the path, if the caller may see it; an old name redirects.
fn repository(
    world: &World,
    matched: &Matched,
    caller: &Caller,
    method: &str,
) -> Result<u64, Refusal> {
    let param = |name: &str| {
        matched
            .params
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    let Some((owner, name)) = param("owner").zip(param("repo")) else {
        return Ok(0);
    };
    let visible = |id: u64| match caller {
        Caller::App => Ok(true),
        Caller::Nobody | Caller::Person { .. } => Ok(false),
        Caller::Installation { token, .. } => {
            world.repos_of_token(token).map(|repos| repos.contains(&id))
        }
    };
    if let Some(id) = world.repo_named(owner, name) {
        return if visible(id)? {
            Ok(id)
        } else {
            Err(Refusal::not_found())
        };
    }
    let moved = world
        .old_names
        .get(&format!("{owner}/{name}").to_ascii_lowercase())
        .copied();
    let Some(id) = moved else {
        return Err(Refusal::not_found());
    };
    if !visible(id)? {
        return Err(Refusal::not_found());
    }
    let rest: String = matched
        .path
        .splitn(5, '/')
        .nth(4)
        .map_or_else(String::new, |rest| format!("/{rest}"));
    let mut redirect = Refusal::new(if method == "GET" { 301 } else { 307 }, "Moved Permanently");
    redirect.location = Some(format!("{}/repositories/{id}{rest}", world.base));
    Err(redirect)
}

fn parsed(request: &Incoming) -> Result<Option<Value>, Refusal> {
    if request.body.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(&request.body)
        .map(Some)
        .map_err(|_| Refusal::new(400, "Problems parsing JSON"))
}

/// Faults that touch a list or a count.
fn spoil(reply: &mut Reply, fault: Option<&FaultKind>) {
    let Content::Json(body) = &mut reply.content else {
        return;
    };
    if let (Some(FaultKind::TotalCount(count)), Some(members)) = (fault, body.as_object_mut()) {
        members.insert("total_count".into(), (*count).into());
    }
    let lost = match fault {
        Some(FaultKind::EmptyList) => usize::MAX,
        Some(FaultKind::ShortList(lost)) => *lost,
        _ => return,
    };
    let list = match body {
        Value::Array(list) => Some(list),
        Value::Object(members) => members.values_mut().find_map(Value::as_array_mut),
        _ => None,
    };
    if let Some(list) = list {
        list.truncate(list.len().saturating_sub(lost));
    }
    if lost == usize::MAX {
        reply.link = None;
    }
}

/// The usual headers, the ETag, and 304 where the reader has the answer already.
fn finish(world: &mut World, request: &Incoming, replied: Replied, installation: u64) -> Outgoing {
    let (reply, location) = replied;
    let now = world.now();
    let (kind, body) = match reply.content {
        Content::Json(body) => (
            "application/json; charset=utf-8",
            body.to_string().into_bytes(),
        ),
        Content::Raw(body) => ("application/vnd.github.raw+json; charset=utf-8", body),
        Content::Empty => ("", Vec::new()),
    };
    let mut headers = vec![(
        "x-github-request-id".to_owned(),
        format!("FAKE:{}", world.requests.len() + 1),
    )];
    if !kind.is_empty() {
        headers.push(("content-type".into(), kind.into()));
    }
    headers.extend(reply.link.map(|link| ("link".into(), link)));
    headers.extend(location.map(|to| ("location".into(), to)));
    let mut out = Outgoing {
        status: reply.status,
        headers,
        body,
    };
    if request.method == "GET" && out.status == 200 {
        let etag = format!("W/\"{}\"", hex(&Sha256::digest(&out.body)));
        let known = request
            .header("if-none-match")
            .is_some_and(|held| held.split(',').any(|one| one.trim() == etag));
        out.headers.push(("etag".into(), etag));
        out.headers.push((
            "cache-control".into(),
            "private, max-age=60, s-maxage=60".into(),
        ));
        if known {
            world.limits.give_back(installation, now);
            out.status = 304;
            out.body.clear();
        }
    }
    out.headers.extend(world.limits.headers(installation, now));
    out
}

fn faulty(world: &World, given: FaultAnswer) -> Outgoing {
    let mut headers = world.limits.headers(0, world.now());
    headers.push((
        "content-type".into(),
        "application/json; charset=utf-8".into(),
    ));
    headers.retain(|(name, _)| {
        !given
            .headers
            .iter()
            .any(|(own, _)| own.eq_ignore_ascii_case(name))
    });
    headers.extend(given.headers);
    Outgoing {
        status: given.status,
        headers,
        body: given.body.into_bytes(),
    }
}
