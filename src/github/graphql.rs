//! The few things that GitHub offers by GraphQL alone: auto-merge and the merge queue.
//!
//! Sent like every other call, with the same token, time limits and observer. INVARIANT: an answer with an error in it
//! is never taken for a success, although its status is 200.

use super::call::{Call, Who};
use super::path::ApiPath;
use super::{ApiError, GitHub};
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

/// What GitHub says to one document.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    data: Option<Value>,
    errors: Option<Vec<Fault>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fault {
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
}

/// What became of a document.
pub(super) enum Answered {
    /// It was carried out.
    Data(Value),
    /// It was not, in GitHub's words.
    Refused(String),
}

impl GitHub {
    /// Sends one document.
    ///
    /// # Errors
    /// What is worth another try, and every failure below GraphQL.
    pub(super) async fn graphql(
        &self,
        name: &'static str,
        who: Who,
        document: &str,
        variables: Value,
    ) -> Result<Answered, ApiError> {
        let body = json!({"query": document, "variables": variables});
        let path = ApiPath::root().seg("graphql");
        let call = Call::write(name, who, Method::POST, path, Some(body));
        let said: Said = self.json(call).await?;
        match said.errors.and_then(|errors| errors.into_iter().next()) {
            Some(fault) if fault.kind.as_deref() == Some("RATE_LIMITED") => {
                Err(ApiError::transient(name, "the GraphQL budget is used up"))
            }
            Some(fault) => {
                let message = fault.message.unwrap_or_default();
                Ok(Answered::Refused(message.chars().take(300).collect()))
            }
            None => said
                .data
                .filter(|data| !data.is_null())
                .map(Answered::Data)
                .ok_or_else(|| ApiError::unreadable(name, "an answer without data")),
        }
    }
}
