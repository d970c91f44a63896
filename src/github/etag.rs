//! Answers kept for conditional requests: what has not changed costs nothing of GitHub's budget.
//!
//! INVARIANT: a kept answer is used only after GitHub said 304 to its ETag, and only for the identity that it was
//! given to: what one installation may read is never shown to another.

use super::call::{Call, Reply, Who};
use super::client::lock;
use http::header::{CONTENT_TYPE, ETAG, LINK};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use std::collections::HashMap;
use std::sync::Mutex;

/// Longer answers (the files of large pull requests) are not kept: they change with each head anyhow. A page of a
/// hundred Issues with their texts, which each tick asks for, is to fit.
const LONGEST: usize = 1024 * 1024;
/// All kept answers together, with what is needed to keep them.
const ROOM: usize = 8 * 1024 * 1024;
/// What an answer costs beside its text and its target: entries of tables, the ETag, two headers, rounding by the allocator.
const BESIDE: usize = 768;

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
    /// Those of `LINK` and `CONTENT_TYPE` that it had. No map: an empty one is larger than most answers.
    headers: [Option<HeaderValue>; 2],
    body: Box<[u8]>,
    used: u64,
}

/// The headers of an answer that are kept.
const HEADERS: [HeaderName; 2] = [LINK, CONTENT_TYPE];

impl Answer {
    fn weight(&self, key: &(Who, String)) -> usize {
        self.body.len() + key.1.len() + BESIDE
    }

    fn headers(&self) -> HeaderMap {
        let values = HEADERS.into_iter().zip(&self.headers);
        values
            .filter_map(|(name, value)| Some((name, value.clone()?)))
            .collect()
    }
}

/// A kept answer outside the shelf.
pub(super) struct StoredAnswer {
    pub(super) who: Who,
    pub(super) target: String,
    pub(super) etag: String,
    pub(super) link: Option<String>,
    pub(super) content_type: Option<String>,
    pub(super) body: Vec<u8>,
}

impl Kept {
    /// All answers, the longest unused first.
    pub(super) fn stored(&self) -> Vec<StoredAnswer> {
        let held = lock(&self.shelf);
        let mut answers: Vec<_> = held.answers.iter().collect();
        answers.sort_unstable_by_key(|(_, answer)| answer.used);
        let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
        answers
            .into_iter()
            .filter_map(|((who, target), answer)| {
                let [link, content_type] = &answer.headers;
                Some(StoredAnswer {
                    who: *who,
                    target: target.clone(),
                    etag: text(&answer.etag)?,
                    link: link.as_ref().and_then(text),
                    content_type: content_type.as_ref().and_then(text),
                    body: answer.body.to_vec(),
                })
            })
            .collect()
    }

    /// Puts answers back, as used in this order. One that cannot be is left out: it is asked for anew.
    pub(super) fn restore(&self, answers: Vec<StoredAnswer>) {
        let mut held = lock(&self.shelf);
        for stored in answers {
            let Ok(etag) = HeaderValue::from_str(&stored.etag) else {
                continue;
            };
            let value = |text: Option<String>| HeaderValue::from_str(&text?).ok();
            let headers = [value(stored.link), value(stored.content_type)];
            held.clock += 1;
            let answer = Answer {
                etag,
                headers,
                used: held.clock,
                body: stored.body.into_boxed_slice(),
            };
            let key = (stored.who, stored.target);
            held.forget(&key);
            held.bytes += answer.weight(&key);
            held.answers.insert(key, answer);
        }
        held.make_room();
    }

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
                        headers: answer.headers(),
                        body: answer.body.to_vec(),
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
            let answer = Answer {
                etag: own(&etag),
                headers: HEADERS.map(|name| reply.headers.get(name).map(own)),
                body: reply.body.clone().into_boxed_slice(),
                used: now,
            };
            held.bytes += answer.weight(&key);
            held.answers.insert(key, answer);
            held.make_room();
        }
        reply
    }
}

impl Shelf {
    fn forget(&mut self, key: &(Who, String)) {
        if let Some(old) = self.answers.remove(key) {
            self.bytes = self.bytes.saturating_sub(old.weight(key));
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
        self.bytes = self
            .answers
            .iter()
            .map(|(key, answer)| answer.weight(key))
            .sum();
    }
}

/// A copy of its own: a value as it was received holds the whole buffer of the connection that it came in.
fn own(value: &HeaderValue) -> HeaderValue {
    HeaderValue::from_bytes(value.as_bytes()).unwrap_or_else(|_| value.clone())
}

fn key(call: &Call) -> Option<(Who, String)> {
    let kept = call.method == Method::GET && call.is_json();
    kept.then(|| (call.who, call.path.as_str().to_owned()))
}
