//! A page that shows a live chat, for the demo.
//!
//! Its script is `clients/web/chat/page`, which reads the chat with the client library, as one file. That file is
//! made and checked by `./x web` and kept here, so that building this program needs no npm.

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};

/// The page, its look and its script. They change nothing and know no secret.
pub(crate) fn routes() -> Router {
    Router::new()
        .route(PAGE, get(async || file("text/html; charset=utf-8", include_str!("page/chat.html"))))
        .route("/demo/chat.css", get(async || file("text/css; charset=utf-8", include_str!("page/chat.css"))))
        .route("/demo/chat.js", get(async || file("text/javascript; charset=utf-8", include_str!("page/chat.js"))))
}

fn file(kind: &'static str, text: &'static str) -> Response {
    ([(CONTENT_TYPE, kind), (CONTENT_SECURITY_POLICY, POLICY)], text).into_response()
}

/// Where the page is; `?video=` says which chat it shows.
pub(crate) const PAGE: &str = "/demo/chat";

/// Nothing but what this server sends; pictures of a real chat are YouTube's.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src https:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
