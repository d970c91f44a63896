//! What GitHub answers when it will not: a status, a message and, for 422, the list of errors.
//!
//! The model returns refusals; the HTTP side turns them into answers, the arranging side stops the test.

use serde_json::{Value, json};

/// GitHub's "no".
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) message: String,
    pub(crate) errors: Option<Value>,
    pub(crate) location: Option<String>,
}

impl Refusal {
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            errors: None,
            location: None,
        }
    }

    /// GitHub's 404 says nothing: it also stands for "you may not see this".
    pub(crate) fn not_found() -> Self {
        Self::new(404, "Not Found")
    }

    pub(crate) fn unauthorized(message: &str) -> Self {
        Self::new(401, message)
    }

    /// The token lacks the permission.
    pub(crate) fn permission() -> Self {
        Self::new(403, "Resource not accessible by integration")
    }

    /// A 422 without details.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(422, message)
    }

    /// A 422 with one entry in `errors`.
    pub(crate) fn field(resource: &str, field: &str, code: &str) -> Self {
        let mut refusal = Self::new(422, "Validation Failed");
        refusal.errors = Some(json!([{"resource": resource, "code": code, "field": field}]));
        refusal
    }

    pub(crate) fn body(&self) -> Value {
        let mut body = json!({
            "message": self.message,
            "documentation_url": "https://docs.github.com/rest",
            "status": self.status.to_string(),
        });
        if let (Some(errors), Some(members)) = (&self.errors, body.as_object_mut()) {
            members.insert("errors".into(), errors.clone());
        }
        body
    }
}
