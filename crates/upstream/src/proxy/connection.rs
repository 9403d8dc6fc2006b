//! One client's connection: what it waits for, since when, and when that is too long.
//!
//! ```text
//!           first byte of a head         its end            end of the answer
//!  waiting ──────────────────────▶ head ─────────▶ busy (n) ─────────────────▶ waiting
//!     │ idle_timeout                │ header_timeout   │ the gate's own limits
//!     ▼                             ▼
//!   ended                         ended
//! ```
//!
//! A write that makes no progress for `write_timeout` ends it in any state. The state is written by the connection's
//! own task and read by one regular sweep over all connections: a timer for each request would cost more than the
//! rest of this.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::task::AtomicWaker;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::settings::ServerSettings;
use crate::socket::Socket;

/// The server's clock as its connections read it: advanced by the sweep, in milliseconds, never 0.
#[derive(Default)]
pub(crate) struct Ticks(AtomicU64);

impl Ticks {
    pub(crate) fn set(&self, since_start: Duration) {
        self.0.store(millis(since_start) + 1, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What the sweep sees of one connection, and what it tells it.
pub(crate) struct Watch {
    ticks: Arc<Ticks>,
    /// Requests under way; HTTP/2 has several.
    busy: AtomicU32,
    /// A head has begun.
    head: AtomicBool,
    since: AtomicU64,
    /// Since when no byte could be written; 0 while they can.
    blocked: AtomicU64,
    http2: AtomicBool,
    finish: AtomicBool,
    end: AtomicBool,
    waker: AtomicWaker,
}

impl Watch {
    pub(crate) fn new(ticks: Arc<Ticks>) -> Self {
        Self {
            since: ticks.now().into(),
            ticks,
            busy: AtomicU32::new(0),
            head: AtomicBool::new(false),
            blocked: AtomicU64::new(0),
            http2: AtomicBool::new(false),
            finish: AtomicBool::new(false),
            end: AtomicBool::new(false),
            waker: AtomicWaker::new(),
        }
    }

    pub(crate) fn speaks_http2(&self) {
        self.http2.store(true, Ordering::Relaxed);
    }

    /// A request's head is complete; the mark is kept until its answer is.
    pub(crate) fn begin(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// Takes no further requests and ends after those under way (O9).
    pub(crate) fn finish(&self) {
        self.finish.store(true, Ordering::Relaxed);
        self.waker.wake();
    }

    /// Ends at once.
    pub(crate) fn end(&self) {
        self.end.store(true, Ordering::Relaxed);
        self.waker.wake();
    }

    /// Ready when the connection is to end at once. To be asked at each poll of the connection's task.
    pub(crate) fn poll_end(&self, cx: &Context<'_>) -> Poll<()> {
        self.waker.register(cx.waker());
        if self.end.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }
    }

    pub(crate) fn is_finishing(&self) -> bool {
        self.finish.load(Ordering::Relaxed)
    }

    /// Whether something took too long.
    pub(crate) fn is_overdue(&self, settings: &ServerSettings) -> bool {
        let now = self.ticks.now();
        let longer = |since: u64, limit_ms: u64| now.saturating_sub(since) > limit_ms;
        let blocked = self.blocked.load(Ordering::Relaxed);
        if blocked != 0 && longer(blocked, settings.write_timeout_ms) {
            return true;
        }
        if self.busy.load(Ordering::Relaxed) > 0 {
            return false;
        }
        // On HTTP/2 pings and windows are no heads; that it asks nothing is all there is to see.
        let head = self.head.load(Ordering::Relaxed) && !self.http2.load(Ordering::Relaxed);
        let limit = if head { settings.header_timeout_ms } else { settings.idle_timeout_ms };
        longer(self.since.load(Ordering::Relaxed), limit)
    }

    /// Something of a head came.
    pub(crate) fn heard(&self) {
        if self.busy.load(Ordering::Relaxed) == 0 && !self.head.load(Ordering::Relaxed) {
            self.since.store(self.ticks.now(), Ordering::Relaxed);
            self.head.store(true, Ordering::Relaxed);
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

/// A request under way.
pub(crate) struct Busy(Arc<Watch>);

impl Drop for Busy {
    fn drop(&mut self) {
        let watch = &self.0;
        watch.since.store(watch.ticks.now(), Ordering::Relaxed);
        watch.head.store(false, Ordering::Relaxed);
        watch.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A socket that tells its watch what goes through it.
pub(crate) struct Watched {
    pub(crate) socket: Socket,
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

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched() -> (Arc<Ticks>, Arc<Watch>, ServerSettings) {
        let ticks = Arc::new(Ticks::default());
        ticks.set(Duration::ZERO);
        (Arc::clone(&ticks), Arc::new(Watch::new(ticks)), ServerSettings::default())
    }

    #[test]
    fn limits_a_head_has_10_s_from_its_first_byte_however_slowly_it_comes() {
        let (ticks, watch, settings) = watched();
        ticks.set(Duration::from_secs(60));
        watch.heard();
        ticks.set(Duration::from_secs(70));
        watch.heard();
        assert!(!watch.is_overdue(&settings));
        ticks.set(Duration::from_millis(70_001));
        assert!(watch.is_overdue(&settings));
    }

    #[test]
    fn limits_a_connection_waits_75_s_for_its_next_request_and_any_time_for_an_answer() {
        let (ticks, watch, settings) = watched();
        let busy = watch.begin();
        ticks.set(Duration::from_secs(500));
        assert!(!watch.is_overdue(&settings));
        drop(busy);
        ticks.set(Duration::from_secs(575));
        assert!(!watch.is_overdue(&settings));
        ticks.set(Duration::from_millis(575_001));
        assert!(watch.is_overdue(&settings));
    }

    #[test]
    fn limits_a_reader_that_takes_nothing_for_30_s_is_dropped() {
        let (ticks, watch, settings) = watched();
        let _busy = watch.begin();
        watch.wrote(&Poll::<()>::Pending);
        ticks.set(Duration::from_secs(29));
        watch.wrote(&Poll::Ready(()));
        watch.wrote(&Poll::<()>::Pending);
        ticks.set(Duration::from_secs(59));
        assert!(!watch.is_overdue(&settings), "it took some at 29 s");
        ticks.set(Duration::from_millis(59_001));
        assert!(watch.is_overdue(&settings));
    }
}
