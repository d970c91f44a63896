//! Tests of the App token and of installation tokens.

use super::*;
use jsonwebtoken::{DecodingKey, Validation};
use serde::Deserialize;
use std::sync::atomic::{AtomicU32, Ordering};

const PKCS1: &str = include_str!("../../tests/it/data/github/app-pkcs1.pem");
const PKCS8: &str = include_str!("../../tests/it/data/github/app-pkcs8.pem");
const PUBLIC: &str = include_str!("../../tests/it/data/github/app-public.pem");

fn key(pem: &str) -> Result<AppKey, KeyError> {
    AppKey::new(AppId(4711), &SecretString::from(pem))
}

#[derive(Deserialize)]
struct Seen {
    iss: u64,
    iat: i64,
    exp: i64,
}

fn claims(token: &SecretString) -> Seen {
    let mut validation = Validation::new(Algorithm::RS256);
    validation.validate_exp = false;
    let public = DecodingKey::from_rsa_pem(PUBLIC.as_bytes()).expect("a public key");
    jsonwebtoken::decode(token.expose_secret(), &public, &validation)
        .expect("signed by our key")
        .claims
}

#[test]
fn both_pem_forms_sign_the_same_claims() {
    for pem in [PKCS1, PKCS8] {
        let token = key(pem).expect("usable").sign(1_000_000).expect("signs");
        let seen = claims(&token);
        assert_eq!(seen.iss, 4711);
        assert_eq!(
            seen.iat,
            1_000_000 - 60,
            "dated back for clocks that differ"
        );
        assert!(
            seen.exp - 1_000_000 <= 600,
            "GitHub takes ten minutes at most"
        );
        assert!(seen.exp > 1_000_000);
    }
}

#[test]
fn keys_from_the_environment_and_with_blanks_around() {
    let escaped = PKCS1.replace('\n', "\\n");
    assert!(key(&escaped).is_ok());
    assert!(key(&format!("\n{PKCS8}\n\n")).is_ok());
    assert!(key(&PKCS8.replace('\n', "\r\n")).is_ok());
}

#[test]
fn bad_keys_say_what_is_wrong() {
    assert!(matches!(key("  \n"), Err(KeyError::Empty)));
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----";
    assert!(matches!(key(encrypted), Err(KeyError::Encrypted)));
    let garbage = "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n";
    for bad in [PUBLIC, garbage, "ssh-rsa AAAA", "hunter2"] {
        let error = key(bad).err().expect("refused").to_string();
        assert!(error.contains("RSA key in PEM form"), "{error}");
        assert!(
            !error.contains("hunter2") && !error.contains("AAAA"),
            "{error}"
        );
    }
}

#[test]
fn tokens_are_renewed_before_they_end() {
    assert_eq!(usable_for(Duration::from_hours(1)), Duration::from_mins(55));
    assert_eq!(usable_for(Duration::from_mins(4)), Duration::from_mins(3));
    assert_eq!(usable_for(Duration::ZERO), Duration::ZERO);
}

fn minted(serial: u64, lasts: Duration) -> Minted {
    Minted {
        client: Octocrab::default(),
        serial,
        use_until: Instant::now() + lasts,
    }
}

#[tokio::test]
async fn a_stale_token_is_replaced_once() {
    let slot = TokenSlot::default();
    let count = AtomicU32::new(0);
    let mint = |serial| {
        count.fetch_add(1, Ordering::SeqCst);
        async move { Ok(minted(serial, Duration::from_hours(1))) }
    };
    let first = slot.get(None, mint).await.expect("minted").serial;
    assert_eq!(slot.get(None, mint).await.expect("kept").serial, first);
    let second = slot.get(Some(first), mint).await.expect("renewed").serial;
    assert_ne!(first, second);
    // Another request that was refused with the first token gets the second one.
    assert_eq!(
        slot.get(Some(first), mint).await.expect("kept").serial,
        second
    );
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn whoever_waits_shares_the_failure() {
    let slot = TokenSlot::default();
    let count = AtomicU32::new(0);
    let barrier = tokio::sync::Notify::new();
    let failing = |_| {
        count.fetch_add(1, Ordering::SeqCst);
        async {
            barrier.notified().await;
            Err(ApiError::transient("POST installation token", "HTTP 502"))
        }
    };
    let release = async {
        tokio::task::yield_now().await;
        barrier.notify_one();
    };
    let (one, two, ()) = tokio::join!(slot.get(None, failing), slot.get(None, failing), release);
    assert!(one.is_err() && two.is_err());
    assert_eq!(count.load(Ordering::SeqCst), 1);
}
