//! The deliveries: one recorded `pull_request` payload, with a number and a head of its own for each.

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

/// The repository and installation of every delivery.
pub const REPO: &str = "octo-org/widgets";
pub const REPO_ID: u64 = 555;
pub const INSTALLATION: u64 = 7;

const NUMBER: u64 = 9_007_199_254_740_991;
const HEAD: &str = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";

/// The head of a pull request: its number in 40 digits.
pub fn head_of(number: u64) -> String {
    format!("{number:040x}")
}

/// The pull request of a head.
pub fn number_of(head: &str) -> Option<u64> {
    u64::from_str_radix(head, 16).ok()
}

/// Makes deliveries.
pub struct Template {
    text: String,
    secret: String,
}

/// One delivery, signed.
pub struct Delivery {
    pub id: String,
    pub number: u64,
    pub body: Bytes,
    pub signature: String,
}

impl Template {
    /// Reads the first opened pull request of a file of recorded payloads.
    pub fn read(file: &str, secret: &str) -> Result<Self, String> {
        let lines = std::fs::read_to_string(file).map_err(|error| format!("`{file}`: {error}"))?;
        let mut payload = lines
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .find(|line| {
                line.get("event") == Some(&json!("pull_request"))
                    && line.pointer("/payload/action") == Some(&json!("opened"))
            })
            .and_then(|mut line| line.get_mut("payload").map(Value::take))
            .ok_or_else(|| format!("`{file}` has no opened pull request"))?;
        for (at, value) in [
            ("/number", json!(NUMBER)),
            ("/pull_request/number", json!(NUMBER)),
            ("/pull_request/head/sha", json!(HEAD)),
            ("/repository/id", json!(REPO_ID)),
            ("/repository/full_name", json!(REPO)),
            ("/repository/name", json!("widgets")),
            ("/repository/owner/login", json!("octo-org")),
            ("/pull_request/base/repo/id", json!(REPO_ID)),
            ("/pull_request/base/repo/full_name", json!(REPO)),
        ] {
            *payload
                .pointer_mut(at)
                .ok_or_else(|| format!("the payload has no `{at}`"))? = value;
        }
        let members = payload.as_object_mut().ok_or("the payload is no object")?;
        members.insert("installation".to_owned(), json!({"id": INSTALLATION}));
        Ok(Self {
            text: payload.to_string(),
            secret: secret.to_owned(),
        })
    }

    /// The bytes of one body.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn delivery(&self, number: u64) -> Result<Delivery, String> {
        let body = self
            .text
            .replace(&NUMBER.to_string(), &number.to_string())
            .replace(HEAD, &head_of(number));
        Ok(Delivery {
            id: format!("00000000-0000-4000-8000-{number:012x}"),
            number,
            signature: format!(
                "sha256={}",
                hex::encode(mac(&self.secret, body.as_bytes())?)
            ),
            body: body.into(),
        })
    }
}

/// HMAC-SHA-256 over a body.
pub fn mac(secret: &str, body: &[u8]) -> Result<Vec<u8>, String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes())
        .map_err(|error| format!("the secret: {error}"))?;
    mac.update(body);
    Ok(mac.finalize().into_bytes().to_vec())
}
