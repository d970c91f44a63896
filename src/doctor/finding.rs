//! What `doctor` found: one thing looked at, how it is, and the way to mend it.

use serde::Serialize;

/// How a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// It works; somebody should look.
    Warn,
    /// It does not work, or could not be looked at: what is not known is not well.
    Fail,
}

impl State {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One thing looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at; a fixed word.
    pub check: &'static str,
    /// Where: a repository, an account, a directory; `None` where there is only one.
    pub about: Option<String>,
    /// How it is.
    pub state: State,
    /// In words, on one line.
    pub message: String,
    /// The way to mend it, on one line; `None` when nothing is to be mended.
    pub mend: Option<String>,
}

impl Finding {
    /// As it should be.
    pub fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self {
            check,
            about: None,
            state: State::Ok,
            message: message.into(),
            mend: None,
        }
    }

    /// Works, and should be looked at.
    pub fn warn(check: &'static str, message: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            state: State::Warn,
            mend: Some(mend.into()),
            ..Self::ok(check, message)
        }
    }

    /// Does not work.
    pub fn fail(check: &'static str, message: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            state: State::Fail,
            ..Self::warn(check, message, mend)
        }
    }

    /// Could not be looked at.
    pub fn unknown(check: &'static str, why: &Unknown) -> Self {
        Self::fail(check, format!("not known: {}", why.cause), why.mend.clone())
    }

    /// The same, about one of several.
    #[must_use]
    pub fn about(mut self, what: impl Into<String>) -> Self {
        self.about = Some(what.into());
        self
    }
}

/// Why something could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// In words.
    pub cause: String,
    /// The way to mend it.
    pub mend: String,
}
