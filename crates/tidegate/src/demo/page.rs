//! Pages that show a live chat and a live stream, for the demo.
//!
//! Their scripts are `clients/web/chat/page` and `clients/web/player/page` with all that they use of the client
//! libraries. They are made and checked by `./x web` and kept here, so that building this program needs no npm.

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};

/// The pages, their looks and their scripts. They change nothing and know no secret.
pub(crate) fn routes() -> Router {
    Router::new()
        .route(PAGE, get(async || chat(HTML, include_str!("page/chat.html"))))
        .route("/demo/chat.css", get(async || chat(CSS, include_str!("page/chat.css"))))
        .route("/demo/chat.js", get(async || chat(JAVASCRIPT, include_str!("page/chat.js"))))
        .route(WATCH, get(async || watch(HTML, include_str!("page/watch.html"))))
        .route("/demo/watch.css", get(async || watch(CSS, include_str!("page/watch.css"))))
        .route("/demo/watch.js", get(async || watch(JAVASCRIPT, include_str!("page/watch.js"))))
        .route("/demo/watch-hls.js", get(async || watch(JAVASCRIPT, include_str!("page/watch-hls.js"))))
}

fn chat(kind: &'static str, text: &'static str) -> Response {
    ([(CONTENT_TYPE, kind), (CONTENT_SECURITY_POLICY, CHAT_POLICY)], text).into_response()
}

fn watch(kind: &'static str, text: &'static str) -> Response {
    ([(CONTENT_TYPE, kind), (CONTENT_SECURITY_POLICY, WATCH_POLICY)], text).into_response()
}

/// Where the chat's page is; `?video=` says which chat it shows.
pub(crate) const PAGE: &str = "/demo/chat";
/// Where the stream's page is; `?stream=` says which stream it shows.
pub(crate) const WATCH: &str = "/demo/watch";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Nothing but what this server sends; pictures of a real chat are YouTube's.
const CHAT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src https:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Nothing but what this server sends, and media from relays: they are at addresses of their own, those of a machine's
/// own without TLS for LL-HLS. Timers and sound run in small scripts that the player makes itself.
const WATCH_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; worker-src blob:; \
                            connect-src 'self' https: http://127.0.0.1:* http://[::1]:*; media-src blob:; img-src data:; \
                            base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
