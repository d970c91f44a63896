//! The state as GitHub's JSON, for answers and payloads alike. Reads only.

mod account;
mod app;
mod check;
mod commit;

mod issue;
mod pull;
mod repo;
mod timeline;

pub(crate) use commit::{PATH, blob_sha};
