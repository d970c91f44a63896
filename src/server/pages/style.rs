//! The one stylesheet and the icon. Both stand in the program; the sheet's address names its content.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// Where the sheet is served.
pub(super) const PATH: &str = "/style.css";
/// Where the icon is served.
pub(super) const ICON: &str = "/icon.svg";

const SHEET: &str = include_str!("style.css");
const ICON_TEXT: &str = concat!(
    r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><rect width="9" height="9" rx="2" fill="#2e7d4f"/>"##,
    r##"<rect x="11" width="9" height="9" rx="2" fill="#1f6f9f"/><rect y="11" width="9" height="9" rx="2" fill="#9a6700"/>"##,
    r##"<rect x="11" y="11" width="9" height="9" rx="2" fill="#c0362c"/></svg>"##
);
/// A changed sheet has another address, so that a kept one is never stale.
const KEEP: &str = "public, max-age=31536000, immutable";

static HREF: LazyLock<String> = LazyLock::new(|| {
    let digest = hex::encode(Sha256::digest(SHEET));
    format!("{PATH}?{}", digest.get(..16).unwrap_or(&digest))
});

/// The address that pages name.
pub(super) fn href() -> &'static str {
    &HREF
}

pub(super) async fn sheet() -> Response {
    kept("text/css; charset=utf-8", SHEET)
}

pub(super) async fn icon() -> Response {
    kept("image/svg+xml", ICON_TEXT)
}

fn kept(kind: &'static str, text: &'static str) -> Response {
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, KEEP)];
    (headers, text).into_response()
}
