//! GitHub's pages for signing in to an App: who agrees is chosen by a link, since nobody has a password here.

use super::{Incoming, Outgoing};
use crate::{
    AccountKind,
    model::{World, oauth::TOKEN_SECONDS},
};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The answer to a request for a page; `None` when it is one for the API.
pub(super) fn page(world: &mut World, request: &Incoming) -> Option<Outgoing> {
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/login/oauth/authorize") => Some(authorize(world, request)),
        ("POST", "/login/oauth/access_token") => Some(exchange(world, request)),
        _ => None,
    }
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// `login` says who agrees; an empty one refuses. Without it the page offers everybody.
fn authorize(world: &mut World, request: &Incoming) -> Outgoing {
    let query = |name: &str| {
        let pair = request.query.iter().find(|(key, _)| key == name);
        pair.map(|(_, value)| value.as_str())
    };
    let (redirect, state) = (
        query("redirect_uri").unwrap_or_default(),
        query("state").unwrap_or_default(),
    );
    let challenge = query("code_challenge").unwrap_or_default();
    if query("client_id") != Some(&world.client_id()) || redirect.is_empty() || state.is_empty() {
        return html(404, "<h1>Not found</h1>");
    }
    if query("code_challenge_method") != Some("S256") || challenge.len() != 43 {
        world.violate("sign-in without an S256 code challenge".into());
        return html(400, "<h1>PKCE is missing</h1>");
    }
    let answer = match query("login") {
        None => return html(200, &choices(world, request)),
        Some("") => "error=access_denied".to_owned(),
        Some(login) => {
            let Some(account) = world.account_named(login).map(|account| account.id) else {
                return html(404, "<h1>Nobody has this login</h1>");
            };
            format!("code={}", world.agree(account, redirect, challenge))
        }
    };
    Outgoing {
        status: 302,
        headers: vec![(
            "location".into(),
            format!("{redirect}?{answer}&state={}", encode(state)),
        )],
        body: Vec::new(),
    }
}

fn choices(world: &World, request: &Incoming) -> String {
    let people = world
        .accounts
        .values()
        .filter(|account| account.kind == AccountKind::User);
    let link = |login: &str, text: &str| {
        format!(
            "<p><a href=\"/login/oauth/authorize?{}&amp;login={}\">{text}</a></p>",
            request.raw_query.replace('&', "&amp;"),
            encode(login)
        )
    };
    let people: String = people
        .map(|account| link(&account.login, &format!("Continue as {}", account.login)))
        .collect();
    format!(
        "<!doctype html><html lang=\"en\"><title>Stand-in GitHub</title><h1>Stand-in GitHub</h1>{people}{}",
        link("", "Cancel")
    )
}

fn exchange(world: &mut World, request: &Incoming) -> Outgoing {
    let text = String::from_utf8_lossy(&request.body);
    let member = |name: &str| {
        let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
        let value = pairs
            .filter(|(key, _)| *key == name)
            .map(|(_, value)| value)
            .next();
        value.map_or_else(String::new, |value| {
            percent_decode_str(value).decode_utf8_lossy().into_owned()
        })
    };
    let known =
        member("client_id") == world.client_id() && member("client_secret") == world.client_secret;
    if !known {
        return answer(&json!({"error": "incorrect_client_credentials"}));
    }
    let challenge = base64_url(&Sha256::digest(member("code_verifier")));
    match world.exchange(&member("code"), &member("redirect_uri"), &challenge) {
        Ok(token) => answer(&json!({
            "access_token": token, "expires_in": TOKEN_SECONDS, "token_type": "bearer", "scope": "",
            "refresh_token": "ghr_unused", "refresh_token_expires_in": 15_811_200,
        })),
        Err(word) => answer(&json!({"error": word, "error_description": "", "error_uri": ""})),
    }
}

/// Base64 for addresses, without padding.
fn base64_url(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bit = |at: usize| {
        let byte = bytes.get(at / 8).copied().unwrap_or(0);
        usize::from(byte >> (7 - at % 8) & 1)
    };
    let letter = |from: usize| (from..from + 6).fold(0, |bits, at| bits << 1 | bit(at));
    (0..bytes.len() * 8)
        .step_by(6)
        .filter_map(|from| LETTERS.get(letter(from)).copied())
        .map(char::from)
        .collect()
}

fn answer(body: &Value) -> Outgoing {
    sent(200, "application/json; charset=utf-8", body.to_string())
}

fn html(status: u16, body: &str) -> Outgoing {
    sent(status, "text/html; charset=utf-8", body.to_owned())
}

fn sent(status: u16, kind: &str, body: String) -> Outgoing {
    Outgoing {
        status,
        headers: vec![("content-type".into(), kind.into())],
        body: body.into_bytes(),
    }
}
