//! `X-Hub-Signature-256` over the raw body, in constant time, against one or more secrets.
//!
//! Neither secrets nor signatures are printed. INVARIANT: [`SignedBody`] is only made by [`WebhookSecrets::verify`],
//! so bytes that were not verified cannot be parsed as a delivery.

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::fmt;

/// The webhook secrets that count now: the current one, and the last one while it is rotated out.
#[derive(Clone)]
pub struct WebhookSecrets(Vec<SecretString>);

/// The secrets cannot be used; the server does not start.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SecretsError {
    /// There is none.
    #[error(
        "there is no webhook secret: without one anybody could send deliveries; set one here and in the App"
    )]
    None,
    /// One is empty, or nothing but line ends.
    #[error("webhook secret number {0} is empty: set one here and in the App")]
    Empty(usize),
}

impl WebhookSecrets {
    /// Takes the secrets; a trailing line end, as files have it, is dropped.
    ///
    /// # Errors
    /// When there is none, or one is empty.
    pub fn new(secrets: impl IntoIterator<Item = SecretString>) -> Result<Self, SecretsError> {
        let secrets: Vec<_> = secrets
            .into_iter()
            .map(|secret| SecretString::from(secret.expose_secret().trim_end_matches(['\r', '\n'])))
            .collect();
        if secrets.is_empty() {
            return Err(SecretsError::None);
        }
        match secrets.iter().position(|s| s.expose_secret().is_empty()) {
            Some(index) => Err(SecretsError::Empty(index + 1)),
            None => Ok(Self(secrets)),
        }
    }

    /// Checks the body against a signature by any of the secrets.
    ///
    /// # Errors
    /// [`SignatureError::Wrong`] when none of them made it.
    pub fn verify(
        &self,
        signature: &Signature,
        body: axum::body::Bytes,
    ) -> Result<SignedBody, SignatureError> {
        // Every secret is tried, so that the time does not tell which one it was.
        let matches = self.0.iter().fold(false, |found, secret| {
            found | matches_secret(secret, signature, &body)
        });
        if matches {
            Ok(SignedBody {
                sha256: Sha256::digest(&body).into(),
                bytes: body,
            })
        } else {
            Err(SignatureError::Wrong)
        }
    }
}

impl fmt::Debug for WebhookSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebhookSecrets({})", self.0.len())
    }
}

fn matches_secret(secret: &SecretString, signature: &Signature, body: &[u8]) -> bool {
    // HMAC takes keys of any length.
    Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes())
        .is_ok_and(|mac| mac.chain_update(body).verify_slice(&signature.0).is_ok())
}

/// The digest that a request claims.
pub struct Signature([u8; 32]);

impl Signature {
    /// Reads the header: exactly `sha256=` and 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`SignatureError::Malformed`] for anything else.
    pub fn parse(header: &[u8]) -> Result<Self, SignatureError> {
        let digits: &[u8; 64] = header
            .strip_prefix(b"sha256=")
            .and_then(|digits| digits.try_into().ok())
            .ok_or(SignatureError::Malformed)?;
        let mut digest = [0; 32];
        let (pairs, _) = digits.as_chunks::<2>();
        for (byte, &[high, low]) in digest.iter_mut().zip(pairs) {
            *byte = nibble(high)? << 4 | nibble(low)?;
        }
        Ok(Self(digest))
    }
}

fn nibble(digit: u8) -> Result<u8, SignatureError> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        b'A'..=b'F' => Ok(digit - b'A' + 10),
        _ => Err(SignatureError::Malformed),
    }
}

/// A body that somebody with a secret signed.
#[derive(Debug, Clone)]
pub struct SignedBody {
    bytes: axum::body::Bytes,
    sha256: [u8; 32],
}

impl SignedBody {
    /// The raw bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Their SHA-256.
    #[must_use]
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256
    }
}

/// Why a request is not GitHub's. The text says what an operator can look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum SignatureError {
    /// No signature at all.
    #[error("there is no `X-Hub-Signature-256`: is a secret set in the App's webhook settings?")]
    Missing,
    /// Only the outdated SHA-1 signature.
    #[error("only `X-Hub-Signature` (SHA-1) is there: it is not accepted")]
    Sha1Only,
    /// Not `sha256=` and 64 digits, or there several times.
    #[error("`X-Hub-Signature-256` is not `sha256=` and 64 hexadecimal digits")]
    Malformed,
    /// Another secret, or other bytes.
    #[error(
        "`X-Hub-Signature-256` is not over these bytes with a secret of ours: another secret, or a proxy changed the body"
    )]
    Wrong,
}

impl SignatureError {
    /// The word for metrics and answers.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "signature-missing",
            Self::Sha1Only => "signature-sha1",
            Self::Malformed => "signature-malformed",
            Self::Wrong => "signature-wrong",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(list: &[&str]) -> Result<WebhookSecrets, SecretsError> {
        WebhookSecrets::new(list.iter().map(|s| SecretString::from(*s)))
    }

    // RFC 4231, test case 2: an independent figure.
    const JEFE: &[u8] = b"sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    const BODY: &[u8] = b"what do ya want for nothing?";

    #[test]
    fn any_of_the_secrets_will_do() {
        let signature = Signature::parse(JEFE).unwrap();
        let verify = |list: &[&str]| {
            let body = axum::body::Bytes::from_static(BODY);
            secrets(list).unwrap().verify(&signature, body).is_ok()
        };
        assert!(verify(&["Jefe"]));
        assert!(verify(&["new", "Jefe\n"]));
        assert!(!verify(&["jefe"]));
        assert!(!verify(&["Jefe "]));
    }

    #[test]
    fn an_empty_secret_is_none() {
        assert_eq!(secrets(&[]).unwrap_err(), SecretsError::None);
        assert_eq!(secrets(&["x", "\n"]).unwrap_err(), SecretsError::Empty(2));
        let shown = format!("{:?}", secrets(&["hunter2"]).unwrap());
        assert!(!shown.contains("hunter2"));
    }

    #[test]
    fn the_header_is_exact() {
        let digits = "0".repeat(64);
        for bad in [
            String::new(),
            "sha256=".into(),
            digits.clone(),
            format!("sha256= {digits}"),
            format!("sha256={digits} "),
            format!("SHA256={digits}"),
            format!("sha1={digits}"),
            format!("sha256={}", "0".repeat(63)),
            format!("sha256={}", "0".repeat(65)),
            format!("sha256={}", "g".repeat(64)),
            format!("sha256={}", "é".repeat(32)),
        ] {
            assert!(Signature::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(Signature::parse(format!("sha256={digits}").as_bytes()).is_ok());
    }
}
