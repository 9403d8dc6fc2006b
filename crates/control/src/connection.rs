//! One connection: what it waits for, since when, and when that is too long.
//!
//! ```text
//!          first byte            end of head             end of answer
//!  Idle ───────────────▶ Head ───────────────▶ Busy ───────────────────▶ Idle
//!   │ idle_timeout        │ header_timeout      │ body_timeout (in the route)
//!   ▼                     ▼                     ▼
//!  closed                closed                408
//! ```
//!
//! A stream of events leaves this: it is handed over ([`crate::takeover`]), and ends by its own rules.
//!
//! A write that makes no progress for `write_timeout` closes it in any state. The states are written by the
//! connection's own task and read by the server's one regular sweep: hyper's own timer is set and cancelled for each
//! request, which a waiting ask would feel, and it knows neither idle connections nor slow readers.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::ControlSettings;
use crate::takeover::Takeover;

/// The server's clock as its connections read it: advanced by the sweep, in milliseconds, never 0.
#[derive(Default)]
pub(crate) struct Ticks(AtomicU64);

impl Ticks {
    pub(crate) fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, since_start: Duration) {
        self.0.store(millis(since_start) + 1, Ordering::Relaxed);
    }
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    Idle,
    Head,
    Busy,
    /// It is handed over, or about to be.
    Streaming,
}

/// What took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// A request's head.
    Header,
    /// The next request.
    Idle,
    /// The client's taking of its answer.
    Write,
}

/// What the sweep sees of one connection.
pub(crate) struct Watch {
    ticks: Arc<Ticks>,
    phase: AtomicU8,
    since: AtomicU64,
    /// Since when no byte could be written; 0 while they can.
    blocked: AtomicU64,
    /// What the connection is handed over to, until it is.
    takeover: Mutex<Option<Box<Takeover>>>,
}

impl Watch {
    pub(crate) fn new(ticks: Arc<Ticks>) -> Self {
        let since = ticks.now();
        Self {
            ticks,
            phase: AtomicU8::new(Phase::Idle as u8),
            since: AtomicU64::new(since),
            blocked: AtomicU64::new(0),
            takeover: Mutex::default(),
        }
    }

    /// A request's head is complete.
    pub(crate) fn busy(&self) {
        self.phase.store(Phase::Busy as u8, Ordering::Relaxed);
    }

    /// Its answer is complete.
    pub(crate) fn idle(&self) {
        self.since.store(self.ticks.now(), Ordering::Relaxed);
        self.phase.store(Phase::Idle as u8, Ordering::Relaxed);
    }

    /// The answer is not HTTP's to write.
    pub(crate) fn hand_over(&self, takeover: Takeover) {
        *self.takeover.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(takeover));
        self.phase.store(Phase::Streaming as u8, Ordering::Relaxed);
    }

    /// What to hand the connection over to. Not before the answers ahead of it are out: HTTP's own buffers are lost.
    pub(crate) fn take_over(&self) -> Option<Box<Takeover>> {
        if self.phase() != Phase::Streaming || self.blocked.load(Ordering::Relaxed) != 0 {
            return None;
        }
        self.takeover.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// What took too long, if anything did.
    pub(crate) fn overdue(&self, settings: &ControlSettings) -> Option<Overdue> {
        let now = self.ticks.now();
        let longer = |since: u64, limit: Duration| now.saturating_sub(since) > millis(limit);
        let blocked = self.blocked.load(Ordering::Relaxed);
        if blocked != 0 && longer(blocked, settings.write_timeout()) {
            return Some(Overdue::Write);
        }
        let since = self.since.load(Ordering::Relaxed);
        match self.phase() {
            Phase::Idle => longer(since, settings.idle_timeout()).then_some(Overdue::Idle),
            Phase::Head => longer(since, settings.header_timeout()).then_some(Overdue::Header),
            Phase::Busy | Phase::Streaming => None,
        }
    }

    /// Whether nothing of a request or answer is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.phase() == Phase::Idle && self.blocked.load(Ordering::Relaxed) == 0
    }

    /// Whether it is a stream of events, which has no end of its own to wait for.
    pub(crate) fn is_streaming(&self) -> bool {
        self.phase() == Phase::Streaming
    }

    fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            n if n == Phase::Idle as u8 => Phase::Idle,
            n if n == Phase::Head as u8 => Phase::Head,
            n if n == Phase::Streaming as u8 => Phase::Streaming,
            _ => Phase::Busy,
        }
    }

    fn heard(&self) {
        if self.phase.load(Ordering::Relaxed) == Phase::Idle as u8 {
            self.since.store(self.ticks.now(), Ordering::Relaxed);
            self.phase.store(Phase::Head as u8, Ordering::Relaxed);
        }
    }

    fn wrote<T>(&self, written: &Poll<T>) {
        let blocked = self.blocked.load(Ordering::Relaxed);
        match written {
            Poll::Ready(_) if blocked != 0 => self.blocked.store(0, Ordering::Relaxed),
            Poll::Pending if blocked == 0 => self.blocked.store(self.ticks.now(), Ordering::Relaxed),
            Poll::Ready(_) | Poll::Pending => {}
        }
    }
}

/// A socket that tells its watch what goes through it.
pub(crate) struct Watched {
    pub(crate) socket: TcpStream,
    pub(crate) watch: Arc<Watch>,
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.watch.heard();
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, buf);
        self.watch.wrote(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, bufs);
        self.watch.wrote(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

/// Notes the end of an answer: now for one that is whole, at its last frame for a stream of events.
pub(crate) fn until_sent(response: Response, watch: &Arc<Watch>) -> Response {
    if response.body().size_hint().exact().is_some() {
        watch.idle();
        return response;
    }
    response.map(|body| Body::new(Streamed { body, watch: Arc::clone(watch) }))
}

/// A body without a known end.
struct Streamed {
    body: Body,
    watch: Arc<Watch>,
}

impl HttpBody for Streamed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Streamed {
    fn drop(&mut self) {
        self.watch.idle();
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched() -> (Arc<Ticks>, Watch, ControlSettings) {
        let ticks = Arc::new(Ticks::default());
        ticks.set(Duration::ZERO);
        let watch = Watch::new(Arc::clone(&ticks));
        (ticks, watch, ControlSettings::default())
    }

    #[test]
    fn limits_a_head_has_10_s_from_its_first_byte_however_slowly_it_comes() {
        let (ticks, watch, settings) = watched();
        ticks.set(Duration::from_secs(60));
        watch.heard();
        ticks.set(Duration::from_secs(70));
        watch.heard();
        assert_eq!(watch.overdue(&settings), None);
        ticks.set(Duration::from_millis(70_001));
        assert_eq!(watch.overdue(&settings), Some(Overdue::Header));
    }

    #[test]
    fn limits_a_connection_waits_75_s_for_its_next_request() {
        let (ticks, watch, settings) = watched();
        watch.busy();
        ticks.set(Duration::from_secs(500));
        assert_eq!(watch.overdue(&settings), None, "a request under way is the route's to end");
        assert!(!watch.is_idle());
        watch.idle();
        assert!(watch.is_idle());
        ticks.set(Duration::from_secs(575));
        assert_eq!(watch.overdue(&settings), None);
        ticks.set(Duration::from_millis(575_001));
        assert_eq!(watch.overdue(&settings), Some(Overdue::Idle));
    }

    #[test]
    fn limits_a_reader_that_takes_nothing_for_10_s_is_dropped() {
        let (ticks, watch, settings) = watched();
        watch.busy();
        watch.wrote(&Poll::<()>::Pending);
        ticks.set(Duration::from_secs(9));
        watch.wrote(&Poll::Ready(()));
        watch.wrote(&Poll::<()>::Pending);
        ticks.set(Duration::from_secs(19));
        assert_eq!(watch.overdue(&settings), None, "it took some at 9 s");
        ticks.set(Duration::from_millis(19_001));
        assert_eq!(watch.overdue(&settings), Some(Overdue::Write));
        assert!(!watch.is_idle());
    }
}
