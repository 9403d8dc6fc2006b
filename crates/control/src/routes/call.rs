//! What every route takes from a request, and how it answers.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::Response;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Uri};
use hyper::body::Incoming;
use tidegate_seats::{StreamId, TenantId};
use tidegate_wire::{Code, Problem, Reply};

use super::Route;
use crate::addresses::client_address;
use crate::control::{Policy, Shared};
use crate::request_id::RequestId;
use crate::settings::BODY_MAX_BYTES;
use crate::{auth, body, reply};

/// What the server knows about a request before it is routed.
#[derive(Clone)]
pub(crate) struct Context {
    /// The other end of the socket.
    pub(crate) peer: IpAddr,
    /// When the request's head was complete.
    pub(crate) started: Instant,
    /// Sent along or made here; echoed, and logged.
    pub(crate) id: RequestId,
    /// The settings that the request is answered under.
    pub(crate) policy: Arc<Policy>,
}

impl Context {
    /// A router that is called without the server in front of it knows no peer.
    fn unknown(control: &Shared) -> Self {
        Self {
            policy: control.policy(),
            peer: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            started: Instant::now(),
            id: RequestId::Sent(HeaderValue::from_static("-")),
        }
    }
}

/// One request, taken apart once. In a box, because each layer of futures copies what is handed to it.
pub(crate) type Call = Box<Asked>;

/// What is in the box.
pub(crate) struct Asked {
    pub(crate) context: Context,
    pub(crate) headers: HeaderMap,
    method: Method,
    uri: Uri,
    /// In a lock that is never taken: a body may move between threads but not be shared, a call is shared.
    body: Mutex<Sent>,
}

/// A body that has yet to come: as the connection has it, or as the router hands it on.
enum Sent {
    Incoming(Incoming),
    Routed(Body),
    Taken,
}

impl FromRequest<Arc<Shared>> for Call {
    type Rejection = Infallible;

    async fn from_request(request: Request, state: &Arc<Shared>) -> Result<Self, Infallible> {
        let (mut parts, body) = request.into_parts();
        let context = parts.extensions.remove::<Context>().unwrap_or_else(|| Context::unknown(state));
        let (method, headers, uri) = (parts.method, parts.headers, parts.uri);
        Ok(Self::new(Asked { context, headers, method, uri, body: Mutex::new(Sent::Routed(body)) }))
    }
}

impl Asked {
    /// A request as the connection has it.
    pub(crate) fn new(context: Context, request: http::Request<Incoming>) -> Self {
        let (parts, body) = request.into_parts();
        let body = Mutex::new(Sent::Incoming(body));
        Self { context, headers: parts.headers, method: parts.method, uri: parts.uri, body }
    }

    /// The whole body.
    pub(crate) async fn body(&mut self) -> Result<Bytes, Problem> {
        self.body_of(BODY_MAX_BYTES).await
    }

    /// The whole body, which may be this long.
    pub(crate) async fn body_of(&mut self, at_most: usize) -> Result<Bytes, Problem> {
        let time = self.context.policy.settings.body_timeout();
        let body = self.body.get_mut().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(body, Sent::Taken) {
            Sent::Incoming(body) => body::read(body, at_most, time).await,
            Sent::Routed(body) => body::read(body, at_most, time).await,
            Sent::Taken => Ok(Bytes::new()),
        }
    }

    /// The stream that the URL names.
    pub(crate) fn stream(&self) -> StreamPath {
        StreamPath::of(&self.uri)
    }

    /// Whether the answer's head is all that is wanted.
    pub(crate) fn is_head(&self) -> bool {
        self.method == Method::HEAD
    }

    /// The path, as it was sent.
    pub(crate) fn path(&self) -> &str {
        self.uri.path()
    }

    /// The part of the URL after `?`.
    pub(crate) fn query(&self) -> &str {
        self.uri.query().unwrap_or_default()
    }

    /// The address that the request counts for (S16).
    pub(crate) fn client(&self) -> IpAddr {
        client_address(&self.headers, self.context.peer, &self.context.policy.trusted)
    }

    /// Whether its address has no limit (S16).
    pub(crate) fn is_exempt(&self) -> bool {
        self.context.policy.settings.exempt_networks.contain(self.client())
    }

    /// The tenant whose key came along, and its stream: another tenant's is as good as none.
    pub(crate) async fn tenants_stream(
        &self,
        control: &Shared,
        stream: &StreamPath,
    ) -> Result<(TenantId, StreamId), Problem> {
        let tenant = self.tenant(control).await?;
        let stream = stream.id()?;
        if control.seats.tenant_of(stream).await.as_ref() != Some(&tenant) {
            return Err(no_stream());
        }
        Ok((tenant, stream.clone()))
    }

    /// The tenant whose key came along.
    pub(crate) async fn tenant(&self, control: &Shared) -> Result<TenantId, Problem> {
        auth::tenant(control.catalogue.as_ref(), &self.headers).await
    }

    /// Counts and writes what came of the request.
    pub(crate) fn answer(&self, control: &Shared, route: Route, outcome: Result<impl Reply, Problem>) -> Response {
        match outcome {
            Ok(answer) => {
                self.count(control, route, answer.label());
                reply::write(&answer)
            }
            Err(problem) => self.refuse(control, route, &problem),
        }
    }

    /// Counts and writes that it is done, with nothing to say.
    pub(crate) fn done(&self, control: &Shared, route: Route, outcome: Result<(), Problem>) -> Response {
        match outcome {
            Ok(()) => {
                self.count(control, route, "ok");
                reply::no_content()
            }
            Err(problem) => self.refuse(control, route, &problem),
        }
    }

    /// Counts and writes a refusal.
    pub(crate) fn refuse(&self, control: &Shared, route: Route, problem: &Problem) -> Response {
        self.count(control, route, problem.label());
        reply::write_problem(problem)
    }

    /// Counts an answer and the time that it took.
    pub(crate) fn count(&self, control: &Shared, route: Route, label: &'static str) {
        control.metrics.answered(route, label, self.context.started.elapsed());
    }
}

/// The `{id}` of a path. Its shape is checked before anything is looked up.
pub(crate) struct StreamPath(Option<StreamId>);

impl StreamPath {
    /// The stream's name, if the text can be one.
    pub(crate) fn id(&self) -> Result<&StreamId, Problem> {
        self.0.as_ref().ok_or_else(no_stream)
    }
}

impl StreamPath {
    fn of(uri: &Uri) -> Self {
        Self(stream_of(uri.path()).and_then(StreamId::parse))
    }
}

impl<S: Sync> FromRequestParts<S> for StreamPath {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.uri))
    }
}

/// The `{id}` of `/v1/play/{id}/…` and `/v1/streams/{id}…`. Read here and not from the router's own copy of it: an id
/// has no character that needs decoding.
fn stream_of(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("/v1/play/").or_else(|| path.strip_prefix("/v1/streams/"))?;
    let end = rest.bytes().position(|b| b == b'/').unwrap_or(rest.len());
    Some(&rest[..end])
}

/// Also what another tenant's stream is.
pub(crate) fn no_stream() -> Problem {
    Problem::new(Code::StreamNotFound, "no stream of this id; `GET /v1/streams` lists a tenant's own")
}
