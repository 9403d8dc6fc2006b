//! What stands before every route: the request's id, headers for browsers, the trace.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::future::RouteFuture;
use http::header::CONNECTION;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use hyper::body::Incoming;
use tower::Service;
use tracing::instrument::Instrumented;
use tracing::{Instrument, Level, debug_span};

use crate::connection::{Watch, until_sent};
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
    ///
    /// What can be done before waiting is done before, and the rest is one future: each layer of futures copies the
    /// request once more, which showed in the cost of a heartbeat.
    pub(crate) fn answer(
        self: &Arc<Self>,
        peer: IpAddr,
        request: Request<Incoming>,
        watch: Arc<Watch>,
    ) -> impl Future<Output = Result<Response, Infallible>> + use<> {
        let policy = self.control.policy();
        let id = request_id(request.headers());
        let is_open = cors::is_open(request.uri().path());
        let allow = if is_open { policy.origins.allow(request.headers()) } else { None };
        let answered = if cors::is_preflight(request.method(), request.uri().path()) {
            Answered::Here(cors::preflight())
        } else {
            let context = Context { peer, started: Instant::now(), id: id.clone(), policy: Arc::clone(&policy) };
            self.route(context, request)
        };
        let front = Arc::clone(self);
        async move {
            let mut response = answered.response().await;
            let headers = response.headers_mut();
            headers.insert(X_REQUEST_ID, id);
            if is_open {
                cors::open(headers, &policy.origins, allow);
            } else {
                cors::harden(headers);
            }
            if front.draining.load(Ordering::Relaxed) {
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(until_sent(response, &watch))
        }
    }

    fn route(&self, context: Context, request: Request<Incoming>) -> Answered {
        // A span costs more than a waiting ask, so there is none that nobody will read.
        let span = tracing::enabled!(Level::DEBUG).then(|| {
            let path = request.uri().path();
            debug_span!("request", id = context.id(), method = %request.method(), path, peer = %context.peer)
        });
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(context);
        let routed = self.router.clone().call(request);
        match span {
            Some(span) => Answered::Traced(Box::new(routed.instrument(span))),
            None => Answered::Routed(routed),
        }
    }
}

/// Where an answer comes from.
enum Answered {
    Here(Response),
    Routed(RouteFuture<Infallible>),
    Traced(Box<Instrumented<RouteFuture<Infallible>>>),
}

impl Answered {
    async fn response(self) -> Response {
        let Ok(response) = match self {
            Self::Here(response) => Ok(response),
            Self::Routed(routed) => routed.await,
            Self::Traced(routed) => Box::into_pin(routed).await,
        };
        response
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

/// A random number: made for each page's call, so by the shortest way.
fn fresh_id() -> HeaderValue {
    HeaderValue::from(rand::random::<u64>())
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
            assert!(made.to_str().unwrap().parse::<u64>().is_ok(), "{made:?}");
        }
        assert_ne!(request_id(&HeaderMap::new()), request_id(&HeaderMap::new()));
    }
}
