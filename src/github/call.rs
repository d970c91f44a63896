//! One request as it is meant, and the exchange of bytes for it.

use super::error::{self, ApiError, Failure};
use super::observer::CallOutcome;
use super::path::ApiPath;
use crate::domain::InstallationId;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use octocrab::{OctoBody, Octocrab};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::SystemTime;

const JSON: &str = "application/vnd.github+json";
/// No JSON answer that we ask for comes near this.
const JSON_LIMIT: usize = 64 * 1024 * 1024;

/// As whom a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Who {
    /// The App itself, by its signed token.
    App,
    /// One installation.
    Installation(InstallationId),
    /// A person who signed in, with a token that comes with each call. Nothing is kept of the answers.
    Person,
}

/// One request to be made.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// Its name in metrics and messages.
    pub(super) name: &'static str,
    pub(super) who: Who,
    pub(super) method: Method,
    pub(super) path: ApiPath,
    pub(super) accept: &'static str,
    pub(super) body: Option<Value>,
    /// The longest answer that is read.
    pub(super) limit: usize,
}

impl Call {
    pub(super) fn get(name: &'static str, who: Who, path: ApiPath) -> Self {
        Self {
            name,
            who,
            method: Method::GET,
            path,
            accept: JSON,
            body: None,
            limit: JSON_LIMIT,
        }
    }

    pub(super) fn write(
        name: &'static str,
        who: Who,
        method: Method,
        path: ApiPath,
        body: Option<Value>,
    ) -> Self {
        Self {
            method,
            body,
            ..Self::get(name, who, path)
        }
    }

    /// Is JSON asked for, not a file's text?
    pub(super) fn is_json(&self) -> bool {
        self.accept == JSON
    }

    /// What an answer that is no success means.
    pub(super) fn gives_up_on(&self, reply: &Reply, now: SystemTime) -> ApiError {
        error::classify(&Failure {
            call: self.name,
            target: self.path.without_query(),
            status: reply.status,
            headers: &reply.headers,
            body: &reply.body,
            now,
        })
    }
}

/// An answer.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// The answer was longer than the call's limit; `body` is empty.
    pub(super) too_long: bool,
}

/// Reads an answer's JSON.
pub(super) fn read_json<T: DeserializeOwned>(
    name: &'static str,
    reply: &Reply,
) -> Result<T, ApiError> {
    if reply.too_long {
        return Err(ApiError::unreadable(name, "the answer is too long"));
    }
    // serde's message names the place and the kind of the value, for a wrong type also the value: only
    // the place is kept.
    serde_json::from_slice(&reply.body).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        ApiError::unreadable(
            name,
            format!(
                "HTTP {} with an answer that is not the JSON it should be (line {line}, column {column})",
                reply.status.as_u16()
            ),
        )
    })
}

/// Sends and reads the whole answer.
pub(super) async fn talk(
    client: &Octocrab,
    request: Request<OctoBody>,
    call: &Call,
) -> Result<Reply, Broken> {
    let response = client
        .execute(request)
        .await
        .map_err(|error| Broken::new(&error))?;
    let (parts, body) = response.into_parts();
    let (body, too_long) = match Limited::new(body, call.limit).collect().await {
        Ok(collected) => (collected.to_bytes().to_vec(), false),
        Err(error) if error.is::<LengthLimitError>() => (Vec::new(), true),
        Err(error) => return Err(Broken::new(error.as_ref())),
    };
    Ok(Reply {
        status: parts.status,
        headers: parts.headers,
        body,
        too_long,
    })
}

/// No answer, or half of one.
pub(super) struct Broken {
    problem: String,
    timed_out: bool,
}

impl Broken {
    /// The innermost cause: the ones around it say `service error` and carry a backtrace.
    fn new(error: &(dyn std::error::Error + 'static)) -> Self {
        let mut cause = error;
        let mut timed_out = false;
        loop {
            timed_out |= cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|io| io.kind() == std::io::ErrorKind::TimedOut);
            match cause.source() {
                Some(inner) => cause = inner,
                None => break,
            }
        }
        let words: String = cause.to_string().chars().take(200).collect();
        Self {
            problem: format!("no answer from GitHub: {words}"),
            timed_out,
        }
    }

    pub(super) fn outcome(&self) -> CallOutcome {
        if self.timed_out {
            CallOutcome::TimedOut
        } else {
            CallOutcome::Broken
        }
    }

    pub(super) fn error(self, name: &'static str) -> ApiError {
        ApiError::transient(name, self.problem)
    }
}
