//! People who sign in to an App: codes that wait to be exchanged, and the tokens that came of them.

use super::{Time, World};
use crate::refusal::Refusal;
use chrono::TimeDelta;
use std::collections::{BTreeSet, HashMap};

/// A code is good once and for ten minutes.
const CODE_MINUTES: i64 = 10;
/// A person's token lasts eight hours.
pub(crate) const TOKEN_SECONDS: i64 = 8 * 3_600;

/// A person agreed; the App has not come for the token yet.
struct Grant {
    account: u64,
    redirect_uri: String,
    challenge: String,
    at: Time,
}

/// Codes and people's tokens.
#[derive(Default)]
pub(crate) struct SignIns {
    codes: HashMap<String, Grant>,
    tokens: HashMap<String, (u64, Time)>,
}

/// What an exchange is refused with, in GitHub's words.
pub(crate) const BAD_CODE: &str = "bad_verification_code";
pub(crate) const BAD_REDIRECT: &str = "redirect_uri_mismatch";

impl World {
    /// The App's client id, as `GET /app` shows it.
    pub(crate) fn client_id(&self) -> String {
        crate::config::client_id(self.own_app)
    }

    /// A person agrees; the code for the App.
    pub(crate) fn agree(&mut self, account: u64, redirect_uri: &str, challenge: &str) -> String {
        let code: String = self.ids.digest().chars().take(20).collect();
        let grant = Grant {
            account,
            redirect_uri: redirect_uri.into(),
            challenge: challenge.into(),
            at: self.now(),
        };
        self.sign_ins.codes.insert(code.clone(), grant);
        code
    }

    /// Exchanges a code. `challenge` is what the verifier that was shown hashes to.
    pub(crate) fn exchange(
        &mut self,
        code: &str,
        redirect_uri: &str,
        challenge: &str,
    ) -> Result<String, &'static str> {
        let grant = self.sign_ins.codes.remove(code).ok_or(BAD_CODE)?;
        let now = self.now();
        if now - grant.at > TimeDelta::minutes(CODE_MINUTES) || grant.challenge != challenge {
            return Err(BAD_CODE);
        }
        if grant.redirect_uri != redirect_uri {
            return Err(BAD_REDIRECT);
        }
        let token: String = format!("ghu_{}", self.ids.digest())
            .chars()
            .take(40)
            .collect();
        let until = now + TimeDelta::seconds(TOKEN_SECONDS);
        self.sign_ins
            .tokens
            .insert(token.clone(), (grant.account, until));
        Ok(token)
    }

    /// Whose token it is.
    pub(crate) fn person_of(&self, token: &str) -> Result<u64, Refusal> {
        let held = self.sign_ins.tokens.get(token);
        held.filter(|(_, until)| *until > self.now())
            .map(|(account, _)| *account)
            .ok_or_else(|| Refusal::unauthorized("Bad credentials"))
    }

    /// Nobody's token is good any more.
    pub(crate) fn revoke_people(&mut self) {
        self.sign_ins.tokens.clear();
    }

    /// The repositories of an installation that a person was given a role in.
    pub(crate) fn readable_in(&self, installation: u64, account: u64) -> BTreeSet<u64> {
        let repos = self
            .installations
            .get(&installation)
            .map(|held| &held.repos);
        let readable = |id: &u64| {
            let role = self
                .repos
                .get(id)
                .and_then(|repo| repo.permissions.get(&account));
            role.is_some_and(|role| role != "none")
        };
        repos
            .into_iter()
            .flatten()
            .copied()
            .filter(readable)
            .collect()
    }
}
