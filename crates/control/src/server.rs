//! The accept loop and its limits: it never waits for a client, and one client's sockets never shut out another.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use futures_util::future::{AbortHandle, abortable};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tracing::{debug, info, warn};

use crate::ControlSettings;
use crate::addresses::AddressKey;
use crate::connection::{Ticks, Watch, Watched};
use crate::control::{Policy, Shared, TICK};
use crate::front::Front;
use crate::metrics::ConnectionSeries;
use crate::settings::HEADERS_MAX_BYTES;
use crate::takeover::Takeover;

/// Serves until `stop` is ready, then ends gracefully (O9).
pub(crate) async fn serve(control: Arc<Shared>, router: Router, listener: TcpListener, stop: impl Future<Output = ()>) {
    let front = Arc::new(Front { control: Arc::clone(&control), router, draining: AtomicBool::new(false) });
    let connections = Arc::new(Connections::new(control.metrics.connections.clone()));
    let sweeping = tokio::spawn(sweep(Arc::clone(&front), Arc::clone(&connections)));
    let ticking = tokio::spawn(tick(Arc::clone(&control)));
    let _ends_with_this = Tasks { connections: Arc::clone(&connections), sweeping, ticking };

    {
        let mut stop = pin!(stop);
        let mut accept = pin!(accept(&front, &connections, &listener));
        tokio::select! {
            () = &mut stop => {}
            never = &mut accept => match never {},
        }
        control.begin_stop();
        info!("readiness ended; accepting ends soon");
        // Balancers send new requests until they have seen that.
        let notice = Duration::from_millis(control.policy().settings.stop_notice_ms);
        let _elapsed = timeout(notice, accept).await;
    }
    drop(listener);
    front.draining.store(true, Ordering::Relaxed);
    let cut = connections.drain(Duration::from_millis(control.policy().settings.stop_grace_ms)).await;
    info!(cut, "no connection is open");
}

/// What serving started; ends with it, also when it is dropped in the middle.
struct Tasks {
    connections: Arc<Connections>,
    sweeping: JoinHandle<()>,
    ticking: JoinHandle<()>,
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.sweeping.abort();
        self.ticking.abort();
        self.connections.cut();
    }
}

async fn accept(front: &Arc<Front>, connections: &Arc<Connections>, listener: &TcpListener) -> Infallible {
    loop {
        match listener.accept().await {
            Ok((socket, peer)) => begin(front, connections, socket, peer.ip().to_canonical()),
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

fn begin(front: &Arc<Front>, connections: &Arc<Connections>, socket: TcpStream, peer: IpAddr) {
    let policy = front.control.policy();
    // Dropped at once: an answer would have to wait for the client to read it.
    let Some((place, watch)) = Connections::admit(connections, &policy, peer) else { return };
    // Answers are one small write each; waiting to fill a packet would only delay them.
    if let Err(error) = socket.set_nodelay(true) {
        debug!(%error, "a socket was gone when it was accepted");
        return;
    }
    let (served, abort) = abortable(converse(Arc::clone(front), socket, watch, peer));
    place.set_abort(abort);
    tokio::spawn(async move {
        if let Ok(Some((takeover, socket))) = served.await {
            stream(*takeover, socket, place);
        }
    });
}

/// Goes on with a stream of events. In a task of its own: that of the conversation is as large as all that HTTP needs.
fn stream(takeover: Takeover, socket: TcpStream, place: Place) {
    let (streamed, abort) = abortable(takeover.run(socket));
    place.set_abort(abort);
    tokio::spawn(async move {
        let _ended_or_aborted = streamed.await;
        drop(place);
    });
}

/// Answers requests until the connection ends or is handed over.
async fn converse(
    front: Arc<Front>,
    socket: TcpStream,
    watch: Arc<Watch>,
    peer: IpAddr,
) -> Option<(Box<Takeover>, TcpStream)> {
    let watched = Arc::clone(&watch);
    let io = TokioIo::new(Watched { socket, watch: Arc::clone(&watch) });
    let service = service_fn(move |request| {
        watch.busy();
        front.answer(peer, request, Arc::clone(&watch))
    });
    let mut conversation = http1::Builder::new()
        // The sweep does this for less, see `connection`.
        .header_read_timeout(None)
        // An answer is small: copying it behind its head costs less than a gathering write.
        .writev(false)
        .max_header_size(HEADERS_MAX_BYTES)
        .max_buf_size(2 * HEADERS_MAX_BYTES)
        .serve_connection(io, service);
    let takeover = poll_fn(|cx| match Pin::new(&mut conversation).poll(cx) {
        Poll::Pending => watched.take_over().map_or(Poll::Pending, |takeover| Poll::Ready(Ok(Some(takeover)))),
        Poll::Ready(ended) => Poll::Ready(ended.map(|()| None)),
    });
    match takeover.await {
        Ok(takeover) => Some((takeover?, conversation.into_parts().io.into_inner().socket)),
        Err(error) => {
            debug!(%peer, %error, "a connection ended in the middle");
            None
        }
    }
}

/// The open connections of one server.
struct Connections {
    open: Mutex<Open>,
    ticks: Arc<Ticks>,
    series: ConnectionSeries,
    changed: Notify,
}

#[derive(Default)]
struct Open {
    next: u64,
    by_number: HashMap<u64, Entry, foldhash::fast::RandomState>,
    by_address: HashMap<AddressKey, usize>,
}

struct Entry {
    watch: Arc<Watch>,
    abort: Option<AbortHandle>,
    counted: Option<AddressKey>,
}

/// One connection's place among the open ones; given back when it is dropped.
struct Place {
    connections: Arc<Connections>,
    number: u64,
}

impl Connections {
    fn new(series: ConnectionSeries) -> Self {
        let ticks = Arc::new(Ticks::default());
        ticks.set(Duration::ZERO);
        Self { open: Mutex::default(), ticks, series, changed: Notify::new() }
    }

    /// Takes a place, unless the address or all have as many as they may.
    fn admit(this: &Arc<Self>, policy: &Policy, peer: IpAddr) -> Option<(Place, Arc<Watch>)> {
        let settings = &policy.settings;
        let free = settings.exempt_networks.contain(peer) || settings.trusted_proxies.contain(peer);
        let counted = (!free).then(|| AddressKey::from(peer));
        let mut open = this.open();
        if open.by_number.len() >= settings.connections_max {
            this.series.refused_all.increment(1);
            return None;
        }
        if let Some(key) = counted {
            let of_address = open.by_address.entry(key).or_default();
            if *of_address >= settings.connections_per_address {
                this.series.refused_address.increment(1);
                return None;
            }
            *of_address += 1;
        }
        let watch = Arc::new(Watch::new(Arc::clone(&this.ticks)));
        let number = open.next;
        open.next += 1;
        open.by_number.insert(number, Entry { watch: Arc::clone(&watch), abort: None, counted });
        drop(open);
        this.series.open.increment(1.0);
        Some((Place { connections: Arc::clone(this), number }, watch))
    }

    /// Ends what took too long; while draining also what waits for nothing, and streams, whose readers come back.
    fn sweep(&self, settings: &ControlSettings, draining: bool) {
        for entry in self.open().by_number.values_mut() {
            let overdue = entry.watch.overdue(settings);
            if overdue.is_none() && !(draining && (entry.watch.is_idle() || entry.watch.is_streaming())) {
                continue;
            }
            // Taken, so that one that is ending is not counted again.
            let Some(abort) = entry.abort.take() else { continue };
            abort.abort();
            if let Some(why) = overdue {
                self.series.closed(why);
            }
        }
    }

    /// Waits until no connection is open; after the grace time cuts the rest and says how many.
    async fn drain(&self, grace: Duration) -> usize {
        let all_gone = async {
            while !self.open().by_number.is_empty() {
                self.changed.notified().await;
            }
        };
        if timeout(grace, all_gone).await.is_ok() {
            return 0;
        }
        self.cut()
    }

    fn cut(&self) -> usize {
        let open = self.open();
        open.by_number.values().filter_map(|entry| entry.abort.as_ref()).for_each(AbortHandle::abort);
        open.by_number.len()
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // Every change below is whole before anything can panic.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    fn set_abort(&self, abort: AbortHandle) {
        if let Some(entry) = self.connections.open().by_number.get_mut(&self.number) {
            entry.abort = Some(abort);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.open();
        let entry = open.by_number.remove(&self.number);
        if let Some(key) = entry.and_then(|entry| entry.counted)
            && let Some(of_address) = open.by_address.get_mut(&key)
        {
            *of_address -= 1;
            if *of_address == 0 {
                open.by_address.remove(&key);
            }
        }
        drop(open);
        self.connections.series.open.decrement(1.0);
        self.connections.changed.notify_one();
    }
}

/// Advances the connections' clock and ends those that took too long, a few times in the shortest of the limits.
async fn sweep(front: Arc<Front>, connections: Arc<Connections>) {
    let start = Instant::now();
    loop {
        let policy = front.control.policy();
        connections.ticks.set(start.elapsed());
        connections.sweep(&policy.settings, front.draining.load(Ordering::Relaxed));
        sleep(pause(&policy.settings)).await;
    }
}

fn pause(settings: &ControlSettings) -> Duration {
    let shortest = settings.header_timeout_ms.min(settings.write_timeout_ms).min(settings.idle_timeout_ms);
    Duration::from_millis((shortest / 10).clamp(10, 500))
}

async fn tick(control: Arc<Shared>) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        control.tick().await;
    }
}

/// How long accepting pauses when the process can open no more files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
