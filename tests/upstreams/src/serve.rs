//! The socket: accepts, tells HTTP/1.1 and HTTP/2 apart, and ends with the stand-in.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use http::request::Parts;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::desk::{Decision, Desk};
use crate::journal::{Flight, Journal};
use crate::latch::Latches;
use crate::log::Entry;
use crate::respond::respond;
use crate::script::Script;
use crate::stamped::{Received, Stamped};

/// What all connections of a stand-in share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    desk: Mutex<Desk>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) latches: Latches,
    /// Changes, or has no sender any more, when the stand-in is gone.
    pub(crate) closing: watch::Receiver<()>,
}

/// Where a request came from.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) number: u64,
    pub(crate) peer: SocketAddr,
    received: Received,
}

impl Shared {
    pub(crate) fn new(script: Script, closing: watch::Receiver<()>) -> Self {
        let clock = Clock::start();
        let journal = Arc::new(Journal::new(clock));
        Self { clock, desk: Mutex::new(Desk::new(script)), journal, latches: Latches::default(), closing }
    }

    /// Decides and logs as one step, so that the log's order is the order of the decisions.
    pub(crate) fn arrive(&self, call: &Parts, from: &Connection) -> (Decision, Flight) {
        let mut desk = self.desk();
        let wall = self.clock.wall(desk.script().date_skew_s);
        let decision = desk.decide(call, from.peer.ip(), self.clock.now(), wall);
        let entry = Entry {
            received_ns: from.received.last_ns(),
            connection: from.number,
            peer: from.peer.to_string(),
            version: format!("{:?}", call.version),
            method: call.method.to_string(),
            path: call.uri.path().to_owned(),
            query: call.uri.query().unwrap_or_default().to_owned(),
            operation: decision.operation.clone(),
            key: decision.key.clone(),
            headers: of_interest(&call.headers, &decision.script.log_headers),
            why: decision.why,
            ..Entry::default()
        };
        let flight = self.journal.arrive(entry);
        (decision, flight)
    }

    pub(crate) fn script(&self) -> Arc<Script> {
        self.desk().script().clone()
    }

    pub(crate) fn set_script(&self, script: Script) {
        *self.desk() = Desk::new(script);
    }

    pub(crate) fn reset(&self) {
        let mut desk = self.desk();
        desk.reset();
        self.journal.reset();
        self.latches.reset();
    }

    pub(crate) fn throttle_for(&self, hold: Duration) {
        self.desk().close(hold, self.clock.now());
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves until the stand-in is gone.
pub(crate) async fn serve(shared: Arc<Shared>, listener: TcpListener) {
    let mut closing = shared.closing.clone();
    for number in 0.. {
        let accepted = tokio::select! {
            _ = closing.changed() => return,
            accepted = listener.accept() => accepted,
        };
        // A caller that left before it was accepted is no reason to stop.
        let Ok((stream, peer)) = accepted else { continue };
        // Small answers must not wait for the acknowledgement of the ones before.
        let _ = stream.set_nodelay(true);
        let Ok(stream) = Stamped::new(stream) else { continue };
        let from = Connection { number, peer, received: stream.received() };
        tokio::spawn(connection(shared.clone(), stream, from));
    }
}

async fn connection(shared: Arc<Shared>, stream: Stamped, from: Connection) {
    let mut closing = shared.closing.clone();
    let mut server = auto::Builder::new(TokioExecutor::new());
    // All dates are the script's.
    server.http1().auto_date_header(false);
    server.http2().auto_date_header(false).max_concurrent_streams(1024);
    let service = service_fn(move |request| respond(shared.clone(), from.clone(), request));
    let serving = server.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::select! {
        _ = closing.changed() => {}
        // It ends with an error when the script breaks it off or the caller does.
        _ = serving => {}
    }
}

fn of_interest(headers: &HeaderMap, more: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut kept: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers {
        let name = name.as_str();
        // None of ours must ever arrive here (G22); if one does, it shows.
        let ours = name.starts_with("tidegate-");
        if ours || LOGGED.contains(&name) || more.iter().any(|extra| extra.eq_ignore_ascii_case(name)) {
            kept.entry(name.to_owned()).or_default().push(String::from_utf8_lossy(value.as_bytes()).into_owned());
        }
    }
    kept
}

/// Headers that the log always keeps.
const LOGGED: [&str; 12] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "te",
    "transfer-encoding",
    "user-agent",
    "via",
    "x-key",
];
