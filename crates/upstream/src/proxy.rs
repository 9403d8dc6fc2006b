//! The gate as a reverse proxy: `/{upstream}/…`, for clients in any language (G28).
//!
//! Only configured upstreams can be reached. Bodies stream both ways; the call's slot ends with the response's body.

mod body;
mod connection;
mod headers;
mod hop;
mod problem;
mod server;
mod settings;
mod target;
mod tunnel;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, EXPECT, HOST, TE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version};
use hyper::body::{Body, Incoming};
use hyper::upgrade::OnUpgrade;
use metrics::{Counter, counter, describe_counter};
use tidegate_gate::{Call, Key, Resource, Route, UpstreamSettings};
use tokio::sync::watch;
use tracing::debug;

pub use self::body::ProxyBody;
pub use self::server::{Stopped, serve};
pub use self::settings::ServerSettings;

use self::problem::{Code, Problem, whole_ms};
use crate::body::GateBody;
use crate::client::Gate;
use crate::clock;
use crate::error::{Failure, GateError};
use crate::exchange::{Outing, Report, exchange};
use crate::options::{CallOptions, Usual};
use crate::outgoing::{BodyFault, Limits, Outgoing};
use crate::outlet::{Answering, Outlet, Unanswering, Upgrading};
use crate::way::Way;

/// Answers a request whose path begins with no upstream's name, such as `/healthz`; `None` leaves it to the proxy.
pub type Page = dyn Fn(&Parts) -> Option<Response<Bytes>> + Send + Sync;

/// The proxy of one gate.
pub struct Proxy {
    gate: Gate,
    settings: ServerSettings,
    page: Option<Box<Page>>,
    refused: [Counter; Code::ALL.len()],
    /// Its end ends every tunnel.
    open: watch::Sender<()>,
}

impl Proxy {
    /// The proxy of a gate.
    #[must_use]
    pub fn new(gate: Gate, settings: ServerSettings) -> Self {
        describe_counter!("tidegate_gate_problems_total", "Requests that the proxy answered itself, by code.");
        let refused = Code::ALL.map(|code| counter!("tidegate_gate_problems_total", "code" => code.as_str()));
        Self { gate, settings, page: None, refused, open: watch::Sender::new(()) }
    }

    /// Gives the proxy pages of its own.
    #[must_use]
    pub fn with_page(mut self, page: impl Fn(&Parts) -> Option<Response<Bytes>> + Send + Sync + 'static) -> Self {
        self.page = Some(Box::new(page));
        self
    }

    /// The gate that it calls through.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    pub(crate) fn settings(&self) -> &ServerSettings {
        &self.settings
    }

    /// Answers one request of a caller.
    pub(crate) async fn answer(&self, caller: Key, mut request: Request<Incoming>) -> Response<ProxyBody> {
        let upgrade = hop::upgrade(request.version(), request.headers())
            .map(|protocol| (protocol, hyper::upgrade::on(&mut request)));
        let (mut parts, body) = request.into_parts();
        let uri = std::mem::take(&mut parts.uri);
        let target = uri.path_and_query().map_or("", |target| target.as_str());
        let way = target::split(target).and_then(|(name, path)| Some((self.gate.way(name)?, path)));
        let Some((way, path)) = way else {
            parts.uri = uri.clone();
            return self.page(&parts, target);
        };
        let Some(outlet) = way.outlet() else { return self.refuse(&Self::no_client(&way, &self.gate)) };
        if let Some(what) = hop::fault(parts.version, &parts.method, &parts.headers) {
            return self.refuse(&Problem::new(Code::BadRequest, what));
        }
        if target::climbs(target::path_of(path)) {
            return self.refuse(&Problem::new(Code::BadRequest, "the path leaves the upstream's own by \"..\""));
        }
        let trip = Trip { way: &way, outlet: &outlet, path, caller };
        let answered = match upgrade {
            None => trip.relay(&mut parts, body).await,
            Some(upgrade) => Box::pin(trip.upgrade(&mut parts, body, upgrade, &self.open)).await,
        };
        answered.unwrap_or_else(|problem| self.refuse(&problem))
    }

    fn page(&self, parts: &Parts, target: &str) -> Response<ProxyBody> {
        if let Some(response) = self.page.as_ref().and_then(|page| page(parts)) {
            return response.map(ProxyBody::whole);
        }
        let names = self.gate.names();
        let name = target::split(target).map_or("", |(name, _)| name);
        let name: String = name.chars().take(SHOWN_MAX).collect();
        let detail = format!("no upstream is named {name:?}; call /NAME/…, where NAME is one of: {}", names.join(", "));
        self.refuse(&Problem::unknown_upstream(detail, names))
    }

    fn no_client(way: &Way, gate: &Gate) -> Box<Problem> {
        let detail = format!("the upstream {} has no base_url, so the proxy cannot call it", way.desk.name());
        Problem::unknown_upstream(detail, gate.names())
    }

    fn refuse(&self, problem: &Problem) -> Response<ProxyBody> {
        self.refused[problem.code as usize].increment(1);
        debug!(code = problem.code.as_str(), "answered without the upstream");
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        problem.respond(since_1970.as_secs()).map(ProxyBody::whole)
    }
}

/// One request on its way to its upstream.
struct Trip<'a> {
    way: &'a Way,
    outlet: &'a Arc<Outlet>,
    /// At the upstream, with its query.
    path: &'a str,
    caller: Key,
}

impl Trip<'_> {
    /// An ordinary request.
    async fn relay(&self, parts: &mut Parts, body: Incoming) -> Result<Response<ProxyBody>, Box<Problem>> {
        let settings = self.way.desk.settings();
        let options = headers::take_options(&mut parts.headers)?;
        let route = settings.route(&parts.method, target::path_of(self.path));
        let retries = may_retry(&parts.method, &route, &options);
        let whole_max = settings.replay_max_bytes;
        let limits = self.limits(&settings, &parts.headers)?;
        let twice = route.shareable || (retries && options.policy(&settings.retry).max_attempts > 1);
        let body = match twice && !body.is_end_stream() {
            // Boxed: most requests have no body, and need not carry the space for reading it.
            true => Box::pin(Outgoing::gather(body, whole_max, limits)).await.map_err(|fault| of_body(&fault))?,
            false => Outgoing::stream(body, limits),
        };
        let outing = self.outing(&settings, options, route, retries);
        let request = self.request(parts, body, None)?;
        let mut carrier = Arc::clone(self.outlet);
        let exchanged = exchange(&self.way.desk, &mut carrier, outing, request).await;
        let (response, report) = exchanged.map_err(|error| of_error(&error))?;
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            let detail = "the upstream changed the protocol, which nobody had asked for";
            return Err(Problem::new(Code::UpstreamUnreachable, detail));
        }
        Ok(finish(response, &report))
    }

    /// A request that asks for another protocol, such as a WebSocket's.
    async fn upgrade(
        &self,
        parts: &mut Parts,
        body: Incoming,
        (protocol, client): (HeaderValue, OnUpgrade),
        open: &watch::Sender<()>,
    ) -> Result<Response<ProxyBody>, Box<Problem>> {
        let settings = self.way.desk.settings();
        let options = headers::take_options(&mut parts.headers)?;
        let mut route = settings.route(&parts.method, target::path_of(self.path));
        route.shareable = false;
        let body = Outgoing::stream(body, self.limits(&settings, &parts.headers)?);
        let outing = self.outing(&settings, options, route, false);
        let request = self.request(parts, body, Some(protocol))?;
        let mut carrier = Upgrading(Arc::clone(self.outlet));
        let exchanged = exchange(&self.way.desk, &mut carrier, outing, request).await;
        let (mut response, report) = exchanged.map_err(|error| of_error(&error))?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Ok(finish(response, &report));
        }
        let changed = hop::upgrade(Version::HTTP_11, response.headers());
        tunnel::join(client, hyper::upgrade::on(&mut response), open.subscribe());
        let mut response = finish(response, &report);
        hop::allow_upgrade(response.headers_mut(), changed);
        Ok(response)
    }

    /// How much body the upstream takes, and whether this one is known to have more.
    fn limits(&self, settings: &UpstreamSettings, headers: &HeaderMap) -> Result<Limits, Box<Problem>> {
        let limits = Limits { max: settings.max_body_bytes, stall: settings.stall };
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        match length {
            Some(length) if length > limits.max => Err(of_body(&BodyFault::TooLarge(limits.max))),
            Some(_) | None => Ok(limits),
        }
    }

    fn outing(&self, settings: &UpstreamSettings, options: CallOptions, route: Route, retries: bool) -> Outing {
        let options = CallOptions { max_wait: options.max_wait.or(Some(settings.max_wait)), ..options };
        let usual = Usual { key: self.caller, operation: route.operation.clone(), resource: Resource::of(self.path) };
        let mut policy = options.policy(&settings.retry);
        if !retries {
            policy.max_attempts = 1;
        }
        let call = options.call(usual, &settings.retry, false, clock::now());
        // Without spacing nobody waits for its leaving.
        let call = Call { leaves_later: !settings.min_interval.is_zero(), ..call };
        Outing { call, policy, route }
    }

    /// The request as the upstream gets it.
    fn request(
        &self,
        parts: &mut Parts,
        body: Outgoing,
        upgrade: Option<HeaderValue>,
    ) -> Result<Box<Request<Outgoing>>, Box<Problem>> {
        let uri = self.outlet.uri(self.path, upgrade.is_some());
        let uri = uri.ok_or_else(|| Problem::new(Code::BadRequest, "the path cannot be passed on"))?;
        let mut request = Box::new(Request::new(body));
        *request.uri_mut() = uri;
        *request.method_mut() = std::mem::take(&mut parts.method);
        let mut headers = std::mem::take(&mut parts.headers);
        if hop::strip(&mut headers) {
            headers.insert(TE, HeaderValue::from_static("trailers"));
        }
        // The client's wish to be told to go on is met here: its body is read when it is needed.
        headers.remove(EXPECT);
        match self.outlet.host() {
            Some(host) => headers.insert(HOST, host.clone()),
            None => headers.remove(HOST),
        };
        hop::add_via(&mut headers, parts.version);
        if upgrade.is_some() {
            hop::allow_upgrade(&mut headers, upgrade);
        }
        *request.headers_mut() = headers;
        Ok(request)
    }
}

/// Which calls may be made again without being asked to: those that do the same twice as once, and those that the
/// upstream's settings call safe.
fn may_retry(method: &Method, route: &Route, options: &CallOptions) -> bool {
    method.is_idempotent() || route.shareable || options.max_attempts.is_some()
}

/// The response as the client gets it.
fn finish(response: Response<GateBody<Answering>>, report: &Report) -> Response<ProxyBody> {
    let (mut parts, body) = response.into_parts();
    let received = parts.version;
    // Whatever the upstream spoke; the server writes what its client speaks.
    parts.version = Version::HTTP_11;
    hop::strip(&mut parts.headers);
    headers::strip(&mut parts.headers);
    // Once for the four, for the map would grow twice.
    parts.headers.reserve(4);
    hop::add_via(&mut parts.headers, received);
    parts.headers.insert(headers::WAIT_MS, small(whole_ms(report.waited)));
    parts.headers.insert(headers::ATTEMPTS, small(report.attempts.into()));
    if report.shared {
        parts.headers.insert(headers::SHARED, HeaderValue::from_static("1"));
    }
    Response::from_parts(parts, ProxyBody::relayed(body))
}

/// A number; the usual ones without making a text.
fn small(number: u64) -> HeaderValue {
    match number {
        0 => HeaderValue::from_static("0"),
        1 => HeaderValue::from_static("1"),
        _ => number.into(),
    }
}

fn of_error(error: &GateError) -> Box<Problem> {
    match error {
        GateError::Refused(refusal) => Problem::refused(refusal),
        GateError::Failed(failure) => of_failure(failure),
    }
}

/// Whose fault a failed call was.
fn of_failure(failure: &Failure) -> Box<Problem> {
    if let Some(fault) = failure.find::<BodyFault>() {
        return of_body(fault);
    }
    if let Some(late) = failure.find::<Unanswering>() {
        return Problem::new(Code::UpstreamTimeout, format!("the upstream gave {late}"));
    }
    Problem::new(Code::UpstreamUnreachable, format!("the upstream cannot be reached: {}", chain(failure)))
}

fn of_body(fault: &BodyFault) -> Box<Problem> {
    let code = match fault {
        BodyFault::TooLarge(_) => Code::BodyTooLarge,
        BodyFault::Silent(_) => Code::RequestTimeout,
        BodyFault::Broke(_) => Code::BadRequest,
    };
    Problem::new(code, fault.to_string())
}

/// An error and its causes, each once.
fn chain(failure: &Failure) -> String {
    let mut text = String::new();
    let mut next = std::error::Error::source(failure);
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.contains(&said) {
            let separator = if text.is_empty() { "" } else { ": " };
            text = format!("{text}{separator}{said}");
        }
        next = cause.source();
    }
    text
}

/// How much of an unknown name is shown, in characters.
const SHOWN_MAX: usize = 64;
