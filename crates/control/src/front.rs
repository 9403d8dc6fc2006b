//! What stands before every route: the request's id, headers for browsers, the trace.

use std::convert::Infallible;
use std::future::pending;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::future::RouteFuture;
use http::header::CONNECTION;
use http::{HeaderValue, Method, Request};
use hyper::body::Incoming;
use tower::Service;
use tracing::{Instrument, Level, debug_span};

use crate::connection::{Watch, until_sent};
use crate::control::Shared;
use crate::cors;
use crate::request_id::{RequestId, X_REQUEST_ID};
use crate::routes::{Asked, Call, Context, PageCall};
use crate::takeover::Takeover;

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
        let id = RequestId::of(request.headers());
        let opening = cors::is_open(request.uri().path()).then(|| policy.origins.opening(request.headers()));
        let wants_body = request.method() != Method::HEAD;
        let answered = self.route(Context { peer, started: Instant::now(), id: id.clone(), policy }, request);
        let front = Arc::clone(self);
        async move {
            let mut response = answered.response().await;
            let headers = response.headers_mut();
            headers.insert(X_REQUEST_ID, id.into());
            match opening {
                Some(opening) => opening.write(headers),
                None => cors::harden(headers),
            }
            if front.draining.load(Ordering::Relaxed) {
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            if let Some(takeover) = Takeover::of(&mut response)
                && wants_body
            {
                watch.hand_over(takeover);
                return pending().await;
            }
            Ok(until_sent(response, &watch))
        }
    }

    fn route(&self, context: Context, request: Request<Incoming>) -> Answered {
        let path = request.uri().path();
        if cors::is_preflight(request.method(), path) {
            return Answered::Here(cors::preflight());
        }
        // A span costs more than a waiting ask, so there is none that nobody will read.
        let span = tracing::enabled!(Level::DEBUG)
            .then(|| debug_span!("request", id = %context.id, method = %request.method(), path, peer = %context.peer));
        let answered = match PageCall::of(request.method(), path) {
            Some(page) => Answered::Paged(page, Arc::clone(&self.control), Box::new(Asked::new(context, request))),
            None => {
                let mut request = request.map(Body::new);
                request.extensions_mut().insert(context);
                Answered::Routed(self.router.clone().call(request))
            }
        };
        match span {
            Some(span) => Answered::Traced(Box::pin(answered.response().instrument(span))),
            None => answered,
        }
    }
}

/// Where an answer comes from.
enum Answered {
    Here(Response),
    /// From a page's own call, past the router: these are nearly all that come, and the router costs as much as the
    /// rest of such a call.
    Paged(PageCall, Arc<Shared>, Call),
    Routed(RouteFuture<Infallible>),
    Traced(Pin<Box<dyn Future<Output = Response> + Send>>),
}

impl Answered {
    async fn response(self) -> Response {
        match self {
            Self::Here(response) => response,
            Self::Paged(page, control, call) => page.answer(control, call).await,
            Self::Routed(routed) => {
                let Ok(response) = routed.await;
                response
            }
            Self::Traced(answered) => answered.await,
        }
    }
}
