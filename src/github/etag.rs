//! Answers kept for conditional requests: what has not changed costs nothing of GitHub's budget.
//!
//! INVARIANT: a kept answer is used only after GitHub said 304 to its ETag, and only for the identity that it was
//! given to: what one installation may read is never shown to another.

use super::call::{Call, Reply, Who};
use super::client::lock;
use http::header::{CONTENT_TYPE, ETAG, LINK};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use std::collections::HashMap;
use std::sync::Mutex;

/// Longer answers (the files of large pull requests) are not kept: they change with each head anyhow. A page of a
/// hundred Issues with their texts, which each tick asks for, is to fit.
const LONGEST: usize = 1024 * 1024;
/// All kept answers together.
const ROOM: usize = 32 * 1024 * 1024;

/// The kept answers, by identity and target.
#[derive(Default)]
pub(super) struct Kept {
    shelf: Mutex<Shelf>,
}

#[derive(Default)]
struct Shelf {
    answers: HashMap<(Who, String), Answer>,
    bytes: usize,
    clock: u64,
}

struct Answer {
    etag: HeaderValue,
    headers: HeaderMap,
    body: Vec<u8>,
    used: u64,
}

impl Kept {
    /// The ETag to ask with.
    pub(super) fn etag(&self, call: &Call) -> Option<HeaderValue> {
        let held = lock(&self.shelf);
        held.answers
            .get(&key(call)?)
            .map(|answer| answer.etag.clone())
    }

    /// Turns a 304 into the kept answer, and keeps a new one. `asked` is the ETag that the request carried. What is
    /// still a 304 after that has no kept answer any more.
    pub(super) fn settle(&self, call: &Call, asked: Option<&HeaderValue>, reply: Reply) -> Reply {
        let Some(key) = key(call) else { return reply };
        let mut held = lock(&self.shelf);
        held.clock += 1;
        let now = held.clock;
        if reply.status == StatusCode::NOT_MODIFIED {
            return match held.answers.get_mut(&key) {
                // Another request can have replaced it meanwhile: the newer one is no worse an answer.
                Some(answer) if asked.is_some() => {
                    answer.used = now;
                    Reply {
                        status: StatusCode::OK,
                        headers: answer.headers.clone(),
                        body: answer.body.clone(),
                        too_long: false,
                    }
                }
                Some(_) | None => reply,
            };
        }
        held.forget(&key);
        let etag = reply.headers.get(ETAG).cloned();
        if let Some(etag) = etag
            && reply.status == StatusCode::OK
            && !reply.too_long
            && reply.body.len() <= LONGEST
        {
            let headers = [LINK, CONTENT_TYPE]
                .into_iter()
                .filter_map(|name| Some((name.clone(), reply.headers.get(name)?.clone())))
                .collect();
            held.bytes += reply.body.len();
            let answer = Answer {
                etag,
                headers,
                body: reply.body.clone(),
                used: now,
            };
            held.answers.insert(key, answer);
            held.make_room();
        }
        reply
    }
}

impl Shelf {
    fn forget(&mut self, key: &(Who, String)) {
        if let Some(old) = self.answers.remove(key) {
            self.bytes = self.bytes.saturating_sub(old.body.len());
        }
    }

    /// Throws away the half that was not used for longest.
    fn make_room(&mut self) {
        if self.bytes <= ROOM {
            return;
        }
        let mut used: Vec<u64> = self.answers.values().map(|answer| answer.used).collect();
        used.sort_unstable();
        let middle = used.get(used.len() / 2).copied().unwrap_or(0);
        self.answers.retain(|_, answer| answer.used > middle);
        self.bytes = self.answers.values().map(|answer| answer.body.len()).sum();
    }
}

fn key(call: &Call) -> Option<(Who, String)> {
    let kept = call.method == Method::GET && call.is_json();
    kept.then(|| (call.who, call.path.as_str().to_owned()))
}
