//! One sign-in from its beginning to its return: state, PKCE verifier and the page that was wanted, kept by the browser
//! that began, and the cookies for it.
//!
//! INVARIANT: the page that follows a sign-in is one of ours.

use axum::http::{HeaderMap, header};
use cookie::{Cookie, SameSite};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use sha2::{Digest, Sha256};
use std::time::Duration;

/// How long a sign-in may take.
const PATIENCE: Duration = Duration::from_mins(10);
/// The longest address that is remembered.
const LONGEST: usize = 1_024;

/// A sign-in that was begun.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) state: String,
    pub(super) verifier: String,
    /// Where it leads: a path of ours.
    pub(super) to: String,
}

impl Begun {
    /// Begins; `None` when the system gives no random bytes.
    pub(super) fn now(to: Option<&str>) -> Option<Self> {
        Some(Self {
            state: random()?,
            verifier: random()?,
            to: to.and_then(local).unwrap_or("/").to_owned(),
        })
    }

    /// The S256 challenge of the verifier.
    pub(super) fn challenge(&self) -> String {
        base64_url(&Sha256::digest(&self.verifier))
    }

    fn written(&self) -> String {
        format!("{}.{}.{}", self.state, self.verifier, encoded(&self.to))
    }

    fn read(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let (state, verifier, to) = (parts.next()?, parts.next()?, parts.next()?);
        let to = percent_decode_str(to).decode_utf8().ok()?;
        let whole = |part: &str| part.len() == 64 && part.bytes().all(|b| b.is_ascii_hexdigit());
        (whole(state) && whole(verifier)).then(|| Self {
            state: state.to_owned(),
            verifier: verifier.to_owned(),
            to: local(&to).unwrap_or("/").to_owned(),
        })
    }
}

/// 32 random bytes as hexadecimal digits, which are also a good PKCE verifier.
pub(super) fn random() -> Option<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(hex::encode(bytes))
}

/// Base64 for addresses, without padding (RFC 4648, section 5).
fn base64_url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, index| {
            bits << 8 | u32::from(three.get(index).copied().unwrap_or(0))
        });
        for index in 0..=three.len() {
            let place = usize::try_from(bits >> (18 - 6 * index) & 63).unwrap_or(0);
            text.push(char::from(LETTERS.get(place).copied().unwrap_or(b'A')));
        }
    }
    text
}

/// Compares in constant time: the length alone is told.
pub(super) fn same(a: &str, b: &str) -> bool {
    let differs = a
        .bytes()
        .zip(b.bytes())
        .fold(0, |all, (a, b)| all | (a ^ b));
    !a.is_empty() && a.len() == b.len() && differs == 0
}

/// A path of ours, never another host's: a second slash or a backslash would name one.
pub(super) fn local(to: &str) -> Option<&str> {
    let rest = to.strip_prefix('/')?;
    let plain = to.len() <= LONGEST && to.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    (plain && !rest.starts_with('/') && !rest.starts_with("sign-")).then_some(to)
}

/// As a value in an address or a cookie.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// The cookies: `__Host-` ones where the way is encrypted, so that no other host can set them.
pub(super) struct Cookies {
    secure: bool,
}

impl Cookies {
    pub(super) fn new(secure: bool) -> Self {
        Self { secure }
    }

    fn name(&self, what: &str) -> String {
        let prefix = if self.secure { "__Host-" } else { "" };
        format!("{prefix}quadgate-{what}")
    }

    fn build(&self, what: &str, value: &str, life: Option<Duration>) -> String {
        let mut cookie = Cookie::build((self.name(what), value.to_owned()))
            .path("/")
            .secure(self.secure)
            .http_only(true)
            .same_site(SameSite::Lax)
            .build();
        if let Some(life) = life.and_then(|life| life.try_into().ok()) {
            cookie.set_max_age(Some(life));
        }
        cookie.to_string()
    }

    fn read(&self, headers: &HeaderMap, what: &str) -> Option<String> {
        let name = self.name(what);
        let all = headers.get_all(header::COOKIE).iter();
        all.filter_map(|line| line.to_str().ok())
            .flat_map(|line| Cookie::split_parse(line.to_owned()))
            .filter_map(Result::ok)
            .find(|cookie| cookie.name() == name)
            .map(|cookie| cookie.value().to_owned())
    }

    /// A sign-in begins.
    pub(super) fn begin(&self, begun: &Begun) -> String {
        self.build("flow", &begun.written(), Some(PATIENCE))
    }

    /// The sign-in that this browser began.
    pub(super) fn begun(&self, headers: &HeaderMap) -> Option<Begun> {
        Begun::read(&self.read(headers, "flow")?)
    }

    /// It has ended.
    pub(super) fn begun_no_more(&self) -> String {
        self.build("flow", "", Some(Duration::ZERO))
    }

    /// A session begins.
    pub(super) fn open(&self, value: &str) -> String {
        self.build("session", value, None)
    }

    /// The session's secret.
    pub(super) fn session(&self, headers: &HeaderMap) -> Option<String> {
        self.read(headers, "session")
    }

    /// It has ended.
    pub(super) fn close(&self) -> String {
        self.build("session", "", Some(Duration::ZERO))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_the_one_of_rfc_7636() {
        let begun = Begun {
            state: String::new(),
            verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned(),
            to: String::new(),
        };
        assert_eq!(
            begun.challenge(),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn it_leads_to_pages_of_ours_alone() {
        for good in ["/", "/inbox", "/audit?repo=a%2Fb&text=x", "/pulls/o/r/1"] {
            assert_eq!(local(good), Some(good));
        }
        for bad in [
            "",
            "inbox",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/sign-out",
            "/a b",
            "/a\r\nSet-Cookie: x",
        ] {
            assert_eq!(local(bad), None, "{bad}");
        }
        assert_eq!(local(&format!("/{}", "a".repeat(LONGEST))), None);
    }

    #[test]
    fn what_was_begun_is_read_back() {
        let begun = Begun::now(Some("/audit?text=a.b")).expect("random");
        let read = Begun::read(&begun.written()).expect("reads");
        assert_eq!(
            (read.state, read.verifier, read.to),
            (begun.state, begun.verifier, begun.to)
        );
        assert!(Begun::read("..").is_none());
    }

    #[test]
    fn cookies_are_bound_to_the_host_and_out_of_reach_of_scripts() {
        let cookie = Cookies::new(true).open("v");
        for part in [
            "__Host-quadgate-session=v",
            "Secure",
            "HttpOnly",
            "SameSite=Lax",
            "Path=/",
        ] {
            assert!(cookie.contains(part), "{cookie}");
        }
        assert!(!cookie.contains("Domain"));
        let plain = Cookies::new(false).open("v");
        assert!(
            plain.starts_with("quadgate-session=v") && !plain.contains("Secure"),
            "{plain}"
        );
    }
}
