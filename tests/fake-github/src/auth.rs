//! Who asks: the App by its JWT, an installation by its token. GitHub's rules for both.
//!
//! JWTs and tokens live in the machine's time (shifted by the configured skew), not in the virtual clock,
//! because the client under test cannot be told another time.

use crate::{
    config::{Config, TEST_PUBLIC_KEY_PEM},
    model::{Time, World, stamp},
    refusal::Refusal,
};
use chrono::{TimeDelta, Utc};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Longest life of an App JWT.
const MAX_LIFE: i64 = 600;

/// Who sends a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Caller {
    Nobody,
    App,
    Installation {
        id: u64,
        token: String,
    },
    /// A person who signed in to the App.
    Person {
        id: u64,
    },
}

impl Caller {
    pub(crate) fn installation(&self) -> Option<u64> {
        match self {
            Self::Installation { id, .. } => Some(*id),
            Self::Nobody | Self::App | Self::Person { .. } => None,
        }
    }
}

/// An installation token.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) installation: u64,
    pub(crate) permissions: BTreeMap<String, String>,
    /// `None`: all repositories of the installation.
    pub(crate) repos: Option<BTreeSet<u64>>,
    expires_at: Time,
}

/// Tokens and the clock they live by.
pub(crate) struct Doors {
    app: u64,
    skew: TimeDelta,
    life: TimeDelta,
    tokens: HashMap<String, Token>,
    pub(crate) minted: u64,
}

impl Doors {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            app: config.app_id,
            skew: config.jwt_skew,
            life: config.token_life,
            tokens: HashMap::new(),
            minted: 0,
        }
    }

    pub(crate) fn set_skew(&mut self, skew: TimeDelta) {
        self.skew = skew;
    }

    pub(crate) fn set_token_life(&mut self, life: TimeDelta) {
        self.life = life;
    }

    pub(crate) fn expire_tokens(&mut self) {
        self.tokens.clear();
    }

    fn now(&self) -> Time {
        Utc::now() + self.skew
    }

    /// Reads the `Authorization` header.
    pub(crate) fn caller(&self, header: Option<&str>) -> Result<Caller, Refusal> {
        let Some(header) = header else {
            return Ok(Caller::Nobody);
        };
        let mut words = header.split_whitespace();
        let scheme = words.next().unwrap_or_default();
        let credential = words.next().unwrap_or_default();
        if !scheme.eq_ignore_ascii_case("bearer") && !scheme.eq_ignore_ascii_case("token") {
            return Err(Refusal::unauthorized("Bad credentials"));
        }
        if credential.split('.').count() == 3 {
            return self.check_jwt(credential).map(|()| Caller::App);
        }
        let token = self.token(credential)?;
        Ok(Caller::Installation {
            id: token.installation,
            token: credential.into(),
        })
    }

    /// A token that is known and not over.
    pub(crate) fn token(&self, credential: &str) -> Result<&Token, Refusal> {
        let alive = self
            .tokens
            .get(credential)
            .filter(|token| token.expires_at > self.now());
        alive.ok_or_else(|| Refusal::unauthorized("Bad credentials"))
    }

    fn check_jwt(&self, text: &str) -> Result<(), Refusal> {
        let undecodable = || Refusal::unauthorized("A JSON web token could not be decoded");
        let key =
            DecodingKey::from_rsa_pem(TEST_PUBLIC_KEY_PEM.as_bytes()).map_err(|_| undecodable())?;
        let mut rules = Validation::new(Algorithm::RS256);
        rules.validate_exp = false;
        rules.required_spec_claims.clear();
        let claims = jsonwebtoken::decode::<Value>(text, &key, &rules)
            .map_err(|_| undecodable())?
            .claims;
        let number = |name: &str| claims.get(name).and_then(Value::as_i64);
        let now = self.now().timestamp();
        let issuer = claims
            .get("iss")
            .map(|iss| iss.as_str().map_or_else(|| iss.to_string(), Into::into));
        if issuer != Some(self.app.to_string()) {
            return Err(Refusal::new(404, "Integration not found"));
        }
        let Some(issued) = number("iat").filter(|issued| *issued <= now) else {
            return Err(Refusal::unauthorized(
                "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
            ));
        };
        let Some(expires) = number("exp").filter(|expires| *expires > now) else {
            return Err(Refusal::unauthorized(
                "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
            ));
        };
        if expires - issued > MAX_LIFE || expires > now + MAX_LIFE {
            return Err(Refusal::unauthorized(
                "'Expiration time' claim ('exp') is too far in the future",
            ));
        }
        Ok(())
    }
}

impl World {
    /// Reads the `Authorization` header.
    pub(crate) fn caller(&self, header: Option<&str>) -> Result<Caller, Refusal> {
        match header.and_then(|header| header.split_whitespace().nth(1)) {
            Some(token) if token.starts_with("ghu_") => {
                self.person_of(token).map(|id| Caller::Person { id })
            }
            _ => self.doors.caller(header),
        }
    }

    /// Makes a token, narrowed as the request asks.
    pub(crate) fn mint(&mut self, installation: u64, body: &Value) -> Result<Value, Refusal> {
        let held = self.installation(installation)?.clone();
        if held.suspended_at.is_some() {
            return Err(Refusal::new(403, "This installation has been suspended"));
        }
        let wanted = |name: &str| body.get(name).and_then(Value::as_array).cloned();
        let by_id = wanted("repository_ids").map(|ids| {
            ids.iter()
                .filter_map(Value::as_u64)
                .collect::<BTreeSet<_>>()
        });
        let by_name = wanted("repositories").map(|names| {
            let named = |name: &Value| {
                held.repos.iter().copied().find(|id| {
                    self.repo(*id)
                        .is_ok_and(|repo| Some(repo.name.as_str()) == name.as_str())
                })
            };
            names
                .iter()
                .map(|name| named(name).unwrap_or(0))
                .collect::<BTreeSet<_>>()
        });
        let repos = by_id.or(by_name);
        if repos
            .as_ref()
            .is_some_and(|repos| !repos.is_subset(&held.repos))
        {
            return Err(Refusal::invalid(
                "There is at least one repository that does not exist or is not accessible to the parent installation.",
            ));
        }
        let mut permissions = held.permissions.clone();
        if let Some(narrow) = body.get("permissions").and_then(Value::as_object) {
            let granted = |name: &String, level: &Value| {
                permissions
                    .get(name)
                    .is_some_and(|held| held == "write" || Some(held.as_str()) == level.as_str())
            };
            if !narrow.iter().all(|(name, level)| granted(name, level)) {
                return Err(Refusal::invalid(
                    "The permissions requested are not granted to this installation.",
                ));
            }
            permissions = narrow
                .iter()
                .map(|(name, level)| (name.clone(), level.as_str().unwrap_or_default().to_owned()))
                .collect();
            permissions
                .entry("metadata".into())
                .or_insert_with(|| "read".into());
        }
        self.doors.minted += 1;
        let token: String = format!("ghs_{}", self.ids.digest())
            .chars()
            .take(40)
            .collect();
        let expires_at = self.doors.now() + self.doors.life;
        let held = Token {
            installation,
            permissions: permissions.clone(),
            repos: repos.clone(),
            expires_at,
        };
        self.doors.tokens.insert(token.clone(), held);
        Ok(json!({
            "token": token, "expires_at": stamp(expires_at), "permissions": permissions,
            "repository_selection": "selected",
        }))
    }

    /// The repositories that a token opens now.
    pub(crate) fn repos_of_token(&self, credential: &str) -> Result<BTreeSet<u64>, Refusal> {
        let token = self.doors.token(credential)?;
        let held = &self.installation(token.installation)?.repos;
        Ok(token
            .repos
            .as_ref()
            .map_or_else(|| held.clone(), |narrow| narrow & held))
    }
}
