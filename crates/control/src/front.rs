//! What stands before every route: the request's id, headers for browsers, the trace.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::header::CONNECTION;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use hyper::body::Incoming;
use tower::Service;
use tracing::{Instrument, Level, debug_span};

use crate::control::Shared;
use crate::cors;
use crate::routes::Context;

/// The routes of one server, and what every answer of it carries.
pub(crate) struct Front {
    pub(crate) control: Arc<Shared>,
    pub(crate) router: Router,
    /// Accepting has ended: each answer is the last of its connection (O9).
    pub(crate) draining: AtomicBool,
}

impl Front {
    /// Answers one request of one connection.
    pub(crate) async fn answer(&self, peer: IpAddr, request: Request<Incoming>) -> Result<Response, Infallible> {
        let started = Instant::now();
        let id = request_id(request.headers());
        let is_open = cors::is_open(request.uri().path());
        let policy = self.control.policy();
        let allow = if is_open { policy.origins.allow(request.headers()) } else { None };

        let mut response = if cors::is_preflight(request.method(), request.uri().path()) {
            cors::preflight()
        } else {
            self.route(Context { peer, started, id: id.clone() }, request).await
        };

        let headers = response.headers_mut();
        headers.insert(X_REQUEST_ID, id);
        cors::harden(headers, is_open);
        if is_open {
            cors::open(headers, &policy.origins, allow);
        }
        if self.draining.load(Ordering::Relaxed) {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(response)
    }

    async fn route(&self, context: Context, request: Request<Incoming>) -> Response {
        // A span costs more than a waiting ask, so there is none that nobody will read.
        let span = tracing::enabled!(Level::DEBUG).then(|| {
            let path = request.uri().path();
            debug_span!("request", id = context.id(), method = %request.method(), path, peer = %context.peer)
        });
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(context);
        let routed = self.router.clone().call(request);
        let routed = match span {
            Some(span) => routed.instrument(span).await,
            None => routed.await,
        };
        match routed {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// The id that came along, if it has an id's shape, else a new one. It goes into logs, so its shape is strict.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let shaped = |id: &&HeaderValue| {
        (1..=REQUEST_ID_MAX).contains(&id.len())
            && id.as_bytes().iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    };
    headers.get(X_REQUEST_ID).filter(shaped).cloned().unwrap_or_else(fresh_id)
}

fn fresh_id() -> HeaderValue {
    let text = data_encoding::HEXLOWER.encode(&rand::random::<[u8; 8]>());
    HeaderValue::try_from(text).expect("hexadecimal digits are a header value")
}

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest request id that is taken over, in bytes.
const REQUEST_ID_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o4_a_request_id_is_taken_over_only_if_it_can_stand_in_a_log() {
        let with = |id: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(X_REQUEST_ID, HeaderValue::from_str(id).unwrap());
            request_id(&headers)
        };
        assert_eq!(with("a-1_B.2"), "a-1_B.2");
        for id in ["", "two words", "quote\"", "x=y", &"x".repeat(65)] {
            let made = with(id);
            assert_ne!(made, id);
            assert_eq!(made.len(), 16, "{made:?}");
        }
        assert_ne!(request_id(&HeaderMap::new()), request_id(&HeaderMap::new()));
    }
}
