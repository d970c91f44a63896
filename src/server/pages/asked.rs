//! What an address asks for behind its `?`. An address that cannot be read asks for nothing.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use std::convert::Infallible;

/// The members of a query, each with its default.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned + Default, S: Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let read = Query::<T>::try_from_uri(&parts.uri);
        Ok(Self(read.map(|query| query.0).unwrap_or_default()))
    }
}
