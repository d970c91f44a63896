//! GitHub's own description of its API as judge: of every request, and of our success answers.
//!
//! A validator is built once an operation, with only the definitions it reaches. What the description does
//! not refuse although GitHub does (or although it is surely a mistake) is added by hand in [`check_request`].

use crate::http::registration;
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

static BUNDLE: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../data/github-openapi.json")).unwrap_or(Value::Null)
});
/// A validator, or why there is none.
type Built = Arc<Result<jsonschema::Validator, String>>;

static BUILT: LazyLock<Mutex<HashMap<String, Built>>> = LazyLock::new(Mutex::default);

/// Operations that the description was not cut to and that may be called all the same.
const UNDESCRIBED: [&str; 27] = [
    "DELETE /repos/{owner}/{repo}/issues/{issue_number}/lock",
    "DELETE /repos/{owner}/{repo}/issues/{issue_number}/reactions/{reaction_id}",
    "GET /app/hook/deliveries/{delivery_id}",
    "GET /orgs/{org}",
    "GET /repos/{owner}/{repo}/branches",
    "GET /repos/{owner}/{repo}/commits",
    "GET /repos/{owner}/{repo}/commits/{ref}/statuses",
    "GET /repos/{owner}/{repo}/git/commits/{commit_sha}",
    "GET /repos/{owner}/{repo}/git/trees/{tree_sha}",
    "GET /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions",
    "GET /repos/{owner}/{repo}/issues/{issue_number}/events",
    "GET /repos/{owner}/{repo}/issues/{issue_number}/reactions",
    "GET /repos/{owner}/{repo}/labels/{name}",
    "GET /user",
    "GET /user/installations",
    "GET /user/installations/{installation_id}/repositories",
    "GET /user/{account_id}",
    "GET /users/{username}",
    "PATCH /repos/{owner}/{repo}/git/refs/{ref}",
    "POST /graphql",
    "POST /repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest",
    "POST /repos/{owner}/{repo}/check-suites/{check_suite_id}/rerequest",
    "POST /repos/{owner}/{repo}/git/commits",
    "POST /repos/{owner}/{repo}/git/trees",
    "POST /repos/{owner}/{repo}/pulls",
    "PUT /repos/{owner}/{repo}/contents/{path}",
    "PUT /repos/{owner}/{repo}/issues/{issue_number}/lock",
];

/// Success answers that the description gets wrong: nothing of them is checked.
const UNCHECKED_ANSWERS: [&str; 2] = [
    // The description demands that an account is a user *and* an enterprise at once.
    "GET /app/installations",
    // The description demands a role name inside the user object, which GitHub does not always send.
    "GET /repos/{owner}/{repo}/collaborators/{username}/permission",
];

/// May this operation be called at all?
pub(crate) fn is_known(operation: &str) -> bool {
    described(operation).is_some()
        || UNDESCRIBED.contains(&operation)
        || registration::UNDESCRIBED.contains(&operation)
}

/// Is there such a permission of Apps, at such a level?
pub(crate) fn is_permission(name: &str, level: &str) -> bool {
    let levels = definition("app-permissions")
        .and_then(|schema| schema.pointer(&format!("/properties/{name}/enum")))
        .and_then(Value::as_array);
    levels.is_some_and(|levels| levels.iter().any(|known| known == level))
}

fn described(operation: &str) -> Option<&'static Value> {
    BUNDLE.get("ops")?.get(operation)
}

/// What is wrong with a request; empty when nothing is.
pub(crate) fn check_request(
    operation: &str,
    path: &[(String, String)],
    query: &[(String, String)],
    body: Option<&Value>,
) -> Vec<String> {
    let mut wrong = by_hand(query, body);
    if !is_known(operation) {
        wrong.push("this operation is neither described nor listed".into());
    }
    let Some(op) = described(operation) else {
        return wrong;
    };
    let params = op
        .get("params")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    for param in params {
        let text = |member: &str| {
            param
                .get(member)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let (name, place) = (text("name"), text("in"));
        let given = if place == "path" { path } else { query };
        let schema = param.get("schema").unwrap_or(&Value::Null);
        match given.iter().find(|(key, _)| key == name) {
            Some((_, value)) => {
                let key = format!("{operation} {place} {name}");
                wrong.extend(errors(
                    &key,
                    schema,
                    &typed(schema, value),
                    &format!("parameter `{name}`"),
                ));
            }
            None if param.get("required") == Some(&Value::Bool(true)) => {
                wrong.push(format!("parameter `{name}` is missing"));
            }
            None => {}
        }
    }
    for (name, _) in query {
        if !params
            .iter()
            .any(|param| param.get("name").and_then(Value::as_str) == Some(name))
        {
            wrong.push(format!("parameter `{name}` is unknown to this operation"));
        }
    }
    match (op.get("request"), body) {
        (Some(schema), Some(body)) => {
            wrong.extend(errors(
                &format!("{operation} request"),
                schema,
                body,
                "body",
            ));
            unknown_members(&[schema], body, "", &mut wrong);
        }
        (Some(_), None) if op.get("body_required") == Some(&Value::Bool(true)) => {
            wrong.push("the body is missing".into());
        }
        (None, Some(body)) if !matches!(body, Value::Null) && body != &json!({}) => {
            wrong.push("this operation takes no body".into());
        }
        _ => {}
    }
    wrong
}

/// What the description lets through and GitHub does not, or silently changes.
fn by_hand(query: &[(String, String)], body: Option<&Value>) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Some((_, size)) = query.iter().find(|(name, _)| name == "per_page")
        && !size
            .parse::<u64>()
            .is_ok_and(|size| (1..=100).contains(&size))
    {
        wrong.push(format!(
            "`per_page={size}` is not between 1 and 100; GitHub silently answers 100"
        ));
    }
    if let Some(sha) = body
        .and_then(|body| body.get("head_sha"))
        .and_then(Value::as_str)
        && !(sha.len() == 40 && sha.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        wrong.push(format!("`head_sha` `{sha}` is not a full commit SHA"));
    }
    wrong
}

/// What is wrong with a success answer of ours.
pub(crate) fn check_answer(operation: &str, status: u16, body: &Value) -> Vec<String> {
    if UNCHECKED_ANSWERS.contains(&operation) {
        return Vec::new();
    }
    let Some(responses) = described(operation).and_then(|op| op.get("responses")) else {
        return Vec::new();
    };
    let code = status.to_string();
    match responses.get(&code) {
        None => vec![format!("status {status} is not described")],
        Some(Value::Null) => Vec::new(),
        Some(schema) => errors(
            &format!("{operation} {code}"),
            schema,
            &amended(body),
            "answer",
        ),
    }
}

/// A path or query value in the type its schema asks for, so that `page=x` is refused as no integer.
fn typed(schema: &Value, text: &str) -> Value {
    let wanted = schema.get("type").and_then(Value::as_str);
    match wanted {
        Some("integer" | "number") => text
            .parse::<i64>()
            .map_or_else(|_| json!(text), |number| json!(number)),
        Some("boolean") => text
            .parse::<bool>()
            .map_or_else(|_| json!(text), |flag| json!(flag)),
        _ => json!(text),
    }
}

fn errors(key: &str, schema: &Value, value: &Value, what: &str) -> Vec<String> {
    match &*validator(key, schema) {
        Ok(validator) => validator
            .iter_errors(value)
            .map(|error| {
                let text: String = error.to_string().chars().take(300).collect();
                format!("{what}{}: {text}", error.instance_path())
            })
            .collect(),
        Err(text) => vec![format!("the description of {key} cannot be used: {text}")],
    }
}

fn validator(key: &str, schema: &Value) -> Built {
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = built.entry(key.to_owned()).or_insert_with(|| {
        let document = json!({"allOf": [schema], "$defs": reached(schema)});
        let options = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .should_validate_formats(true);
        Arc::new(options.build(&document).map_err(|error| error.to_string()))
    });
    entry.clone()
}

/// The definitions that a schema reaches.
fn reached(schema: &Value) -> Map<String, Value> {
    let (mut found, mut todo) = (Map::new(), references(schema));
    while let Some(name) = todo.pop_first() {
        if !found.contains_key(&name)
            && let Some(definition) = definition(&name)
        {
            todo.extend(references(definition));
            found.insert(name, definition.clone());
        }
    }
    found
}

fn definition(name: &str) -> Option<&'static Value> {
    BUNDLE.get("$defs")?.get(name)
}

fn references(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, inner)| {
                match inner
                    .as_str()
                    .and_then(|text| text.strip_prefix("#/$defs/"))
                {
                    Some(target) if name == "$ref" => BTreeSet::from([target.to_owned()]),
                    _ => references(inner),
                }
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => BTreeSet::new(),
    }
}

/// GitHub ignores members it does not know; for us they are a mistake, such as a misspelt name.
fn unknown_members(schemas: &[&Value], value: &Value, place: &str, wrong: &mut Vec<String>) {
    let flat = flattened(schemas);
    match value {
        Value::Object(members) => {
            let objects: Vec<&Map<String, Value>> = flat
                .iter()
                .filter_map(|schema| schema.get("properties"))
                .filter_map(Value::as_object)
                .collect();
            let open = flat.iter().any(|schema| {
                schema
                    .get("additionalProperties")
                    .is_some_and(|more| more != &Value::Bool(false))
            });
            if objects.is_empty() || open {
                return;
            }
            for (name, inner) in members {
                let known: Vec<&Value> = objects
                    .iter()
                    .filter_map(|object| object.get(name))
                    .collect();
                if known.is_empty() {
                    wrong.push(format!(
                        "body{place}: member `{name}` is unknown to this operation"
                    ));
                } else {
                    unknown_members(&known, inner, &format!("{place}/{name}"), wrong);
                }
            }
        }
        Value::Array(items) => {
            let inner: Vec<&Value> = flat
                .iter()
                .filter_map(|schema| schema.get("items"))
                .collect();
            for (at, item) in items.iter().enumerate() {
                unknown_members(&inner, item, &format!("{place}/{at}"), wrong);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The schemas themselves and everything their combinators and references add.
fn flattened<'a>(schemas: &[&'a Value]) -> Vec<&'a Value> {
    let mut flat = Vec::new();
    let mut todo: Vec<&'a Value> = schemas.to_vec();
    while let Some(schema) = todo.pop() {
        flat.push(schema);
        let target = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|text| text.strip_prefix("#/$defs/"));
        todo.extend(target.and_then(definition));
        for combinator in ["allOf", "anyOf", "oneOf"] {
            todo.extend(
                schema
                    .get(combinator)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten(),
            );
        }
    }
    flat
}

/// The answer with what the description wrongly refuses replaced: accounts that are gone (`null`), the
/// repository of a deleted fork (`null`), labels without a description (`null` in the list of pull requests).
fn amended(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(amended).collect(),
        Value::Object(members) => {
            let base_repo = members.get("base").and_then(|base| base.get("repo"));
            let fixed = members.iter().map(|(name, inner)| {
                let inner = match (name.as_str(), inner) {
                    ("user" | "actor", Value::Null) => ghost(),
                    ("description", Value::Null) if members.contains_key("color") => json!(""),
                    ("head", Value::Object(head))
                        if head.get("repo") == Some(&Value::Null) && base_repo.is_some() =>
                    {
                        let mut head = head.clone();
                        head.insert("repo".into(), json!(base_repo));
                        amended(&Value::Object(head))
                    }
                    _ => amended(inner),
                };
                (name.clone(), inner)
            });
            Value::Object(fixed.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn ghost() -> Value {
    let mut account = json!({"id": 10137, "site_admin": false, "type": "User", "gravatar_id": ""});
    if let Some(members) = account.as_object_mut() {
        for name in [
            "login",
            "node_id",
            "avatar_url",
            "url",
            "html_url",
            "followers_url",
            "following_url",
            "gists_url",
            "starred_url",
            "subscriptions_url",
            "organizations_url",
            "repos_url",
            "events_url",
            "received_events_url",
        ] {
            members.insert(name.into(), json!("https://github.invalid/ghost"));
        }
    }
    account
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATE: &str = "POST /repos/{owner}/{repo}/check-runs";

    fn path() -> Vec<(String, String)> {
        vec![("owner".into(), "o".into()), ("repo".into(), "r".into())]
    }

    #[test]
    fn a_good_request_passes() {
        let body = json!({"name": "L1.C3", "head_sha": "a".repeat(40), "output": {"title": "t", "summary": "s"}});
        assert_eq!(
            check_request(CREATE, &path(), &[], Some(&body)),
            Vec::<String>::new()
        );
    }

    #[test]
    fn wrong_types_missing_and_unknown_members_are_named() {
        let body = json!({"name": 3, "head_sha": "abc", "output": {"title": "t", "sumary": "s"}});
        let wrong = check_request(CREATE, &path(), &[], Some(&body)).join("\n");
        for part in [
            "body/name",
            "`head_sha`",
            "\"summary\" is a required property",
            "member `sumary` is unknown",
        ] {
            assert!(wrong.contains(part), "{part} in {wrong}");
        }
    }

    #[test]
    fn parameters_are_checked_in_their_type() {
        let query = [
            ("per_page".to_owned(), "1000".to_owned()),
            ("page".to_owned(), "x".to_owned()),
            ("q".to_owned(), String::new()),
        ];
        let wrong =
            check_request("GET /repos/{owner}/{repo}/pulls", &path(), &query, None).join("\n");
        for part in [
            "per_page=1000",
            "parameter `page`",
            "parameter `q` is unknown",
        ] {
            assert!(wrong.contains(part), "{part} in {wrong}");
        }
    }

    #[test]
    fn every_schema_of_the_description_can_be_built() {
        let ops = BUNDLE
            .get("ops")
            .and_then(Value::as_object)
            .expect("operations");
        assert_eq!(ops.len(), 59);
        for (name, op) in ops {
            for (code, schema) in op["responses"].as_object().expect("responses") {
                assert!(
                    schema.is_null() || validator(&format!("{name} {code}"), schema).is_ok(),
                    "{name} {code}"
                );
            }
        }
    }
}
