//! One request as a handler sees it, and the answer it gives: JSON or bytes, paging with links.

use crate::{auth::Caller, model::World, refusal::Refusal};
use serde_json::{Value, json};

/// A matched request whose caller, repository and form are checked.
pub(crate) struct Call<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) caller: Caller,
    /// The repository of `/repos/{owner}/{repo}/…`; 0 elsewhere.
    pub(crate) repo: u64,
    pub(crate) path: &'a [(String, String)],
    pub(crate) query: &'a [(String, String)],
    pub(crate) body: &'a Value,
    pub(crate) accept: &'a str,
    /// Path as it was asked for, for links.
    pub(crate) asked: &'a str,
    /// Does this read lag behind (a fault)?
    pub(crate) stale: bool,
}

/// What a handler answers.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) content: Content,
    pub(crate) link: Option<String>,
}

#[derive(Debug)]
pub(crate) enum Content {
    Json(Value),
    Raw(Vec<u8>),
    Empty,
}

pub(crate) type Answer = Result<Reply, Refusal>;

impl Reply {
    pub(crate) fn ok(body: Value) -> Self {
        Self::status(200, body)
    }

    pub(crate) fn created(body: Value) -> Self {
        Self::status(201, body)
    }

    pub(crate) fn status(status: u16, body: Value) -> Self {
        Self {
            status,
            content: Content::Json(body),
            link: None,
        }
    }

    pub(crate) fn nothing() -> Self {
        Self {
            status: 204,
            content: Content::Empty,
            link: None,
        }
    }

    pub(crate) fn raw(bytes: Vec<u8>) -> Self {
        Self {
            status: 200,
            content: Content::Raw(bytes),
            link: None,
        }
    }
}

impl Call<'_> {
    /// A path parameter, decoded.
    pub(crate) fn param(&self, name: &str) -> &str {
        self.path
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value.as_str())
    }

    /// A numeric path parameter; anything else is 404.
    pub(crate) fn id(&self, name: &str) -> Result<u64, Refusal> {
        self.param(name).parse().map_err(|_| Refusal::not_found())
    }

    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// A text member of the body.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.body.get(name).and_then(Value::as_str)
    }

    /// Does the caller's token let contents be written?
    pub(crate) fn may_write_contents(&self) -> bool {
        match &self.caller {
            Caller::App | Caller::Nobody | Caller::Person { .. } => false,
            Caller::Installation { token, .. } => self.world.doors.token(token).is_ok_and(|held| {
                held.permissions
                    .get("contents")
                    .is_some_and(|level| level == "write")
            }),
        }
    }

    /// The account that acts: the App's bot.
    pub(crate) fn actor(&self) -> u64 {
        self.world.own_bot()
    }

    /// One page of a list, made row by row, with GitHub's links.
    pub(crate) fn page<T>(&self, items: &[T], row: impl Fn(&T) -> Value) -> Reply {
        let (rows, link) = self.cut(items, row);
        Reply {
            status: 200,
            content: Content::Json(rows),
            link,
        }
    }

    /// The same inside an object that also counts.
    pub(crate) fn counted<T>(&self, member: &str, items: &[T], row: impl Fn(&T) -> Value) -> Reply {
        let (rows, link) = self.cut(items, row);
        Reply {
            status: 200,
            content: Content::Json(json!({"total_count": items.len(), member: rows})),
            link,
        }
    }

    /// Page number and size; GitHub takes 100 for more.
    pub(crate) fn paging(&self) -> (usize, usize) {
        let number = |name: &str, otherwise: usize| {
            self.query(name)
                .and_then(|text| text.parse().ok())
                .unwrap_or(otherwise)
        };
        (
            number("page", 1).max(1),
            number("per_page", 30).clamp(1, 100),
        )
    }

    fn cut<T>(&self, items: &[T], row: impl Fn(&T) -> Value) -> (Value, Option<String>) {
        let (page, size) = self.paging();
        let rows = items
            .iter()
            .skip((page - 1).saturating_mul(size))
            .take(size)
            .map(row)
            .collect();
        let last = items.len().div_ceil(size).max(1);
        let to = |number: usize, rel: &str| format!("<{}>; rel=\"{rel}\"", self.page_url(number));
        let mut links = Vec::new();
        if page > 1 {
            links.extend([to(page - 1, "prev"), to(1, "first")]);
        }
        if page < last {
            links.extend([to(page + 1, "next"), to(last, "last")]);
        }
        (rows, (!links.is_empty()).then(|| links.join(", ")))
    }

    fn page_url(&self, number: usize) -> String {
        let encode = |text: &str| {
            percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC)
                .to_string()
        };
        let mut pairs: Vec<String> = self
            .query
            .iter()
            .filter(|(key, _)| key != "page")
            .map(|(key, value)| format!("{key}={}", encode(value)))
            .collect();
        pairs.push(format!("page={number}"));
        format!("{}{}?{}", self.world.base, self.asked, pairs.join("&"))
    }
}
