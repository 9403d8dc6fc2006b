//! One viewer's socket, and how far it has been written (C9).
//!
//! Whoever has news writes it straight to every socket that takes it, and wakes no task for each viewer. The viewer's
//! own task waits for what news does not bring: the end of the other side, fifteen seconds of silence, and room in a
//! socket that is full.
//!
//! ```text
//!   Open ── it took only a part ─▶ Full ── 30 s without a byte taken ─▶ cut
//!    ▲  news is written            │  only its task writes, from the ring, when there is room
//!    └───────── all is written ────┘
//! ```

use std::io;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use crate::fanout::{COMMENT_EVERY, Hub, Left, STALL};
use crate::frame::COMMENT;
use crate::gzip::Gzip;
use crate::room::{Cursor, Read};

/// A viewer's socket. Both its task and those who have news write to it, one at a time.
#[derive(Debug)]
pub(crate) struct Feed {
    socket: TcpStream,
    writing: Mutex<Writing>,
}

#[derive(Debug)]
struct Writing {
    cursor: Cursor,
    /// What was begun.
    rest: Bytes,
    /// What is sent is compressed; taken at the end.
    gzip: Option<Gzip>,
    /// The socket takes no more for now.
    is_full: bool,
    /// When it last took something, or became full.
    since: Instant,
    /// Who waits for it.
    task: Option<Waker>,
}

/// How far a feed was written.
enum Written {
    All,
    /// Everything, and nothing will follow.
    Over,
    /// Up to where the socket takes no more.
    Full,
    Gone,
}

impl Feed {
    /// A feed that begins with these bytes, as they are sent, and goes on in the ring.
    pub(crate) fn new(socket: TcpStream, first: Bytes, gzip: Option<Gzip>, cursor: Cursor) -> Self {
        #[cfg(target_os = "linux")]
        hold_little(&socket);
        let writing = Writing { cursor, rest: first, gzip, is_full: false, since: Instant::now(), task: None };
        Self { socket, writing: Mutex::new(writing) }
    }

    /// Writes what there is. What cannot be written at once is left to the feed's task.
    pub(crate) fn write_news(&self, hub: &Hub, now: Instant) {
        let mut writing = self.writing();
        if writing.is_full {
            // Its task goes on as soon as there is room.
            return;
        }
        match self.write(&mut writing, hub, now) {
            Written::All => {}
            Written::Over | Written::Full | Written::Gone => writing.wake(),
        }
    }

    /// Lets the feed's task look again.
    pub(crate) fn wake(&self) {
        self.writing().wake();
    }

    /// The task's part, until the stream ends. `alarm` is for this feed alone.
    pub(crate) fn poll(&self, hub: &Hub, mut alarm: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<Left> {
        if self.poll_gone(cx).is_ready() {
            return Poll::Ready(Left::Gone);
        }
        let mut writing = self.writing();
        loop {
            let now = Instant::now();
            let (due, is_full) = match self.write(&mut writing, hub, now) {
                Written::Over => return Poll::Ready(Left::Over),
                Written::Gone => return Poll::Ready(Left::Gone),
                Written::All => (writing.since + COMMENT_EVERY, false),
                Written::Full => match self.socket.poll_write_ready(cx) {
                    Poll::Ready(Ok(())) => continue,
                    Poll::Ready(Err(_)) => return Poll::Ready(Left::Gone),
                    Poll::Pending => (writing.since + STALL, true),
                },
            };
            match (due <= now, is_full) {
                (true, true) => return Poll::Ready(Left::Stalled),
                (true, false) => writing.begin(Bytes::from_static(COMMENT), hub),
                (false, _) => {
                    // An alarm that comes too early costs less than to set it anew with every frame.
                    if alarm.is_elapsed() || due < alarm.deadline() {
                        alarm.as_mut().reset(due);
                    }
                    if alarm.as_mut().poll(cx).is_pending() {
                        break;
                    }
                }
            }
        }
        writing.task.get_or_insert_with(|| cx.waker().clone()).clone_from(cx.waker());
        Poll::Pending
    }

    /// Ready when the other side has closed. A viewer has nothing more to say, so a few bytes are enough to see that.
    fn poll_gone(&self, cx: &mut Context<'_>) -> Poll<()> {
        while let Poll::Ready(ready) = self.socket.poll_read_ready(cx) {
            match ready.and_then(|()| self.socket.try_read(&mut [0; 16])) {
                Ok(1..) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(0) | Err(_) => return Poll::Ready(()),
            }
        }
        Poll::Pending
    }

    fn write(&self, writing: &mut Writing, hub: &Hub, now: Instant) -> Written {
        loop {
            if writing.rest.is_empty() {
                match hub.read(&mut writing.cursor) {
                    Read::Frames(frames) => writing.begin(frames, hub),
                    Read::Nothing => {
                        writing.is_full = false;
                        return Written::All;
                    }
                    Read::Over => match writing.gzip.take() {
                        Some(gzip) => writing.rest = gzip.end(),
                        None => return Written::Over,
                    },
                }
            }
            match self.socket.try_write(&writing.rest) {
                Ok(0) => return Written::Gone,
                Ok(taken) => {
                    writing.rest.advance(taken);
                    writing.since = now;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !writing.is_full {
                        writing.is_full = true;
                        writing.since = now;
                    }
                    return Written::Full;
                }
                Err(_) => return Written::Gone,
            }
        }
    }

    /// Tells the other side that nothing follows, in order, so that the last event arrives.
    pub(crate) fn close(&self) {
        // It is gone already, or will be told.
        let _ = socket2::SockRef::from(&self.socket).shutdown(std::net::Shutdown::Write);
    }

    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writing {
    fn begin(&mut self, piece: Bytes, hub: &Hub) {
        self.rest = match &mut self.gzip {
            None => piece,
            Some(gzip) => {
                gzip.add(&piece);
                hub.deflated(&piece)
            }
        };
    }

    fn wake(&self) {
        if let Some(task) = &self.task {
            task.wake_by_ref();
        }
    }
}

/// Lets the system keep little of what a viewer does not take: megabytes for each of them would be memory that no
/// setting bounds, and minutes of chat that the ring has long moved past.
#[cfg(target_os = "linux")]
fn hold_little(socket: &TcpStream) {
    if let Err(error) = socket2::SockRef::from(socket).set_tcp_notsent_lowat(UNSENT_MAX) {
        tracing::debug!(%error, "the system keeps as much for a socket as it likes");
    }
}

/// What the system keeps of a stream and has not sent yet, in bytes: about what 200 events are.
#[cfg(target_os = "linux")]
const UNSENT_MAX: u32 = 64 << 10;
