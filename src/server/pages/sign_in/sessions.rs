//! Who is signed in: in memory alone, a bounded number, each with an end. A restart signs everybody out.
//!
//! INVARIANT: the cookie's value is kept nowhere, only its digest; a token never leaves a session.

use super::flow::random;
use super::{Identity, IdentityError, Person};
use crate::domain::{RepoId, Timestamp};
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Sessions at once; the one that ends first makes room.
const MOST: usize = 1_000;
/// The longest life of one.
const LIFE: Duration = Duration::from_hours(8);
/// How long GitHub's word on what somebody can read holds.
const FRESH: Duration = Duration::from_mins(1);

type Key = [u8; 32];
type Readable = (Timestamp, Arc<BTreeSet<RepoId>>);

/// All sessions.
#[derive(Default)]
pub(super) struct Sessions {
    all: Mutex<HashMap<Key, Arc<Session>>>,
}

/// Somebody who is signed in.
pub(super) struct Session {
    pub(super) login: String,
    /// Stands in the forms of this session's pages.
    pub(super) form_token: String,
    token: SecretString,
    until: Timestamp,
    repos: tokio::sync::Mutex<Option<Readable>>,
}

impl Session {
    /// What this person can read, by GitHub's word of the last minute. Asked once, however many pages wait for it.
    pub(super) async fn repos(
        &self,
        identity: &dyn Identity,
        now: Timestamp,
    ) -> Result<Arc<BTreeSet<RepoId>>, IdentityError> {
        let mut kept = self.repos.lock().await;
        if let Some((asked, repos)) = &*kept
            && now.since(*asked) < FRESH
        {
            return Ok(Arc::clone(repos));
        }
        // What was known is forgotten first: a failure must not leave it in force.
        *kept = None;
        let repos = Arc::new(identity.readable(&self.token).await?);
        *kept = Some((now, Arc::clone(&repos)));
        Ok(repos)
    }
}

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Arc<Session>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a session; the value of its cookie. `None` when the system gives no random bytes.
    pub(super) fn open(&self, person: Person, now: Timestamp) -> Option<String> {
        let cookie = random()?;
        let life = person.lasts.map_or(LIFE, |lasts| lasts.min(LIFE));
        let session = Session {
            login: person.login,
            form_token: random()?,
            token: person.token,
            until: now.plus(life),
            repos: tokio::sync::Mutex::default(),
        };
        let mut all = self.lock();
        all.retain(|_, session| session.until > now);
        if all.len() >= MOST {
            let first = all.iter().min_by_key(|(_, session)| session.until);
            if let Some(key) = first.map(|(key, _)| *key) {
                all.remove(&key);
            }
        }
        all.insert(key(&cookie), Arc::new(session));
        Some(cookie)
    }

    /// The session of a cookie, if it has not ended.
    pub(super) fn find(&self, cookie: &str, now: Timestamp) -> Option<Arc<Session>> {
        let mut all = self.lock();
        let session = Arc::clone(all.get(&key(cookie))?);
        if session.until > now {
            return Some(session);
        }
        all.remove(&key(cookie));
        None
    }

    /// Ends one.
    pub(super) fn end(&self, cookie: &str) {
        self.lock().remove(&key(cookie));
    }
}

fn key(cookie: &str) -> Key {
    Sha256::digest(cookie).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(lasts: Option<Duration>) -> Person {
        Person {
            login: "octo-dev".into(),
            token: "t".into(),
            lasts,
        }
    }

    #[test]
    fn a_session_ends_with_its_token_or_its_time() {
        let (sessions, start) = (Sessions::default(), Timestamp::from_millis(0));
        let short = sessions
            .open(person(Some(Duration::from_mins(5))), start)
            .expect("opens");
        let long = sessions.open(person(Some(LIFE * 3)), start).expect("opens");
        let later = start.plus(Duration::from_mins(5));
        assert!(sessions.find(&short, start).is_some());
        assert!(sessions.find(&short, later).is_none());
        assert!(sessions.find(&long, later).is_some());
        assert!(sessions.find(&long, start.plus(LIFE)).is_none());
        assert!(sessions.find("other", start).is_none());
    }

    #[test]
    fn there_are_never_more_than_so_many() {
        let (sessions, start) = (Sessions::default(), Timestamp::from_millis(0));
        let first = sessions
            .open(person(Some(Duration::from_mins(1))), start)
            .expect("opens");
        for _ in 0..MOST {
            sessions.open(person(None), start).expect("opens");
        }
        assert_eq!(sessions.lock().len(), MOST);
        assert!(sessions.find(&first, start).is_none());
    }
}
