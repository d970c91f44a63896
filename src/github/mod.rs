//! The GitHub client: App authentication, one call at a time with its budget, what is read, what is written.
//!
//! It may name `domain` only and never decides anything: it says what GitHub shows ([`mod@read`]), carries out
//! [`crate::domain::Effect`]s ([`mod@write`]), and sorts failures into what the caller can do about them
//! ([`ApiError`]). INVARIANT: a read that failed is an error, never an empty list; a write that may have
//! happened is never repeated without looking for it first.

mod auth;
mod call;
mod client;
mod config;
mod error;
mod etag;
mod graphql;
mod kept_file;
mod manifest;
pub mod needs;
mod oauth;
mod observer;
mod page;
mod path;
pub mod read;
mod transport;
mod wire;
pub mod write;

pub use auth::KeyError;
pub use client::GitHub;
pub use config::{ClientConfig, ClientError, ReadRetry, Timeouts};
pub use error::{ApiError, CLOCK_TOLERANCE};
pub use manifest::{ConversionError, NewApp, convert};
pub use oauth::{OAuth, UserToken};
pub use observer::{CallOutcome, NoObserver, Observer, RateLeft};
pub use read::{
    AppView, Comment, Content, DeliveryAttempt, FactsRead, FailedDelivery, GroupCommit, HookConfig,
    InstallationView, IssueView, MergeSettings, PullView, Reaction, RepoView, RequiredCheck, Wants,
};
pub use transport::Proxy;
pub use write::Seen;
