//! Who we are: the App's signed tokens, and the installation tokens that are bought with them.
//!
//! INVARIANT: one installation mints one token at a time, whoever asks; a token is never printed. Lifetimes are
//! measured by GitHub's clock (`expires_at` less the answer's `Date`) and kept by a monotonic one.

use super::ApiError;
use crate::domain::AppId;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use octocrab::Octocrab;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// GitHub refuses an `iat` that lies in its future: ours is dated back by this many seconds.
const BACKDATE: i64 = 60;
/// GitHub refuses an `exp` more than 600 s ahead of its clock: this leaves a minute for clocks that differ.
const LIFETIME: i64 = 540;
/// A token is renewed this long before it ends (sooner when it lives shortly).
const RENEW_BEFORE: Duration = Duration::from_mins(5);

/// The App's private key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Nothing there.
    #[error("the App's private key is empty; give the PEM file that GitHub made for the App")]
    Empty,
    /// An encrypted key.
    #[error(
        "the App's private key is encrypted; give it unencrypted (`openssl rsa -in KEY.pem -out PLAIN.pem`)"
    )]
    Encrypted,
    /// Not a private RSA key in PEM.
    #[error(
        "the App's private key is not an RSA key in PEM form (`BEGIN RSA PRIVATE KEY` or `BEGIN PRIVATE KEY`): {0}; download a new one on the App's settings page"
    )]
    Unusable(String),
}

/// The App's id and key.
pub(super) struct AppKey {
    app_id: AppId,
    key: EncodingKey,
}

#[derive(Serialize)]
struct Claims {
    iss: u64,
    iat: i64,
    exp: i64,
}

impl AppKey {
    /// Reads PKCS#1 or PKCS#8 PEM; a literal `\n` (from an environment variable) counts as a line end.
    pub(super) fn new(app_id: AppId, pem: &SecretString) -> Result<Self, KeyError> {
        let pem = SecretString::from(pem.expose_secret().trim().replace("\\n", "\n"));
        let text = pem.expose_secret();
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        if text.contains("ENCRYPTED") {
            return Err(KeyError::Encrypted);
        }
        let key = EncodingKey::from_rsa_pem(text.as_bytes())
            .map_err(|error| KeyError::Unusable(error.to_string()))?;
        let key = Self { app_id, key };
        // The PEM's contents are looked at when something is signed, not before.
        key.sign(0)
            .map_err(|_| KeyError::Unusable("nothing can be signed with it".to_owned()))?;
        Ok(key)
    }

    /// A token for the App itself, issued at `now` (seconds since 1970, by GitHub's clock as far as we know it).
    ///
    /// octocrab's own `create_jwt` reads the clock itself, so that a clock that is off could not be made up for.
    pub(super) fn sign(&self, now: i64) -> Result<SecretString, jsonwebtoken::errors::Error> {
        let claims = Claims {
            iss: self.app_id.0,
            iat: now.saturating_sub(BACKDATE),
            exp: now.saturating_add(LIFETIME),
        };
        jsonwebtoken::encode(&Header::new(Algorithm::RS256), &claims, &self.key)
            .map(SecretString::from)
    }
}

/// A client that carries one installation's token.
#[derive(Clone)]
pub(super) struct Minted {
    /// Sends with the token.
    pub(super) client: Octocrab,
    /// Tells this token from the ones before and after it.
    pub(super) serial: u64,
    /// Not to be used from here on.
    pub(super) use_until: Instant,
}

/// How long a token that lives this long is used.
pub(super) fn usable_for(lifetime: Duration) -> Duration {
    lifetime.saturating_sub(RENEW_BEFORE.min(lifetime / 4))
}

/// The token of one installation.
#[derive(Default)]
pub(super) struct TokenSlot {
    state: Mutex<SlotState>,
}

#[derive(Default)]
struct SlotState {
    serial: u64,
    minted: Option<Minted>,
    /// The last failure: whoever was waiting meanwhile shares it instead of asking again.
    failed: Option<(Instant, ApiError)>,
}

impl TokenSlot {
    /// The present token, or a new one from `mint`, which is given its serial. `stale` names a token that
    /// GitHub no longer takes.
    pub(super) async fn get<F>(
        &self,
        stale: Option<u64>,
        mint: impl FnOnce(u64) -> F,
    ) -> Result<Minted, ApiError>
    where
        F: Future<Output = Result<Minted, ApiError>>,
    {
        let asked = Instant::now();
        let mut slot = self.state.lock().await;
        if let Some(minted) = &slot.minted
            && stale != Some(minted.serial)
            && Instant::now() < minted.use_until
        {
            return Ok(minted.clone());
        }
        if let Some((at, error)) = &slot.failed
            && *at > asked
        {
            return Err(error.clone());
        }
        slot.minted = None;
        slot.serial = slot.serial.wrapping_add(1);
        match mint(slot.serial).await {
            Ok(minted) => {
                slot.failed = None;
                slot.minted = Some(minted.clone());
                Ok(minted)
            }
            Err(error) => {
                slot.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }
}

#[cfg(test)]
#[path = "auth_tests.rs"]
mod tests;
