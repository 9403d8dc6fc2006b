//! The accept loop, its limits, and its end.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use metrics::{Counter, Gauge, counter, describe_counter, describe_gauge, gauge};
use tidegate_gate::Key;
use tokio::io::ReadBuf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};
use tracing::{debug, info, warn};

use super::Proxy;
use super::body::ProxyBody;
use super::connection::{Ticks, Watch, Watched};
use super::settings::{HEAD_MAX, ServerSettings};
use crate::socket::Socket;

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Connections that were still busy when their time was over, and were cut.
    pub cut: usize,
}

/// Serves the proxy on a listener until `stop` is ready; then takes no more connections after `stop_notice_ms`, lets
/// requests under way end, and cuts what is left after `stop_grace_ms` (O9).
///
/// Whoever gives `stop` also says in the proxy's pages that it is not ready any more.
pub async fn serve(listener: TcpListener, proxy: Arc<Proxy>, stop: impl Future<Output = ()>) -> Stopped {
    let server = Arc::new(Server { connections: Connections::new(proxy.settings().clone()), proxy });
    let sweep = End(tokio::spawn(sweep(Arc::clone(&server))));
    {
        let notice = Duration::from_millis(server.connections.settings.stop_notice_ms);
        let mut stop = pin!(async move {
            stop.await;
            sleep(notice).await;
        });
        let mut accept = pin!(accept(&server, &listener));
        tokio::select! {
            () = &mut stop => {}
            never = &mut accept => match never {},
        }
    }
    drop(listener);
    let cut = server.connections.drain().await;
    drop(sweep);
    info!(cut, "the gate's listener has ended");
    Stopped { cut }
}

struct Server {
    proxy: Arc<Proxy>,
    connections: Arc<Connections>,
}

/// A task that ends with its owner.
struct End(tokio::task::JoinHandle<()>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn accept(server: &Arc<Server>, listener: &TcpListener) -> Infallible {
    loop {
        match listener.accept().await {
            Ok((socket, peer)) => begin(server, socket, peer.ip().to_canonical()),
            Err(error) if is_of_one_socket(&error) => debug!(%error, "a socket was gone before it was accepted"),
            Err(error) => {
                // Out of file descriptors, most likely. Trying at once would only spin; who is connected is served.
                warn!(%error, "no connection can be accepted now");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_of_one_socket(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

fn begin(server: &Arc<Server>, socket: TcpStream, peer: IpAddr) {
    // Dropped at once: an answer would have to wait for the client to read it.
    let Some(place) = server.connections.admit(peer) else { return };
    if let Err(error) = socket.set_nodelay(true) {
        debug!(%error, "a socket was gone when it was accepted");
        return;
    }
    let proxy = Arc::clone(&server.proxy);
    let streams_max = server.connections.settings.streams_max;
    tokio::spawn(async move {
        let watch = Arc::clone(&place.watch);
        let mut conversation = pin!(converse(proxy, socket, Arc::clone(&watch), peer, streams_max));
        poll_fn(|cx| match watch.poll_end(cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => conversation.as_mut().poll(cx),
        })
        .await;
        drop(place);
    });
}

async fn converse(proxy: Arc<Proxy>, socket: TcpStream, watch: Arc<Watch>, peer: IpAddr, streams_max: u32) {
    // Callers from one address take turns as one, unless they name their keys (G2).
    let caller = Key::of(&peer.to_string());
    let http2 = match speaks_http2(&socket, &watch).await {
        Ok(Some(http2)) => http2,
        Ok(None) => return,
        Err(error) => return debug!(%peer, %error, "a connection ended before it said anything"),
    };
    let io = TokioIo::new(Watched { socket: Socket::new(socket), watch: Arc::clone(&watch) });
    let busy = Arc::clone(&watch);
    let service = service_fn(move |request| answer(Arc::clone(&proxy), caller, Arc::clone(&busy), request));
    let ended = if http2 {
        watch.speaks_http2();
        let conversation = http2::Builder::new(TokioExecutor::new())
            .max_header_list_size(HEAD_MAX as u32)
            .max_concurrent_streams(streams_max)
            .keep_alive_interval(KEEP_ALIVE)
            .timer(TokioTimer::new())
            .serve_connection(io, service);
        drive(conversation, |conversation| conversation.graceful_shutdown(), &watch).await
    } else {
        let conversation = http1::Builder::new()
            // The sweep does this for less, see `connection`.
            .header_read_timeout(None)
            .max_header_size(HEAD_MAX)
            .serve_connection(io, service)
            .with_upgrades();
        drive(conversation, |conversation| conversation.graceful_shutdown(), &watch).await
    };
    if let Err(error) = ended {
        debug!(%peer, %error, "a connection ended in the middle");
    }
}

async fn answer(
    proxy: Arc<Proxy>,
    caller: Key,
    watch: Arc<Watch>,
    request: Request<Incoming>,
) -> Result<Response<ProxyBody>, Infallible> {
    let busy = watch.begin();
    let response = proxy.answer(caller, request).await;
    Ok(response.map(|body| body.until_sent(busy)))
}

/// Runs a connection to its end, which begins early when its watch says so.
async fn drive<C: Future>(conversation: C, finish: impl Fn(Pin<&mut C>), watch: &Watch) -> C::Output {
    let mut conversation = pin!(conversation);
    let mut finishing = false;
    poll_fn(|cx| {
        if !finishing && watch.is_finishing() {
            finishing = true;
            finish(conversation.as_mut());
        }
        conversation.as_mut().poll(cx)
    })
    .await
}

/// Whether a connection begins as only HTTP/2 does ("PRI * …"; h2c with prior knowledge); `None` when it ends before it
/// said so, or is to.
///
/// Looked at without taking the bytes, so that no buffer stands between the parser and the socket afterwards.
async fn speaks_http2(socket: &TcpStream, watch: &Watch) -> std::io::Result<Option<bool>> {
    let mut start = [0; 3];
    let mut pause = PEEK_PAUSE;
    loop {
        let Some(seen) = peek(socket, watch, &mut start).await? else { return Ok(None) };
        let so_far = &start[..seen];
        if seen == 0 || seen == start.len() || !b"PRI".starts_with(so_far) {
            return Ok(Some(so_far == b"PRI"));
        }
        // One or two bytes came by themselves. A socket with unread bytes is ready at once, so asking again would spin;
        // and from them on the client has `header_timeout_ms`.
        watch.heard();
        sleep(pause).await;
        pause = (2 * pause).min(PEEK_PAUSE_MAX);
    }
}

/// Looks at the first bytes; `None` once the server is finishing, for nothing of a request has been taken.
async fn peek(socket: &TcpStream, watch: &Watch, into: &mut [u8]) -> std::io::Result<Option<usize>> {
    let mut into = ReadBuf::new(into);
    // A finishing server wakes this task through its watch, which is asked at each poll.
    poll_fn(|cx| match watch.is_finishing() {
        true => Poll::Ready(Ok(None)),
        false => socket.poll_peek(cx, &mut into).map_ok(Some),
    })
    .await
}

/// The open connections of one server.
struct Connections {
    settings: ServerSettings,
    open: Mutex<Open>,
    ticks: Arc<Ticks>,
    changed: Notify,
    series: ConnectionSeries,
}

#[derive(Default)]
struct Open {
    next: u64,
    finishing: bool,
    by_number: HashMap<u64, Arc<Watch>, foldhash::fast::RandomState>,
    by_address: HashMap<IpAddr, usize>,
}

/// One connection's place among the open ones; given back when it is dropped.
struct Place {
    connections: Arc<Connections>,
    watch: Arc<Watch>,
    number: u64,
    counted: Option<IpAddr>,
}

struct ConnectionSeries {
    open: Gauge,
    refused: Counter,
    overdue: Counter,
}

impl Connections {
    fn new(settings: ServerSettings) -> Arc<Self> {
        let ticks = Arc::new(Ticks::default());
        ticks.set(Duration::ZERO);
        describe_gauge!("tidegate_gate_connections", "Open connections to the gate.");
        describe_counter!(
            "tidegate_gate_connections_refused_total",
            "Connections closed at once, for there are too many."
        );
        describe_counter!("tidegate_gate_connections_overdue_total", "Connections closed for taking too long.");
        let series = ConnectionSeries {
            open: gauge!("tidegate_gate_connections"),
            refused: counter!("tidegate_gate_connections_refused_total"),
            overdue: counter!("tidegate_gate_connections_overdue_total"),
        };
        Arc::new(Self { settings, open: Mutex::default(), ticks, changed: Notify::new(), series })
    }

    /// Takes a place, unless the address or all have as many as they may.
    fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<Place> {
        // A sidecar's callers all come from this machine.
        let counted = (!peer.is_loopback()).then_some(peer);
        let mut open = self.open();
        let of_address = counted.and_then(|peer| open.by_address.get(&peer).copied()).unwrap_or(0);
        if open.by_number.len() >= self.settings.connections_max || of_address >= self.settings.connections_per_address
        {
            drop(open);
            self.series.refused.increment(1);
            return None;
        }
        if let Some(peer) = counted {
            open.by_address.insert(peer, of_address + 1);
        }
        let watch = Arc::new(Watch::new(Arc::clone(&self.ticks)));
        if open.finishing {
            watch.finish();
        }
        let number = open.next;
        open.next += 1;
        open.by_number.insert(number, Arc::clone(&watch));
        drop(open);
        self.series.open.increment(1.0);
        Some(Place { connections: Arc::clone(self), watch, number, counted })
    }

    /// Ends what took too long.
    fn sweep(&self) {
        for watch in self.open().by_number.values().filter(|watch| watch.is_overdue(&self.settings)) {
            self.series.overdue.increment(1);
            watch.end();
        }
    }

    /// Waits until no connection is open; after the grace time cuts the rest and says how many.
    async fn drain(&self) -> usize {
        {
            let mut open = self.open();
            open.finishing = true;
            open.by_number.values().for_each(|watch| watch.finish());
        }
        let all_gone = async {
            while !self.open().by_number.is_empty() {
                self.changed.notified().await;
            }
        };
        if timeout(Duration::from_millis(self.settings.stop_grace_ms), all_gone).await.is_ok() {
            return 0;
        }
        let open = self.open();
        open.by_number.values().for_each(|watch| watch.end());
        open.by_number.len()
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // Every change is whole before anything can panic.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.open();
        open.by_number.remove(&self.number);
        if let Some(peer) = self.counted
            && let Some(of_address) = open.by_address.get_mut(&peer)
        {
            *of_address -= 1;
            if *of_address == 0 {
                open.by_address.remove(&peer);
            }
        }
        drop(open);
        self.connections.series.open.decrement(1.0);
        self.connections.changed.notify_one();
    }
}

/// Advances the connections' clock and ends those that took too long; brings the metrics up to date.
async fn sweep(server: Arc<Server>) {
    let start = Instant::now();
    let connections = &server.connections;
    let settings = &connections.settings;
    let shortest = settings.header_timeout_ms.min(settings.write_timeout_ms).min(settings.idle_timeout_ms);
    let pause = Duration::from_millis((shortest / 10).clamp(10, 500));
    loop {
        connections.ticks.set(start.elapsed());
        connections.sweep();
        server.proxy.gate().publish();
        server.proxy.gate().tidy();
        sleep(pause).await;
    }
}

/// How long accepting pauses when the process can open no more files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long the rest of a connection's first three bytes is left alone, at first and at most.
const PEEK_PAUSE: Duration = Duration::from_millis(1);
const PEEK_PAUSE_MAX: Duration = Duration::from_millis(250);
/// How often an HTTP/2 connection is asked whether it lives; dead ones keep no window open.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
